/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Software page tables of one vma, two levels. A slot of the upper one stands for 2 MiB
 * of the file: empty, a whole 512-page folio (a PMD entry), or a table of 512 PTEs. A
 * leaf entry of either level is one word:
 *
 *	bits 0-3	what it is and what it allows, enum pte_flag
 *	bits 4-7	order: it belongs to an aligned block of 2^order pages of one folio that
 *			is mapped in the same way (as arm64's contiguous bit says of 16 PTEs)
 *	bits 12-47	the address of the page
 *	bits 48-63	the zone the page is in
 *
 * Entries change under the page table lock of their PMD slot. The one thread that uses the vma
 * walks them without (as the CPU would).
 */
#ifndef CACHE_PGTABLE_H
#define CACHE_PGTABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"
#include "base/list.h"
#include "base/lock.h"
#include "cache/cache.h"
#include "cache/folio.h"
#include "cache/mapping.h"

enum pte_flag {
	PTE_PRESENT = 1 << 0,
	PTE_WRITE = 1 << 1,    /* stores are allowed: the folio is dirty */
	PTE_ACCESSED = 1 << 2, /* touched since it was mapped */
	PTE_LEAF = 1 << 3, /* set in every leaf entry, never in a pointer to a table */
};

#define PTE_FLAGS	 0xfULL
#define PTE_ORDER_SHIFT	 4
#define PTE_ORDER_MASK	 0xfULL
#define PTE_ZONE_SHIFT	 48
#define PTE_ADDRESS_MASK 0x0000fffffffff000ULL
#define PTRS_PER_PTE	 PMD_NR

struct pte_table {
	_Atomic uint64_t pte[PTRS_PER_PTE]; /* page table lock of the slot */
};

struct vma {
	/* What a walk reads comes first. Constant: */
	uint64_t start, end; /* bytes of the file */
	/* The 2 MiB range of the file that the first slot stands for. */
	unsigned long first_pmd;
	/* [nr_pmds]: 0, a leaf entry, or the address of a struct pte_table. Page table lock */
	_Atomic uint64_t *pmds;

	struct mapping *mapping; /* NULL: not mapped. mmap_lock */
	struct cache_thread
		*thread;       /* whose vma it is while mapped. mmap_lock, i_mmap_lock */
	struct list_head list; /* mapping.i_mmap_lock */
	unsigned nr_tables;    /* taken. The vma's thread */

	/* Constant: */
	unsigned nr_pmds;
	struct lock *locks; /* [nr_pmds], page table locks: out of the way of walks */
	struct pte_table *tables; /* [nr_pmds], zeroed when taken */
	size_t bytes;		  /* of the allocation this is the head of */
};

/* Pages of the file that the vma covers, the first and the last maybe in part. */
static inline unsigned long vma_first_page(const struct vma *vma)
{
	return vma->start >> PAGE_SHIFT;
}

static inline unsigned long vma_end_page(const struct vma *vma)
{
	return (unsigned long)div_round_up(vma->end, PAGE_SIZE);
}

static inline uint64_t pte_make(const struct folio *folio, unsigned long page,
				unsigned flags)
{
	return ((uint64_t)(uintptr_t)folio->data + page * PAGE_SIZE) |
	       (uint64_t)folio->zone << PTE_ZONE_SHIFT |
	       (uint64_t)folio->order << PTE_ORDER_SHIFT | PTE_PRESENT | PTE_LEAF | flags;
}

static inline unsigned pte_order(uint64_t entry)
{
	return entry >> PTE_ORDER_SHIFT & PTE_ORDER_MASK;
}

static inline unsigned long vma_slot(const struct vma *vma, unsigned long index)
{
	return (index >> PMD_ORDER) - vma->first_pmd;
}

/* The leaf entry for page @index, 0: none. Without the lock: a hint, or the vma's own thread. */
static inline uint64_t pgtable_entry(const struct vma *vma, unsigned long index)
{
	/* acquire: pairs with the release in pgtable_map(), for a table's zeroes */
	uint64_t entry = atomic_load_explicit(&vma->pmds[vma_slot(vma, index)],
					      memory_order_acquire);
	struct pte_table *table;

	if (!entry || entry & PTE_LEAF)
		return entry;
	table = (struct pte_table *)(uintptr_t)entry;
	return atomic_load_explicit(&table->pte[index & (PTRS_PER_PTE - 1)],
				    memory_order_relaxed);
}

/*
 * Maps pages [@start, @end) of the file, all of which @folio holds, with @flags (PTE_WRITE,
 * PTE_ACCESSED); what is mapped already only gains flags. 512 pages get a PMD entry,
 * unless their slot has a table already. True: nothing was mapped before, so the vma owes
 * a reference and a mapcount. The folio is locked, all its pages that the vma covers are
 * asked for.
 */
bool pgtable_map(struct vma *vma, const struct folio *folio, unsigned long start,
		 unsigned long end, unsigned flags, struct lock_stats *stats);

/* Sets PTE_ACCESSED in the entry of page @index. */
void pgtable_mark_accessed(struct vma *vma, unsigned long index,
			   struct lock_stats *stats);

/*
 * What PMD slot number @slot maps: one entry a block, with the flags that any page of the block
 * has. At most PMD_NR; returns how many. @zap: and unmaps them.
 */
unsigned pgtable_gather(struct vma *vma, unsigned slot, bool zap, uint64_t *entries,
			struct lock_stats *stats);

/*
 * Unmaps pages [@start, @end) of the file, all that the vma covers of one folio. Returns
 * the flags that any of their entries had, 0: none was mapped.
 */
unsigned pgtable_zap(struct vma *vma, unsigned long start, unsigned long end,
		     struct lock_stats *stats);

/* Gives the tables back, when all is unmapped. */
void pgtable_reset(struct vma *vma);

#endif
