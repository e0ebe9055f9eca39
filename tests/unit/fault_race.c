/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that fault the same pages of one mapping at once (guarantees A to G of
 * mapping.h): exactly one insertion of each page wins, everybody sees the same page,
 * nothing is lost or left over.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "cache_env.h"
#include "race_point.h"

#define NR_THREADS 8
#define WORDS	   (PAGE_SIZE / sizeof(uint64_t))
#define MAX_PAGES  (2 * PMD_NR)

enum order { ASCENDING, DESCENDING, STRIDE, FROM_OWN_SHARE, NR_ORDERS };

struct race {
	struct env env;
	struct mapping *mapping;
	unsigned long nr_pages;
	unsigned rounds;
	bool vary;  /* a file of 1 to nr_pages pages in each round */
	bool churn; /* thread 0 truncates between rounds; else the file is freed */
	pthread_barrier_t barrier;
	_Atomic unsigned long
		wrong; /* words that are neither zero nor what they should be */
	_Atomic unsigned long failed; /* faults */
	_Atomic unsigned long inserted;
	_Atomic uint64_t minor, faults;
};

struct racer {
	struct race *race;
	unsigned id;
	pthread_t thread;
};

static uint64_t stamp(unsigned long page, unsigned id, unsigned round)
{
	return (uint64_t)page << 32 | (uint64_t)round << 8 | (id + 1);
}

static unsigned long pick(unsigned id, unsigned long nr, unsigned long i)
{
	switch ((id + 1) % NR_ORDERS) {
	case DESCENDING:
		return nr - 1 - i;
	case STRIDE:
		return (i * 1021 + id) % nr; /* a prime larger than half of MAX_PAGES */
	case FROM_OWN_SHARE:
		return (i + id * nr / NR_THREADS) % nr;
	default:
		return i;
	}
}

static _Atomic uint64_t *word_of(const struct extent *run, unsigned long page,
				 unsigned word)
{
	return (_Atomic uint64_t *)(void *)(run->base + (page * PAGE_SIZE - run->start)) +
	       word;
}

/* Every thread stores its own word of every page, and loads its neighbour's. */
static void race_file(struct race *race, unsigned id, unsigned round, struct vma *vma,
		      struct cache_thread *thread, unsigned long nr)
{
	for (unsigned long i = 0; i < nr; i++) {
		unsigned long page = pick(id, nr, i);
		unsigned other = (id + 1) % NR_THREADS;
		struct extent run;
		uint64_t seen;

		if (vma_touch(vma, thread, page * PAGE_SIZE, id % 4 != 3, &run)) {
			race->failed++;
			return;
		}
		seen = atomic_load_explicit(word_of(&run, page, other),
					    memory_order_relaxed);
		if (seen && seen != stamp(page, other, round))
			race->wrong++;
		if (id % 4 == 3 && vma_touch(vma, thread, page * PAGE_SIZE, true, &run)) {
			race->failed++;
			return;
		}
		atomic_store_explicit(word_of(&run, page, id), stamp(page, id, round),
				      memory_order_relaxed);
	}
}

/* All threads' words are there, the rest of each page is zero. */
static bool file_is_right(struct race *race, unsigned round, unsigned long nr)
{
	static uint64_t words[WORDS];

	for (unsigned long page = 0; page < nr; page++) {
		mapping_read(race->mapping, page * PAGE_SIZE, words, PAGE_SIZE);
		for (unsigned i = 0; i < WORDS; i++)
			if (words[i] != (i < NR_THREADS ? stamp(page, i, round) : 0))
				return false;
	}
	return true;
}

static void check_round(struct race *race, unsigned round, unsigned long nr)
{
	struct reason why;

	if (!file_is_right(race, round, nr)) {
		printf("# round %u: the file is wrong\n", round);
		race->wrong++;
	}
	if (atomic_exchange(&race->inserted, 0) != nr ||
	    mapping_nr_pages(race->mapping) != nr) {
		printf("# round %u: not every page was inserted once\n", round);
		race->wrong++;
	}
	if (race->faults - race->minor > nr) {
		printf("# round %u: more insertions than pages\n", round);
		race->wrong++;
	}
	if (page_cache_check(race->env.cache, &race->mapping, 1, &why)) {
		printf("# round %u: %s\n", round, why.text);
		race->wrong++;
	}
}

static void *run_racer(void *arg)
{
	struct racer *racer = arg;
	struct race *race = racer->race;
	struct cache_thread *thread;
	struct cache_counters *counters;
	struct vma *vma = env_vma(0, MAX_PAGES * PAGE_SIZE);
	uint64_t seed = 77;

	if (cache_thread_alloc(&thread, race->env.cache, 0, 0))
		bail("no memory for a thread");
	counters = cache_thread_counters(thread);
	for (unsigned round = 0; round < race->rounds; round++) {
		unsigned long nr = race->vary ? 1 + env_random(&seed) % race->nr_pages :
						race->nr_pages;

		if (!racer->id)
			atomic_store(&race->mapping->i_size, nr * PAGE_SIZE);
		pthread_barrier_wait(&race->barrier);
		vma_map(vma, race->mapping, thread);
		*counters = (struct cache_counters){ 0 };
		pthread_barrier_wait(&race->barrier);
		race_file(race, racer->id, round, vma, thread, nr);
		race->inserted += counters->pages_inserted;
		race->minor += counters->minor_faults;
		race->faults += counters->faults;
		pthread_barrier_wait(&race->barrier);
		if (!racer->id) {
			check_round(race, round, nr);
			race->minor = race->faults = 0;
		}
		pthread_barrier_wait(&race->barrier);
		vma_unmap(vma, thread);
		pthread_barrier_wait(&race->barrier);
		if (!racer->id)
			mapping_truncate(race->mapping, 0, thread);
	}
	vma_free(vma);
	cache_thread_free(thread);
	return NULL;
}

static void test_race(unsigned batch, unsigned long nr_pages, unsigned rounds, bool vary)
{
	struct race *race = aligned_alloc(CACHELINE_SIZE, align_up(sizeof(*race), 64));
	struct racer racers[NR_THREADS];

	if (!race)
		bail("no memory");
	memset(race, 0, sizeof(*race));
	env_open(&race->env, 8, batch);
	race->mapping = env_mapping(&race->env, nr_pages * PAGE_SIZE);
	race->nr_pages = nr_pages;
	race->rounds = rounds;
	race->vary = vary;
	pthread_barrier_init(&race->barrier, NULL, NR_THREADS);
	for (unsigned i = 0; i < NR_THREADS; i++) {
		racers[i] = (struct racer){ .race = race, .id = i };
		if (pthread_create(&racers[i].thread, NULL, run_racer, &racers[i]))
			bail("no thread");
	}
	for (unsigned i = 0; i < NR_THREADS; i++)
		pthread_join(racers[i].thread, NULL);
	ok(!race->failed && !race->wrong,
	   "batch %u, %lu pages%s, %u rounds of %u threads: %lu failed, %lu wrong", batch,
	   nr_pages, vary ? " at most" : "", rounds, NR_THREADS,
	   (unsigned long)race->failed, (unsigned long)race->wrong);
	ok(mapping_nr_pages(race->mapping) == 0 &&
		   env_check(&race->env, &race->mapping, 1),
	   "all frames are free in the end");
	mapping_free(race->mapping, race->env.thread);
	env_close(&race->env);
	pthread_barrier_destroy(&race->barrier);
	free(race);
}

/* Lookups against truncation and reuse of the frames: A, B and J. */
struct lookup_race {
	struct env env;
	struct mapping *mappings[2];
	_Atomic bool stop;
	_Atomic unsigned long found, wrong;
};

#define LOOKUP_PAGES 64

/*
 * The linker puts this in the way of mapping.c's calls: some lookups are held up at the worst
 * moment, when they have the pointer of a folio and not yet a reference.
 */
static __thread unsigned hold_up_one_in;

void *__real_tree_load(const struct tree *tree, unsigned long index);
void *__wrap_tree_load(const struct tree *tree, unsigned long index);

void *__wrap_tree_load(const struct tree *tree, unsigned long index)
{
	static __thread unsigned nr;
	void *entry = __real_tree_load(tree, index);

	if (hold_up_one_in && ++nr % hold_up_one_in == 0)
		usleep(100);
	return entry;
}

static void *run_lookups(void *arg)
{
	struct lookup_race *race = arg;
	struct cache_thread *thread;
	uint64_t seed = 5;

	hold_up_one_in = 16;
	if (cache_thread_alloc(&thread, race->env.cache, 0, 0))
		bail("no memory for a thread");
	while (!race->stop) {
		unsigned which = env_random(&seed) & 1;
		unsigned long page = env_random(&seed) % LOOKUP_PAGES;
		struct mapping *mapping = race->mappings[which];
		struct folio *folio = mapping_get_folio(mapping, page, thread);
		_Atomic uint64_t *word;

		if (!folio)
			continue;
		word = (void *)((char *)folio->data +
				(page & (folio_nr_pages(folio) - 1)) * PAGE_SIZE);
		for (unsigned i = 0; i < 2; i++) {
			/*
			 * Zeroed, or stored to by those who mapped it: never another page's bytes.
			 */
			uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);

			if (seen && seen != stamp(page, which, 0))
				race->wrong++;
		}
		folio_lock(folio);
		if (folio_mapping(folio) && !folio_holds(folio, mapping, page))
			race->wrong++;
		folio_unlock(folio);
		folio_put(folio, thread);
		race->found++;
	}
	cache_thread_free(thread);
	return NULL;
}

static void test_lookup(unsigned batch, unsigned rounds)
{
	struct lookup_race *race =
		aligned_alloc(CACHELINE_SIZE, align_up(sizeof(*race), 64));
	pthread_t threads[3];
	struct vma *vma = env_vma(0, LOOKUP_PAGES * PAGE_SIZE);
	unsigned failed = 0;

	if (!race)
		bail("no memory");
	memset(race, 0, sizeof(*race));
	/* Two files of 64 pages, 512 frames: they change places all the time. */
	env_open(&race->env, 2, batch);
	for (unsigned i = 0; i < 2; i++)
		race->mappings[i] = env_mapping(&race->env, LOOKUP_PAGES * PAGE_SIZE);
	for (unsigned i = 0; i < ARRAY_SIZE(threads); i++)
		if (pthread_create(&threads[i], NULL, run_lookups, race))
			bail("no thread");
	/* Until the lookups have seen enough; on a busy machine that takes more rounds. */
	for (unsigned round = 0;
	     round < rounds && (round < rounds / 16 || race->found < 20000); round++) {
		unsigned which = round & 1;
		struct extent run;

		race->env.cache->truncate_batch = round % 3 ? 15 : 1;
		mapping_truncate(race->mappings[which], 0, race->env.thread);
		vma_map(vma, race->mappings[which], race->env.thread);
		for (unsigned long i = 0; i < LOOKUP_PAGES; i++) {
			/* Each time another order, so that frames change their places. */
			unsigned long page = (i * 29 + round) % LOOKUP_PAGES;

			if (vma_touch(vma, race->env.thread, page * PAGE_SIZE, true,
				      &run)) {
				failed++;
				break;
			}
			atomic_store_explicit(word_of(&run, page, 0),
					      stamp(page, which, 0),
					      memory_order_relaxed);
		}
		vma_unmap(vma, race->env.thread);
	}
	race->stop = true;
	for (unsigned i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	ok(!race->wrong && !failed, "batch %u: %lu lookups, %lu wrong, %u faults failed",
	   batch, (unsigned long)race->found, (unsigned long)race->wrong, failed);
	ok(env_check(&race->env, race->mappings, 2), "stock is right");
	for (unsigned i = 0; i < 2; i++)
		mapping_free(race->mappings[i], race->env.thread);
	ok(env_check(&race->env, NULL, 0), "all frames are free in the end");
	vma_free(vma);
	env_close(&race->env);
	free(race);
}

/*
 * Guarantee I, step by step: somebody has found a folio and waits for its lock while that
 * is truncated. A fault must look again and make a new one, another truncation must leave
 * it alone.
 */
struct waiter {
	struct env *env;
	struct mapping *mapping;
	bool truncates;
	struct extent run;
	struct cache_counters counters;
	int err;
};

static void *run_waiter(void *arg)
{
	struct waiter *waiter = arg;
	struct cache_thread *thread;
	struct vma *vma = env_vma(0, PAGE_SIZE);

	if (cache_thread_alloc(&thread, waiter->env->cache, 0, 0))
		bail("no memory for a thread");
	if (waiter->truncates) {
		mapping_truncate(waiter->mapping, 0, thread);
	} else {
		vma_map(vma, waiter->mapping, thread);
		waiter->err = vma_touch(vma, thread, 0, true, &waiter->run);
		vma_unmap(vma, thread);
	}
	waiter->counters = *cache_thread_counters(thread);
	vma_free(vma);
	cache_thread_free(thread);
	return NULL;
}

/* What truncation does to a folio whose lock the caller holds. */
static void truncate_locked(struct env *env, struct mapping *mapping, struct folio *folio)
{
	struct tree_walk walk;

	lock_acquire(&mapping->tree.lock, &env->thread->counters.tree);
	tree_walk_init_locked(&walk, &mapping->tree, &env->thread->pool);
	tree_delete_locked(&walk, 0);
	folio_clear_mapping(folio);
	mapping_add_pages_locked(mapping, -1);
	lock_release(&mapping->tree.lock);
	folio_unlock(folio);
	tree_pool_retire(&env->thread->pool);
}

static void test_truncated_while_waiting(bool truncates)
{
	struct env env;
	struct waiter waiter;
	struct folio *folio;
	struct vma *vma = env_vma(0, PAGE_SIZE);
	pthread_t thread;
	struct extent run;

	env_open(&env, 2, 1);
	waiter = (struct waiter){
		.env = &env,
		.mapping = env_mapping(&env, PAGE_SIZE),
		.truncates = truncates,
	};
	vma_map(vma, waiter.mapping, env.thread);
	if (vma_touch(vma, env.thread, 0, true, &run))
		bail("fault");
	run.base[0] = 'x';
	vma_unmap(vma, env.thread);
	folio = mapping_get_folio(waiter.mapping, 0, env.thread);
	folio_lock(folio);
	if (pthread_create(&thread, NULL, run_waiter, &waiter))
		bail("no thread");
	while (!folio_test(folio, FOLIO_WAITERS))
		sched_yield();
	truncate_locked(&env, waiter.mapping, folio);
	pthread_join(thread, NULL);
	if (truncates)
		ok(waiter.counters.tree.acquisitions == 0 && folio->refcount == 2,
		   "a folio truncated while another truncation waits for its lock is not "
		   "truncated twice");
	else
		ok(!waiter.err && waiter.counters.pages_inserted == 1 &&
			   waiter.counters.minor_faults == 0 &&
			   waiter.run.base != folio->data,
		   "a folio truncated while the fault waits for its lock is not mapped");
	ok(*(char *)folio->data == 'x' && folio->mapcount == 0, "it stays as it was");
	folio_put_refs(folio, 2, env.thread);
	ok(env_check(&env, &waiter.mapping, 1), "stock is right");
	mapping_free(waiter.mapping, env.thread);
	vma_free(vma);
	env_close(&env);
}

int main(void)
{
#ifdef PAGEZONE_RACE_POINTS
	slow_test();
#endif
	alarm(300); /* a deadlock ends as a failure */
	test_race(1, 700, 4, false);
	test_race(8, 701, 6, false);
	test_race(512, MAX_PAGES, 6, false); /* frames for 4 windows, 8 racers */
	test_race(1, 6, 300, true);
	test_race(8, 20, 300, true);
	test_race(512, 600, 60, true);
	test_truncated_while_waiting(false);
	test_truncated_while_waiting(true);
	test_lookup(1, 6000);
	test_lookup(16, 6000);
	return done();
}
