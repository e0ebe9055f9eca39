#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Counts of a real run, exact where they must be: samples, bytes, rates, faults, lock acquisitions.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
command -v jq >/dev/null || skip_all 'jq is not installed'

run "$PAGEZONE" speedup -q -t 1,2,5 -S 16m -R 2 -o "$tmp/r.json" --limit
status_is 0 'a run of two sides and the limit'
holds '.samples | length == 7 * 3 * 3 * 2' 'phases x threads x sides x rounds samples'
holds '.cells | length == 7 * 3 * 3' 'a cell for each side'
holds '.speedups | length == 7 * 3' 'a speed-up for each cell of the patched side'
holds 'all(.samples[]; .bytes == 16777216)' 'bytes are exact, also where 5 does not divide'
holds 'all(.samples[]; .bytes == ([.workers[].bytes] | add))' 'and are those of the workers'
holds 'all(.samples[]; .threads == (.workers | length))' 'a worker a thread'
holds 'all(.samples[]; (.bytes / 1024 / (.window_ns / 1e9) / .threads - .kb_per_s) | fabs < 0.5)' \
	'kb_per_s follows from bytes, window_ns and threads'
holds 'all(.samples[]; (.kb_per_s * .threads - .total_kb_per_s) | fabs < 1)' 'the total too'
holds 'all(.samples[]; .window_ns >= ([.workers[].end_ns] | max))' \
	'no worker ends after its window'
holds 'all(.samples[]; .sum_of_worker_rates >= .total_kb_per_s * 0.999)' \
	'no sum of rates is below the total'
holds '[.samples[] | select(.phase == "reader" and .threads == 1) | .side] ==
	["baseline", "patched", "limit", "limit", "patched", "baseline"]' \
	'the order of the sides flips each round'

# 16 MiB are 4096 pages. Shares of 5 workers are 820 or 819 pages, of 2 are 2048, of 1 all.
holds 'all(.samples[] | select(.side == "baseline"); .counters.faults == 4096)' \
	'batch=1: a fault a page in every phase'
holds 'all(.samples[] | select(.side == "patched");
	.counters.faults == {"1": 8, "2": 8, "5": 10}[.threads | tostring])' \
	'batch=512: a fault for each 512 pages of each file, the last ones short'
holds 'all(.samples[] | select(.side != "limit" and .phase == "initial-writer");
	.counters.tree_lock_acquisitions == .counters.faults)' \
	'initial-writer: tree_lock once a fault, exactly'
holds 'all(.samples[] | select(.side != "limit" and .phase != "initial-writer");
	.counters.tree_lock_acquisitions == 0)' \
	'resident phases: lookups take no tree_lock'
holds 'all(.samples[] | select(.side != "limit" and .phase == "initial-writer");
	.counters.pages_inserted == 4096 and .counters.minor_faults == 0)' \
	'initial-writer: every page is inserted, no fault is minor'
holds 'all(.samples[] | select(.side != "limit" and .phase != "initial-writer");
	.counters.pages_inserted == 0 and .counters.minor_faults == .counters.faults)' \
	'resident phases: nothing is inserted, all faults are minor'
holds 'all(.samples[] | select(.side != "limit");
	.counters.mmap_lock_acquisitions == .counters.faults)' 'mmap_lock once a fault'
holds 'all(.samples[] | select(.side == "limit"); .counters |
	has("user_ns") and (has("faults") or has("tree_lock_acquisitions") | not))' \
	'memory has no faults and no locks'

# batches between, on one shared file of a size that nothing divides
for batch in 1 2 8 64 256 512; do
	run "$PAGEZONE" run --engine "cache:batch=$batch" -q -t 1 -S 5000003 -R 1 -o "$tmp/r.json"
	status_is 0 "batch=$batch over 1220.7 pages"
	holds "all(.samples[]; .counters.faults == (1221 / $batch | ceil) and .bytes == 5000003)" \
		'faults: pages / batch, rounded up'
done
run "$PAGEZONE" run --engine cache:batch=512 -q -t 8 --layout shared -S 16m -R 1 -o "$tmp/r.json"
status_is 0 'eight workers on one file'
holds '[.samples[] | select(.phase == "initial-writer")] |
	all(.[]; .counters.pages_inserted == 4096 and .bytes == 16777216)' \
	'each page is inserted by exactly one of them'

# records that do not divide, that are larger than the file, fewer than workers
run "$PAGEZONE" run --engine cache:batch=8 -q -t 1,3 -s 1000003 -r 3000 -R 1 -o "$tmp/r.json"
status_is 0 'records of 3000 bytes'
holds 'all(.samples[]; .bytes == 1000003 * .threads)' 'all bytes of 1000003, for each worker'
run "$PAGEZONE" run --engine cache:batch=8 -q -t 2 -s 10k -r 1m -R 1 -o "$tmp/r.json"
status_is 0 'a record larger than the file'
holds 'all(.samples[]; .bytes == 20480)' 'moves the file, once'
run "$PAGEZONE" run --engine cache:batch=8 -q -t 256 -S 64k -R 1 -o "$tmp/r.json"
status_is 0 '16 records for 256 workers'
holds 'all(.samples[]; .bytes == 65536 and ([.workers[] | select(.bytes == 0)] | length) == 240)' \
	'240 workers are shown as idle'

# phases by themselves prepare their file first: readers never read holes
run "$PAGEZONE" run --engine cache:batch=1 -q -t 2 -S 1m -i reader -R 1 -o "$tmp/r.json"
status_is 0 'reader alone'
holds 'all(.samples[]; .counters.minor_faults == 256 and .counters.pages_inserted == 0)' \
	'finds its file written'

# unbound, from the one region that belongs to no node
run "$PAGEZONE" speedup -q -t 1,3 -S 4m -R 1 --pin none --mem none --limit -o "$tmp/r.json"
status_is 0 '--pin none --mem none'
holds 'all(.samples[]; .bytes == 4194304 and all(.workers[]; .cpu == null and .node == null))' \
	'workers have no CPU and no node, and move all bytes'
holds '.parameters.pinned == "none" and .parameters.mem == "none"' 'and the result says so'

run "$PAGEZONE" run --engine null -q -t 4 -S 4m -R 1 -o "$tmp/r.json"
status_is 0 'the null engine'
holds 'all(.samples[]; .bytes == 4194304)' 'walks all records'

done_testing
