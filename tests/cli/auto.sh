#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --rounds auto: how many rounds there are, what is said and saved, and what is refused.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
command -v jq >/dev/null || skip_all 'jq is not installed'

cd "$tmp" || exit 99
small=(-q -t "1,2" -S 4m -i reader)

# whole FILE SIDES: as many whole rounds as the parameters tell, from 1 on, of 2 cells a side.
whole()
{
	# shellcheck disable=SC2016 # the dollars are jq's
	ok 'whole rounds, as many as the parameters tell' jq -e --argjson sides "$2" '.parameters.rounds as $n |
		$n >= 1 and (.samples | length == 2 * $sides * $n and (map(.round) | max == $n))' "$1"
}

# Precise enough with the least number of rounds, on any machine that is not wholly out of hand.
run "$PAGEZONE" run --engine memory "${small[@]}" -R auto --precision 99% --budget 1m -o run.json
status_is 0 'run -R auto'
whole run.json 1
ok 'no fewer rounds than an interval takes' jq -e '.parameters.rounds >= 5' run.json
ok 'what was asked for is in the JSON' jq -e '.parameters | .rounds_auto and .precision == 99 and .budget == 60' run.json
like "$out" 'until each interval is' 'and in the header'
like "$out" 'for[[:space:]]+1m\)' 'the time as --budget has it'

run "$PAGEZONE" speedup --baseline memory --patched memory "${small[@]}" --rounds auto --precision 99 \
	--max-regression 90 --budget 60s -o speedup.json
ok 'with a gate no fewer than can fail it: log2(2 cells / 5 %)' jq -e '.parameters.rounds >= 6' speedup.json
whole speedup.json 2
run "$PAGEZONE" speedup --baseline memory --patched memory "${small[@]}" -R 2 -o two.json
ok 'a number of rounds is one' jq -e '.parameters | .rounds == 2 and (has("rounds_auto") or has("precision") or
	has("budget") | not)' two.json
run "$PAGEZONE" compare --side patched two.json speedup.json
unlike "$out" 'rounds_auto|precision|budget' 'which is no difference'

# The time is over first, on a busy machine before there is an interval.
run "$PAGEZONE" speedup --baseline memory --patched memory "${small[@]}" -R auto --precision 0.0001 --budget 1s -o late.json
status_is 0 'out of time: status 0 all the same'
whole late.json 2
is "$err" '' '-q: without a word'
ok 'but the JSON has it' jq -e '.warnings | map(select(test("--rounds auto ended after [0-9]+ round.*--budget: 2 of 2 intervals " +
	"reach farther than 0.0001 %: patched reader@[12] .*(would do|are needed)$"))) | length == 1' late.json
ok 'and the defaults are filled in' jq -e '.parameters | .precision == 0.0001 and .budget == 1' late.json
run "$PAGEZONE" speedup --baseline memory --patched memory -t 1 -S 4m -i reader -R auto --precision 0.0001 --budget 1s
like "$err" 'warning: --rounds auto ended' 'without -q it is said'
like "$out" 'warning: +--rounds auto ended' 'above the tables, too'
# One window takes longer than the budget: it is finished, and there is no other.
run "$PAGEZONE" run --engine null -q -t 1 -s 8t -i reader -R auto --budget 1s -o one.json
ok 'a round that began is finished, and one that would not fit is not begun' jq -e '.parameters.rounds == 1 or
	(.samples[0].window_ns < 500000000)' one.json

run "$PAGEZONE" truncate -q --pages 8 --count 20 --runs auto --precision 0.0001 --budget 1s -o truncate.json
status_is 0 'truncate --runs auto'
ok 'which is what its warning speaks of' jq -e '.warnings | any(test("^--runs auto ended after [0-9]+ run"))' truncate.json
ok 'has runs' jq -e '.parameters | .rounds >= 1 and .rounds_auto' truncate.json

# refuses_like REGEX ARGUMENT...: the same as refuses, with a message like that.
refuses_like()
{
	local regex=$1

	shift
	refuses '' "$@"
	like "$err" "$regex" 'says why'
}

for argument in 0 -1 x 1,5 100 100% '' 1e1 2%%; do
	refuses_like '--precision .* not a percentage' run --engine null -R auto "--precision=$argument"
done
for argument in 10 0s -1s 1.5h x '' 10min 1001h 99999999999999999999h; do
	refuses_like '--budget .* not a time' run --engine null -R auto "--budget=$argument"
done
for argument in 0 automatic Auto '' 10001; do
	refuses_like '-R .* nor auto' run --engine null "--rounds=$argument"
	refuses_like '--runs .* nor auto' truncate "--runs=$argument"
done
refuses_like '--precision is for --rounds auto' run --engine null --precision 2
refuses_like '--budget is for --rounds auto' speedup -R auto --budget 1m -R 5
refuses_like '--budget is for .*--runs auto' truncate --budget 1m

# Each round is saved: nothing is lost when the machine is.
"$PAGEZONE" speedup --baseline memory --patched memory "${small[@]}" -R auto --precision 0.0001 -o killed.json >/dev/null 2>&1 &
pid=$!
for ((tries = 0; tries < 600; tries++)); do
	[ -s killed.json ] && break
	sleep 0.05
done
kill -9 "$pid"
wait "$pid" 2>/dev/null
whole killed.json 2
run "$PAGEZONE" compare killed.json
status_is 0 'killed in mid-run: what there is loads and compares'

# Interrupted in the middle of a round: what there is counts.
env --default-signal=INT "$PAGEZONE" speedup "${small[@]}" -R auto --precision 0.0001 -o stopped.json >/dev/null 2>&1 &
pid=$!
for ((tries = 0; tries < 600; tries++)); do
	[ -s stopped.json ] && break
	sleep 0.05
done
kill -s INT "$pid"
wait "$pid"
is "$?" 130 'interrupted: status 130'
ok 'with the rounds that were begun' jq -e '.interrupted and .parameters.rounds == (.samples | map(.round) | max)' stopped.json

done_testing
