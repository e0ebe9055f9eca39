/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Truncation and resizing against faults, lookups and those who have bytes in hand:
 * guarantees C, E, H, I, J, L and M of mapping.h.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "cache/rcu.h"
#include "cache_env.h"
#include "race_point.h"

#define NR_TOUCHERS 3

#if defined(CACHE_RCU_TSAN) && defined(PAGEZONE_RACE_POINTS)
#define ROUNDS 40
#elif defined(CACHE_RCU_TSAN)
#define ROUNDS 150
#elif defined(PAGEZONE_RACE_POINTS)
#define ROUNDS 300
#else
#define ROUNDS 400
#endif

static void fill(struct env *env, struct vma *vma, struct mapping *mapping,
		 unsigned long pages)
{
	struct extent run;

	vma_map(vma, mapping, env->thread);
	for (uint64_t at = 0; at < pages * PAGE_SIZE; at = run.end)
		if (vma_touch(vma, env->thread, at, true, &run))
			bail("fault");
	vma_unmap(vma, env->thread);
}

/* Step by step: one thread truncates, or looks up, while the main one holds something. */
struct other {
	struct env *env;
	struct mapping *mapping;
	pthread_t pthread;
	uint64_t start, end;
	struct folio *found;
	int err;
	_Atomic bool done;
};

static void *run_truncation(void *arg)
{
	struct other *other = arg;
	struct cache_thread *thread;

	if (cache_thread_alloc(&thread, other->env->cache, 0, 0))
		bail("no memory for a thread");
	mapping_truncate_range(other->mapping, other->start, other->end, thread);
	atomic_store(&other->done, true);
	cache_thread_free(thread);
	return NULL;
}

static void *run_lookup(void *arg)
{
	struct other *other = arg;
	struct cache_thread *thread;

	if (cache_thread_alloc(&thread, other->env->cache, 0, 0))
		bail("no memory for a thread");
	other->found = mapping_get_folio(other->mapping, 0, thread);
	if (other->found)
		folio_put(other->found, thread);
	atomic_store(&other->done, true);
	cache_thread_free(thread);
	return NULL;
}

static void start(struct other *other, void *(*run)(void *))
{
	if (pthread_create(&other->pthread, NULL, run, other))
		bail("no thread");
}

/* The main thread has bytes in hand of pages that another one truncates. */
static void test_bytes_in_hand(unsigned batch, unsigned truncate_batch)
{
	unsigned long pages = 4 * batch;
	struct env env;
	struct other other;
	struct vma *vma = env_vma(0, pages * PAGE_SIZE);
	struct folio *folio;
	struct extent run;
	bool held;

	env_open_nodes(&env, 16, 1, 0, batch, truncate_batch);
	other = (struct other){
		.env = &env,
		.mapping = env_mapping(&env, pages * PAGE_SIZE),
		.end = UINT64_MAX,
	};
	vma_map(vma, other.mapping, env.thread);
	for (uint64_t at = 0; at < pages * PAGE_SIZE; at = run.end)
		if (vma_touch(vma, env.thread, at, true, &run))
			bail("fault");
	folio = mapping_get_folio(other.mapping, 0, env.thread);
	folio_put(folio, env.thread);
	lru_drain(env.thread);
	if (vma_touch_begin(vma, env.thread, 0, true, &run))
		bail("fault");
	start(&other, run_truncation);
	while (mapping_nr_pages(other.mapping))
		sched_yield();
	usleep(5000); /* long enough to go wrong, if it does */
	held = !other.done && folio->refcount && !folio_mapping(folio);
	run.base[0] = 'x';
	held &= !folio_test(folio, FOLIO_BUDDY) && !folio_test(folio, FOLIO_PCP);
	vma_touch_end();
	pthread_join(other.pthread, NULL);
	ok(held,
	   "guarantee J: batch %u, truncate-batch %u: truncation waits for who has bytes in "
	   "hand",
	   batch, truncate_batch);
	ok(!folio->refcount && env_check(&env, &other.mapping, 1),
	   "and frees the frames then");
	ok(!vma_touch(vma, env.thread, 0, false, &run) && !run.base[0],
	   "what was stored meanwhile is gone");
	vma_unmap(vma, env.thread);
	mapping_free(other.mapping, env.thread);
	vma_free(vma);
	env_close(&env);
}

static void *run_cut(void *arg)
{
	struct other *other = arg;
	struct cache_thread *thread;

	if (cache_thread_alloc(&thread, other->env->cache, 0, 0))
		bail("no memory for a thread");
	other->err = mapping_resize(other->mapping, other->end, thread);
	atomic_store(&other->done, true);
	cache_thread_free(thread);
	return NULL;
}

/* The main thread has bytes in hand of the page in which the file ends from now on. */
static void test_tail_in_hand(void)
{
	struct env env;
	struct other other;
	struct vma *vma = env_vma(0, PAGE_SIZE);
	struct extent run;
	char bytes[2] = "??";
	bool waits;

	env_open(&env, 2, 1);
	other = (struct other){
		.env = &env,
		.mapping = env_mapping(&env, PAGE_SIZE),
		.end = 100,
	};
	vma_map(vma, other.mapping, env.thread);
	if (vma_touch_begin(vma, env.thread, 0, true, &run))
		bail("fault");
	start(&other, run_cut);
	while (mapping_size(other.mapping) != 100)
		sched_yield();
	usleep(5000); /* long enough to go wrong, if it does */
	waits = !other.done;
	run.base[99] = run.base[100] = 'x';
	vma_touch_end();
	pthread_join(other.pthread, NULL);
	if (mapping_resize(other.mapping, PAGE_SIZE, env.thread))
		bail("cannot resize");
	mapping_read(other.mapping, 99, bytes, 2);
	ok(waits && !other.err && bytes[0] == 'x' && !bytes[1],
	   "guarantee N: what is stored behind a new end by who had the bytes in hand is zero");
	ok(env_check(&env, &other.mapping, 1), "stock is right");
	vma_unmap(vma, env.thread);
	mapping_free(other.mapping, env.thread);
	vma_free(vma);
	env_close(&env);
}

/* The main thread holds the lock of one folio of many. */
static void test_locked(unsigned truncate_batch)
{
	const unsigned long pages = 40;
	struct env env;
	struct other other;
	struct vma *vma = env_vma(0, pages * PAGE_SIZE);
	struct folio *folio, *found;
	bool stays;

	env_open_nodes(&env, 2, 1, 0, 1, truncate_batch);
	other = (struct other){
		.env = &env,
		.mapping = env_mapping(&env, pages * PAGE_SIZE),
		.end = UINT64_MAX,
	};
	fill(&env, vma, other.mapping, pages);
	folio = mapping_get_folio(other.mapping, 3, env.thread);
	folio_lock(folio);
	start(&other, run_truncation);
	while (!folio_test(folio, FOLIO_WAITERS))
		sched_yield();
	found = mapping_get_folio(other.mapping, 3, env.thread);
	stays = found == folio && folio_holds(folio, other.mapping, 3) && !other.done;
	if (found)
		folio_put(found, env.thread);
	ok(stays, "guarantee C: truncate-batch %u: a locked folio stays in the tree",
	   truncate_batch);
	ok(mapping_nr_pages(other.mapping) ==
		   (truncate_batch == 1	   ? pages - 3 :
		    truncate_batch < pages ? pages - truncate_batch + 1 :
					     1),
	   "what else is in its batch has gone before anybody waits for it");
	folio_unlock(folio);
	pthread_join(other.pthread, NULL);
	ok(!folio_mapping(folio) && folio->refcount == 1 &&
		   !mapping_nr_pages(other.mapping),
	   "and goes when it is unlocked");
	folio_put(folio, env.thread);
	ok(env_check(&env, &other.mapping, 1), "stock is right");
	mapping_free(other.mapping, env.thread);
	vma_free(vma);
	env_close(&env);
}

static void test_lookup_waits_for_nobody(void)
{
	struct env env;
	struct other other;
	struct vma *vma = env_vma(0, PAGE_SIZE);
	struct lock_stats uncounted = { 0 };
	struct folio *folio;

	env_open(&env, 2, 1);
	other = (struct other){ .env = &env, .mapping = env_mapping(&env, PAGE_SIZE) };
	fill(&env, vma, other.mapping, 1);
	folio = mapping_get_folio(other.mapping, 0, env.thread);
	folio_lock(folio);
	lock_acquire(&other.mapping->tree.lock, &uncounted);
	lock_acquire(&other.mapping->i_mmap_lock, &uncounted);
	start(&other, run_lookup);
	while (!other.done)
		sched_yield();
	lock_release(&other.mapping->i_mmap_lock);
	lock_release(&other.mapping->tree.lock);
	folio_unlock(folio);
	pthread_join(other.pthread, NULL);
	ok(other.found == folio,
	   "guarantee E: a lookup needs neither the folio lock nor tree_lock");
	folio_put(folio, env.thread);
	mapping_free(other.mapping, env.thread);
	vma_free(vma);
	env_close(&env);
}

static void *run_touch(void *arg)
{
	struct other *other = arg;
	struct cache_thread *thread;
	struct vma *vma = env_vma(0, 16 * PAGE_SIZE);
	struct extent run;

	if (cache_thread_alloc(&thread, other->env->cache, 0, 0))
		bail("no memory for a thread");
	vma_map(vma, other->mapping, thread);
	other->err = vma_touch(vma, thread, other->start, true, &run);
	vma_unmap(vma, thread);
	vma_free(vma);
	cache_thread_free(thread);
	return NULL;
}

/* The file is cut when a fault has all its pages in hand and waits for tree_lock. */
static void test_cut_before_insertion(bool placed)
{
	struct lock_stats uncounted = { 0 };
	struct env env;
	struct other other;
	struct vma *vma = env_vma(0, 16 * PAGE_SIZE);
	struct lock *tree_lock;

	env_open(&env, 4, 16);
	other = (struct other){
		.env = &env,
		.mapping = env_mapping(&env, 16 * PAGE_SIZE),
		.start = 5 * PAGE_SIZE,
	};
	if (placed && mapping_place(other.mapping, 0, PMD_NR))
		bail("cannot place the file");
	tree_lock = &other.mapping->tree.lock;
	for (unsigned i = 0; i < 2; i++) {
		/* Page 2 is there: the fault brings in 0-1, 3, 4-7 and 8-15. */
		if (i) {
			env.cache->batch = 1;
			vma_map(vma, other.mapping, env.thread);
			if (vma_touch(vma, env.thread, 2 * PAGE_SIZE, false,
				      &(struct extent){ 0 }))
				bail("fault");
			vma_unmap(vma, env.thread);
			env.cache->batch = 16;
		}
		lock_acquire(tree_lock, &uncounted);
		start(&other, run_touch);
		while (atomic_load(&tree_lock->word) != 2)
			sched_yield();
		if (mapping_resize(other.mapping, i ? 5 * PAGE_SIZE + 7 : 0, env.thread))
			bail("cannot resize");
		lock_release(tree_lock);
		pthread_join(other.pthread, NULL);
		if (!i)
			ok(other.err == -EFAULT && !mapping_nr_pages(other.mapping),
			   "guarantee L: a fault takes out what it brought in beyond the end%s",
			   placed ? ", placed" : "");
		else
			ok(!other.err && mapping_nr_pages(other.mapping) == 8,
			   "and only that");
		ok(env_check(&env, &other.mapping, 1), "stock is right");
		if (mapping_resize(other.mapping, 16 * PAGE_SIZE, env.thread))
			bail("cannot resize");
	}
	mapping_free(other.mapping, env.thread);
	ok(env_check(&env, NULL, 0), "all frames are free");
	vma_free(vma);
	env_close(&env);
}

/* Threads that touch a file all the time, while the main one truncates and resizes it. */
struct race {
	struct env env;
	struct mapping *mapping;
	unsigned long pages;
	bool placed;
	_Atomic bool stop;
	_Atomic unsigned wrong;
	_Atomic unsigned long touches, faulted;
	/* Of each page: all that was stored in this round and before is gone. */
	_Atomic uint64_t *gone;
	/* Odd: the file is @size bytes long until it changes. Even: it may change. */
	_Atomic uint64_t seq, size;
};

struct toucher {
	struct race *race;
	unsigned id;
	pthread_t pthread;
};

static bool touch_fails_rightly(const struct race *race, int err)
{
	/* Frames that wait in somebody's LRU batch cannot be replaced: see mapping_place(). */
	return err == -EFAULT || (err == -ENOMEM && race->placed);
}

/* Loads, and finds zero or a stamp of the main thread that is not gone. */
static void touch_stamps(struct race *race, struct vma *vma, struct cache_thread *thread,
			 unsigned long page)
{
	uint64_t gone = atomic_load_explicit(&race->gone[page], memory_order_acquire);
	uint64_t at = page * PAGE_SIZE, seen;
	struct extent run;
	int err = vma_touch_begin(vma, thread, at, page % 2, &run);

	if (err) {
		race->wrong += !touch_fails_rightly(race, err);
		return;
	}
	seen = atomic_load_explicit(
		(_Atomic uint64_t *)(void *)(run.base + (at - run.start)),
		memory_order_relaxed);
	vma_touch_end();
	if (seen && (seen >> 32 != page || (uint32_t)seen <= gone) && race->wrong++ < 5)
		printf("# page %lu: %#llx, gone %llu\n", page, (unsigned long long)seen,
		       (unsigned long long)gone);
}

/* Never gets bytes beyond the end. */
static void touch_end(struct race *race, struct vma *vma, struct cache_thread *thread,
		      unsigned long page)
{
	uint64_t seq = atomic_load(&race->seq), size = atomic_load(&race->size);
	uint64_t at = page * PAGE_SIZE;
	struct extent run;
	int err = vma_touch_begin(vma, thread, at, true, &run);

	if (!err) {
		atomic_store_explicit(
			(_Atomic char *)(run.base + (run.end - run.start) - 1), 1,
			memory_order_relaxed);
		vma_touch_end();
	}
	race->faulted += err == -EFAULT;
	if (err && !touch_fails_rightly(race, err))
		race->wrong++;
	if (!(seq & 1) || atomic_load(&race->seq) != seq)
		return;
	if ((!err && run.end > size) || (err == -EFAULT) != (at >= size))
		if (err != -ENOMEM && race->wrong++ < 5)
			printf("# page %lu: error %d, up to %llu of %llu bytes\n", page,
			       err, (unsigned long long)run.end,
			       (unsigned long long)size);
}

static void *run_toucher(void *arg)
{
	struct toucher *toucher = arg;
	struct race *race = toucher->race;
	struct cache_thread *thread;
	struct vma *vma = env_vma(0, race->pages * PAGE_SIZE);
	uint64_t random = 99 + toucher->id;

	if (cache_thread_alloc(&thread, race->env.cache, 0, 0))
		bail("no memory for a thread");
	vma_map(vma, race->mapping, thread);
	while (!race->stop) {
		unsigned long page = env_random(&random) % race->pages;

		if (race->gone)
			touch_stamps(race, vma, thread, page);
		else
			touch_end(race, vma, thread, page);
		race->touches++;
		if (env_random(&random) % 256 == 0) {
			vma_unmap(vma, thread);
			vma_map(vma, race->mapping, thread);
		}
	}
	vma_unmap(vma, thread);
	vma_free(vma);
	cache_thread_free(thread);
	return NULL;
}

static struct race *open_race(unsigned batch, unsigned truncate_batch,
			      unsigned long pages)
{
	struct race *race =
		aligned_alloc(CACHELINE_SIZE, align_up(sizeof(*race), CACHELINE_SIZE));

	if (!race)
		bail("no memory");
	memset(race, 0, sizeof(*race));
	env_open_nodes(&race->env, 24, 1, 0, batch, truncate_batch);
	race->mapping = env_mapping(&race->env, pages * PAGE_SIZE);
	race->pages = pages;
	return race;
}

static void start_race(struct race *race, struct toucher *touchers)
{
	for (unsigned i = 0; i < NR_TOUCHERS; i++) {
		touchers[i] = (struct toucher){ .race = race, .id = i };
		if (pthread_create(&touchers[i].pthread, NULL, run_toucher, &touchers[i]))
			bail("no thread");
	}
}

static void stop_race(struct race *race, struct toucher *touchers)
{
	race->stop = true;
	for (unsigned i = 0; i < NR_TOUCHERS; i++)
		pthread_join(touchers[i].pthread, NULL);
}

static void close_race(struct race *race)
{
	mapping_free(race->mapping, race->env.thread);
	ok(env_check(&race->env, NULL, 0), "all frames are free in the end");
	env_close(&race->env);
	free((void *)race->gone);
	free(race);
}

/* Stores its stamps, truncates some of them, says so. Also into windows that are there in part. */
static void test_truncation(unsigned batch, unsigned truncate_batch, unsigned long pages)
{
	struct race *race = open_race(batch, truncate_batch, pages);
	struct vma *vma = env_vma(0, pages * PAGE_SIZE);
	struct toucher touchers[NR_TOUCHERS];
	uint64_t random = 3;
	struct extent run;
	bool zero = true;

	race->gone = calloc(pages, sizeof(*race->gone));
	if (!race->gone)
		bail("no memory");
	vma_map(vma, race->mapping, race->env.thread);
	start_race(race, touchers);
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		unsigned long first = env_random(&random) % pages;
		unsigned long end = first + 1 + env_random(&random) % (pages - first);

		if (round % 4 == 0) {
			first = 0;
			end = pages;
		}
		for (unsigned long page = first; page < end; page++) {
			uint64_t at = page * PAGE_SIZE;

			if (vma_touch(vma, race->env.thread, at, true, &run))
				bail("fault");
			atomic_store_explicit(
				(_Atomic uint64_t *)(void *)(run.base + (at - run.start)),
				(uint64_t)page << 32 | round, memory_order_relaxed);
		}
		mapping_truncate_range(race->mapping, first * PAGE_SIZE, end * PAGE_SIZE,
				       race->env.thread);
		for (unsigned long page = first; page < end; page++)
			atomic_store_explicit(&race->gone[page], round,
					      memory_order_release);
		if (vma_touch(vma, race->env.thread, first * PAGE_SIZE, false, &run))
			bail("fault");
		zero &= !*(uint64_t *)(void *)(run.base +
					       (first * PAGE_SIZE - run.start));
	}
	stop_race(race, touchers);
	ok(!race->wrong && zero,
	   "guarantee H: batch %u, truncate-batch %u: nobody sees what was truncated%s: %lu touches",
	   batch, truncate_batch, RACE_POINTS, (unsigned long)race->touches);
	vma_unmap(vma, race->env.thread);
	ok(env_check(&race->env, &race->mapping, 1), "stock is right");
	vma_free(vma);
	close_race(race);
}

static bool any_beyond(const struct mapping *mapping, unsigned long end)
{
	unsigned long index;
	void *entry;
	bool any = false;

	cache_rcu_read_lock();
	/* Without a reference: the folio is not looked at, only where it is. */
	while (!any && tree_load_batch(&mapping->tree, end++, -1UL, &entry, &index, 1))
		any = index >= end - 1;
	cache_rcu_read_unlock();
	return any;
}

/* A fault in flight may bring pages in yet, but takes them out again. */
static bool nothing_beyond(const struct mapping *mapping)
{
	for (unsigned i = 0; i < 20000; i++) {
		if (!any_beyond(mapping, mapping_end(mapping)))
			return true;
		usleep(50);
	}
	return false;
}

static void test_resizing(unsigned batch, unsigned truncate_batch, unsigned long pages,
			  bool placed)
{
	struct race *race = open_race(batch, truncate_batch, pages);
	struct toucher touchers[NR_TOUCHERS];
	unsigned left = 0;
	uint64_t random = 4;

	race->placed = placed;
	if (placed && mapping_place(race->mapping, 0, PMD_NR))
		bail("cannot place the file");
	start_race(race, touchers);
	for (unsigned round = 1; round <= ROUNDS; round++) {
		uint64_t size = env_random(&random) % (pages * PAGE_SIZE);

		if (mapping_resize(race->mapping, size, race->env.thread))
			bail("cannot resize");
		atomic_store(&race->size, size);
		atomic_fetch_add(&race->seq, 1);
		left += !nothing_beyond(race->mapping);
		if (left)
			break;
		atomic_fetch_add(&race->seq, 1);
		if (mapping_resize(race->mapping, pages * PAGE_SIZE, race->env.thread))
			bail("cannot resize");
		sched_yield();
	}
	stop_race(race, touchers);
	ok(!race->wrong,
	   "guarantee M: batch %u, truncate-batch %u%s: nobody gets bytes beyond the end%s: %lu "
	   "touches, %lu failed",
	   batch, truncate_batch, placed ? ", placed" : "", RACE_POINTS,
	   (unsigned long)race->touches, (unsigned long)race->faulted);
	ok(!left && env_check(&race->env, &race->mapping, 1),
	   "guarantee L: no folio is left beyond the end, stock is right");
	close_race(race);
}

int main(void)
{
	static const unsigned truncate_batches[] = { 1, 15, 512 };

#ifdef PAGEZONE_RACE_POINTS
	slow_test();
#endif
	alarm(300); /* a deadlock ends as a failure */
	test_lookup_waits_for_nobody();
	test_tail_in_hand();
	test_cut_before_insertion(false);
	test_cut_before_insertion(true);
	for (unsigned i = 0; i < ARRAY_SIZE(truncate_batches); i++) {
		unsigned truncate_batch = truncate_batches[i];

		test_locked(truncate_batch);
		test_bytes_in_hand(1, truncate_batch);
		test_bytes_in_hand(512, truncate_batch);
		test_truncation(1, truncate_batch, 6);
		test_truncation(16, truncate_batch, 70);
		test_resizing(1, truncate_batch, 5, false);
		test_resizing(16, truncate_batch, 40, i == 1);
	}
	return done();
}
