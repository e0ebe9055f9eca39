#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The manual, the completion and --help know the same commands, options, phases and engines.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
# shellcheck source=src/data/pagezone.bash
. "$top_srcdir/src/data/pagezone.bash"

manual=$top_srcdir/man/pagezone.1

# One word a line, sorted.
words()
{
	grep -o -E -e "$1" | sort -u
}

# offers LINE: what the completion knows there.
# shellcheck disable=SC2034 # COMP_* are for the completion
offers()
{
	COMP_WORDBREAKS=' ' COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
	_pagezone pagezone
	printf '%s\n' "${COMPREPLY[@]}" | sort -u
}

# The long options that open an item of the manual.
manual_options=$(grep -E '^\.It .*Fl Fl ' "$manual" | grep -o -E 'Fl Fl [a-z-]+' |
	sed 's/Fl Fl /--/' | sort -u)

like "$("$PAGEZONE" --version)" '^pagezone [0-9]+\.[0-9]+\.[0-9]+$' 'the version'
like "$("$PAGEZONE" --usage)" 'COMMAND' 'the usage'

all=
commands=$(offers 'pagezone ' | grep -v -e '^--')
is "$("$PAGEZONE" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | sort)" \
	"$commands" '--help and the completion know the same commands'
for command in $commands; do
	ok "the manual has the command $command" grep -q "^\\.It Cm $command\$" "$manual"
	help=$("$PAGEZONE" "$command" --help | words '^  +(-.(, |  ))? *--[a-z-]+' |
		grep -o -e '--[a-z-]*' | sort -u)
	all+=$help$'\n'
	is "$("$PAGEZONE" "$command" --help | grep -E '^ {7,}--')" '' "and its options stand in one column"
	is "$(offers "pagezone $command --")" "$help" \
		"--help and the completion know the same options of $command"
	is "$(comm -13 <(echo "$manual_options") <(echo "$help"))" '' \
		"the manual has every option of $command"
done
is "$(comm -23 <(echo "$manual_options") <(echo "$all" | sort -u))" '' \
	'every option of the manual exists'

for phase in $(offers 'pagezone run --phases '); do
	run "$PAGEZONE" run --engine null -t 1 -S 64k -R 1 -f csv -q -i "$phase"
	status_is 0 "the phase $phase of the completion exists"
	ok "the manual has the phase $phase" grep -q "^\\.It $phase Ta " "$manual"
done
place=$("$PAGEZONE" topology -t 1 -f json)
for option in layout pin mem per workers format; do
	for word in $(offers "pagezone run --$option "); do
		list=
		case $word in # behind a colon comes a list: of where the first worker runs
		node: | bind:) list=$(sed -n 's/.*"node": \([0-9]*\).*/\1/p' <<<"$place" | tail -n 1) ;;
		cpus:) list=$(sed -n 's/.*"cpu": \([0-9]*\).*/\1/p' <<<"$place") ;;
		esac
		run "$PAGEZONE" run --engine null -t 1 -S 64k -R 1 -q "--$option" "$word$list"
		status_is 0 "--$option $word of the completion exists"
		like "$(grep "^\\.It .*Fl Fl $option " "$manual")" "[ |]$word( |\$)" \
			"the manual has --$option $word"
	done
done
for word in $(offers 'pagezone compare --format '); do
	run "$PAGEZONE" compare -f "$word" /dev/null
	unlike "$err" "can be" "compare -f $word of the completion exists"
	ok "the manual has compare -f $word" grep -q "^\\.It .*Fl Fl format .*junit" "$manual"
done
for option in state mapped; do
	for word in $(offers "pagezone truncate --$option "); do
		run "$PAGEZONE" truncate --pages 1 --count 1 --runs 1 -q "--$option" "$word"
		status_is 0 "--$option $word of the completion exists"
		like "$(grep "^\\.It .*Fl Fl $option " "$manual")" "[ |]$word( |\$)" \
			"the manual has --$option $word"
	done
done

done_testing
