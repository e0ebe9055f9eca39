#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Files that are no results, or want to do harm: one line and status 2. And names in results that do nothing to
# the terminal, the table or the page that they are shown in.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
cd "$tmp" || exit 99

# ---- what does not load ----

# refused FILE MESSAGE WHAT: by compare and by plot, soon and without much memory.
refused()
{
	local command

	for command in "compare $1 $1" "plot $1 -o x.svg" "import iozone $1 -o x.json"; do
		case $command in
		import*) [ "${4:-}" = also ] || continue ;;
		esac
		# shellcheck disable=SC2086 # words
		run timeout 60 "$PAGEZONE" $command
		if [ "$status" -eq 2 ] && [ -z "$out" ] && [[ $err =~ $2 ]] &&
			[[ $err = "pagezone: $1: "* ]] && [ "$(wc -l <.err)" -eq 1 ] &&
			! LC_ALL=C grep -q $'[\001-\011\013-\037\177]' .err; then
			pass "${command%% *}: $3"
		else
			fail "${command%% *}: $3" "status $status: $err"
		fi
	done
}

# with WORDS: a result in which those are instead of a good member, in the file x.
result='{"schema":"pagezone-result/1","pagezone":{"version":"1","command_line":"c","seed":1},"environment":{},
"parameters":{"threads":[1],"rounds":1},"sides":[{"name":"baseline","spec":"a"},{"name":"patched","spec":"b"}],
"samples":[{"side":"baseline","phase":"reader","threads":1,"round":1,"window_ns":1000,"bytes":4096},
{"side":"patched","phase":"reader","threads":1,"round":1,"window_ns":1000,"bytes":4096}],"warnings":[]}'
with()
{
	local from=$1 to=$2

	printf '%s' "${result/"$from"/"$to"}" >x
	! cmp -s x good || bail "nothing to change: $from"
}
printf '%s' "$result" >good
run "$PAGEZONE" compare good
status_is 0 'what is changed below is a result'

# repeat NR TEXT
repeat()
{
	head -c "$1" /dev/zero | sed "s/\\x00/$2/g"
}

mkfifo fifo
mkdir dir
ln -s loop loop
truncate -s 2G sparse
refused fifo 'empty|no throughput' 'a FIFO that nobody writes to' also
refused dir 'Is a directory' 'a directory' also
refused loop 'Too many levels of symbolic links' 'a loop of links' also
refused none 'No such file' 'no file' also
refused sparse 'not JSON|larger than' 'a file of 2 GiB of nothing' also
refused /dev/zero 'not JSON|larger than' 'an endless file' also
refused /dev/null 'empty|no throughput' 'an empty file' also
refused "$top_srcdir/README.md" 'not JSON' 'text'
head -c 300 good >x
refused x 'not JSON' 'half a file'
{
	echo '{"schema":"'
	head -c 3000000 /dev/zero
} >x
refused x 'not JSON' 'zeros in a string'
repeat 100000 '[' >x
refused x 'not JSON' '100000 arrays in each other'
with '"environment":{}' "\"environment\":{\"x\":$(repeat 3000 '[')"
refused x 'not JSON' 'and some in a result'
with '"rounds":1' '"rounds":1,"rounds":1'
refused x 'not JSON.*duplicate' 'a key twice'
with '"environment":{}' '"environment":{"load1":NaN}'
refused x 'not JSON' 'NaN'
with '"environment":{}' '"environment":{"load1":1e400}'
refused x 'not JSON' '1e400'
with '"environment":{}' '"environment":{"load1":-Infinity}'
refused x 'not JSON' '-Infinity'
with 'pagezone-result/1' $'pagezone-result/1\033[2J'
refused x 'not JSON' 'an escape sequence'
with 'pagezone-result/1' 'pagezone-result/1\u001b[2J\u009b2J\n\u0007'
refused x 'schema is "pagezone-result/1.*" *, but' 'one that is JSON'
with '"side":"patched"' '"side":"\u001b]0;title\u0007\n"'
refused x 'samples\[1\].side .* is not one' 'one in a name'
with 'reader' $'re\xffder'
refused x 'not JSON.*decode byte' 'what is not UTF-8'
with '"threads":1,"round":1' '"threads":-1,"round":1'
refused x 'threads is not a whole number from 1' 'threads below 0'
with '"threads":1,"round":1' '"threads":2147483648,"round":1'
refused x 'threads is not a whole number from 1' '2^31 threads'
with '"threads":[1]' '"threads":[2147483648]'
refused x 'threads\[0\] is not a whole number from 1' '2^31 threads in the list'
with '"threads":1,"round":1' '"threads":1,"round":4294967296'
refused x 'round is not a whole number from 1' 'the round 2^32'
with '"threads":1,"round":1' '"threads":1,"round":-1'
refused x 'round is not a whole number from 1' 'a round below 0'
with '"rounds":1' '"rounds":4294967297'
refused x 'rounds is not a whole number' '2^32 + 1 rounds'
with '"bytes":4096' '"bytes":9223372036854775808'
refused x 'not JSON' '2^63 bytes'
with '"bytes":4096' '"bytes":-4096'
refused x 'bytes is not a whole number' 'bytes below 0'
with '"side":"patched"' '"side":-1'
refused x 'side is not a name' 'the number of a side'
with '"warnings":[]' "\"warnings\":[$(repeat 1000000 '"w",')\"w\"]"
refused x 'warnings has more than 1000' 'a million warnings'
with '"sides":[' "\"sides\":[$(repeat 2000 '{"name":"w","spec":"x"},')"
refused x 'sides has more than 1000' 'and sides'
with '"samples":[' '"samples":{},"s":['
refused x 'samples is not an array' 'samples that are no list'
with pagezone-result/1 pagezone-result/2
refused x 'schema is "pagezone-result/2", but this pagezone reads' 'a schema to come'

# ---- what loads, but is not what it seems ----

with '"threads":[1]' '"threads":[]'
run "$PAGEZONE" compare x -f csv --max-regression 5
status_is 4 'a thread count that only samples name is held against gates'
is "$(wc -l <.out)" 2 'and is a cell'
with "${result#*'"samples":'}" '[]}'
run "$PAGEZONE" compare x --max-regression 5
status_is 3 'without samples, no gate is passed'
text=${result/'"threads":[1]'/'"threads":[]'}
printf '%s[]}' "${text%%'[{"side"'*}" >x
run "$PAGEZONE" compare x --max-regression 5
status_is 3 'nor without cells'
like "$err" 'there are no cells to compare' 'which is said'
with '"sides":[' "\"sides\":[$(seq -s, -f '{"name":"%g","spec":"x"}' 400),"
sed -i "s/\"rounds\":1/\"phases\":[$(seq -s, -f '"%g"' 400)]/" x
run "$PAGEZONE" compare x
status_is 2 '160000 cells of a small file are too many'
is "$err" 'pagezone: x: too many cells' 'in one line'

# a pipe of which there is a writer is read
run bash -c 'exec "$1" compare <(cat good)' - "$PAGEZONE"
status_is 0 'the pipe of a shell is a file like others'

# ---- what loads, and is shown ----

# shellcheck disable=SC2016 # nobody is to expand that
evil='a\n\u001b[2J\u009b31m\u0085|<b>`x`\"=1,\"@all #1 \u007f'
text=${result//'"patched"'/"\"$evil\""}
text=${text//reader/"$evil"}
text=${text/'"command_line":"c"'/"\"command_line\":\"$evil\""}
text=${text/'"spec":"b"'/"\"spec\":\"$evil\""}
printf '%s' "$text" >x
text=${text/'"bytes":4096}]'/"\"bytes\":4096,\"failure\":\"$evil\"}]"}
printf '%s' "${text/'"warnings":[]'/"\"warnings\":[\"$evil\"]"}" >y
! cmp -s x y || bail 'x and y are the same'
for file in x y; do
	for format in table markdown csv junit; do
		run "$PAGEZONE" compare "$file" -f "$format"
		cat .out .err >all
		unlike "$status" '^2$' "$file as $format is shown"
		ok 'without a control character' test -z "$(LC_ALL=C tr -d '\n' <all |
			LC_ALL=C grep -a -o -E $'[\001-\037\177]|\302[\200-\237]')"
		cp .out "$file.$format"
	done
done
is "$(wc -l <x.csv)" 2 'a line of CSV is a cell, whatever its names'
is "$(grep -c '^|' x.markdown)" 5 'a row of Markdown a row'
unlike "$(cat x.markdown)" '<b>|@all|#1|[^\\]`x' 'and no markup but ours'
like "$(cat y.junit)" '&lt;b&gt;' 'XML has it escaped'
if command -v python3 >/dev/null && python3 -c 'import xml.dom.minidom' 2>/dev/null; then
	ok 'and is well-formed' python3 -c 'import sys, xml.dom.minidom as m
for name in sys.argv[1:]: m.parse(name)' x.junit y.junit
else
	skip 'python3 is not installed'
fi

done_testing
