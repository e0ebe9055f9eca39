/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache/zone.h"

#include <errno.h>
#include <stdlib.h>

/*
 * zone_batchsize() of the kernel: a quarter of a thousandth of the zone (of 1 MiB at
 * most), taken to the nearest 2^n - 1, so that threads that allocate in turn do not end
 * up with all the frames of one cache colour. Capped, because a page held back on one of
 * 256 threads is lost to the others.
 */
static unsigned zone_batchsize(size_t nr_frames)
{
	uint64_t batch = min_u64(nr_frames >> 10, (1 << 20) / PAGE_SIZE) / 4;

	batch = max_u64(batch, 1);
	batch = (1ULL << ilog2_u64(batch + batch / 2)) - 1;
	return (unsigned)min_u64(max_u64(batch, 1), PCP_MAX_PAGES);
}

static void block_add(struct zone *zone, struct folio *block, unsigned order, bool tail)
{
	/* relaxed: nobody has a reference, zone lock orders the rest */
	atomic_store_explicit(&block->flags, FOLIO_BUDDY, memory_order_relaxed);
	block->order = (uint8_t)order;
	zone->nr_free[order]++;
	if (tail)
		list_add_tail(&block->lru, &zone->free[order]);
	else
		list_add(&block->lru, &zone->free[order]);
}

static void block_del(struct zone *zone, struct folio *block)
{
	atomic_store_explicit(&block->flags, 0, memory_order_relaxed);
	zone->nr_free[block->order]--;
	list_del(&block->lru);
}

/* The smallest block that will do; its upper halves go back to the lists. */
static struct folio *block_alloc_locked(struct zone *zone, unsigned order)
{
	struct folio *block;
	unsigned have = order;

	while (have < ZONE_NR_ORDERS && !zone->nr_free[have])
		have++;
	if (have == ZONE_NR_ORDERS)
		return NULL;
	block = list_entry(zone->free[have].next, struct folio, lru);
	block_del(zone, block);
	while (have > order) {
		have--;
		block_add(zone, block + (1UL << have), have, false);
	}
	block->order = (uint8_t)order;
	zone->nr_free_pages -= 1UL << order;
	return block;
}

/* The free block that holds @frame. NULL: the frame is not free, or on a thread's list. */
static struct folio *block_find_locked(struct zone *zone, size_t frame)
{
	for (unsigned order = 0; order < ZONE_NR_ORDERS; order++) {
		struct folio *block = &zone->memmap[align_down(frame, 1UL << order)];

		if (folio_test(block, FOLIO_BUDDY))
			return frame < zone_frame(zone, block) + (1UL << block->order) ?
				       block :
				       NULL;
	}
	return NULL;
}

struct folio *zone_take(struct zone *zone, size_t frame, unsigned order,
			struct lock_stats *stats)
{
	struct folio *folio = &zone->memmap[frame], *block;
	unsigned have;

	lock_acquire(&zone->lock, stats);
	block = block_find_locked(zone, frame);
	if (!block) {
		lock_release(&zone->lock);
		return NULL;
	}
	have = block->order;
	order = (unsigned)min_u64(order, have);
	block_del(zone, block);
	while (have > order) {
		have--;
		/* The half without the wanted frames goes back. */
		if (folio - block >= 1L << have) {
			block_add(zone, block, have, false);
			block += 1UL << have;
		} else {
			block_add(zone, block + (1UL << have), have, false);
		}
	}
	folio->order = (uint8_t)order;
	zone->nr_free_pages -= 1UL << order;
	lock_release(&zone->lock);
	return folio;
}

/* Joins the block with its buddy as long as that is free and whole. */
static void block_free_locked(struct zone *zone, struct folio *block)
{
	size_t frame = zone_frame(zone, block);
	unsigned order = block->order;

	zone->nr_free_pages += 1UL << order;
	for (; order < ZONE_MAX_ORDER; order++) {
		struct folio *buddy = &zone->memmap[frame ^ (1UL << order)];

		if (!folio_test(buddy, FOLIO_BUDDY) || buddy->order != order)
			break;
		block_del(zone, buddy);
		frame &= ~(1UL << order);
	}
	block_add(zone, &zone->memmap[frame], order, false);
}

size_t zone_overhead(size_t bytes)
{
	return bytes / PAGE_SIZE * sizeof(struct folio);
}

int zone_init(struct zone *zone, uint16_t id, const struct arena_region *region)
{
	size_t nr_frames = region->bytes / PAGE_SIZE & ~(size_t)(PMD_NR - 1);

	*zone = (struct zone){ .nid = region->nid, .id = id, .base = region->base };
	lock_init(&zone->lock);
	lock_init(&zone->lru_lock);
	for (unsigned i = 0; i < ZONE_NR_ORDERS; i++)
		list_init(&zone->free[i]);
	for (unsigned i = 0; i < LRU_NR_LISTS; i++)
		list_init(&zone->lru[i]);
	zone->pcp_batch = zone_batchsize(nr_frames);
	zone->nr_frames = nr_frames;
	if (!nr_frames)
		return 0;

	zone->memmap =
		arena_private_alloc(zone_overhead(region->bytes), (int)region->nid);
	if (!zone->memmap)
		return -ENOMEM;
	for (size_t i = 0; i < nr_frames; i++) {
		zone->memmap[i].zone = id;
		zone->memmap[i].data = zone->base + i * PAGE_SIZE;
	}
	for (size_t i = 0; i < nr_frames; i += PMD_NR)
		block_add(zone, &zone->memmap[i], ZONE_MAX_ORDER, true);
	zone->nr_free_pages = nr_frames;
	return 0;
}

void zone_destroy(struct zone *zone)
{
	if (zone->memmap)
		arena_private_free(zone->memmap,
				   zone_overhead(zone->nr_frames * PAGE_SIZE));
	zone->memmap = NULL;
}

void pcp_init(struct pcp *pcp, struct zone *zones, unsigned nr_zones, int nid,
	      struct lock_stats *stats)
{
	*pcp = (struct pcp){
		.zones = zones,
		.nr_zones = nr_zones,
		.zone = &zones[0],
		.stats = stats,
	};
	for (unsigned i = 0; i < nr_zones; i++)
		if (nid >= 0 && zones[i].nid == (unsigned)nid)
			pcp->zone = &zones[i];
	for (unsigned i = 0; i < PCP_NR_ORDERS; i++)
		list_init(&pcp->lists[i]);
}

static void pcp_drain_list_locked(struct pcp *pcp, unsigned order)
{
	struct list_head *list = &pcp->lists[order];

	while (!list_empty(list)) {
		struct folio *block = list_entry(list->next, struct folio, lru);

		list_del(&block->lru);
		pcp->nr_pages -= 1U << order;
		block_free_locked(pcp->zone, block);
	}
}

void pcp_drain(struct pcp *pcp)
{
	if (!pcp->nr_pages)
		return;
	lock_acquire(&pcp->zone->lock, pcp->stats);
	for (unsigned order = 0; order < PCP_NR_ORDERS; order++)
		pcp_drain_list_locked(pcp, order);
	lock_release(&pcp->zone->lock);
}

/* Takes as many blocks of @order from the zone as the lists may hold: the first is the caller's. */
static struct folio *pcp_refill(struct pcp *pcp, unsigned order)
{
	struct zone *zone = pcp->zone;
	struct folio *first;
	unsigned nr = 0;

	if (order < PCP_NR_ORDERS)
		nr = (zone->pcp_batch - pcp->nr_pages) >> order;
	lock_acquire(&zone->lock, pcp->stats);
	first = block_alloc_locked(zone, order);
	while (first && nr-- > 1) {
		struct folio *block = block_alloc_locked(zone, order);

		if (!block)
			break;
		atomic_store_explicit(&block->flags, FOLIO_PCP, memory_order_relaxed);
		list_add_tail(&block->lru, &pcp->lists[order]);
		pcp->nr_pages += 1U << order;
	}
	lock_release(&zone->lock);
	return first;
}

/* From the zones that are @distance places away from the preferred one. */
static struct folio *zone_alloc_at(struct pcp *pcp, unsigned distance, unsigned order)
{
	size_t home = (size_t)(pcp->zone - pcp->zones);
	struct folio *folio = NULL;

	for (int side = 0; side < 2 && !folio; side++) {
		size_t i = side ? home - distance :
				  home + distance; /* wraps: not < nr_zones */

		if (i >= pcp->nr_zones)
			continue;
		lock_acquire(&pcp->zones[i].lock, pcp->stats);
		folio = block_alloc_locked(&pcp->zones[i], order);
		lock_release(&pcp->zones[i].lock);
	}
	return folio;
}

static struct folio *pcp_alloc_slow(struct pcp *pcp, unsigned order)
{
	struct folio *folio = pcp_refill(pcp, order);

	for (unsigned distance = 1; !folio && distance < pcp->nr_zones; distance++)
		folio = zone_alloc_at(pcp, distance, order);
	if (!folio && pcp->nr_pages) {
		/* What the lists hold back may be just what is missing to a larger block. */
		pcp_drain(pcp);
		folio = zone_alloc_at(pcp, 0, order);
	}
	return folio;
}

struct folio *pcp_alloc(struct pcp *pcp, unsigned order)
{
	struct list_head *list;
	struct folio *folio;

	if (order >= PCP_NR_ORDERS || list_empty(&pcp->lists[order]))
		return pcp_alloc_slow(pcp, order);
	list = &pcp->lists[order];
	folio = list_entry(list->next, struct folio, lru);
	list_del(&folio->lru);
	pcp->nr_pages -= 1U << order;
	return folio;
}

static struct zone *folio_zone_of(struct pcp *pcp, const struct folio *folio)
{
	return &pcp->zones[folio->zone];
}

void pcp_free(struct pcp *pcp, struct folio *folio)
{
	struct zone *zone = folio_zone_of(pcp, folio);
	unsigned order = folio->order;

	if (zone != pcp->zone || 1U << order > zone->pcp_batch ||
	    folio_test(folio, FOLIO_PLACED)) {
		lock_acquire(&zone->lock, pcp->stats);
		block_free_locked(zone, folio);
		lock_release(&zone->lock);
		return;
	}
	/* relaxed: the last reference is gone, only this thread can reach it */
	atomic_store_explicit(&folio->flags, FOLIO_PCP, memory_order_relaxed);
	list_add(&folio->lru, &pcp->lists[order]);
	pcp->nr_pages += 1U << order;
	if (pcp->nr_pages <= zone->pcp_batch)
		return;

	/* This order's list first: the others are as likely to be asked for next as before. */
	lock_acquire(&zone->lock, pcp->stats);
	pcp_drain_list_locked(pcp, order);
	lock_release(&zone->lock);
}
