/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What truncating a file of 1024 pages that nobody maps costs: page by page and in batches, with
 * batch=1 and batch=512, interleaved, clean and dirty.
 *
 *	tests/bench/truncate [COUNT [PAGES]]
 *
 * Prints for each side ns per page (quartiles over COUNT truncations), tree_lock
 * acquisitions per page, and how often the median of the first side (one page a fault,
 * page by page) it is.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/clock.h"
#include "cache/thread.h"
#include "stats/stats.h"
#include "sys/arena.h"

static const struct {
	unsigned batch, truncate_batch;
} sides[] = { { 1, 1 }, { 1, 15 }, { 1, 31 }, { 1, 512 }, { 512, 1 }, { 512, 512 } };

#define NR_SIDES ARRAY_SIZE(sides)

/* All sides work on the same memory: a thread has one page cache. */
struct bench {
	struct arena arena;
	struct page_cache *cache;
	struct cache_thread *thread;
	struct mapping *mapping;
	struct vma *vma;
	uint64_t bytes;
	double *ns[NR_SIDES]; /* per page, one a truncation */
	uint64_t acquisitions[NR_SIDES];
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "bench-truncate: %s\n", what);
	exit(3);
}

static void open_bench(struct bench *b, unsigned count)
{
	struct page_cache_conf conf = {
		.batch = 1,
		.truncate_batch = 1,
		.arena = &b->arena,
		.nr_threads = 1,
	};
	size_t arena = align_up(b->bytes, PMD_SIZE) + 2 * PMD_SIZE;
	struct reason why;
	unsigned nid = 0;

	if (arena_resize(&b->arena, &nid, &arena, 1, &why) ||
	    page_cache_alloc(&b->cache, &conf, &why))
		die(why.text);
	for (unsigned i = 0; i < NR_SIDES; i++) {
		b->ns[i] = malloc(count * sizeof(*b->ns[i]));
		if (!b->ns[i])
			die("no memory");
	}
	if (cache_thread_alloc(&b->thread, b->cache, -1, -1) ||
	    mapping_alloc(&b->mapping, b->cache, b->bytes) ||
	    vma_alloc(&b->vma, 0, b->bytes, -1))
		die("no memory");
}

static void close_bench(struct bench *b)
{
	vma_free(b->vma);
	mapping_free(b->mapping, b->thread);
	cache_thread_free(b->thread);
	page_cache_free(b->cache);
	arena_destroy(&b->arena);
	for (unsigned i = 0; i < NR_SIDES; i++)
		free(b->ns[i]);
}

static void fill(struct bench *b, bool write)
{
	struct extent run;

	vma_map(b->vma, b->mapping, b->thread);
	for (uint64_t offset = 0; offset < b->bytes; offset = run.end)
		if (vma_touch(b->vma, b->thread, offset, write, &run))
			die("a fault failed");
	vma_unmap(b->vma, b->thread);
}

static void truncate_once(struct bench *b, unsigned side, bool write, unsigned n)
{
	struct cache_counters *c = cache_thread_counters(b->thread);
	uint64_t start;

	b->cache->batch = sides[side].batch;
	b->cache->truncate_batch = sides[side].truncate_batch;
	fill(b, write);
	*c = (struct cache_counters){ 0 };
	start = clock_now_ns();
	mapping_truncate(b->mapping, 0, b->thread);
	b->ns[side][n] =
		(double)(clock_now_ns() - start) / (double)(b->bytes / PAGE_SIZE);
	b->acquisitions[side] += c->tree.acquisitions;
}

static void print(struct bench *b, unsigned count)
{
	double first = 0;

	for (unsigned i = 0; i < NR_SIDES; i++) {
		struct summary s;

		if (summary_compute(&s, b->ns[i], count))
			die("no memory");
		if (!i)
			first = s.median;
		printf("batch=%-3u truncate-batch=%-3u %8.2f %8.2f %8.2f %12.5f %8.2f\n",
		       sides[i].batch, sides[i].truncate_batch, s.p25, s.median, s.p75,
		       (double)b->acquisitions[i] /
			       ((double)b->bytes / PAGE_SIZE * count),
		       first / s.median);
	}
}

static void measure(uint64_t pages, unsigned count, bool write)
{
	struct bench b = { .bytes = pages * PAGE_SIZE };

	open_bench(&b, count);
	for (unsigned n = 0; n < count; n++)
		for (unsigned i = 0; i < NR_SIDES; i++)
			truncate_once(&b, n & 1 ? NR_SIDES - 1 - i : i, write, n);
	printf("%s, %u x %llu pages: ns per page (p25, median, p75), tree_lock per page, times\n",
	       write ? "dirty" : "clean", count, (unsigned long long)pages);
	print(&b, count);
	close_bench(&b);
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;
	unsigned pages = argc > 2 ? (unsigned)atoi(argv[2]) : 1024;

	if (!count || !pages)
		die("usage: truncate [COUNT [PAGES]]");
	measure(pages, count, false);
	measure(pages, count, true);
	return 0;
}
