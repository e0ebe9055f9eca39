#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# scripts/numa-guest itself, with the smallest guest; and pagezone on one CPU.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"

guest=$top_srcdir/scripts/numa-guest
run bash "$guest" --prepare
[ "$status" -ne 77 ] || skip_all "${err##*: no guest: }"
status_is 0 'qemu, busybox and a kernel are there'

run bash "$guest" --topology 5x5 true
status_is 2 'an unknown topology: usage'
run bash "$guest"
status_is 2 'no command: usage'
run bash "$guest" --kernel / true
status_is 2 'a kernel that is no file: usage'
if command -v qemu-system-x86_64 >/dev/null; then
	skip 'this machine has a qemu of its own'
else
	run env PAGEZONE_GUEST_CACHE=/dev/null/cache bash "$guest" true
	status_is 77 'qemu cannot be had: status 77'
fi

# As long as a large result, twice over.
cat >"$tmp/in guest" <<'END'
head -c 10000000 /dev/urandom >/tmp/random
md5sum </tmp/random >&2
cat /tmp/random
for word; do
	printf '<%s>\n' "$word" >&2
done
nproc >&2
pagezone run --engine cache:batch=1 -t 2 -S 4m -i reader -R 1 -q >&2
exit 7
END
# shellcheck disable=SC1003,SC2016 # meant so
words=("it's" 'two  words' '$HOME "\' '' '*' $'two\nlines')
# busybox has a timeout, too, which takes no such option.
run bash "$guest" --topology 1x1 --copy "$tmp/in guest:a script" --program timeout \
	timeout --foreground 1000 sh 'a script' "${words[@]}" 2>/dev/null # bash's complaint about zero bytes
status_is 7 "the status of the command, a program that was brought"
is "$(md5sum <"$tmp/.out")" "$(head -n 1 <<<"$err")" '10 MB of output arrive whole'
is "$(sed -n 2,8p <<<"$err")" "$(printf '<%s>\n' "${words[@]}")" \
	'and so do the words of the command, on standard error'
is "$(sed -n 9p <<<"$err")" 1 'there is one CPU'
like "$err" $'threads: +2\n' 'where pagezone runs two workers'

run bash "$guest" --topology 1x1 --timeout 1 true
status_is 125 'a guest that has not booted in time: status 125'
like "$err" 'had not booted after 1 s' 'which is said'

# Stopped while it boots; KILL leaves it no time to tell qemu.
for signal in TERM KILL; do
	TMPDIR=$tmp bash "$guest" --topology 1x1 sleep 1000 >/dev/null 2>&1 </dev/null &
	for ((tries = 0; tries < 600; tries++)); do
		qemus=$(grep -lsa "$tmp/numa-guest\.[^/]*/initramfs" /proc/[0-9]*/cmdline) && break
		sleep 0.1
	done
	like "$qemus" /proc 'qemu runs'
	kill -s $signal $!
	wait $! 2>/dev/null
	is $? $((128 + $(kill -l $signal))) "$signal: its status"
	for ((tries = 0; tries < 100; tries++)); do
		grep -lsa "$tmp/numa-guest\.[^/]*/initramfs" /proc/[0-9]*/cmdline >/dev/null || break
		sleep 0.1
	done
	[ $tries -lt 100 ]
	is $? 0 "$signal: qemu is gone"
done

done_testing
