/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/lock.h"

#include <limits.h>

#include "base/clock.h"
#include "base/futex.h"

/*
 * How often a waiter looks at the lock before it sleeps: about 2 us, longer than any hold of a
 * lock whose holder runs, shorter than a futex round trip costs.
 */
#define SPIN_LIMIT 100

void lock_init(struct lock *lock)
{
	atomic_init(&lock->word, 0);
}

void rwlock_init(struct rwlock *lock)
{
	atomic_init(&lock->word, 0);
	atomic_init(&lock->sleepers, 0);
}

static void wait_done(struct lock_stats *stats, uint64_t start_ns)
{
	stats->wait_ns += clock_now_ns() - start_ns;
	stats->contended++;
	stats->acquisitions++;
}

/* The three-state mutex of Drepper, "Futexes are tricky" (2011), section 6, after a spin. */
void lock_acquire_slow(struct lock *lock, struct lock_stats *stats)
{
	uint64_t start_ns = clock_now_ns();

	for (int spins = 0; spins < SPIN_LIMIT; spins++) {
		uint32_t expected = 0;

		if (!atomic_load_explicit(&lock->word, memory_order_relaxed) &&
		    atomic_compare_exchange_weak_explicit(&lock->word, &expected, 1,
							  memory_order_acquire,
							  memory_order_relaxed)) {
			wait_done(stats, start_ns);
			return;
		}
		cpu_relax();
	}
	while (atomic_exchange_explicit(&lock->word, 2, memory_order_acquire))
		futex_wait(&lock->word, 2, 0);
	wait_done(stats, start_ns);
}

void lock_release_slow(struct lock *lock)
{
	futex_wake(&lock->word, 1);
}

/* Sleeps while the word is @seen; the caller looks again. */
static void rwlock_sleep(struct rwlock *lock, uint32_t seen)
{
	/* seq_cst: pairs with the releases, see rwlock_read_release() */
	atomic_fetch_add_explicit(&lock->sleepers, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&lock->word, memory_order_seq_cst) == seen)
		futex_wait(&lock->word, seen, 0);
	atomic_fetch_sub_explicit(&lock->sleepers, 1, memory_order_relaxed);
}

void rwlock_wake(struct rwlock *lock)
{
	futex_wake(&lock->word, INT_MAX);
}

void rwlock_read_acquire_slow(struct rwlock *lock, struct lock_stats *stats)
{
	uint64_t start_ns = clock_now_ns();

	for (int spins = 0;; spins++) {
		uint32_t word = atomic_load_explicit(&lock->word, memory_order_relaxed);

		if (!(word & RWLOCK_WRITER)) {
			if (atomic_compare_exchange_weak_explicit(
				    &lock->word, &word, word + 1, memory_order_acquire,
				    memory_order_relaxed))
				break;
		} else if (spins < SPIN_LIMIT) {
			cpu_relax();
		} else {
			rwlock_sleep(lock, word);
		}
	}
	wait_done(stats, start_ns);
}

void rwlock_write_acquire(struct rwlock *lock, struct lock_stats *stats)
{
	uint64_t start_ns = 0;

	for (int spins = 0;; spins++) {
		uint32_t word = 0;

		/* acquire: pairs with the releases of readers and writers */
		if (atomic_compare_exchange_strong_explicit(
			    &lock->word, &word, RWLOCK_WRITER, memory_order_acquire,
			    memory_order_relaxed))
			break;
		if (!start_ns)
			start_ns = clock_now_ns();
		if (spins < SPIN_LIMIT)
			cpu_relax();
		else
			rwlock_sleep(lock, word);
	}
	if (start_ns)
		wait_done(stats, start_ns);
	else
		stats->acquisitions++;
}

void rwlock_write_release(struct rwlock *lock)
{
	/* seq_cst: as in rwlock_read_release() */
	atomic_store_explicit(&lock->word, 0, memory_order_seq_cst);
	if (atomic_load_explicit(&lock->sleepers, memory_order_seq_cst))
		rwlock_wake(lock);
}
