#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What `make fuzz` runs: the harnesses, all at the same time, each for FUZZ_SECONDS (60), from their
# corpora and what earlier runs found (fuzz/NAME in the directory of the build). An input that breaks one is
# kept as fuzz/NAME-crash-..., -timeout-..., -oom-... or -leak-..., and shown. Statuses: 0, or 1 when any was
# broken.
#	tests/fuzz/run.sh HARNESS...

seconds=${FUZZ_SECONDS:-60}
case $seconds in
'' | *[!0-9]* | 0)
	echo "FUZZ_SECONDS=$seconds is not a number of seconds" >&2
	exit 2
	;;
esac

source=$(cd "$(dirname "$0")" && pwd) || exit

# fuzz HARNESS: its log is fuzz/NAME.log.
fuzz()
{
	name=${1##*/}
	set -- "$1" "fuzz/$name" "$source/corpus/$name"
	mkdir -p "$2" || exit
	if [ -e "$source/$name.dict" ]; then
		set -- "$@" -dict="$source/$name.dict"
	fi
	# A file of some kB must not take seconds, nor much memory.
	exec "$@" -artifact_prefix="fuzz/$name-" -max_len=16384 -timeout=25 -rss_limit_mb=2048 \
		-malloc_limit_mb=512 -max_total_time="$seconds" -print_final_stats=1
}

mkdir -p fuzz/tmp || exit
export TMPDIR="$PWD/fuzz/tmp"
jobs=
trap 'kill $jobs 2>/dev/null; exit 130' INT TERM HUP
for harness; do
	rm -f "fuzz/${harness##*/}-"*
	(fuzz "$harness") >"fuzz/${harness##*/}.log" 2>&1 </dev/null &
	jobs="$jobs $!"
done

failed=0
for harness; do
	name=${harness##*/}
	# shellcheck disable=SC2086 # a list of numbers
	set -- $jobs
	wait "$1"
	status=$?
	shift
	jobs=$*
	runs=$(sed -n 's/^#\([0-9][0-9]*\).*/\1/p' "fuzz/$name.log" | tail -n 1)
	found=
	for artifact in "fuzz/$name-"*; do
		[ ! -e "$artifact" ] || found=$artifact
	done
	if [ "$status" -eq 0 ] && [ -z "$found" ]; then
		echo "$name: nothing found in ${runs:-0} runs"
		continue
	fi
	failed=1
	echo "$name: FAILED, status $status, after ${runs:-0} runs; the end of fuzz/$name.log:"
	tail -n 60 "fuzz/$name.log"
	for artifact in "fuzz/$name-"*; do
		[ -e "$artifact" ] || continue
		echo "$artifact ($(wc -c <"$artifact") bytes):"
		od -A d -c "$artifact" | head -n 64
	done
done
rm -rf fuzz/tmp
exit "$failed"
