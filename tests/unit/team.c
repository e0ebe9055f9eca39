/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A team runs each call in every worker, its barrier lets nobody through early, a stop is heeded;
 * worker processes that die are noticed, and none is left.
 */
#include "bench/team.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tap.h"

/* A test that hangs ends after so many seconds, as failed. */
#define HANG_SECONDS 300

static struct topo *topo;

struct race {
	struct team *team;
	unsigned nr, nr_barriers;
	_Atomic unsigned calls[256];
	_Atomic unsigned arrived;
	_Atomic unsigned early; /* workers that a barrier let through too soon */
	uint64_t opened_ns[256];
	_Atomic int late; /* windows that opened after a worker began */
};

static void cross_barriers(void *arg, unsigned id)
{
	struct race *race = arg;

	atomic_fetch_add(&race->calls[id], 1);
	for (unsigned i = 1; i <= race->nr_barriers; i++) {
		uint64_t opened_ns;

		atomic_fetch_add(&race->arrived, 1);
		opened_ns = team_barrier(race->team);
		if (atomic_load(&race->arrived) < i * race->nr)
			atomic_fetch_add(&race->early, 1);
		if (opened_ns > clock_now_ns())
			atomic_fetch_add(&race->late, 1);
		race->opened_ns[id] = opened_ns;
		team_barrier(race->team);
	}
}

static int try_start(struct team **team, unsigned nr, bool processes, int *bind_err,
		     struct reason *why)
{
	struct placement *placements = calloc(nr, sizeof(*placements));
	int err;

	if (!placements || topo_plan(topo, &(struct pin){ 0 }, nr, placements))
		bail("no plan");
	err = team_start(team, nr, processes, topo, placements, bind_err, why);
	free(placements);
	return err;
}

static struct team *start(unsigned nr, bool processes, int *bind_err)
{
	struct reason why;
	struct team *team = NULL;

	if (try_start(&team, nr, processes, bind_err, &why))
		bail("no team: %s", why.text);
	return team;
}

static void *shared(size_t bytes)
{
	void *memory = team_shared_alloc(bytes);

	if (!memory)
		bail("no shared memory");
	return memory;
}

static const char *kind(bool processes)
{
	return processes ? "processes" : "threads";
}

static bool no_child(void)
{
	return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

static void check_team(unsigned nr, bool processes)
{
	struct race *race = shared(sizeof(*race));
	bool once = true, same = true;
	int bind_err;

	race->nr = nr;
	race->nr_barriers = nr <= 64 ? 200 : 50;
	race->team = start(nr, processes, &bind_err);
	ok(!team_call(race->team, cross_barriers, race, NULL), "%u %s: a call ends", nr,
	   kind(processes));
	for (unsigned i = 0; i < nr; i++) {
		once &= race->calls[i] == 1;
		same &= race->opened_ns[i] == race->opened_ns[0];
	}
	ok(once, "every worker ran it once");
	ok(!race->early, "nobody was let through early (%u)", race->early);
	ok(same && race->opened_ns[0] && !race->late,
	   "one opening time for all, before anybody went on");
	atomic_store(&race->arrived, 0);
	ok(!team_call(race->team, cross_barriers, race, NULL) && race->calls[nr - 1] == 2,
	   "the next call too");
	ok(!team_death(race->team), "nobody died");
	team_stop(race->team);
	ok(no_child(), "nobody is left");
	team_shared_free(race, sizeof(*race));
}

static void wait_for_release(void *arg, unsigned id)
{
	_Atomic int *release = arg;

	(void)id;
	while (!atomic_load(release))
		usleep(1000);
}

static void check_stop_of_threads(void)
{
	volatile sig_atomic_t stop = SIGINT;
	_Atomic int release = 0;
	int bind_err;
	struct team *team = start(4, false, &bind_err);

	ok(team_call(team, wait_for_release, &release, &stop) == -EINTR,
	   "a stop ends the wait while threads still run");
	atomic_store(&release, 1);
	ok(!team_wait(team, NULL), "the call can still be waited for");
	team_stop(team);
}

static void check_stop_of_processes(void)
{
	volatile sig_atomic_t stop = SIGINT;
	_Atomic int *release = shared(sizeof(*release));
	int bind_err;
	struct team *team = start(4, true, &bind_err);

	ok(team_call(team, wait_for_release, release, &stop) == -EINTR,
	   "a stop ends the wait while processes still run");
	ok(no_child(), "and ends the processes");
	ok(team_call(team, wait_for_release, release, &stop) == -EINTR,
	   "it is still a stop in the next call");
	ok(team_call(team, wait_for_release, release, NULL) == -ECHILD &&
		   !team_death(team),
	   "nobody runs another call, and nobody is said to have died");
	team_stop(team);
	team_shared_free(release, sizeof(*release));
}

struct masks {
	_Atomic int wrong; /* workers whose mask is not as it should be */
};

static void look_at_mask(void *arg, unsigned id)
{
	static const int raised[] = { SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGABRT, SIGTRAP };
	struct masks *masks = arg;
	sigset_t set;
	bool right;

	(void)id;
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	right = sigismember(&set, SIGINT) && sigismember(&set, SIGTERM) &&
		sigismember(&set, SIGHUP) && sigismember(&set, SIGALRM);
	for (size_t i = 0; i < sizeof(raised) / sizeof(raised[0]); i++)
		right &= !sigismember(&set, raised[i]);
	if (!right)
		atomic_fetch_add(&masks->wrong, 1);
}

static void check_masks(bool processes)
{
	struct masks *masks = shared(sizeof(*masks));
	int bind_err;
	struct team *team = start(3, processes, &bind_err);
	sigset_t set;

	ok(!team_call(team, look_at_mask, masks, NULL) && !masks->wrong,
	   "%s block signals from outside, not those that they raise", kind(processes));
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	ok(!sigismember(&set, SIGINT), "the main thread blocks none");
	team_stop(team);
	team_shared_free(masks, sizeof(*masks));
}

/* ---- worker processes that die ---- */

struct fate {
	struct team *team;
	unsigned victim; /* no worker: nobody dies */
	int sig;	 /* 0: ends with status 7 */
	pid_t pids[64];
	_Atomic unsigned calls;
};

static void die_at_barrier(void *arg, unsigned id)
{
	struct fate *fate = arg;

	fate->pids[id] = getpid();
	atomic_fetch_add(&fate->calls, 1);
	team_barrier(fate->team);
	if (id == fate->victim && fate->sig)
		kill(getpid(), fate->sig);
	if (id == fate->victim)
		_exit(7);
	team_barrier(fate->team);
}

static void check_dead_team(struct fate *fate, const char *how)
{
	char text[256];
	unsigned calls = fate->calls;

	snprintf(text, sizeof(text), "worker %u (process %d) %s", fate->victim,
		 (int)fate->pids[fate->victim], how);
	if (!ok(team_death(fate->team) && !strcmp(team_death(fate->team), text),
		"it says: %s", text))
		printf("# but: %s\n", team_death(fate->team));
	ok(no_child(), "the others have been ended and reaped");
	ok(team_call(fate->team, die_at_barrier, fate, NULL) == -ECHILD &&
		   fate->calls == calls,
	   "the next call fails and runs nowhere");
	team_stop(fate->team);
}

static void check_death(unsigned nr, unsigned victim, int sig, const char *how)
{
	struct fate *fate = shared(sizeof(*fate));
	int bind_err;

	fate->victim = victim;
	fate->sig = sig;
	fate->team = start(nr, true, &bind_err);
	ok(team_call(fate->team, die_at_barrier, fate, NULL) == -ECHILD,
	   "%u processes, one dies while the others are in the barrier", nr);
	check_dead_team(fate, how);
	team_shared_free(fate, sizeof(*fate));
}

static void check_death_between_calls(void)
{
	struct fate *fate = shared(sizeof(*fate));
	int bind_err;

	fate->victim = 64;
	fate->team = start(4, true, &bind_err);
	ok(!team_call(fate->team, die_at_barrier, fate, NULL),
	   "a call in which nobody dies");
	fate->victim = 1;
	kill(fate->pids[1], SIGKILL);
	ok(team_call(fate->team, die_at_barrier, fate, NULL) == -ECHILD,
	   "a worker that died after it is noticed in the next");
	ok(team_death(fate->team) && strstr(team_death(fate->team), "worker 1 ("),
	   "it is the right one");
	ok(no_child(), "the others have been ended and reaped");
	team_stop(fate->team);
	team_shared_free(fate, sizeof(*fate));
}

static void check_ignored_sigchld(void)
{
	struct fate *fate = shared(sizeof(*fate));
	int bind_err;

	signal(SIGCHLD, SIG_IGN);
	fate->victim = 64;
	fate->team = start(4, true, &bind_err);
	ok(!team_call(fate->team, die_at_barrier, fate, NULL),
	   "SIGCHLD ignored: a call ends");
	team_stop(fate->team);
	ok(no_child(), "so do the workers");
	fate->victim = 3;
	fate->team = start(4, true, &bind_err);
	ok(team_call(fate->team, die_at_barrier, fate, NULL) == -ECHILD,
	   "a death is noticed");
	check_dead_team(fate, "ended for an unknown reason");
	signal(SIGCHLD, SIG_DFL);
	team_shared_free(fate, sizeof(*fate));
}

/* ---- the main process dies ---- */

static void tell_and_wait(void *arg, unsigned id)
{
	int *fd = arg;

	(void)id;
	if (write(*fd, "x", 1) == 1)
		for (;;)
			pause();
}

static void check_killed_parent(void)
{
	int fds[2], bind_err, ready = 0;
	struct pollfd poll_fd;
	pid_t pid;
	char byte;

	if (pipe(fds) || (pid = fork()) < 0)
		bail("no pipe, no process");
	if (pid == 0) {
		close(fds[0]);
		team_call(start(4, true, &bind_err), tell_and_wait, &fds[1], NULL);
		_exit(1);
	}
	close(fds[1]);
	while (ready < 4 && read(fds[0], &byte, 1) == 1)
		ready++;
	ok(ready == 4, "a parent with 4 processes that run");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* The end of file: nobody has the other end any more. */
	poll_fd = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	ok(poll(&poll_fd, 1, HANG_SECONDS * 1000 / 2) == 1 && read(fds[0], &byte, 1) == 0,
	   "none of them outlives it when it is killed");
	close(fds[0]);
}

/* ---- processes that cannot be started ---- */

struct refusal {
	bool skipped;
	int err;
	bool no_child;
	struct reason why;
};

/* In a process of its own: neither limit nor user can be taken back. */
static _Noreturn void start_too_many(struct refusal *refusal)
{
	struct rlimit limit = { 1, 1 };
	struct team *team;
	int bind_err;

	if (!geteuid()) {
		/*
		 * A user without any other process, also when this test runs twice at the same
		 * time: two workers are let through.
		 */
		uid_t user = 20000 + (uid_t)getpid() % 40000;

		limit.rlim_cur = limit.rlim_max = 3;
		refusal->skipped = setresuid(user, user, user);
	}
	if (setrlimit(RLIMIT_NPROC, &limit))
		refusal->skipped = true;
	if (!refusal->skipped) {
		refusal->err = try_start(&team, 5, true, &bind_err, &refusal->why);
		refusal->no_child = no_child();
	}
	_exit(0);
}

static void check_refusal(void)
{
	unsigned first = geteuid() ? 1 : 2; /* a sanitizer's own thread counts, too */
	unsigned worker = 0, nr = 0;
	struct refusal *refusal = shared(sizeof(*refusal));
	pid_t pid = fork();

	if (pid < 0)
		bail("no process");
	if (pid == 0)
		start_too_many(refusal);
	waitpid(pid, NULL, 0);
	if (refusal->skipped) {
		skip("the number of processes cannot be limited", 3);
	} else {
		ok(refusal->err == -EAGAIN, "a limit of processes is an error (%d)",
		   refusal->err);
		sscanf(refusal->why.text, "cannot start worker %u of %u: ", &worker, &nr);
		ok(worker >= first && worker <= 3 && nr == 5 &&
			   strstr(refusal->why.text, "ulimit -u"),
		   "it says: %s", refusal->why.text);
		ok(refusal->no_child, "those that had been started are gone");
	}
	team_shared_free(refusal, sizeof(*refusal));
}

static void report_cpu(void *arg, unsigned id)
{
	((int *)arg)[id] = sched_getcpu();
}

static void check_binding(bool processes)
{
	struct placement placements[4];
	int *cpus = shared(4 * sizeof(*cpus)), bind_err;
	struct team *team = start(4, processes, &bind_err);

	if (bind_err) {
		skip(strerror(-bind_err), 4);
	} else {
		topo_plan(topo, &(struct pin){ 0 }, 4, placements);
		team_call(team, report_cpu, cpus, NULL);
		for (unsigned i = 0; i < 4; i++)
			ok(cpus[i] == placements[i].cpu,
			   "%s: worker %u runs on CPU %d (%d)", kind(processes), i,
			   placements[i].cpu, cpus[i]);
	}
	team_stop(team);
	team_shared_free(cpus, 4 * sizeof(*cpus));
}

int main(void)
{
	struct reason why;

	alarm(HANG_SECONDS);
	if (topo_load(&topo, NULL, &why))
		bail("%s", why.text);
	for (int processes = 0; processes < 2; processes++) {
		check_team(1, processes);
		check_team(2, processes);
		check_team(7, processes);
		check_team(64, processes);
		check_team(256, processes);
		check_masks(processes);
		check_binding(processes);
	}
	check_stop_of_threads();
	check_stop_of_processes();
	check_death(4, 3, 0, "ended with status 7");
	check_death(64, 0, SIGKILL,
		    "was killed by signal 9 (Killed); the kernel's "
		    "out-of-memory killer may have done it");
	check_death_between_calls();
	check_ignored_sigchld();
	check_killed_parent();
	check_refusal();
	topo_free(topo);
	return done();
}
