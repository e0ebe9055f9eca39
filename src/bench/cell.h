/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One side at one thread count: its workers, and one phase at a time of it. */
#ifndef BENCH_CELL_H
#define BENCH_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/bench.h"
#include "bench/layout.h"
#include "bench/loop.h"
#include "bench/team.h"
#include "sys/usage.h"

/* A worker's private things. Allocated and touched by the worker itself, on its node. */
struct bench_worker {
	char *memory; /* both buffers and the permutation */
	size_t memory_bytes;
	char *store_buffer; /* the record that this worker stores, again and again */
	char *load_buffer;
	uint32_t *permutation; /* NULL when no phase is random */
	uint64_t nr_records;
	int err; /* of the preparation, below */

	/* Of the side that runs now. */
	struct engine_worker engine;
	struct loop loop;
	uint64_t start_ns, end_ns; /* of the loop */
	uint64_t unmap_start_ns, unmap_end_ns;
	struct engine_counters counters;
	struct usage usage; /* of the loop, and of the wait at the barrier before it */
	uint64_t pmd_mapped_bytes, huge_wanted;
	bool failed;
	struct reason why;
} __attribute__((aligned(2 * CACHELINE_SIZE)));

/* What the functions that run in the workers get. */
struct phase_run {
	struct crew *crew;
	struct engine *engine;
	const struct phase *phase;
	loop_fn *loop;
	enum access access;
	uint64_t opened_ns;		   /* written by worker 0 */
	uint64_t vmstat[RESULT_NR_VMSTAT]; /* what was counted meanwhile; by worker 0 */
};

/*
 * All workers of one thread count; the sides use them in turn. On the heap, with all that workers
 * look at: after -EINTR they still run, and it is left to them. Where workers are processes, which
 * see what was there when they were forked, it and @workers are memory that all share.
 */
struct crew {
	const struct bench_conf *conf;
	struct team *team;
	struct layout layout;
	struct engine_setup setup;
	struct bench_worker *workers; /* [nr] */
	unsigned nr;
	struct phase_run run; /* the call that is under way */
};

/* All below return -ECHILD, with @why where there is one, when a worker process died. */

/* Fills buffers and permutations, in the workers. 0; -ENOMEM with @why; -EINTR. */
int crew_prepare(struct crew *crew, struct reason *why);
void crew_release(struct crew *crew);

/* Starts @engine in all workers. 0; -EINTR; else void: @why. cell_side_stop() undoes it either way
 * but after -EINTR. */
int cell_side_start(struct crew *crew, struct engine *engine, struct reason *why);
int cell_side_stop(struct crew *crew, struct engine *engine);

/*
 * Makes every file of the side resident, untimed: empties it and stores all of it once.
 * 0; -EINTR; else why it failed.
 */
int cell_make_resident(struct crew *crew, struct engine *engine, struct reason *why);

/* Runs @phase, timed. 0, also when workers failed; -EINTR. */
int cell_measure(struct crew *crew, struct engine *engine, const struct phase *phase,
		 struct reason *why);

/*
 * What the phase that ran last came to: window, bytes, workers and counters of @sample, or
 * its failure. 0 or -ENOMEM.
 */
int cell_collect(const struct crew *crew, struct result_sample *sample);

/* Of that phase: bytes that huge pages should have mapped; 0: the side asked for none. */
uint64_t cell_huge_wanted(const struct crew *crew);

#endif
