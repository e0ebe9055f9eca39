/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The driver of truncations: one after the other, each timed by its own worker. */
#ifndef BENCH_TRUNCATE_H
#define BENCH_TRUNCATE_H

#include "bench/bench.h"

/* The one phase that there is, for bench_conf.phases. */
extern const struct phase phase_truncate;

/*
 * Between bench_open() and bench_close(), as bench_run() is, and returns the same. For each run (round) and
 * thread count a sample a side:
 *	times		of each truncation, of all workers
 *	bytes		of the pages removed
 *	window_ns	the sum of the times of the worker whose sum is largest
 *	workers		from 0 to their sum
 *	counters	of an in-process page cache, within the times only
 * The ratio of two windows is that of two means; speed-ups go by medians (see result.h).
 */
int truncate_run(const struct bench_conf *conf, struct result *result,
		 struct reason *why);

#endif
