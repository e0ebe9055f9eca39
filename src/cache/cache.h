/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The in-process page cache: what the layers above may use of it. A faithful miniature of
 * mm/filemap.c, mm/truncate.c, mm/swap.c and mm/page_alloc.c in user space.
 */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"
#include "base/reason.h"

struct arena;
struct mapping;
struct page_cache;
struct cache_thread;
struct vma;

struct page_cache_conf {
	unsigned batch;		 /* pages a fault handles: a power of two, 1 … 512 */
	unsigned truncate_batch; /* folios removed under one tree_lock hold; 1: page by page */
	struct arena *arena; /* all its memory becomes page frames */
	unsigned nr_threads; /* cache_threads that will exist at once */
	bool trapped; /* vma_touch() is called by what handles real faults: see cache/trap.h */
};

/* What one thread did; its own, so never contended. Sums over threads are the caller's. */
struct cache_counters {
	uint64_t faults;       /* touches that the page tables did not (yet) allow */
	uint64_t minor_faults; /* ... whose page was in the cache, or brought in by others */
	uint64_t pages_inserted;
	uint64_t pmd_mapped_bytes; /* mapped by PMD entries */
	struct lock_stats mmap, tree, zone, lru;
};

/*
 * A run of a file that is contiguous in memory: offset o of it, start <= o < end, is at
 * base + (o - start). Bytes.
 */
struct extent {
	char *base;
	uint64_t start, end;
};

/* 0; -ENOMEM. Preallocates and touches all it needs (struct folio for every frame, tree nodes). */
int page_cache_alloc(struct page_cache **cache, const struct page_cache_conf *conf,
		     struct reason *why);
/* All threads and mappings must be gone. */
void page_cache_free(struct page_cache *cache);
/*
 * Bytes it allocates besides the arena, for @arena_bytes of frames and @nr_threads. For
 * the memory check.
 */
size_t page_cache_overhead(size_t arena_bytes, unsigned nr_threads);
/*
 * Frames (bytes) that per-thread free lists can hold back from other threads, per thread: the slack
 * an arena needs on top of the data.
 */
size_t page_cache_slack(const struct page_cache_conf *conf);

/*
 * Called in the thread itself (registers it with RCU). @nid: whose frames it prefers; negative: the
 * first node's. @own_nid: the node for what is the thread's own; negative: where it is
 * first touched. 0 or -ENOMEM.
 */
int cache_thread_alloc(struct cache_thread **thread, struct page_cache *cache, int nid,
		       int own_nid);
/* Drains its free lists and LRU batch; called in the thread itself. */
void cache_thread_free(struct cache_thread *thread);
struct cache_counters *cache_thread_counters(struct cache_thread *thread);

/* A file of @bytes with no pages. 0 or -ENOMEM. */
int mapping_alloc(struct mapping **mapping, struct page_cache *cache, uint64_t bytes);
/*
 * Its pages lie in the order of the file from now on: page i is frame @first_frame + i of
 * the arena's region number @region, so that a linear mapping of that memory is the file.
 * @first_frame is a multiple of 512; the frames are nobody else's: every mapping of the
 * cache has to be placed, apart from the others. Before the first fault.
 *
 * Frames that a truncation could not free, because somebody still had a reference to
 * them, cannot be replaced by others: a fault that needs them is out of memory. So
 * whoever faulted the pages in has to have unmapped them before.
 *
 * 0, -EINVAL: not aligned, or the region ends before the file does.
 */
int mapping_place(struct mapping *mapping, unsigned region, size_t first_frame);
/* Nothing may map it. Frees its pages (through @thread's lists; NULL will do when it has none). */
void mapping_free(struct mapping *mapping, struct cache_thread *thread);
/*
 * Removes every page in [@start, @end), bytes; UINT64_MAX, or anything at or beyond the end of the
 * file: to the end. The size stays (fallocate(FALLOC_FL_PUNCH_HOLE)). Mapped pages are unmapped
 * first, from whoever maps them; who touches them again faults. When it returns, no
 * thread has bytes of them in hand that it got from vma_touch_begin(); see there for
 * those of vma_touch().
 *
 * What the range covers in part is zeroed in that part and stays: a page, and also a
 * folio of several pages that reaches out of the range. Such a folio is not split (the
 * kernel tries to): its frames stay one piece, so a batch costs one tree entry also after
 * a truncation, and no allocation can fail here; it may reach beyond the end of a file
 * that was resized, by zeros.
 */
void mapping_truncate_range(struct mapping *mapping, uint64_t start, uint64_t end,
			    struct cache_thread *thread);
/* As mapping_truncate_range(@mapping, @offset, UINT64_MAX). */
void mapping_truncate(struct mapping *mapping, uint64_t offset,
		      struct cache_thread *thread);
/*
 * The file has @bytes bytes from now on (ftruncate(), truncate_setsize() of the kernel). When it is
 * shorter, the size is set first and the pages beyond it go then; a fault that races with it
 * leaves none there. What is beyond the new end reads as zeros if the file ever grows again.
 * 0; -EINVAL: longer than the region that it is placed in.
 */
int mapping_resize(struct mapping *mapping, uint64_t bytes, struct cache_thread *thread);
/* Pages in the cache. Exact when nobody inserts or removes. */
uint64_t mapping_nr_pages(const struct mapping *mapping);
/* For tests: copies @len bytes at @offset of the file to @to, holes as zeros. */
void mapping_read(struct mapping *mapping, uint64_t offset, void *to, size_t len);

/*
 * Page tables for [@start, @end) bytes of a file, placed on @nid, reusable: allocate
 * once, map often.
 */
int vma_alloc(struct vma **vma, uint64_t start, uint64_t end, int nid);
void vma_free(struct vma *vma);
size_t vma_overhead(uint64_t start, uint64_t end); /* bytes that vma_alloc() takes */
/* Maps the range of @mapping with empty page tables (mmap_lock for writing). */
void vma_map(struct vma *vma, struct mapping *mapping, struct cache_thread *thread);
/* Unmaps every page (references, mapcounts, accessed bits), mmap_lock for writing at the end. */
void vma_unmap(struct vma *vma, struct cache_thread *thread);

/*
 * The worker touches @offset of the file (inside the vma), to store when @write. When the page
 * tables map it (and allow the store) this is only a walk of two levels; else it is a fault.
 * Fills @extent with the longest run around @offset that one folio gives: a page, or up to
 * 2 MiB, clipped to the vma and the end of the file.
 * 0; -ENOMEM: no frame or no tree node left; -EFAULT: beyond the end of the file (SIGBUS).
 *
 * The bytes are those of the file until another thread truncates them. A CPU would be told by an
 * interrupt to forget the translation; here, who shares a file with a thread that truncates
 * it meanwhile uses vma_touch_begin() instead.
 */
int vma_touch(struct vma *vma, struct cache_thread *thread, uint64_t offset, bool write,
	      struct extent *extent);
/*
 * As vma_touch(), and when it returns 0 the bytes stay the file's, as it was at some
 * moment since the call, until vma_touch_end(): truncation by another thread waits for
 * that before it uses the frames again. Between the two the thread calls nothing of the
 * page cache and does not wait.
 */
int vma_touch_begin(struct vma *vma, struct cache_thread *thread, uint64_t offset,
		    bool write, struct extent *extent);
void vma_touch_end(void);

/*
 * The first run in [@start, @end) of whole pages that the page tables map: *@run_start
 * and *@run_end, bytes of the file. False: there is none. The vma's own thread; page
 * tables are rounded to pages at both ends.
 */
bool vma_next_run(const struct vma *vma, uint64_t start, uint64_t end,
		  uint64_t *run_start, uint64_t *run_end);
/*
 * The frame of the page that the page tables have at @offset of the file, inside the vma;
 * NULL: they have none. The vma's own thread.
 */
void *vma_frame(const struct vma *vma, uint64_t offset);

/*
 * For tests, when all threads are quiet: pages in the trees of @mappings + free pages = all
 * pages; no folio has a reference that nothing accounts for; LRU lists and per-thread
 * batches are complete; marks agree with folios; no folio lies beyond the end of its
 * file, and what one has beyond it is zero. 0, or -EUCLEAN with @why.
 */
int page_cache_check(struct page_cache *cache, struct mapping *const *mappings,
		     unsigned nr, struct reason *why);

#endif
