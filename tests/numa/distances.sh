#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A ring of 4 nodes of 4 CPUs: 0 - 1 - 2 - 3 - 0.

# shellcheck source=tests/numa/guest.sh
. "${top_srcdir:?}/tests/numa/guest.sh"

in_guest distances <<'END'
tried node1 cat /sys/devices/system/node/node1/distance
speedup local -t 16 -S 32m --mem local
speedup remote -t 16 -S 32m --mem remote
END

of node1
is "$out" '16 10 16 22' 'nodes are in a ring'
nodes_are 4
plan_is_true
holds '.distances == [[10, 16, 22, 16], [16, 10, 16, 22], [22, 16, 10, 16], [16, 22, 16, 10]]' \
	'the distances are those of the ring'
workers_are_planned local
pages_are_local local
pages_are_remote remote

done_testing
