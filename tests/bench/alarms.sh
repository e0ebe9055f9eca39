#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Whether --max-regression PERCENT (5) can be trusted on this machine, which should do nothing else meanwhile.
#
# 1. False alarms: COUNT (40) comparisons of ENGINE (cache:batch=512) with itself, --quick and ROUNDS (5) rounds. At
#    most 1 of 20 may end with status 1; 4, too noisy to tell, is an honest answer.
# 2. Missed ones: COUNT_SLOW (20) comparisons of the memory engine with one that does 10 % more work, hence is 9 % slower,
#    with --rounds auto and --precision 3%. At least 9 of 10 have to end with status 1. PERCENT is about half way between
#    no difference and this one, and more than the precision. 256 MiB in one file are far more than caches hold,
#    so that more work is more time in each phase; one thread leaves a CPU to whatever else runs. BUDGET
#    (the default of --budget) is how long each may take.
#
# Prints how many ended with which status, and what the rounds were; with CHECK=1 the status is 1 when it is not as
# wanted. COUNT=0 or COUNT_SLOW=0 leaves that part out.

set -eu
: "${PAGEZONE:?names the program}"
export LC_ALL=C
percent=${PERCENT:-5}
good=1

# compare_often NAME COUNT ARGUMENT...: sets $ones, how many of COUNT runs ended with status 1.
compare_often()
{
	local name=$1 count=$2 i status rounds all=()
	local -A ended=()

	shift 2
	for ((i = 1; i <= count; i++)); do
		status=0
		rounds=$("$PAGEZONE" speedup -q --seed "$i" --max-regression "$percent" "$@" 2>/dev/null) || status=$?
		ended[$status]=$((${ended[$status]:-0} + 1))
		all+=("$(sed -n 's/^rounds: *\([0-9]*\) .*/\1/p' <<<"$rounds")")
	done
	for status in "${!ended[@]}"; do
		echo "$name: status $status: ${ended[$status]} of $count"
	done | sort
	[ "$count" -eq 0 ] || echo "$name: rounds: ${all[*]}"
	ones=${ended[1]:-0}
}

count=${COUNT:-40}
engine=${ENGINE:-cache:batch=512}
compare_often same "$count" --quick -R "${ROUNDS:-5}" --baseline "$engine" --patched "$engine"
echo "false alarms: $ones of $count, wanted <= $((count / 20))"
[ "$ones" -le $((count / 20)) ] || good=0

count=${COUNT_SLOW:-20}
compare_often slower "$count" -t 1 -S 256m -i reader,rewriter,random-reader -R auto --precision 3% \
	${BUDGET:+--budget "$BUDGET"} --baseline memory --patched memory:slow=10
echo "found: $ones of $count, wanted >= $((count - count / 10))"
[ "$ones" -ge $((count - count / 10)) ] || good=0

[ "${CHECK:-0}" != 1 ] || [ "$good" = 1 ]
