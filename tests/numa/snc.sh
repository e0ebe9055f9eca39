#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# 2 packages of 2 nodes of 4 CPUs.

# shellcheck source=tests/numa/guest.sh
. "${top_srcdir:?}/tests/numa/guest.sh"

in_guest snc <<'END'
speedup local -t 16 -S 32m --mem local
END

nodes_are 4
holds '.packages == 2 and [.nodes[].package] == [0, 0, 1, 1]' '2 in each of 2 packages'
plan_is_true
holds '[.workers[:2][].package] | unique | length == 2' 'the first 2 workers are on 2 packages'
holds '[.workers[:4][].node] | unique | length == 4' 'the first 4 on 4 nodes'
workers_are_planned local
pages_are_local local

done_testing
