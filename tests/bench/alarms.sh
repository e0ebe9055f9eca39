#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How often --max-regression raises a false alarm: COUNT (40) comparisons of ENGINE (cache:batch=512) with
# itself, --quick and ROUNDS (5) rounds, at PERCENT (5). At most 2 of 40 may end with status 1 (4, too noisy to
# tell, is an honest answer). Prints how many ended with which status; the status is 1 when they are more and
# CHECK=1.

set -eu
: "${PAGEZONE:?names the program}"
export LC_ALL=C
count=${COUNT:-40}
declare -A ended=()

for ((i = 1; i <= count; i++)); do
	status=0
	"$PAGEZONE" speedup -q --quick -R "${ROUNDS:-5}" --seed "$i" --max-regression "${PERCENT:-5}" \
		--baseline "${ENGINE:-cache:batch=512}" --patched "${ENGINE:-cache:batch=512}" \
		>/dev/null 2>&1 || status=$?
	ended[$status]=$((${ended[$status]:-0} + 1))
done
for status in "${!ended[@]}"; do
	echo "status $status: ${ended[$status]} of $count"
done | sort
wanted=$((count / 20))
echo "false alarms: ${ended[1]:-0} of $count, wanted <= $wanted"
[ "${CHECK:-0}" != 1 ] || [ "${ended[1]:-0}" -le "$wanted" ]
