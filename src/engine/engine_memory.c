/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory engine: plain copies to and from pre-faulted, huge-page, node-local anonymous
 * memory. No page cache: the limit that a page cache is held against. It uses the same
 * arena, hence the same pages, as the in-process page cache.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/parse.h"
#include "engine/engine.h"
#include "engine/spec.h"
#include "sys/arena.h"

static int memory_parse(struct engine *engine, struct spec *spec, struct reason *why)
{
	const char *slow = spec_take(spec, "slow");
	uint64_t percent = 0;

	if (slow && parse_uint(slow, 1, 100, &percent))
		return reason_set(why, -EINVAL,
				  "memory: slow=%s: it is a percentage from 1 to 100",
				  slow);
	engine->conf.memory.slow = (unsigned)percent;
	return spec_refuse_rest(spec, "slow", why);
}

/*
 * Whole pages. Workers of a node lie side by side in its region: rounding each up to huge pages
 * would make 256 workers with little data take 512 MiB.
 */
static size_t memory_arena_need(const struct engine *engine,
				const struct engine_setup *setup, unsigned id)
{
	const struct share *share = &setup->shares[id];

	(void)engine;
	return align_up(share->end - share->start, PAGE_SIZE);
}

static size_t memory_overhead(const struct engine *engine,
			      const struct engine_setup *setup)
{
	(void)engine;
	return setup->nr_workers * sizeof(struct extent);
}

/* State: an extent for each worker, carved from the region of its node. */
static int memory_start(struct engine *engine, const struct engine_setup *setup,
			struct reason *why)
{
	struct extent *extents = calloc(setup->nr_workers, sizeof(*extents));
	size_t *used = calloc(setup->arena->nr_regions, sizeof(*used));
	int err = -ENOMEM;

	if (!extents || !used) {
		reason_set(why, err, "memory: out of memory");
		goto fail;
	}
	for (unsigned i = 0; i < setup->nr_workers; i++) {
		const struct share *share = &setup->shares[i];
		struct arena_region *region = arena_region(setup->arena, share->mem_node);
		size_t need = memory_arena_need(engine, setup, i), *mark;

		if (!need)
			continue;
		mark = region ? &used[region - setup->arena->regions] : NULL;
		if (!region || region->bytes - *mark < need) {
			reason_set(why, err, "memory: the arena of node %d is too small",
				   share->mem_node);
			goto fail;
		}
		extents[i] = (struct extent){ (char *)region->base + *mark, share->start,
					      share->end };
		*mark += need;
	}
	free(used);
	engine->setup = setup;
	engine->state = extents;
	return 0;
fail:
	free(used);
	free(extents);
	return err;
}

static void memory_stop(struct engine *engine)
{
	free(engine->state);
	engine->state = NULL;
	engine->setup = NULL;
}

static int memory_worker_start(struct engine_worker *worker, struct reason *why)
{
	struct extent *extents = worker->engine->state;

	(void)why;
	worker->state = &extents[worker->id];
	return 0;
}

/*
 * slow=PERCENT, so that tests of gates have a side that is slower by what is known: loads so much of the
 * worker's bytes once more. Those at the end, which an ascending pass has pushed out of the CPU's caches
 * when it gets there.
 */
static void load_again(const struct extent *extent, unsigned percent)
{
	uint64_t size = extent->end - extent->start, n;
	char page[PAGE_SIZE];

	for (uint64_t at = size - size / 100 * percent; at < size; at += n) {
		n = min_u64(PAGE_SIZE, size - at);
		memcpy(page, extent->base + at, n);
		/* The copy is used, as far as the compiler knows. */
		__asm__ volatile("" : : "r"(page) : "memory");
	}
}

static int memory_fault(struct engine_worker *worker, uint64_t offset, bool write,
			struct extent *extent)
{
	const struct extent *own = worker->state;

	(void)offset, (void)write;
	if (worker->engine->conf.memory.slow)
		load_again(own, worker->engine->conf.memory.slow);
	*extent = *own;
	return 0;
}

static void *memory_page(struct engine_worker *worker, uint64_t offset)
{
	const struct extent *own = worker->state;

	return own->base + (offset - own->start);
}

const struct engine_ops engine_memory = {
	.name = "memory",
	.summary = "plain copies to and from huge-page, node-local memory: the limit",
	.flags = ENGINE_NEEDS_ARENA,
	.parse = memory_parse,
	.arena_need = memory_arena_need,
	.overhead = memory_overhead,
	.start = memory_start,
	.stop = memory_stop,
	.worker_start = memory_worker_start,
	.fault = memory_fault,
	.page = memory_page,
};
