/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults into mappings that have their frames in the order of the file: the memory from the first
 * frame on is the file, whatever faulted when.
 */
#include <errno.h>
#include <pthread.h>

#include "base/bits.h"
#include "cache_env.h"

#define NR_RACERS   4
#define RACE_PAGES  (PMD_NR + 300)
#define RACE_ROUNDS 40

static const uint64_t sizes[] = {
	1,
	PAGE_SIZE,
	5 * PAGE_SIZE + 1,
	511 * PAGE_SIZE,
	PMD_SIZE - 1,
	2 * PMD_SIZE,
	PMD_SIZE + 300 * PAGE_SIZE,
	3 * PMD_SIZE - PAGE_SIZE,
};

static struct mapping *place(struct env *env, uint64_t bytes, size_t frame)
{
	struct mapping *mapping = env_mapping(env, bytes);

	if (mapping_place(mapping, 0, frame))
		bail("cannot place a mapping");
	return mapping;
}

static char *frames_at(const struct env *env, size_t frame)
{
	return (char *)env->regions[0].base + frame * PAGE_SIZE;
}

/* All free and in whole blocks: nothing of the placed frames is left on a thread's list. */
static bool all_free(const struct env *env)
{
	const struct zone *zone = &env->cache->zones[0];

	return zone->nr_free[ZONE_MAX_ORDER] == zone->nr_frames / PMD_NR;
}

/* Stores a mark to every page of [@start, @end). */
static int stamp(struct env *env, struct vma *vma, unsigned long start, unsigned long end)
{
	struct extent run;

	for (unsigned long i = start; i < end; i++) {
		int err = vma_touch(vma, env->thread, i * PAGE_SIZE, true, &run);

		if (err)
			return err;
		*(unsigned long *)(void *)(run.base + (i * PAGE_SIZE - run.start)) =
			i + 1;
	}
	return 0;
}

/* The mark, and zeros behind it, in every page of [@start, @end) of the frames. */
static bool is_stamped(const char *frames, unsigned long start, unsigned long end)
{
	for (unsigned long i = start; i < end; i++) {
		const unsigned long *page = (const void *)(frames + i * PAGE_SIZE);

		if (page[0] != i + 1 || page[1] || page[PAGE_SIZE / sizeof(*page) - 1])
			return false;
	}
	return true;
}

static void test_linear(unsigned batch, uint64_t bytes)
{
	unsigned long nr = div_round_up(bytes, PAGE_SIZE), windows;
	struct cache_counters *counters;
	struct mapping *mappings[2];
	bool good = true;
	struct vma *vma;
	struct env env;

	env_open(&env, 16, batch);
	mappings[0] = place(&env, bytes, 4 * PMD_NR);
	mappings[1] = place(&env, bytes, PMD_NR);
	counters = cache_thread_counters(env.thread);
	windows = 2 * div_round_up(nr, batch);
	for (int i = 0; i < 2; i++) {
		vma = env_vma(0, bytes);
		vma_map(vma, mappings[i], env.thread);
		good &= !stamp(&env, vma, 0, nr);
		good &= env_check(&env, mappings, 2);
		vma_unmap(vma, env.thread);
		vma_free(vma);
	}
	ok(good && counters->faults == windows && counters->pages_inserted == 2 * nr,
	   "batch %u, %llu bytes: a fault a batch", batch, (unsigned long long)bytes);
	ok(is_stamped(frames_at(&env, 4 * PMD_NR), 0, nr) &&
		   is_stamped(frames_at(&env, PMD_NR), 0, nr),
	   "batch %u, %llu bytes: both files lie in their frames in order", batch,
	   (unsigned long long)bytes);
	for (int i = 0; i < 2; i++)
		mapping_truncate(mappings[i], 0, env.thread);
	ok(env_check(&env, mappings, 2) && all_free(&env),
	   "batch %u, %llu bytes: truncation frees the frames", batch,
	   (unsigned long long)bytes);
	for (int i = 0; i < 2; i++)
		mapping_free(mappings[i], env.thread);
	env_close(&env);
}

/* Windows some pages of which are there, by another batch or by a truncation. */
static void test_partial(void)
{
	const unsigned long nr = 2 * PMD_NR + 300;
	struct mapping *mapping;
	uint64_t seed = 4711;
	bool good = true;
	struct vma *vma;
	struct env env;

	env_open(&env, 8, 512);
	mapping = place(&env, nr * PAGE_SIZE, PMD_NR);
	vma = env_vma(0, nr * PAGE_SIZE);
	for (unsigned round = 0; round < 30; round++) {
		unsigned long from = env_random(&seed) % nr;

		vma_map(vma, mapping, env.thread);
		env.cache->batch = 1U << env_random(&seed) % 5;
		for (unsigned i = 0; i < 20; i++) {
			unsigned long page = env_random(&seed) % nr;

			good &= !stamp(&env, vma, page, page + 1);
		}
		good &= env_check(&env, &mapping, 1);
		env.cache->batch = 512;
		good &= !stamp(&env, vma, 0, nr) && mapping_nr_pages(mapping) == nr;
		good &= env_check(&env, &mapping, 1);
		vma_unmap(vma, env.thread);
		good &= is_stamped(frames_at(&env, PMD_NR), 0, nr);
		mapping_truncate(mapping, from * PAGE_SIZE, env.thread);
		good &= env_check(&env, &mapping, 1);
	}
	ok(good, "windows that are there in part are completed in place");
	vma_free(vma);
	mapping_free(mapping, env.thread);
	ok(all_free(&env), "and then nothing is left");
	env_close(&env);
}

static void test_refusals(void)
{
	struct mapping *mapping, *twin;
	struct extent run;
	struct vma *vma;
	struct env env;

	env_open(&env, 8, 512);
	mapping = env_mapping(&env, 3 * PMD_SIZE);
	ok(mapping_place(mapping, 0, 1) == -EINVAL, "no place off 2 MiB boundaries");
	ok(mapping_place(mapping, 1, 0) == -EINVAL,
	   "no place in a region that is not there");
	ok(mapping_place(mapping, 0, 2 * PMD_NR) == -EINVAL,
	   "no place that reaches beyond the region");
	ok(mapping_place(mapping, 0, -(size_t)PMD_NR) == -EINVAL, "nor one beyond it");
	ok(!mapping_place(mapping, 0, PMD_NR), "the last place is one");

	vma = env_vma(0, 3 * PMD_SIZE);
	vma_map(vma, mapping, env.thread);
	stamp(&env, vma, 0, 3 * PMD_NR);
	vma_unmap(vma, env.thread);
	twin = place(&env, PMD_SIZE, 2 * PMD_NR);
	vma_map(vma, twin, env.thread);
	ok(vma_touch(vma, env.thread, 0, true, &run) == -ENOMEM,
	   "frames that another file has: out of memory, not others");
	vma_unmap(vma, env.thread);
	mapping_truncate(mapping, PMD_SIZE, env.thread);
	vma_map(vma, twin, env.thread);
	ok(!vma_touch(vma, env.thread, 0, true, &run) &&
		   run.base == frames_at(&env, 2 * PMD_NR),
	   "when they are free they are had");
	vma_unmap(vma, env.thread);
	vma_free(vma);
	mapping_free(twin, env.thread);
	mapping_free(mapping, env.thread);
	env_close(&env);
}

/* What page tables map, told as runs. */
static void test_runs(void)
{
	const uint64_t bytes = 2 * PMD_SIZE + 5 * PAGE_SIZE + 7;
	uint64_t start = 0, end = 0;
	struct mapping *mapping;
	struct vma *vma;
	struct env env;

	env_open(&env, 8, 512);
	mapping = place(&env, bytes, 0);
	vma = env_vma(0, bytes);
	vma_map(vma, mapping, env.thread);
	ok(!vma_next_run(vma, 0, bytes, &start, &end), "nothing is mapped at first");
	stamp(&env, vma, PMD_NR, PMD_NR + 1);
	ok(vma_next_run(vma, 0, bytes, &start, &end) && start == PMD_SIZE &&
		   end == 2 * PMD_SIZE,
	   "a PMD entry is a run of 2 MiB");
	ok(vma_next_run(vma, PMD_SIZE + 3 * PAGE_SIZE, PMD_SIZE + 9 * PAGE_SIZE, &start,
			&end) &&
		   start == PMD_SIZE + 3 * PAGE_SIZE && end == PMD_SIZE + 9 * PAGE_SIZE,
	   "a run is clipped to what was asked for");
	ok(!vma_next_run(vma, 2 * PMD_SIZE, bytes, &start, &end), "nothing behind it");
	env.cache->batch = 1;
	stamp(&env, vma, 7, 9);
	stamp(&env, vma, 10, 11);
	ok(vma_next_run(vma, 0, bytes, &start, &end) && start == 7 * PAGE_SIZE &&
		   end == 9 * PAGE_SIZE,
	   "pages side by side are one run");
	ok(vma_next_run(vma, end, bytes, &start, &end) && start == 10 * PAGE_SIZE &&
		   end == 11 * PAGE_SIZE,
	   "and the next one begins behind a gap");
	env.cache->batch = 512;
	stamp(&env, vma, 2 * PMD_NR, 2 * PMD_NR + 1);
	ok(vma_next_run(vma, 11 * PAGE_SIZE, bytes, &start, &end) && start == PMD_SIZE &&
		   end == 2 * PMD_SIZE + 6 * PAGE_SIZE,
	   "over PMD slots, and up to the last page, whole");
	vma_unmap(vma, env.thread);
	vma_free(vma);
	mapping_free(mapping, env.thread);
	env_close(&env);
}

struct race {
	struct env env;
	struct mapping *mapping;
	pthread_barrier_t barrier;
	_Atomic unsigned long failed, inserted, wrong;
};

struct racer {
	struct race *race;
	unsigned id;
	pthread_t thread;
};

/* Each from another end or middle, so that they meet in every kind of window. */
static void race_once(struct race *race, unsigned id, struct vma *vma,
		      struct cache_thread *thread)
{
	for (unsigned long i = 0; i < RACE_PAGES; i++) {
		unsigned long at = (i + id / 2 * 200) % RACE_PAGES;
		unsigned long page = id & 1 ? RACE_PAGES - 1 - at : at;
		struct extent run;
		uint8_t *byte;

		if (vma_touch(vma, thread, page * PAGE_SIZE, id != 3, &run)) {
			race->failed++;
			return;
		}
		if (run.base != frames_at(&race->env, PMD_NR) + run.start)
			race->wrong++;
		byte = (uint8_t *)run.base + (page * PAGE_SIZE - run.start) + id;
		if (id != 3)
			__atomic_store_n(byte, (uint8_t)(page + id), __ATOMIC_RELAXED);
	}
}

static void check_race(struct race *race)
{
	const uint8_t *frames = (void *)frames_at(&race->env, PMD_NR);

	for (unsigned long page = 0; page < RACE_PAGES; page++)
		for (unsigned id = 0; id < NR_RACERS; id++)
			if (frames[page * PAGE_SIZE + id] !=
			    (id != 3 ? (uint8_t)(page + id) : 0))
				race->wrong++;
	if (!env_check(&race->env, &race->mapping, 1) ||
	    atomic_exchange(&race->inserted, 0) != RACE_PAGES)
		race->wrong++;
}

static void *run_racer(void *arg)
{
	struct racer *racer = arg;
	struct race *race = racer->race;
	struct vma *vma = env_vma(0, RACE_PAGES * PAGE_SIZE);
	struct cache_thread *thread;

	if (cache_thread_alloc(&thread, race->env.cache, 0, 0))
		bail("no memory for a thread");
	for (unsigned round = 0; round < RACE_ROUNDS; round++) {
		vma_map(vma, race->mapping, thread);
		pthread_barrier_wait(&race->barrier);
		race_once(race, racer->id, vma, thread);
		vma_unmap(vma, thread);
		race->inserted += cache_thread_counters(thread)->pages_inserted;
		cache_thread_counters(thread)->pages_inserted = 0;
		if (pthread_barrier_wait(&race->barrier)) {
			check_race(race);
			mapping_truncate(race->mapping, 0, thread);
			if (!all_free(&race->env))
				race->wrong++;
		}
		pthread_barrier_wait(&race->barrier);
	}
	vma_free(vma);
	cache_thread_free(thread);
	return NULL;
}

static void test_race(unsigned batch)
{
	struct racer racers[NR_RACERS];
	struct race race = { .failed = 0 };

	env_open(&race.env, 8, batch);
	race.mapping = place(&race.env, RACE_PAGES * PAGE_SIZE, PMD_NR);
	pthread_barrier_init(&race.barrier, NULL, NR_RACERS);
	for (unsigned i = 0; i < NR_RACERS; i++) {
		racers[i] = (struct racer){ .race = &race, .id = i };
		if (pthread_create(&racers[i].thread, NULL, run_racer, &racers[i]))
			bail("no thread");
	}
	for (unsigned i = 0; i < NR_RACERS; i++)
		pthread_join(racers[i].thread, NULL);
	ok(!race.failed, "batch %u: no racing fault is out of memory", batch);
	ok(!race.wrong, "batch %u: each page is inserted once, in its place", batch);
	pthread_barrier_destroy(&race.barrier);
	mapping_free(race.mapping, race.env.thread);
	env_close(&race.env);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		test_linear(1, sizes[i]);
		test_linear(16, sizes[i]);
		test_linear(512, sizes[i]);
	}
	test_partial();
	test_refusals();
	test_runs();
	test_race(1);
	test_race(16);
	test_race(512);
	return done();
}
