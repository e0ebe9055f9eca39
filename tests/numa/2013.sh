#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The machine of the published tables, 4 nodes of 10 cores of 2 threads. Takes a minute or
# more, and is not part of `make check-numa`.

# shellcheck source=tests/numa/guest.sh
. "${top_srcdir:?}/tests/numa/guest.sh"

in_guest 2013 <<'END'
speedup local -t 80,256 -S 512m --mem local
END

nodes_are 4
holds '.packages == 4 and .cores == 40 and .cpus == 80' '4 packages, 40 cores, 80 CPUs'
plan_is_true
holds '[.workers[:40][].core] | unique | length == 40' '40 workers are on 40 cores'
workers_are_planned local
holds '[.samples[].threads] | unique == [80, 256]' 'both with 80 and with 256 workers'
pages_are_local local

done_testing
