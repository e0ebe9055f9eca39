#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a system does not tell of its CPUs and nodes, or forbids: a reason, and the run goes on.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"

deny=${top_builddir:?}/tests/deny
failonce=$top_builddir/tests/failonce
small=(-R 1 -S 1m -i reader --engine null)
first=$("$PAGEZONE" topology -t 1 -f json | sed -n 's/.*"cpu": \([0-9]*\).*/\1/p')

# hidden DIRECTORY COMMAND...: with an empty file system in place of DIRECTORY.
if unshare -m true 2>/dev/null; then
	namespace=(unshare -m)
else
	namespace=(unshare -rm)
fi
hidden()
{
	# shellcheck disable=SC2016 # for the inner shell
	run "${namespace[@]}" bash -c 'mount -t tmpfs none "$0" || exit 99; exec "$@"' "$@"
}

# ---- no /sys, or no nodes in it ----

hidden /sys/devices/system/node true
if [ "$status" -eq 0 ]; then
	hidden /sys/devices/system/node "$PAGEZONE" topology
	status_is 0 'no /sys/devices/system/node: there is a plan'
	like "$out" 'note: .*nothing in /sys/devices/system/node' 'and a reason'
	like "$out" ' 1 node,' 'all is one node'
	hidden /sys/devices/system/node "$PAGEZONE" run -t 2 "${small[@]}"
	status_is 0 'no /sys/devices/system/node: a run'
	like "$err" 'warning: the kernel tells no NUMA nodes' 'warns'
	is "$(grep -c 'tells no NUMA' <<<"$err")" 1 'once'
	hidden /sys/devices/system/node "$PAGEZONE" topology --topology 'pack:2 numa:1 core:2 pu:1'
	unlike "$out" 'note:' 'of another machine nothing is missing'

	hidden /sys "$PAGEZONE" topology -f json
	status_is 0 'no /sys at all: there is a plan'
	like "$out" '"note": "[^"]*nothing in /sys/devices/system/cpu' 'and a reason'
	like "$out" "\"cpu\": $first," 'the first worker gets the first CPU all the same'
	hidden /sys "$PAGEZONE" run -t 1,3 "${small[@]}"
	status_is 0 'no /sys at all: a run'
	like "$err" 'warning: the kernel tells nothing of CPUs' 'warns'
	hidden /sys "$PAGEZONE" topology --pin "cpus:$first" -t 1
	status_is 0 'no /sys at all: a list of CPUs is taken'
	hidden /sys "$PAGEZONE" topology --pin node:0 -t 1
	status_is 0 'and node 0'
	hidden /sys "$PAGEZONE" topology --pin cpus:99999 -t 1
	status_is 2 'no /sys at all: a CPU that is not there is refused'

	if sanitized; then
		skip 'sanitizers need /proc' 3 # and read ASAN_OPTIONS from there
	else
		hidden /proc "$PAGEZONE" run --engine cache:batch=1 -t 1 -S 2m -i reader -R 1 -q
		status_is 0 'no /proc: a run'
		like "$out" 'frames: .*MiB, unknown how much in huge pages' \
			'what is not told is not 0'
		unlike "$out" 'backed by huge pages' 'nor a warning'
	fi
else
	skip 'no file system can be mounted here' 19
fi

# ---- one CPU ----

run taskset -c "$first" "$PAGEZONE" topology -t 3
status_is 0 'an affinity mask of one CPU'
is "$(awk '/^ worker/ { on = 1; next } on && NF { print $2 }' <<<"$out" | sort -u)" "$first" \
	'all workers share it'
run taskset -c "$first" "$PAGEZONE" run -t 1,4 "${small[@]}"
status_is 0 'more workers than CPUs that are allowed: a run'
unlike "$err" 'bound|quota|kinds' 'which is no warning'
other=$("$PAGEZONE" topology -t 2 -f json | sed -n 's/.*"cpu": \([0-9]*\).*/\1/p' | tail -n 1)
if [ "$other" != "$first" ]; then
	run taskset -c "$first" "$PAGEZONE" run -t 1 "${small[@]}" --pin "cpus:$other"
	status_is 2 'a CPU outside of the mask: status 2'
	like "$err" "CPU $other may not be used .*; allowed are $first\$" 'named, with what may be used'
else
	skip 'there is one CPU only' 2
fi

cpuset=
for parent in /sys/fs/cgroup/cpuset /sys/fs/cgroup; do
	{ mkdir "$parent/pagezone-test-$$" && cpuset=$parent/pagezone-test-$$; } 2>/dev/null || continue
	{ cat "$parent/cpuset.mems" >"$cpuset/cpuset.mems" && echo "$first" >"$cpuset/cpuset.cpus"; } \
		2>/dev/null && break
	rmdir "$cpuset"
	cpuset=
done
if [ -n "$cpuset" ]; then
	# shellcheck disable=SC2016 # for the inner shell
	run bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$cpuset" \
		"$PAGEZONE" run -t 1,2 "${small[@]}" -f json
	status_is 0 'a cpuset of one CPU'
	like "$out" "\"allowed_cpus\": \"$first\"" 'is what is allowed'
	rmdir "$cpuset"
else
	skip 'no cpuset can be made here' 2
fi

# ---- binding ----

if [ -x "$deny" ] && "$deny" fsync -- true; then
	for error in EPERM ENOSYS; do
		run "$deny" "sched_setaffinity=$error" -- "$PAGEZONE" run -t 1,2 "${small[@]}"
		status_is 0 "sched_setaffinity fails with $error: a run"
		is "$(grep -c 'warning: workers could not be bound' <<<"$err")" 1 'warns once'
		like "$out" 'pinned: none \(not permitted\)' 'and says so above the table'
	done
	run "$deny" sched_setaffinity -- "$PAGEZONE" run -t 1 "${small[@]}" --pin none
	unlike "$err" 'bound' 'who does not bind is not told'
else
	skip 'no seccomp filters here' 7
fi
# A CPU of the plan that goes offline, before the first workers and before later ones.
if [ -x "$failonce" ] && "$failonce" fsync -- true 2>/dev/null; then
	for nth in 1 3; do
		# LeakSanitizer does not work under ptrace.
		ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 run "$failonce" --log "$tmp/log" "sched_setaffinity=EINVAL@$nth" -- \
			"$PAGEZONE" run -t 1,2,4 "${small[@]}"
		is "$(cut -d' ' -f3 "$tmp/log")" 1 "a CPU is offline for binding $nth"
		status_is 0 'a run'
		like "$err" 'warning: some workers could not be bound .*went offline' 'warns'
		like "$out" 'pinned: in part' 'and says so above the table'
		like "$out" "on the planned CPU: .* of 7 workers' loops" 'where all of them are looked for'
	done
else
	skip 'no ptrace or no seccomp filters here' 10
fi

# ---- a CPU quota ----

quota=
for file in /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us \
	/sys/fs/cgroup/cpu.max; do
	[ ! -e "$file" ] || quota=$file
done
case $quota in
*cpu.max) echo '50000 100000' >"$tmp/quota" ;;
*) echo 50000 >"$tmp/quota" ;;
esac
"${namespace[@]}" true 2>/dev/null || quota=
if [ -n "$quota" ]; then
	# shellcheck disable=SC2016 # for the inner shell
	run "${namespace[@]}" bash -c 'mount --bind "$0" "$1" || exit 99; shift; exec "$@"' \
		"$tmp/quota" "$quota" "$PAGEZONE" run -t 1,2 "${small[@]}"
fi
if [ -n "$quota" ] && [ "$status" -ne 99 ]; then
	status_is 0 'a CPU quota of half a CPU: a run'
	like "$err" "warning: the cgroup's CPU quota is 0\\.50 CPUs" 'warns'
	like "$out" 'CPU quota 0\.50' 'and says so above the table'
else
	skip 'no CPU quota can be made up here' 3
fi

done_testing
