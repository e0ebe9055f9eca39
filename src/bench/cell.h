/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One side at one thread count: its workers, and one phase at a time of it. */
#ifndef BENCH_CELL_H
#define BENCH_CELL_H

#include <stdint.h>

#include "bench/crew.h"

/* All below return -ECHILD, with @why where there is one, when a worker process died. */

/*
 * Starts @engine in all workers. 0; -EINTR; else void: @why. cell_side_stop() undoes it either way
 * but after -EINTR.
 */
int cell_side_start(struct crew *crew, struct engine *engine, struct reason *why);
int cell_side_stop(struct crew *crew, struct engine *engine);

/* For what runs in workers: @worker failed, for the reason that is there or for @err. */
void cell_fail_worker(struct bench_worker *worker, int err);
/* The first worker that failed speaks for all: -EIO with @why. 0: none did. */
int cell_first_failure(const struct crew *crew, struct reason *why);
/* Adds what an in-process page cache counted. */
void cell_add_counters(struct result_counters *sum,
		       const struct engine_counters *counters);

/*
 * Makes every file of the side resident, untimed: empties it and stores all of it once.
 * 0; -EINTR; else why it failed.
 */
int cell_make_resident(struct crew *crew, struct engine *engine, struct reason *why);

/* Runs @phase, timed. 0, also when workers failed; -EINTR. */
int cell_measure(struct crew *crew, struct engine *engine, const struct phase *phase,
		 struct reason *why);

/*
 * --verify: loads all of the side's files once more, untimed, and checks them against the
 * last pass. 0; -EINTR; else @why names the first mismatch, or why they could not be
 * read.
 */
int cell_read_back(struct crew *crew, struct engine *engine, struct reason *why);

/*
 * What the phase that ran last came to: window, bytes, workers and counters of @sample, or
 * its failure. 0 or -ENOMEM.
 */
int cell_collect(const struct crew *crew, struct result_sample *sample);

/* Of that phase: bytes that huge pages should have mapped; 0: the side asked for none. */
uint64_t cell_huge_wanted(const struct crew *crew);

#endif
