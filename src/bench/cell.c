/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/cell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/clock.h"
#include "bench/budget.h"
#include "stats/stats.h"
#include "sys/arena.h"

static bool is_idle(const struct bench_worker *worker)
{
	return !worker->nr_records;
}

/* ---- preparation: once for a thread count ---- */

static void prepare_worker(void *arg, unsigned id)
{
	struct crew *crew = arg;
	const struct bench_conf *conf = crew->conf;
	const struct share *share = &crew->layout.shares[id];
	struct bench_worker *worker = &crew->workers[id];
	uint64_t bytes = share->end - share->start;
	size_t buffer = align_up(min_u64(conf->record, bytes), CACHELINE_SIZE);
	uint64_t seed = seed_mix(conf->seed, id);

	worker->nr_records = div_round_up(bytes, conf->record);
	if (is_idle(worker))
		return;
	worker->memory_bytes = worker_private_bytes(conf, share);
	worker->memory = arena_private_alloc(worker->memory_bytes, share->mem_node);
	if (!worker->memory) {
		worker->err = -ENOMEM;
		return;
	}
	worker->store_buffer = worker->memory;
	worker->load_buffer = worker->memory + buffer;
	for (size_t i = 0; i < buffer; i += sizeof(uint64_t)) {
		uint64_t word = seed_mix(seed, i);

		memcpy(worker->store_buffer + i, &word, sizeof(word));
	}
	if (!bench_has_random_phase(conf))
		return;
	worker->permutation = (void *)(worker->memory + 2 * buffer);
	permutation_fill(worker->permutation, worker->nr_records, seed);
}

int crew_prepare(struct crew *crew, struct reason *why)
{
	int err = team_call(crew->team, prepare_worker, crew, crew->conf->stop);

	if (err)
		return err;
	for (unsigned i = 0; i < crew->nr; i++)
		if (crew->workers[i].err)
			return reason_set(why, crew->workers[i].err,
					  "no memory for the record buffers of worker %u",
					  i);
	return 0;
}

void crew_release(struct crew *crew)
{
	for (unsigned i = 0; i < crew->nr; i++)
		arena_private_free(crew->workers[i].memory,
				   crew->workers[i].memory_bytes);
}

/* ---- start and stop of a side ---- */

static void fail_worker(struct bench_worker *worker, int err)
{
	worker->failed = true;
	if (!worker->why.text[0])
		reason_set(&worker->why, err, "%s", strerror(-err));
}

static void start_worker(void *arg, unsigned id)
{
	struct phase_run *run = arg;
	struct bench_worker *worker = &run->crew->workers[id];
	int err = 0;

	worker->engine = (struct engine_worker){
		.engine = run->engine,
		.id = id,
		.share = &run->crew->layout.shares[id],
	};
	worker->failed = false;
	worker->why.text[0] = '\0';
	if (run->engine->ops->worker_start)
		err = run->engine->ops->worker_start(&worker->engine, &worker->why);
	if (err)
		fail_worker(worker, err);
}

static void stop_worker(void *arg, unsigned id)
{
	struct phase_run *run = arg;

	if (run->engine->ops->worker_stop)
		run->engine->ops->worker_stop(&run->crew->workers[id].engine);
}

/* The first worker that failed speaks for all. 0: none did. */
static int first_failure(const struct crew *crew, struct reason *why)
{
	for (unsigned i = 0; i < crew->nr; i++)
		if (crew->workers[i].failed)
			return reason_set(why, -EIO, "worker %u: %s", i,
					  crew->workers[i].why.text);
	return 0;
}

int cell_side_start(struct crew *crew, struct engine *engine, struct reason *why)
{
	int err;

	if (engine->ops->open) {
		err = engine->ops->open(engine, &crew->setup, 1, why);
		if (err)
			return err;
	}
	crew->run = (struct phase_run){ .crew = crew, .engine = engine };
	err = team_call(crew->team, start_worker, &crew->run, crew->conf->stop);
	return err ? err : first_failure(crew, why);
}

int cell_side_stop(struct crew *crew, struct engine *engine)
{
	crew->run = (struct phase_run){ .crew = crew, .engine = engine };
	return team_call(crew->team, stop_worker, &crew->run, crew->conf->stop);
}

/* ---- one phase ---- */

static void set_loop(struct phase_run *run, struct bench_worker *worker)
{
	const struct share *share = worker->engine.share;

	worker->loop = (struct loop){
		.worker = &worker->engine,
		.fault = run->engine->ops->fault,
		.start = share->start,
		.end = share->end,
		.record = run->crew->conf->record,
		.nr_records = worker->nr_records,
		.permutation = worker->permutation,
		.buffer = run->access == ACCESS_LOAD ? worker->load_buffer :
						       worker->store_buffer,
	};
}

/* Empties the file when the phase wants it so, then maps it. Others may still be emptying: barrier. */
static void map_worker(struct phase_run *run, struct bench_worker *worker)
{
	const struct engine_ops *ops = run->engine->ops;
	int err = 0;

	worker->failed = false;
	worker->why.text[0] = '\0';
	if (run->phase->starts_empty && ops->empty)
		err = ops->empty(&worker->engine, &worker->why);
	team_barrier(run->crew->team);
	if (!err && ops->map)
		err = ops->map(&worker->engine, &worker->why);
	if (err)
		fail_worker(worker, err);
}

/*
 * Loads leave the last record in the buffer: were they optimised away, or did they read
 * something else than this worker wrote, it would not be the record that was stored.
 */
static void check_loads(const struct phase_run *run, struct bench_worker *worker)
{
	const struct loop *loop = &worker->loop;
	uint64_t last = run->phase->order == ORDER_ASCENDING ?
				loop->nr_records - 1 :
			run->phase->order == ORDER_DESCENDING ?
				0 :
				loop->permutation[loop->nr_records - 1];
	uint64_t offset = loop->start + last * loop->record;
	uint64_t len = min_u64(loop->record, loop->end - offset);

	if (!memcmp(worker->load_buffer, worker->store_buffer, len))
		return;
	worker->failed = true;
	reason_set(&worker->why, -EIO,
		   "the record at offset %llu does not read back as written",
		   (unsigned long long)offset);
}

struct guarded_loop {
	loop_fn *fn;
	struct loop *loop;
};

static int run_guarded(void *arg)
{
	struct guarded_loop *guarded = arg;

	return guarded->fn(guarded->loop);
}

static int run_loop(struct phase_run *run, struct bench_worker *worker)
{
	const struct engine_ops *ops = run->engine->ops;
	struct guarded_loop guarded = { .fn = run->loop, .loop = &worker->loop };
	struct sigbus_guard guard = { .resolve = ops->resolve, .arg = &worker->engine };
	int err;

	if (!(run->engine->flags & ENGINE_REAL_FAULTS))
		return run->loop(&worker->loop);
	err = sigbus_run(&guard, run_guarded, &guarded);
	if (err && ops->explain)
		ops->explain(&worker->engine, err, &guard, &worker->why);
	return err;
}

static void phase_worker(void *arg, unsigned id)
{
	struct phase_run *run = arg;
	struct bench_worker *worker = &run->crew->workers[id];
	const struct engine_ops *ops = run->engine->ops;
	uint64_t opened_ns;
	int err = 0;

	map_worker(run, worker);
	set_loop(run, worker);
	if (run->access == ACCESS_LOAD && !is_idle(worker))
		memset(worker->load_buffer, 0,
		       min_u64(run->crew->conf->record,
			       worker->loop.end - worker->loop.start));
	if (ops->reset_counters)
		ops->reset_counters(&worker->engine);

	opened_ns = team_barrier(run->crew->team);
	worker->start_ns = clock_now_ns();
	if (!worker->failed)
		err = run_loop(run, worker);
	worker->end_ns = clock_now_ns();

	if (err)
		fail_worker(worker, err);
	if (ops->counters)
		ops->counters(&worker->engine, &worker->counters);
	if (!id)
		run->opened_ns = opened_ns;
	team_barrier(run->crew->team); /* no unmapping inside another worker's window */
	worker->unmap_start_ns = clock_now_ns();
	if (ops->unmap)
		ops->unmap(&worker->engine);
	worker->unmap_end_ns = clock_now_ns();
	if (run->access == ACCESS_LOAD && !worker->failed && !is_idle(worker))
		check_loads(run, worker);
}

int cell_measure(struct crew *crew, struct engine *engine, const struct phase *phase)
{
	enum access access = engine->flags & ENGINE_NO_COPY ? ACCESS_NONE : phase->access;

	crew->run = (struct phase_run){
		.crew = crew,
		.engine = engine,
		.phase = phase,
		.access = access,
		.loop = loop_choose(access, phase->order),
	};
	return team_call(crew->team, phase_worker, &crew->run, crew->conf->stop);
}

int cell_make_resident(struct crew *crew, struct engine *engine, struct reason *why)
{
	struct reason inner;
	int err;

	if (engine->flags & ENGINE_NO_COPY)
		return 0;
	err = cell_measure(crew, engine, &phases[0]);
	if (err)
		return err;
	err = first_failure(crew, &inner);
	return err ? reason_set(why, err, "could not write the files beforehand: %s",
				inner.text) :
		     0;
}

/* ---- from workers to a sample ---- */

static void add_lock(struct result_lock *sum, const struct lock_stats *lock)
{
	sum->acquisitions += lock->acquisitions;
	sum->contended += lock->contended;
	sum->wait_ns += lock->wait_ns;
}

static void add_counters(struct result_counters *sum,
			 const struct engine_counters *counters)
{
	const struct cache_counters *cache = &counters->cache;

	sum->faults += cache->faults;
	sum->minor_faults += cache->minor_faults;
	sum->pages_inserted += cache->pages_inserted;
	sum->pmd_mapped_bytes += cache->pmd_mapped_bytes;
	add_lock(&sum->mmap, &cache->mmap);
	add_lock(&sum->tree, &cache->tree);
	add_lock(&sum->zone, &cache->zone);
	add_lock(&sum->lru, &cache->lru);
}

static void fill_sample(struct result_sample *sample, const struct crew *crew)
{
	const struct phase_run *run = &crew->run;
	uint64_t end_ns = run->opened_ns, unmap_start_ns = UINT64_MAX, unmap_end_ns = 0;

	for (unsigned i = 0; i < crew->nr; i++) {
		const struct bench_worker *worker = &crew->workers[i];
		struct result_worker *out = &sample->workers[i];

		out->start_ns = worker->start_ns - run->opened_ns;
		out->end_ns = worker->end_ns - run->opened_ns;
		out->bytes = worker->loop.bytes;
		sample->bytes += worker->loop.bytes;
		end_ns = max_u64(end_ns, worker->end_ns);
		unmap_start_ns = min_u64(unmap_start_ns, worker->unmap_start_ns);
		unmap_end_ns = max_u64(unmap_end_ns, worker->unmap_end_ns);
		if (run->engine->ops->counters)
			add_counters(&sample->counters, &worker->counters);
	}
	if (run->engine->flags & ENGINE_HAS_COUNTERS)
		sample->counters.known = RESULT_FAULTS | RESULT_LOCKS;
	sample->window_ns = end_ns - run->opened_ns;
	sample->unmap_ns = unmap_end_ns - unmap_start_ns;
}

int cell_collect(const struct crew *crew, struct result_sample *sample)
{
	struct reason why;

	fill_sample(sample, crew);
	if (!first_failure(crew, &why))
		return 0;
	sample->failure = strdup(why.text);
	return sample->failure ? 0 : -ENOMEM;
}
