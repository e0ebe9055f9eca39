#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# iozone's logs and published tables become results. The logs in tests/data are iozone 3.489's.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
command -v jq >/dev/null || skip_all 'jq is not installed'

data=$top_srcdir/tests/data
r=$tmp/r.json

# has NAME FILTER: of the result in $r.
has()
{
	ok "$1" jq -e "$2" "$r"
}

is_valid()
{
	is "$(jq -r --slurpfile schema "$top_srcdir/src/data/pagezone-result-1.schema.json" \
		-f "$top_srcdir/tests/schema.jq" "$r" 2>&1)" '' "$1 is valid"
}

# import_refuses WHAT ARGUMENT...: so does import, and makes no file.
refuse_seconds=60
import_refuses()
{
	local what=$1

	shift
	refuses "$what" import "$@" -o "$tmp/none.json"
	ok 'and no file' test ! -e "$tmp/none.json"
}

run "$PAGEZONE" import iozone "$data/iozone-sweep.log" -o "$r"
status_is 0 'a sweep over 1 to 4 processes'
is "$err" '' 'nothing to say'
is_valid 'the result'
has 'the thread counts and phases' '.parameters.threads == [1, 2, 3, 4] and
	.parameters.phases == ["initial-writer", "rewriter", "reader", "re-reader"]'
has 'file and record size' '.parameters.bytes == 4194304 and .parameters.per_thread_size and
	.parameters.record == 4096'
has 'the command line of iozone' '.sides == [{"name": "run",
	"spec": "iozone -x -B -l 1 -u 4 -s 4m -r 4k -i 0 -i 1"}]'
has 'a note on what is what' '.warnings[0] | test("Parent sees.*Children see")'
# The log itself is the authority on the figures.
while read -r who threads test rate; do
	key=total_kb_per_s
	[ "$who" = Parent ] || key=sum_of_worker_rates
	has "$who $threads $test $rate" ".samples | any(.threads == $threads and
		.phase == \"${test// /-}\" and .$key == $rate)"
done < <(sed -n 's/^[ \t]*\([CP][a-z]*\) sees* throughput for *\([0-9]*\) \([a-z -]*\)s[ \t]*= *\([0-9.]*\) .*/\1 \2 \3 \4/p' \
	"$data/iozone-sweep.log" | sed 's/ initial writer / initial-writer /')
has 'no figure per thread but total / threads' '.samples | all(
	(.kb_per_s * .threads - .total_kb_per_s) | fabs < 0.001)'

run "$PAGEZONE" import iozone "$data/iozone-dead.log" -o "$r"
status_is 0 'a log with a process that was killed, and interrupted'
like "$err" 'interrupted' 'the interrupt is told'
like "$err" '1 of 3 cells have no figure; the first, initial-writer@2: .*moved nothing' \
	'the void cell is told, and why'
is_valid 'that, too,'
has 'it is void, not 0' '.cells[0] | .void and .kb_per_s == null'
has 'and has a reason' '.samples[0].failure | test("moved nothing")'
has 'what came after is there' '.cells[2].total_kb_per_s == 3390306.6'
has 'and marked as interrupted' '.interrupted'

run "$PAGEZONE" import iozone "$data/iozone-mmap.log" -o "$r"
status_is 0 'a log with -B -C and all tests'
has 'its seven phases' '.parameters.phases | length == 7'
has 'a row of 0.00 is void' '[.cells[] | select(.void) | .phase] ==
	["initial-writer", "reader", "reverse-reader"]'

sed 's/$/\r/' "$data/iozone-sweep.log" >"$tmp/dos.log"
"$PAGEZONE" import iozone "$data/iozone-sweep.log" | jq 'del(.pagezone)' >"$tmp/unix.json"
"$PAGEZONE" import iozone "$tmp/dos.log" | jq 'del(.pagezone)' >"$tmp/dos.json"
ok 'lines that end with \r\n are no others' cmp "$tmp/unix.json" "$tmp/dos.json"
cat "$data/iozone-sweep.log" "$data/iozone-sweep.log" >"$tmp/twice.log"
"$PAGEZONE" import iozone "$tmp/twice.log" | jq 'del(.pagezone)' >"$tmp/twice.json"
"$PAGEZONE" import iozone "$data/iozone-sweep.log" "$data/iozone-sweep.log" |
	jq 'del(.pagezone)' >"$tmp/both.json"
ok 'two runs in one file are as two files' cmp "$tmp/twice.json" "$tmp/both.json"
ok 'and two rounds' jq -e '.parameters.rounds == 2 and (.samples | length == 32)' \
	"$tmp/twice.json"
# A killed iozone leaves what its buffer had: the end is anywhere in a line.
while read -r wanted cut; do
	sed -n '1,/Parent sees throughput for  1 readers/p' "$data/iozone-sweep.log" |
		sed "\$ s,$cut.*,," | head -c -1 >"$tmp/cut.log"
	run "$PAGEZONE" import iozone "$tmp/cut.log" -o "$r"
	is "$status $(jq -c '[.interrupted, .cells[-1].total_kb_per_s]' "$r")" \
		"0 [true,$wanted]" "a last line that was cut off at '$cut'"
done <<-EOF
	438308.87 nothing
	null /sec
	null \.87
	null =
	null for
EOF
sed 's/Run began/iozone: interrupted/' "$data/iozone-dead.log" >"$tmp/interrupted.log"
"$PAGEZONE" import iozone "$tmp/interrupted.log" -o "$r" 2>/dev/null
has 'iozone says itself that it was interrupted, also without its first lines' '.interrupted'
# With -B and all tests, children of iozone 3.489 go on as if they were the parent.
awk '/Children.* readers/ { printf "%s", block } { print } /rewriters/ { block = block $0 "\n" }' \
	"$data/iozone-mmap.log" >"$tmp/again.log"
"$PAGEZONE" import iozone "$tmp/again.log" -o "$r" 2>/dev/null
has 'a test that comes twice in one run is void' '.cells[] | select(.phase == "rewriter") | .void'
has 'with a reason' '.samples | any(.failure // "" | test("more than once in one run"))'
sed 's/Command line used: .*/Command line used: iozone -f caf\xe9/' "$data/iozone-mmap.log" \
	>"$tmp/latin1.log"
run "$PAGEZONE" import iozone "$tmp/latin1.log" -o "$r"
status_is 0 'a file name that is not UTF-8'
has 'is replaced' '.sides[0].spec == "iozone -f caf\ufffd"'
if [ "$(LC_ALL=de_DE.UTF-8 locale decimal_point 2>/dev/null)" = , ]; then
	LC_ALL=de_DE.UTF-8 "$PAGEZONE" import iozone "$data/iozone-sweep.log" |
		jq 'del(.pagezone)' >"$tmp/de.json"
	ok 'the locale does not matter' cmp "$tmp/unix.json" "$tmp/de.json"
else
	skip 'the locale de_DE.UTF-8 is not there'
fi

import_refuses 'no throughput test' iozone /dev/null
import_refuses 'larger than' iozone /dev/zero
import_refuses 'NUL bytes' iozone "$PAGEZONE"
import_refuses 'Is a directory' iozone "$tmp"
import_refuses 'No such file' iozone "$tmp/nothing"$'\n'"there"
import_refuses 'no throughput test' iozone "$top_srcdir/README.md"
head -c 2000000 /dev/urandom | tr '\0' x >"$tmp/random"
import_refuses 'no throughput test' iozone "$tmp/random"
sed 's,kB/sec,ops/sec,' "$data/iozone-mmap.log" >"$tmp/ops.log"
import_refuses 'without -O' iozone "$tmp/ops.log"
sed '30,$s/throughput for  2 rewriters/throughput for  2 rew/;s/= *[0-9.]* kB/= 1/' \
	"$data/iozone-mmap.log" >"$tmp/damaged.log"
import_refuses 'line 30: not in kB/sec' iozone "$tmp/damaged.log"
import_refuses 'needs a FILE' iozone
import_refuses 'one NAME' reference
import_refuses 'one NAME' reference thp-page-cache-2013 batched-truncation-2017
import_refuses "no published table 'x'" reference x
import_refuses "import csv" csv x
run "$PAGEZONE" import
status_is 2 'nothing to import: status 2'
run "$PAGEZONE" import reference thp-page-cache-2013 -o "$tmp/no/where.json"
status_is 3 'where nothing can be written: status 3'

run "$PAGEZONE" import reference thp-page-cache-2013 -o "$r"
status_is 0 'the table of 2013'
is "$(jq -r '.speedups[] | [.phase, .threads, .ratio] | @tsv' "$r" |
	while read -r phase threads ratio; do
		printf '%s,%s,%.2f\n' "$phase" "$threads" "$ratio"
	done)" \
	"$(tail -n +2 "$top_srcdir/src/data/thp-page-cache-2013.csv" | cut -d, -f1,2,5)" \
	'its 63 speed-ups, to the digit'
run "$PAGEZONE" import reference batched-truncation-2017 -o "$r"
status_is 0 'the figures of 2017'
is_valid 'the result'
has 'five runs of two sides' '.samples | length == 10'
mkdir "$tmp/data"
for damage in 's/2,249/2,x/' '3s/,/;/' '1s/run/walk/' '5s/5/5,1/' 3p 2,6d; do
	sed "$damage" "$top_srcdir/src/data/batched-truncation-2017.csv" \
		>"$tmp/data/batched-truncation-2017.csv"
	PAGEZONE_DATADIR=$tmp/data import_refuses 'batched-truncation-2017.csv' reference \
		batched-truncation-2017
done
PAGEZONE_DATADIR=$tmp/none import_refuses 'none/thp-page-cache-2013.csv' reference thp-page-cache-2013

# --reference: a row below each table
run "$PAGEZONE" speedup --baseline null --patched null -t 1,3,4 -S 64k -R 1 -q -i 0 \
	--reference thp-page-cache-2013 -o "$r"
status_is 0 'speedup --reference'
is "$(grep -c '^published:' "$tmp/.out")" 2 'a row below each table'
is "$(grep '^published:' "$tmp/.out" | head -n 1)" \
	'published:          1.93         -      4.69' 'of what was posted, or -'
has 'that is not saved' '[.. | strings] | all(test("1.93") | not)'
run "$PAGEZONE" speedup --baseline null --patched null -t 1 -S 64k -R 1 -q -i 1 \
	--reference batched-truncation-2017
status_is 2 'a table of another command has nothing to show'
like "$err" 'none of these phases: it is one of truncations' 'and why is said before anything is measured'
run "$PAGEZONE" truncate --pages 1 --count 2 --runs 1 -q --reference thp-page-cache-2013
status_is 2 'the other way round, too'
run "$PAGEZONE" truncate --pages 1 --count 2 --runs 1 -q --patched cache:batch=1 \
	--patched cache:batch=2 --reference batched-truncation-2017
status_is 0 'truncate --reference'
like "$out" 'published: +1\.18'$'\n' 'has the speed-up of 2017'
for command in speedup truncate; do
	run "$PAGEZONE" $command --reference nothing
	status_is 2 "$command: a table that is not there"
	like "$err" "--reference: there is no published table 'nothing'" 'is named'
	run "$PAGEZONE" $command --reference thp-page-cache-2013 --reference thp-page-cache-2013
	status_is 2 "$command: there is one reference"
done

done_testing
