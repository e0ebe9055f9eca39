/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache/vma.h"

#include <assert.h>
#include <errno.h>

#include "cache/mapping.h"
#include "cache/pgtable.h"
#include "cache/thread.h"
#include "sys/arena.h"

static unsigned nr_pmds(uint64_t start, uint64_t end)
{
	return (unsigned)(div_round_up(end, PMD_SIZE) - start / PMD_SIZE);
}

/* The struct, its PMD slots and their locks; the tables follow on the next page. */
static size_t head_bytes(uint64_t start, uint64_t end)
{
	size_t slot = sizeof(_Atomic uint64_t) + sizeof(struct lock);

	return align_up(align_up(sizeof(struct vma), CACHELINE_SIZE) +
				nr_pmds(start, end) * slot,
			PAGE_SIZE);
}

size_t vma_overhead(uint64_t start, uint64_t end)
{
	return head_bytes(start, end) + nr_pmds(start, end) * sizeof(struct pte_table);
}

int vma_alloc(struct vma **vma, uint64_t start, uint64_t end, int nid)
{
	size_t bytes = vma_overhead(start, end);
	char *p = arena_private_alloc(bytes, nid);
	struct vma *v = (void *)p;

	if (!v)
		return -ENOMEM;
	*v = (struct vma){
		.start = start,
		.end = end,
		.first_pmd = start / PMD_SIZE,
		.nr_pmds = nr_pmds(start, end),
		.bytes = bytes,
		.tables = (void *)(p + head_bytes(start, end)),
	};
	v->pmds = (void *)(p + align_up(sizeof(*v), CACHELINE_SIZE));
	v->locks = (struct lock *)&v->pmds[v->nr_pmds];
	for (unsigned i = 0; i < v->nr_pmds; i++)
		lock_init(&v->locks[i]);
	*vma = v;
	return 0;
}

void vma_free(struct vma *vma)
{
	if (vma)
		arena_private_free(vma, vma->bytes);
}

void vma_map(struct vma *vma, struct mapping *mapping, struct cache_thread *thread)
{
	struct rwlock *mmap_lock = &thread->cache->mmap_lock;
	struct lock_stats uncounted = { 0 };

	assert(!vma->mapping);
	rwlock_write_acquire(mmap_lock, &thread->counters.mmap);
	vma->mapping = mapping;
	vma->thread = thread;
	lock_acquire(&mapping->i_mmap_lock, &uncounted);
	list_add_tail(&vma->list, &mapping->vmas);
	lock_release(&mapping->i_mmap_lock);
	rwlock_write_release(mmap_lock);
}

struct folio *vma_entry_folio(const struct page_cache *cache, uint64_t entry)
{
	const struct zone *zone = &cache->zones[entry >> PTE_ZONE_SHIFT];
	size_t frame = ((entry & PTE_ADDRESS_MASK) - (uintptr_t)zone->base) >> PAGE_SHIFT;

	return &zone->memmap[frame & ~((1UL << pte_order(entry)) - 1)];
}

static void zap_folio(struct folio *folio, uint64_t entry, struct cache_thread *thread)
{
	if (entry & PTE_ACCESSED)
		folio_mark_accessed(folio, thread);
	/* relaxed: the reference that goes next orders it */
	atomic_fetch_sub_explicit(&folio->mapcount, 1, memory_order_relaxed);
	folio_put(folio, thread);
}

/* How far an entry goes beyond page @index: 2 MiB of a whole folio or of no table, or a page. */
static unsigned long entry_end(const struct vma *vma, unsigned long index)
{
	uint64_t slot = atomic_load_explicit(&vma->pmds[vma_slot(vma, index)],
					     memory_order_relaxed);

	return !slot || slot & PTE_LEAF ? align_down(index, PMD_NR) + PMD_NR : index + 1;
}

bool vma_next_run(const struct vma *vma, uint64_t start, uint64_t end,
		  uint64_t *run_start, uint64_t *run_end)
{
	unsigned long at = max_u64(start >> PAGE_SHIFT, vma_first_page(vma)), first;
	unsigned long stop = min_u64(div_round_up(end, PAGE_SIZE), vma_end_page(vma));

	while (at < stop && !pgtable_entry(vma, at))
		at = entry_end(vma, at);
	if (at >= stop)
		return false;
	first = at;
	while (at < stop && pgtable_entry(vma, at))
		at = entry_end(vma, at);
	*run_start = first << PAGE_SHIFT;
	*run_end = min_u64(at, stop) << PAGE_SHIFT;
	return true;
}

void *vma_frame(const struct vma *vma, uint64_t offset)
{
	uint64_t entry = pgtable_entry(vma, offset >> PAGE_SHIFT), size, block;

	if (!entry)
		return NULL;
	/* The block of pages is as aligned in memory as it is in the file. */
	size = PAGE_SIZE << pte_order(entry);
	block = align_down(entry & PTE_ADDRESS_MASK, size);
	return (char *)(uintptr_t)block + (align_down(offset, PAGE_SIZE) & (size - 1));
}

bool vma_unmap_folio(struct mapping *mapping, struct folio *folio,
		     struct cache_thread *thread)
{
	unsigned long start = folio_index(folio), end = start + folio_nr_pages(folio);
	struct lock_stats uncounted = { 0 };
	struct list_head *pos;
	uint32_t nr = 0;
	bool others = false;

	lock_acquire(&mapping->i_mmap_lock, &uncounted);
	list_for_each(pos, &mapping->vmas) {
		struct vma *vma = list_entry(pos, struct vma, list);
		unsigned long first = max_u64(start, vma_first_page(vma));
		unsigned long stop = min_u64(end, vma_end_page(vma));

		if (first >= stop || !pgtable_zap(vma, first, stop, &thread->ptl))
			continue;
		nr++;
		others |= vma->thread != thread;
	}
	lock_release(&mapping->i_mmap_lock);
	if (nr) {
		/* relaxed: the put orders it. The caller's reference is not the last one. */
		atomic_fetch_sub_explicit(&folio->mapcount, nr, memory_order_relaxed);
		folio_put_refs(folio, nr, thread);
	}
	return others;
}

void vma_unmap(struct vma *vma, struct cache_thread *thread)
{
	struct rwlock *mmap_lock = &thread->cache->mmap_lock;
	struct lock_stats uncounted = { 0 };

	/* Pages that still wait in a batch would miss their second access (unmap_region()). */
	lru_drain(thread);

	/* Page tables go under the lock held for reading: the kernel downgrades it here. */
	rwlock_read_acquire(mmap_lock, &thread->counters.mmap);
	for (unsigned slot = 0; slot < vma->nr_pmds; slot++) {
		unsigned nr =
			pgtable_gather(vma, slot, true, thread->entries, &thread->ptl);

		for (unsigned i = 0; i < nr; i++)
			zap_folio(vma_entry_folio(thread->cache, thread->entries[i]),
				  thread->entries[i], thread);
	}
	rwlock_read_release(mmap_lock);
	lru_drain(thread);

	rwlock_write_acquire(mmap_lock, &thread->counters.mmap);
	lock_acquire(&vma->mapping->i_mmap_lock, &uncounted);
	list_del(&vma->list);
	lock_release(&vma->mapping->i_mmap_lock);
	vma->mapping = NULL;
	vma->thread = NULL;
	pgtable_reset(vma);
	rwlock_write_release(mmap_lock);
}
