#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Pictures: whole ones or none, with names that are only ever text.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"

r=$tmp/2013.json
truncations=$tmp/2017.json
"$PAGEZONE" import reference thp-page-cache-2013 -o "$r" || bail 'no result to draw'
"$PAGEZONE" import reference batched-truncation-2017 -o "$truncations" || bail 'no result to draw'

path=$PATH

# cannot STATUS WHAT ARGUMENT...: that status, and WHAT in the one line of the message.
cannot()
{
	local wanted=$1 what=$2

	shift 2
	run timeout 60 env PATH="$path" "$PAGEZONE" plot "$@"
	status_is "$wanted" "status $wanted: $what"
	is "$(wc -l <"$tmp/.err")" 1 'one line on standard error'
	case $err in
	*"$what"*) pass "that says '$what'" ;;
	*) fail "that says '$what'" "$err" ;;
	esac
}

cannot 2 'needs -o' "$r"
cannot 2 'needs -o' "$r" -o ''
cannot 2 '.svg or .png' "$r" -o "$tmp/x.pdf"
cannot 2 '.svg or .png' "$r" -o .svg
cannot 2 'needs a RESULT' -o "$tmp/x.svg"
cannot 2 'No such file' "$tmp/nothing.json" -o "$tmp/x.svg"
cannot 2 'not JSON' "$top_srcdir/README.md" -o "$tmp/x.svg"
cannot 2 '--per' "$r" -o "$tmp/x.svg" --per hour

# a gnuplot that is not there, and some that fail
mkdir "$tmp/bin" "$tmp/none"
path=$tmp/none
cannot 3 'gnuplot-nox' "$r" -o "$tmp/x.svg"
# gnuplot BODY: from now on it does that.
gnuplot()
{
	printf '#!/bin/sh\n%s\n' "$1" >"$tmp/bin/gnuplot"
	chmod +x "$tmp/bin/gnuplot"
	path=$tmp/bin:$PATH
}
gnuplot 'echo; echo "line 3: no such terminal" >&2; exit 1'
cannot 3 'gnuplot failed: line 3: no such terminal' "$r" -o "$tmp/x.svg"
gnuplot 'exit 0'
cannot 3 'gnuplot failed' "$r" -o "$tmp/x.svg"
# shellcheck disable=SC2016 # the $$ is that of the other shell
gnuplot 'echo "<svg>"; kill -9 $$'
cannot 3 'signal 9' "$r" -o "$tmp/x.svg"
echo before >"$tmp/old.svg"
cannot 3 'signal 9' "$r" -o "$tmp/old.svg"
is "$(cat "$tmp/old.svg")" before 'the picture that was there stays'
gnuplot 'cat >/dev/null; echo "<svg/>"'
mkdir "$tmp/dir.svg"
cannot 3 'dir.svg: Is a directory' "$r" -o "$tmp/dir.svg"
rmdir "$tmp/dir.svg"
cannot 3 'no/x.svg' "$r" -o "$tmp/no/x.svg"
is "$(find "$tmp" -name '*.svg*' | sed 's,.*/,,')" old.svg 'no half of one is left behind'
run env PATH="$path" "$PAGEZONE" plot "$r" -o "$tmp/old.svg"
is "$status $(cat "$tmp/old.svg")" '0 <svg/>' 'else it is replaced'
ln -s old.svg "$tmp/link.svg"
run env PATH="$path" "$PAGEZONE" plot "$r" -o "$tmp/link.svg"
ok 'a symbolic link stays' test -L "$tmp/link.svg"
rm "$tmp/link.svg"
path=$PATH

# The script itself, which says what is drawn.
gnuplot 'cat'
script()
{
	env PATH="$path" "$PAGEZONE" plot "$@" -o "$tmp/script.svg" && cat "$tmp/script.svg"
}
from_pipes()
{
	script <(cat "$r") <(cat "$r")
}
mkdir "$tmp/a" "$tmp/b"
cp "$r" "$tmp/a/r.json"
cp "$r" "$tmp/b/r.json"
like "$(script "$tmp/a/r.json" "$tmp/b/r.json")" "Speed-up, b/r.json: patched" \
	"files of one name are told apart by their directories"
is "$(from_pipes | grep -c 'Speed-up, [0-9]* over')" 1 'files are read once: they may be pipes'
text=$(script "$r")
is "$(grep -c "^set ylabel 'MiB/s per thread'" <<<"$text")" 7 'a diagram a phase'
is "$(grep -c "^set ylabel 'speed-up (times)'" <<<"$text")" 1 'and one of the speed-ups'
like "$text" "set logscale x 2" 'threads are on a logarithmic axis'
like "$(script "$r" --per total)" "'MiB/s in total'" '--per total'
# run_with NAME KB_PER_S: a saved run whose only cell has that.
run_with()
{
	printf '{"schema": "pagezone-result/1", "pagezone": {"version": "0", "command_line": "x",
		"seed": 1}, "environment": {}, "parameters": {"threads": [1], "phases": ["reader"],
		"record": 4096, "rounds": 1}, "sides": [{"name": "run", "spec": "null"}], "samples":
		[{"side": "run", "phase": "reader", "threads": 1, "round": 1, "window_ns": 1000000000,
		"bytes": %d, "workers": [], "counters": {}}]}' $(($2 * 1024)) >"$tmp/$1.json"
}
unlike "$text" 'set xtics \(' 'powers of 2 are the numbers of the axis of threads'
run_with old 1000
run_with new 1500
run_with newest 500
like "$(script "$tmp/new.json")" $'\nset ytics \\(1\\.2, 1\\.4' \
	'an axis without a power of 10 in it has numbers'
text=$(script "$tmp/old.json" "$tmp/new.json" "$tmp/newest.json")
is "$(grep -c "^set ylabel 'speed-up (times)'" <<<"$text")" 2 'a diagram of each file over the first'
like "$text" 'Speed-up, new.json over old.json' 'which says so'
like "$text" $'\n1 1.5 ' 'with its speed-up'
like "$text" $'\n1 0.5 ' 'and the other'
run env PATH="$path" "$PAGEZONE" plot "$tmp/old.json" "$r" -o "$tmp/script.svg"
like "$err" '2013.json over .*old.json are drawn, as they did not measure the same: ' 'what did not measure the same has none'
is "$(grep -c "^set ylabel 'speed-up (times)'" "$tmp/script.svg")" 1 'but its own'
sed 's/"threads": \[1\]/"threads": [3]/; s/"threads": 1/"threads": 3/' "$tmp/old.json" >"$tmp/3.json"
like "$(script "$tmp/3.json" "$tmp/old.json")" 'set xtics \(1, 3\)' 'unless there are others'
lines=$(script "$r" "$r" "$r" "$r" "$r" "$r" "$r" | grep "title 'Sides:'" | tr , '\n' |
	sed -n "s/ title '.*json: .*//p")
is "$(sort -u <<<"$lines" | wc -l)" 14 '14 lines have 14 kinds of colour, points and dashes'
text=$(script "$truncations")
like "$text" "candlesticks" 'truncations are boxes'
like "$text" "microseconds" 'in microseconds'
if command -v jq >/dev/null; then
	# shellcheck disable=SC2016 # nobody is to expand that
	jq '.sides[0].spec = "x'"'"'\nset output `touch broken` @x ${y}" |
		.pagezone.command_line = "a \\\nsystem \"touch broken\" <b> '"'"'; !touch broken"' \
		"$r" >"$tmp/hostile.json"
	text=$(script "$tmp/hostile.json")
	is "$(grep -c -E '^(system|set output|!)' <<<"$text")" 0 'a name is no command'
	jq '.samples |= map(.kb_per_s = null | .total_kb_per_s = null | .failure = "x")' "$r" \
		>"$tmp/void.json"
	jq '.samples |= map(.failure = "x" | .times = null)' "$truncations" >"$tmp/void2.json"
	jq '.samples = []' "$r" >"$tmp/empty.json"
	cannot 2 'nothing to draw' "$tmp/empty.json" -o "$tmp/x.svg"
	jq '[range(60)] as $n | .samples[0] as $s |
		.samples = [$n[] | . as $i | $s | .phase = "p\($i)"] | .parameters.phases = []' \
		"$r" >"$tmp/many.json"
	cannot 2 'too many' "$tmp/many.json" -o "$tmp/x.svg"
fi
odd=$tmp/$'\xe9\x01.json'
cp "$tmp/old.json" "$odd"
is "$(script "$odd" "$tmp/new.json" | iconv -f UTF-8 -t UTF-8 2>&1 >"$tmp/utf8")" '' \
	'a file name that is not UTF-8 leaves the picture UTF-8'
ok 'and has question marks' grep -q -F '??.json: run' "$tmp/utf8"
path=$PATH

if [ ! -x "$(type -P gnuplot)" ]; then
	skip 'gnuplot is not installed'
	done_testing
fi
unset -f gnuplot
run "$PAGEZONE" plot "$r" -o "$tmp/x.svg"
status_is 0 'an SVG'
is "$err" '' 'nothing on standard error'
is "$(head -c 5 "$tmp/x.svg") $(tail -n 2 "$tmp/x.svg" | tr -d '\n' | tail -c 6)" '<?xml </svg>' \
	'which is whole'
for word in 'Initial writers' 'Random writers' 'Speed-up, patched' 'MiB/s per thread' threads \
	'speed-up (times)' 'import reference thp-page-cache-2013' 'lower to the upper quartile'; do
	ok "it says '$word'" grep -q -F "$word" "$tmp/x.svg"
done
ok 'as PNG' "$PAGEZONE" plot "$r" "$truncations" -o "$tmp/x.PNG"
is "$(head -c 8 "$tmp/x.PNG" | od -A n -t x1)" ' 89 50 4e 47 0d 0a 1a 0a' 'which is one'
mkdir "$tmp/a 'b \`c"
ok 'under any name' "$PAGEZONE" plot "$r" -o "$tmp/a 'b \`c/\$x;y.svg"
ok 'and nothing beside it' test "$(find "$tmp/a 'b \`c" -type f | wc -l)" -eq 1
if [ -e "$tmp/void.json" ]; then
	(cd "$tmp" && "$PAGEZONE" plot hostile.json -o hostile.svg) 2>"$tmp/messages"
	is "$?$(cat "$tmp/messages")" 0 'a hostile name is drawn'
	ok 'and does nothing' test ! -e "$tmp/broken"
	for name in void void2; do
		run "$PAGEZONE" plot "$tmp/$name.json" -o "$tmp/$name.svg"
		status_is 0 "void cells are gaps ($name)"
		is "$err" '' 'without a word of gnuplot'
	done
fi

# The picture of the README.
(cd "$tmp" && "$PAGEZONE" import reference thp-page-cache-2013 -o 2013.json &&
	"$PAGEZONE" plot 2013.json -o readme.svg)
if [ "$(gnuplot --version)" = 'gnuplot 5.4 patchlevel 4' ]; then
	ok 'the picture in the README is what plot makes of the table of 2013' \
		cmp "$tmp/readme.svg" "$top_srcdir/doc/thp-page-cache-2013.svg"
else
	skip 'another gnuplot draws other lines'
fi

done_testing
