/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A worker fills its share of a file, every page of it, and then has it truncated between
 * two reads of the clock; that again and again.
 *
 * Sides are interleaved: all of them are there at once, each with threads and frames of
 * its own, and they take turns of TURN truncations, in an order that flips each turn, and
 * from run to run (AB BA AB…). So whatever drifts – the clock of the CPU, other load –
 * meets them alike. Threads of the sides that wait sleep. A turn begins with a barrier,
 * and with one truncation that is not timed: the caches are the other side's then.
 */
#include "bench/truncate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/clock.h"
#include "bench/advice.h"
#include "bench/budget.h"
#include "bench/cell.h"
#include "bench/record.h"
#include "sys/arena.h"
#include "sys/clock.h"
#include "sys/sigbus.h"

#define TURN 100
/* A median of fewer clock steps says little; it is still a figure. */
#define FEW_CLOCK_STEPS 20

const struct phase phase_truncate = { .name = "truncate" };

struct truncate_worker {
	uint64_t *ns; /* [count] */
	uint64_t nr, sum_ns;
	struct result_counters counters;
	bool mapped;
	bool looked; /* where its pages are */
} __attribute__((aligned(2 * CACHELINE_SIZE)));

/* One side at one thread count of one run. On the heap: after -EINTR its workers still use it. */
struct truncate_side {
	const struct bench_conf *conf;
	struct engine *engine;
	struct crew *crew;
	struct truncate_worker *workers; /* [crew->nr] */
	struct arena *arena;
	uint64_t turn; /* truncations of the call that is under way */
	bool engine_started, crew_started, workers_started;
	bool is_void; /* @why */
	struct reason why;
};

struct truncate {
	const struct bench_conf *conf;
	struct record record;
	struct arena arenas[BENCH_MAX_SIDES];
	struct truncate_side sides[BENCH_MAX_SIDES];
	struct placement placements[BENCH_MAX_THREADS];
	double total, done; /* truncations of the whole run; those behind us */
	bool warned_few_steps[BENCH_MAX_SIDES];
};

/* ---- in the workers ---- */

/* What a worker's pages are touched with. */
struct touch {
	struct engine_worker *worker;
	bool write;
};

/* A word of each page. */
static int touch_pages(void *arg)
{
	const struct touch *touch = arg;
	struct engine_worker *worker = touch->worker;
	const struct share *share = worker->share;
	struct extent run = { .start = 0 };

	for (uint64_t at = share->start; at < share->end; at += PAGE_SIZE) {
		volatile uint64_t *word;

		if (at < run.start || at >= run.end) {
			int err = worker->engine->ops->fault(worker, at, touch->write,
							     &run);

			if (err)
				return err;
		}
		word = (volatile uint64_t *)(run.base + (at - run.start));
		if (touch->write)
			*word = at;
		else
			(void)*word;
	}
	return 0;
}

/* The same where the CPU itself may fault. */
static int touch_share(struct bench_worker *worker, bool write)
{
	struct engine_worker *ew = &worker->engine;
	const struct engine_ops *ops = ew->engine->ops;
	struct touch touch = { .worker = ew, .write = write };
	struct sigbus_guard guard = { .resolve = ops->resolve, .arg = ew };
	int err;

	if (ew->engine->flags & ENGINE_REAL_FAULTS)
		err = sigbus_run(&guard, touch_pages, &touch);
	else
		err = touch_pages(&touch);
	if (err && ops->explain)
		ops->explain(ew, err, &guard, &worker->why);
	return err;
}

static void unmap_share(struct bench_worker *worker, struct truncate_worker *tw)
{
	if (tw->mapped && worker->engine.engine->ops->unmap)
		worker->engine.engine->ops->unmap(&worker->engine);
	tw->mapped = false;
}

/* All pages of the share are resident, dirty or not, and mapped or not, as asked for. */
static int fill_share(const struct truncate_side *side, struct bench_worker *worker,
		      struct truncate_worker *tw)
{
	const struct bench_truncation *truncation = side->conf->truncation;
	const struct engine_ops *ops = side->engine->ops;
	bool fills = side->engine->flags & ENGINE_FILLS;
	int err = 0;

	if (fills)
		err = ops->fill(&worker->engine, worker_repeat_record, worker,
				&worker->why);
	else if (ops->empty && engine_share_is_file(&worker->engine))
		err = ops->empty(&worker->engine,
				 &worker->why); /* it has its size again */
	if (err || (fills && !truncation->mapped))
		return err;
	if (!tw->mapped) {
		tw->mapped = true;
		err = ops->map ? ops->map(&worker->engine, &worker->why) : 0;
	}
	if (!err)
		err = touch_share(worker, truncation->dirty && !fills);
	if (!err && !truncation->mapped)
		unmap_share(worker, tw);
	return err;
}

/* Where the pages of the share are, which are mapped for that if they are not. Untimed. */
static int look_at_pages(const struct truncate_side *side, struct bench_worker *worker,
			 struct truncate_worker *tw)
{
	const struct engine_ops *ops = side->engine->ops;
	int err = 0;

	tw->looked = true;
	if (!tw->mapped) {
		tw->mapped = true;
		err = ops->map ? ops->map(&worker->engine, &worker->why) : 0;
		if (!err)
			err = touch_share(worker, false);
	}
	if (!err)
		where_look(&worker->where, &worker->engine);
	if (!err && !side->conf->truncation->mapped)
		unmap_share(worker, tw);
	return err;
}

static int truncate_share(const struct truncate_side *side, struct bench_worker *worker,
			  struct truncate_worker *tw, bool timed)
{
	const struct engine_ops *ops = side->engine->ops;
	struct engine_counters counters;
	uint64_t start_ns, end_ns;
	int err;

	if (ops->reset_counters)
		ops->reset_counters(&worker->engine);
	start_ns = clock_now_ns();
	err = ops->truncate(&worker->engine, &worker->why);
	end_ns = clock_now_ns();
	if (err || !timed)
		return err;
	tw->ns[tw->nr++] = end_ns - start_ns;
	tw->sum_ns += end_ns - start_ns;
	if (ops->counters) {
		ops->counters(&worker->engine, &counters);
		cell_add_counters(&tw->counters, &counters);
	}
	return 0;
}

static void turn_worker(void *arg, unsigned id)
{
	struct truncate_side *side = arg;
	struct bench_worker *worker = &side->crew->workers[id];
	struct truncate_worker *tw = &side->workers[id];
	int err = 0;

	if (!tw->looked)
		where_start(&worker->where);
	team_barrier(side->crew->team);
	for (uint64_t i = 0; i <= side->turn && !err; i++) {
		err = fill_share(side, worker, tw);
		if (!err && !tw->looked)
			err = look_at_pages(side, worker, tw);
		if (!err)
			err = truncate_share(side, worker, tw, i > 0);
	}
	where_end(&worker->where);
	if (err)
		cell_fail_worker(worker, err);
}

static void unmap_worker(void *arg, unsigned id)
{
	struct truncate_side *side = arg;

	unmap_share(&side->crew->workers[id], &side->workers[id]);
}

/* ---- a side comes and goes ---- */

static void void_side(struct truncate_side *side, int err)
{
	side->is_void = true;
	if (!side->why.text[0])
		reason_set(&side->why, err, "%s", strerror(-err));
}

static void free_workers(struct truncate_side *side)
{
	for (unsigned i = 0; side->workers && i < side->crew->nr; i++)
		free(side->workers[i].ns);
	free(side->workers);
	side->workers = NULL;
}

static int alloc_workers(struct truncate_side *side)
{
	size_t bytes = side->crew->nr * sizeof(*side->workers);

	side->workers = aligned_alloc(_Alignof(struct truncate_worker), bytes);
	if (!side->workers)
		return -ENOMEM;
	memset(side->workers, 0, bytes);
	for (unsigned i = 0; i < side->crew->nr; i++) {
		side->workers[i].ns = calloc(side->conf->truncation->count,
					     sizeof(*side->workers[i].ns));
		if (!side->workers[i].ns)
			return -ENOMEM;
	}
	return 0;
}

static int fit_arena(struct truncate *t, struct truncate_side *side, struct reason *why)
{
	struct bench_conf one = *t->conf;
	struct arena_plan plan = { 0 };
	int err;

	one.sides = &t->conf->sides[side - t->sides];
	one.nr_sides = 1;
	err = arena_plan_add(&plan, &one, &side->crew->setup);
	side->arena->shared = bench_wants_shared_arena(t->conf);
	side->arena->policy = &t->conf->mem;
	if (err)
		reason_set(why, err, "out of memory");
	else
		err = arena_resize(side->arena, plan.nids, plan.bytes, plan.nr, why);
	arena_plan_destroy(&plan);
	side->crew->setup.arena = side->arena;
	side->crew->setup.untimed_faults = true;
	return err;
}

/* Memory. 0 or -errno: the end of the run. */
static int alloc_side(struct truncate *t, unsigned number, unsigned nr_threads,
		      struct reason *why)
{
	struct truncate_side *side = &t->sides[number];
	int err;

	*side = (struct truncate_side){ .conf = t->conf,
					.engine = &t->conf->sides[number].engine,
					.arena = &t->arenas[number] };
	err = crew_alloc(&side->crew, t->conf, nr_threads, t->placements);
	if (!err)
		err = alloc_workers(side);
	if (err)
		return reason_set(why, err, "out of memory");
	return fit_arena(t, side, why);
}

/* Engine and workers. 0, also when that voids the side; -EINTR. */
static int start_side(struct truncate *t, struct truncate_side *side)
{
	int bind_err = 0, err;

	err = crew_start(side->crew, t->placements, &bind_err, &side->why);
	side->crew_started = !err;
	if (!err) {
		record_binding(&t->record, bind_err);
		err = side->engine->ops->start(side->engine, &side->crew->setup,
					       &side->why);
		side->engine_started = !err;
	}
	if (!err) {
		err = cell_side_start(side->crew, side->engine, &side->why);
		side->workers_started = err != -EINTR;
		if (side->workers_started)
			where_warn_unplaced(&t->record, side->crew,
					    (unsigned)(side - t->sides));
	}
	if (err && err != -EINTR) {
		void_side(side, err);
		err = 0;
	}
	return err;
}

/* All that start_side() and alloc_side() did. 0; -EINTR. */
static int stop_side(struct truncate_side *side)
{
	int err = 0;

	if (side->workers_started)
		err = crew_call(side->crew, unmap_worker, side, NULL);
	if (side->workers_started && err != -EINTR)
		err = cell_side_stop(side->crew, side->engine);
	if (err == -EINTR)
		return err;
	if (side->engine_started)
		side->engine->ops->stop(side->engine);
	if (side->crew_started)
		crew_stop(side->crew);
	if (side->crew) {
		free_workers(side);
		crew_free(side->crew);
	}
	return 0;
}

/* ---- one thread count of one run ---- */

static void report_progress(struct truncate *t, unsigned side, unsigned threads,
			    unsigned round)
{
	const struct bench_conf *conf = t->conf;
	struct bench_progress progress = {
		.side = conf->sides[side].name,
		.phase = phase_truncate.name,
		.threads = threads,
		.round = round,
		.rounds = conf->open_ended ? 0 : conf->rounds,
		.fraction = t->total > 0 ? t->done / t->total : 0,
	};

	if (conf->progress)
		conf->progress(conf->arg, &progress);
}

/* 0, also when that voids the side; -EINTR. */
static int take_turn(struct truncate *t, unsigned number, uint64_t turn, unsigned round)
{
	struct truncate_side *side = &t->sides[number];
	int err = 0;

	report_progress(t, number, side->crew->nr, round);
	t->done += (double)(turn * side->crew->nr);
	if (side->is_void)
		return 0;
	side->turn = turn;
	err = crew_call(side->crew, turn_worker, side, &side->why);
	if (err == -EINTR)
		return err;
	if (!err)
		err = cell_first_failure(side->crew, &side->why);
	if (err)
		void_side(side, err);
	return 0;
}

static int take_turns(struct truncate *t, unsigned round)
{
	uint64_t count = t->conf->truncation->count, turn;
	unsigned nr = t->conf->nr_sides;
	bool flip = round % 2;
	int err = 0;

	for (uint64_t done = 0; done < count && !err; done += turn, flip = !flip) {
		turn = min_u64(TURN, count - done);
		for (unsigned i = 0; i < nr && !err; i++)
			err = take_turn(t, flip ? nr - 1 - i : i, turn, round);
	}
	return err;
}

/* ---- from workers to samples ---- */

/* All times, worker by worker. 0 or -ENOMEM. */
static int collect_times(struct result_sample *sample, const struct truncate_side *side)
{
	uint64_t *ns, nr = 0;

	for (unsigned i = 0; i < side->crew->nr; i++)
		nr += side->workers[i].nr;
	ns = calloc(nr, sizeof(*ns));
	if (!ns)
		return -ENOMEM;
	nr = 0;
	for (unsigned i = 0; i < side->crew->nr; i++) {
		const struct truncate_worker *tw = &side->workers[i];

		memcpy(&ns[nr], tw->ns, tw->nr * sizeof(*ns));
		nr += tw->nr;
	}
	return result_times_set(&sample->times, ns, nr);
}

static void add_lock(struct result_lock *sum, const struct result_lock *lock)
{
	sum->acquisitions += lock->acquisitions;
	sum->contended += lock->contended;
	sum->wait_ns += lock->wait_ns;
}

static void fill_sample(struct result_sample *sample, const struct truncate_side *side)
{
	struct result_counters *sum = &sample->counters;

	for (unsigned i = 0; i < side->crew->nr; i++) {
		const struct truncate_worker *tw = &side->workers[i];
		struct result_worker *out = &sample->workers[i];

		out->end_ns = tw->sum_ns;
		out->bytes = tw->nr * side->conf->bytes;
		sample->bytes += out->bytes;
		sample->window_ns = max_u64(sample->window_ns, tw->sum_ns);
		sum->pages_inserted += tw->counters.pages_inserted;
		add_lock(&sum->mmap, &tw->counters.mmap);
		add_lock(&sum->tree, &tw->counters.tree);
		add_lock(&sum->zone, &tw->counters.zone);
		add_lock(&sum->lru, &tw->counters.lru);
	}
	if (side->engine->flags & ENGINE_HAS_COUNTERS)
		sum->known = RESULT_LOCKS;
}

static void look_at_clock(struct truncate *t, const struct result_sample *sample)
{
	uint64_t step_ns = t->record.result->environment.clock_step_ns;
	struct reason text;

	if (!sample->times.nr || t->warned_few_steps[sample->side] ||
	    sample->times.median_ns >= (double)(FEW_CLOCK_STEPS * step_ns))
		return;
	t->warned_few_steps[sample->side] = true;
	reason_set(
		&text, 0,
		"%s: half of its truncations take no longer than %.0f ns, and the clock "
		"steps by %llu ns; raise --pages for finer figures",
		t->conf->sides[sample->side].name, sample->times.median_ns,
		(unsigned long long)step_ns);
	record_warn(&t->record, text.text);
}

static int collect(struct truncate *t, unsigned number, unsigned round)
{
	struct truncate_side *side = &t->sides[number];
	struct result_sample *sample = record_sample(&t->record, t->placements, number, 0,
						     side->crew->nr, round);
	int err = 0;

	if (!sample)
		return -ENOMEM;
	if (side->is_void)
		err = record_failure(sample, &side->why);
	else
		err = collect_times(sample, side);
	if (err)
		return err;
	if (!side->is_void) {
		fill_sample(sample, side);
		if (where_collect(sample, side->crew))
			return -ENOMEM;
		where_warn(&t->record, side->crew, sample);
	}
	record_finish(&t->record, sample);
	look_at_clock(t, sample);
	return 0;
}

/* ---- the run ---- */

static int run_threads(struct truncate *t, unsigned nr_threads, unsigned round,
		       struct reason *why)
{
	unsigned nr = t->conf->nr_sides, nr_allocated = 0;
	int err = 0;

	while (nr_allocated < nr && !err)
		err = alloc_side(t, nr_allocated++, nr_threads, why);
	if (!err)
		record_arenas(&t->record, t->arenas, nr);
	for (unsigned s = 0; s < nr && !err; s++)
		err = start_side(t, &t->sides[s]);
	if (!err)
		err = take_turns(t, round);
	for (unsigned s = 0; s < nr && !err; s++)
		err = collect(t, s, round);
	for (unsigned s = 0; s < nr_allocated && err != -EINTR; s++)
		if (stop_side(&t->sides[s]) == -EINTR)
			err = -EINTR;
	if (err == -ENOMEM && !why->text[0])
		reason_set(why, err, "out of memory");
	return err;
}

int truncate_run(const struct bench_conf *conf, struct result *result, struct reason *why)
{
	struct truncate *t = calloc(1, sizeof(*t));
	int err = 0;

	if (!t)
		return reason_set(why, -ENOMEM, "out of memory");
	t->conf = conf;
	t->record = (struct record){ .conf = conf, .result = result };
	result->environment.clock_step_ns = clock_step_ns();
	where_advise(&t->record);
	err = advice_on_cpus(&t->record);
	if (err)
		reason_set(why, err, "out of memory");
	for (unsigned i = 0; i < conf->nr_threads; i++)
		t->total += (double)conf->threads[i];
	t->total *= (double)conf->truncation->count * conf->nr_sides * conf->rounds;
	for (unsigned round = 0; round < conf->rounds && !err; round++) {
		for (unsigned i = 0; i < conf->nr_threads && !err; i++)
			err = run_threads(t, conf->threads[i], round, why);
		if (!err && conf->round_done && !conf->round_done(conf->arg, round + 1))
			break;
	}
	if (err == -EINTR)
		return err; /* workers still run: what they use is theirs */
	for (unsigned s = 0; s < conf->nr_sides; s++)
		arena_destroy(&t->arenas[s]);
	free(t);
	return err;
}
