#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# 4 packages whose kernel was told numa=off: one node has it all, and all goes on.

# shellcheck source=tests/numa/guest.sh
. "${top_srcdir:?}/tests/numa/guest.sh"

in_guest nonuma <<'END'
speedup local -t 8 -S 16m --mem local
END

nodes_are 1
plan_is_true
holds '[.workers[:4][].package] | unique | length == 4' 'the first 4 workers are on 4 packages'
workers_are_planned local
pages_are_local local

done_testing
