#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Real page caches where things go wrong: full, small, odd, forbidden and interrupted.
# shellcheck disable=SC2317 # functions are called by way of eventually and trap

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
slow_test
# shellcheck source=tests/kernel.sh
. "$top_srcdir/tests/kernel.sh"

no_mount=$(why_no_mount)
no_huge=$(why_no_huge)
no_faultaround=$(why_no_faultaround)
no_image=$(why_no_image ext4 32m)
in_full=$tmp/in_full # what runs on the mount, seen only there
chmod 755 "$tmp"

# refused NAME REGEX...: status 3, one line that has all of them, no table, nothing left.
refused()
{
	local name=$1 regex

	status_is 3 "$name: status 3"
	is "$(wc -l <"$tmp/.err")" 1 'one line'
	for regex in "${@:2}"; do
		like "$err" "$regex" "that says $regex"
	done
	is "$out" '' 'and no table'
}

# in_session SID: the processes of the session, but those that are dead and not yet waited for.
in_session()
{
	local stat line fields

	for stat in /proc/[0-9]*/stat; do
		{ read -r line <"$stat"; } 2>/dev/null || continue
		read -ra fields <<<"${line##*) }" # from the state on
		[[ ${fields[3]} != "$1" || ${fields[0]} == [ZX] ]] || echo "${line%% *}"
	done
}

# eventually COMMAND...: it succeeds within 20 s.
eventually()
{
	local tries

	for ((tries = 0; tries < 400; tries++)); do
		"$@" && return
		sleep 0.05
	done
	return 1
}

# ---- case 5: readers alone ----
for who in "${users[@]}"; do
	be "$who"
	why=$(why_no_tmpfs)$no_faultaround
	if [ -n "$why" ]; then
		skip "$why" 2
		continue
	fi
	run "${by[@]}" "$PAGEZONE" run --engine tmpfs:huge=never -f json -q -t 1,2 -S 4m -R 1 -i reader
	status_is 0 "$who: a reader alone"
	# in a hole, fault-around finds no page: each would cost a fault
	holds 'all(.samples[].counters; .minor_faults == 64 and .major_faults == 0)' \
		'finds its file written, 16 pages a fault'
done
if [ -n "$no_mount" ]; then
	skip "$no_mount" 7
else
	cat >"$in_full" <<'EOF'
head -c 12M /dev/zero >"$1/filler"
"${@:2}" -S 8m
echo "status $?" >&2
"${@:2}" -S 4m
EOF
	be "${users[-1]}"
	for phase in reader random-reader; do
		run with_tmpfs size=16m bash "$in_full" "$mnt" "${by[@]}" "$PAGEZONE" run -q \
			--engine "kernel:dir=$mnt" -t 1 -R 1 -f json -i "$phase"
		status_is 0 "$phase alone, on a mount where it just fits"
		like "$err" 'needs 8 MiB.*4 MiB free'$'.*\nstatus 3' 'where it does not: status 3'
		holds 'all(.samples[]; .bytes == 4194304)' 'all bytes were read'
	done
fi

# ---- case 13: few CPUs ----
be "${users[-1]}"
why=$(why_no_tmpfs)
if [ -n "$why" ] || ! taskset -c 1 true 2>/dev/null; then
	skip "${why:-no CPU 1, or no taskset}" 4
else
	for workers in thread process; do
		run taskset -c 1 "${by[@]}" "$PAGEZONE" run --engine tmpfs:huge=never -f json -q \
			-t 1,4 -S 4m -R 1 --workers "$workers"
		status_is 0 "CPU 1 alone, --workers $workers"
		holds 'all(.samples[].workers[]; .cpu == 1)' 'all workers are bound to it'
	done
fi
set_up_cpuset()
{
	local parent

	for parent in /sys/fs/cgroup/cpuset /sys/fs/cgroup; do
		cpuset=$parent/pagezone-test-$$
		mkdir "$cpuset" 2>/dev/null || continue
		echo 0 2>/dev/null >"$cpuset/cpuset.mems" &&
			echo 1 2>/dev/null >"$cpuset/cpuset.cpus" && return
		rmdir "$cpuset"
	done
	return 1
}
# The groups vanish whatever happens.
remove_groups()
{
	local group

	for group in /sys/fs/cgroup/{cpuset,memory,.}/pagezone-test-$$; do
		[ ! -d "$group" ] || eventually rmdir "$group"
	done
}
trap 'remove_groups 2>/dev/null; tap_exit' EXIT
# shellcheck disable=SC2016
enter='echo $$ >"$0/cgroup.procs" && exec "$@"'
if [ -n "$why" ] || ! set_up_cpuset; then
	skip "${why:-no cpuset of CPU 1 can be made here}" 2
else
	run bash -c "$enter" "$cpuset" "${by[@]}" "$PAGEZONE" run --engine tmpfs:huge=never -f json \
		-q -t 1,4 -S 4m -R 1 --workers process
	status_is 0 'a cpuset of CPU 1'
	holds 'all(.samples[].workers[]; .cpu == 1)' 'all workers are bound to it'
fi

# ---- case 14: many workers ----
for workers in thread process; do
	if [ -n "$why" ]; then
		skip "$why" 2
		continue
	fi
	run "${by[@]}" timeout 60 "$PAGEZONE" run --engine tmpfs:huge=never -f json -q -t 256 -S 16m \
		-R 1 -i initial-writer,random-reader --workers "$workers"
	status_is 0 "256 workers, --workers $workers"
	holds 'all(.samples[]; .bytes == 16777216 and (.workers | length) == 256 and
		.counters.minor_faults == if .phase == "initial-writer" then 4096 else 256 end)' \
		'all bytes, all workers, all faults'
done

# ---- case 16: no space, known beforehand ----
for who in "${users[@]}"; do
	be "$who"
	if [ -n "$no_mount" ]; then
		skip "$no_mount" 9
	else
		run with_tmpfs size=64m "${by[@]}" "$PAGEZONE" run --engine "kernel:dir=$mnt" -q -t 1 \
			-S 100m
		refused "$who: 100 MiB on a tmpfs of 64 MiB" 'needs 100 MiB' "$mnt \(tmpfs\)" \
			'64 MiB free' 'lower -S' 'dir='
	fi
	why=$(why_no_tmpfs)
	if [ -n "$why" ]; then
		skip "$why" 13
	else
		run "${by[@]}" "$PAGEZONE" run --engine tmpfs:huge=never,size=64m -q -t 1 -S 100m
		refused "$who: size=64m" 'needs 100 MiB' '64 MiB free' 'lower -S.*size='
		if [ -n "$no_huge" ]; then
			skip "$no_huge" 7
		else
			run "${by[@]}" "$PAGEZONE" run --engine tmpfs:huge=always,size=5m -q -t 3 -s 1m
			refused "$who: 3 MiB in huge pages" 'need 6 MiB, in huge pages' '5 MiB free'
			run "${by[@]}" "$PAGEZONE" run --engine tmpfs:huge=always,size=6m -q -t 3 \
				-s 1m -R 1
			status_is 0 'where they fit'
			unlike "$out" '^run: .* -' 'they are measured'
		fi
	fi
	if [ -n "$no_image" ]; then
		skip "$no_image" 15
	else
		run with_image ext4 32m "${by[@]}" "$PAGEZONE" run --engine "kernel:dir=$mnt" -q -t 1 \
			-S 40m
		refused "$who: 40 MiB on an ext4 of 32 MiB" 'needs 40 MiB' "$mnt \(ext4\)" ' free' \
			'lower -S' 'dir='
		# case 17
		run with_image ext4 32m "${by[@]}" "$PAGEZONE" run --engine "kernel:dir=$mnt" -q -t 1 \
			-s 28375g
		refused "$who: a file that ext4 cannot have" "$mnt" '27.8 TiB' 'lower'
		run with_image ext4 32m ls "$mnt"
		is "$out" lost+found 'nothing is left'
	fi
done

# ---- case 16: no space while it runs ----
# The filler takes what there is again and again, also while an initial writer's file is empty.
cat >"$in_full" <<'EOF'
cd "$1" && shift || exit 99
ulimit -c unlimited
"$@" &
pid=$!
while used=$(df --output=used -k . | tail -n 1) && [ "$used" -lt 8192 ] && kill -0 "$pid"; do
	sleep 0.02
done 2>/dev/null
for ((i = 0; i < 2000; i++)); do
	kill -0 "$pid" || break
	cat /dev/zero >>filler
	sleep 0.02
done 2>/dev/null
wait "$pid"
status=$?
rm -f filler
ls -A
df --output=used -k . | tail -n 1
exit "$status"
EOF
for options in "$no_mount:" thread:size=64m process:size=64m thread:size=64m,huge=always; do
	be "${users[-1]}"
	if [ -n "$no_mount" ]; then
		skip "$no_mount" 12
		break
	fi
	[ "$options" != : ] || continue
	[[ $options != *huge* ]] || [ -z "$no_huge" ] || continue
	run with_tmpfs "${options#*:}" timeout 60 bash "$in_full" "$mnt" "${by[@]}" "$PAGEZONE" run \
		--engine "kernel:dir=$mnt" -q -t 2 -S 16m -R 100 -i initial-writer \
		--workers "${options%%:*}"
	status_is 3 "a file system becomes full, $options: status 3"
	like "$err" "$mnt.*No space left on device" 'says why, and where'
	like "$out" 'run:  *-' 'the table has a dash'
	like "$out" $'\n *0$' 'no file, no core and no space is left'
done

# ---- case 17: ulimit -f ----
be "${users[-1]}"
# shellcheck disable=SC2016
limited='ulimit -f 1024; exec "$@"'
run bash -c "$limited" - "${by[@]}" "$PAGEZONE" run --engine "kernel:dir=$mnt" -q -t 1 -S 4m
refused 'ulimit -f' 'ulimit -f' '4 MiB' '1 MiB'
run bash -c "$limited" - "${by[@]}" "$PAGEZONE" run --engine "kernel:dir=$mnt" -q -t 4 -S 4m -R 1
status_is 0 'files as large as it allows'

# ---- case 18: a memory cgroup ----
set_up_memory()
{
	local parent limit

	for parent in /sys/fs/cgroup/memory /sys/fs/cgroup; do
		memory=$parent/pagezone-test-$$
		mkdir "$memory" 2>/dev/null || continue
		for limit in memory.limit_in_bytes memory.max; do
			[ -w "$memory/$limit" ] && echo 64M 2>/dev/null >"$memory/$limit" && return
		done
		rmdir "$memory"
	done
	return 1
}
if ! set_up_memory; then
	skip 'no memory cgroup can be made here' 16
else
	for who in "${users[@]}"; do
		be "$who"
		why=$(why_no_tmpfs)
		if [ -n "$why" ]; then
			skip "$why" 8
			continue
		fi
		for workers in thread process; do
			run bash -c "$enter" "$memory" "${by[@]}" "$PAGEZONE" run \
				--engine tmpfs:huge=never -q -t 1 -S 128m --workers "$workers"
			refused "$who: a memory cgroup of 64 MiB, $workers" \
				'needs 16.* MiB.*memory cgroup.*pagezone-test' 'lower -S'
		done
	done
fi

# ---- case 20: directories ----
mkdir -m 755 "$tmp/dirs"
cd "$tmp/dirs" || bail "$tmp/dirs"
# shellcheck disable=SC2016
for name in a:b 'a b' a,b "it's \"quoted\"" $'new\nline' -dash 'back\slash' $'\303\274' \
	$'\377\376' '$HOME' '*'; do
	mkdir -m 1777 -- "$name"
	text=${name//\\/\\\\}
	run "${by[@]}" "$PAGEZONE" run --engine "kernel:dir=${text//,/\\,}" -f json -q -t 1 -S 1m -R 1 \
		-i initial-writer
	printf -v text %q "$name"
	if [ "$status" -eq 0 ] && iconv -f utf-8 -t utf-8 "$json" >/dev/null &&
		jq -e 'all(.samples[]; .bytes == 1048576)' "$json" >/dev/null &&
		[ -z "$(ls -A -- "$name")" ]; then
		pass "in $text: valid JSON"
	else
		fail "in $text: valid JSON" "status $status"$'\n'"$err"$'\n'"$out"
	fi
done
run "$PAGEZONE" run --engine kernel:dir=a,b -q -t 1 -S 1m
status_is 2 'a comma that is not escaped: a usage error'
run "$PAGEZONE" run --engine kernel:dir=none -q -t 1 -S 1m
refused 'a directory that is not there' 'none: No such file or directory'
run "$PAGEZONE" run --engine $'kernel:dir=no\nne' -q -t 1 -S 1m
refused 'a newline in its name' 'No such file or directory'
: >file
run "$PAGEZONE" run --engine kernel:dir=file -q -t 1 -S 1m
refused 'a file' 'file: Not a directory'
mkdir -m 555 closed
be "${users[-1]}"
if [ "$who" = root ]; then
	skip 'root may write everywhere' 4
else
	run "${by[@]}" "$PAGEZONE" run --engine kernel:dir=closed -q -t 1 -S 1m
	refused 'a directory without permission to write' 'closed.*Permission denied' 'dir='
fi
if [ -n "$no_mount" ]; then
	skip "$no_mount" 5
else
	run with_tmpfs ro "${by[@]}" "$PAGEZONE" run --engine "kernel:dir=$mnt" -q -t 1 -S 1m
	refused 'a read-only mount' "$mnt.*Read-only file system" 'dir='
fi
cd "$tmp" || exit

# ---- cases 21 and 25: what a run has, and that it is gone afterwards ----
# mapped PID: one of its session has mapped files of the directory, shared.
mapped()
{
	local pid

	for pid in $(in_session "$1"); do
		grep -qsE "rw-s .* .*$2.* \(deleted\)$" "/proc/$pid/maps" && return
	done
	return 1
}
unmapped()
{
	local pid

	for pid in $(in_session "$1"); do
		grep -sE "rw-p .*/.* \(deleted\)$" "/proc/$pid/maps"
	done
}
five()
{
	[ "$(in_session "$1" | wc -l)" -eq 5 ]
}
gone()
{
	[ -z "$(in_session "$1")" ]
}
used_is()
{
	[ "$(df --output=used -k "$mnt" | tail -n 1)" -eq "$1" ]
}

# The run of a signal, on $mnt, whose space is counted where it is a mount of its own.
interrupted()
{
	local workers=$1 signal=$2 wanted=$3 pid

	env --default-signal=INT,TERM setsid "${by[@]}" "$PAGEZONE" run --engine "kernel:dir=$mnt" -q \
		-t 4 -S 64m -R 10000 -i rewriter --workers "$workers" -f json \
		>"$tmp/.out" 2>"$tmp/.err" </dev/null &
	pid=$!
	ok "--workers $workers: files are mapped shared, without a name" eventually mapped "$pid" "$mnt"
	is "$(unmapped "$pid")" '' 'none is mapped private'
	[ "$workers" != process ] ||
		ok 'there are processes' eventually five "$pid"
	[ -z "${counted:-}" ] || ok 'the space in use is the total' eventually used_is 65536
	is "$(ls -A "$mnt")" '' 'the directory is empty while it runs'
	kill -s "$signal" "$pid"
	wait "$pid" 2>/dev/null
	is $? "$wanted" "SIG$signal: status $wanted"
	if [ "$signal" != KILL ]; then
		ok 'valid JSON' jq -e .interrupted "$tmp/.out"
		is "$(cat "$tmp/.err")" '' 'nothing is complained of'
	fi
	is "$(ls -A "$mnt")" '' 'the directory is empty'
	ok 'no process is left' eventually gone "$pid"
	[ -z "${counted:-}" ] || ok 'the space is free' eventually used_is 0
}
all_interrupted()
{
	local workers

	for workers in thread process; do
		interrupted "$workers" INT 130
		interrupted "$workers" TERM 143
		interrupted "$workers" KILL 137
	done
}
be "${users[-1]}"
# From here on in a namespace of this shell's own, when it is root: a mount to look at.
if [ -z "$no_mount" ] && [ "$(id -u)" -eq 0 ]; then
	export -f all_interrupted interrupted mapped unmapped five gone used_is in_session eventually \
		ok is pass fail diag
	declare -p by users mnt tmp tap_run tap_failed >"$tmp/state"
	# shellcheck disable=SC2016
	with_tmpfs size=80m bash -c '. "$0"; counted=1; all_interrupted
		declare -p tap_run tap_failed >"$0"' "$tmp/state"
	# shellcheck source=/dev/null
	. "$tmp/state"
else
	all_interrupted
fi

# the private tmpfs too
why=$(why_no_tmpfs)
for workers in thread process; do
	if [ -n "$why" ]; then
		skip "$why" 5
		continue
	fi
	env --default-signal=INT setsid "${by[@]}" "$PAGEZONE" run --engine tmpfs:huge=never -q -t 2 \
		-S 64m -R 10000 -i rewriter --workers "$workers" >"$tmp/.out" 2>&1 </dev/null &
	pid=$!
	ok "tmpfs, --workers $workers: files are mapped shared" eventually mapped "$pid" /
	is "$(unmapped "$pid")" '' 'none is mapped private'
	is "$(grep -c pagezone /proc/self/mountinfo)" 0 'the mount cannot be seen'
	kill -s INT "$pid"
	wait "$pid"
	is $? 130 'SIGINT: status 130'
	ok 'no process is left' eventually gone "$pid"
done

# ---- no namespaces ----
deny=${top_builddir:?}/tests/deny
if ! "$deny" unshare -- true 2>/dev/null; then
	skip 'tests/deny was not built, or there are no seccomp filters' 10
else
	for who in "${users[@]}"; do
		be "$who"
		run "${by[@]}" "$deny" unshare,mount -- "$PAGEZONE" run --engine tmpfs:huge=never -t 1 \
			-S 1m
		refused "$who: namespaces are forbidden" 'namespace' 'kernel:dir=DIR'
	done
fi

no_loop_left
done_testing
