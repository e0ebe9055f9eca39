#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What bash offers when the user presses tab.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
# shellcheck source=src/data/pagezone.bash
. "$top_srcdir/src/data/pagezone.bash"

COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'

# offers LINE: the completions at its end, sorted, on one line. As readline, it has the
# function's replies replace what follows the last word break.
# shellcheck disable=SC2034 # COMP_* are for the completion
offers()
{
	COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
	_pagezone pagezone
	[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}" | sort | paste -s -d ' '
}

is "$(offers 'pagezone ')" '--help --usage --version compare import plot run speedup topology truncate' \
	'commands'
is "$(offers 'pagezone sp')" 'speedup' 'the beginning of a command'
is "$(offers 'pagezone speedup --pat')" '--patched' 'an option'
is "$(offers 'pagezone speedup --engine')" '' 'not the option of another command'
is "$(offers 'pagezone speedup --pin ')" 'compact cpus: node: none spread' 'the words of an option'
is "$(offers 'pagezone speedup --pin=s')" 'spread' 'the words of an option behind ='
is "$(offers 'pagezone run -f ')" 'csv json markdown table' 'the formats of a result'
is "$(offers 'pagezone compare -f ')" 'csv json junit markdown table' 'those of a comparison'
is "$(offers 'pagezone topology -f ')" 'json table' 'the formats of a plan'
is "$(offers 'pagezone run --engine cache:batch=51')" '512' 'a spec behind its last word break'
is "$(offers 'pagezone run --engine=mem')" 'memory' 'an engine'
is "$(offers 'pagezone run -i rea')" 'reader' 'a phase'
is "$(offers 'pagezone run -i reader,random-')" 'reader,random-reader reader,random-writer' \
	'the last phase of a list'
is "$(offers 'pagezone speedup --min-speedup 1.5:re-')" 're-reader' 'the phase of a gate'
is "$(offers 'pagezone truncate --st')" '--state' 'an option of truncate'
is "$(offers 'pagezone truncate --mapped ')" 'no yes' 'its words'
is "$(offers 'pagezone truncate --min-speedup 1.3:')" 'truncate' 'its one phase'
is "$(offers 'pagezone truncate --patched cache:batch=1,')" '1,truncate-batch=1 1,truncate-batch=15' \
	'its specs'
is "$(offers 'pagezone speedup -t ')" '' 'nothing where a number is wanted'
is "$(offers 'pagezone import ')" 'iozone reference' 'what can be imported'
is "$(offers 'pagezone import reference th')" 'thp-page-cache-2013' 'a published table'
touch "$tmp/machine.xml" "$tmp/result.json"
is "$(offers "pagezone compare $tmp/r")" "$tmp/result.json" 'a result to compare'
is "$(offers "pagezone topology --topology $tmp/m")" "$tmp/machine.xml" 'a file name'

done_testing
