/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache/pgtable.h"

#include <string.h>

_Static_assert(sizeof(struct pte_table) == PAGE_SIZE, "a table is a page");
_Static_assert(sizeof(void *) == 8, "an entry holds an address and a zone");

static void entry_set(_Atomic uint64_t *entry, uint64_t value)
{
	/* relaxed: the reader is the vma's own thread, or holds the page table lock */
	atomic_store_explicit(entry, value, memory_order_relaxed);
}

static uint64_t entry_get(_Atomic uint64_t *entry)
{
	return atomic_load_explicit(entry, memory_order_relaxed);
}

/* Zeroing is what the kernel's fault does too when it first maps a page of a 2 MiB range. */
static struct pte_table *table_take(struct vma *vma)
{
	struct pte_table *table = &vma->tables[vma->nr_tables++];

	memset((void *)table, 0, sizeof(*table));
	return table;
}

static bool map_ptes(struct pte_table *table, const struct folio *folio,
		     unsigned long start, unsigned long end, unsigned flags)
{
	_Atomic uint64_t *pte = &table->pte[start & (PTRS_PER_PTE - 1)];
	uint64_t new = pte_make(folio, start - folio_index(folio), flags);
	bool mapped = false;

	for (unsigned long i = 0; i < end - start; i++, new += PAGE_SIZE) {
		uint64_t old = entry_get(&pte[i]);

		mapped |= old != 0;
		entry_set(&pte[i], old ? old | flags : new);
	}
	return !mapped;
}

bool pgtable_map(struct vma *vma, const struct folio *folio, unsigned long start,
		 unsigned long end, unsigned flags, struct lock_stats *stats)
{
	unsigned long slot = vma_slot(vma, start);
	_Atomic uint64_t *pmd = &vma->pmds[slot];
	uint64_t entry;
	bool new = true;

	lock_acquire(&vma->locks[slot], stats);
	entry = entry_get(pmd);
	if (entry & PTE_LEAF) {
		entry_set(pmd, entry | flags);
		new = false;
	} else if (!entry && end - start == PMD_NR) {
		entry_set(pmd, pte_make(folio, 0, flags));
	} else {
		struct pte_table *table = (struct pte_table *)(uintptr_t)entry;

		if (!table) {
			table = table_take(vma);
			/* release: pairs with the acquire in pgtable_entry() */
			atomic_store_explicit(pmd, (uintptr_t)table,
					      memory_order_release);
		}
		new = map_ptes(table, folio, start, end, flags);
	}
	lock_release(&vma->locks[slot]);
	return new;
}

void pgtable_mark_accessed(struct vma *vma, unsigned long index, struct lock_stats *stats)
{
	unsigned long slot = vma_slot(vma, index);
	_Atomic uint64_t *entry = &vma->pmds[slot];
	uint64_t value;

	lock_acquire(&vma->locks[slot], stats);
	value = entry_get(entry);
	if (value && !(value & PTE_LEAF)) {
		entry = &((struct pte_table *)(uintptr_t)value)
				 ->pte[index & (PTRS_PER_PTE - 1)];
		value = entry_get(entry);
	}
	if (value & PTE_PRESENT)
		entry_set(entry, value | PTE_ACCESSED);
	lock_release(&vma->locks[slot]);
}

static unsigned gather_ptes(struct pte_table *table, bool zap, uint64_t *entries)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < PTRS_PER_PTE;) {
		uint64_t entry = entry_get(&table->pte[i]);
		unsigned end;

		if (!entry) {
			i++;
			continue;
		}
		end = (i | ((1U << pte_order(entry)) - 1)) + 1;
		for (; i < end; i++) {
			entry |= entry_get(&table->pte[i]) & PTE_FLAGS;
			if (zap)
				entry_set(&table->pte[i], 0);
		}
		entries[nr++] = entry;
	}
	return nr;
}

unsigned pgtable_gather(struct vma *vma, unsigned slot, bool zap, uint64_t *entries,
			struct lock_stats *stats)
{
	_Atomic uint64_t *pmd = &vma->pmds[slot];
	unsigned nr = 0;
	uint64_t entry;

	if (!entry_get(pmd))
		return 0;
	lock_acquire(&vma->locks[slot], stats);
	entry = entry_get(pmd);
	if (entry & PTE_LEAF) {
		entries[nr++] = entry;
		if (zap)
			entry_set(pmd, 0);
	} else if (entry) {
		nr = gather_ptes((struct pte_table *)(uintptr_t)entry, zap, entries);
	}
	lock_release(&vma->locks[slot]);
	return nr;
}

unsigned pgtable_zap(struct vma *vma, unsigned long start, unsigned long end,
		     struct lock_stats *stats)
{
	unsigned long slot = vma_slot(vma, start);
	_Atomic uint64_t *pmd = &vma->pmds[slot];
	uint64_t entry, seen = 0;

	lock_acquire(&vma->locks[slot], stats);
	entry = entry_get(pmd);
	if (entry & PTE_LEAF) {
		seen = entry;
		entry_set(pmd, 0);
	} else if (entry) {
		struct pte_table *table = (struct pte_table *)(uintptr_t)entry;
		_Atomic uint64_t *pte = &table->pte[start & (PTRS_PER_PTE - 1)];

		for (unsigned long i = 0; i < end - start; i++) {
			seen |= entry_get(&pte[i]);
			entry_set(&pte[i], 0);
		}
	}
	lock_release(&vma->locks[slot]);
	return seen & PTE_FLAGS;
}

void pgtable_reset(struct vma *vma)
{
	for (unsigned i = 0; i < vma->nr_pmds; i++)
		entry_set(&vma->pmds[i], 0);
	vma->nr_tables = 0;
}
