#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What is printed does not depend on the locale, the terminal's width or what standard output is.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"

args=(speedup -t '1,2,4,8,16,32,64,128,256' -S 8m -R 1 -i 'reader,random-writer')

# looks_right NAME: $out has whole tables.
looks_right()
{
	local n='[[:space:]]+[0-9]+' r='[[:space:]]+[0-9]+\.[0-9][0-9]'

	like "$out" '\*\* Readers \*\*' "$1: a title"
	like "$out" 'threads:               1         2         4         8        16        32        64       128       256' \
		"$1: nine thread counts on one line"
	like "$out" "baseline:$n$n$n$n$n$n$n$n$n"$'\n'"patched: $n$n$n$n$n$n$n$n$n"$'\n'"speed-up\(times\):$r$r$r$r$r$r$r$r$r"$'\n' \
		"$1: nine figures in each row, none cut off"
	unlike "$out" '[0-9],[0-9][0-9] |nan|inf' "$1: decimal points, no nan"
	unlike "$out" $'[\r\033]' "$1: no control characters"
}

run "$PAGEZONE" "${args[@]}"
status_is 0 'a run'
is "$err" '' 'nothing on standard error'
looks_right 'into a file'
like "$out" 'reader.*random-writer|random-writer.*reader' 'the extremes are named'
COLUMNS=20 run "$PAGEZONE" "${args[@]}"
looks_right 'COLUMNS=20'
out=$("$PAGEZONE" "${args[@]}" 2>&1 | cat)
looks_right 'into a pipe'
if [ "$(LC_ALL=de_DE.UTF-8 locale decimal_point 2>/dev/null)" = , ]; then
	LC_ALL=de_DE.UTF-8 run "$PAGEZONE" "${args[@]}"
	looks_right 'LC_ALL=de_DE.UTF-8'
	LC_ALL=de_DE.UTF-8 run "$PAGEZONE" "${args[@]}" -f json
	like "$out" '"kb_per_s": ?[0-9]+\.[0-9]' 'JSON with decimal points'
else
	skip 'the locale de_DE.UTF-8 is not there' 6
fi

run "$PAGEZONE" "${args[@]}" --per total
looks_right '--per total'
run "$PAGEZONE" "${args[@]}" --limit --patched cache:batch=8 --patched cache:batch=512
like "$out" 'patched2:' 'a second patched side has a row'
like "$out" 'speed-up\(patched2\):' 'and a speed-up'
like "$out" 'limit:' 'the limit has a row'
run "$PAGEZONE" "${args[@]}" -f csv
is "$(wc -l <"$tmp/.out")" $((1 + 2 * 9 * 2)) 'csv: a header and a line a cell'
like "$out" '^phase,threads,side,' 'its header'
if command -v jq >/dev/null; then
	run "$PAGEZONE" "${args[@]}" -f json -o "$tmp/r.json"
	ok 'json on standard output is valid' jq -e '.schema == "pagezone-result/1"' "$tmp/.out"
	ok 'and is what is saved' diff <(jq . "$tmp/.out") <(jq . "$tmp/r.json")
	ok 'its first keys' jq -e 'keys_unsorted[:6] ==
		["schema", "pagezone", "environment", "parameters", "sides", "samples"]' "$tmp/r.json"
else
	skip 'jq is not installed' 3
fi

# nobody at the other end of a FIFO
mkfifo "$tmp/fifo"
run timeout -s KILL 20 "$PAGEZONE" run --engine null -q -t 1 -S 4m -i reader -R 1 -o "$tmp/fifo"
status_is 3 '-o to a FIFO that nobody reads does not wait'
like "$err" 'fifo: No such device or address' 'and says so'

# the progress line: on a terminal, and only there
if command -v script >/dev/null; then
	script -qec "'$PAGEZONE' speedup -t 1,2 -S 32m -R 3 >'$tmp/table'" "$tmp/typescript" \
		>/dev/null 2>&1 </dev/null
	like "$(cat "$tmp/typescript")" 'round [123] of 3, (1 thread|2 threads), ' 'a progress line on a terminal'
	unlike "$(cat "$tmp/table")" 'round [123] of 3' 'not in the table'
	script -qec "'$PAGEZONE' speedup -q -t 1,2 -S 32m -R 3 >'$tmp/table'" "$tmp/typescript" \
		>/dev/null 2>&1 </dev/null
	unlike "$(cat "$tmp/typescript")" 'round [123] of 3' 'none with -q'
	# Until the line is there: a busy machine takes its time for the rounds that an interval needs.
	script -qfec "'$PAGEZONE' run --engine memory -t 1 -S 4m -i reader -R auto --precision 0.001 --budget 1m &
		while kill -0 \$! && ! grep -q 'wides[t]' '$tmp/typescript'; do sleep 0.1; done 2>/dev/null
		kill \$!; wait" "$tmp/typescript" >/dev/null 2>&1 </dev/null
	like "$(cat "$tmp/typescript")" '[0-9]+ s of 60 s, widest interval [0-9.]+ %, wanted 0\.001 %: round [0-9]+, 1 thread, ' \
		'with --rounds auto, how far it has come'
else
	skip 'script(1) is not installed' 4
fi

done_testing
