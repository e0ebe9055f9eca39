#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kill -9 at random moments of a run with 64 workers: no file, mount, process, shared memory or
# used space remains. kill -9 of one worker process: a voided cell, and no hang.
#
# SEED=N repeats the moments of a run.

# In namespaces of its own, with a tmpfs on /dev/shm, everything that is left is this test's.
if [ -z "${PAGEZONE_TEST_ALONE:-}" ]; then
	as=(-m -i)
	[ "$(id -u)" -eq 0 ] || as+=(-r)
	if unshare "${as[@]}" mount -t tmpfs none /dev/shm 2>/dev/null; then
		PAGEZONE_TEST_ALONE=yes exec unshare "${as[@]}" bash "$0" "$@"
	fi
	PAGEZONE_TEST_ALONE=no
fi

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
slow_test

alone=$PAGEZONE_TEST_ALONE
here=$(mktemp -d "${top_builddir:?}/killed.XXXXXX") || bail 'no directory in the build directory'
trap 'rm -rf "$here"; tap_exit' EXIT
dirs=("$here")
if [ "$alone" = yes ]; then
	mount -t tmpfs -o size=256m none /dev/shm || bail 'no tmpfs on /dev/shm'
	mkdir /dev/shm/dir
	dirs+=(/dev/shm/dir)
	tmpfs=(tmpfs:huge=always 'tmpfs:huge=never,faultaround=off' 'tmpfs:huge=never,populate=16')
else
	tmpfs=()
fi
seed=${SEED:-$RANDOM}
RANDOM=$seed
diag "SEED=$seed; namespaces of its own: $alone"

# The processes of the session $1 that are not dead.
session()
{
	local stat rest

	for stat in /proc/[0-9]*/stat; do
		{ read -r rest <"$stat"; } 2>/dev/null || continue
		# after the name: state, parent, group, session
		read -r -a rest <<<"${rest##*) }"
		[[ ${#rest[@]} -lt 4 || ${rest[3]} != "$1" || ${rest[0]} == [ZX] ]] ||
			echo "process ${stat//[^0-9]/} in state ${rest[0]}"
	done
}

# What there is now that a run of the session $1 may have left.
left()
{
	session "$1"
	for dir in "${dirs[@]}"; do
		find "$dir" -mindepth 1
	done
	if [ "$alone" = yes ]; then
		cat /proc/self/mounts
		ls -A /dev/shm
		df --output=used /dev/shm
		ipcs -m
	fi
}

# What is there that was not before the run of the session $1, and does not vanish within seconds.
whats_left()
{
	local tries now

	for ((tries = 0; tries < 100; tries++)); do
		now=$(left "$1")
		[ "$now" != "$before" ] || return 0
		sleep 0.1
	done
	diff <(echo "$before") <(echo "$now")
}

# killed SPEC WORKERS MILLISECONDS
killed()
{
	local pid status name="$1, $2: killed after $3 ms"

	# in a background job, setsid does not fork: the job is the leader of the session
	setsid "$PAGEZONE" run --engine "$1" --workers "$2" -q -t 64 -S 64m -R 10000 \
		>"$tmp/table" 2>"$tmp/errors" </dev/null &
	pid=$!
	sleep "$(printf '%d.%03d' $(($3 / 1000)) $(($3 % 1000)))"
	kill -s KILL "$pid"
	wait "$pid" 2>/dev/null
	status=$?
	if [ "$status" -ne 137 ]; then
		fail "$name" "it had ended with status $status"$'\n'"$(cat "$tmp/errors")"
		return
	fi
	is "$(whats_left "$pid")" '' "$name: nothing is left"
}

before=$(left none)
for ((moment = 0; moment < 10; moment++)); do
	# half of them while it starts
	ms=$((moment % 2 ? RANDOM % 1000 : RANDOM % 100))
	dir=${dirs[moment % ${#dirs[@]}]}
	keys=('' ',faultaround=off' ',populate=16' ',write=64k')
	spec=kernel:dir=$dir${keys[moment / 2 % 4]}
	for workers in thread process; do
		killed "$spec" "$workers" "$ms"
		if [ "${#tmpfs[@]}" -gt 0 ]; then
			killed "${tmpfs[moment % 3]}" "$workers" "$ms"
		else
			skip 'namespaces are forbidden here'
		fi
	done
done

# The PIDs of the children of $1.
children()
{
	local stat rest

	for stat in /proc/[0-9]*/stat; do
		{ read -r rest <"$stat"; } 2>/dev/null || continue
		read -r -a rest <<<"${rest##*) }"
		[ "${rest[1]:-}" != "$1" ] || echo "${stat//[^0-9]/}"
	done
}

# worker_killed SPEC: one of four worker processes is killed. It is timeout that leads the session.
worker_killed()
{
	local pid tries status main workers=()

	setsid timeout -k 5 60 "$PAGEZONE" run --engine "$1" --workers process -q -t 4 -S 64m \
		-R 10000 -i initial-writer >"$tmp/table" 2>"$tmp/errors" </dev/null &
	pid=$!
	# Each round has workers of its own: until one is met before it ends.
	for ((tries = 0; tries < 500; tries++)); do
		sleep "0.0$((RANDOM % 9 + 1))"
		kill -0 "$pid" 2>/dev/null || break
		main=$(children "$pid")
		[ -n "$main" ] || continue
		mapfile -t workers < <(children "$main")
		[ "${#workers[@]}" -lt 4 ] || kill -s KILL "${workers[RANDOM % 4]}" 2>/dev/null
	done
	wait "$pid"
	status=$?
	is "$status" 3 "$1: a worker process is killed: status 3" || diag "$(cat "$tmp/errors")"
	like "$(cat "$tmp/errors")" \
		"pagezone: run, initial-writer, -t 4: no figure: worker [0-3] .*killed by signal 9" \
		'a line says so'
	like "$(cat "$tmp/table")" 'run: +-' 'the cell is void'
	is "$(whats_left "$pid")" '' 'nothing is left'
}

worker_killed "kernel:dir=$here"
if [ "${#tmpfs[@]}" -gt 0 ]; then
	worker_killed tmpfs:huge=never
else
	skip 'namespaces are forbidden here' 4
fi

done_testing
