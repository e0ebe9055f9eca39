#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# 4 nodes of 2 CPUs: where workers and pages really are.

# shellcheck source=tests/numa/guest.sh
. "${top_srcdir:?}/tests/numa/guest.sh"

in_guest 4x2 <<'END'
placement local -t 8 -S 16m --mem local
placement remote -t 8 -S 16m --mem remote
# As many huge pages for each worker as there are nodes.
placement interleave -t 8 -S 64m --mem interleave
placement bind:2 -t 8 -S 16m --mem bind:2

# What is allowed is less than what is there.
tried cpus-4-6 taskset -c 4-6 "$PAGEZONE" topology -t 3 -f json
tried cpu-5 taskset -c 5 "$PAGEZONE" run --engine null -t 2 -i initial-writer -R 1 -q -f json
echo 0 >/sys/devices/system/cpu/cpu2/online
echo 0 >/sys/devices/system/cpu/cpu3/online
speedup offline -t 8 -S 16m

try pin-node topology -t 4 --pin node:2-3 -f json
try pin-offline topology -t 4 --pin cpus:0,3
echo 1 >/proc/sys/kernel/numa_balancing
try balancing run --engine null -t 1 -i initial-writer -R 1 -q
END

nodes_are 4
plan_is_true
holds '[.workers[:4][].node] | unique | length == 4' 'the first 4 workers are on 4 nodes'
holds 'all(.workers[]; .memory_node == .node)' 'memory comes from the own node'

workers_are_planned local
pages_are_local local
pages_are_remote remote
pages_are_even interleave 4
pages_are_on bind:2 2

of cpus-4-6
holds '[.workers[] | [.cpu, .node]] == [[4, 2], [6, 3], [5, 2]]' \
	'CPUs 4-6 only: the plan is one of these'
of cpu-5
holds '[.samples[].workers[] | [.cpu, .node]] == [[5, 2], [5, 2]]' \
	'one CPU only: both workers are there'
of offline
status_is 0 'goes on where node 1 has no CPU that is online'
holds '[.samples[].workers[].cpu] | unique == [0, 1, 4, 5, 6, 7]' 'with the CPUs that are left'

of pin-node
holds '[.workers[].cpu] | sort == [4, 5, 6, 7]' '--pin node:2-3: on their CPUs'
of pin-offline
status_is 2 '--pin with a CPU that is offline: usage'
of balancing
like "$out$err" 'NUMA balancing is on' 'NUMA balancing is warned of'

done_testing
