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
 * slow=PERCENT, so that tests of gates have a side that is slower by what is known:
 * before a pass, so much of the worker's bytes is loaded once more, and stored again
 * where the pass stores. They are in the middle: what comes last, the pass before has
 * left in the CPU's caches, and what comes first, the pass would find there. So it is the
 * same work, if half of the bytes are more than the caches hold. Page by page in another
 * order where the pass has no order either: it does not begin at an end then.
 */
static void move_again(const struct extent *own, unsigned percent, uint64_t offset,
		       bool write)
{
	uint64_t nr = (own->end - own->start) / PAGE_SIZE, more = nr * percent / 100;
	bool in_order = offset == own->start || offset + PAGE_SIZE >= own->end;
	char buffer[PAGE_SIZE];

	for (uint64_t i = 0; i < more; i++) {
		/* Knuth's multiplicative hashing scatters them; some twice, and as many not. */
		uint64_t k = in_order ? i : (uint32_t)(i * 2654435761U) % more;
		char *page = (char *)own->base + (nr / 2 + k) % nr * PAGE_SIZE;

		memcpy(buffer, page, PAGE_SIZE);
		/* The copy is used, and may have changed, as far as the compiler knows. */
		__asm__ volatile("" : : "r"(buffer) : "memory");
		if (write)
			memcpy(page, buffer, PAGE_SIZE);
	}
}

static int memory_fault(struct engine_worker *worker, uint64_t offset, bool write,
			struct extent *extent)
{
	const struct extent *own = worker->state;
	unsigned slow = worker->engine->conf.memory.slow;

	if (slow)
		move_again(own, slow, offset, write);
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
