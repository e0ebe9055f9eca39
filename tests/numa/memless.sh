#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Node 2 has CPUs and no memory, node 3 has memory and no CPUs and is the nearest to it.

# shellcheck source=tests/numa/guest.sh
. "${top_srcdir:?}/tests/numa/guest.sh"

in_guest memless <<'END'
try table topology -t 6
placement local -t 6 -S 12m --mem local
placement remote -t 6 -S 12m --mem remote
# As many huge pages for each worker as nodes have memory.
placement interleave -t 6 -S 36m --mem interleave
END

nodes_are 4
holds '[.nodes[].cpus] == [2, 2, 2, 0]' 'node 3 has no CPUs'
holds '[.nodes[].memory > 0] == [true, true, false, true]' 'node 2 has no memory'
plan_is_true
holds 'any(.workers[]; .node == 3) | not' 'no worker is on the node without CPUs'
holds 'all(.workers[]; .memory_node == if .node == 2 then 3 else .node end)' \
	'the memory of workers of node 2 comes from node 3'
of table
like "$out" 'memory of node' 'the table says where memory comes from'
like "$out" $'\n +2 +[0-9]+ +none +2[ \n]' 'and which node has none'

workers_are_planned local
pages_are_local local
pages_are_remote remote
pages_are_even interleave 3

done_testing
