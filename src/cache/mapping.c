/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache/mapping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cache/rcu.h"
#include "cache/thread.h"
#include "cache/zone.h"

int mapping_alloc(struct mapping **mapping, struct page_cache *cache, uint64_t bytes)
{
	struct mapping *m = aligned_alloc(CACHELINE_SIZE, sizeof(*m));

	if (!m)
		return -ENOMEM;
	memset(m, 0, sizeof(*m));
	m->cache = cache;
	atomic_init(&m->i_size, bytes);
	atomic_init(&m->nr_pages, 0);
	lock_init(&m->i_rwsem);
	lock_init(&m->i_mmap_lock);
	list_init(&m->vmas);
	tree_init(&m->tree);
	*mapping = m;
	return 0;
}

int mapping_place(struct mapping *mapping, unsigned region, size_t first_frame)
{
	struct page_cache *cache = mapping->cache;
	struct zone *zone;

	if (region >= cache->nr_zones || first_frame % PMD_NR)
		return -EINVAL;
	zone = &cache->zones[region];
	if (first_frame > zone->nr_frames ||
	    mapping_end(mapping) > zone->nr_frames - first_frame)
		return -EINVAL;
	mapping->placed = zone;
	mapping->placed_at = first_frame;
	return 0;
}

bool mapping_fits(const struct mapping *mapping, uint64_t bytes)
{
	const struct zone *zone = mapping->placed;

	return !zone ||
	       div_round_up(bytes, PAGE_SIZE) <= zone->nr_frames - mapping->placed_at;
}

void mapping_free(struct mapping *mapping, struct cache_thread *thread)
{
	if (mapping_nr_pages(mapping))
		mapping_truncate(mapping, 0, thread);
	free(mapping);
}

uint64_t mapping_nr_pages(const struct mapping *mapping)
{
	return atomic_load_explicit(&((struct mapping *)mapping)->nr_pages,
				    memory_order_relaxed);
}

struct folio *mapping_get_folio(const struct mapping *mapping, unsigned long index,
				struct cache_thread *thread)
{
	struct folio *folio;
	bool same;

	for (;;) {
		cache_rcu_read_lock();
		folio = tree_load(&mapping->tree, index);
		if (!folio) {
			cache_rcu_read_unlock();
			return NULL;
		}
		if (!folio_try_get(folio)) {
			cache_rcu_read_unlock();
			continue;
		}
		/*
		 * It may have been freed, and be somebody else's by now, before the reference was
		 * taken. In the tree it has a reference of its own: if it is (again)
		 * there, it is ours.
		 */
		same = tree_load(&mapping->tree, index) == folio;
		cache_rcu_read_unlock();
		if (likely(same))
			return folio;
		folio_put(folio, thread);
	}
}

unsigned mapping_get_folios(const struct mapping *mapping, unsigned long start,
			    unsigned long end, struct folio **folios,
			    unsigned long *indexes, unsigned max)
{
	unsigned found, kept;

	do {
		kept = 0;
		cache_rcu_read_lock();
		found = tree_load_batch(&mapping->tree, start, end, (void **)folios,
					indexes, max);
		for (unsigned i = 0; i < found; i++) {
			if (!folio_try_get(folios[i]))
				continue;
			folios[kept] = folios[i];
			indexes[kept++] = indexes[i];
		}
		cache_rcu_read_unlock();
	} while (found && !kept);
	return kept;
}

void mapping_mark_dirty_batch(struct mapping *mapping, struct folio **folios, unsigned nr,
			      struct cache_thread *thread)
{
	lock_acquire(&mapping->tree.lock, &thread->counters.tree);
	for (unsigned i = 0; i < nr; i++)
		if (folio_mapping(folios[i]) == mapping)
			tree_set_mark_locked(&mapping->tree, folio_index(folios[i]),
					     TREE_MARK_DIRTY);
	lock_release(&mapping->tree.lock);
}

/* tree_lock keeps the folio in the tree, and the tree's reference keeps its frames. */
static void mapping_read_page(struct mapping *mapping, uint64_t offset, char *to,
			      size_t len)
{
	struct lock_stats uncounted = { 0 };
	struct folio *folio;

	lock_acquire(&mapping->tree.lock, &uncounted);
	folio = tree_load(&mapping->tree, offset >> PAGE_SHIFT);
	if (folio)
		memcpy(to, (char *)folio->data + (offset & (folio_size(folio) - 1)), len);
	else
		memset(to, 0, len);
	lock_release(&mapping->tree.lock);
}

void mapping_read(struct mapping *mapping, uint64_t offset, void *to, size_t len)
{
	char *out = to;

	while (len) {
		size_t part = min_u64(len, PAGE_SIZE - (offset & (PAGE_SIZE - 1)));

		mapping_read_page(mapping, offset, out, part);
		offset += part;
		out += part;
		len -= part;
	}
}
