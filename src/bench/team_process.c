/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workers as processes: how they begin, how they end, and how it is noticed that one died. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/team_impl.h"

/*
 * Ctrl-Z stops all processes in the foreground, as it stops all threads. A handler would be the
 * main process's; whoever ignores the signal goes on doing so.
 */
static void let_job_control_stop(void)
{
	struct sigaction action;
	sigset_t set;

	if (!sigaction(SIGTSTP, NULL, &action) && action.sa_handler != SIG_IGN)
		signal(SIGTSTP, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static _Noreturn void run_process(struct team_worker *worker, pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		worker->start_err = -errno;
	/* The parent may have died before that. */
	if (getppid() != parent)
		_exit(1);
	let_job_control_stop();
	team_work(worker);
	_exit(0); /* what exit() would flush and undo is the parent's */
}

int team_fork(struct team *team, unsigned nr)
{
	pid_t parent = getpid();

	for (team->nr = 0; team->nr < nr; team->nr++) {
		struct team_worker *worker = &team->workers[team->nr];
		pid_t pid = fork();

		if (pid < 0)
			return -errno;
		if (pid == 0)
			run_process(worker, parent);
		worker->pid = pid;
	}
	return 0;
}

void team_reap(struct team *team)
{
	for (unsigned i = 0; i < team->nr; i++) {
		pid_t pid = team->workers[i].pid;

		while (pid && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		team->workers[i].pid = 0;
	}
	team->ended = true;
}

void team_kill(struct team *team)
{
	for (unsigned i = 0; i < team->nr; i++)
		if (team->workers[i].pid)
			kill(team->workers[i].pid, SIGKILL);
	team_reap(team);
}

static void describe_death(struct team *team, unsigned id, pid_t pid, int status)
{
	int sig = WTERMSIG(status);

	if (WIFEXITED(status))
		reason_set(&team->death, 0, "worker %u (process %d) ended with status %d",
			   id, (int)pid, WEXITSTATUS(status));
	else
		reason_set(&team->death, 0,
			   "worker %u (process %d) was killed by signal %d (%s)%s", id,
			   (int)pid, sig, strsignal(sig),
			   sig == SIGKILL ? "; the kernel's out-of-memory killer may "
					    "have done it" :
					    "");
}

bool team_find_death(struct team *team)
{
	for (unsigned i = 0; i < team->nr; i++) {
		struct team_worker *worker = &team->workers[i];
		pid_t pid = worker->pid, got;
		int status;

		got = waitpid(pid, &status, WNOHANG);
		if (got == 0 || (got < 0 && errno == EINTR))
			continue;
		worker->pid = 0;
		if (got == pid)
			describe_death(team, i, pid, status);
		else /* the program ignores SIGCHLD, and the kernel keeps no status */
			reason_set(&team->death, 0,
				   "worker %u (process %d) ended for an unknown reason",
				   i, (int)pid);
		team_kill(team);
		return true;
	}
	return false;
}
