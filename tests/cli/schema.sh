#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The JSON form is what its schema says. tests/golden/result.json is what the writer makes
# (tests/unit/result_json sees to that).

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
command -v jq >/dev/null || skip_all 'jq is not installed'

schema=$top_srcdir/src/data/pagezone-result-1.schema.json
golden=$top_srcdir/tests/golden/result.json

# faults JQ-PROGRAM: what is wrong with the golden result once the program has changed it.
faults()
{
	jq "$1" "$golden" >"$tmp/changed.json" &&
		jq -r --slurpfile schema "$schema" -f "$top_srcdir/tests/schema.jq" \
			"$tmp/changed.json" || echo 'jq failed'
}

is "$(faults .)" '' 'a written result is valid'

# A program that breaks the result, and where the fault has to be seen.
while IFS='|' read -r program fault; do
	like "$(faults "$program" 2>&1)" "$fault" "not valid: $program"
done <<-'EOT'
	del(.schema)|result.schema: is missing
	.schema = "pagezone-result/2"|result.schema: is not pagezone-result/1
	del(.samples)|result.samples: is missing
	.samples = {}|result.samples: is object
	.pagezone.seed = "x"|result.pagezone.seed: does not match
	.samples[0].round = 0|result.samples\[0\].round: is below 1
	.samples[1].kb_per_s = "fast"|result.samples\[1\].kb_per_s: is string
	.samples[1].window_ns = 0.5|result.samples\[1\].window_ns: is number
	.samples[1].workers[0].bytes = null|workers\[0\].bytes: is null
	del(.samples[1].workers[0].cpu)|workers\[0\].cpu: is missing
	del(.samples[0].times.nr)|samples\[0\].times.nr: is missing
	.samples[0].times.ns[1] = -5|times.ns\[1\]: is below 0
	.samples[2].times.buckets[0][2] = "x"|buckets\[0\]\[2\]: is string
	.parameters.truncate_state = "wet"|truncate_state: is none of
	.samples[0].counters.tree_lock_acquisitions = -1|tree_lock_acquisitions: is below 0
	.samples[1].counters.user_ns = null|counters.user_ns: is null
	.samples[1].counters.vmstat_pgfault = -1|vmstat_pgfault: is below 0
	.sides[1].mount = null|result.sides\[1\].mount: is null
	.cells[0].void = false|result.cells\[0\].void: is not true
	del(.speedups[0].low)|result.speedups\[0\].low: is missing
	.parameters.verify = "yes"|parameters.verify: is string, not boolean
	.parameters.per = "cpu"|result.parameters.per: is none of
	.parameters.threads = [0]|result.parameters.threads\[0\]: is below 1
	.sides[0].name = ""|result.sides\[0\].name: is too short
	.environment.load1 = "1,5"|result.environment.load1: is string
	.warnings = "none"|result.warnings: is string
EOT

# Every key that is written is described, so that the schema cannot fall behind.
is "$(jq -r --slurpfile s "$schema" '
	def described($there; $known): $there - ($known | keys) | .[];
	$s[0] as $s | ($s.definitions) as $d
	| described(keys; $s.properties),
	  described(.pagezone | keys; $s.properties.pagezone.properties),
	  described(.environment | keys; $s.properties.environment.properties),
	  described(.parameters | keys; $s.properties.parameters.properties),
	  described([.sides[] | keys[]]; $s.properties.sides.items.properties),
	  described([.samples[] | keys[]]; $d.sample.properties),
	  described([.samples[].workers[] | keys[]]; $d.sample.properties.workers.items.properties),
	  described([.samples[].times // {} | keys[]]; $d.times.properties),
	  described([.samples[].counters | keys[]]; $d.counters.properties),
	  described([.cells[] | keys[]]; $d.cell.properties),
	  described([.speedups[] | keys[]]; $d.speedup.properties)' "$golden" || echo 'jq failed')" '' \
	'the schema describes every key'
# And the other way round: the golden result has them all.
is "$(jq -r --slurpfile s "$schema" '
	$s[0].definitions as $d
	| (($d.sample.properties | keys) - [.samples[] | keys[]]),
	  (($d.times.properties | keys) - [.samples[].times // {} | keys[]]),
	  (($s[0].properties.parameters.properties | keys) - (.parameters | keys)),
	  (($d.counters.properties | keys) - [.samples[].counters | keys[]]),
	  (($d.cell.properties | keys) - [.cells[] | keys[]]),
	  (($s[0].properties.sides.items.properties | keys) - [.sides[] | keys[]]),
	  (($s[0].properties | keys) - keys) | .[]' "$golden" || echo 'jq failed')" '' \
	'the golden result has every key that the schema describes'
is "$(jq -r 'keys_unsorted | join(" ")' "$golden")" \
	'schema pagezone environment parameters sides samples cells speedups interrupted warnings' \
	'the members come in the documented order'
# jq's own arithmetic gives the very same number.
is "$(jq -c '[.samples[] | select(.failure | not)
	| select(.kb_per_s != .bytes / 1024 / (.window_ns / 1e9) / .threads
		or .total_kb_per_s != .bytes / 1024 / (.window_ns / 1e9))]' "$golden")" '[]' \
	'rates can be computed again from bytes, window and threads'

done_testing
