/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A mapping: one file in the page cache (the kernel's struct address_space).
 *
 * LOCK ORDER, outermost first; a lock may be taken under those that stand left of and above it:
 *
 *	i_rwsem				(struct mapping: who resizes it)
 *	mmap_lock			(struct rwlock, one a page cache)
 *	  folio lock			(a bit of struct folio; sleeps)
 *	    i_mmap_lock			(struct mapping: who maps it)
 *	      page table lock		(one a PMD slot of a vma)
 *	    tree_lock			(struct mapping: its tree)
 *	    lru_lock			(one a node)
 *	    zone lock			(one a node)
 *	    slab lock			(tree nodes)
 *
 * i_rwsem and mmap_lock are never held together. The last five are leaves: no two of them
 * are ever held together, nor two of the same kind. Nobody waits for a folio lock while
 * holding another one: a fault that made several folios (born locked) unlocks them before
 * it waits for those it found, and truncation only tries the second and later ones of a
 * batch. An RCU read section takes no lock, so that a grace period may be waited for
 * under i_rwsem and a folio lock. Nothing under tree_lock allocates, logs or reads a
 * clock.
 *
 * GUARANTEES, and the tests that show them (each says "guarantee X" in what it prints, or above it)
 *
 * Of a lockless lookup (mapping_get_folio()):
 *   A. A folio returned was in the tree, at that index, at some moment during the call, and its
 *      bytes as they were when it was inserted, or later ones, are visible. (fault_race)
 *   B. It has the caller's reference: until that is put, it is not freed, nor its frames given to
 *      another folio; its order is constant. (fault_race)
 *   C. It may be truncated at any time, unless the caller holds its lock: while that is held
 *      and folio_holds() is true, the folio stays in the tree. (truncate_race)
 *   D. NULL means that there was no folio at that index at some moment during the call, no more:
 *      whoever wants to insert one finds out under tree_lock (tree_insert_locked() refuses).
 *      (fault_race)
 *   E. It takes no lock and waits for nobody; it looks again only when somebody else changed the
 *      reference count, or that very slot, meanwhile. (truncate_race)
 *
 * Of insertion:
 *   F. Of all folios that racing faults make for one page exactly one gets into the tree. The
 *      others are freed by their makers; no lookup ever returned one. (fault_race)
 *   G. A folio is found with its bytes zeroed or filled, locked by its maker until the maker has
 *      mapped it. (fault_race)
 *
 * Of truncation towards a racing fault:
 *   H. When mapping_truncate_range() returns, no folio that was whole in the range when it was called
 *      is in the tree, nor in the page tables of anybody. A fault that began later sees none
 *      of them, and nothing but zeros of what the range covers. (truncate, truncate_race)
 *   I. A folio is taken out under its lock, after it was unmapped under the same lock: a fault that
 *      holds the lock has it mapped before, or sees that it is gone (its mapping is NULL) and looks
 *      again; it never maps a folio that is out of the tree. (fault_race, truncate_race)
 *   J. The frames are not used again before the last reference is put, nor before everybody who got
 *      bytes of them by vma_touch_begin() has said vma_touch_end(). (truncate, truncate_race)
 *   K. What the range covers of a folio that stays is zero for those who touch it later, and the rest
 *      of it untouched. (truncate, fsx)
 *
 * Of mapping_resize():
 *   L. When it returns, no folio begins beyond the new end but those that faults in flight are about
 *      to take out again before they map them: a fault inserts under tree_lock and looks at the
 *      size after that, a resizing sets the size and looks at the tree after that.
 *      (truncate_race)
 *   M. A touch that begins later fails with -EFAULT beyond the end; one that races gets the file
 *      before or after the resizing, and no byte beyond the end from vma_touch_begin() on.
 *      (truncate, truncate_race)
 *   N. What was beyond the end is zero when the file grows again, also in the last page and whatever
 *      was stored there meanwhile. (truncate, truncate_race, fsx)
 */
#ifndef CACHE_MAPPING_H
#define CACHE_MAPPING_H

#include "base/list.h"
#include "base/lock.h"
#include "cache/cache.h"
#include "cache/folio.h"
#include "cache/tree.h"

struct zone;

struct mapping {
	struct page_cache *cache; /* constant */
	_Atomic uint64_t i_size;  /* bytes. i_rwsem; read without a lock */
	struct lock i_rwsem;	  /* one resizing at a time */
	/*
	 * Placed: page @index is frame placed_at + @index of the zone. Set before the
	 * first fault.
	 */
	struct zone *placed; /* NULL: any frames will do */
	size_t placed_at;    /* a multiple of PMD_NR */

	struct lock i_mmap_lock;
	struct list_head vmas; /* vma.list. i_mmap_lock */

	/* In the tree. Written under tree_lock, on the cache line of nothing that is read often. */
	_Atomic unsigned long nr_pages __cacheline_aligned;
	struct tree tree; /* holds tree_lock */
};

static inline uint64_t mapping_size(const struct mapping *mapping)
{
	return atomic_load_explicit(&((struct mapping *)mapping)->i_size,
				    memory_order_relaxed);
}

/* The first page index beyond the end of the file. */
static inline unsigned long mapping_end(const struct mapping *mapping)
{
	return (unsigned long)div_round_up(mapping_size(mapping), PAGE_SIZE);
}

/*
 * The same for a fault that has just inserted pages: it either sees the size that a racing
 * mapping_resize() set, or that sees the pages. seq_cst: see lock_fence(), which is on
 * the other side.
 */
static inline unsigned long mapping_end_after_insertion(struct mapping *mapping)
{
	return (unsigned long)div_round_up(
		atomic_load_explicit(&mapping->i_size, memory_order_seq_cst), PAGE_SIZE);
}

/* tree_lock. */
static inline void mapping_add_pages_locked(struct mapping *mapping, long nr)
{
	unsigned long pages =
		atomic_load_explicit(&mapping->nr_pages, memory_order_relaxed);

	atomic_store_explicit(&mapping->nr_pages, pages + (unsigned long)nr,
			      memory_order_relaxed);
}

/* Whether the region where it is placed, if any, has room for @bytes. */
bool mapping_fits(const struct mapping *mapping, uint64_t bytes);

/* The folio that holds page @index, with a reference, or NULL. See the guarantees above. */
struct folio *mapping_get_folio(const struct mapping *mapping, unsigned long index,
				struct cache_thread *thread);

/*
 * Up to @max folios that lie in [@start, @end) or reach into it, in ascending order, with a
 * reference each; none when there was none at some moment during the call. Weaker than
 * mapping_get_folio(): of these only the holder of the folio lock knows whether they are, or ever
 * were, in the tree.
 */
unsigned mapping_get_folios(const struct mapping *mapping, unsigned long start,
			    unsigned long end, struct folio **folios,
			    unsigned long *indexes, unsigned max);

/*
 * Sets the dirty marks of @nr folios of @mapping whose flag the caller has just set: one tree_lock
 * hold. Those truncated meanwhile are left alone.
 */
void mapping_mark_dirty_batch(struct mapping *mapping, struct folio **folios, unsigned nr,
			      struct cache_thread *thread);

#endif
