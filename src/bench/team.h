/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A team of pinned pthreads that run one function at a time together. Threads are started once
 * and sleep between calls; everything that a call needs is set up before the barrier.
 */
#ifndef BENCH_TEAM_H
#define BENCH_TEAM_H

#include <signal.h>
#include <stdint.h>

#include "base/reason.h"
#include "sys/topo.h"

struct team;

/* Runs in worker @id. Must call team_barrier() as often as every other worker does. */
typedef void team_fn(void *arg, unsigned id);

/*
 * Starts @nr workers, each bound to the CPU of its placement (kept for the life of the team).
 * Their signals are blocked: signals are the main thread's. 0; -EAGAIN, -ENOMEM with @why, and then no
 * thread is left. @bind_err gets 0 or why the first worker could not be bound; that worker runs.
 */
int team_start(struct team **team, unsigned nr, const struct topo *topo,
	       const struct placement *placements, int *bind_err, struct reason *why);

/*
 * Runs @fn(@arg, id) in all workers and waits for all. 0; -EINTR once *@stop is set: then the
 * workers still run, and nothing they use may be freed – the caller is on its way out.
 */
int team_call(struct team *team, team_fn *fn, void *arg,
	      const volatile sig_atomic_t *stop);

/* Waits for the call that is under way, as team_call() does. */
int team_wait(struct team *team, const volatile sig_atomic_t *stop);

/*
 * Waits until all workers are here. Returns clock_now_ns() as the last one read it on arrival,
 * the same in all workers. Ordering: what any worker did before is seen by all after.
 */
uint64_t team_barrier(struct team *team);

/* Ends and joins the workers. Not while a call runs. */
void team_stop(struct team *team);

#endif
