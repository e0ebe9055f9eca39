/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locks exclude, count what they did, and read the clock only when they had to wait. */
#include "base/lock.h"

#include <pthread.h>
#include <unistd.h>

#include "tap.h"

#define NR_THREADS 8
#define NR_ROUNDS  20000

static struct lock mutex;
static struct rwlock rwlock;
static long guarded; /* by either lock: plain, so that a race would show */

struct thread {
	pthread_t id;
	unsigned nr;
	struct lock_stats stats;
	bool torn;
};

static void *add_under_lock(void *arg)
{
	struct thread *thread = arg;

	for (int i = 0; i < NR_ROUNDS; i++) {
		lock_acquire(&mutex, &thread->stats);
		guarded++;
		lock_release(&mutex);
	}
	return NULL;
}

static void *read_and_write(void *arg)
{
	struct thread *thread = arg;

	for (int i = 0; i < NR_ROUNDS / 4; i++) {
		if ((unsigned)i % NR_THREADS == thread->nr) {
			rwlock_write_acquire(&rwlock, &thread->stats);
			guarded += 2;
			rwlock_write_release(&rwlock);
		} else {
			long seen;

			rwlock_read_acquire(&rwlock, &thread->stats);
			seen = guarded;
			thread->torn |= seen != guarded || seen % 2;
			rwlock_read_release(&rwlock);
		}
	}
	return NULL;
}

static void run(struct thread *threads, void *(*fn)(void *))
{
	for (unsigned i = 0; i < NR_THREADS; i++) {
		threads[i] = (struct thread){ .nr = i };
		if (pthread_create(&threads[i].id, NULL, fn, &threads[i]))
			bail("no thread");
	}
	for (unsigned i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i].id, NULL);
}

static struct lock_stats sum(const struct thread *threads)
{
	struct lock_stats sum = { 0 };

	for (unsigned i = 0; i < NR_THREADS; i++) {
		sum.acquisitions += threads[i].stats.acquisitions;
		sum.contended += threads[i].stats.contended;
		sum.wait_ns += threads[i].stats.wait_ns;
	}
	return sum;
}

/* Holds the lock until the main thread has tried in vain; half a minute if it never does. */
static void *hold_a_while(void *arg)
{
	struct thread *thread = arg;

	lock_acquire(&mutex, &thread->stats);
	__atomic_store_n(&guarded, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 30000 && atomic_load(&mutex.word) != 2; i++)
		usleep(1000);
	lock_release(&mutex);
	return NULL;
}

static void contention_is_counted(void)
{
	struct lock_stats stats = { 0 };
	struct thread holder = { 0 };

	guarded = 0;
	if (pthread_create(&holder.id, NULL, hold_a_while, &holder))
		bail("no thread");
	while (!__atomic_load_n(&guarded, __ATOMIC_ACQUIRE))
		usleep(100);
	lock_acquire(&mutex, &stats);
	lock_release(&mutex);
	pthread_join(holder.id, NULL);
	ok(stats.acquisitions == 1 && stats.contended == 1,
	   "a wait counts as one acquisition, contended");
	ok(stats.wait_ns > 0, "and its time");
}

static void *try_in_vain(void *arg)
{
	struct thread *thread = arg;

	thread->torn = lock_try_acquire(&mutex, &thread->stats);
	return NULL;
}

int main(void)
{
	struct thread threads[NR_THREADS], other = { 0 };
	struct lock_stats stats = { 0 };

	lock_init(&mutex);
	rwlock_init(&rwlock);
	for (int i = 0; i < 1000; i++) {
		lock_acquire(&mutex, &stats);
		lock_release(&mutex);
		rwlock_read_acquire(&rwlock, &stats);
		rwlock_read_release(&rwlock);
		rwlock_write_acquire(&rwlock, &stats);
		rwlock_write_release(&rwlock);
	}
	ok(stats.acquisitions == 3000, "every acquisition is counted");
	ok(!stats.contended && !stats.wait_ns,
	   "alone, none is contended and no clock is read");

	lock_acquire(&mutex, &stats);
	pthread_create(&other.id, NULL, try_in_vain, &other);
	pthread_join(other.id, NULL);
	ok(!other.torn && !other.stats.acquisitions,
	   "a try at a held lock fails and counts nothing");
	lock_release(&mutex);

	run(threads, add_under_lock);
	ok(guarded == (long)NR_THREADS * NR_ROUNDS, "the lock excludes");
	ok(sum(threads).acquisitions == (uint64_t)NR_THREADS * NR_ROUNDS,
	   "counts are exact under fire");
	ok(sum(threads).contended <= sum(threads).acquisitions,
	   "contended ones are among them");

	guarded = 0;
	run(threads, read_and_write);
	stats = sum(threads);
	ok(guarded == 2 * (NR_ROUNDS / 4), "writers exclude one another");
	for (unsigned i = 0; i < NR_THREADS; i++)
		ok(!threads[i].torn, "reader %u saw no writer at work", i);
	ok(stats.acquisitions == (uint64_t)NR_THREADS * (NR_ROUNDS / 4),
	   "counts are exact");

	contention_is_counted();
	return done();
}
