/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page cache and its threads, for the files of this directory only. */
#ifndef CACHE_THREAD_H
#define CACHE_THREAD_H

#include <stdatomic.h>

#include "base/list.h"
#include "base/lock.h"
#include "cache/cache.h"
#include "cache/lru.h"
#include "cache/tree.h"
#include "cache/zone.h"

struct page_cache {
	/* Constant. */
	unsigned batch;		 /* pages, a power of two */
	unsigned batch_order;	 /* its logarithm */
	unsigned truncate_batch; /* folios */
	bool trapped;		 /* faults come from real ones */
	struct zone *zones;	 /* one a region of the arena, ascending nid */
	unsigned nr_zones;
	struct tree_slab slab; /* has a lock of its own */

	struct lock threads_lock __cacheline_aligned;
	struct list_head threads; /* cache_thread.list. threads_lock */

	/*
	 * The address space of the process: faults hold it for reading, map and unmap for
	 * writing.
	 */
	struct rwlock mmap_lock __cacheline_aligned;
};

/*
 * A worker's own state: only its thread touches it, but where said otherwise, and but for
 * page_cache_check() when all is quiet.
 * In memory of its own node.
 */
struct cache_thread {
	struct page_cache *cache; /* constant */
	struct list_head list;	  /* page_cache.threads_lock */
	struct cache_counters counters;
	struct lock_stats ptl; /* of page table locks: they have no counter */
	struct pcp pcp;
	struct folio_batch lru_add, lru_activate;
	struct tree_pool pool;
	/*
	 * Odd while a fault of this thread may hold frames that no tree has yet; higher
	 * by two after each that did. Written by the thread, read by those that find none
	 * left: see fault_others_are_quiet().
	 */
	_Atomic unsigned filling;

	/* Scratch of one fault, or of one batch of a truncation. */
	struct folio *made[PMD_NR];    /* folios that the fault made */
	struct folio *found[PMD_NR];   /* folios of the cache ... */
	unsigned long indexes[PMD_NR]; /* ... and where they start */
	struct folio *dirtied[PMD_NR]; /* folios whose dirty mark is to be set */
	uint64_t entries[PMD_NR];      /* page table entries taken out */
	struct folio *shot[PMD_NR];    /* truncated, free after a grace period */
};

#endif
