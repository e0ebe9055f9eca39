/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a vma maps, for the files of this directory; the public part is in cache.h. */
#ifndef CACHE_VMA_H
#define CACHE_VMA_H

#include <stdint.h>

struct folio;
struct page_cache;

/* The folio that a leaf entry of the page tables belongs to. */
struct folio *vma_entry_folio(const struct page_cache *cache, uint64_t entry);

#endif
