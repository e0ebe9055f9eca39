/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache/folio.h"

#include <limits.h>
#include <stdint.h>

#include "base/futex.h"
#include "cache/lru.h"
#include "cache/thread.h"
#include "cache/zone.h"

/* As long as a lock's waiter spins: see base/lock.c. */
#define SPIN_LIMIT 100

void folio_lock_slow(struct folio *folio)
{
	for (int spins = 0; spins < SPIN_LIMIT; spins++) {
		if (!folio_test(folio, FOLIO_LOCKED) && folio_trylock(folio))
			return;
		cpu_relax();
	}
	for (;;) {
		/*
		 * Takes the lock when it is free, and says that somebody may sleep either way: the
		 * holder's unlock wakes all, and this one may not be the only one.
		 * acquire: pairs with the release in folio_unlock()
		 */
		uint32_t old = atomic_fetch_or_explicit(&folio->flags,
							FOLIO_LOCKED | FOLIO_WAITERS,
							memory_order_acquire);

		if (!(old & FOLIO_LOCKED))
			return;
		/* Other flags share the word: a change of them only wakes us early. */
		futex_wait(&folio->flags, old | FOLIO_WAITERS, 0);
	}
}

void folio_unlock_slow(struct folio *folio)
{
	/* Type-stable: when the folio is freed meanwhile, strangers wake up early, no more. */
	futex_wake(&folio->flags, INT_MAX);
}

/* The last reference is gone (release_pages() of the kernel). */
void folio_free(struct folio *folio, struct cache_thread *thread)
{
	lru_del(folio, thread);
	pcp_free(&thread->pcp, folio);
}

/*
 * Plain ascending stores, a cache line at a time: on the machines at hand this leaves the
 * lines in the cache and is faster, zeroing and then filling together, than "rep stosb"
 * (what memset() becomes at this size) and than non-temporal stores. The empty asm keeps
 * compilers from turning the loop into memset().
 */
static void zero_pages(char *data, unsigned long start, unsigned long end)
{
	uint64_t *line = (void *)(data + start * PAGE_SIZE);
	uint64_t *stop = (void *)(data + end * PAGE_SIZE);

	for (; line < stop; line += CACHELINE_SIZE / sizeof(*line)) {
		for (unsigned i = 0; i < CACHELINE_SIZE / sizeof(*line); i++)
			line[i] = 0;
		__asm__ volatile("" ::: "memory");
	}
}

/*
 * As folio_zero_user() of the kernel since 6.19: what lies left of the touched page's
 * neighbourhood, what lies right of it, each ascending as hardware prefetchers like it, and the
 * neighbourhood last.
 */
void folio_zero(struct folio *folio, unsigned long near)
{
	const unsigned long radius = 2;
	unsigned long nr = folio_nr_pages(folio);
	unsigned long left = near > radius ? near - radius : 0;
	unsigned long right = min_u64(near + radius + 1, nr);

	zero_pages(folio->data, 0, left);
	zero_pages(folio->data, right, nr);
	zero_pages(folio->data, left, right);
}

void folio_zero_range(struct folio *folio, size_t from, size_t to)
{
	char *data = folio->data;

	while (from < to) {
		if (from % sizeof(uint64_t) || to - from < sizeof(uint64_t)) {
			atomic_store_explicit((_Atomic char *)(data + from), 0,
					      memory_order_relaxed);
			from++;
		} else {
			atomic_store_explicit((_Atomic uint64_t *)(void *)(data + from),
					      0, memory_order_relaxed);
			from += sizeof(uint64_t);
		}
	}
}
