/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The driver: rounds over thread counts, sides and phases; samples into a result. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reason.h"
#include "bench/phase.h"
#include "engine/engine.h"
#include "result/result.h"
#include "sys/mempolicy.h"
#include "sys/topo.h"

#define BENCH_MAX_THREADS 256
#define BENCH_MAX_SIDES	  16

/* A window of fewer clock steps than this is no measurement. */
#define BENCH_MIN_CLOCK_STEPS 1000

struct bench_side {
	const char *name; /* "baseline", "patched", "limit", "run" */
	struct engine engine;
};

/* What truncate_run() measures instead of phases. */
struct bench_truncation {
	uint64_t count; /* truncations of each worker, side and run */
	bool dirty;	/* pages are stored to; else only loaded */
	bool mapped;	/* pages are mapped when they are truncated */
};

/* What is measured next, of how much. */
struct bench_progress {
	const char *side, *phase;
	unsigned threads, round, rounds; /* @rounds 0: not known, nor is @fraction */
	double fraction; /* of the bytes of all cells that are behind us, 0 … 1 */
};

struct bench_conf {
	const struct topo *topo;
	struct bench_side *sides;
	unsigned nr_sides;
	const unsigned *threads;
	unsigned nr_threads;
	const struct phase *const *phases;
	size_t nr_phases;
	uint64_t bytes; /* of each worker when @per_worker, else of all together */
	bool per_worker;
	uint64_t record;
	unsigned rounds;
	bool open_ended;       /* that is the most; round_done() ends it */
	bool shared;	       /* one file for all workers */
	bool processes;	       /* workers are processes; else threads */
	struct pin pin;	       /* its list is the caller's */
	struct mem_policy mem; /* resolved; its nodes are the caller's */
	uint64_t seed;
	bool verify; /* records tell which they are, and readers check them; see bench/verify.h */
	/*
	 * NULL: phases. Else truncate_run() is to be called: @phases is phase_truncate,
	 * @bytes the size of a truncation, @per_worker, and @record a page; all sides are
	 * there at once.
	 */
	const struct bench_truncation *truncation;

	const volatile sig_atomic_t *stop; /* set by a signal handler */
	/* Each may be NULL. */
	void (*progress)(void *arg, const struct bench_progress *progress);
	void (*warn)(void *arg, const char *text);   /* advice; each text once */
	void (*failed)(void *arg, const char *text); /* why a cell has no figure */
	/* After each round, of which @rounds are done; false: no more. */
	bool (*round_done)(void *arg, unsigned rounds);
	void *arg;
};

/*
 * Opens the engines of all sides: mounts and directories are there from now on, and what the files
 * need was held against them. 0; -EINVAL where the options do not go together; else
 * -errno: it cannot be measured here. @why names the side.
 */
int bench_open(const struct bench_conf *conf, struct reason *why);
void bench_close(const struct bench_conf *conf);

/*
 * Between bench_open() and bench_run().
 * What every thread count needs against what this process may take (MemAvailable, memory
 * cgroup, RLIMIT_AS): 0, or -ENOMEM with @why, which names the limit and the option to lower;
 * -EINVAL where a permutation would have more than 2^32 records.
 */
int bench_check(const struct bench_conf *conf, struct reason *why);

/* Fills the sides and phases of @result. 0 or -ENOMEM. */
int bench_describe(const struct bench_conf *conf, struct result *result);

/*
 * Measures all cells and adds their samples to @result, which bench_describe() filled. A cell
 * that fails becomes a void sample, later rounds leave it out, and the run goes on.
 * 0; -EINTR when stopped: the finished samples are in @result, workers may still run, and the
 * caller must leave the process without freeing anything that they use; -ENOMEM with @why.
 */
int bench_run(const struct bench_conf *conf, struct result *result, struct reason *why);

#endif
