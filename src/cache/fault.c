/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults (mm/memory.c and mm/filemap.c of the kernel). A fault handles a window: the aligned
 * group of page_cache.batch pages around the touched one, as far as the file reaches.
 */
#include <errno.h>
#include <sched.h>

#include "cache/mapping.h"
#include "cache/pgtable.h"
#include "cache/rcu.h"
#include "cache/thread.h"
#include "cache/trap.h"
#include "cache/zone.h"

struct fault {
	struct vma *vma;
	struct mapping *mapping;
	struct cache_thread *thread;
	unsigned long index;	  /* the touched page */
	unsigned long start, end; /* the window, pages of the file */
	bool write;
	bool covered;	     /* one folio, now mapped, was the whole window */
	bool held_frames;    /* it had frames in hand, perhaps to give them back */
	unsigned nr_dirtied; /* folios in thread->dirtied, with a reference each */
};

/*
 * Only a folio that the fault makes dirty needs its mark set; all of a window get it at the end,
 * under one tree_lock. The reference keeps the folio the same until then.
 */
static void fault_dirty_folio(struct fault *fault, struct folio *folio)
{
	if (folio_test(folio, FOLIO_DIRTY) || folio_test_set(folio, FOLIO_DIRTY))
		return;
	folio_get(folio);
	fault->thread->dirtied[fault->nr_dirtied++] = folio;
}

static void fault_mark_dirtied(struct fault *fault)
{
	struct cache_thread *thread = fault->thread;

	mapping_mark_dirty_batch(fault->mapping, thread->dirtied, fault->nr_dirtied,
				 thread);
	for (unsigned i = 0; i < fault->nr_dirtied; i++)
		folio_put(thread->dirtied[i], thread);
	fault->nr_dirtied = 0;
}

/* Maps what the vma covers of a locked folio. True: nothing of it was mapped before. */
static bool fault_set_entries(struct fault *fault, struct folio *folio)
{
	struct vma *vma = fault->vma;
	unsigned long start = folio_index(folio), end = start + folio_nr_pages(folio);
	unsigned flags = fault->write ? PTE_WRITE : 0;
	bool mapped;

	/* The touched folio is accessed; those around it when they are touched. */
	if (fault->index - start < end - start)
		flags |= PTE_ACCESSED;
	if (start <= fault->start && end >= fault->end)
		fault->covered = true;
	start = max_u64(start, vma_first_page(vma));
	end = min_u64(end, vma_end_page(vma));
	if (start >= end)
		return false; /* the window is wider than the vma */
	mapped = pgtable_map(vma, folio, start, end, flags, &fault->thread->ptl);
	if (mapped && end - start == PMD_NR)
		fault->thread->counters.pmd_mapped_bytes += PMD_SIZE;
	return mapped;
}

/* Maps a folio of the cache, which the caller locked and has a reference to, both of which go. */
static void fault_map_folio(struct fault *fault, struct folio *folio)
{
	bool mapped;

	if (fault->write)
		fault_dirty_folio(fault, folio);
	mapped = fault_set_entries(fault, folio);
	/* relaxed: the folio lock orders it. The reference is now the page tables'. */
	if (mapped)
		atomic_fetch_add_explicit(&folio->mapcount, 1, memory_order_relaxed);
	folio_unlock(folio);
	if (!mapped)
		folio_put(folio, fault->thread);
}

/* The same for one that this fault inserted and still has locked: nobody else has mapped it. */
static void fault_map_new_folio(struct fault *fault, struct folio *folio)
{
	bool mapped = fault_set_entries(fault, folio);

	if (mapped)
		atomic_store_explicit(&folio->mapcount, 1, memory_order_relaxed);
	folio_unlock(folio);
	if (!mapped)
		folio_put(folio, fault->thread);
}

/*
 * The frames of page @index and of those behind it, 2^@order or less. NULL: they are
 * taken, by a thread that faults the same window and has them in hand, or has inserted
 * them by now.
 */
static struct folio *fault_take_frames(struct fault *fault, unsigned long index,
				       unsigned order)
{
	struct mapping *mapping = fault->mapping;

	return zone_take(mapping->placed, mapping->placed_at + index, order,
			 &fault->thread->counters.zone);
}

/* Any frames, of @order or, where no zone has so many in one piece, of less. */
static struct folio *fault_find_frames(struct fault *fault, unsigned order)
{
	struct folio *folio = pcp_alloc(&fault->thread->pcp, order);

	while (!folio && order > 0)
		folio = pcp_alloc(&fault->thread->pcp, --order);
	return folio;
}

/*
 * A zeroed folio for page @index, of @order or, where there are not so many frames in one piece, of
 * less (the kernel's large folios fall back in the same way). NULL: not even a page.
 */
static struct folio *fault_alloc_folio(struct fault *fault, unsigned long index,
				       unsigned order)
{
	bool placed = fault->mapping->placed;
	struct folio *folio = placed ? fault_take_frames(fault, index, order) :
				       fault_find_frames(fault, order);
	uint32_t flags = FOLIO_LOCKED | FOLIO_UPTODATE;
	unsigned long near = 0;

	if (!folio)
		return NULL;
	if (placed)
		flags |= FOLIO_PLACED;
	if (fault->write)
		flags |= FOLIO_DIRTY;
	/* References of the tree, of the LRU batch, and the caller's, for the page tables. */
	folio_init(folio, flags, 3);
	if (fault->index >= index)
		near = min_u64(fault->index - index, folio_nr_pages(folio) - 1);
	folio_zero(folio, near);
	folio_set_mapping(folio, fault->mapping, index);
	return folio;
}

/* A folio that never got into the tree. */
static void fault_discard_folio(struct fault *fault, struct folio *folio)
{
	folio_clear_mapping(folio);
	folio_unlock(folio);
	folio_put_refs(folio, 3, fault->thread);
}

/* The largest aligned folio that starts at @index and ends by @end. */
static unsigned gap_order(unsigned long index, unsigned long end)
{
	unsigned order = ilog2_u64(end - index);

	if (index)
		order = (unsigned)min_u64(order, (unsigned)__builtin_ctzl(index));
	return (unsigned)min_u64(order, ZONE_MAX_ORDER);
}

/* Covers [@start, @end), none of which is in the cache, as far as there are frames. */
static unsigned fault_cover_gap(struct fault *fault, unsigned long start,
				unsigned long end, unsigned nr)
{
	while (start < end) {
		struct folio *folio =
			fault_alloc_folio(fault, start, gap_order(start, end));

		if (!folio)
			break;
		fault->held_frames = true;
		fault->thread->made[nr++] = folio;
		start += folio_nr_pages(folio);
	}
	return nr;
}

static bool fault_touches(const struct fault *fault, const struct folio *folio)
{
	return fault->index - folio_index(folio) < folio_nr_pages(folio);
}

/*
 * Makes folios for all of the window that is not in the cache, in thread->made, ascending.
 * *@touched: the touched page is in one of them, or in the cache meanwhile. Returns how many.
 */
static unsigned fault_make_window(struct fault *fault, bool *touched)
{
	struct cache_thread *thread = fault->thread;
	unsigned long at = fault->start;
	unsigned nr_found = 0, nr = 0;

	*touched = false;
	if (fault->end - fault->start > 1)
		nr_found = mapping_get_folios(fault->mapping, fault->start, fault->end,
					      thread->found, thread->indexes, PMD_NR);
	for (unsigned i = 0; i < nr_found; i++) {
		struct folio *folio = thread->found[i];
		unsigned long index = thread->indexes[i];

		nr = fault_cover_gap(fault, at, index, nr);
		at = max_u64(at, index + folio_nr_pages(folio));
		*touched |= fault->index - index < folio_nr_pages(folio);
		folio_put(folio, thread);
	}
	nr = fault_cover_gap(fault, at, fault->end, nr);
	for (unsigned i = 0; i < nr; i++)
		*touched |= fault_touches(fault, thread->made[i]);
	return nr;
}

/*
 * As fault_make_window(), but where frames are so short that the touched page got none, those that
 * others got go back for it. -ENOMEM when there is not a single one.
 */
static int fault_make_folios(struct fault *fault, unsigned *nr)
{
	struct cache_thread *thread = fault->thread;
	bool touched;

	*nr = fault_make_window(fault, &touched);
	if (likely(touched))
		return 0;
	while (*nr)
		fault_discard_folio(fault, thread->made[--*nr]);
	*nr = fault_cover_gap(fault, fault->index, fault->index + 1, 0);
	return *nr ? 0 : -ENOMEM;
}

/*
 * Inserts the folios in thread->made under one tree_lock hold. Those that found their range taken
 * move to thread->found. Returns how many got in.
 */
static unsigned fault_insert(struct fault *fault, unsigned nr, unsigned *nr_lost)
{
	struct cache_thread *thread = fault->thread;
	struct tree *tree = &fault->mapping->tree;
	uint32_t marks = fault->write ? 1U << TREE_MARK_DIRTY : 0;
	struct tree_walk walk;
	unsigned nr_won = 0;
	unsigned long nr_pages = 0;

	*nr_lost = 0;
	lock_acquire(&tree->lock, &thread->counters.tree);
	tree_walk_init_locked(&walk, tree, &thread->pool);
	for (unsigned i = 0; i < nr; i++) {
		struct folio *folio = thread->made[i];

		if (tree_insert_locked(&walk, folio_index(folio), folio->order, folio,
				       marks)) {
			thread->found[(*nr_lost)++] = folio;
			continue;
		}
		nr_pages += folio_nr_pages(folio);
		thread->made[nr_won++] = folio;
	}
	mapping_add_pages_locked(fault->mapping, (long)nr_pages);
	lock_release(&tree->lock);
	thread->counters.pages_inserted += nr_pages;
	return nr_won;
}

/* The frames and nodes that fault_insert() needs. 0 or -ENOMEM. */
static int fault_prepare(struct fault *fault, unsigned *nr)
{
	struct cache_thread *thread = fault->thread;
	int err = fault_make_folios(fault, nr);

	if (err)
		return err;
	err = tree_pool_fill(&thread->pool,
			     tree_nodes_needed(fault->start, fault->end - fault->start));
	while (err && *nr)
		fault_discard_folio(fault, thread->made[--*nr]);
	return err;
}

/*
 * The file was cut while the fault had pages in hand: those that it inserted beyond @end leave the
 * tree again, as if the truncation had found them (it waits for their lock, if it did).
 * They move to thread->found. Returns how many stay.
 */
static unsigned fault_withdraw(struct fault *fault, unsigned nr_won, unsigned *nr_lost,
			       unsigned long end)
{
	struct cache_thread *thread = fault->thread;
	struct tree *tree = &fault->mapping->tree;
	struct tree_walk walk;
	unsigned nr = nr_won;
	long nr_pages = 0;

	while (nr && folio_index(thread->made[nr - 1]) >= end)
		nr--;
	if (nr == nr_won)
		return nr;
	lock_acquire(&tree->lock, &thread->counters.tree);
	tree_walk_init_locked(&walk, tree, &thread->pool);
	for (unsigned i = nr; i < nr_won; i++) {
		struct folio *folio = thread->made[i];

		tree_delete_locked(&walk, folio_index(folio));
		folio_clear_mapping(folio);
		nr_pages += (long)folio_nr_pages(folio);
		thread->found[(*nr_lost)++] = folio;
	}
	mapping_add_pages_locked(fault->mapping, -nr_pages);
	lock_release(&tree->lock);
	tree_pool_retire(&thread->pool);
	return nr;
}

/*
 * The touched page is not in the cache: brings in what is missing of the window. 0 when the touched
 * page is mapped; -EAGAIN when somebody else brought it in meanwhile; -ENOMEM; -EFAULT
 * when the file ends before it by now.
 */
static int fault_fill(struct fault *fault)
{
	struct cache_thread *thread = fault->thread;
	unsigned filling = atomic_load_explicit(&thread->filling, memory_order_relaxed);
	unsigned nr, nr_won = 0, nr_lost = 0;
	int err;

	/* relaxed: the zone lock orders it before the lack of frames that others find */
	atomic_store_explicit(&thread->filling, filling + 1, memory_order_relaxed);
	fault->held_frames = false;
	err = fault_prepare(fault, &nr);
	if (!err) {
		unsigned long end;

		nr_won = fault_insert(fault, nr, &nr_lost);
		err = -EAGAIN;
		end = mapping_end_after_insertion(fault->mapping);
		if (unlikely(end < fault->end)) {
			nr_won = fault_withdraw(fault, nr_won, &nr_lost, end);
			if (fault->index >= end)
				err = -EFAULT;
			fault->end = max_u64(end, fault->start);
		}
	}
	for (unsigned i = 0; i < nr_won; i++) {
		struct folio *folio = thread->made[i];

		if (fault_touches(fault, folio) && err == -EAGAIN)
			err = 0;
		lru_add(folio, thread);
		fault_map_new_folio(fault, folio);
	}
	for (unsigned i = 0; i < nr_lost; i++)
		fault_discard_folio(fault, thread->found[i]);
	/* release: pairs with the acquire in fault_others_are_quiet(): they find what came of it */
	atomic_store_explicit(&thread->filling, filling + (fault->held_frames ? 2 : 0),
			      memory_order_release);
	return err;
}

/* Maps those folios of the window that are in the cache and that the page tables lack. */
static void fault_map_around(struct fault *fault)
{
	struct cache_thread *thread = fault->thread;
	unsigned long start = max_u64(fault->start, vma_first_page(fault->vma));
	unsigned long end = min_u64(fault->end, vma_end_page(fault->vma));
	uint64_t need = PTE_PRESENT | (fault->write ? PTE_WRITE : 0);
	unsigned nr;

	nr = mapping_get_folios(fault->mapping, start, end, thread->found,
				thread->indexes, PMD_NR);
	for (unsigned i = 0; i < nr; i++) {
		struct folio *folio = thread->found[i];
		unsigned long index = thread->indexes[i];
		uint64_t entry = pgtable_entry(fault->vma, max_u64(index, start));

		if ((entry & need) == need) {
			folio_put(folio, thread);
			continue;
		}
		folio_lock(folio);
		if (folio_mapping(folio) == fault->mapping &&
		    folio_index(folio) == index) {
			fault_map_folio(fault, folio);
		} else {
			folio_unlock(folio);
			folio_put(folio, thread);
		}
	}
}

/*
 * Threads that fault the same window at once each have a folio for it, all but one for nothing: who
 * finds no frames meanwhile is not out of memory. True when no other thread is in a fault that may
 * hold frames; *@count changes with each such fault that ended.
 */
static bool fault_others_are_quiet(const struct cache_thread *thread, unsigned *count)
{
	struct page_cache *cache = thread->cache;
	struct lock_stats uncounted = { 0 };
	struct list_head *pos;
	bool quiet = true;

	*count = 0;
	lock_acquire(&cache->threads_lock, &uncounted);
	list_for_each(pos, &cache->threads) {
		struct cache_thread *other = list_entry(pos, struct cache_thread, list);
		/* acquire: pairs with the release in fault_fill() */
		unsigned filling =
			atomic_load_explicit(&other->filling, memory_order_acquire);

		if (other == thread)
			continue;
		*count += filling;
		quiet &= !(filling % 2);
	}
	lock_release(&cache->threads_lock);
	return quiet;
}

/* When a fault found no frames before, and whether that was while all others were quiet. */
struct fault_shortage {
	bool quiet;
	unsigned count;
};

/*
 * No frames were found. True when that is final: the others were quiet from before this attempt
 * until after it, so nobody had frames in hand that would be in the cache, or free, soon.
 */
static bool fault_is_out_of_memory(const struct cache_thread *thread,
				   struct fault_shortage *last)
{
	struct fault_shortage now;

	now.quiet = fault_others_are_quiet(thread, &now.count);
	if (now.quiet && last->quiet && now.count == last->count)
		return true;
	if (!now.quiet)
		sched_yield();
	*last = now;
	return false;
}

static int fault_map_touched(struct fault *fault)
{
	struct cache_thread *thread = fault->thread;
	struct fault_shortage last = { 0 };

	for (;;) {
		struct folio *folio =
			mapping_get_folio(fault->mapping, fault->index, thread);

		if (!folio) {
			int err = fault_fill(fault);

			if (!err || err == -EFAULT)
				return err;
			if (err == -ENOMEM && fault_is_out_of_memory(thread, &last))
				return err;
			continue;
		}
		folio_lock(folio);
		/* Truncated before the lock was had? */
		if (likely(folio_holds(folio, fault->mapping, fault->index))) {
			thread->counters.minor_faults++;
			fault_map_folio(fault, folio);
			return 0;
		}
		folio_unlock(folio);
		folio_put(folio, thread);
	}
}

/* mmap_lock for reading. */
static int fault_handle(struct fault *fault)
{
	unsigned long batch = fault->thread->cache->batch;
	int err;

	fault->start = align_down(fault->index, batch);
	fault->end = min_u64(fault->start + batch, mapping_end(fault->mapping));
	if (unlikely(fault->index >= fault->end))
		return -EFAULT; /* the file was cut meanwhile */
	err = fault_map_touched(fault);
	if (err)
		return err;
	if (!fault->covered)
		fault_map_around(fault);
	if (fault->nr_dirtied)
		fault_mark_dirtied(fault);
	return 0;
}

/* The walk of the page tables that the CPU would do: true when they allow the access. */
static inline bool touch_walk(const struct vma *vma, uint64_t offset, bool write,
			      struct extent *extent)
{
	uint64_t need = PTE_PRESENT | PTE_ACCESSED | (write ? PTE_WRITE : 0);
	uint64_t entry, size, start, end;

	if (unlikely(offset - vma->start >= vma->end - vma->start))
		return false;
	entry = pgtable_entry(vma, offset >> PAGE_SHIFT);
	if (unlikely((entry & need) != need))
		return false;
	size = PAGE_SIZE << pte_order(entry);
	start = align_down(offset, size);
	end = min_u64(min_u64(start + size, vma->end), mapping_size(vma->mapping));
	/* The block of pages is as aligned in memory as it is in the file. */
	extent->base = (char *)(uintptr_t)align_down(entry & PTE_ADDRESS_MASK, size);
	extent->start = max_u64(start, vma->start);
	extent->base += extent->start - start;
	extent->end = end;
	return offset < end;
}

static int touch_fault(struct vma *vma, struct cache_thread *thread, uint64_t offset,
		       bool write)
{
	struct rwlock *mmap_lock = &thread->cache->mmap_lock;
	struct fault fault = {
		.vma = vma,
		.thread = thread,
		.index = offset >> PAGE_SHIFT,
		.write = write,
	};
	uint64_t need = PTE_PRESENT | (write ? PTE_WRITE : 0);
	int err = 0;

	if (!vma->mapping || offset < vma->start || offset >= vma->end ||
	    offset >= mapping_size(vma->mapping))
		return -EFAULT;
	if ((pgtable_entry(vma, fault.index) & need) == need) {
		/* The CPU sets this bit without a fault. */
		pgtable_mark_accessed(vma, fault.index, &thread->ptl);
	} else {
		if (!thread->cache->trapped)
			trap_enter();
		thread->counters.faults++;
		rwlock_read_acquire(mmap_lock, &thread->counters.mmap);
		fault.mapping = vma->mapping;
		err = fault_handle(&fault);
		rwlock_read_release(mmap_lock);
		if (!thread->cache->trapped)
			trap_leave();
	}
	return err;
}

/* Until the page tables allow the access: another thread may truncate the page after each fault. */
static int touch_slow(struct vma *vma, struct cache_thread *thread, uint64_t offset,
		      bool write, struct extent *extent)
{
	int err;

	do {
		err = touch_fault(vma, thread, offset, write);
	} while (!err && !touch_walk(vma, offset, write, extent));
	return err;
}

int vma_touch(struct vma *vma, struct cache_thread *thread, uint64_t offset, bool write,
	      struct extent *extent)
{
	if (likely(touch_walk(vma, offset, write, extent)))
		return 0;
	return touch_slow(vma, thread, offset, write, extent);
}

/*
 * Bytes are had from page tables inside of a read side section only: truncation clears
 * the entry, or sets the size, and then waits for a grace period.
 */
int vma_touch_begin(struct vma *vma, struct cache_thread *thread, uint64_t offset,
		    bool write, struct extent *extent)
{
	int err;

	for (;;) {
		cache_rcu_read_lock();
		if (likely(touch_walk(vma, offset, write, extent)))
			return 0;
		cache_rcu_read_unlock();
		err = touch_fault(vma, thread, offset, write);
		if (err)
			return err;
	}
}

void vma_touch_end(void)
{
	cache_rcu_read_unlock();
}
