/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/crew.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "bench/budget.h"
#include "stats/stats.h"
#include "sys/arena.h"

static int place_workers(const struct bench_conf *conf, struct crew *crew,
			 struct placement *placements)
{
	int err = topo_plan(conf->topo, &conf->pin, crew->nr, placements);

	for (unsigned i = 0; i < crew->nr && conf->mem_local; i++)
		crew->layout.shares[i].mem_node = placements[i].mem_node;
	return err;
}

/* What workers write to, and the main thread after they are there. */
static void *zeroed_alloc(const struct bench_conf *conf, size_t bytes)
{
	size_t align = _Alignof(struct bench_worker);
	void *p;

	if (conf->processes)
		return team_shared_alloc(bytes);
	bytes = align_up(bytes, align);
	p = aligned_alloc(align, bytes);
	return p ? memset(p, 0, bytes) : NULL;
}

static void zeroed_free(const struct bench_conf *conf, void *p, size_t bytes)
{
	if (conf->processes)
		team_shared_free(p, bytes);
	else
		free(p);
}

static void crew_free_memory(struct crew *crew)
{
	const struct bench_conf *conf = crew->conf;

	if (crew->workers)
		zeroed_free(conf, crew->workers, crew->nr * sizeof(*crew->workers));
	zeroed_free(conf, crew, sizeof(*crew));
}

int crew_alloc(struct crew **out, const struct bench_conf *conf, unsigned nr,
	       struct placement *placements)
{
	struct crew *crew = zeroed_alloc(conf, sizeof(*crew));
	int err = -ENOMEM;

	if (!crew)
		return err;
	crew->conf = conf;
	crew->nr = nr;
	crew->workers = zeroed_alloc(conf, nr * sizeof(*crew->workers));
	if (!crew->workers)
		goto fail;
	err = layout_init(&crew->layout, nr, conf->bytes, conf->per_worker, conf->record,
			  conf->shared);
	if (err)
		goto fail;
	err = place_workers(conf, crew, placements);
	if (err)
		goto fail_layout;
	crew->setup = layout_setup(&crew->layout, conf->processes);
	*out = crew;
	return 0;
fail_layout:
	layout_destroy(&crew->layout);
fail:
	crew_free_memory(crew);
	return err;
}

void crew_free(struct crew *crew)
{
	layout_destroy(&crew->layout);
	crew_free_memory(crew);
}

int crew_call(struct crew *crew, team_fn *fn, void *arg, struct reason *why)
{
	int err = team_call(crew->team, fn, arg, crew->conf->stop);

	return err == -ECHILD ? reason_set(why, err, "%s", team_death(crew->team)) : err;
}

void worker_repeat_record(void *arg, uint64_t at, uint64_t bytes, char *to)
{
	const struct bench_worker *worker = arg;

	at -= worker->engine.share->start;
	while (bytes) {
		uint64_t skip = at % worker->record;
		uint64_t len = min_u64(worker->record - skip, bytes);

		memcpy(to, worker->store_buffer + skip, len);
		to += len;
		at += len;
		bytes -= len;
	}
}

void worker_make_records(void *arg, uint64_t at, uint64_t bytes, char *to)
{
	struct bench_worker *worker = arg;
	const struct share *share = worker->engine.share;

	while (bytes) {
		uint64_t k = (at - share->start) / worker->record, len;
		struct verify_record record = {
			.index = worker->first_index + k,
			.offset = share->start + k * worker->record,
		};

		record.bytes = min_u64(worker->record, share->end - record.offset);
		if (worker->made != k)
			verify_fill(&worker->content, &record, worker->store_buffer);
		worker->made = k;
		len = min_u64(record.offset + record.bytes - at, bytes);
		memcpy(to, worker->store_buffer + (at - record.offset), len);
		to += len;
		at += len;
		bytes -= len;
	}
}

/* How many records there are in the file before those of worker @id. */
static uint64_t first_index(const struct crew *crew, unsigned id)
{
	const struct share *shares = crew->layout.shares;
	uint64_t nr = 0;

	for (unsigned i = 0; i < id; i++)
		if (shares[i].file == shares[id].file)
			nr += div_round_up(shares[i].end - shares[i].start,
					   crew->conf->record);
	return nr;
}

static void prepare_worker(void *arg, unsigned id)
{
	struct crew *crew = arg;
	const struct bench_conf *conf = crew->conf;
	const struct share *share = &crew->layout.shares[id];
	struct bench_worker *worker = &crew->workers[id];
	uint64_t bytes = share->end - share->start;
	size_t buffer = align_up(min_u64(conf->record, bytes), CACHELINE_SIZE);
	uint64_t seed = seed_mix(conf->seed, id);

	worker->record = conf->record;
	worker->nr_records = div_round_up(bytes, conf->record);
	worker->first_index = first_index(crew, id);
	if (worker_is_idle(worker))
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

static int prepare(struct crew *crew, struct reason *why)
{
	int err = crew_call(crew, prepare_worker, crew, why);

	for (unsigned i = 0; i < crew->nr && !err; i++)
		if (crew->workers[i].err)
			err = reason_set(why, crew->workers[i].err,
					 "no memory for the record buffers of worker %u",
					 i);
	return err;
}

int crew_start(struct crew *crew, const struct placement *placements, int *bind_err,
	       struct reason *why)
{
	const struct bench_conf *conf = crew->conf;
	int err;

	*bind_err = 0;
	err = team_start(&crew->team, crew->nr, conf->processes, conf->topo, placements,
			 bind_err, why);
	if (err)
		return err;
	err = prepare(crew, why);
	if (err && err != -EINTR)
		crew_stop(crew);
	return err;
}

void crew_stop(struct crew *crew)
{
	team_stop(crew->team);
	crew->team = NULL;
	/* What a process allocated went with it. */
	for (unsigned i = 0; i < crew->nr && !crew->conf->processes; i++)
		arena_private_free(crew->workers[i].memory,
				   crew->workers[i].memory_bytes);
}
