/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running out of page frames and of tree nodes: the fault says so, nothing leaks, the
 * next one works.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "cache_env.h"

#define FRAMES PMD_NR /* of the arena of 2 MiB that most tests here use */

/* Stores to pages [start, end) in turn; returns the first error, *@done: pages that worked. */
static int fill(struct vma *vma, struct cache_thread *thread, unsigned long start,
		unsigned long end, unsigned long *done)
{
	struct extent run;

	for (*done = 0; start < end; start++, ++*done) {
		int err = vma_touch(vma, thread, start * PAGE_SIZE, true, &run);

		if (err)
			return err;
		/* Atomic: in some tests several threads store the same. */
		atomic_store_explicit(
			(_Atomic char *)&run.base[start * PAGE_SIZE - run.start],
			(char)start, memory_order_relaxed);
	}
	return 0;
}

static void test_frames(unsigned batch)
{
	struct env env;
	struct mapping *mapping;
	struct vma *vma;
	unsigned long done_pages;
	uint64_t locked;
	int err;

	env_open(&env, 2, batch);
	mapping = env_mapping(&env, 2 * PMD_SIZE);
	vma = env_vma(0, 2 * PMD_SIZE);
	for (unsigned again = 0; again < 3; again++) {
		vma_map(vma, mapping, env.thread);
		err = fill(vma, env.thread, 0, 2 * PMD_NR, &done_pages);
		ok(err == -ENOMEM && done_pages == FRAMES,
		   "batch %u: all frames are used, then -ENOMEM (%lu)", batch,
		   done_pages);
		ok(env_check(&env, &mapping, 1), "nothing leaks");
		locked = env.thread->counters.tree.acquisitions;
		ok(fill(vma, env.thread, FRAMES, FRAMES + 1, &done_pages) == -ENOMEM &&
			   locked == env.thread->counters.tree.acquisitions,
		   "again -ENOMEM, without tree_lock");
		ok(!fill(vma, env.thread, 0, FRAMES, &done_pages),
		   "pages in the cache still work");
		vma_unmap(vma, env.thread);
		mapping_truncate(mapping, (FRAMES - 100) * PAGE_SIZE, env.thread);
		ok(env_check(&env, &mapping, 1),
		   "100 pages truncated, where folios allow it");
		mapping_truncate(mapping, 0, env.thread);
		ok(env_check(&env, &mapping, 1) && !mapping_nr_pages(mapping),
		   "all frames are back");
	}
	vma_map(vma, mapping, env.thread);
	ok(!fill(vma, env.thread, PMD_NR, 2 * PMD_NR, &done_pages),
	   "what failed before works now");
	vma_unmap(vma, env.thread);
	mapping_free(mapping, env.thread);
	vma_free(vma);
	env_close(&env);
}

/* No block of 512 frames: the window is made of what there is, down to the touched page. */
static void test_fallback(void)
{
	struct env env;
	struct mapping *mapping, *hog;
	struct vma *vma, *hog_vma;
	unsigned long done_pages, orders = 0;
	struct cache_counters *c;
	struct extent run;

	env_open(&env, 2, 1);
	hog = env_mapping(&env, PMD_SIZE);
	hog_vma = env_vma(0, PMD_SIZE);
	mapping = env_mapping(&env, PMD_SIZE);
	vma = env_vma(0, PMD_SIZE);
	vma_map(hog_vma, hog, env.thread);
	vma_map(vma, mapping, env.thread);
	c = cache_thread_counters(env.thread);
	fill(hog_vma, env.thread, 0, 1, &done_pages);
	env.cache->batch = 512;
	*c = (struct cache_counters){ 0 };
	ok(!vma_touch(vma, env.thread, 7 * PAGE_SIZE, true, &run) &&
		   c->pages_inserted == 511 && c->tree.acquisitions == 1 &&
		   c->faults == 1,
	   "one frame is missing: the window gets the 511 others, under one tree_lock hold");
	for (unsigned long i = 0; i < 511;) {
		struct folio *folio = tree_load(&mapping->tree, i);

		if (!folio)
			break;
		orders |= 1UL << folio->order;
		i += folio_nr_pages(folio);
	}
	ok(orders == 0x1ff, "in folios of orders 8 to 0");
	ok(!fill(vma, env.thread, 0, 511, &done_pages) && c->faults == 1,
	   "all mapped at once");
	ok(vma_touch(vma, env.thread, 511 * PAGE_SIZE, true, &run) == -ENOMEM,
	   "the last: -ENOMEM");
	ok(env_check(&env, (struct mapping *[]){ hog, mapping }, 2), "stock is right");
	vma_unmap(vma, env.thread);
	mapping_truncate(mapping, 0, env.thread);

	/* One free frame, in the middle of nothing. */
	env.cache->batch = 1;
	ok(!fill(hog_vma, env.thread, 1, 511, &done_pages),
	   "all frames but one are taken");
	env.cache->batch = 512;
	vma_map(vma, mapping, env.thread);
	*c = (struct cache_counters){ 0 };
	ok(!vma_touch(vma, env.thread, 300 * PAGE_SIZE, true, &run) &&
		   c->pages_inserted == 1 && run.start == 300 * PAGE_SIZE &&
		   run.end == 301 * PAGE_SIZE,
	   "the touched page gets the only frame, not the first of its window");
	ok(vma_touch(vma, env.thread, 0, true, &run) == -ENOMEM, "the next gets -ENOMEM");
	ok(env_check(&env, (struct mapping *[]){ hog, mapping }, 2), "stock is right");
	vma_unmap(vma, env.thread);
	vma_unmap(hog_vma, env.thread);
	mapping_free(mapping, env.thread);
	mapping_free(hog, env.thread);
	ok(env_check(&env, NULL, 0), "all frames are free");
	vma_free(vma);
	vma_free(hog_vma);
	env_close(&env);
}

/* Each chunk of tree nodes that a run asks for fails in turn. */
static void test_nodes(unsigned batch)
{
	struct env env;
	struct mapping *mapping;
	struct vma *vma;
	unsigned failed = 0;
	bool good = true;

	for (uint64_t fail = 0; good; fail++) {
		struct tree_pool hog;
		uint64_t at = 0;
		struct extent run;
		int err = 0;

		env_open(&env, 8, batch);
		/* A file with holes, so that every window needs nodes of its own. */
		mapping = env_mapping(&env, 1ULL << 40);
		vma = env_vma(0, 64 * PMD_SIZE);
		vma_map(vma, mapping, env.thread);
		tree_pool_init(&hog, &env.cache->slab);
		tree_pool_fill(&hog, env.cache->slab.nr_free);
		env.cache->slab.fail_after = fail;
		for (unsigned i = 0; i < 60 && !err; i++) {
			at = i * PMD_SIZE + (i % 7) * 70 * PAGE_SIZE;
			err = vma_touch(vma, env.thread, at, true, &run);
			if (env_free_pages(&env) < PMD_NR) {
				vma_unmap(vma, env.thread);
				mapping_truncate(mapping, 0, env.thread);
				vma_map(vma, mapping, env.thread);
			}
		}
		good &= !err || err == -ENOMEM;
		good &= env_check(&env, &mapping, 1);
		env.cache->slab.fail_after = UINT64_MAX;
		if (err) {
			failed++;
			good &= !vma_touch(vma, env.thread, at, true, &run);
			good &= env_check(&env, &mapping, 1);
		}
		vma_unmap(vma, env.thread);
		mapping_free(mapping, env.thread);
		good &= env_check(&env, NULL, 0);
		vma_free(vma);
		tree_pool_destroy(&hog);
		env_close(&env);
		if (!err)
			break;
	}
	ok(good && failed > 0, "batch %u: %u failures of node allocation, each survived",
	   batch, failed);
}

/* Eight threads and frames for less than what they want: some fail, nothing leaks. */
struct rival {
	struct env *env;
	struct mapping *mapping;
	pthread_t thread;
	unsigned id;
	unsigned long done_pages;
	int err;
};

static void *run_rival(void *arg)
{
	struct rival *rival = arg;
	struct cache_thread *thread;
	struct vma *vma = env_vma(0, PMD_SIZE);

	if (cache_thread_alloc(&thread, rival->env->cache, 0, 0))
		bail("no memory for a thread");
	vma_map(vma, rival->mapping, thread);
	rival->err = fill(vma, thread, 0, PMD_NR, &rival->done_pages);
	vma_unmap(vma, thread);
	vma_free(vma);
	cache_thread_free(thread);
	return NULL;
}

static void test_rivals(unsigned batch)
{
	struct env env;
	struct rival rivals[8];
	struct mapping *mappings[8];
	unsigned failed = 0;
	bool good = true;

	env_open(&env, 8, batch);
	for (unsigned i = 0; i < 8; i++) {
		mappings[i] = env_mapping(&env, PMD_SIZE);
		rivals[i] =
			(struct rival){ .env = &env, .mapping = mappings[i], .id = i };
	}
	for (unsigned i = 0; i < 8; i++)
		if (pthread_create(&rivals[i].thread, NULL, run_rival, &rivals[i]))
			bail("no thread");
	for (unsigned i = 0; i < 8; i++) {
		pthread_join(rivals[i].thread, NULL);
		failed += rivals[i].err == -ENOMEM;
		good &= !rivals[i].err || rivals[i].err == -ENOMEM;
	}
	ok(good && failed >= 4, "batch %u: %u of 8 threads find no frames for their file",
	   batch, failed);
	ok(env_check(&env, mappings, 8), "stock is right");
	for (unsigned i = 0; i < 8; i++)
		mapping_free(mappings[i], env.thread);
	ok(env_check(&env, NULL, 0), "all frames are free");
	env_close(&env);
}

/*
 * Not a frame more than the file and the threads' lists hold: racing for its pages must not fail.
 */
static void test_exact(unsigned batch)
{
	struct env env;
	struct rival rivals[8];
	struct mapping *mapping, *hog;
	struct vma *vma;
	unsigned long done_pages;
	bool good = true;

	for (unsigned round = 0; round < 20; round++) {
		env_open(&env, 4, batch);
		mapping = env_mapping(&env, PMD_SIZE);
		/*
		 * The lists of an arena this small hold one page each, in 9 threads. The end of the
		 * file keeps the hog's last window from taking the 16 pages that are left for them.
		 */
		hog = env_mapping(&env, (PMD_NR - 16) * PAGE_SIZE);
		vma = env_vma(0, PMD_SIZE);
		vma_map(vma, hog, env.thread);
		fill(vma, env.thread, 0, PMD_NR - 16, &done_pages);
		for (unsigned i = 0; i < 8; i++) {
			rivals[i] = (struct rival){ .env = &env,
						    .mapping = mapping,
						    .id = i };
			if (pthread_create(&rivals[i].thread, NULL, run_rival,
					   &rivals[i]))
				bail("no thread");
		}
		for (unsigned i = 0; i < 8; i++) {
			pthread_join(rivals[i].thread, NULL);
			good &= !rivals[i].err;
			if (rivals[i].err)
				printf("# round %u, thread %u: error %d after %lu pages\n",
				       round, i, -rivals[i].err, rivals[i].done_pages);
		}
		good &= env_check(&env, (struct mapping *[]){ mapping, hog }, 2);
		vma_unmap(vma, env.thread);
		vma_free(vma);
		mapping_free(mapping, env.thread);
		mapping_free(hog, env.thread);
		env_close(&env);
	}
	ok(good, "batch %u: the frames that one needs are enough for 8 that race", batch);
}

/* Somebody truncates and resizes all the time, while allocations of the faulting thread fail. */
struct cutter {
	struct env *env;
	struct mapping *mapping;
	uint64_t bytes;
	pthread_t thread;
	_Atomic bool stop;
};

static void *run_cutter(void *arg)
{
	struct cutter *cutter = arg;
	struct cache_thread *thread;
	uint64_t random = 8;

	if (cache_thread_alloc(&thread, cutter->env->cache, 0, 0))
		bail("no memory for a thread");
	while (!cutter->stop) {
		uint64_t at = env_random(&random) % cutter->bytes;

		if (at % 3) {
			mapping_truncate_range(cutter->mapping, at, at + PMD_SIZE,
					       thread);
		} else if (mapping_resize(cutter->mapping, at, thread) ||
			   mapping_resize(cutter->mapping, cutter->bytes, thread)) {
			bail("cannot resize");
		}
		sched_yield();
	}
	cache_thread_free(thread);
	return NULL;
}

/* One after the other, chunks of nodes fail; frames are short all the time (4 MiB for 10). */
static void test_truncation(unsigned batch)
{
	unsigned failed = 0, cut = 0, wrong = 0;

	for (uint64_t chunk = 0; chunk < 8; chunk++) {
		struct cutter cutter = { .bytes = 10 * PMD_SIZE / 2 };
		struct vma *vma = env_vma(0, cutter.bytes);
		struct tree_pool hog;
		uint64_t random = chunk + 1;
		struct extent run;
		struct env env;

		env_open(&env, 4, batch);
		cutter.env = &env;
		cutter.mapping = env_mapping(&env, cutter.bytes);
		vma_map(vma, cutter.mapping, env.thread);
		tree_pool_init(&hog, &env.cache->slab);
		tree_pool_fill(&hog, env.cache->slab.nr_free);
		env.cache->slab.fail_after = chunk;
		if (pthread_create(&cutter.thread, NULL, run_cutter, &cutter))
			bail("no thread");
		for (unsigned i = 0; i < 600; i++) {
			uint64_t at = env_random(&random) % cutter.bytes;
			int err = vma_touch_begin(vma, env.thread, at, true, &run);

			if (!err) {
				atomic_store_explicit((_Atomic char *)run.base +
							      (at - run.start),
						      'x', memory_order_relaxed);
				vma_touch_end();
			}
			failed += err == -ENOMEM;
			cut += err == -EFAULT;
			wrong += err && err != -ENOMEM && err != -EFAULT;
		}
		cutter.stop = true;
		pthread_join(cutter.thread, NULL);
		lru_drain(env.thread);
		wrong += !env_check(&env, &cutter.mapping, 1);
		mapping_truncate(cutter.mapping, 0, env.thread);
		tree_pool_destroy(&hog);
		env.cache->slab.fail_after = UINT64_MAX;
		wrong += !!vma_touch(vma, env.thread, 0, true, &run);
		vma_unmap(vma, env.thread);
		mapping_free(cutter.mapping, env.thread);
		wrong += !env_check(&env, NULL, 0);
		vma_free(vma);
		env_close(&env);
	}
	ok(!wrong && failed,
	   "batch %u: %u faults without memory, %u beyond the end, while the file is cut",
	   batch, failed, cut);
}

/* Frames that a fault in flight holds are worth waiting for. */
static void test_others_filling(void)
{
	struct folio *frames[4];
	struct env env;
	struct rival rival;
	bool good;

	env_open(&env, 8, 512);
	for (unsigned i = 0; i < 4; i++)
		frames[i] = pcp_alloc(&env.thread->pcp, PMD_ORDER);
	atomic_store(&env.thread->filling, 1);
	rival = (struct rival){ .env = &env, .mapping = env_mapping(&env, PMD_SIZE) };
	if (pthread_create(&rival.thread, NULL, run_rival, &rival))
		bail("no thread");
	/* Long enough to fail, if it fails. */
	usleep(50000);
	for (unsigned i = 0; i < 4; i++)
		pcp_free(&env.thread->pcp, frames[i]);
	atomic_store(&env.thread->filling, 2);
	pthread_join(rival.thread, NULL);
	good = !rival.err && rival.done_pages == PMD_NR;
	ok(good && env_check(&env, &rival.mapping, 1),
	   "a fault waits for frames that are in flight");
	mapping_free(rival.mapping, env.thread);
	env_close(&env);
}

int main(void)
{
	alarm(300);
	for (unsigned batch = 1; batch <= PMD_NR; batch *= 8)
		test_frames(batch);
	test_fallback();
	for (unsigned batch = 1; batch <= PMD_NR; batch *= 8)
		test_nodes(batch);
	for (unsigned batch = 1; batch <= PMD_NR; batch *= 8)
		test_rivals(batch);
	for (unsigned batch = 1; batch <= PMD_NR; batch *= 8)
		test_exact(batch);
	for (unsigned batch = 1; batch <= PMD_NR; batch *= 8)
		test_truncation(batch);
	test_others_filling();
	return done();
}
