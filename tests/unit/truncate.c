/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Truncation and resizing: what goes (guarantees H, J, K, M and N of mapping.h), what
 * stays, how often locks are taken.
 */
#include <errno.h>

#include "cache_env.h"

static void fill(struct env *env, struct vma *vma, struct mapping *mapping,
		 uint64_t start, uint64_t end, bool write)
{
	struct extent run;

	vma_map(vma, mapping, env->thread);
	for (uint64_t offset = start; offset < end; offset += PAGE_SIZE) {
		if (vma_touch(vma, env->thread, offset, write, &run))
			bail("fault");
		if (write)
			run.base[offset - run.start] = 'x';
	}
	vma_unmap(vma, env->thread);
}

static void test_counts(unsigned batch, unsigned truncate_batch, unsigned long pages)
{
	struct env env;
	struct mapping *mapping;
	struct vma *vma;
	struct cache_counters *c;
	/* Of the whole file: full windows, and what the binary digits of the rest make. */
	unsigned long folios =
		pages / batch + (unsigned)__builtin_popcountl(pages % batch);
	unsigned long holds = div_round_up(folios, truncate_batch);
	struct reason why;

	env_open_nodes(&env, 8, 1, 0, batch, truncate_batch);
	mapping = env_mapping(&env, pages * PAGE_SIZE);
	vma = env_vma(0, pages * PAGE_SIZE);
	for (unsigned round = 0; round < 2; round++) {
		fill(&env, vma, mapping, 0, pages * PAGE_SIZE, round == 0);
		c = cache_thread_counters(env.thread);
		*c = (struct cache_counters){ 0 };
		mapping_truncate(mapping, 0, env.thread);
		ok(mapping_nr_pages(mapping) == 0 &&
			   tree_check(&mapping->tree, &why) == 0,
		   "batch %u, truncate-batch %u: %lu %s pages are gone", batch,
		   truncate_batch, pages, round ? "clean" : "dirty");
		ok(c->tree.acquisitions == holds, "tree_lock taken %llu times",
		   (unsigned long long)c->tree.acquisitions);
		/*
		 * What waits in batches is drained once, then each batch goes off the
		 * lists at once.
		 */
		ok(c->lru.acquisitions <= holds + 2, "lru_lock at most once more often");
		ok(env_check(&env, &mapping, 1), "stock is right");
	}
	mapping_free(mapping, env.thread);
	vma_free(vma);
	env_close(&env);
}

static void test_ranges(unsigned batch, unsigned truncate_batch)
{
	struct env env;
	struct mapping *mapping;
	struct vma *vma;
	char byte;
	bool kept = true;

	env_open_nodes(&env, 8, 1, 0, batch, truncate_batch);
	mapping = env_mapping(&env, 1024 * PAGE_SIZE);
	vma = env_vma(0, 1024 * PAGE_SIZE);
	fill(&env, vma, mapping, 0, 1024 * PAGE_SIZE, true);
	mapping_truncate(mapping, 1024 * PAGE_SIZE, env.thread);
	ok(mapping_nr_pages(mapping) == 1024, "batch %u: nothing is beyond the end",
	   batch);
	mapping_truncate(mapping, 512 * PAGE_SIZE + 1, env.thread);
	/* Rounded up to page 513, from where on whole folios go. */
	ok(mapping_nr_pages(mapping) == align_up(513, batch), "%llu pages stay",
	   (unsigned long long)mapping_nr_pages(mapping));
	ok(env_check(&env, &mapping, 1), "stock is right");
	mapping_truncate(mapping, 512 * PAGE_SIZE, env.thread);
	ok(mapping_nr_pages(mapping) == 512, "then 512");
	for (unsigned i = 0; i < 512; i++) {
		mapping_read(mapping, i * PAGE_SIZE, &byte, 1);
		kept &= byte == 'x';
	}
	mapping_read(mapping, 512 * PAGE_SIZE, &byte, 1);
	ok(kept && byte == 0, "which keep their bytes, while the rest is a hole");
	ok(tree_find_marked(&mapping->tree, 0, 1024, TREE_MARK_DIRTY) == 0 &&
		   tree_find_marked(&mapping->tree, 512, 1024, TREE_MARK_DIRTY) == 1024,
	   "no mark stays behind");
	fill(&env, vma, mapping, 512 * PAGE_SIZE, 1024 * PAGE_SIZE, false);
	ok(mapping_nr_pages(mapping) == 1024, "filled again");
	mapping_read(mapping, 700 * PAGE_SIZE, &byte, 1);
	ok(byte == 0, "with zeros");
	ok(env_check(&env, &mapping, 1), "stock is right");
	mapping_free(mapping, env.thread);
	ok(env_check(&env, NULL, 0), "all frames are free");
	vma_free(vma);
	env_close(&env);
}

/* Frames that somebody still looks at are freed by him, not by truncation (guarantee J). */
static void test_referenced(void)
{
	struct env env;
	struct mapping *mapping;
	struct vma *vma;
	struct folio *folio;

	env_open(&env, 2, 1);
	mapping = env_mapping(&env, 40 * PAGE_SIZE);
	vma = env_vma(0, 40 * PAGE_SIZE);
	fill(&env, vma, mapping, 0, 40 * PAGE_SIZE, true);
	folio = mapping_get_folio(mapping, 17, env.thread);
	mapping_truncate(mapping, 0, env.thread);
	ok(folio->refcount == 1 && !folio_mapping(folio) && *(char *)folio->data == 'x',
	   "guarantee J: a folio that was looked up outlives its truncation");
	ok(!mapping_get_folio(mapping, 17, env.thread), "but is not found any more");
	folio_put(folio, env.thread);
	ok(folio->refcount == 0 && env_check(&env, &mapping, 1),
	   "and goes with the last put");
	mapping_free(mapping, env.thread);
	vma_free(vma);
	env_close(&env);
}

/* The file as it should be, beside it. */
struct copy {
	struct mapping *mapping;
	uint64_t bytes;
	char *plain, *seen;
};

static struct copy copy_of(struct mapping *mapping, uint64_t bytes)
{
	struct copy copy = { .mapping = mapping, .bytes = bytes };

	copy.plain = malloc(bytes);
	copy.seen = malloc(bytes);
	if (!copy.plain || !copy.seen)
		bail("no memory");
	mapping_read(mapping, 0, copy.plain, bytes);
	return copy;
}

static bool copy_is_same(struct copy *copy)
{
	mapping_read(copy->mapping, 0, copy->seen, copy->bytes);
	return !memcmp(copy->plain, copy->seen, copy->bytes);
}

static void copy_free(struct copy *copy)
{
	free(copy->plain);
	free(copy->seen);
}

static void stamp_all(struct env *env, struct vma *vma, uint64_t bytes)
{
	struct extent run;

	for (uint64_t offset = 0; offset < bytes; offset = run.end) {
		if (vma_touch(vma, env->thread, offset, true, &run))
			bail("fault");
		for (uint64_t i = offset; i < run.end; i += PAGE_SIZE)
			memset(run.base + (i - run.start), (int)(1 + i / PAGE_SIZE % 251),
			       min_u64(PAGE_SIZE, run.end - i));
	}
}

/* The first byte is, and each is as the one before it. */
static bool is_zero(const char *p, size_t bytes)
{
	return !p[0] && !memcmp(p, p + 1, bytes - 1);
}

#define PIECES_BYTES (2 * PMD_SIZE + 3 * PAGE_SIZE + 100)

/* Ranges of all kinds, of a file that is mapped twice meanwhile. */
static void test_pieces(unsigned batch, unsigned truncate_batch)
{
	static const uint64_t pieces[][2] = {
		{ 10, 20 },
		{ 100, 100 },
		{ PAGE_SIZE - 1, PAGE_SIZE + 1 },
		{ 2 * PAGE_SIZE, 3 * PAGE_SIZE },
		{ 0, 7 },
		{ 4 * PAGE_SIZE + 5, 30 * PAGE_SIZE },
		{ 40 * PAGE_SIZE, 70 * PAGE_SIZE + 9 },
		{ 200 * PAGE_SIZE - 3, 201 * PAGE_SIZE + 3 },
		{ 500 * PAGE_SIZE + 1, 530 * PAGE_SIZE + 1 },
		{ PMD_SIZE, PMD_SIZE + PAGE_SIZE },
		{ 0, PMD_SIZE },
		{ 2 * PMD_SIZE + 10, 2 * PMD_SIZE + PAGE_SIZE },
		{ PIECES_BYTES - 100, PIECES_BYTES },
		{ PIECES_BYTES - 101, UINT64_MAX },
		{ 0, PIECES_BYTES },
	};
	struct env env;
	struct mapping *mapping;
	struct vma *vma, *narrow;
	bool same = true, zero = true;

	env_open_nodes(&env, 8, 1, 0, batch, truncate_batch);
	mapping = env_mapping(&env, PIECES_BYTES);
	vma = env_vma(0, PIECES_BYTES);
	narrow = env_vma(3 * PAGE_SIZE, PMD_SIZE + 5 * PAGE_SIZE);
	for (unsigned i = 0; i < ARRAY_SIZE(pieces); i++) {
		uint64_t start = pieces[i][0], end = min_u64(pieces[i][1], PIECES_BYTES);
		struct copy copy;
		struct extent run;

		vma_map(vma, mapping, env.thread);
		vma_map(narrow, mapping, env.thread);
		stamp_all(&env, vma, PIECES_BYTES);
		for (uint64_t at = narrow->start; at < narrow->end; at += PAGE_SIZE)
			if (vma_touch(narrow, env.thread, at, false, &run))
				bail("fault");
		copy = copy_of(mapping, PIECES_BYTES);
		memset(copy.plain + start, 0, end - start);
		mapping_truncate_range(mapping, start, pieces[i][1], env.thread);
		if (!copy_is_same(&copy)) {
			printf("# piece %u\n", i);
			same = false;
		}
		for (uint64_t at = start; at < end; at = run.end) {
			if (vma_touch(vma, env.thread, at, false, &run))
				bail("fault");
			zero &= is_zero(run.base + (at - run.start),
					min_u64(end, run.end) - at);
		}
		if (!env_check(&env, &mapping, 1)) {
			printf("# piece %u\n", i);
			same = false;
		}
		copy_free(&copy);
		vma_unmap(narrow, env.thread);
		vma_unmap(vma, env.thread);
	}
	ok(same,
	   "guarantee K: batch %u, truncate-batch %u: pieces of all kinds are zero, the rest "
	   "stays, as does the stock",
	   batch, truncate_batch);
	ok(zero, "and who touches them sees it");
	mapping_free(mapping, env.thread);
	ok(env_check(&env, NULL, 0), "all frames are free");
	vma_free(narrow);
	vma_free(vma);
	env_close(&env);
}

static void test_mapped(unsigned batch, unsigned truncate_batch)
{
	struct env env;
	struct mapping *mapping;
	struct vma *vma, *second;
	struct cache_counters *c;
	struct extent run;
	unsigned long folios = 1024 / batch;
	bool zero = true;

	env_open_nodes(&env, 8, 1, 0, batch, truncate_batch);
	mapping = env_mapping(&env, 1024 * PAGE_SIZE);
	vma = env_vma(0, 1024 * PAGE_SIZE);
	second = env_vma(0, 1024 * PAGE_SIZE);
	vma_map(vma, mapping, env.thread);
	vma_map(second, mapping, env.thread);
	stamp_all(&env, vma, 1024 * PAGE_SIZE);
	stamp_all(&env, second, 700 * PAGE_SIZE);
	c = cache_thread_counters(env.thread);
	*c = (struct cache_counters){ 0 };
	mapping_truncate(mapping, 0, env.thread);
	ok(c->tree.acquisitions == div_round_up(folios, truncate_batch),
	   "batch %u, truncate-batch %u: mapped pages cost as many tree_lock holds",
	   batch, truncate_batch);
	ok(!vma_next_run(vma, 0, 1024 * PAGE_SIZE, &run.start, &run.end) &&
		   !vma_next_run(second, 0, 1024 * PAGE_SIZE, &run.start, &run.end),
	   "guarantee H: no page table maps them any more");
	ok(!mapping_nr_pages(mapping) && env_check(&env, &mapping, 1), "stock is right");
	ok(!c->faults, "nobody has faulted");
	for (uint64_t at = 0; at < 1024 * PAGE_SIZE; at = run.end) {
		if (vma_touch(second, env.thread, at, false, &run))
			bail("fault");
		zero &= !run.base[0] && !run.base[run.end - run.start - 1];
	}
	ok(c->faults == folios && c->pages_inserted == 1024 && zero,
	   "who touches them again faults, and finds zeros");
	ok(env_check(&env, &mapping, 1), "stock is right");
	vma_unmap(vma, env.thread);
	vma_unmap(second, env.thread);
	ok(env_check(&env, &mapping, 1), "and after unmapping");
	mapping_free(mapping, env.thread);
	vma_free(second);
	vma_free(vma);
	env_close(&env);
}

static void test_resize(unsigned batch, unsigned truncate_batch)
{
	static const uint64_t sizes[] = {
		PMD_SIZE + 5 * PAGE_SIZE + 77,
		PMD_SIZE + 5 * PAGE_SIZE,
		PMD_SIZE + 1,
		PMD_SIZE,
		PMD_SIZE - 1,
		17 * PAGE_SIZE + 4095,
		17 * PAGE_SIZE + 1,
		17 * PAGE_SIZE,
		PAGE_SIZE + 1,
		1,
		0,
	};
	uint64_t bytes = 2 * PMD_SIZE;
	struct env env;
	struct mapping *mapping;
	struct vma *vma;
	bool same = true, fails = true, clipped = true;

	env_open_nodes(&env, 8, 1, 0, batch, truncate_batch);
	mapping = env_mapping(&env, bytes);
	vma = env_vma(0, bytes);
	vma_map(vma, mapping, env.thread);
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint64_t size = sizes[i];
		struct copy copy;
		struct extent run;

		stamp_all(&env, vma, bytes);
		copy = copy_of(mapping, bytes);
		memset(copy.plain + size, 0, bytes - size);
		if (mapping_resize(mapping, size, env.thread))
			bail("cannot resize");
		fails &= vma_touch(vma, env.thread, size, true, &run) == -EFAULT &&
			 vma_touch(vma, env.thread, bytes - 1, false, &run) == -EFAULT &&
			 vma_touch_begin(vma, env.thread, size, true, &run) == -EFAULT;
		if (size) {
			clipped &= !vma_touch(vma, env.thread, size - 1, true, &run) &&
				   run.end == size;
			clipped &= mapping_nr_pages(mapping) <
				   div_round_up(size, PAGE_SIZE) + batch;
		}
		same &= env_check(&env, &mapping, 1);
		if (mapping_resize(mapping, bytes, env.thread))
			bail("cannot resize");
		same &= copy_is_same(&copy) && env_check(&env, &mapping, 1);
		copy_free(&copy);
	}
	ok(fails,
	   "guarantee M: batch %u, truncate-batch %u: a touch behind the new end fails",
	   batch, truncate_batch);
	ok(clipped, "the last byte can be touched, and no more");
	ok(same, "guarantee N: what was cut off is zero when the file grows again");
	vma_unmap(vma, env.thread);
	mapping_free(mapping, env.thread);
	ok(env_check(&env, NULL, 0), "all frames are free");
	vma_free(vma);
	env_close(&env);
}

static void test_resize_placed(void)
{
	struct env env;
	struct mapping *mapping;
	struct vma *vma;
	struct extent run;

	env_open(&env, 4, 16);
	mapping = env_mapping(&env, PMD_SIZE);
	if (mapping_place(mapping, 0, PMD_NR))
		bail("cannot place");
	vma = env_vma(0, PMD_SIZE);
	vma_map(vma, mapping, env.thread);
	stamp_all(&env, vma, PMD_SIZE);
	ok(mapping_resize(mapping, PMD_SIZE + 1, env.thread) == -EINVAL &&
		   mapping_size(mapping) == PMD_SIZE,
	   "a placed file does not grow out of its region");
	ok(!mapping_resize(mapping, 40 * PAGE_SIZE + 1, env.thread) &&
		   mapping_nr_pages(mapping) == 48 && env_check(&env, &mapping, 1),
	   "it shrinks");
	ok(!mapping_resize(mapping, PMD_SIZE, env.thread) &&
		   !vma_touch(vma, env.thread, 100 * PAGE_SIZE, true, &run) &&
		   run.base - run.start == (char *)env.regions[0].base + PMD_SIZE,
	   "and grows: the page is where it was");
	ok(env_check(&env, &mapping, 1), "stock is right");
	vma_unmap(vma, env.thread);
	mapping_free(mapping, env.thread);
	vma_free(vma);
	env_close(&env);
}

int main(void)
{
	static const unsigned truncate_batches[] = { 1, 15, 31, 512 };

	for (unsigned i = 0; i < ARRAY_SIZE(truncate_batches); i++) {
		test_counts(1, truncate_batches[i], 1024);
		test_counts(1, truncate_batches[i], 1);
		test_counts(8, truncate_batches[i], 1023);
		test_counts(512, truncate_batches[i], 1024);
		test_ranges(1, truncate_batches[i]);
		test_ranges(16, truncate_batches[i]);
		test_ranges(512, truncate_batches[i]);
		if (truncate_batches[i] == 31)
			continue;
		for (unsigned batch = 1; batch <= 512; batch += batch > 1 ? 496 : 15) {
			test_mapped(batch, truncate_batches[i]);
			test_pieces(batch, truncate_batches[i]);
			test_resize(batch, truncate_batches[i]);
		}
	}
	test_resize_placed();
	test_referenced();
	return done();
}
