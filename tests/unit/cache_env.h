/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A page cache over memory of the test's own: what most tests of src/cache/ start from. */
#ifndef TESTS_CACHE_ENV_H
#define TESTS_CACHE_ENV_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cache/mapping.h"
#include "cache/pgtable.h"
#include "cache/thread.h"
#include "cache/zone.h"
#include "tap.h"

#define ENV_MAX_NODES 4

struct env {
	struct arena arena;
	struct arena_region regions[ENV_MAX_NODES];
	struct page_cache *cache;
	struct cache_thread *thread;
};

/* @nr_nodes nodes with @mib MiB each, numbered 0, 1, ...; the thread prefers node @nid. */
static inline void env_open_nodes(struct env *env, size_t mib, unsigned nr_nodes, int nid,
				  unsigned batch, unsigned truncate_batch)
{
	struct page_cache_conf conf = {
		.batch = batch,
		.truncate_batch = truncate_batch,
		.arena = &env->arena,
		.nr_threads = 8,
	};
	struct reason why;

	*env = (struct env){ .arena = { .regions = env->regions,
					.nr_regions = nr_nodes } };
	for (unsigned i = 0; i < nr_nodes; i++) {
		env->regions[i].nid = i;
		env->regions[i].bytes = mib << 20;
		env->regions[i].base = aligned_alloc(PMD_SIZE, mib << 20);
		if (!env->regions[i].base)
			bail("no memory for the arena");
		/* What a fault does not zero shows. */
		memset(env->regions[i].base, 0xa5, mib << 20);
	}
	if (page_cache_alloc(&env->cache, &conf, &why))
		bail("%s", why.text);
	if (cache_thread_alloc(&env->thread, env->cache, nid, nid))
		bail("no memory for a thread");
}

static inline void env_open(struct env *env, size_t mib, unsigned batch)
{
	env_open_nodes(env, mib, 1, 0, batch, 15);
}

static inline void env_close(struct env *env)
{
	cache_thread_free(env->thread);
	page_cache_free(env->cache);
	for (unsigned i = 0; i < env->arena.nr_regions; i++)
		free(env->regions[i].base);
}

static inline struct mapping *env_mapping(struct env *env, uint64_t bytes)
{
	struct mapping *mapping;

	if (mapping_alloc(&mapping, env->cache, bytes))
		bail("no memory for a mapping");
	return mapping;
}

static inline struct vma *env_vma(uint64_t start, uint64_t end)
{
	struct vma *vma;

	if (vma_alloc(&vma, start, end, -1))
		bail("no memory for a vma");
	return vma;
}

static inline bool env_check(struct env *env, struct mapping *const *mappings,
			     unsigned nr)
{
	struct reason why = { "" };

	if (!page_cache_check(env->cache, mappings, nr, &why))
		return true;
	printf("# %s\n", why.text);
	return false;
}

/* Free pages in all zones, those of the thread's lists not counted. */
static inline size_t env_free_pages(const struct env *env)
{
	size_t pages = 0;

	for (unsigned i = 0; i < env->cache->nr_zones; i++)
		pages += env->cache->zones[i].nr_free_pages;
	return pages;
}

/* xorshift64: the same numbers on every machine. */
static inline uint64_t env_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
