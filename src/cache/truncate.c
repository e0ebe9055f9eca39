/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Removing pages from a mapping (mm/truncate.c of the kernel).
 */
#include <errno.h>

#include "cache/mapping.h"
#include "cache/rcu.h"
#include "cache/thread.h"
#include "cache/vma.h"
#include "cache/zone.h"

/* What one truncation goes by. */
struct truncation {
	struct mapping *mapping;
	struct cache_thread *thread;
	uint64_t from, to;	  /* bytes */
	unsigned long start, end; /* the pages that are whole in the range */
	bool resizes;		  /* ... and nobody gets bytes of the range any more */
	/* Somebody else may still have bytes of a folio of this batch in hand. */
	bool shot;
	unsigned nr_shot; /* folios in thread->shot */
};

static bool truncation_covers(const struct truncation *t, const struct folio *folio)
{
	unsigned long index = folio_index(folio);

	return index >= t->start && index < t->end &&
	       folio_nr_pages(folio) <= t->end - index;
}

/* Of a locked folio: whether it is in the tree and wholly in the range. */
static bool truncation_wants(const struct truncation *t, const struct folio *folio)
{
	return folio_mapping(folio) == t->mapping && truncation_covers(t, folio);
}

/* Locked: nobody maps it again before it is out of the tree. */
static void truncate_unmap(struct truncation *t, struct folio *folio)
{
	/* relaxed: it goes up under the folio lock only */
	if (unlikely(atomic_load_explicit(&folio->mapcount, memory_order_relaxed)))
		t->shot |= vma_unmap_folio(t->mapping, folio, t->thread);
}

/*
 * Takes @nr locked folios, ascending, out of the tree under one tree_lock hold, and
 * unlocks them. The tree's references are the caller's then.
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

/* Frees what had to wait for a grace period. */
static void truncate_flush(struct truncation *t)
{
	if (!t->nr_shot)
		return;
	cache_rcu_synchronize();
	truncate_put(t, t->thread->shot, t->nr_shot);
	t->nr_shot = 0;
}

/*
 * The end of a batch. Folios that were unmapped under the eyes of other threads keep
 * their references until those have let go of the bytes; one grace period does for many
 * (the kernel flushes TLBs before it frees pages, and gathers too).
 */
static void truncate_release(struct truncation *t, struct folio **folios, unsigned nr)
{
	if (likely(!t->shot)) {
		truncate_put(t, folios, nr);
		return;
	}
	if (t->nr_shot + nr > ARRAY_SIZE(t->thread->shot))
		truncate_flush(t);
	for (unsigned i = 0; i < nr; i++)
		t->thread->shot[t->nr_shot++] = folios[i];
	t->shot = false;
}

static void truncate_locked_batch(struct truncation *t, struct folio **folios,
				  unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		truncate_unmap(t, folios[i]);
	truncate_delete(t, folios, nr);
	truncate_release(t, folios, nr);
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
	if (nr_locked)
		truncate_locked_batch(t, folios, nr_locked);
	for (unsigned i = 0; i < nr_busy; i++) {
		struct folio *folio = busy[i];

		folio_lock(folio);
		if (truncation_wants(t, folio)) {
			truncate_locked_batch(t, &folio, 1);
		} else {
			folio_unlock(folio);
			folio_put(folio, t->thread);
		}
	}
}

/* Every folio that is whole in the range. */
static void truncate_whole(struct truncation *t)
{
	struct cache_thread *thread = t->thread;
	unsigned max = t->mapping->cache->truncate_batch;
	unsigned long at = t->start;
	unsigned nr;

	while (at < t->end &&
	       (nr = mapping_get_folios(t->mapping, at, t->end, thread->found,
					thread->indexes, max))) {
		unsigned long last = thread->indexes[nr - 1];

		truncate_batch(t, thread->found, nr);
		/* Also past a folio that only reaches into the range, which stays. */
		at = max_u64(at, last) + 1;
	}
}

/*
 * Zeroes what the range covers of a locked folio. When the file ends there from now on, nobody may
 * store behind it afterwards: who had its bytes in hand lets go of them first (he waits for no
 * lock meanwhile), who touches it later sees the new size.
 */
static void truncate_zero(struct truncation *t, struct folio *folio)
{
	uint64_t start = (uint64_t)folio_index(folio) << PAGE_SHIFT;
	uint64_t from = max_u64(t->from, start) - start;
	uint64_t to = min_u64(t->to - start, folio_size(folio));

	/* relaxed: as in truncate_unmap() */
	if (t->resizes && atomic_load_explicit(&folio->mapcount, memory_order_relaxed))
		cache_rcu_synchronize();
	folio_zero_range(folio, from, to);
}

/* The folio at page @index, if it reaches out of the range (truncate_inode_partial_folio()). */
static void truncate_partial(struct truncation *t, unsigned long index)
{
	struct folio *folio;
	bool same = false;

	while (!same) {
		folio = mapping_get_folio(t->mapping, index, t->thread);
		if (!folio)
			return;
		folio_lock(folio);
		same = folio_holds(folio, t->mapping, index);
		if (same && !truncation_covers(t, folio))
			truncate_zero(t, folio);
		folio_unlock(folio);
		folio_put(folio, t->thread);
	}
}

static void truncate_pages(struct truncation *t)
{
	/* No folio reaches over a multiple of 2 MiB. */
	bool cuts_start = t->from % PMD_SIZE;
	bool cuts_end = t->to != UINT64_MAX && t->to % PMD_SIZE;
	unsigned long first = t->from >> PAGE_SHIFT, last = (t->to - 1) >> PAGE_SHIFT;

	/* References of this thread's own batches would keep frames from being freed. */
	lru_drain(t->thread);
	if (cuts_start)
		truncate_partial(t, first);
	if (cuts_end && !(cuts_start && last == first))
		truncate_partial(t, last);
	truncate_whole(t);
	truncate_flush(t);
	tree_pool_retire(&t->thread->pool);
}

void mapping_truncate_range(struct mapping *mapping, uint64_t start, uint64_t end,
			    struct cache_thread *thread)
{
	struct truncation t = {
		.mapping = mapping,
		.thread = thread,
		.from = start,
		.to = end >= mapping_size(mapping) ? UINT64_MAX : end,
	};

	if (t.from >= t.to)
		return;
	t.start = (unsigned long)div_round_up(t.from, PAGE_SIZE);
	t.end = t.to == UINT64_MAX ? -1UL : t.to >> PAGE_SHIFT;
	truncate_pages(&t);
}

void mapping_truncate(struct mapping *mapping, uint64_t offset,
		      struct cache_thread *thread)
{
	mapping_truncate_range(mapping, offset, UINT64_MAX, thread);
}

int mapping_resize(struct mapping *mapping, uint64_t bytes, struct cache_thread *thread)
{
	struct truncation t = {
		.mapping = mapping,
		.thread = thread,
		.from = bytes,
		.to = UINT64_MAX,
		.start = (unsigned long)div_round_up(bytes, PAGE_SIZE),
		.end = -1UL,
		.resizes = true,
	};
	struct lock_stats uncounted = { 0 };
	uint64_t old;

	if (!mapping_fits(mapping, bytes))
		return -EINVAL;
	lock_acquire(&mapping->i_rwsem, &uncounted);
	old = mapping_size(mapping);
	/*
	 * A fault inserts under tree_lock and looks at the size after it released that: either it
	 * sees this size and takes its pages out again (fault_withdraw()), or they are
	 * found here. seq_cst: see lock_fence().
	 */
	atomic_store_explicit(&mapping->i_size, bytes, memory_order_seq_cst);
	if (bytes < old) {
		lock_fence(&mapping->tree.lock);
		truncate_pages(&t);
	}
	lock_release(&mapping->i_rwsem);
	return 0;
}
