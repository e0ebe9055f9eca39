/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/team.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/clock.h"
#include "base/futex.h"

/* Enough for the timed loop and, under a sanitizer, for its frames. */
#define WORKER_STACK_BYTES (512 * 1024)
/* How often a worker that has a CPU of its own looks before it sleeps; about 100 us. */
#define SPIN_LIMIT 3000
/* The main thread looks at the stop flag this often. */
#define STOP_POLL_NS 100000000u

struct team_thread {
	struct team *team;
	pthread_t thread;
	unsigned id;
	int cpu;
	int bind_err;
};

struct team {
	unsigned nr; /* workers that run */
	unsigned spin_limit;
	const struct topo *topo;
	struct team_thread *threads;

	/* The call: written by the main thread before the release of @call. */
	team_fn *fn; /* NULL: end */
	void *arg;
	_Atomic uint32_t call __cacheline_aligned; /* generation of the call */
	_Atomic uint32_t done __cacheline_aligned; /* workers that ended it */

	/* The barrier. */
	_Atomic uint32_t arrived __cacheline_aligned;
	uint64_t opened_ns; /* written by the last to arrive, before the release of @generation */
	_Atomic uint32_t generation __cacheline_aligned;
};

/* Until *@word is no longer @old. acquire: pairs with the release of whoever changed it. */
static void wait_for_change(_Atomic uint32_t *word, uint32_t old, unsigned spin_limit)
{
	for (unsigned spins = 0; spins < spin_limit; spins++) {
		if (atomic_load_explicit(word, memory_order_acquire) != old)
			return;
		cpu_relax();
	}
	while (atomic_load_explicit(word, memory_order_acquire) == old)
		futex_wait(word, old, 0);
}

uint64_t team_barrier(struct team *team)
{
	uint32_t generation =
		atomic_load_explicit(&team->generation, memory_order_relaxed);
	uint64_t opened_ns;

	/* acq_rel: the last to arrive has seen what all others did before */
	if (atomic_fetch_add_explicit(&team->arrived, 1, memory_order_acq_rel) + 1 <
	    team->nr) {
		wait_for_change(&team->generation, generation, team->spin_limit);
		return team->opened_ns;
	}
	atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
	opened_ns = clock_now_ns();
	team->opened_ns = opened_ns;
	/* release: pairs with the acquire in wait_for_change() */
	atomic_fetch_add_explicit(&team->generation, 1, memory_order_release);
	futex_wake(&team->generation, INT_MAX);
	return opened_ns;
}

static void *team_thread(void *arg)
{
	struct team_thread *thread = arg;
	struct team *team = thread->team;
	uint32_t call = 0;

	for (;;) {
		wait_for_change(&team->call, call, 0);
		call++;
		if (!team->fn)
			return NULL;
		team->fn(team->arg, thread->id);
		/* release: pairs with the acquire in team_wait() */
		if (atomic_fetch_add_explicit(&team->done, 1, memory_order_release) + 1 ==
		    team->nr)
			futex_wake(&team->done, 1);
	}
}

static void begin_call(struct team *team, team_fn *fn, void *arg)
{
	team->fn = fn;
	team->arg = arg;
	atomic_store_explicit(&team->done, 0, memory_order_relaxed);
	/* release: pairs with the acquire in wait_for_change() */
	atomic_fetch_add_explicit(&team->call, 1, memory_order_release);
	futex_wake(&team->call, INT_MAX);
}

int team_wait(struct team *team, const volatile sig_atomic_t *stop)
{
	uint32_t done;

	while ((done = atomic_load_explicit(&team->done, memory_order_acquire)) <
	       team->nr) {
		if (stop && *stop)
			return -EINTR;
		futex_wait(&team->done, done, STOP_POLL_NS);
	}
	return stop && *stop ? -EINTR : 0;
}

int team_call(struct team *team, team_fn *fn, void *arg,
	      const volatile sig_atomic_t *stop)
{
	begin_call(team, fn, arg);
	return team_wait(team, stop);
}

static void bind_worker(void *arg, unsigned id)
{
	struct team *team = arg;
	struct team_thread *thread = &team->threads[id];

	if (thread->cpu >= 0)
		thread->bind_err = topo_bind_thread(team->topo, (unsigned)thread->cpu);
}

static int start_threads(struct team *team, unsigned nr, struct reason *why)
{
	sigset_t all, old;
	pthread_attr_t attr;
	int err;

	err = pthread_attr_init(&attr);
	if (err)
		return reason_set(why, -err, "cannot start workers: %s", strerror(err));
	pthread_attr_setstacksize(&attr, WORKER_STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (team->nr = 0; team->nr < nr; team->nr++) {
		struct team_thread *thread = &team->threads[team->nr];

		err = pthread_create(&thread->thread, &attr, team_thread, thread);
		if (err)
			break;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (err)
		return reason_set(
			why, -err,
			"cannot start worker %u of %u: %s; lower -t, or raise ulimit -u "
			"or the pids limit of the cgroup",
			team->nr + 1, nr, strerror(err));
	return 0;
}

int team_start(struct team **out, unsigned nr, const struct topo *topo,
	       const struct placement *placements, int *bind_err, struct reason *why)
{
	struct team *team = aligned_alloc(CACHELINE_SIZE, sizeof(*team));
	int err = -ENOMEM;

	if (!team)
		return reason_set(why, err, "cannot start workers: out of memory");
	memset(team, 0, sizeof(*team));
	team->topo = topo;
	team->spin_limit = nr <= topo->nr_cpus ? SPIN_LIMIT : 0;
	team->threads = calloc(nr, sizeof(*team->threads));
	if (!team->threads) {
		reason_set(why, err, "cannot start workers: out of memory");
		goto fail;
	}
	for (unsigned i = 0; i < nr; i++)
		team->threads[i] = (struct team_thread){ .team = team,
							 .id = i,
							 .cpu = placements[i].cpu };
	err = start_threads(team, nr, why);
	if (err)
		goto fail;
	team_call(team, bind_worker, team, NULL);
	*bind_err = 0;
	for (unsigned i = 0; i < nr && !*bind_err; i++)
		*bind_err = team->threads[i].bind_err;
	*out = team;
	return 0;
fail:
	team_stop(team);
	return err;
}

void team_stop(struct team *team)
{
	begin_call(team, NULL, NULL);
	for (unsigned i = 0; i < team->nr; i++)
		pthread_join(team->threads[i].thread, NULL);
	free(team->threads);
	free(team);
}
