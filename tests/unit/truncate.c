/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Truncation: what goes (guarantee H of mapping.h), what stays, how often locks are taken. */
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
		/* What waits in batches is drained once, then each batch goes off the lists at once. */
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
	   "a folio that was looked up outlives its truncation");
	ok(!mapping_get_folio(mapping, 17, env.thread), "but is not found any more");
	folio_put(folio, env.thread);
	ok(folio->refcount == 0 && env_check(&env, &mapping, 1),
	   "and goes with the last put");
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
	}
	test_referenced();
	return done();
}
