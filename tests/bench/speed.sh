#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The speed that is asked of the in-process page cache, as ratios within one interleaved run:
# 1 thread, 4 KiB records, 512 MiB, medians of ROUNDS (9) rounds. Prints measured against wanted;
# the status is 1 when a ratio is missed and CHECK=1. What the initial writer reaches of zeroing
# and then copying is measured by tests/bench/fault, which knows how to do just that.

set -eu
: "${PAGEZONE:?names the program}"
export LC_ALL=C
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
rounds=${ROUNDS:-9}

echo "1 thread, 4 KiB records, 512 MiB, $rounds interleaved rounds"
"$PAGEZONE" speedup -q -t 1 -S 512m -R "$rounds" --limit -f json >"$tmp/r.json"
"$PAGEZONE" run --engine null -q -t 1 -S 512m -R "$rounds" -f json >"$tmp/null.json"

# The medians of ratios paired by round, with quartiles. The spread is that of the rounds.
jq -r -n --slurpfile r "$tmp/r.json" --slurpfile null "$tmp/null.json" '
	def quantile(q): sort | .[((length - 1) * q | round)];
	def rates(side; phase): [$r[0].samples[] | select(.side == side and .phase == phase)] |
		sort_by(.round) | map(.kb_per_s);
	def line(what; phase; a; b; wanted):
		[rates(a; phase), rates(b; phase)] | transpose | map(.[0] / .[1]) |
		[what, phase, (quantile(0.5)), (quantile(0.25)), (quantile(0.75)), wanted];
	[
		line("batch=512 / memory"; "re-reader"; "patched"; "limit"; 0.95),
		line("batch=512 / memory"; "rewriter"; "patched"; "limit"; 0.90),
		(("reader", "re-reader", "reverse-reader", "random-reader") as $p |
			line("batch=512 / batch=1"; $p; "patched"; "baseline"; 1.5)),
		line("batch=512 / batch=1"; "initial-writer"; "patched"; "baseline"; 1.1),
		(("rewriter", "random-writer") as $p |
			line("batch=512 / batch=1"; $p; "patched"; "baseline"; 1.0))
	] + [
		["null, ns a record", "re-reader"] +
		([$null[0].samples[] | select(.phase == "re-reader") | .window_ns / 131072] |
			[quantile(0.5), quantile(0.25), quantile(0.75)]) + [-3]
	] | .[] | @tsv' >"$tmp/lines"

awk -F '\t' -v check="${CHECK:-0}" '
	BEGIN { printf "%-22s %-16s %8s %8s %8s   %s\n", "", "phase", "median", "p25", "p75", "wanted" }
	{
		met = $6 < 0 ? $3 <= -$6 : $3 >= $6
		printf "%-22s %-16s %8.2f %8.2f %8.2f   %s %.2f %s\n", $1, $2, $3, $4, $5,
			$6 < 0 ? "<=" : ">=", $6 < 0 ? -$6 : $6, met ? "met" : "MISSED"
		missed += !met
	}
	END { exit check && missed }' "$tmp/lines"
