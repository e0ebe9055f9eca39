/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A folio: 2^order contiguous page frames that are handled as one. Every frame has a descriptor,
 * in an array per zone (the memmap); the one of the first frame stands for the folio, the others
 * are idle meanwhile. Descriptors are type-stable: they are never anything else, so that a
 * lockless lookup may touch one that was freed, or given to somebody else, a moment ago.
 *
 * References: one for the page cache (being in a tree), one for every vma that maps it, one for
 * every LRU batch it waits in, and short-lived ones of whoever looks at it.
 */
#ifndef CACHE_FOLIO_H
#define CACHE_FOLIO_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bits.h"
#include "base/list.h"
#include "base/race_point.h"

struct cache_thread;
struct mapping;

enum folio_flag {
	FOLIO_LOCKED = 1 << 0,	   /* the folio lock */
	FOLIO_WAITERS = 1 << 1,	   /* somebody may sleep on it */
	FOLIO_UPTODATE = 1 << 2,   /* its bytes are the file's */
	FOLIO_DIRTY = 1 << 3,	   /* stored to since it was clean */
	FOLIO_REFERENCED = 1 << 4, /* accessed once */
	FOLIO_ACTIVE = 1 << 5,	   /* on the active list. lru_lock */
	FOLIO_LRU = 1 << 6,	   /* on a list of its node. lru_lock */
	FOLIO_BUDDY = 1 << 7,	   /* a free block of the zone's lists. zone lock */
	FOLIO_PCP = 1 << 8,	   /* on a thread's free list */
	FOLIO_PLACED = 1 << 9,	   /* in a placed mapping: freed to its zone at once */
};

struct folio {
	/* enum folio_flag. Changed by read-modify-write once others can see the folio. */
	_Atomic uint32_t flags;
	/* 0: free. The last put frees. */
	_Atomic uint32_t refcount;
	/* vmas that map it. Goes up under the folio lock only. */
	_Atomic uint32_t mapcount;
	uint16_t zone; /* its place in page_cache.zones; constant */
	uint8_t order; /* written under the zone lock, constant while allocated */
	uint8_t unused;
	/*
	 * The file it belongs to, NULL: none (any more). Written under the folio lock and, but for
	 * a folio that no tree has yet, tree_lock.
	 */
	struct mapping *_Atomic mapping;
	/* The first page of the file that it holds. Written before @mapping is. */
	_Atomic unsigned long index;
	/* On a free block list (zone lock), a thread's list (its own), an LRU list (lru_lock). */
	struct list_head lru;
	void *data; /* its bytes; constant */
	uint64_t unused2;
};

_Static_assert(sizeof(struct folio) == CACHELINE_SIZE, "one cache line a frame");

static inline unsigned long folio_nr_pages(const struct folio *folio)
{
	return 1UL << folio->order;
}

static inline size_t folio_size(const struct folio *folio)
{
	return PAGE_SIZE << folio->order;
}

static inline uint32_t folio_flags(const struct folio *folio)
{
	return atomic_load_explicit(&((struct folio *)folio)->flags,
				    memory_order_relaxed);
}

static inline bool folio_test(const struct folio *folio, enum folio_flag flag)
{
	return folio_flags(folio) & flag;
}

/* relaxed: flags but FOLIO_LOCKED order nothing. Return whether the flag was set before. */
static inline bool folio_test_set(struct folio *folio, enum folio_flag flag)
{
	return atomic_fetch_or_explicit(&folio->flags, flag, memory_order_relaxed) & flag;
}

static inline bool folio_test_clear(struct folio *folio, enum folio_flag flag)
{
	return atomic_fetch_and_explicit(&folio->flags, ~(uint32_t)flag,
					 memory_order_relaxed) &
	       flag;
}

static inline unsigned long folio_index(const struct folio *folio)
{
	return atomic_load_explicit(&((struct folio *)folio)->index,
				    memory_order_relaxed);
}

static inline struct mapping *folio_mapping(const struct folio *folio)
{
	/* acquire: pairs with the release in folio_set_mapping(), for the index */
	return atomic_load_explicit(&((struct folio *)folio)->mapping,
				    memory_order_acquire);
}

/* Folio lock (and tree_lock, when it is in a tree). */
static inline void folio_set_mapping(struct folio *folio, struct mapping *mapping,
				     unsigned long index)
{
	atomic_store_explicit(&folio->index, index, memory_order_relaxed);
	/*
	 * release: pairs with the acquire in folio_mapping(). Who sees the mapping sees the
	 * index, and that the folio is locked.
	 */
	atomic_store_explicit(&folio->mapping, mapping, memory_order_release);
}

/* Folio lock and tree_lock. The index stays, as the kernel's does. */
static inline void folio_clear_mapping(struct folio *folio)
{
	atomic_store_explicit(&folio->mapping, NULL, memory_order_relaxed);
}

/*
 * Whether the folio holds page @index of @mapping: for ever when it is locked, else at some moment
 * since the caller took its reference.
 */
static inline bool folio_holds(const struct folio *folio, const struct mapping *mapping,
			       unsigned long index)
{
	return folio_mapping(folio) == mapping &&
	       index - folio_index(folio) < folio_nr_pages(folio);
}

/*
 * A reference for somebody who came across the pointer without one. False: the folio is free. After
 * true the caller looks again whether it is (still) the folio it wanted.
 */
static inline bool folio_try_get(struct folio *folio)
{
	uint32_t refs;

	race_point();
	refs = atomic_load_explicit(&folio->refcount, memory_order_relaxed);
	do {
		if (!refs)
			return false;
		/* acquire: pairs with the release in folio_init(), for the order */
	} while (!atomic_compare_exchange_weak_explicit(&folio->refcount, &refs, refs + 1,
							memory_order_acquire,
							memory_order_relaxed));
	return true;
}

/* One more for somebody who has one already. */
static inline void folio_get(struct folio *folio)
{
	atomic_fetch_add_explicit(&folio->refcount, 1, memory_order_relaxed);
}

/*
 * Gives @nr references back. True: they were the last, nobody can find the folio any more, and
 * the caller frees it.
 */
static inline bool folio_put_testzero(struct folio *folio, uint32_t nr)
{
	/*
	 * release and acquire: pairs with itself. All that was done to the folio by those who
	 * held it is done before the last of them frees it.
	 */
	return atomic_fetch_sub_explicit(&folio->refcount, nr, memory_order_acq_rel) ==
	       nr;
}

void folio_free(struct folio *folio, struct cache_thread *thread);

/* @thread: whose lists a freed folio goes to. */
static inline void folio_put_refs(struct folio *folio, uint32_t nr,
				  struct cache_thread *thread)
{
	if (folio_put_testzero(folio, nr))
		folio_free(folio, thread);
}

static inline void folio_put(struct folio *folio, struct cache_thread *thread)
{
	folio_put_refs(folio, 1, thread);
}

/*
 * A folio fresh from the zone, before anybody can find it: no mapping, not mapped. Whoever still
 * has a stale pointer sees either no reference or all that is written here.
 */
static inline void folio_init(struct folio *folio, uint32_t flags, uint32_t refs)
{
	atomic_store_explicit(&folio->flags, flags, memory_order_relaxed);
	atomic_store_explicit(&folio->mapcount, 0, memory_order_relaxed);
	/* release: pairs with the acquire in folio_try_get() */
	atomic_store_explicit(&folio->refcount, refs, memory_order_release);
}

void folio_lock_slow(struct folio *folio);
void folio_unlock_slow(struct folio *folio);

static inline bool folio_trylock(struct folio *folio)
{
	race_point();
	/* acquire: pairs with the release in folio_unlock() */
	return !(atomic_fetch_or_explicit(&folio->flags, FOLIO_LOCKED,
					  memory_order_acquire) &
		 FOLIO_LOCKED);
}

/* The caller holds a reference and no other folio lock. Sleeps. */
static inline void folio_lock(struct folio *folio)
{
	if (unlikely(!folio_trylock(folio)))
		folio_lock_slow(folio);
}

static inline void folio_unlock(struct folio *folio)
{
	/* release: pairs with the acquire in folio_trylock() and folio_lock_slow() */
	uint32_t old = atomic_fetch_and_explicit(
		&folio->flags, ~(uint32_t)(FOLIO_LOCKED | FOLIO_WAITERS),
		memory_order_release);

	if (unlikely(old & FOLIO_WAITERS))
		folio_unlock_slow(folio);
	race_point();
}

/*
 * Zeroes all its pages, those around page @near of it last: they are the ones in the CPU's cache
 * when the fault returns to them.
 */
void folio_zero(struct folio *folio, unsigned long near);

/*
 * Zeroes bytes [@from, @to) of a folio that others may have mapped, by relaxed atomic stores: who
 * loads or stores there meanwhile finds every byte either zeroed or not (yet).
 */
void folio_zero_range(struct folio *folio, size_t from, size_t to);

#endif
