/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames of one NUMA node: a buddy allocator under the zone lock, and in front of it the
 * threads' own free lists (the kernel's pcp), filled and drained in bulk.
 */
#ifndef CACHE_ZONE_H
#define CACHE_ZONE_H

#include <stddef.h>

#include "base/list.h"
#include "base/lock.h"
#include "cache/folio.h"
#include "sys/arena.h"

#define ZONE_MAX_ORDER PMD_ORDER
#define ZONE_NR_ORDERS (ZONE_MAX_ORDER + 1)

/* Pages that a thread's free lists may hold: the kernel's batch of a 512 MiB zone. */
#define PCP_MAX_PAGES 31
#define PCP_NR_ORDERS 5 /* a block of a higher order is more than PCP_MAX_PAGES */

enum lru_list { LRU_INACTIVE, LRU_ACTIVE, LRU_NR_LISTS };

struct zone {
	/* Constant. */
	unsigned nid;
	uint16_t id;	      /* its place in page_cache.zones */
	unsigned pcp_batch;   /* pages that threads' lists are filled and drained by */
	size_t nr_frames;     /* a multiple of 2^ZONE_MAX_ORDER */
	char *base;	      /* first frame, aligned to the largest block */
	struct folio *memmap; /* [nr_frames] */

	struct lock lock __cacheline_aligned;  /* zone lock */
	size_t nr_free_pages;		       /* in the lists below. zone lock */
	size_t nr_free[ZONE_NR_ORDERS];	       /* blocks. zone lock */
	struct list_head free[ZONE_NR_ORDERS]; /* zone lock */

	struct lock lru_lock __cacheline_aligned;
	struct list_head lru[LRU_NR_LISTS]; /* lru_lock */
	size_t nr_lru_pages[LRU_NR_LISTS];  /* lru_lock */
};

/* A thread's free frames of the zone it prefers; nobody else touches it. */
struct pcp {
	struct zone *zones; /* all of them, nr_zones */
	unsigned nr_zones;
	struct zone *zone; /* the preferred one */
	unsigned nr_pages; /* in all lists, at most zone->pcp_batch */
	struct list_head lists[PCP_NR_ORDERS];
	struct lock_stats *stats; /* of the zone locks */
};

/* The frames of @region, all free. Allocates the memmap on the region's node. 0 or -ENOMEM. */
int zone_init(struct zone *zone, uint16_t id, const struct arena_region *region);
void zone_destroy(struct zone *zone);
/* What zone_init() allocates for @bytes of frames. */
size_t zone_overhead(size_t bytes);

void pcp_init(struct pcp *pcp, struct zone *zones, unsigned nr_zones, int nid,
	      struct lock_stats *stats);
/* Gives all its frames back to the zone. */
void pcp_drain(struct pcp *pcp);

/*
 * 2^@order frames as a folio without a reference (see folio_init()), from the preferred zone or the
 * nearest other one; NULL when no zone has so many in one piece.
 */
struct folio *pcp_alloc(struct pcp *pcp, unsigned order);
/* Nobody has a reference to @folio. FOLIO_PLACED: to the zone, not to the thread's lists. */
void pcp_free(struct pcp *pcp, struct folio *folio);

/*
 * Exactly the frames from @frame on, as a folio without a reference (alloc_contig_range() of the
 * kernel): 2^@order of them, or as many as are free in one piece there. NULL: frame @frame is not
 * free. It goes past the threads' lists, so what is taken in this way comes back as FOLIO_PLACED
 * (see pcp_free()), straight to the zone. @frame is aligned to 2^@order.
 */
struct folio *zone_take(struct zone *zone, size_t frame, unsigned order,
			struct lock_stats *stats);

static inline size_t zone_frame(const struct zone *zone, const struct folio *folio)
{
	return (size_t)(folio - zone->memmap);
}

#endif
