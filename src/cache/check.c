/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_cache_check(): takes stock of every frame and every reference, and compares.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cache/mapping.h"
#include "cache/pgtable.h"
#include "cache/thread.h"
#include "cache/vma.h"
#include "cache/zone.h"

/* What was found of one frame. */
struct frame_account {
	uint32_t refs;	/* references that something accounts for, of a first frame */
	uint32_t maps;	/* vmas that map it, of a first frame */
	uint8_t seen;	/* 1: free, 2: in a tree */
	uint8_t lru;	/* places on LRU lists and in add batches */
	uint8_t active; /* on the active list */
};

struct stock {
	struct page_cache *cache;
	struct frame_account **frames; /* [zone][frame] */
	size_t nr_free, nr_cached, nr_all;
	struct reason *why;
};

static struct frame_account *account_of(struct stock *stock, const struct folio *folio)
{
	const struct zone *zone = &stock->cache->zones[folio->zone];

	return &stock->frames[folio->zone][zone_frame(zone, folio)];
}

#define BAD(stock, ...) reason_set((stock)->why, -EUCLEAN, __VA_ARGS__)

/* Marks the frames of a block as seen; each must be seen once. */
static int stock_block(struct stock *stock, const struct folio *folio, uint8_t as)
{
	struct frame_account *account = account_of(stock, folio);

	for (unsigned long i = 0; i < folio_nr_pages(folio); i++) {
		if (account[i].seen)
			return BAD(stock, "zone %u frame %zu: is %s and %s", folio->zone,
				   zone_frame(&stock->cache->zones[folio->zone], folio) +
					   i,
				   account[i].seen == 1 ? "free" : "cached",
				   as == 1 ? "free" : "cached");
		if (as == 1 && (folio[i].refcount || folio[i].mapcount))
			return BAD(stock, "a free frame: %u references, mapcount %u",
				   folio[i].refcount, folio[i].mapcount);
		account[i].seen = as;
	}
	*(as == 1 ? &stock->nr_free : &stock->nr_cached) += folio_nr_pages(folio);
	return 0;
}

static int stock_free_list(struct stock *stock, struct list_head *list, unsigned order,
			   uint32_t flag, size_t *nr)
{
	struct list_head *pos;
	int err;

	list_for_each(pos, list) {
		struct folio *folio = list_entry(pos, struct folio, lru);

		if (folio->order != order || folio_flags(folio) != flag ||
		    folio_mapping(folio) || folio->refcount)
			return BAD(
				stock,
				"free block of order %u: order %u, flags %#x, %u refs%s",
				order, folio->order, folio_flags(folio), folio->refcount,
				folio_mapping(folio) ? ", in a file" : "");
		err = stock_block(stock, folio, 1);
		if (err)
			return err;
		++*nr;
	}
	return 0;
}

/* No free block's buddy is free as well: they would have been joined. */
static int check_coalesced(struct stock *stock, struct zone *zone, unsigned order)
{
	struct list_head *pos;

	if (order == ZONE_MAX_ORDER)
		return 0;
	list_for_each(pos, &zone->free[order]) {
		size_t frame = zone_frame(zone, list_entry(pos, struct folio, lru));
		struct folio *buddy = &zone->memmap[frame ^ 1UL << order];

		if (folio_test(buddy, FOLIO_BUDDY) && buddy->order == order)
			return BAD(stock,
				   "zone %u: two free buddies of order %u at frame %zu",
				   zone->id, order, frame);
	}
	return 0;
}

static int stock_zone(struct stock *stock, struct zone *zone)
{
	size_t before = stock->nr_free;
	int err;

	for (unsigned order = 0; order < ZONE_NR_ORDERS; order++) {
		size_t nr = 0;

		err = stock_free_list(stock, &zone->free[order], order, FOLIO_BUDDY, &nr);
		if (!err && nr != zone->nr_free[order])
			err = BAD(stock,
				  "zone %u: %zu blocks of order %u, counted as %zu",
				  zone->id, nr, order, zone->nr_free[order]);
		if (!err)
			err = check_coalesced(stock, zone, order);
		if (err)
			return err;
	}
	if (stock->nr_free - before != zone->nr_free_pages)
		return BAD(stock, "zone %u: %zu free pages, counted as %zu", zone->id,
			   stock->nr_free - before, zone->nr_free_pages);
	return 0;
}

static int stock_thread(struct stock *stock, struct cache_thread *thread)
{
	struct pcp *pcp = &thread->pcp;
	size_t before = stock->nr_free;

	for (unsigned order = 0; order < PCP_NR_ORDERS; order++) {
		size_t nr = 0;
		int err =
			stock_free_list(stock, &pcp->lists[order], order, FOLIO_PCP, &nr);

		if (err)
			return err;
	}
	if (stock->nr_free - before != pcp->nr_pages ||
	    pcp->nr_pages > pcp->zone->pcp_batch)
		return BAD(stock,
			   "a thread's lists hold %zu pages, counted as %u, at most %u",
			   stock->nr_free - before, pcp->nr_pages, pcp->zone->pcp_batch);

	for (unsigned i = 0; i < thread->lru_add.nr; i++) {
		account_of(stock, thread->lru_add.folios[i])->refs++;
		account_of(stock, thread->lru_add.folios[i])->lru++;
	}
	for (unsigned i = 0; i < thread->lru_activate.nr; i++)
		account_of(stock, thread->lru_activate.folios[i])->refs++;
	return 0;
}

static int stock_lru(struct stock *stock, struct zone *zone)
{
	for (unsigned list = 0; list < LRU_NR_LISTS; list++) {
		struct list_head *pos;
		size_t nr = 0;

		list_for_each(pos, &zone->lru[list]) {
			struct folio *folio = list_entry(pos, struct folio, lru);

			if (folio->zone != zone->id || !folio_test(folio, FOLIO_LRU) ||
			    folio_test(folio, FOLIO_ACTIVE) != (list == LRU_ACTIVE))
				return BAD(stock, "LRU list %u of zone %u: flags %#x",
					   list, zone->id, folio_flags(folio));
			account_of(stock, folio)->lru++;
			nr += folio_nr_pages(folio);
		}
		if (nr != zone->nr_lru_pages[list])
			return BAD(stock,
				   "LRU list %u of zone %u: %zu pages, counted as %zu",
				   list, zone->id, nr, zone->nr_lru_pages[list]);
	}
	return 0;
}

static void stock_vmas(struct stock *stock, struct mapping *mapping,
		       struct cache_thread *scratch)
{
	struct list_head *pos;

	list_for_each(pos, &mapping->vmas) {
		struct vma *vma = list_entry(pos, struct vma, list);
		struct lock_stats uncounted = { 0 };

		for (unsigned slot = 0; slot < vma->nr_pmds; slot++) {
			unsigned nr = pgtable_gather(vma, slot, false, scratch->entries,
						     &uncounted);

			for (unsigned i = 0; i < nr; i++) {
				struct folio *folio = vma_entry_folio(
					stock->cache, scratch->entries[i]);

				account_of(stock, folio)->refs++;
				account_of(stock, folio)->maps++;
			}
		}
	}
}

/* A folio of a placed mapping, and no other, is the frames of its place. */
static int check_place(struct stock *stock, const struct mapping *mapping,
		       const struct folio *folio, unsigned long index)
{
	const struct zone *zone = mapping->placed;

	if (folio_test(folio, FOLIO_PLACED) != !!zone)
		return BAD(stock, "page %lu: a folio %s place in a file %s", index,
			   zone ? "without" : "with a", zone ? "with one" : "without");
	if (zone && (folio->zone != zone->id ||
		     zone_frame(zone, folio) != mapping->placed_at + index))
		return BAD(stock, "page %lu: is zone %u frame %zu, not zone %u frame %zu",
			   index, folio->zone,
			   zone_frame(&stock->cache->zones[folio->zone], folio), zone->id,
			   mapping->placed_at + index);
	return 0;
}

/*
 * What a folio holds of the file's last page, or reaches beyond it, would show when the
 * file grows.
 */
static bool is_zero_beyond_end(const struct mapping *mapping, const struct folio *folio,
			       unsigned long index)
{
	uint64_t start = (uint64_t)index << PAGE_SHIFT, size = mapping_size(mapping);
	uint64_t from = max_u64(size, start) - start;
	const char *data = (char *)folio->data + from;

	if (from >= folio_size(folio))
		return true;
	/* The first is zero, and each is as the one before it. */
	return !data[0] && !memcmp(data, data + 1, folio_size(folio) - from - 1);
}

/* One folio of the tree, when all references are counted. */
static int check_folio(struct stock *stock, struct mapping *mapping, struct folio *folio,
		       unsigned long index)
{
	struct frame_account *account = account_of(stock, folio);
	uint32_t flags = folio_flags(folio), refs = folio->refcount,
		 maps = folio->mapcount;
	int err;

	if (folio_mapping(folio) != mapping || folio_index(folio) != index)
		return BAD(stock, "page %lu: the folio says page %lu of %s file", index,
			   folio_index(folio),
			   folio_mapping(folio) == mapping ? "this" : "another");
	if (index & (folio_nr_pages(folio) - 1))
		return BAD(stock, "page %lu: folio of order %u is not aligned", index,
			   folio->order);
	if (index >= mapping_end(mapping))
		return BAD(stock, "page %lu: lies beyond the end, page %lu", index,
			   mapping_end(mapping));
	if (!is_zero_beyond_end(mapping, folio, index))
		return BAD(stock, "page %lu: not all is zero beyond the end of the file",
			   index);
	if (!(flags & FOLIO_UPTODATE) || flags & (FOLIO_LOCKED | FOLIO_BUDDY | FOLIO_PCP))
		return BAD(stock, "page %lu: flags %#x", index, flags);
	if (!(flags & FOLIO_DIRTY) !=
	    !tree_get_mark(&mapping->tree, index, TREE_MARK_DIRTY))
		return BAD(stock, "page %lu: dirty flag and dirty mark disagree", index);
	if (refs != account->refs + 1)
		return BAD(stock, "page %lu: %u references, accounted for %u", index,
			   refs, account->refs + 1);
	if (maps != account->maps)
		return BAD(stock, "page %lu: mapcount %u, mapped by %u", index, maps,
			   account->maps);
	if (account->lru != 1)
		return BAD(stock, "page %lu: in %u places of the LRU", index,
			   account->lru);
	err = check_place(stock, mapping, folio, index);
	return err ? err : stock_block(stock, folio, 2);
}

static int stock_mapping(struct stock *stock, struct mapping *mapping)
{
	size_t before = stock->nr_cached;
	unsigned long at = 0;
	void *entry;
	long nr = 0, nr_tree;
	int err;

	while (tree_load_batch(&mapping->tree, at, -1UL, &entry, &at, 1)) {
		err = check_folio(stock, mapping, entry, at);
		if (err)
			return err;
		at += folio_nr_pages(entry);
		nr++;
	}
	nr_tree = tree_check(&mapping->tree, stock->why);
	if (nr_tree < 0)
		return -EUCLEAN;
	if (nr_tree != nr)
		return BAD(stock, "the tree has %ld entries, lookups find %ld", nr_tree,
			   nr);
	if (stock->nr_cached - before != mapping_nr_pages(mapping))
		return BAD(stock, "%zu pages in the tree, counted as %lu",
			   stock->nr_cached - before,
			   (unsigned long)mapping_nr_pages(mapping));
	return 0;
}

/* Folios on a list of free blocks, or of nothing, have no business on the LRU. */
static int check_lru_total(struct stock *stock)
{
	for (unsigned z = 0; z < stock->cache->nr_zones; z++)
		for (size_t i = 0; i < stock->cache->zones[z].nr_frames; i++)
			if (stock->frames[z][i].lru && stock->frames[z][i].seen != 2)
				return BAD(stock,
					   "zone %u frame %zu: on the LRU, in no tree", z,
					   i);
	return 0;
}

static int take_stock(struct stock *stock, struct mapping *const *mappings, unsigned nr,
		      struct cache_thread *scratch)
{
	struct page_cache *cache = stock->cache;
	struct list_head *pos;
	int err = 0;

	for (unsigned z = 0; z < cache->nr_zones && !err; z++) {
		stock->nr_all += cache->zones[z].nr_frames;
		err = stock_zone(stock, &cache->zones[z]);
		if (!err)
			err = stock_lru(stock, &cache->zones[z]);
	}
	list_for_each(pos, &cache->threads)
		if (!err)
			err = stock_thread(stock,
					   list_entry(pos, struct cache_thread, list));
	for (unsigned i = 0; i < nr && !err; i++)
		stock_vmas(stock, mappings[i], scratch);
	for (unsigned i = 0; i < nr && !err; i++)
		err = stock_mapping(stock, mappings[i]);
	if (!err)
		err = check_lru_total(stock);
	if (!err && stock->nr_free + stock->nr_cached != stock->nr_all)
		err = BAD(stock, "%zu free + %zu cached pages are not all %zu",
			  stock->nr_free, stock->nr_cached, stock->nr_all);
	return err;
}

int page_cache_check(struct page_cache *cache, struct mapping *const *mappings,
		     unsigned nr, struct reason *why)
{
	struct stock stock = { .cache = cache, .why = why };
	struct cache_thread *scratch = malloc(sizeof(*scratch));
	int err = -ENOMEM;

	stock.frames = calloc(cache->nr_zones, sizeof(*stock.frames));
	if (!stock.frames || !scratch)
		goto out;
	for (unsigned z = 0; z < cache->nr_zones; z++) {
		stock.frames[z] =
			calloc(cache->zones[z].nr_frames + 1, sizeof(**stock.frames));
		if (!stock.frames[z])
			goto out;
	}
	err = take_stock(&stock, mappings, nr, scratch);
out:
	for (unsigned z = 0; stock.frames && z < cache->nr_zones; z++)
		free(stock.frames[z]);
	free(stock.frames);
	free(scratch);
	return err == -ENOMEM ?
		       reason_set(why, err, "no memory to check the page cache") :
		       err;
}
