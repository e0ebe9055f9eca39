/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A team of pinned workers that run one function at a time together. Workers are started once
 * and sleep between calls; everything that a call needs is set up before the barrier.
 *
 * Workers are threads, or processes that were forked from the main thread. Processes have a
 * copy of all that was there before team_start(), so that the function of a call is found at
 * its address; but what anybody writes later is seen by the others only in memory of
 * team_shared_alloc(), or in what had been mapped MAP_SHARED. They die with the main thread,
 * however it ends.
 */
#ifndef BENCH_TEAM_H
#define BENCH_TEAM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reason.h"
#include "sys/topo.h"

struct team;

/* Runs in worker @id. Must call team_barrier() as often as every other worker does. */
typedef void team_fn(void *arg, unsigned id);

/*
 * Starts @nr workers, each bound to the CPU of its placement (kept for the life of the team).
 * Signals are the main thread's and blocked in workers, but for those that an instruction
 * raises (SIGBUS, SIGSEGV …), whose handlers are the program's, and Ctrl-Z, which stops processes
 * as it stops threads. Processes can only be started while the main thread is alone.
 * 0; -EAGAIN, -ENOMEM, -ECHILD with @why, and then no worker is left. @bind_err gets 0 or why
 * the first worker could not be bound; that worker runs.
 */
int team_start(struct team **team, unsigned nr, bool processes, const struct topo *topo,
	       const struct placement *placements, int *bind_err, struct reason *why);

/*
 * Runs @fn(@arg, id) in all workers and waits for all. 0, or
 * -EINTR once *@stop is set, whatever else happened. Threads still run then, and nothing that
 *	they use may be freed – the caller is on its way out. Processes have been killed and reaped,
 *	and whoever calls again without a stop gets -ECHILD.
 * -ECHILD: a worker process died, by itself or by a signal, and the others have been killed and
 *	reaped. It takes a tenth of a second to be seen. team_death() says who and how. Each
 *	further call returns it at once.
 */
int team_call(struct team *team, team_fn *fn, void *arg,
	      const volatile sig_atomic_t *stop);

/* Waits for the call that is under way, as team_call() does. */
int team_wait(struct team *team, const volatile sig_atomic_t *stop);

/* How a worker process died, for the user, or NULL: none did. Lives as long as the team. */
const char *team_death(const struct team *team);

/*
 * Waits until all workers are here. Returns clock_now_ns() as the last one read it on arrival,
 * the same in all workers. Ordering: what any worker did before is seen by all after.
 */
uint64_t team_barrier(struct team *team);

/*
 * Ends the workers and waits for their end. Not while a call runs. Processes are gone after
 * -ECHILD and -EINTR: then it only frees.
 */
void team_stop(struct team *team);

/*
 * Zeroed memory in which the main thread and workers of either kind see what the others write.
 * Processes have it when it was allocated before team_start(). NULL: there is none.
 */
void *team_shared_alloc(size_t bytes);
void team_shared_free(void *memory, size_t bytes);

#endif
