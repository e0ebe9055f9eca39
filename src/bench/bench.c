/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/format.h"
#include "bench/advice.h"
#include "bench/budget.h"
#include "bench/cell.h"
#include "bench/record.h"
#include "sys/arena.h"
#include "sys/clock.h"

/*
 * Arenas of all thread counts together may be this much larger than the largest one of a single
 * count, and are then allocated once; else (several nodes) they are moved for each count.
 */
#define ARENA_SLACK_PERCENT 5

struct bench {
	const struct bench_conf *conf;
	struct record record;
	struct arena arena;
	bool arena_is_fixed;		/* allocated for all thread counts at once */
	double total_bytes, done_bytes; /* of all cells; of those behind us */
	bool warned_no_huge[BENCH_MAX_SIDES];
	/* Cells that have no figure whatever comes: later rounds leave them out. */
	bool is_void[BENCH_MAX_SIDES][NR_PHASES][BENCH_MAX_THREADS + 1];
	/* --verify: of all thread counts and rounds, as what an arena had before must not pass. */
	uint64_t pass;
};

/* The files of the side that runs. */
struct files {
	bool resident;	  /* a phase that needs them so finds them so */
	bool whole;	  /* all bytes are those of the last pass; for --verify */
	unsigned written; /* the phase that made it so, or that it was prepared for */
};

/* ---- the arena ---- */

static int add_to_plan(struct bench *bench, struct arena_plan *plan, unsigned nr_threads)
{
	struct placement placements[BENCH_MAX_THREADS];
	struct crew *crew;
	int err = crew_alloc(&crew, bench->conf, nr_threads, placements);

	if (err)
		return err;
	err = arena_plan_add(plan, bench->conf, &crew->setup);
	crew_free(crew);
	return err;
}

/* Allocates the arena for all thread counts where that costs hardly more than for the largest. */
static int plan_arena(struct bench *bench, struct reason *why)
{
	const struct bench_conf *conf = bench->conf;
	struct arena_plan all = { 0 };
	size_t largest = 0;
	int err = 0;

	for (unsigned t = 0; t < conf->nr_threads && !err; t++) {
		struct arena_plan one = { 0 };

		err = add_to_plan(bench, &one, conf->threads[t]);
		largest = max_u64(largest, arena_plan_bytes(&one));
		arena_plan_destroy(&one);
		if (!err)
			err = add_to_plan(bench, &all, conf->threads[t]);
	}
	if (err)
		reason_set(why, err, "out of memory");
	bench->arena_is_fixed = arena_plan_bytes(&all) <=
				largest + largest / 100 * ARENA_SLACK_PERCENT;
	bench->arena.shared = bench_wants_shared_arena(conf);
	bench->arena.policy = &conf->mem;
	if (!err && bench->arena_is_fixed)
		err = arena_resize(&bench->arena, all.nids, all.bytes, all.nr, why);
	arena_plan_destroy(&all);
	return err;
}

static int fit_arena(struct bench *bench, struct crew *crew, struct reason *why)
{
	int err = 0;

	if (!bench->arena_is_fixed) {
		struct arena_plan plan = { 0 };

		err = arena_plan_add(&plan, bench->conf, &crew->setup);
		if (!err)
			err = arena_resize(&bench->arena, plan.nids, plan.bytes, plan.nr,
					   why);
		else
			reason_set(why, err, "out of memory");
		arena_plan_destroy(&plan);
	}
	crew->setup.arena = &bench->arena;
	record_arenas(&bench->record, &bench->arena, 1);
	return err;
}

/* ---- one side at one thread count: its phases ---- */

static void report_progress(struct bench *bench, const struct bench_side *side,
			    const struct phase *phase, const struct crew *crew,
			    unsigned round)
{
	const struct bench_conf *conf = bench->conf;
	struct bench_progress progress = {
		.side = side->name,
		.phase = phase->name,
		.threads = crew->nr,
		.round = round,
		.rounds = conf->open_ended ? 0 : conf->rounds,
		.fraction = bench->total_bytes > 0 ?
				    bench->done_bytes / bench->total_bytes :
				    0,
	};

	if (conf->progress)
		conf->progress(conf->arg, &progress);
}

/* A side that asked for huge pages and did not get them all says so, once. */
static void look_at_huge_pages(struct bench *bench, const struct crew *crew,
			       const struct result_sample *sample)
{
	const struct bench_conf *conf = bench->conf;
	uint64_t wanted, got = sample->counters.pmd_mapped_bytes;
	struct reason text;

	if (sample->failure || bench->warned_no_huge[sample->side])
		return;
	wanted = cell_huge_wanted(crew);
	if (got >= wanted) /* also where it cannot be told */
		return;
	bench->warned_no_huge[sample->side] = true;
	reason_set(&text, 0,
		   "%s asked for huge pages and got %s of %s mapped so (%s, -t %u); see "
		   "huge= of the mount, shmem_enabled and khugepaged in "
		   "/sys/kernel/mm/transparent_hugepage, and thp_file_fallback below",
		   conf->sides[sample->side].name, format_size(got).text,
		   format_size(wanted).text, conf->phases[sample->phase]->name,
		   sample->threads);
	record_warn(&bench->record, text.text);
}

static void finish_sample(struct bench *bench, const struct crew *crew,
			  struct result_sample *sample)
{
	if (sample->failure)
		bench->is_void[sample->side][sample->phase][sample->threads] = true;
	look_at_huge_pages(bench, crew, sample);
	where_warn(&bench->record, crew, sample);
	record_finish(&bench->record, sample);
	bench->done_bytes += (double)crew->layout.total;
}

/* Prepares and runs one phase. 0 when there is something to collect; -EINTR; else @why not. */
static int run_phase(struct crew *crew, struct engine *engine, const struct phase *phase,
		     bool resident, struct reason *why)
{
	/*
	 * An initial writer's memory is had, used and given back once before: see
	 * ENGINE_FREE_MEMORY.
	 */
	bool prepare = phase->starts_empty ? engine->flags & ENGINE_FREE_MEMORY :
					     !resident;
	int err = 0;

	if (prepare)
		err = cell_make_resident(crew, engine, why);
	return err ? err : cell_measure(crew, engine, phase, why);
}

/* After a phase @ran, or could not. */
static void look_at_files(struct files *files, enum access access, unsigned phase,
			  bool ran)
{
	if (access == ACCESS_STORE || !files->resident)
		files->written = phase;
	if (access == ACCESS_STORE || !files->resident || !ran)
		files->whole = ran;
}

static int measure_phase(struct bench *bench, struct crew *crew,
			 const struct placement *placements, unsigned side,
			 unsigned phase, unsigned round, struct files *files)
{
	const struct bench_conf *conf = bench->conf;
	struct result_sample *sample;
	struct reason why = { "" };
	int err;

	if (bench->is_void[side][phase][crew->nr]) {
		bench->done_bytes += (double)crew->layout.total;
		return 0;
	}
	report_progress(bench, &conf->sides[side], conf->phases[phase], crew, round);
	err = run_phase(crew, &conf->sides[side].engine, conf->phases[phase],
			files->resident, &why);
	if (err == -EINTR)
		return err;
	sample = record_sample(&bench->record, placements, side, phase, crew->nr, round);
	if (!sample)
		return -ENOMEM;
	look_at_files(files, conf->phases[phase]->access, phase, !err);
	if (err)
		err = record_failure(sample, &why);
	else
		err = cell_collect(crew, sample);
	if (err)
		return err;
	files->whole &= !sample->failure || conf->phases[phase]->access == ACCESS_LOAD;
	files->resident = !sample->failure &&
			  (!conf->phases[phase]->starts_empty ||
			   !(conf->sides[side].engine.flags & ENGINE_FILLS));
	finish_sample(bench, crew, sample);
	return 0;
}

/* A side that cannot start has a void sample in each phase. */
static int void_side(struct bench *bench, struct crew *crew,
		     const struct placement *placements, unsigned side, unsigned round,
		     const struct reason *why)
{
	for (unsigned phase = 0; phase < bench->conf->nr_phases; phase++) {
		struct result_sample *sample;

		if (bench->is_void[side][phase][crew->nr])
			continue;
		sample = record_sample(&bench->record, placements, side, phase, crew->nr,
				       round);
		if (!sample || record_failure(sample, why))
			return -ENOMEM;
		finish_sample(bench, crew, sample);
	}
	return 0;
}

/* A mismatch at the end voids the cell that the files are of. 0; -EINTR; -ENOMEM. */
static int read_back(struct bench *bench, struct crew *crew, unsigned side,
		     unsigned round, unsigned phase)
{
	struct result *result = bench->record.result;
	struct result_sample *sample = NULL;
	struct reason why = { "" };
	int err = cell_read_back(crew, &bench->conf->sides[side].engine, &why);

	if (!err || err == -EINTR)
		return err;
	bench->is_void[side][phase][crew->nr] = true;
	for (unsigned i = result->nr_samples; i-- && !sample;) {
		struct result_sample *s = &result->samples[i];

		if (s->side == side && s->phase == phase && s->threads == crew->nr &&
		    s->round == round)
			sample = s;
	}
	if (!sample || sample->failure)
		return 0; /* it is void, and said so */
	err = record_failure(sample, &why);
	if (!err)
		record_finish(&bench->record, sample);
	return err;
}

/* All phases of a side whose workers are there. */
static int run_phases(struct bench *bench, struct crew *crew,
		      const struct placement *placements, unsigned side, unsigned round)
{
	struct engine *engine = &bench->conf->sides[side].engine;
	struct reason why = { "" };
	struct files files = { .resident = false };
	int err;

	err = cell_side_start(crew, engine, &why);
	if (err == -EINTR)
		return err;
	where_warn_unplaced(&bench->record, crew, side);
	if (err)
		err = void_side(bench, crew, placements, side, round, &why);
	else
		for (unsigned phase = 0; phase < bench->conf->nr_phases && !err; phase++)
			err = measure_phase(bench, crew, placements, side, phase, round,
					    &files);
	if (!err && bench->conf->verify && files.whole)
		err = read_back(bench, crew, side, round, files.written);
	if (err == -EINTR || cell_side_stop(crew, engine) == -EINTR)
		return -EINTR;
	return err;
}

/* ---- the workers ---- */

/* As crew_start(). */
static int start_workers(struct bench *bench, struct crew *crew,
			 const struct placement *placements, struct reason *why)
{
	int bind_err, err = crew_start(crew, placements, &bind_err, why);

	if (!err)
		record_binding(&bench->record, bind_err);
	return err;
}

/* Processes are forked when the engine has its files, and end with the side. */
static int run_side_in_processes(struct bench *bench, struct crew *crew,
				 const struct placement *placements, unsigned side,
				 unsigned round)
{
	struct reason why = { "" };
	int err = start_workers(bench, crew, placements, &why);

	if (err == -EINTR)
		return err;
	if (err)
		return void_side(bench, crew, placements, side, round, &why);
	err = run_phases(bench, crew, placements, side, round);
	if (err != -EINTR)
		crew_stop(crew);
	return err;
}

static bool side_is_void(const struct bench *bench, unsigned side, unsigned nr_threads)
{
	for (unsigned phase = 0; phase < bench->conf->nr_phases; phase++)
		if (!bench->is_void[side][phase][nr_threads])
			return false;
	return true;
}

static int run_side(struct bench *bench, struct crew *crew,
		    const struct placement *placements, unsigned side, unsigned round)
{
	struct engine *engine = &bench->conf->sides[side].engine;
	struct reason why = { "" };
	int err;

	if (side_is_void(bench, side, crew->nr))
		return 0;
	err = engine->ops->start(engine, &crew->setup, &why);
	if (err)
		return void_side(bench, crew, placements, side, round, &why);
	if (bench->conf->processes)
		err = run_side_in_processes(bench, crew, placements, side, round);
	else
		err = run_phases(bench, crew, placements, side, round);
	if (err != -EINTR)
		engine->ops->stop(engine);
	return err;
}

/* ---- one thread count of one round ---- */

/* The sides in turn, in an order that flips each round (ABBA). */
static int run_sides(struct bench *bench, struct crew *crew,
		     const struct placement *placements, unsigned round,
		     const struct reason *void_why)
{
	unsigned nr = bench->conf->nr_sides;
	int err = 0;

	for (unsigned i = 0; i < nr && !err; i++) {
		unsigned side = round % 2 ? nr - 1 - i : i;

		if (void_why)
			err = void_side(bench, crew, placements, side, round, void_why);
		else
			err = run_side(bench, crew, placements, side, round);
	}
	return err;
}

static int run_threads(struct bench *bench, unsigned nr_threads, unsigned round,
		       struct reason *why)
{
	const struct bench_conf *conf = bench->conf;
	struct placement placements[BENCH_MAX_THREADS];
	struct reason void_why;
	struct crew *crew;
	bool started = false;
	int err;

	err = crew_alloc(&crew, conf, nr_threads, placements);
	if (err)
		return reason_set(why, err, "out of memory");
	crew->pass = bench->pass;
	err = fit_arena(bench, crew, why);
	if (err)
		goto out;
	if (conf->processes) {
		err = run_sides(bench, crew, placements, round, NULL);
	} else {
		err = start_workers(bench, crew, placements, &void_why);
		started = !err;
		if (err != -EINTR)
			err = run_sides(bench, crew, placements, round,
					err ? &void_why : NULL);
	}
	if (err == -EINTR)
		return err; /* the workers still run: what they use is theirs */
	bench->pass = crew->pass;
	if (started)
		crew_stop(crew);
out:
	if (err == -ENOMEM && !why->text[0])
		reason_set(why, err, "out of memory");
	crew_free(crew);
	return err;
}

static double run_bytes(const struct bench_conf *conf)
{
	double bytes = 0;

	for (unsigned t = 0; t < conf->nr_threads; t++)
		bytes += (double)conf->bytes * (conf->per_worker ? conf->threads[t] : 1);
	return bytes * conf->nr_sides * (double)conf->nr_phases * conf->rounds;
}

int bench_describe(const struct bench_conf *conf, struct result *result)
{
	int err = 0;

	for (unsigned s = 0; s < conf->nr_sides && !err; s++) {
		const struct engine *engine = &conf->sides[s].engine;

		err = result_add_side(result, conf->sides[s].name, engine->spec);
		if (err || !engine->mount)
			continue;
		result->sides[s].mount = strdup(engine->mount);
		err = result->sides[s].mount ? 0 : -ENOMEM;
	}
	for (size_t p = 0; p < conf->nr_phases && !err; p++)
		err = result_add_phase(result, conf->phases[p]->name, NULL);
	return err;
}

int bench_run(const struct bench_conf *conf, struct result *result, struct reason *why)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	int err;

	if (!bench)
		return reason_set(why, -ENOMEM, "out of memory");
	bench->conf = conf;
	bench->record = (struct record){ .conf = conf, .result = result };
	bench->total_bytes = run_bytes(conf);
	result->environment.clock_step_ns = clock_step_ns();
	where_advise(&bench->record);
	err = advice_on_cpus(&bench->record);
	err = err ? reason_set(why, err, "out of memory") : plan_arena(bench, why);
	for (unsigned round = 0; round < conf->rounds && !err; round++) {
		for (unsigned t = 0; t < conf->nr_threads && !err; t++)
			err = run_threads(bench, conf->threads[t], round, why);
		if (!err && conf->round_done && !conf->round_done(conf->arg, round + 1))
			break;
	}
	if (err == -EINTR)
		return err; /* see run_threads() */
	arena_destroy(&bench->arena);
	free(bench);
	return err;
}
