/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cache engine: the in-process page cache of src/cache/, one page at a time or batched, behind
 * software page tables. engine_cache_uffd.c has the one behind real ones.
 */
#include "engine/engine_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/parse.h"
#include "engine/spec.h"
#include "sys/arena.h"

#define BATCH_MAX PMD_NR
/* Folios removed under one tree_lock hold: the kernel's PAGEVEC_SIZE. */
#define TRUNCATE_BATCH 15

static int parse_map(struct engine *engine, const char *map, struct reason *why)
{
	if (!map || !strcmp(map, "soft"))
		return 0;
	if (strcmp(map, "uffd"))
		return reason_set(why, -EINVAL, "map=%s: map is soft or uffd", map);
	engine->conf.cache.uffd = true;
	engine->ops = &engine_cache_uffd;
	engine->flags |= engine->ops->flags;
	return 0;
}

static int parse_truncate_batch(struct engine *engine, const char *text,
				struct reason *why)
{
	uint64_t n = TRUNCATE_BATCH;

	if (text && parse_uint(text, 1, BATCH_MAX, &n))
		return reason_set(why, -EINVAL,
				  "truncate-batch=%s: truncate-batch is a number of "
				  "folios, 1 to %u",
				  text, BATCH_MAX);
	engine->conf.cache.truncate_batch = (unsigned)n;
	return 0;
}

int cache_parse(struct engine *engine, struct spec *spec, struct reason *why)
{
	const char *batch = spec_take(spec, "batch");
	const char *map = spec_take(spec, "map");
	const char *truncate_batch = spec_take(spec, "truncate-batch");
	uint64_t n;
	int err;

	if (!batch)
		return reason_set(why, -EINVAL,
				  "cache needs batch=N, a power of two from 1 to %u",
				  BATCH_MAX);
	if (parse_uint(batch, 1, BATCH_MAX, &n) || !is_power_of_2(n))
		return reason_set(why, -EINVAL,
				  "batch=%s: batch is a power of two from 1 to %u", batch,
				  BATCH_MAX);
	engine->conf.cache.batch = (unsigned)n;
	err = parse_map(engine, map, why);
	if (!err)
		err = parse_truncate_batch(engine, truncate_batch, why);
	return err ? err : spec_refuse_rest(spec, "batch, map, truncate-batch", why);
}

static struct page_cache_conf cache_conf(const struct engine *engine,
					 const struct engine_setup *setup)
{
	return (struct page_cache_conf){
		.batch = engine->conf.cache.batch,
		.truncate_batch = engine->conf.cache.truncate_batch,
		.arena = setup->arena,
		.nr_threads = setup->nr_workers,
		.trapped = engine->conf.cache.uffd || setup->untimed_faults,
	};
}

/*
 * A share's own pages, plus one where a neighbour in a shared file may have its first page, plus
 * what the free list of this thread can keep from the others.
 */
static size_t cache_arena_need(const struct engine *engine,
			       const struct engine_setup *setup, unsigned id)
{
	const struct share *share = &setup->shares[id];
	struct page_cache_conf conf = cache_conf(engine, setup);

	if (share->start == share->end)
		return 0;
	return align_up(share->end, PAGE_SIZE) - align_down(share->start, PAGE_SIZE) +
	       page_cache_slack(&conf);
}

void cache_vma_range(const struct engine_setup *setup, const struct share *share,
		     uint64_t *start, uint64_t *end)
{
	*start = align_down(share->start, PMD_SIZE);
	*end = min_u64(align_up(share->end, PMD_SIZE), setup->file_bytes[share->file]);
}

size_t cache_overhead(const struct engine *engine, const struct engine_setup *setup)
{
	size_t arena_bytes = 0, tables = 0;

	for (unsigned i = 0; i < setup->nr_workers; i++) {
		uint64_t start, end;

		arena_bytes += engine->ops->arena_need(engine, setup, i);
		cache_vma_range(setup, &setup->shares[i], &start, &end);
		if (start < end)
			tables += vma_overhead(start, end);
	}
	return page_cache_overhead(arena_bytes, setup->nr_workers) + tables;
}

void cache_free_files(struct cache_state *state, unsigned nr_files)
{
	for (unsigned i = 0; i < nr_files; i++)
		if (state->files[i])
			mapping_free(state->files[i], NULL);
}

void cache_stop(struct engine *engine)
{
	struct cache_state *state = engine->state;

	/* The files were freed by the workers that emptied them last. */
	page_cache_free(state->cache);
	free(state->files);
	free(state);
	engine->state = NULL;
	engine->setup = NULL;
}

int cache_start(struct engine *engine, const struct engine_setup *setup,
		struct reason *why)
{
	struct page_cache_conf conf = cache_conf(engine, setup);
	struct cache_state *state = calloc(1, sizeof(*state));
	int err = -ENOMEM;

	if (!state)
		return reason_set(why, err, "cache: out of memory");
	state->files = calloc(setup->nr_files, sizeof(*state->files));
	if (!state->files) {
		reason_set(why, err, "cache: out of memory");
		goto fail;
	}
	err = page_cache_alloc(&state->cache, &conf, why);
	if (err)
		goto fail;
	for (unsigned i = 0; i < setup->nr_files; i++) {
		if (!setup->file_bytes[i])
			continue;
		err = mapping_alloc(&state->files[i], state->cache, setup->file_bytes[i]);
		if (err) {
			reason_set(why, err, "cache: out of memory");
			goto fail_files;
		}
	}
	engine->setup = setup;
	engine->state = state;
	return 0;
fail_files:
	cache_free_files(state, setup->nr_files);
	page_cache_free(state->cache);
fail:
	free(state->files);
	free(state);
	return err;
}

void cache_worker_stop(struct engine_worker *worker)
{
	struct cache_worker *cw = worker->state;
	struct cache_state *state = worker->engine->state;

	if (!cw)
		return;
	if (cw->vma)
		vma_free(cw->vma);
	if (worker->share->first && state->files[worker->share->file]) {
		mapping_free(state->files[worker->share->file], cw->thread);
		state->files[worker->share->file] = NULL;
	}
	if (cw->thread)
		cache_thread_free(cw->thread);
	free(cw);
	worker->state = NULL;
}

int cache_worker_start(struct engine_worker *worker, struct reason *why)
{
	struct cache_state *state = worker->engine->state;
	const struct share *share = worker->share;
	struct cache_worker *cw = calloc(1, sizeof(*cw));
	uint64_t start, end;
	int err = -ENOMEM;

	if (!cw)
		return reason_set(why, err, "cache: out of memory");
	worker->state = cw;
	err = cache_thread_alloc(&cw->thread, state->cache, share->mem_node,
				 share->own_node);
	if (err)
		goto fail;
	cw->file = state->files[share->file];
	if (share->start == share->end)
		return 0;
	cache_vma_range(worker->engine->setup, share, &start, &end);
	err = vma_alloc(&cw->vma, start, end, share->own_node);
	if (err)
		goto fail;
	return 0;
fail:
	return reason_set(why, err, "cache: out of memory for worker %u", worker->id);
}

int cache_empty(struct engine_worker *worker, struct reason *why)
{
	struct cache_worker *cw = worker->state;

	(void)why;
	if (worker->share->first && cw->file)
		mapping_truncate(cw->file, 0, cw->thread);
	return 0;
}

int cache_map(struct engine_worker *worker, struct reason *why)
{
	struct cache_worker *cw = worker->state;

	(void)why;
	if (cw->vma)
		vma_map(cw->vma, cw->file, cw->thread);
	return 0;
}

void cache_unmap(struct engine_worker *worker)
{
	struct cache_worker *cw = worker->state;

	if (cw->vma)
		vma_unmap(cw->vma, cw->thread);
}

static int cache_fault(struct engine_worker *worker, uint64_t offset, bool write,
		       struct extent *extent)
{
	struct cache_worker *cw = worker->state;

	return vma_touch(cw->vma, cw->thread, offset, write, extent);
}

int cache_truncate(struct engine_worker *worker, struct reason *why)
{
	struct cache_worker *cw = worker->state;

	(void)why;
	if (engine_share_is_file(worker))
		mapping_truncate(cw->file, 0, cw->thread);
	else
		mapping_truncate_range(cw->file, worker->share->start, worker->share->end,
				       cw->thread);
	return 0;
}

/* The frame, also where real page tables map it a second time. */
void *cache_page(struct engine_worker *worker, uint64_t offset)
{
	const struct cache_worker *cw = worker->state;

	return cw->vma ? vma_frame(cw->vma, offset) : NULL;
}

void cache_counters(struct engine_worker *worker, struct engine_counters *counters)
{
	struct cache_worker *cw = worker->state;

	*counters =
		(struct engine_counters){ .cache = *cache_thread_counters(cw->thread) };
}

void cache_reset_counters(struct engine_worker *worker)
{
	struct cache_worker *cw = worker->state;

	*cache_thread_counters(cw->thread) = (struct cache_counters){ 0 };
}

const struct engine_ops engine_cache = {
	.name = "cache",
	.summary = "the in-process page cache; batch=N pages a fault",
	.flags = ENGINE_NEEDS_ARENA | ENGINE_HAS_COUNTERS,
	.parse = cache_parse,
	.arena_need = cache_arena_need,
	.overhead = cache_overhead,
	.start = cache_start,
	.stop = cache_stop,
	.worker_start = cache_worker_start,
	.worker_stop = cache_worker_stop,
	.empty = cache_empty,
	.map = cache_map,
	.unmap = cache_unmap,
	.fault = cache_fault,
	.truncate = cache_truncate,
	.page = cache_page,
	.counters = cache_counters,
	.reset_counters = cache_reset_counters,
};
