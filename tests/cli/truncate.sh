#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# pagezone truncate: rows, counts of locks, exact where they must be, states, layouts, engines, what is
# refused, and what is left after an interrupt.
# shellcheck disable=SC2016,SC2001 # programs of jq have variables; what sed does here bash cannot

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
command -v jq >/dev/null || skip_all 'jq is not installed'

schema=$top_srcdir/src/data/pagezone-result-1.schema.json

# truncates WHAT ARGUMENT...: a short run, into r.json.
truncates()
{
	local what=$1

	shift
	run "$PAGEZONE" truncate -q --count 20 --runs 2 -o "$tmp/r.json" "$@"
	status_is 0 "$what"
}

# valid NAME: by the schema.
valid()
{
	is "$(jq -r --slurpfile schema "$schema" -f "$top_srcdir/tests/schema.jq" "$tmp/r.json")" \
		'' "$1"
}

# the defaults, but for the count
run "$PAGEZONE" truncate -q --count 220 -o "$tmp/r.json"
status_is 0 'the default sides'
is "$(sed -n 's/^\([1-9]\) .* [0-9.]*-[0-9.]* .*/\1/p' <<<"$out" | paste -s -d ' ')" '1 2 3 4 5' \
	'five rows of p1-p95'
like "$out" '[*][*] Truncations, 1 thread [*][*]' 'a table for one thread'
for label in minimum quartiles median mean 'ns a page' 'tree_lock a page' 'speed-up\(times\)' \
	'95 % interval'; do
	like "$out" $'\n'"$label +[0-9]" "a row: $label"
done
like "$out" 'tree_lock a page +1\.000 +0\.067383' 'tree_lock: 1 and 69/1024 a page'
like "$out" '220 truncations of 1024 pages \(4 MiB\)' 'the header says what was truncated'
valid 'the JSON is valid'
holds '.sides | map(.spec) == ["cache:batch=1,truncate-batch=1", "cache:batch=1,truncate-batch=15"]' \
	'the sides differ in the truncation'
holds '.samples | length == 10 and all(.[]; .phase == "truncate" and .threads == 1)' \
	'a sample for each side and run'
holds '[.samples[] | [.side, .round]] == [range(1; 6) as $r | ["baseline", $r], ["patched", $r]]' \
	'run by run'
holds 'all(.samples[].times; .nr == 220 and (.ns | length) == 220 and .min_ns == (.ns | min)
	and .max_ns == (.ns | max))' 'every time is there'
holds 'all(.samples[]; .bytes == 220 * 1024 * 4096)' 'bytes are those of the pages'
holds 'all(.samples[]; .window_ns == (.times.ns | add) and .window_ns == .workers[0].end_ns)' \
	'the window is the sum of the times'
holds 'all(.samples[] | select(.side == "baseline");
	.counters.tree_lock_acquisitions == 220 * 1024)' \
	'truncate-batch=1: tree_lock once a page, exactly'
holds 'all(.samples[] | select(.side == "patched");
	.counters.tree_lock_acquisitions == 220 * 69)' \
	'truncate-batch=15: once for 15 pages, rounded up, exactly'
holds 'all(.samples[].counters; .mmap_lock_acquisitions == 0 and .pages_inserted == 0)' \
	'nothing else is in the counters'
holds 'def median: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2;
	. as $r | .speedups | length == 1 and
	(.[0].ratio - ([range(1; 6) as $n | [$r.samples[] | select(.round == $n) | .times.ns | median]
		| .[0] / .[1]] | median) | fabs) < 1e-9' \
	'the speed-up is the median of the ratios of medians'

# the other batches; a file that nothing divides
for batch in 2 31 512; do
	truncates "truncate-batch=$batch" --pages 1021 --patched "cache:batch=1,truncate-batch=$batch"
	holds "all(.samples[] | select(.side == \"patched\");
		.counters.tree_lock_acquisitions == 20 * (1021 / $batch | ceil))" \
		"tree_lock once for $batch pages, rounded up"
done
truncates 'batch=512' --patched cache:batch=512 --patched cache:batch=512,truncate-batch=1
holds 'all(.samples[] | select(.side == "patched"); .counters.tree_lock_acquisitions == 20)' \
	'batch=512: both entries under one hold'
holds 'all(.samples[] | select(.side == "patched2"); .counters.tree_lock_acquisitions == 40)' \
	'and one by one with truncate-batch=1'
truncates 'one page' --pages 1
holds 'all(.samples[]; .counters.tree_lock_acquisitions == 20)' 'is one acquisition'

# states, mappings, threads, layouts
for state in clean dirty; do
	for mapped in no yes; do
		truncates "--state $state --mapped $mapped -t 1,4" --pages 64 --state "$state" \
			--mapped "$mapped" -t 1,4 --patched cache:batch=8,truncate-batch=4
		holds ".parameters | .truncate_state == \"$state\" and .truncate_mapped == \"$mapped\"" \
			'as the result says'
		holds 'all(.samples[]; .times.nr == 20 * .threads and (.workers | length) == .threads
			and .window_ns == ([.workers[].end_ns] | max)
			and .bytes == 64 * 4096 * .times.nr)' \
			'each thread truncates its own file'
		holds 'all(.samples[] | select(.side == "baseline");
			.counters.tree_lock_acquisitions == 64 * .times.nr)' 'tree_lock: 1 a page'
		holds 'all(.samples[] | select(.side == "patched");
			.counters.tree_lock_acquisitions == 2 * .times.nr)' \
			'tree_lock: once for four folios of eight'
	done
done
is "$(grep -c '^[*][*] Truncations, [14] threads\? [*][*]$' <<<"$out")" 2 'a table a thread count'
for mapped in no yes; do
	truncates "--layout shared --mapped $mapped" --layout shared --mapped "$mapped" -t 1,3 \
		--pages 100 --pin none --mem none
	holds 'all(.samples[] | select(.side == "baseline");
		.counters.tree_lock_acquisitions == 100 * .times.nr)' \
		'each thread truncates its range of the one file, page by page'
	holds 'all(.samples[] | select(.side == "patched");
		.counters.tree_lock_acquisitions == 7 * .times.nr)' 'and in batches of its own'
done

# more times than are kept one by one
run "$PAGEZONE" truncate -q --pages 2 --count 2501 --runs 1 -t 1,4 -o "$tmp/r.json"
status_is 0 'more than 10000 truncations a sample'
valid 'the JSON is valid'
holds 'all(.samples[] | select(.threads == 4).times;
	.nr == 10004 and (has("ns") | not) and .relative_error <= 0.005)' \
	'a histogram with its error bound'
holds 'all(.samples[] | select(.threads == 4).times; . as $t | ([.buckets[][2]] | add) == .nr
	and (.buckets | all(.[]; .[1] - .[0] <= .[0] * 2 * $t.relative_error))
	and .buckets[0][0] <= .min_ns and .min_ns <= .buckets[0][1]
	and .buckets[-1][0] <= .max_ns and .max_ns <= .buckets[-1][1])' \
	'which has them all'
holds 'all(.samples[] | select(.threads == 1).times; .ns | length == 2501)' 'not where they fit'

# csv
run "$PAGEZONE" truncate -q --count 50 --runs 3 -t 1,2 -f csv
status_is 0 '-f csv'
is "$(wc -l <<<"$out")" 13 'a line for each side, thread count and run'
is "$(head -n 1 <<<"$out" | cut -d, -f1-7)" 'threads,run,side,spec,truncations,min_us,p1_us' 'its head'
is "$(sed 's/"[^"]*"/spec/' <<<"$out" | awk -F, 'NR > 1 && !($5 == 50 * $1 && $6 <= $7 && $7 <= $8 &&
	$8 <= $9 && $9 <= $10 && $10 <= $11 && $11 <= $12 && $6 <= $13 && $13 <= $12)')" '' \
	'min <= p1 <= quartiles <= p95 <= max'

# real page faults and the running kernel
for mapped in no yes; do
	run "$PAGEZONE" truncate -q --count 5 --runs 1 --pages 600 --mapped "$mapped" -t 1,2 \
		--patched cache:batch=8,map=uffd -o "$tmp/r.json"
	if [ "$status" -eq 3 ] && [[ $err == *uffd* ]]; then
		skip "no userfaultfd here: $err" 2
	else
		status_is 0 "map=uffd, --mapped $mapped"
		holds 'all(.samples[] | select(.side == "patched");
			.counters.tree_lock_acquisitions == 5 * .times.nr)' \
			'75 folios of eight, 15 under one hold'
	fi
done
for layout in private shared; do
	truncates "kernel:dir=, $layout" --layout "$layout" -t 1,2 --pages 64 \
		--baseline "kernel:dir=$tmp" --patched "kernel:dir=$tmp" --mapped yes
	holds 'all(.samples[]; .times.nr == 20 * .threads and
		(.counters | keys | all(startswith("pages_"))))' 'all are timed'
	unlike "$out" 'tree_lock' 'its locks are unknown'
	truncates "kernel:dir=, clean, $layout" --layout "$layout" -t 2 --pages 64 --state clean \
		--baseline "kernel:dir=$tmp" --patched "kernel:dir=$tmp,populate=16"
	is "$(ls "$tmp")" r.json 'no file is left'
done
truncates 'files that are written' --baseline "kernel:dir=$tmp" --patched "kernel:dir=$tmp,write=64k" \
	--mapped yes
for layout in private shared; do
	run "$PAGEZONE" truncate -q --count 5 --runs 2 --layout "$layout" -t 1,2 \
		--baseline tmpfs:huge=never --patched tmpfs:huge=always -o "$tmp/r.json"
	if [ "$status" -eq 3 ]; then
		skip "no tmpfs of our own here: $err" 2
		continue
	fi
	status_is 0 "tmpfs:huge=never against always, $layout"
	holds '.speedups | length == 2 and all(.[]; .ratio > 0)' 'has speed-ups'
done

# a cell without a figure
if [ -x "${top_builddir:?}/tests/deny" ] && "$top_builddir/tests/deny" fallocate -- true; then
	run "$top_builddir/tests/deny" fallocate=EOPNOTSUPP -- "$PAGEZONE" truncate -q --count 20 \
		--runs 2 -t 2 --layout shared --patched "kernel:dir=$tmp" -o "$tmp/r.json"
	status_is 3 'a file system that cannot punch holes: status 3'
	like "$err" 'patched, truncate, -t 2: no figure: worker [01]: fallocate: ' 'why'
	like "$out" $'\n''1 +[0-9.]+-[0-9.]+ +- +-'$'\n' 'the other side has its figures'
	holds '[.samples[] | select(.side == "patched") | has("failure")] == [true, true]' \
		'the samples are void'
	run "$top_builddir/tests/deny" fallocate=EOPNOTSUPP -- "$PAGEZONE" truncate -q --count 20 \
		--runs 1 -t 2 --layout shared --patched "kernel:dir=$tmp" \
		--patched cache:batch=1 --min-speedup 1000000
	status_is 1 'a gate that failed outweighs it: status 1'
	run "$top_builddir/tests/deny" clone3=ENOSYS,clone:thread=EAGAIN -- "$PAGEZONE" truncate -q \
		--count 20 --runs 1 -o "$tmp/r.json"
	status_is 3 'no worker can be started: status 3'
	like "$err" 'baseline, truncate, -t 1: no figure: cannot start worker 1 of 1' 'and says so'
	holds '.samples | length == 2 and all(.[]; .failure and (has("times") | not))' \
		'both samples are void'
else
	skip 'no seccomp filters here' 8
fi

# the gate
run "$PAGEZONE" truncate -q --count 20 --runs 1 --min-speedup 100000:truncate@1
status_is 1 'below --min-speedup: status 1'
like "$err" 'patched, truncate, 1 thread: .* is below 100000' 'names the cell'
run "$PAGEZONE" truncate -q --count 20 --runs 1 --min-speedup 0.001
status_is 0 'above it: status 0'

refuses '--pages 0' truncate --pages 0
refuses '--count x' truncate --count x
refuses '--runs 0' truncate --runs 0
refuses '--state wet' truncate --state wet
refuses '--mapped maybe' truncate --mapped maybe
refuses 'has no pages to truncate' truncate --baseline memory
refuses 'has no pages to truncate' truncate --patched null
refuses 'truncate-batch=0' truncate --patched cache:batch=1,truncate-batch=0
refuses 'truncate-batch=513' truncate --patched cache:batch=1,truncate-batch=513
refuses 'there is one baseline' truncate --baseline null --baseline null
refuses '--state clean' truncate --state clean --patched "kernel:dir=$tmp,write=64k"
refuses '--layout shared' truncate --layout shared --patched "kernel:dir=$tmp,write=64k"
refuses "no phase 'reader'" truncate --min-speedup 2:reader
refuses "unexpected argument 'now'" truncate now
run "$PAGEZONE" truncate --workers process
status_is 2 'workers are threads'
run "$PAGEZONE" truncate --pages 268435456 -t 256
status_is 3 'more memory than there is: status 3'
like "$err" 'lower --pages' 'says what to lower'

# interrupted: the runs that were finished
env --default-signal=INT "$PAGEZONE" truncate -q --count 20 --pages 64 -t 1,2 --runs 10000 \
	-o "$tmp/i.json" >"$tmp/table" 2>"$tmp/errors" &
pid=$!
for ((tries = 0; tries < 600; tries++)); do
	[ -s "$tmp/i.json" ] && break
	sleep 0.05
done
kill -s INT "$pid"
wait "$pid"
is "$?" 130 'SIGINT: status 130'
ok 'the samples that were finished are there' jq -e '.interrupted and (.samples | length) >= 4 and
	all(.samples[]; .times.nr == 20 * .threads)' "$tmp/i.json"
like "$(cat "$tmp/table")" $'\n''1 +[0-9.]+-[0-9.]+ +[0-9.]+-[0-9.]+ ' 'and printed'
is "$(cat "$tmp/errors")" '' 'nothing is complained of'

done_testing
