/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The workers of one thread count, with all that is theirs. */
#ifndef BENCH_CREW_H
#define BENCH_CREW_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/bench.h"
#include "bench/layout.h"
#include "bench/loop.h"
#include "bench/team.h"
#include "bench/where.h"
#include "sys/usage.h"

/* A worker's private things. Allocated and touched by the worker itself, on its node. */
struct bench_worker {
	char *memory; /* both buffers and the permutation */
	size_t memory_bytes;
	char *store_buffer; /* the record that this worker stores, again and again */
	char *load_buffer;
	uint32_t *permutation; /* NULL when no phase is random */
	uint64_t record;       /* bytes */
	uint64_t nr_records;
	uint64_t first_index; /* of its first record, in the file */
	int err;	      /* of the preparation, below */

	/* Of the side that runs now. */
	struct engine_worker engine;
	struct loop loop;
	struct verify_content
		content; /* --verify: what its file holds, or will when it is written */
	uint64_t made; /* the record that is in the store buffer; see worker_make_records() */
	uint64_t start_ns, end_ns; /* of the loop */
	uint64_t unmap_start_ns, unmap_end_ns;
	struct engine_counters counters;
	struct usage usage; /* of the loop, and of the wait at the barrier before it */
	uint64_t pmd_mapped_bytes, huge_wanted;
	struct where where; /* it and its pages were */
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
	uint64_t pass; /* --verify: how often files were written; each time other content */
	struct phase_run run; /* the call that is under way */
};

static inline bool worker_is_idle(const struct bench_worker *worker)
{
	return !worker->nr_records;
}

/* An engine_content_fn: the share as stores of @worker's one record would leave it. */
void worker_repeat_record(void *worker, uint64_t at, uint64_t bytes, char *to);
/*
 * The same for --verify: its share after the pass of @worker->content. First, @made is to
 * be UINT64_MAX.
 */
void worker_make_records(void *worker, uint64_t at, uint64_t bytes, char *to);

/*
 * @nr workers with their shares and, in @placements[@nr], their places; none runs yet. 0
 * or -errno.
 */
int crew_alloc(struct crew **crew, const struct bench_conf *conf, unsigned nr,
	       struct placement *placements);
void crew_free(struct crew *crew);

/*
 * Starts the workers and has each fill its buffers and its permutation. 0; -EINTR: they still run;
 * else @why not, and then none runs. @bind_err as team_start() has it.
 */
int crew_start(struct crew *crew, const struct placement *placements, int *bind_err,
	       struct reason *why);
void crew_stop(struct crew *crew);

/* Runs @fn(@arg, id) in all workers. 0; -EINTR; -ECHILD with @why when a worker process died. */
int crew_call(struct crew *crew, team_fn *fn, void *arg, struct reason *why);

#endif
