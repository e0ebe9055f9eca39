/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A team runs each call in every worker, its barrier lets nobody through early, a stop is heeded. */
#include "bench/team.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tap.h"

#define NR_BARRIERS 50

static struct topo *topo;

struct race {
	struct team *team;
	unsigned nr;
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
	for (unsigned i = 1; i <= NR_BARRIERS; i++) {
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

static struct team *start(unsigned nr, int *bind_err)
{
	struct placement *placements = calloc(nr, sizeof(*placements));
	struct reason why;
	struct team *team = NULL;

	if (!placements || topo_plan(topo, PIN_SPREAD, nr, placements))
		bail("no plan");
	if (team_start(&team, nr, topo, placements, bind_err, &why))
		bail("no team: %s", why.text);
	free(placements);
	return team;
}

static void check_team(unsigned nr)
{
	struct race *race = calloc(1, sizeof(*race));
	bool once = true, same = true;
	int bind_err;

	race->nr = nr;
	race->team = start(nr, &bind_err);
	ok(!team_call(race->team, cross_barriers, race, NULL), "%u workers: a call ends",
	   nr);
	for (unsigned i = 0; i < nr; i++) {
		once &= race->calls[i] == 1;
		same &= race->opened_ns[i] == race->opened_ns[0];
	}
	ok(once, "every worker ran it once");
	ok(!race->early, "nobody was let through early (%u)", race->early);
	ok(same && !race->late, "one opening time for all, before anybody went on");
	atomic_store(&race->arrived, 0);
	ok(!team_call(race->team, cross_barriers, race, NULL) && race->calls[nr - 1] == 2,
	   "the next call too");
	team_stop(race->team);
	free(race);
}

static _Atomic int release;

static void wait_for_release(void *arg, unsigned id)
{
	(void)arg, (void)id;
	while (!atomic_load(&release))
		usleep(1000);
}

static void check_stop(void)
{
	volatile sig_atomic_t stop = SIGINT;
	int bind_err;
	struct team *team = start(4, &bind_err);

	ok(team_call(team, wait_for_release, NULL, &stop) == -EINTR,
	   "a stop ends the wait while workers still run");
	atomic_store(&release, 1);
	ok(!team_wait(team, NULL), "the call can still be waited for");
	team_stop(team);
}

static void report_cpu(void *arg, unsigned id)
{
	((int *)arg)[id] = topo_current_cpu();
}

static void check_binding(void)
{
	struct placement placements[4];
	int cpus[4], bind_err;
	struct team *team = start(4, &bind_err);

	if (bind_err) {
		skip(strerror(-bind_err), 4);
	} else {
		topo_plan(topo, PIN_SPREAD, 4, placements);
		team_call(team, report_cpu, cpus, NULL);
		for (unsigned i = 0; i < 4; i++)
			ok(cpus[i] == placements[i].cpu, "worker %u runs on CPU %d (%d)",
			   i, placements[i].cpu, cpus[i]);
	}
	team_stop(team);
}

int main(void)
{
	struct reason why;

	if (topo_load(&topo, NULL, &why))
		bail("%s", why.text);
	check_team(1);
	check_team(2);
	check_team(7);
	check_team(256);
	check_stop();
	check_binding();
	topo_free(topo);
	return done();
}
