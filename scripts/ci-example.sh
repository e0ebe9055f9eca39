#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# An example for continuous integration: builds pagezone, measures with --quick, compares with a stored baseline, and
# leaves what a server wants to keep. pagezone-ci(7) explains it. Arguments go to the command that
# measures, as in
#	scripts/ci-example.sh -t 1,2 -i reader,initial-writer
#
# The environment:
#	PAGEZONE		the program; without it, it is built in build/ci
#	PAGEZONE_ENGINE		what is measured (cache:batch=512), a SPEC of pagezone(1)
#	PAGEZONE_BASE_ENGINE	with what it is compared in the same run, in turns; no baseline is stored then
#	PAGEZONE_BASELINE	the stored baseline (pagezone-baseline.json)
#	PAGEZONE_UPDATE		yes: a result that passes replaces it
#	PAGEZONE_ROUNDS		rounds of each cell (12), or auto: see -R; best with PAGEZONE_BASE_ENGINE
#	PAGEZONE_THRESHOLD	percent that a cell may be slower (10)
#	PAGEZONE_OUTPUT		the directory for (pagezone-results)
#		result.json	what was measured
#		comparison.json, comment.md, junit.xml	how it compares
#		result.svg	a picture, where gnuplot is installed
#
# Exit status:
#	0  no cell is slower by more than the threshold; or there was no baseline, and now there is
#	1  some cell is, and significantly
#	2  wrong usage, or the baseline is not comparable (other sizes, other phases)
#	3  could not build, measure or write a file, or cells have no figure
#	4  too noisy to tell: not a pass. The messages say how many rounds would do

set -u
export LC_ALL=C

engine=${PAGEZONE_ENGINE:-cache:batch=512}
base_engine=${PAGEZONE_BASE_ENGINE:-}
baseline=${PAGEZONE_BASELINE:-pagezone-baseline.json}
rounds=${PAGEZONE_ROUNDS:-12}
threshold=${PAGEZONE_THRESHOLD:-10}
output=${PAGEZONE_OUTPUT:-pagezone-results}

say()
{
	printf 'ci-example.sh: %s\n' "$*" >&2
}

build()
{
	top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) || return
	# shellcheck source=scripts/common.sh
	. "$top/scripts/common.sh"
	need_packages "${build_packages[@]}" || return
	PAGEZONE=$builds/ci/pagezone
	{ autogen && configure_in "$builds/ci" CFLAGS='-O2 -g' && make -s -C "$builds/ci" -j"$jobs"; } >&2
}

# Under a temporary name first, so that there is a whole baseline or the one that was there.
store()
{
	mkdir -p "$(dirname -- "$baseline")" && cp -- "$output/result.json" "$baseline.tmp.$$" &&
		mv -- "$baseline.tmp.$$" "$baseline" && return
	rm -f -- "$baseline.tmp.$$"
	say "cannot store the baseline $baseline"
	exit 3
}

# One that is not there is no failure: the figures are what counts.
picture()
{
	"$PAGEZONE" plot "$@" -o "$output/result.svg" || say 'there is no picture'
}

# compare FILE...: all forms of it; returns the exit status of the comparison, which is the same each time. One that
# is not could not be written, and half of a file is none.
compare()
{
	local format name status each failed=

	"$PAGEZONE" compare --max-regression "$threshold" "$@"
	status=$?
	for format in json:comparison.json markdown:comment.md junit:junit.xml; do
		name=$output/${format#*:}
		"$PAGEZONE" compare --max-regression "$threshold" -f "${format%%:*}" "$@" >"$name" 2>/dev/null
		each=$?
		if [ $each -ne $status ]; then
			say "cannot write $name"
			failed=1
		fi
		{ [ $each -eq $status ] && [ -s "$name" ]; } || rm -f -- "$name"
	done
	[ -z "$failed" ] || return 3
	[ $status -ne 4 ] || say "too noisy to tell: this is no pass; take more rounds (PAGEZONE_ROUNDS)"
	return $status
}

if [ -z "${PAGEZONE:-}" ] && ! build; then
	say 'the build failed'
	exit 3
fi
if ! command -v -- "$PAGEZONE" >/dev/null; then
	say "there is no program $PAGEZONE (PAGEZONE)"
	exit 3
fi
mkdir -p "$output" || exit 3
rm -f "$output"/{result.json,comparison.json,comment.md,junit.xml,result.svg}

if [ -n "$base_engine" ]; then
	# Precise is not enough: with the gate, rounds go on until it can tell.
	gate=()
	[ "$rounds" != auto ] || gate=(--max-regression "$threshold")
	"$PAGEZONE" speedup --baseline "$base_engine" --patched "$engine" --quick -R "$rounds" -q \
		-o "$output/result.json" "${gate[@]}" "$@" >/dev/null
	measured=$?
	# Gates that fail or cannot tell are no reason not to compare.
	case $measured in
	0 | 1 | 4) ;;
	*) exit $measured ;;
	esac
	picture "$output/result.json"
	compare "$output/result.json"
	status=$?
	# Of a --min-speedup among the arguments.
	[ $measured -ne 1 ] || exit 1
	exit $status
fi

"$PAGEZONE" run --engine "$engine" --quick -R "$rounds" -q -f markdown -o "$output/result.json" "$@" \
	>"$output/comment.md" || exit
if [ ! -e "$baseline" ]; then
	if ! printf '\nThere was no baseline to compare with.\n' >>"$output/comment.md"; then
		say "cannot write $output/comment.md"
		exit 3
	fi
	store
	picture "$output/result.json"
	cat "$output/comment.md"
	say "there was no baseline; this result is stored as $baseline"
	exit 0
fi
picture "$baseline" "$output/result.json"
compare "$baseline" "$output/result.json"
status=$?
if [ $status -eq 0 ] && [ "${PAGEZONE_UPDATE:-}" = yes ]; then
	store
	say "the baseline $baseline is replaced"
fi
exit $status
