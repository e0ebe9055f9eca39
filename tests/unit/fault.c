/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults of one thread: what is counted, what is mapped, what the file holds afterwards. */
#include <errno.h>

#include "base/bits.h"
#include "cache_env.h"

static const uint64_t sizes[] = {
	1,
	PAGE_SIZE - 1,
	PAGE_SIZE,
	PAGE_SIZE + 1,
	5 * PAGE_SIZE,
	8 * PAGE_SIZE,
	63 * PAGE_SIZE + 77,
	511 * PAGE_SIZE,
	512 * PAGE_SIZE,
	512 * PAGE_SIZE + 1,
	2 * PMD_SIZE + 12345,
};

/* Bytes at both ends of a page that the tests store to; those between must stay zero. */
#define EDGE 24

static char pattern(uint64_t offset, unsigned version)
{
	return (char)(offset * 2654435761u >> 11 ^ version * 97 ^ offset >> 12);
}

/* The byte after @offset that is an edge's. */
static uint64_t next_edge(uint64_t offset)
{
	offset++;
	if (offset % PAGE_SIZE == EDGE)
		offset += PAGE_SIZE - 2 * EDGE;
	return offset;
}

/* Touches every page of [start, end) and stores to, or compares, the edges of it. */
static int touch_range(struct vma *vma, struct cache_thread *thread, uint64_t start,
		       uint64_t end, bool write, unsigned version)
{
	struct extent run = { 0 };
	int err;

	for (uint64_t offset = start; offset < end; offset = next_edge(offset)) {
		if (offset < run.start || offset >= run.end) {
			err = vma_touch(vma, thread, offset, write, &run);
			if (err)
				return err;
			if (offset < run.start || offset >= run.end)
				return -ERANGE;
		}
		if (write)
			run.base[offset - run.start] = pattern(offset, version);
		else if (run.base[offset - run.start] != pattern(offset, version))
			return -EILSEQ;
	}
	return 0;
}

/* Whether the edges are as touch_range() stores them and the rest is zero. */
static bool file_is(struct mapping *mapping, uint64_t bytes, unsigned version)
{
	static const char zeros[PAGE_SIZE];
	char page[PAGE_SIZE];

	for (uint64_t start = 0; start < bytes; start += PAGE_SIZE) {
		uint64_t end = min_u64(start + PAGE_SIZE, bytes);

		mapping_read(mapping, start, page, end - start);
		for (uint64_t i = start; i < end; i = next_edge(i)) {
			if (page[i - start] != pattern(i, version))
				return false;
			page[i - start] = 0;
		}
		if (memcmp(page, zeros, end - start))
			return false;
	}
	return true;
}

static struct cache_counters *reset(struct env *env)
{
	struct cache_counters *counters = cache_thread_counters(env->thread);

	*counters = (struct cache_counters){ 0 };
	return counters;
}

#define N(x) ((unsigned long long)(x))

/* A new file written, mapped again and read, then written again: faults and locks are exact. */
static void test_counts(unsigned batch, uint64_t bytes)
{
	struct env env;
	struct mapping *mapping;
	struct vma *vma;
	struct cache_counters *c;
	uint64_t pages = div_round_up(bytes, PAGE_SIZE),
		 windows = div_round_up(pages, batch);
	uint64_t pmds = batch == PMD_NR ? pages / PMD_NR : 0;

	env_open(&env, 6, batch);
	mapping = env_mapping(&env, bytes);
	vma = env_vma(0, bytes);

	vma_map(vma, mapping, env.thread);
	c = reset(&env);
	ok(!touch_range(vma, env.thread, 0, bytes, true, 1),
	   "batch %u, %llu bytes: write", batch, N(bytes));
	ok(c->faults == windows && c->minor_faults == 0 &&
		   c->mmap.acquisitions == windows,
	   "%llu faults of %llu, none minor", N(c->faults), N(windows));
	ok(c->tree.acquisitions == windows, "tree_lock %llu times",
	   N(c->tree.acquisitions));
	ok(c->pages_inserted == pages && mapping_nr_pages(mapping) == pages,
	   "%llu pages inserted", N(c->pages_inserted));
	ok(c->pmd_mapped_bytes == pmds * PMD_SIZE, "%llu PMD entries", N(pmds));
	ok(env_check(&env, &mapping, 1), "stock is right while mapped");
	vma_unmap(vma, env.thread);
	ok(env_check(&env, &mapping, 1), "and unmapped");
	ok(!vma->pmds[0] && !vma->nr_tables, "page tables are empty again");
	ok(file_is(mapping, bytes, 1), "the file holds what was stored");

	vma_map(vma, mapping, env.thread);
	c = reset(&env);
	ok(!touch_range(vma, env.thread, 0, bytes, false, 1),
	   "the next mapping reads it");
	ok(c->faults == windows && c->minor_faults == windows && c->pages_inserted == 0 &&
		   c->tree.acquisitions == 0 && c->zone.acquisitions == 0,
	   "%llu faults, all minor, no tree_lock", N(c->faults));
	ok(c->pmd_mapped_bytes == pmds * PMD_SIZE, "%llu PMD entries", N(pmds));
	c = reset(&env);
	ok(!touch_range(vma, env.thread, 0, bytes, false, 1) && c->faults == 0 &&
		   c->mmap.acquisitions == 0,
	   "no fault where it is mapped");
	ok(!touch_range(vma, env.thread, 0, bytes, true, 2), "it is written through");
	ok(c->faults == windows && c->minor_faults == windows &&
		   c->tree.acquisitions == 0,
	   "%llu write faults, dirty already: no tree_lock", N(c->faults));
	ok(env_check(&env, &mapping, 1), "stock is right");
	vma_unmap(vma, env.thread);
	ok(file_is(mapping, bytes, 2), "the file holds what was stored last");
	mapping_free(mapping, env.thread);
	ok(env_check(&env, NULL, 0), "all frames are free");
	vma_free(vma);
	env_close(&env);
}

/* A hole reads as zeros and is clean; the first store makes each folio dirty once. */
static void test_clean_then_dirty(unsigned batch)
{
	struct env env;
	struct mapping *mapping;
	struct vma *vma;
	struct extent run;
	uint64_t bytes = (PMD_NR + 13) * PAGE_SIZE - 5, pages = PMD_NR + 13;
	uint64_t windows = div_round_up(pages, batch);
	struct cache_counters *c;
	bool zero = true, clean = true;

	env_open(&env, 8, batch);
	mapping = env_mapping(&env, bytes);
	vma = env_vma(0, bytes);
	vma_map(vma, mapping, env.thread);
	c = reset(&env);
	for (uint64_t offset = 0; offset < bytes; offset = run.end) {
		if (vma_touch(vma, env.thread, offset, false, &run))
			bail("fault");
		for (uint64_t i = run.start; i < run.end; i += 64)
			zero &= !run.base[i - run.start] && !run.base[run.end - 1 - i];
	}
	ok(zero, "batch %u: a new file reads as zeros", batch);
	for (uint64_t i = 0; i < pages; i++)
		clean &= !tree_get_mark(&mapping->tree, i, TREE_MARK_DIRTY);
	ok(clean && c->faults == windows && c->tree.acquisitions == windows,
	   "its pages are clean, %llu windows", N(windows));
	/* Bytes behind the end of the file, up to the end of its last page. */
	zero = true;
	for (uint64_t i = run.end - run.start; (run.start + i) % PAGE_SIZE; i++)
		zero &= !run.base[i];
	ok(zero, "the rest of the last page is zeroed too");
	c = reset(&env);
	ok(!touch_range(vma, env.thread, 0, bytes, true, 3), "then stores");
	ok(c->faults == windows && c->minor_faults == windows &&
		   c->tree.acquisitions == windows,
	   "tree_lock once a window, for the marks (%llu)", N(c->tree.acquisitions));
	ok(env_check(&env, &mapping, 1), "stock is right, marks agree");
	vma_unmap(vma, env.thread);
	ok(file_is(mapping, bytes, 3), "the file holds what was stored");
	mapping_free(mapping, env.thread);
	vma_free(vma);
	env_close(&env);
}

/* Any order of touches costs the same faults. */
static void test_orders(unsigned batch)
{
	for (int order = 0; order < 2; order++) {
		struct env env;
		struct mapping *mapping;
		struct vma *vma;
		struct extent run;
		uint64_t pages = 2 * PMD_NR - 5, seed = 4711;
		uint64_t windows = div_round_up(pages, batch);
		struct cache_counters *c;
		bool good = true;

		env_open(&env, 8, batch);
		mapping = env_mapping(&env, pages * PAGE_SIZE);
		vma = env_vma(0, pages * PAGE_SIZE);
		vma_map(vma, mapping, env.thread);
		c = reset(&env);
		for (uint64_t i = 0; i < pages; i++) {
			/* 797 is prime to any number of pages here. */
			uint64_t page = order ? i * 797 % pages : pages - 1 - i;

			good &= !vma_touch(vma, env.thread,
					   page * PAGE_SIZE + env_random(&seed) % 4096,
					   true, &run);
		}
		ok(good && c->faults == windows && c->tree.acquisitions == windows &&
			   c->pages_inserted == pages,
		   "batch %u, %s: %llu faults", batch, order ? "at random" : "descending",
		   N(c->faults));
		ok(env_check(&env, &mapping, 1), "stock is right");
		vma_unmap(vma, env.thread);
		mapping_free(mapping, env.thread);
		vma_free(vma);
		env_close(&env);
	}
}

static void test_errors(void)
{
	struct env env;
	struct mapping *mapping;
	struct vma *vma, *part;
	struct extent run;
	uint64_t bytes = 3 * PMD_SIZE + 100;

	env_open(&env, 8, 512);
	mapping = env_mapping(&env, bytes);
	vma = env_vma(0, 4 * PMD_SIZE);
	part = env_vma(PMD_SIZE + 10, 2 * PMD_SIZE - 10);
	ok(vma_touch(vma, env.thread, 0, true, &run) == -EFAULT, "-EFAULT: not mapped");
	vma_map(vma, mapping, env.thread);
	vma_map(part, mapping, env.thread);
	ok(vma_touch(vma, env.thread, bytes, true, &run) == -EFAULT,
	   "-EFAULT: at the end of the file");
	ok(vma_touch(vma, env.thread, bytes + PMD_SIZE, false, &run) == -EFAULT,
	   "-EFAULT: beyond it");
	ok(mapping_nr_pages(mapping) == 0, "nothing came of it");
	ok(!vma_touch(vma, env.thread, bytes - 1, true, &run) && run.end == bytes &&
		   run.start == 3 * PMD_SIZE,
	   "the last byte is there, the run ends with it");
	ok(vma_touch(vma, env.thread, bytes, true, &run) == -EFAULT,
	   "-EFAULT: at the end, in a page that is mapped");
	ok(mapping_nr_pages(mapping) == 1, "one page beyond 3 windows");
	ok(vma_touch(part, env.thread, PMD_SIZE + 9, false, &run) == -EFAULT &&
		   vma_touch(part, env.thread, 2 * PMD_SIZE - 10, false, &run) == -EFAULT,
	   "-EFAULT: outside the vma");
	ok(!vma_touch(part, env.thread, PMD_SIZE + 5000, false, &run) &&
		   run.start == PMD_SIZE + 10 && run.end == 2 * PMD_SIZE - 10,
	   "a run is clipped to the vma");
	ok(!vma_touch(vma, env.thread, PMD_SIZE + 5000, false, &run) &&
		   run.start == PMD_SIZE && run.end == 2 * PMD_SIZE,
	   "the other vma sees all of the folio");
	ok(env_check(&env, &mapping, 1), "stock is right");
	vma_unmap(vma, env.thread);
	vma_unmap(part, env.thread);
	ok(env_check(&env, &mapping, 1), "and unmapped");
	mapping_free(mapping, env.thread);
	vma_free(vma);
	vma_free(part);
	env_close(&env);
}

/* A shared file: two vmas meet in the middle of a page, and of a window. */
static void test_shared_boundary(unsigned batch)
{
	struct env env;
	struct mapping *mapping;
	uint64_t bytes = PMD_SIZE + 7 * PAGE_SIZE, middle = 300 * PAGE_SIZE + 11;
	uint64_t pages = div_round_up(bytes, PAGE_SIZE);
	struct vma *low, *high;
	struct cache_counters *c;

	env_open(&env, 8, batch);
	mapping = env_mapping(&env, bytes);
	low = env_vma(0, middle);
	high = env_vma(middle, bytes);
	vma_map(low, mapping, env.thread);
	vma_map(high, mapping, env.thread);
	c = reset(&env);
	ok(!touch_range(low, env.thread, 0, middle, true, 5) &&
		   !touch_range(high, env.thread, middle, bytes, true, 5),
	   "batch %u: two vmas of one file", batch);
	ok(c->pages_inserted == pages &&
		   c->tree.acquisitions == div_round_up(pages, batch),
	   "pages and tree_lock as for one vma");
	ok(c->faults == div_round_up(pages, batch) + 1 && c->minor_faults == 1,
	   "the shared window faults twice");
	ok(c->pmd_mapped_bytes == 0, "a folio that neither vma covers gets no PMD entry");
	ok(file_is(mapping, bytes, 5), "the file is whole");
	ok(env_check(&env, &mapping, 1), "stock is right");
	vma_unmap(low, env.thread);
	ok(env_check(&env, &mapping, 1), "one unmapped");
	vma_unmap(high, env.thread);
	ok(env_check(&env, &mapping, 1), "both unmapped");
	mapping_free(mapping, env.thread);
	vma_free(low);
	vma_free(high);
	env_close(&env);
}

/* A window of which some pages are in the cache: the gaps get the largest aligned folios. */
static void test_partly_present(void)
{
	static const unsigned orders[16] = { 1, 1, 0, 0, 2, 2, 2, 2,
					     0, 0, 1, 1, 2, 2, 2, 2 };
	struct env env;
	struct mapping *mapping;
	struct vma *vma;
	struct extent run;
	struct cache_counters *c;
	bool good = true;

	env_open(&env, 4, 1);
	mapping = env_mapping(&env, 16 * PAGE_SIZE);
	vma = env_vma(0, 16 * PAGE_SIZE);
	vma_map(vma, mapping, env.thread);
	ok(!touch_range(vma, env.thread, 3 * PAGE_SIZE, 4 * PAGE_SIZE, true, 1) &&
		   !touch_range(vma, env.thread, 8 * PAGE_SIZE, 9 * PAGE_SIZE, true, 1),
	   "two single pages");
	vma_unmap(vma, env.thread);
	env.cache->batch = 16;
	vma_map(vma, mapping, env.thread);
	c = reset(&env);
	ok(!vma_touch(vma, env.thread, 5 * PAGE_SIZE, false, &run),
	   "the window around them");
	ok(c->faults == 1 && c->tree.acquisitions == 1 && c->pages_inserted == 14,
	   "the rest of it under one tree_lock hold");
	for (unsigned long i = 0; i < 16; i++) {
		struct folio *folio = tree_load(&mapping->tree, i);

		good &= folio && folio->order == orders[i] &&
			(pgtable_entry(vma, i) & PTE_PRESENT);
	}
	ok(good, "in the largest aligned folios, all mapped");
	ok(tree_get_mark(&mapping->tree, 3, TREE_MARK_DIRTY) &&
		   !tree_get_mark(&mapping->tree, 2, TREE_MARK_DIRTY),
	   "marks as they were");
	ok((pgtable_entry(vma, 5) & PTE_ACCESSED) &&
		   !(pgtable_entry(vma, 3) & PTE_ACCESSED),
	   "only the touched folio is accessed");
	c = reset(&env);
	ok(!vma_touch(vma, env.thread, 3 * PAGE_SIZE, false, &run) && c->faults == 0 &&
		   (pgtable_entry(vma, 3) & PTE_ACCESSED),
	   "a touch of another is no fault, and sets its bit");
	ok(!touch_range(vma, env.thread, 3 * PAGE_SIZE, 4 * PAGE_SIZE, false, 1) &&
		   !touch_range(vma, env.thread, 8 * PAGE_SIZE, 9 * PAGE_SIZE, false, 1),
	   "the single pages keep their bytes");
	ok(env_check(&env, &mapping, 1), "stock is right");

	c = reset(&env);
	ok(!vma_touch(vma, env.thread, 15 * PAGE_SIZE, true, &run) && c->faults == 1 &&
		   c->tree.acquisitions == 1,
	   "a store makes the window dirty under one tree_lock hold");
	ok(!vma_touch(vma, env.thread, 0, true, &run) && c->faults == 1, "all of it");
	ok(env_check(&env, &mapping, 1), "stock is right");
	vma_unmap(vma, env.thread);
	mapping_free(mapping, env.thread);
	vma_free(vma);
	env_close(&env);
}

/* A vma in the middle of a window of many folios maps those that it covers, and no other. */
static void test_narrow_vma(void)
{
	struct env env;
	struct mapping *mapping;
	struct vma *wide, *narrow;
	struct extent run;
	bool good = true;

	env_open(&env, 4, 1);
	mapping = env_mapping(&env, 32 * PAGE_SIZE);
	wide = env_vma(0, 32 * PAGE_SIZE);
	narrow = env_vma(5 * PAGE_SIZE + 1, 10 * PAGE_SIZE + 2);
	vma_map(wide, mapping, env.thread);
	/* Single pages from 3 to 12, of which the vma has 5 to 10. */
	ok(!touch_range(wide, env.thread, 3 * PAGE_SIZE, 13 * PAGE_SIZE, true, 1),
	   "single pages");
	vma_unmap(wide, env.thread);
	env.cache->batch = 32;
	vma_map(narrow, mapping, env.thread);
	ok(!vma_touch(narrow, env.thread, 7 * PAGE_SIZE, true, &run),
	   "a vma of some of them");
	for (unsigned long i = 0; i < 32; i++) {
		struct folio *folio = tree_load(&mapping->tree, i);

		if (!folio)
			continue;
		good &= folio->mapcount == (i >= 5 && i <= 10);
		good &= !(pgtable_entry(narrow, i) & PTE_PRESENT) == !(i >= 5 && i <= 10);
	}
	ok(good, "maps these only");
	ok(env_check(&env, &mapping, 1), "stock is right");
	vma_unmap(narrow, env.thread);
	mapping_truncate(mapping, 7 * PAGE_SIZE, env.thread);
	vma_map(narrow, mapping, env.thread);
	/* The gaps on either side become folios that the vma has nothing, or a part, of. */
	ok(!vma_touch(narrow, env.thread, 7 * PAGE_SIZE, true, &run) &&
		   mapping_nr_pages(mapping) == 32,
	   "the window is completed");
	ok(env_check(&env, &mapping, 1), "stock is right");
	vma_unmap(narrow, env.thread);
	ok(env_check(&env, &mapping, 1), "and unmapped");
	mapping_free(mapping, env.thread);
	vma_free(wide);
	vma_free(narrow);
	env_close(&env);
}

/* The second mapping that touches a page makes it active. */
static void test_activation(unsigned batch)
{
	struct env env;
	struct mapping *mapping;
	struct vma *vma;
	struct zone *zone;
	size_t active[3];
	uint64_t bytes = PMD_SIZE + 3 * PAGE_SIZE;

	env_open(&env, 8, batch);
	zone = &env.cache->zones[0];
	mapping = env_mapping(&env, bytes);
	vma = env_vma(0, bytes);
	for (unsigned i = 0; i < 3; i++) {
		vma_map(vma, mapping, env.thread);
		ok(!touch_range(vma, env.thread, 0, bytes, i == 0, 9), "batch %u: map %u",
		   batch, i);
		vma_unmap(vma, env.thread);
		active[i] = zone->nr_lru_pages[LRU_ACTIVE];
		ok(env_check(&env, &mapping, 1), "stock is right");
	}
	ok(active[0] == 0 && active[1] == PMD_NR + 3 && active[2] == PMD_NR + 3,
	   "active after the second unmapping");
	ok(zone->nr_lru_pages[LRU_INACTIVE] == 0, "and no longer inactive");
	mapping_free(mapping, env.thread);
	vma_free(vma);
	env_close(&env);
}

/* The same random stores give the same file on both sides. */
static void test_same_content(void)
{
	static char buffers[2][2 * PMD_SIZE + 54321];
	uint64_t bytes = 2 * PMD_SIZE + 54321;

	for (unsigned side = 0; side < 2; side++) {
		struct env env;
		struct mapping *mapping;
		struct vma *vma;
		struct extent run;
		uint64_t seed = 99;

		env_open(&env, 8, side ? 512 : 1);
		mapping = env_mapping(&env, bytes);
		vma = env_vma(0, bytes);
		vma_map(vma, mapping, env.thread);
		for (unsigned i = 0; i < 20000; i++) {
			uint64_t offset = env_random(&seed) % bytes;

			if (i % 997 == 0) {
				vma_unmap(vma, env.thread);
				vma_map(vma, mapping, env.thread);
			}
			if (vma_touch(vma, env.thread, offset, i % 3, &run))
				bail("fault");
			if (i % 3)
				run.base[offset - run.start] ^= (char)env_random(&seed);
			else
				env_random(&seed);
		}
		ok(env_check(&env, &mapping, 1), "stock is right");
		mapping_read(mapping, 0, buffers[side], sizeof(buffers[side]));
		vma_unmap(vma, env.thread);
		mapping_free(mapping, env.thread);
		vma_free(vma);
		env_close(&env);
	}
	ok(!memcmp(buffers[0], buffers[1], sizeof(buffers[0])),
	   "batch 1 and 512: the same bytes");
}

/* Frames come from the thread's node, then from the nearest other one. */
static void test_nodes(void)
{
	struct env env;
	struct mapping *mapping;
	struct vma *vma;
	bool near = true;

	env_open_nodes(&env, 2, 3, 1, 512, 15);
	mapping = env_mapping(&env, 3 * PMD_SIZE);
	vma = env_vma(0, 3 * PMD_SIZE);
	vma_map(vma, mapping, env.thread);
	ok(!touch_range(vma, env.thread, 0, 3 * PMD_SIZE, true, 1), "three nodes filled");
	for (unsigned i = 0; i < 3; i++) {
		static const unsigned expected[] = { 1, 2, 0 };
		struct folio *folio = tree_load(&mapping->tree, i * PMD_NR);

		near &= folio && folio->zone == expected[i];
	}
	ok(near, "the thread's own first");
	ok(env_check(&env, &mapping, 1), "stock is right");
	vma_unmap(vma, env.thread);
	mapping_free(mapping, env.thread);
	ok(env_check(&env, NULL, 0) && env_free_pages(&env) == 3 * PMD_NR,
	   "all are free");
	vma_free(vma);
	env_close(&env);
}

int main(void)
{
	for (unsigned batch = 1; batch <= PMD_NR; batch *= 2)
		for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++)
			test_counts(batch, sizes[i]);
	for (unsigned batch = 1; batch <= PMD_NR; batch *= 8) {
		test_clean_then_dirty(batch);
		test_orders(batch);
		test_shared_boundary(batch);
		test_activation(batch);
	}
	test_errors();
	test_partly_present();
	test_narrow_vma();
	test_same_content();
	test_nodes();
	return done();
}
