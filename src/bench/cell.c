/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/cell.h"

#include <errno.h>
#include <string.h>

#include "base/bits.h"
#include "base/clock.h"
#include "sys/sigbus.h"
#include "sys/usage.h"

/* ---- start and stop of a side ---- */

void cell_fail_worker(struct bench_worker *worker, int err)
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
		cell_fail_worker(worker, err);
}

static void stop_worker(void *arg, unsigned id)
{
	struct phase_run *run = arg;

	if (run->engine->ops->worker_stop)
		run->engine->ops->worker_stop(&run->crew->workers[id].engine);
}

int cell_first_failure(const struct crew *crew, struct reason *why)
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

	crew->run = (struct phase_run){ .crew = crew, .engine = engine };
	err = crew_call(crew, start_worker, &crew->run, why);
	return err ? err : cell_first_failure(crew, why);
}

int cell_side_stop(struct crew *crew, struct engine *engine)
{
	crew->run = (struct phase_run){ .crew = crew, .engine = engine };
	return crew_call(crew, stop_worker, &crew->run, NULL);
}

/* ---- one phase ---- */

/* What the files hold by the last pass, or will by this one. */
static void set_content(const struct phase_run *run, struct bench_worker *worker)
{
	worker->content = verify_content(run->crew->conf->seed,
					 worker->engine.share->file, run->crew->pass);
	worker->made = UINT64_MAX;
}

static void set_loop(struct phase_run *run, struct bench_worker *worker)
{
	const struct share *share = worker->engine.share;

	worker->loop = (struct loop){
		.worker = &worker->engine,
		.run = run->loop,
		.fault = run->engine->ops->fault,
		.start = share->start,
		.end = share->end,
		.record = run->crew->conf->record,
		.nr_records = worker->nr_records,
		.permutation = worker->permutation,
		.buffer = run->access == ACCESS_LOAD ? worker->load_buffer :
						       worker->store_buffer,
		.content = &worker->content,
		.first_index = worker->first_index,
		.expected = worker->store_buffer,
	};
	set_content(run, worker);
}

/*
 * Empties the file when the phase wants it so, then maps it. Others may still be
 * emptying: barrier.
 */
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
		cell_fail_worker(worker, err);
}

/*
 * Loads leave the last record in the buffer (and --verify what it should be in the
 * other): were they optimised away, or did they read something else than this worker
 * wrote, it would not be the record that was stored.
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

static int run_loop(void *arg)
{
	struct bench_worker *worker = arg;

	return worker->loop.run(&worker->loop);
}

/* The loop; where the CPU itself faults, under guard. */
static int guard_loop(const struct phase_run *run, struct bench_worker *worker,
		      struct sigbus_guard *guard)
{
	if (!(run->engine->flags & ENGINE_REAL_FAULTS))
		return worker->loop.run(&worker->loop);
	guard->resolve = run->engine->ops->resolve;
	guard->arg = &worker->engine;
	return sigbus_run(guard, run_loop, worker);
}

/*
 * Everything that the window does, but over no record: what a process that was just forked touches
 * for the first time, code and stack, is no fault of the page cache.
 */
static void rehearse(const struct phase_run *run, struct bench_worker *worker)
{
	uint64_t nr_records = worker->loop.nr_records;
	struct sigbus_guard guard = { 0 };

	if (worker_is_idle(worker))
		return;
	worker->loop.nr_records = 0;
	guard_loop(run, worker, &guard);
	worker->loop.nr_records = nr_records;
	memcpy(worker->load_buffer, worker->store_buffer,
	       min_u64(run->crew->conf->record, worker->loop.end - worker->loop.start));
	usage_read(&worker->usage);
	worker->start_ns = worker->end_ns = clock_now_ns();
}

static void explain(const struct phase_run *run, struct bench_worker *worker, int err,
		    const struct sigbus_guard *guard)
{
	if (worker->loop.mismatch)
		verify_tell(&worker->content, &worker->loop.wrong, worker->load_buffer,
			    worker->store_buffer, run->engine->place, &worker->why);
	else if (run->engine->ops->explain)
		run->engine->ops->explain(&worker->engine, err, guard, &worker->why);
	cell_fail_worker(worker, err);
}

/* What the whole machine counts: worker 0 reads it for all. */
static void read_vmstat(const struct phase_run *run, unsigned id,
			uint64_t values[static RESULT_NR_VMSTAT])
{
	if (!id && run->engine->flags & ENGINE_REAL_FAULTS)
		vmstat_read("", result_vmstat_names, values, RESULT_NR_VMSTAT);
}

static void vmstat_since(struct phase_run *run, const uint64_t *before)
{
	for (unsigned i = 0; i < RESULT_NR_VMSTAT; i++)
		if (run->vmstat[i] != UINT64_MAX)
			run->vmstat[i] -= before[i];
}

/*
 * Before anything is unmapped. smaps tells of a whole process: worker 0 for all threads, each
 * process for itself.
 */
static void look_at_mapping(const struct phase_run *run, struct bench_worker *worker)
{
	const struct engine_ops *ops = run->engine->ops;

	worker->pmd_mapped_bytes = worker->huge_wanted = 0;
	if (!ops->huge_wanted)
		return;
	worker->huge_wanted = ops->huge_wanted(&worker->engine);
	if (run->crew->setup.processes || !worker->engine.id)
		worker->pmd_mapped_bytes = usage_pmd_mapped_bytes("");
}

static void phase_worker(void *arg, unsigned id)
{
	struct phase_run *run = arg;
	struct bench_worker *worker = &run->crew->workers[id];
	const struct engine_ops *ops = run->engine->ops;
	uint64_t opened_ns, vmstat[RESULT_NR_VMSTAT];
	struct sigbus_guard guard = { 0 };
	struct usage before, after;
	int err = 0;

	map_worker(run, worker);
	set_loop(run, worker);
	rehearse(run, worker);
	if (run->access == ACCESS_LOAD && !worker_is_idle(worker))
		memset(worker->load_buffer, 0,
		       min_u64(run->crew->conf->record,
			       worker->loop.end - worker->loop.start));
	if (ops->reset_counters)
		ops->reset_counters(&worker->engine);

	where_start(&worker->where);
	read_vmstat(run, id, vmstat);
	usage_read(&before);

	opened_ns = team_barrier(run->crew->team);
	worker->start_ns = clock_now_ns();
	if (!worker->failed)
		err = guard_loop(run, worker, &guard);
	worker->end_ns = clock_now_ns();

	usage_read(&after);
	where_end(&worker->where);
	worker->usage = usage_since(&after, &before);
	if (err)
		explain(run, worker, err, &guard);
	if (ops->counters)
		ops->counters(&worker->engine, &worker->counters);
	if (!id)
		run->opened_ns = opened_ns;
	team_barrier(run->crew->team); /* no unmapping inside another worker's window */
	read_vmstat(run, id, run->vmstat);
	if (!id)
		vmstat_since(run, vmstat);
	look_at_mapping(run, worker);
	if (!worker->failed)
		where_look(&worker->where, &worker->engine);
	team_barrier(run->crew->team);
	worker->unmap_start_ns = clock_now_ns();
	if (ops->unmap)
		ops->unmap(&worker->engine);
	worker->unmap_end_ns = clock_now_ns();
	if (run->access == ACCESS_LOAD && !worker->failed && !worker_is_idle(worker))
		check_loads(run, worker);
}

int cell_measure(struct crew *crew, struct engine *engine, const struct phase *phase,
		 struct reason *why)
{
	enum access access = engine->flags & ENGINE_NO_COPY ? ACCESS_NONE : phase->access;
	bool verify = crew->conf->verify;

	if (verify && access == ACCESS_STORE)
		crew->pass++;
	crew->run = (struct phase_run){
		.crew = crew,
		.engine = engine,
		.phase = phase,
		.access = access,
		.loop = verify ? loop_choose_verified(access, phase->order) :
				 loop_choose(access, phase->order),
	};
	return crew_call(crew, phase_worker, &crew->run, why);
}

static void fill_worker(void *arg, unsigned id)
{
	struct phase_run *run = arg;
	struct bench_worker *worker = &run->crew->workers[id];
	engine_content_fn *content = run->crew->conf->verify ? worker_make_records :
							       worker_repeat_record;
	unsigned nr_turns = run->crew->conf->shared ? run->crew->nr : 1;
	int err = 0;

	worker->failed = false;
	worker->why.text[0] = '\0';
	set_content(run, worker);
	for (unsigned turn = 0; turn < nr_turns; turn++) {
		if (turn == id || nr_turns == 1)
			err = run->engine->ops->fill(&worker->engine, content, worker,
						     &worker->why);
		team_barrier(run->crew->team);
	}
	if (err)
		cell_fail_worker(worker, err);
}

int cell_make_resident(struct crew *crew, struct engine *engine, struct reason *why)
{
	struct reason inner;
	int err;

	if (engine->flags & ENGINE_NO_COPY)
		return 0;
	if (engine->flags & ENGINE_FILLS) {
		crew->run = (struct phase_run){ .crew = crew, .engine = engine };
		crew->pass++;
		err = crew_call(crew, fill_worker, &crew->run, why);
	} else {
		err = cell_measure(crew, engine, &phases[0], why);
	}
	if (err)
		return err;
	err = cell_first_failure(crew, &inner);
	return err ? reason_set(why, err, "could not write the files beforehand: %s",
				inner.text) :
		     0;
}

int cell_read_back(struct crew *crew, struct engine *engine, struct reason *why)
{
	static const struct phase read_back = { .name = "read-back",
						.access = ACCESS_LOAD,
						.order = ORDER_ASCENDING };
	struct reason inner;
	int err = cell_measure(crew, engine, &read_back, why);

	if (err)
		return err;
	err = cell_first_failure(crew, &inner);
	return err ? reason_set(why, err, "read back at the end: %s", inner.text) : 0;
}

/* ---- from workers to a sample ---- */

static void add_lock(struct result_lock *sum, const struct lock_stats *lock)
{
	sum->acquisitions += lock->acquisitions;
	sum->contended += lock->contended;
	sum->wait_ns += lock->wait_ns;
}

void cell_add_counters(struct result_counters *sum,
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

/* The faults of an in-process page cache are its own to count; all others are the kernel's. */
static void add_usage(struct result_counters *sum, const struct bench_worker *worker,
		      unsigned flags)
{
	const struct usage *usage = &worker->usage;

	sum->voluntary_switches += usage->voluntary_switches;
	sum->involuntary_switches += usage->involuntary_switches;
	sum->user_ns += usage->user_ns;
	sum->system_ns += usage->system_ns;
	if (flags & ENGINE_HAS_COUNTERS || !(flags & ENGINE_REAL_FAULTS))
		return;
	sum->faults += usage->minor_faults + usage->major_faults;
	sum->minor_faults += usage->minor_faults;
	sum->major_faults += usage->major_faults;
	if (worker->pmd_mapped_bytes == UINT64_MAX || sum->pmd_mapped_bytes == UINT64_MAX)
		sum->pmd_mapped_bytes = UINT64_MAX;
	else
		sum->pmd_mapped_bytes += worker->pmd_mapped_bytes;
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
			cell_add_counters(&sample->counters, &worker->counters);
		add_usage(&sample->counters, worker, run->engine->flags);
	}
	sample->counters.known = RESULT_USAGE;
	if (run->engine->flags & ENGINE_HAS_COUNTERS)
		sample->counters.known |= RESULT_FAULTS | RESULT_LOCKS;
	if (run->engine->flags & ENGINE_REAL_FAULTS) {
		sample->counters.known |= RESULT_FAULTS | RESULT_VMSTAT;
		memcpy(sample->counters.vmstat, run->vmstat, sizeof(run->vmstat));
	}
	sample->window_ns = end_ns - run->opened_ns;
	sample->unmap_ns = unmap_end_ns - unmap_start_ns;
}

int cell_collect(const struct crew *crew, struct result_sample *sample)
{
	struct reason why;

	fill_sample(sample, crew);
	if (where_collect(sample, crew))
		return -ENOMEM;
	if (!cell_first_failure(crew, &why))
		return 0;
	sample->failure = strdup(why.text);
	return sample->failure ? 0 : -ENOMEM;
}

uint64_t cell_huge_wanted(const struct crew *crew)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < crew->nr; i++)
		bytes += crew->workers[i].huge_wanted;
	return bytes;
}
