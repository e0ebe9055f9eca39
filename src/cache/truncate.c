/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Removing pages from a mapping (mm/truncate.c of the kernel).
 */
#include "cache/mapping.h"
#include "cache/thread.h"
#include "cache/zone.h"

/* What one truncation goes by. */
struct truncation {
	struct mapping *mapping;
	struct cache_thread *thread;
	unsigned long start; /* the first page to go */
};

/* Of a locked folio: whether it is in the tree and wholly in the range. */
static bool truncation_wants(const struct truncation *t, const struct folio *folio)
{
	return folio_mapping(folio) == t->mapping && folio_index(folio) >= t->start;
}

/*
 * Takes @nr locked folios, ascending, out of the tree under one tree_lock hold, and unlocks them. The
 * tree's references are the caller's then.
 */
static void truncate_delete(struct truncation *t, struct folio **folios, unsigned nr)
{
	struct tree *tree = &t->mapping->tree;
	struct tree_walk walk;
	long nr_pages = 0;

	lock_acquire(&tree->lock, &t->thread->counters.tree);
	tree_walk_init_locked(&walk, tree, &t->thread->pool);
	for (unsigned i = 0; i < nr; i++) {
		tree_delete_locked(&walk, folio_index(folios[i]));
		folio_clear_mapping(folios[i]);
		nr_pages += (long)folio_nr_pages(folios[i]);
	}
	mapping_add_pages_locked(t->mapping, -nr_pages);
	lock_release(&tree->lock);
	for (unsigned i = 0; i < nr; i++) {
		folio_test_clear(folios[i], FOLIO_DIRTY);
		folio_unlock(folios[i]);
	}
}

/* Puts the lookup's and the tree's reference of each, and frees those that nobody else holds. */
static void truncate_put(struct truncation *t, struct folio **folios, unsigned nr)
{
	unsigned nr_free = 0;

	for (unsigned i = 0; i < nr; i++)
		if (folio_put_testzero(folios[i], 2))
			folios[nr_free++] = folios[i];
	lru_del_batch(folios, nr_free, t->thread);
	for (unsigned i = 0; i < nr_free; i++)
		pcp_free(&t->thread->pcp, folios[i]);
}

/*
 * One batch: trylock pass first; what was locked by somebody else is waited for afterwards, one by
 * one, when no other lock is held.
 */
static void truncate_batch(struct truncation *t, struct folio **folios, unsigned nr)
{
	struct folio **busy = t->thread->made;
	unsigned nr_locked = 0, nr_busy = 0;

	for (unsigned i = 0; i < nr; i++) {
		struct folio *folio = folios[i];

		if (!folio_trylock(folio)) {
			busy[nr_busy++] = folio;
		} else if (truncation_wants(t, folio)) {
			folios[nr_locked++] = folio;
		} else {
			folio_unlock(folio);
			folio_put(folio, t->thread);
		}
	}
	if (nr_locked) {
		truncate_delete(t, folios, nr_locked);
		truncate_put(t, folios, nr_locked);
	}
	for (unsigned i = 0; i < nr_busy; i++) {
		struct folio *folio = busy[i];

		folio_lock(folio);
		if (truncation_wants(t, folio)) {
			truncate_delete(t, &folio, 1);
			truncate_put(t, &folio, 1);
		} else {
			folio_unlock(folio);
			folio_put(folio, t->thread);
		}
	}
}

void mapping_truncate(struct mapping *mapping, uint64_t offset,
		      struct cache_thread *thread)
{
	struct truncation t = {
		.mapping = mapping,
		.thread = thread,
		.start = (unsigned long)div_round_up(offset, PAGE_SIZE),
	};
	unsigned max = mapping->cache->truncate_batch;
	unsigned long at = t.start;
	unsigned nr;

	/* References of this thread's own batches would keep frames from being freed. */
	lru_drain(thread);
	while ((nr = mapping_get_folios(mapping, at, -1UL, thread->found, thread->indexes,
					max))) {
		unsigned long last = thread->indexes[nr - 1];

		truncate_batch(&t, thread->found, nr);
		/* Also past a folio that only reaches into the range, which stays. */
		at = max_u64(at, last) + 1;
	}
	tree_pool_retire(&thread->pool);
}
