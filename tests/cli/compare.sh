#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# compare: what is significant, what is comparable, and the gates with their exit statuses.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"

cd "$tmp" || exit 99

# shellcheck source=tests/result.sh
. "$top_srcdir/tests/result.sh"

# ---- two files ----

result steady.json run reader 1,2 "run=$steady"
result same.json run reader 1,2 "run=$same"
result slower.json run reader 1,2 "run=$slower"
result noisy.json run reader 1,2 "run=$noisy"
result faster.json run reader 1,2 "run=${steady//10/20}"

run "$PAGEZONE" compare steady.json slower.json
status_is 0 'without a gate a difference is no failure'
is "$err" '' 'nothing on standard error'
like "$out" 'baseline is steady.json, side run'$'\n''.*patched is slower.json' 'sides are named by file'
like "$out" $'\nthreads: +1 +2\nbaseline: +1006 +1006\npatched: +906 +906\nspeed-up\(times\): +\*0\.90 +\*0\.90\n95 % interval: 0\.[0-9-]+0\.90 +' \
	'the table, its marks and its intervals'
like "$out" 'rank-sum.*2 cells by Benjamini' 'the method'
like "$out" 'Smallest' 'the smallest effect'
unlike "$out" 'What differs' 'nothing differs'
run "$PAGEZONE" compare steady.json same.json
like "$out" 'speed-up\(times\): +1\.00 +1\.00' 'the same figures are not marked'

run "$PAGEZONE" compare --max-regression 5 steady.json slower.json
status_is 1 '10 % slower, at most 5: status 1'
like "$err" 'patched, reader, 1 thread: 9\.9 % slower' 'names the cell'
like "$err" 'patched, reader, 2 threads: 9\.9 % slower' 'and the other'
result many-slower.json run reader 1 "run=$(printf '900,%.0s' {1..2000})900"
result many.json run reader 1 "run=$(printf '1000,%.0s' {1..2000})1000"
run "$PAGEZONE" compare --max-regression 5 many.json many-slower.json
like "$err" '10\.0 % slower \(0\.900 times, p < 1e-10\)' 'no probability is 0'
run "$PAGEZONE" compare --max-regression 15% steady.json slower.json
status_is 0 'at most 15: status 0'
like "$out" '2 passed, 0 failed' 'says so'
run "$PAGEZONE" compare --max-regression 5 steady.json same.json
status_is 0 'the same: status 0'
run "$PAGEZONE" compare --max-regression 5 steady.json faster.json
status_is 0 'faster: status 0'
run "$PAGEZONE" compare --max-regression 5 steady.json noisy.json
status_is 4 'too noisy: status 4'
like "$err" 'only a slow-down by [0-9.]+ % would be found; [0-9]+ rounds would do' 'and how many rounds would do'
run "$PAGEZONE" compare --max-regression 0 steady.json slower.json
status_is 1 'not slower at all'

run "$PAGEZONE" compare --min-speedup 1.5 steady.json faster.json
status_is 0 '--min-speedup that is met'
run "$PAGEZONE" compare --min-speedup 1.5:reader@2 --min-speedup 0.5 steady.json slower.json
status_is 1 '--min-speedup that is not'
like "$err" '0\.901 times is below 1\.500' 'names the figure'
is "$(wc -l <"$tmp/.err")" 1 'of its one cell'
# 1005.5 / 1005.6 and 5.05 %, whose first digits are those of the gates
result nearly.json run reader 1 "run=10000,10000,10000,10000,10000,10000"
result almost.json run reader 1 "run=9999,9999,9999,9999,9999,9999"
result slowish.json run reader 1 "run=9498,9498,9498,9498,9498,9498"
run "$PAGEZONE" compare --min-speedup 1 nearly.json almost.json
like "$err" ': 0\.9999 times is below 1\.0000$' 'what is hardly below does not look as if it were not'
run "$PAGEZONE" compare --min-speedup 1.23456 nearly.json almost.json
like "$err" ' is below 1\.23456$' 'and a gate is told as it was given'
run "$PAGEZONE" compare --max-regression 5 nearly.json slowish.json
like "$err" ': 5\.02 % slower ' 'nor does what is hardly slower'
run "$PAGEZONE" compare --min-speedup 1:writer steady.json slower.json
status_is 2 'a gate that meets nothing: status 2'

run "$PAGEZONE" compare steady.json slower.json faster.json
like "$out" $'\npatched: .*\npatched2: .*\nspeed-up\(patched\): .*\nspeed-up\(patched2\): ' \
	'three files are three rows'

# one round
result one.json run reader 1 run=1000
run "$PAGEZONE" compare one.json one.json
status_is 0 'one round compares'
like "$out" 'speed-up\(times\): +1\.00' 'has a speed-up'
unlike "$out" 'interval:|\*[0-9]' 'no interval and no mark'
run "$PAGEZONE" compare --max-regression 5 one.json one.json
status_is 4 'and is too noisy for a gate'
like "$err" 'too noisy: so few rounds find nothing; one round has no spread, it takes at least 3 rounds$' \
	'and how many it takes'
run "$PAGEZONE" compare one.json steady.json
like "$out" 'One round of a side makes no interval\.' 'one round beside many: says that there is no interval'
unlike "$out" 'too narrow' 'and not that it is too narrow'

# ---- one file ----

result both.json baseline,patched,limit reader,rewriter 1,4 "baseline=$noisy" \
	"patched=540,1270,630,1180,720,1090,810,1000,590,1220,680,1130" "limit=$steady"
run "$PAGEZONE" compare both.json --max-regression 5
status_is 1 'sides of one run are paired: what is noise to two runs is none'
like "$out" 'signed-rank' 'by the signed ranks'
like "$out" 'limit: ' 'the limit is a row'
unlike "$out" 'speed-up\(limit' 'but is not compared'
is "$(wc -l <"$tmp/.err")" 4 'all four cells'
run "$PAGEZONE" compare steady.json
status_is 2 'a file of one side needs a second'
run "$PAGEZONE" compare --side patched both.json
status_is 2 '--side is for several files'
run "$PAGEZONE" compare both.json steady.json
like "$out" 'baseline is both.json, side patched' 'of a file with several, the patched side'
like "$out" 'patched: +1006 +-' 'what the second has not is missing'
like "$out" 'phases +reader,rewriter \(baseline\), reader \(patched\)' 'and is said above the tables'
status_is 3 'and the status is 3'
run "$PAGEZONE" compare --side baseline both.json steady.json
like "$out" 'baseline is both.json, side baseline' '--side names another'
run "$PAGEZONE" compare --side nonesuch both.json steady.json
status_is 2 'a side that is not there'
like "$err" "both.json: it has no side 'nonesuch'" 'is named'

# ---- void cells ----

result void.json run reader 1,2 'run=1000,0,1002,1003'
run "$PAGEZONE" compare steady.json void.json
status_is 3 'a void cell: status 3'
like "$err" 'reader, 1 thread: patched is void: worker 1: <it> & "died"' 'with its reason'
like "$out" 'patched: +- +-' 'no figure'
run "$PAGEZONE" compare --max-regression 5 steady.json void.json slower.json
status_is 1 'a failure outweighs it'

# Only one cell is gated, and passes; others were not measured.
run "$PAGEZONE" compare -f json --side baseline --min-speedup 0.5:reader@1 both.json steady.json
status_is 3 'a cell that no gate says anything about is missed, too: status 3'
like "$err" 'pagezone: patched, rewriter, 1 thread: patched was not measured' 'and named'
like "$out" '"gate": null' 'also in the JSON'

# ---- what was published ----

result lines.json run initial-writer,reader 1,2,3 "run=$steady"
for format in table markdown; do
	run "$PAGEZONE" compare -f "$format" --reference thp-page-cache-2013 lines.json lines.json
	status_is 0 "--reference, -f $format"
	published=$(sed -n 's/[|:]/ /g; s/  */ /g; s/ $//; s/^ *published //p' .out)
	is "$published" $'1.93 2.36 -\n1.33 1.35 -' 'has a row of it below each table'
done
run "$PAGEZONE" compare --reference batched-truncation-2017 lines.json lines.json
status_is 2 'a reference that has none of the phases'
run "$PAGEZONE" compare --reference nonesuch lines.json lines.json
status_is 2 'a reference that is not there'
run "$PAGEZONE" compare --reference thp-page-cache-2013 --reference thp-page-cache-2013 lines.json lines.json
status_is 2 'or two'

# ---- intervals of different runs are made of those of both ----

result three.json run reader 1,2 'run=1000,1001,1002'
run "$PAGEZONE" compare three.json three.json
like "$out" $'\nIntervals?: [0-9.]+ to [^(]*\\.\n' 'of 3 rounds: no share of cases in which they hold the truth'
unlike "$out" 'Range of|order statistics' 'nor are they ranges of paired rounds'
run "$PAGEZONE" compare steady.json slower.json
like "$out" $'\n95 % intervals?: [0-9.]+ to [^(]*\\.\n' 'of 12 they are of 95 %'
unlike "$out" 'order statistics' 'of both runs'
like "$out" $'\nseed: +[0-9]+\n' 'rounds are not of one run, only the seed is told above the tables'
result pairs.json baseline,patched reader 1,2 'baseline=1000,1001,1002' 'patched=1001,1003,1005'
run "$PAGEZONE" compare pairs.json
like "$out" $'\nRange of 3 rounds: .* 75 %' 'those of pairs are'

# ---- what differs ----

"$PAGEZONE" import reference thp-page-cache-2013 -o 2013.json
sed 's/"kernel": "Linux"/&, "nr_allowed_cpus": 2, "mem_total": 1073741824/' steady.json >null-machine.json
run "$PAGEZONE" compare 2013.json steady.json
like "$err" ': bytes unknown and 512 MiB;' 'a size that was not published is none of 0 bytes'
sed 's/"spec": "null"}/"spec": "null", "mount": "tmpfs rw"}/' steady.json >mounted.json
run "$PAGEZONE" compare steady.json mounted.json
like "$out" $'\nmount +none \(baseline\), tmpfs rw \(patched\)\n' 'files in memory are on no mount'

sed 's/"seed": 1/"seed": 7/; s/"rounds": 1}/"rounds": 12, "workers": "thread"}/' steady.json >seven.json
sed 's/"rounds": 1}/"rounds": 12, "rounds_auto": true, "precision": 2, "budget": 600, "workers": "thread"}/' \
	steady.json >auto.json
run "$PAGEZONE" compare auto.json seven.json
like "$out" $'\nseed +1 \(baseline\), 7 \(patched\)\n' 'nor is one seed that of both'
like "$out" $'\nseed: +1\n' 'and how long the first file went on is nothing of the comparison'
governor='' result untold.json run reader 1,2 "run=$same"
run "$PAGEZONE" compare untold.json steady.json
like "$out" $'\ngovernor +unknown \(baseline\), performance ' 'where there is no governor none is told'
run "$PAGEZONE" compare --force 2013.json null-machine.json
like "$out" $'\nnr_allowed_cpus +unknown \(baseline\), 2 \(patched\)\n' 'nor CPUs of a table that was published'
like "$out" $'\nmem_total +unknown \(baseline\), 1 GiB \(patched\)\n' 'nor its memory'
for pinned in spread compact 'none (not permitted)'; do
	sed "s/\"rounds\": 1}/\"rounds\": 1, \"pin\": \"${pinned%% *}\", \"pinned\": \"$pinned\"}/
		s/none\", \"pinned/spread\", \"pinned/" steady.json >"pin-${pinned%% *}.json"
done
run "$PAGEZONE" compare pin-spread.json pin-compact.json
like "$out" $'\npin +spread \\(baseline\\), compact \\(patched\\)\n' 'another --pin'
unlike "$out" $'\npinned ' 'says how workers were pinned'
run "$PAGEZONE" compare pin-spread.json pin-none.json
like "$out" $'\npinned +spread \\(baseline\\), none \\(not permitted\\) \\(patched\\)\n' \
	'unless it was not possible'
sed 's/"bytes": 536870912/&, "per_thread_size": true/' steady.json >each.json
run "$PAGEZONE" compare steady.json each.json
like "$err" 'per_thread_size -S \(of all threads\) and -s \(of each thread\); --force' \
	'one size of all threads and of each are not the same'
governor=powersave result other.json run reader 1,2 "run=$same"
run "$PAGEZONE" compare steady.json other.json
status_is 0 'another governor'
like "$out" 'What differs.*governor +performance \(baseline\), powersave \(patched\).*Readers' \
	'is listed above the tables'
record=65536 result record.json run reader 1,2 "run=$same"
bytes=1048576 result bytes.json run reader 1,2 "run=$same"
result phase.json run rewriter 1,2 "run=$same"
result threads.json run reader 3 "run=$same"
for what in record bytes phase threads; do
	run "$PAGEZONE" compare steady.json "$what.json"
	status_is 2 "another $what: status 2"
	like "$err" "did not measure the same: $what.*--force" 'says what and the way out'
	is "$(wc -l <"$tmp/.err")" 1 'in one line'
	is "$out" '' 'prints nothing'
	run "$PAGEZONE" compare --force steady.json "$what.json"
	like "$out" 'not comparable' 'with --force it is compared and said'
	run "$PAGEZONE" compare --force -f markdown steady.json "$what.json"
	like "$out" $'\n\\| '"$what"'[a-z]*, not comparable \| ' 'in Markdown, too'
	case $what in
	record | bytes) status_is 0 'and figures are figures' ;;
	*) status_is 3 'and there are no figures' ;;
	esac
done

# ---- usage ----

refuses 'compare needs the files' compare
refuses 'nonesuch.json' compare nonesuch.json steady.json
refuses "'-1'" compare --max-regression=-1 steady.json same.json
refuses "'100'" compare --max-regression 100 steady.json same.json
refuses "''" compare --max-regression '' steady.json same.json
refuses "'5:reader'" compare --max-regression 5:reader steady.json same.json
refuses 'junit' compare -f html steady.json same.json
echo '{' >broken.json
refuses 'broken.json' compare steady.json broken.json

# ---- formats ----

run "$PAGEZONE" compare -f csv --per total steady.json slower.json
status_is 0 '-f csv'
is "$(wc -l <"$tmp/.out")" 3 'has a header and a line a cell'
like "$out" $'\nreader,2,patched,null,kB/s,12,12,2011,1811,0\.9005[0-9]*,' 'with its figures'
if command -v jq >/dev/null; then
	run "$PAGEZONE" compare -f json --max-regression 5 steady.json slower.json
	status_is 1 '-f json has the status'
	ok 'and is valid' jq -e '.schema == "pagezone-comparison/1" and .status == 1 and
		(.cells | length == 2 and all(.significant and .ratio < 0.91 and .high < 0.95)) and
		(.gates | all(.outcome == "failed"))' .out
	run "$PAGEZONE" compare -f json steady.json void.json
	ok 'a void cell is null' jq -e '.status == 3 and (.cells | all(.ratio == null and
		.low == null and .p == null and (.missing | test("died"))))' .out
	run "$PAGEZONE" compare -f json one.json one.json
	ok 'so is what is not known' jq -e '.cells[0] | .low == null and .ratio == 1' .out
else
	skip 'jq is not installed' 4
fi

run "$PAGEZONE" compare -f markdown --max-regression 5 steady.json slower.json
status_is 1 '-f markdown has the status'
like "$out" '^## pagezone compare: failed' 'and the verdict'
like "$out" $'\n\\| threads \\| 1 \\| 2 \\|\n\\| :--- \\| ---: \\| ---: \\|\n\\| baseline \\| 1006 \\| 1006 \\|\n\\| patched \\| 906 \\| 906 \\|\n\\| speed-up \\| \*\*0\.90\*\* \\| \*\*0\.90\*\* \\|\n\\| 95 % interval \\| ' \
	'the table with its marks'
like "$out" $'\n- patched is slower.json, side run\n' 'and which side of the file it is'
sed '$s/}$/, "interrupted": true, "warnings": ["too hot"]}/' slower.json >halted.json
run "$PAGEZONE" compare -f markdown steady.json halted.json
like "$out" $'\n- interrupted: .*\n- warning: patched: too hot\n' 'what is to be known of a file'
for per in thread total; do
	run "$PAGEZONE" compare --per "$per" steady.json slower.json
	like "$out" $'\nunit: +kB/s '"$([ "$per" = total ] && echo in || echo per) $per" "the unit of --per $per"
done
run "$PAGEZONE" compare -f markdown steady.json void.json
like "$out" 'worker 1: &lt;it\\> &amp; "died"' 'no markup comes from a file'

run "$PAGEZONE" compare -f junit --max-regression 5 steady.json slower.json
status_is 1 '-f junit has the status'
like "$out" '<testsuite name="pagezone compare" tests="2" failures="2" errors="0" skipped="0">' 'its counts'
like "$out" 'name="reader@2 --max-regression 5">' 'a test case a cell and gate'
cp .out failed.xml
run "$PAGEZONE" compare -f junit --max-regression 5 steady.json void.json
like "$out" '<skipped message="patched is void: worker 1: &lt;it&gt; &amp; &quot;died&quot;"/>' \
	'a void cell is skipped, its reason escaped'
cp .out void.xml
run "$PAGEZONE" compare -f junit --max-regression 5 steady.json noisy.json
like "$out" 'errors="2".*<error message="too noisy' 'one that is too noisy an error'
if command -v xmllint >/dev/null; then
	ok 'well-formed XML' xmllint --noout failed.xml void.xml .out
elif python3 -c 'import xml.dom.minidom' 2>/dev/null; then
	ok 'well-formed XML' python3 -c 'import sys, xml.dom.minidom as m
for name in sys.argv[1:]: m.parse(name)' failed.xml void.xml .out
else
	skip 'neither xmllint nor python3 is installed'
fi

# ---- what was measured ----

run "$PAGEZONE" run --engine null -q -t 1,2 -S 1m -R 2 -i reader -o null.json
run "$PAGEZONE" compare null.json null.json
status_is 0 'a saved run compares with itself'
like "$out" 'speed-up\(times\): +1\.00 +1\.00' 'and is as fast'
run "$PAGEZONE" truncate -q --pages 8 --count 50 --runs 6 --patched cache:batch=8 -o truncate.json
run "$PAGEZONE" compare truncate.json
status_is 0 'truncations compare'
like "$out" 'Truncations, median time in us' 'by their median times'
run "$PAGEZONE" compare truncate.json null.json
status_is 2 'but not with phases'
run "$PAGEZONE" truncate -q --pages 8 --count 20 --runs 1 -f markdown
like "$out" $'\n- unit: microseconds a truncation\n' 'the unit of their Markdown'
unlike "$out" 'kB/s' 'is no throughput'
run "$PAGEZONE" truncate -q --pages 8 --count 20 --runs 1 --max-regression 5
status_is 4 'truncate has the gate, and one run is too few'
run "$PAGEZONE" speedup -q -t 1 -S 2m -R 1 -i reader --max-regression 5
status_is 4 'so has speedup'
run "$PAGEZONE" speedup -q -t 1 -S 4m -R 6 -i reader --baseline null --patched cache:batch=1 --max-regression 5
status_is 1 'a page cache is slower than nothing'
like "$err" 'max-regression 5: patched, reader, 1 thread: [0-9.]+ % slower' 'and is named'
run "$PAGEZONE" speedup -q -t 1 -S 4m -R 1 -i reader --baseline memory --patched memory:slow=10
status_is 0 'the side of tests that does more'
run "$PAGEZONE" speedup -q -t 1 -S 4m -R 1 -i reader --max-regression x
status_is 2 'a percentage that is none'
run "$PAGEZONE" speedup -q -t 1,2 -S 4m -R 1 -i reader -f markdown
status_is 0 'speedup -f markdown'
like "$out" $'\n\\| threads \\| 1 \\| 2 \\|\n\\| :--- \\| ---: \\| ---: \\|\n\\| baseline \\| [0-9]+ \\| [0-9]+ \\|\n\\| patched \\| ' 'has a table'
like "$out" $'\n- workers: thread, pinned: [a-z].*, memory: local\n' 'and says whose pages are looked at'

env --default-signal=TERM "$PAGEZONE" run --engine memory -q -t 1 -S 4m -i reader -R auto --precision 0.0001 \
	-o stopped.json -f markdown >stopped.md &
for ((i = 0; i < 600; i++)); do
	[ ! -e stopped.json ] || break # a round is done
	sleep 0.1
done
kill -TERM $!
wait $!
is "$?" 143 'interrupted: status 143'
like "$(cat stopped.md)" $'\n- interrupted: ' 'is said in the Markdown'
run "$PAGEZONE" run --engine memory -q -t 1 -S 4m -i reader -R auto --precision 0.0001 --budget 1s -f markdown -o warned.json
like "$out" $'\n- warning: --rounds auto ended after ' 'and so are warnings'
run "$PAGEZONE" compare -f markdown warned.json warned.json
like "$out" $'\n- warning: patched: --rounds auto ended after ' 'also where such a result is compared'

done_testing
