/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/team.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bits.h"
#include "base/clock.h"
#include "base/futex.h"
#include "bench/team_impl.h"

/* Enough for the timed loop and, under a sanitizer, for its frames. */
#define WORKER_STACK_BYTES (512 * 1024)
/* How often a worker that has a CPU of its own looks before it sleeps; about 100 us. */
#define SPIN_LIMIT 3000
/* The main thread looks at the stop flag, and for dead processes, this often. */
#define STOP_POLL_NS 100000000u

static int sleep_on(struct team *team, _Atomic uint32_t *word, uint32_t old,
		    uint64_t timeout_ns)
{
	if (team->processes)
		return futex_wait_shared(word, old, timeout_ns);
	return futex_wait(word, old, timeout_ns);
}

static void wake(struct team *team, _Atomic uint32_t *word, int nr)
{
	if (team->processes)
		futex_wake_shared(word, nr);
	else
		futex_wake(word, nr);
}

/* Until *@word is no longer @old. acquire: pairs with the release of whoever changed it. */
static void wait_for_change(struct team *team, _Atomic uint32_t *word, uint32_t old,
			    unsigned spin_limit)
{
	for (unsigned spins = 0; spins < spin_limit; spins++) {
		if (atomic_load_explicit(word, memory_order_acquire) != old)
			return;
		cpu_relax();
	}
	while (atomic_load_explicit(word, memory_order_acquire) == old)
		sleep_on(team, word, old, 0);
}

uint64_t team_barrier(struct team *team)
{
	uint32_t generation =
		atomic_load_explicit(&team->generation, memory_order_relaxed);
	uint64_t opened_ns;

	/* acq_rel: the last to arrive has seen what all others did before */
	if (atomic_fetch_add_explicit(&team->arrived, 1, memory_order_acq_rel) + 1 <
	    team->nr) {
		wait_for_change(team, &team->generation, generation, team->spin_limit);
		return team->opened_ns;
	}
	atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
	opened_ns = clock_now_ns();
	team->opened_ns = opened_ns;
	/* release: pairs with the acquire in wait_for_change() */
	atomic_fetch_add_explicit(&team->generation, 1, memory_order_release);
	wake(team, &team->generation, INT_MAX);
	return opened_ns;
}

void team_work(struct team_worker *worker)
{
	struct team *team = worker->team;
	uint32_t call = 0;

	for (;;) {
		wait_for_change(team, &team->call, call, 0);
		call++;
		if (!team->fn)
			return;
		team->fn(team->arg, worker->id);
		/* release: pairs with the acquire in team_wait() */
		if (atomic_fetch_add_explicit(&team->done, 1, memory_order_release) + 1 ==
		    team->nr)
			wake(team, &team->done, 1);
	}
}

static void begin_call(struct team *team, team_fn *fn, void *arg)
{
	team->fn = fn;
	team->arg = arg;
	atomic_store_explicit(&team->done, 0, memory_order_relaxed);
	/* release: pairs with the acquire in wait_for_change() */
	atomic_fetch_add_explicit(&team->call, 1, memory_order_release);
	wake(team, &team->call, INT_MAX);
}

/* The main thread's wait for the end of a call, whoever the workers are. */
static int wait_for_done(struct team *team, const volatile sig_atomic_t *stop)
{
	uint32_t done;

	while ((done = atomic_load_explicit(&team->done, memory_order_acquire)) <
	       team->nr) {
		if (stop && *stop)
			return -EINTR;
		if (sleep_on(team, &team->done, done, STOP_POLL_NS) != -EAGAIN &&
		    team->processes && team_find_death(team))
			break;
	}
	if (stop && *stop)
		return -EINTR;
	return team->ended ? -ECHILD : 0;
}

int team_wait(struct team *team, const volatile sig_atomic_t *stop)
{
	int err;

	if (team->ended)
		return stop && *stop ? -EINTR : -ECHILD;
	err = wait_for_done(team, stop);
	if (err == -EINTR && team->processes)
		team_kill(team);
	return err;
}

int team_call(struct team *team, team_fn *fn, void *arg,
	      const volatile sig_atomic_t *stop)
{
	if (!team->ended)
		begin_call(team, fn, arg);
	return team_wait(team, stop);
}

const char *team_death(const struct team *team)
{
	return team->death.text[0] ? team->death.text : NULL;
}

void *team_shared_alloc(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void team_shared_free(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, bytes);
}

static void bind_worker(void *arg, unsigned id)
{
	struct team *team = arg;
	struct team_worker *worker = &team->workers[id];

	if (worker->cpu >= 0)
		worker->bind_err = topo_bind_thread(team->topo, (unsigned)worker->cpu);
}

/*
 * All but those that an instruction of the worker raises: blocked, they would kill the process
 * in spite of a handler.
 */
static void block_signals(sigset_t *old)
{
	static const int raised[] = { SIGBUS,  SIGSEGV, SIGFPE, SIGILL,
				      SIGABRT, SIGTRAP, SIGSYS };
	sigset_t set;

	sigfillset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(raised); i++)
		sigdelset(&set, raised[i]);
	pthread_sigmask(SIG_SETMASK, &set, old);
}

static void *run_thread(void *worker)
{
	team_work(worker);
	return NULL;
}

static int create_threads(struct team *team, unsigned nr)
{
	pthread_attr_t attr;
	int err;

	err = pthread_attr_init(&attr);
	if (err)
		return -err;
	pthread_attr_setstacksize(&attr, WORKER_STACK_BYTES);
	for (team->nr = 0; team->nr < nr; team->nr++) {
		struct team_worker *worker = &team->workers[team->nr];

		err = pthread_create(&worker->thread, &attr, run_thread, worker);
		if (err)
			break;
	}
	pthread_attr_destroy(&attr);
	return -err;
}

static int start_workers(struct team *team, unsigned nr, struct reason *why)
{
	sigset_t old;
	int err;

	block_signals(&old);
	err = team->processes ? team_fork(team, nr) : create_threads(team, nr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		return reason_set(
			why, err,
			"cannot start worker %u of %u: %s; lower -t, or raise ulimit -u "
			"or the pids limit of the cgroup",
			team->nr + 1, nr, strerror(-err));
	err = team_call(team, bind_worker, team, NULL);
	if (err)
		return reason_set(why, err, "%s", team->death.text);
	for (unsigned i = 0; i < nr; i++) {
		err = team->workers[i].start_err;
		if (err)
			return reason_set(why, err,
					  "worker %u would outlive this process, which "
					  "prctl(PR_SET_PDEATHSIG) is to prevent: %s",
					  i, strerror(-err));
	}
	return 0;
}

static size_t team_bytes(unsigned nr)
{
	return sizeof(struct team) + nr * sizeof(struct team_worker);
}

int team_start(struct team **out, unsigned nr, bool processes, const struct topo *topo,
	       const struct placement *placements, int *bind_err, struct reason *why)
{
	struct team *team = team_shared_alloc(team_bytes(nr));
	int err;

	if (!team)
		return reason_set(why, -ENOMEM, "cannot start workers: out of memory");
	team->nr_allocated = nr;
	team->processes = processes;
	team->topo = topo;
	team->spin_limit = topo_cpus_in_use(topo, placements, nr) == nr ? SPIN_LIMIT : 0;
	for (unsigned i = 0; i < nr; i++)
		team->workers[i] = (struct team_worker){ .team = team,
							 .id = i,
							 .cpu = placements[i].cpu };
	err = start_workers(team, nr, why);
	if (err) {
		team_stop(team);
		return err;
	}
	*bind_err = 0;
	for (unsigned i = 0; i < nr && !*bind_err; i++)
		*bind_err = team->workers[i].bind_err;
	*out = team;
	return 0;
}

void team_stop(struct team *team)
{
	if (!team->ended)
		begin_call(team, NULL, NULL);
	if (team->processes)
		team_reap(team);
	else
		for (unsigned i = 0; i < team->nr; i++)
			pthread_join(team->workers[i].thread, NULL);
	team_shared_free(team, team_bytes(team->nr_allocated));
}
