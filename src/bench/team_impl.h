/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What team.c and team_process.c share: the team itself. For nobody else. */
#ifndef BENCH_TEAM_IMPL_H
#define BENCH_TEAM_IMPL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bits.h"
#include "base/reason.h"
#include "bench/team.h"

struct team_worker {
	struct team *team;
	pthread_t thread; /* threads only */
	pid_t pid; /* processes only; 0: reaped. Only the main process looks at it */
	unsigned id;
	int cpu;
	int bind_err;
	int start_err; /* processes only: why this one may outlive the main process */
};

/* In memory that worker processes share. */
struct team {
	unsigned nr; /* workers that run */
	unsigned nr_allocated;
	unsigned spin_limit;
	bool processes;
	bool ended; /* all processes are gone before team_stop(); the main process's own */
	struct reason death; /* the main process's own; empty: nobody died */
	const struct topo *topo;

	/* The call: written by the main thread before the release of @call. */
	team_fn *fn; /* NULL: end */
	void *arg;
	_Atomic uint32_t call __cacheline_aligned; /* generation of the call */
	_Atomic uint32_t done __cacheline_aligned; /* workers that ended it */

	/* The barrier. */
	_Atomic uint32_t arrived __cacheline_aligned;
	uint64_t opened_ns; /* written by the last to arrive, before the release of @generation */
	_Atomic uint32_t generation __cacheline_aligned;

	struct team_worker workers[] __cacheline_aligned;
};

/* What a worker does from its first call to team_stop(). */
void team_work(struct team_worker *worker);

/*
 * Forks @nr workers, with the signal mask of the caller. 0, or -errno and @team->nr of them are
 * there.
 */
int team_fork(struct team *team, unsigned nr);

/*
 * Looks for a dead worker process. True: there was one, @team->death says how it died, and the
 * others are gone, too.
 */
bool team_find_death(struct team *team);

/* Kills and reaps all worker processes. */
void team_kill(struct team *team);

/* Waits until all worker processes have ended, and reaps them. */
void team_reap(struct team *team);

#endif
