#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The plan: this machine's, and other machines' from hwloc's synthetic descriptions.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"

run "$PAGEZONE" topology
status_is 0 'this machine'
like "$out" 'CPUs? allowed' 'says how many CPUs are allowed'
run taskset -c 0 "$PAGEZONE" topology
like "$out" '1 of [0-9]+ CPUs? allowed: 0' 'with an affinity mask of one CPU: one'
run "$PAGEZONE" topology --topology 'pack:4 numa:1 core:10 pu:2' -t 80
status_is 0 'the 2013 machine'
like "$out" '4 packages, 4 nodes, 40 cores; 80 of 80 CPUs' 'as it was'
if ! command -v jq >/dev/null; then
	skip 'jq is not installed' 8
	done_testing
fi

# plan EXPRESSION NAME: jq finds it true of the plan.
plan()
{
	ok "$2" jq -e "$1" "$tmp/.out"
}

run "$PAGEZONE" topology --topology 'pack:4 numa:1 core:10 pu:2' -t 80 -f json
plan '.workers | length == 80 and all(.[]; has("worker") and has("cpu") and has("node"))' \
	'80 workers with CPU and node'
plan '[.workers[:4][].package] | unique | length == 4' '4 workers on 4 packages'
plan '[.workers[:40][].core] | unique | length == 40' '40 workers on 40 cores'
plan '[.workers[].cpu] | unique | length == 80' 'and only then their siblings'
run "$PAGEZONE" topology --topology 'pack:4 numa:1 core:10 pu:2' -t 256 -f json
plan '[.workers[80:160][].cpu] == [.workers[:80][].cpu]' 'beyond, round robin'
run "$PAGEZONE" topology --topology 'pack:4 numa:1 core:10 pu:2' -t 4 --pin compact -f json
plan '[.workers[].package] | unique | length == 1' 'compact: one package'
plan '[.workers[].core] | unique | length == 2' 'siblings first'
run "$PAGEZONE" topology --topology 'pack:2 numa:1 core:2 pu:1' -t 2 --pin none -f json
plan 'all(.workers[]; .cpu == null and .node == null)' 'none: nowhere in particular'

done_testing
