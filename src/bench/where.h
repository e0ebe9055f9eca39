/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where workers and their pages really were: placement is checked, not assumed. */
#ifndef BENCH_WHERE_H
#define BENCH_WHERE_H

#include <stdint.h>

#include "engine/engine.h"

struct crew;
struct record;
struct result_sample;

/*
 * Pages of a worker that are looked at, in a sample: all, or so many, spread evenly over
 * its share.
 */
#define WHERE_MAX_PAGES 1024

/* Of one worker in one sample. */
struct where {
	int cpu_start, cpu_end; /* when its loop began and ended; -1: unknown */
	int node;		/* that the kernel counts cpu_end to; -1: unknown */
	int err;		/* why the kernel would not tell where pages are; 0 */
	unsigned nr;		/* pages whose node is known */
	int16_t nodes[WHERE_MAX_PAGES];
};

/* In the worker, outside of the window: before it comes to the start, after the end. */
void where_start(struct where *where);
void where_end(struct where *where);
/*
 * In the worker, still mapped, its loop has ended well: asks the kernel for the nodes of its pages
 * (move_pages(2)). Which pages, is the same in each sample: one of each of the equal parts of the
 * share, at a place that moves from part to part, so that no stride meets that of an interleaving.
 * A page that is not mapped, or that NUMA balancing took the access to, is touched and asked for
 * once more; what is then not there is left out.
 */
void where_look(struct where *where, struct engine_worker *worker);

/* Adds all of it to @sample: workers' CPUs, counters of pages. 0 or -ENOMEM. */
int where_collect(struct result_sample *sample, const struct crew *crew);

/* Advice before anything is measured: what there is no other node for, what moves pages. */
void where_advise(struct record *record);
/* That pages of the side that has just been started cannot be placed. */
void where_warn_unplaced(struct record *record, const struct crew *crew, unsigned side);
/*
 * What was not as planned or asked for: workers on other CPUs, less than 99 % of a
 * worker's pages where they should be; that it could not be checked. Once a side and
 * kind; the samples have it all.
 */
void where_warn(struct record *record, const struct crew *crew,
		const struct result_sample *sample);

#endif
