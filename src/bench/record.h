/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What drivers put into a result besides figures, and say on the way: samples, failures,
 * warnings.
 */
#ifndef BENCH_RECORD_H
#define BENCH_RECORD_H

#include <stdbool.h>

#include "bench/bench.h"

struct arena;

struct record {
	const struct bench_conf *conf;
	struct result *result;
	bool warned_binding, warned_huge, warned_arenas;
	bool unbound; /* nothing can be bound here: samples have no planned CPUs */
	unsigned warned[BENCH_MAX_SIDES]; /* enum record_warned */
};

/* What is told once a side. */
enum record_warned {
	RECORD_UNPLACED = 1 << 0,  /* pages of its files */
	RECORD_UNCHECKED = 1 << 1, /* where pages lie */
	RECORD_ELSEWHERE = 1 << 2, /* its workers */
	RECORD_SHORTFALL = 1 << 3, /* of pages where they were asked for */
};

/* Advice: into the result, and to the caller of the driver when it is new. */
void record_warn(struct record *record, const char *text);
/* Why workers could not be bound; 0: they could. */
void record_binding(struct record *record, int bind_err);
/* The @nr arenas that are there at once: their bytes, whether bound, what huge pages back. */
void record_arenas(struct record *record, const struct arena *arenas, unsigned nr);

/* A new sample, whose workers have their places; NULL: no memory. */
struct result_sample *record_sample(struct record *record,
				    const struct placement *placements, unsigned side,
				    unsigned phase, unsigned threads, unsigned round);
/* Voids @sample. 0 or -ENOMEM. */
int record_failure(struct result_sample *sample, const struct reason *why);
/* Once all else is there: rates, whether the window was long enough; tells what is not good. */
void record_finish(struct record *record, struct result_sample *sample);

#endif
