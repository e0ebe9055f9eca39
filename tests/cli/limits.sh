#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What cannot be measured is refused with status 3 and the way out; what is only forbidden degrades.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"

small=(-S 4m -R 1 -i 'initial-writer,reader')

run "$PAGEZONE" speedup -S 100t
status_is 3 '-S 100t: status 3'
like "$err" '10[0-9.]+ TiB.*lower -S' 'says how much it needs and what to lower'
is "$out" '' 'prints no table'
run "$PAGEZONE" speedup -s 16777215t -t 256
status_is 3 'more bytes than 64 bits count: status 3'
like "$err" 'lower -s \(--size\) or -t' 'says what to lower'

run taskset -c 0 "$PAGEZONE" speedup -t 1,4 --quick -i reader
status_is 0 'one CPU, four workers'
like "$out" '1 of [0-9]+ CPUs? allowed|1 CPU' 'says that one CPU is allowed'

# a limit of address space that the program itself fits in
if sanitized; then
	skip 'sanitizers need address space of their own' 2
else
	run bash -c 'ulimit -v 400000; exec "$0" "$@"' "$PAGEZONE" speedup -t 1 -S 1g
	status_is 3 'ulimit -v: status 3'
	like "$err" 'ulimit -v' 'names it'
fi

# a memory cgroup smaller than the run
group=
for root in /sys/fs/cgroup/memory /sys/fs/cgroup; do
	path=$(sed -n 's/^[0-9]*:\(memory\|\):\(.*\)/\2/p' /proc/self/cgroup | head -n 1)
	for parent in "$root$path" "$root"; do
		[ -w "$parent/cgroup.procs" ] || continue
		mkdir "$parent/pagezone-test-$$" 2>/dev/null && group=$parent/pagezone-test-$$ && break 2
	done
done
limit=
for file in memory.max memory.limit_in_bytes; do
	[ -n "$group" ] && [ -w "$group/$file" ] && echo 134217728 2>/dev/null >"$group/$file" &&
		limit=$file && break
done
if [ -n "$limit" ]; then
	run bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" \
		"$PAGEZONE" speedup -t 1 -S 256m
	status_is 3 'a memory cgroup of 128 MiB: status 3'
	like "$err" 'cgroup.*pagezone-test' 'names the cgroup'
	like "$err" 'lower -S' 'and the way out'
else
	skip 'no memory cgroup can be made here' 3
fi
[ -z "$group" ] || rmdir "$group"

# forbidden binding: one warning, and the run goes on
if [ -x "${top_builddir:?}/tests/deny" ]; then
	run "$top_builddir/tests/deny" sched_setaffinity -- "$PAGEZONE" speedup -t 1,2 "${small[@]}"
	status_is 0 'no permission to bind: goes on'
	is "$(grep -c 'could not be bound to CPUs' <<<"$err")" 1 'with one warning'
	like "$out" 'none \(not permitted\)' 'and the header says so'
	run "$top_builddir/tests/deny" mbind,set_mempolicy,get_mempolicy -- \
		"$PAGEZONE" speedup -t 1,2 "${small[@]}"
	status_is 0 'no permission to place memory: goes on'
	run "$top_builddir/tests/deny" clone3=ENOSYS,clone:thread=EAGAIN -- \
		"$PAGEZONE" run --engine memory -t 2 "${small[@]}"
	status_is 3 'no worker can be started: status 3'
	like "$err" 'cannot start worker 1 of 2' 'and says so'
else
	skip 'tests/deny was not built' 6
fi

# output that cannot be written is known before the run
mkdir "$tmp/dir"
run timeout 20 "$PAGEZONE" speedup -o "$tmp/dir" -S 1t
status_is 3 '-o DIRECTORY: status 3'
like "$err" "-o $tmp/dir" 'names it'
run timeout 20 "$PAGEZONE" speedup -o "$tmp/none/r.json" -S 1t
status_is 3 '-o in a directory that is not there: status 3'
run "$PAGEZONE" run --engine memory -t 1 "${small[@]}" -o /dev/full
status_is 3 '-o on a full device: status 3'
like "$err" 'No space left on device' 'says why'
"$PAGEZONE" run --engine memory -t 1 "${small[@]}" >/dev/full 2>"$tmp/errors"
is "$?" 3 'standard output full: status 3'
like "$(cat "$tmp/errors")" 'standard output: No space left' 'says why'

# the gate
run "$PAGEZONE" speedup -q -t 1 "${small[@]}" --baseline memory --patched memory --min-speedup 1000
status_is 1 'a speed-up below the gate: status 1'
like "$err" 'reader, 1 thread: .* is below 1000' 'names the cell'
run "$PAGEZONE" speedup -q -t 1 "${small[@]}" --baseline memory --patched memory --min-speedup 0.001
status_is 0 'all above the gate: status 0'

done_testing
