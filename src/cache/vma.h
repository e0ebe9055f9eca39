/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a vma maps, for the files of this directory; the public part is in cache.h. */
#ifndef CACHE_VMA_H
#define CACHE_VMA_H

#include <stdbool.h>
#include <stdint.h>

struct cache_thread;
struct folio;
struct mapping;
struct page_cache;

/* The folio that a leaf entry of the page tables belongs to. */
struct folio *vma_entry_folio(const struct page_cache *cache, uint64_t entry);

/*
 * Unmaps a locked folio of @mapping from every vma (unmap_mapping_folio() of the kernel). Whoever
 * faults it again waits for the folio lock. The caller has a reference of its own. True:
 * a thread other than the caller may still have its bytes in hand, until the next grace
 * period.
 */
bool vma_unmap_folio(struct mapping *mapping, struct folio *folio,
		     struct cache_thread *thread);

#endif
