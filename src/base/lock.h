/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instrumented locks: a mutual exclusion lock (the kernel's spinlock_t) and a reader/writer
 * lock (mmap_lock). Both spin for a bounded time and then sleep on a futex: a user-space thread
 * that holds a lock can be preempted, which a kernel thread that holds a spinlock is not, and
 * 256 threads on 2 CPUs would otherwise burn whole time slices.
 *
 * Every acquisition is counted in the caller's own struct lock_stats (no shared memory is
 * written but the lock itself). The clock is read only after a failed trylock.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"
#include "base/race_point.h"

struct lock_stats {
	uint64_t acquisitions;
	uint64_t contended; /* acquisitions whose first try failed */
	uint64_t wait_ns;   /* from the first failed try to the acquisition */
};

struct lock {
	_Atomic uint32_t word; /* 0 free, 1 held, 2 held and somebody may sleep */
};

struct rwlock {
	_Atomic uint32_t word; /* bit 31: a writer holds it; else the number of readers */
	_Atomic uint32_t sleepers; /* threads that may sleep on @word */
};

void lock_init(struct lock *lock);
void rwlock_init(struct rwlock *lock);

void lock_acquire_slow(struct lock *lock, struct lock_stats *stats);
void lock_release_slow(struct lock *lock);

static inline bool lock_try_acquire(struct lock *lock, struct lock_stats *stats)
{
	uint32_t expected = 0;

	/* acquire: pairs with the release in lock_release() */
	if (!atomic_compare_exchange_strong_explicit(&lock->word, &expected, 1,
						     memory_order_acquire,
						     memory_order_relaxed))
		return false;
	stats->acquisitions++;
	return true;
}

static inline void lock_acquire(struct lock *lock, struct lock_stats *stats)
{
	race_point();
	if (unlikely(!lock_try_acquire(lock, stats)))
		lock_acquire_slow(lock, stats);
	race_point();
}

static inline void lock_release(struct lock *lock)
{
	/*
	 * release: pairs with the acquire in lock_try_acquire() and lock_acquire_slow(). seq_cst
	 * (the same instruction on x86, and on arm64 but for its acquire half): for lock_fence().
	 */
	if (unlikely(atomic_exchange_explicit(&lock->word, 0, memory_order_seq_cst) == 2))
		lock_release_slow(lock);
	race_point();
}

/*
 * After a seq_cst store S: any thread that has held the lock either released it before
 * this, and then all it did under the lock is seen from here on, or it sees S by a
 * seq_cst load after its release. (Either this load reads what that release, or a later
 * holder, stored, and synchronizes with it, or it comes before the release in the one
 * order of all seq_cst operations, as S comes before this load and the release before the
 * other's load.)
 */
static inline void lock_fence(struct lock *lock)
{
	(void)atomic_load_explicit(&lock->word, memory_order_seq_cst);
}

#define RWLOCK_WRITER 0x80000000u

void rwlock_read_acquire_slow(struct rwlock *lock, struct lock_stats *stats);
void rwlock_write_acquire(struct rwlock *lock, struct lock_stats *stats);
void rwlock_wake(struct rwlock *lock);

static inline void rwlock_read_acquire(struct rwlock *lock, struct lock_stats *stats)
{
	uint32_t readers = atomic_load_explicit(&lock->word, memory_order_relaxed);

	/* acquire: pairs with the release in rwlock_write_release() */
	while (likely(!(readers & RWLOCK_WRITER))) {
		if (likely(atomic_compare_exchange_weak_explicit(
			    &lock->word, &readers, readers + 1, memory_order_acquire,
			    memory_order_relaxed))) {
			stats->acquisitions++;
			return;
		}
	}
	rwlock_read_acquire_slow(lock, stats);
}

static inline void rwlock_read_release(struct rwlock *lock)
{
	/*
	 * seq_cst: pairs with the acquire in rwlock_write_acquire(), and orders the release of
	 * the word before the look at @sleepers (the sleeper does the two the other way round).
	 */
	uint32_t left =
		atomic_fetch_sub_explicit(&lock->word, 1, memory_order_seq_cst) - 1;

	if (unlikely(!left &&
		     atomic_load_explicit(&lock->sleepers, memory_order_seq_cst)))
		rwlock_wake(lock);
}

void rwlock_write_release(struct rwlock *lock);

#endif
