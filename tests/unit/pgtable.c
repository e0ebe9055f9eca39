/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page tables of one vma. */
#include "cache_env.h"

static struct lock_stats stats;

static struct folio fake_folio(unsigned long index, unsigned order)
{
	struct folio folio = {
		.order = (uint8_t)order,
		.zone = 3,
		/* As aligned as a folio of that order is. */
		.data = (void *)(0x7f0000000000 + (index << PAGE_SHIFT)),
		.index = index,
	};

	return folio;
}

static bool maps(const struct vma *vma, const struct folio *folio, unsigned long index,
		 unsigned flags)
{
	uint64_t entry = pgtable_entry(vma, index);
	/* A PMD entry is the same for all its pages: it has the address of the first. */
	bool pmd = vma->pmds[vma_slot(vma, index)] & PTE_LEAF;
	unsigned long page = pmd ? 0 : index - folio_index(folio);

	return (entry & PTE_ADDRESS_MASK) == (uintptr_t)folio->data + page * PAGE_SIZE &&
	       pte_order(entry) == folio->order && entry >> PTE_ZONE_SHIFT == 3 &&
	       (entry & PTE_FLAGS) == (PTE_PRESENT | PTE_LEAF | flags);
}

static void test_orders(void)
{
	struct vma *vma = env_vma(0, 4 * PMD_SIZE);
	uint64_t entries[PMD_NR];

	for (unsigned order = 0; order <= PMD_ORDER; order++) {
		unsigned long first = PMD_NR + (order < PMD_ORDER ? 1UL << order : 0);
		struct folio folio = fake_folio(first, order);
		unsigned long end = first + (1UL << order);
		bool good = true;

		pgtable_reset(vma);
		ok(pgtable_map(vma, &folio, first, end, PTE_ACCESSED, &stats),
		   "order %u: nothing was mapped before", order);
		for (unsigned long i = 0; i < 4 * PMD_NR; i++)
			good &= i >= first && i < end ?
					maps(vma, &folio, i, PTE_ACCESSED) :
					!pgtable_entry(vma, i);
		ok(good, "order %u: its pages are mapped and no other", order);
		ok(!pgtable_map(vma, &folio, first, end, PTE_WRITE, &stats) &&
			   maps(vma, &folio, end - 1, PTE_ACCESSED | PTE_WRITE),
		   "order %u: mapped again, it only gains flags", order);
		ok(pgtable_gather(vma, 0, false, entries, &stats) == 0 &&
			   pgtable_gather(vma, 1, false, entries, &stats) == 1 &&
			   pte_order(entries[0]) == order,
		   "order %u: it is one entry", order);
		ok(pgtable_gather(vma, 1, true, entries, &stats) == 1 &&
			   !pgtable_entry(vma, first) && !pgtable_entry(vma, end - 1) &&
			   pgtable_gather(vma, 1, true, entries, &stats) == 0,
		   "order %u: unmapped once", order);
		ok(vma->nr_tables == (order < PMD_ORDER), "order %u: %u tables", order,
		   vma->nr_tables);
	}
	vma_free(vma);
}

static void test_clipped(void)
{
	/* The vma begins in the middle of a folio of 8 pages, and of a 2 MiB range. */
	struct vma *vma =
		env_vma((PMD_NR + 43) * PAGE_SIZE, (2 * PMD_NR + 5) * PAGE_SIZE + 1);
	struct folio folio = fake_folio(PMD_NR + 40, 3), last = fake_folio(2 * PMD_NR, 3);
	struct folio huge = fake_folio(PMD_NR, PMD_ORDER);
	uint64_t entries[PMD_NR];

	ok(vma->nr_pmds == 2 && vma->first_pmd == 1, "two slots");
	ok(vma_first_page(vma) == PMD_NR + 43 && vma_end_page(vma) == 2 * PMD_NR + 6,
	   "pages of the vma, the last in part");
	pgtable_map(vma, &folio, PMD_NR + 43, PMD_NR + 48, 0, &stats);
	ok(!pgtable_entry(vma, PMD_NR + 42) && maps(vma, &folio, PMD_NR + 43, 0) &&
		   maps(vma, &folio, PMD_NR + 47, 0) && !pgtable_entry(vma, PMD_NR + 48),
	   "only the part in the vma is mapped");
	ok(pgtable_gather(vma, 0, false, entries, &stats) == 1, "as one block");
	pgtable_mark_accessed(vma, PMD_NR + 45, &stats);
	ok(maps(vma, &folio, PMD_NR + 45, PTE_ACCESSED) &&
		   maps(vma, &folio, PMD_NR + 44, 0),
	   "the accessed bit is the page's");
	ok(pgtable_gather(vma, 0, true, entries, &stats) == 1 &&
		   entries[0] & PTE_ACCESSED,
	   "and the block's when it is unmapped");
	pgtable_map(vma, &last, 2 * PMD_NR, 2 * PMD_NR + 6, 0, &stats);
	ok(maps(vma, &last, 2 * PMD_NR + 5, 0) && !pgtable_entry(vma, 2 * PMD_NR + 6),
	   "at the end of the vma too");
	/* 469 of its 512 pages: PTEs. */
	ok(pgtable_map(vma, &huge, PMD_NR + 43, 2 * PMD_NR, PTE_WRITE, &stats) &&
		   maps(vma, &huge, 2 * PMD_NR - 1, PTE_WRITE) &&
		   !(vma->pmds[0] & PTE_LEAF),
	   "a folio of 512 pages that sticks out of the vma gets PTEs");
	vma_free(vma);
}

static void test_table_reuse(void)
{
	struct vma *vma = env_vma(0, PMD_SIZE);
	struct folio folio = fake_folio(0, 0), other = fake_folio(511, 0);
	struct folio huge = fake_folio(0, PMD_ORDER);

	pgtable_map(vma, &folio, 0, 1, 0, &stats);
	pgtable_reset(vma);
	ok(!pgtable_entry(vma, 0), "reset: nothing is mapped");
	pgtable_map(vma, &other, 511, 512, 0, &stats);
	ok(!pgtable_entry(vma, 0) && maps(vma, &other, 511, 0),
	   "a table is zeroed when taken");
	ok(vma->nr_tables == 1, "from the start of the pool again");
	pgtable_reset(vma);
	pgtable_map(vma, &folio, 0, 1, 0, &stats);
	{
		uint64_t entries[PMD_NR];

		pgtable_gather(vma, 0, true, entries, &stats);
	}
	ok(pgtable_map(vma, &huge, 0, 512, 0, &stats) && !(vma->pmds[0] & PTE_LEAF) &&
		   maps(vma, &huge, 300, 0),
	   "a slot that has a table keeps it");
	vma_free(vma);
}

int main(void)
{
	test_orders();
	test_clipped();
	test_table_reuse();
	return done();
}
