/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much memory a run takes, and where. */
#ifndef BENCH_BUDGET_H
#define BENCH_BUDGET_H

#include <stddef.h>

#include "bench/bench.h"

/* Bytes of frames on each node, over all in-process sides (which use them in turn). */
struct arena_plan {
	unsigned *nids;
	size_t *bytes;
	unsigned nr;
};

/*
 * Adds what @setup needs to @plan: per node the largest of the sides, and no less than what is
 * there already. 0 or -ENOMEM.
 */
int arena_plan_add(struct arena_plan *plan, const struct bench_conf *conf,
		   const struct engine_setup *setup);
size_t arena_plan_bytes(const struct arena_plan *plan);
void arena_plan_destroy(struct arena_plan *plan);

/*
 * Bytes of the private memory of a worker with @share: record buffers and, when some phase is
 * random, its permutation.
 */
size_t worker_private_bytes(const struct bench_conf *conf, const struct share *share);
bool bench_has_random_phase(const struct bench_conf *conf);
/*
 * Whether a side needs an arena that can be mapped twice: all sides use the same kind of
 * memory, so that they differ in nothing else.
 */
bool bench_wants_shared_arena(const struct bench_conf *conf);

#endif
