#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A signal in the middle of a run: the status says which, what was measured is saved and valid.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
command -v jq >/dev/null || skip_all 'jq is not installed'

# Rounds without end: only the signal ends them. The file is written after the first round.
interrupt()
{
	local signal=$1 wanted=$2 pid tries

	rm -f "$tmp"/*.json
	# a background job of a shell without job control ignores SIGINT: env puts it back
	env --default-signal=INT,TERM,HUP "$PAGEZONE" speedup -q -t 1,4 -S 8m -R 10000 \
		-o "$tmp/r.json" >"$tmp/table" 2>"$tmp/errors" &
	pid=$!
	for ((tries = 0; tries < 600; tries++)); do
		[ -s "$tmp/r.json" ] && break
		sleep 0.05
	done
	kill -s "$signal" "$pid"
	wait "$pid"
	is "$?" "$wanted" "SIG$signal: status $wanted"
	ok 'the result is valid JSON' jq -e . "$tmp/r.json"
	ok 'it says that it was interrupted' jq -e '.interrupted == true' "$tmp/r.json"
	ok 'it has the samples that were finished' jq -e \
		'(.samples | length) >= 28 and all(.samples[]; .bytes == 8388608 and .window_ns > 0)' \
		"$tmp/r.json"
	is "$(cd "$tmp" && echo ./*.json*)" './r.json' 'and nothing else is left'
	is "$(cat "$tmp/errors")" '' 'nothing is complained of'
	like "$(cat "$tmp/table")" 'speed-up' 'the finished cells are printed'
}

interrupt INT 130
interrupt TERM 143
interrupt HUP 129

# Before a single sample, in a long window: at once all the same.
env --default-signal=INT "$PAGEZONE" run --engine null -q -t 1 -s 4t -i initial-writer -R 1 \
	-o "$tmp/early.json" >"$tmp/table" 2>&1 &
pid=$!
# Until the program (no longer env, or this shell) catches the signal, and then some: the window takes longer.
for ((tries = 0; tries < 600; tries++)); do
	caught=$(sed -n '1{/^Name:[[:space:]]*pagezone$/!q}; s/^SigCgt:[[:space:]]*//p' "/proc/$pid/status")
	((0x${caught:-0} & 1 << (2 - 1))) && break
	sleep 0.05
done
sleep 0.2
kill -s INT "$pid"
wait "$pid"
is "$?" 130 'in the first window: status 130'
ok 'an empty, valid result' jq -e '.interrupted == true and .samples == []' "$tmp/early.json"

done_testing
