/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cache/rcu.h"
#include "cache/thread.h"
#include "cache/tree_node.h"
#include "sys/arena.h"

/* What a thread's pool takes from the slab at once (POOL_REFILL of tree_slab.c). */
#define POOL_NODES 32

/*
 * Tree nodes for @nr_frames pages: a leaf for 64 of them and what stands above the leaves, twice,
 * because the nodes of a truncated file come back only after a grace period; and the threads'
 * stocks. Sparse or tiny files may need more: then the slab grows.
 */
static size_t nr_nodes(size_t nr_frames, unsigned nr_threads)
{
	size_t leaves = div_round_up(nr_frames, TREE_SLOTS);

	return 2 * (leaves + div_round_up(leaves, TREE_SLOTS - 1)) +
	       (size_t)nr_threads * POOL_NODES;
}

size_t page_cache_overhead(size_t arena_bytes, unsigned nr_threads)
{
	return align_up(zone_overhead(arena_bytes), PAGE_SIZE) +
	       nr_nodes(arena_bytes / PAGE_SIZE, nr_threads) * sizeof(struct tree_node) +
	       nr_threads * align_up(sizeof(struct cache_thread), PAGE_SIZE) +
	       align_up(sizeof(struct page_cache), PAGE_SIZE);
}

size_t page_cache_slack(const struct page_cache_conf *conf)
{
	(void)conf;
	return PCP_MAX_PAGES * PAGE_SIZE;
}

int page_cache_alloc(struct page_cache **cache, const struct page_cache_conf *conf,
		     struct reason *why)
{
	const struct arena *arena = conf->arena;
	size_t nr_frames = arena_bytes(arena) / PAGE_SIZE;
	struct page_cache *c;
	int err = -ENOMEM;

	if (!is_power_of_2(conf->batch) || conf->batch > PMD_NR ||
	    !conf->truncate_batch || conf->truncate_batch > PMD_NR || !arena->nr_regions)
		return reason_set(why, -EINVAL, "page cache: bad configuration");

	c = aligned_alloc(CACHELINE_SIZE, sizeof(*c));
	if (!c)
		goto no_memory;
	memset(c, 0, sizeof(*c));
	c->batch = conf->batch;
	c->truncate_batch = conf->truncate_batch;
	c->trapped = conf->trapped;
	lock_init(&c->threads_lock);
	list_init(&c->threads);
	rwlock_init(&c->mmap_lock);
	c->zones = aligned_alloc(CACHELINE_SIZE, arena->nr_regions * sizeof(*c->zones));
	if (!c->zones)
		goto free_cache;
	for (; c->nr_zones < arena->nr_regions; c->nr_zones++) {
		err = zone_init(&c->zones[c->nr_zones], (uint16_t)c->nr_zones,
				&arena->regions[c->nr_zones]);
		if (err)
			goto free_zones;
	}
	err = tree_slab_init(&c->slab, nr_nodes(nr_frames, conf->nr_threads));
	if (err)
		goto free_zones;
	*cache = c;
	return 0;

free_zones:
	while (c->nr_zones)
		zone_destroy(&c->zones[--c->nr_zones]);
	free(c->zones);
free_cache:
	free(c);
no_memory:
	return reason_set(why, err, "no memory for the descriptors of %zu page frames",
			  nr_frames);
}

void page_cache_free(struct page_cache *cache)
{
	if (!cache)
		return;
	tree_slab_destroy(&cache->slab);
	while (cache->nr_zones)
		zone_destroy(&cache->zones[--cache->nr_zones]);
	free(cache->zones);
	free(cache);
}

int cache_thread_alloc(struct cache_thread **thread, struct page_cache *cache, int nid,
		       int own_nid)
{
	struct cache_thread *t = arena_private_alloc(sizeof(*t), own_nid);
	struct lock_stats uncounted = { 0 };

	if (!t)
		return -ENOMEM;
	t->cache = cache;
	pcp_init(&t->pcp, cache->zones, cache->nr_zones, nid, &t->counters.zone);
	tree_pool_init(&t->pool, &cache->slab);
	cache_rcu_register_thread();
	lock_acquire(&cache->threads_lock, &uncounted);
	list_add_tail(&t->list, &cache->threads);
	lock_release(&cache->threads_lock);
	*thread = t;
	return 0;
}

void cache_thread_free(struct cache_thread *thread)
{
	struct lock_stats uncounted = { 0 };

	if (!thread)
		return;
	lru_drain(thread);
	pcp_drain(&thread->pcp);
	tree_pool_destroy(&thread->pool);
	lock_acquire(&thread->cache->threads_lock, &uncounted);
	list_del(&thread->list);
	lock_release(&thread->cache->threads_lock);
	cache_rcu_unregister_thread();
	arena_private_free(thread, sizeof(*thread));
}

struct cache_counters *cache_thread_counters(struct cache_thread *thread)
{
	return &thread->counters;
}
