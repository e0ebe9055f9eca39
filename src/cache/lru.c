/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache/lru.h"

#include "cache/thread.h"
#include "cache/zone.h"

/* Changes the lru_lock held (@held, NULL: none) for that of the folio's node. */
static struct zone *lru_relock(struct cache_thread *thread, const struct folio *folio,
			       struct zone *held)
{
	struct zone *zone = &thread->cache->zones[folio->zone];

	if (zone == held)
		return held;
	if (held)
		lock_release(&held->lru_lock);
	lock_acquire(&zone->lru_lock, &thread->counters.lru);
	return zone;
}

static void lru_unlock(struct zone *held)
{
	if (held)
		lock_release(&held->lru_lock);
}

static void lru_insert_locked(struct zone *zone, struct folio *folio, enum lru_list list)
{
	list_add(&folio->lru, &zone->lru[list]);
	zone->nr_lru_pages[list] += folio_nr_pages(folio);
}

static enum lru_list lru_remove_locked(struct zone *zone, struct folio *folio)
{
	enum lru_list list = folio_test(folio, FOLIO_ACTIVE) ? LRU_ACTIVE : LRU_INACTIVE;

	list_del(&folio->lru);
	zone->nr_lru_pages[list] -= folio_nr_pages(folio);
	return list;
}

static void batch_put(struct folio_batch *batch, struct cache_thread *thread)
{
	unsigned nr = batch->nr;

	/* A put may free the folio, but never adds to a batch. */
	for (unsigned i = 0; i < nr; i++)
		folio_put(batch->folios[i], thread);
	batch->nr = 0;
}

static void lru_drain_add(struct cache_thread *thread)
{
	struct folio_batch *batch = &thread->lru_add;
	struct zone *zone = NULL;

	for (unsigned i = 0; i < batch->nr; i++) {
		struct folio *folio = batch->folios[i];
		bool active = folio_test(folio, FOLIO_ACTIVE);

		zone = lru_relock(thread, folio, zone);
		folio_test_set(folio, FOLIO_LRU);
		lru_insert_locked(zone, folio, active ? LRU_ACTIVE : LRU_INACTIVE);
	}
	lru_unlock(zone);
	batch_put(batch, thread);
}

static void lru_drain_activate(struct cache_thread *thread)
{
	struct folio_batch *batch = &thread->lru_activate;
	struct zone *zone = NULL;

	for (unsigned i = 0; i < batch->nr; i++) {
		struct folio *folio = batch->folios[i];

		zone = lru_relock(thread, folio, zone);
		if (!folio_test(folio, FOLIO_LRU) || folio_test(folio, FOLIO_ACTIVE))
			continue;
		lru_remove_locked(zone, folio);
		folio_test_set(folio, FOLIO_ACTIVE);
		lru_insert_locked(zone, folio, LRU_ACTIVE);
	}
	lru_unlock(zone);
	batch_put(batch, thread);
}

void lru_drain(struct cache_thread *thread)
{
	lru_drain_add(thread);
	lru_drain_activate(thread);
}

static bool batch_add(struct folio_batch *batch, struct folio *folio)
{
	batch->folios[batch->nr++] = folio;
	return batch->nr < FOLIO_BATCH_SIZE && !folio->order;
}

void lru_add(struct folio *folio, struct cache_thread *thread)
{
	if (!batch_add(&thread->lru_add, folio))
		lru_drain_add(thread);
}

/* It may still wait in this thread's batch: then it goes to the active list from there. */
static void lru_activate_pending(struct folio *folio, struct cache_thread *thread)
{
	for (unsigned i = thread->lru_add.nr; i-- > 0;) {
		if (thread->lru_add.folios[i] != folio)
			continue;
		folio_test_set(folio, FOLIO_ACTIVE);
		return;
	}
}

void folio_mark_accessed(struct folio *folio, struct cache_thread *thread)
{
	uint32_t flags = folio_flags(folio);

	if (!(flags & FOLIO_REFERENCED)) {
		folio_test_set(folio, FOLIO_REFERENCED);
		return;
	}
	if (flags & FOLIO_ACTIVE)
		return;
	if (flags & FOLIO_LRU) {
		folio_get(folio);
		if (!batch_add(&thread->lru_activate, folio))
			lru_drain_activate(thread);
	} else {
		lru_activate_pending(folio, thread);
	}
	folio_test_clear(folio, FOLIO_REFERENCED);
}

void lru_del(struct folio *folio, struct cache_thread *thread)
{
	lru_del_batch(&folio, 1, thread);
}

void lru_del_batch(struct folio **folios, unsigned nr, struct cache_thread *thread)
{
	struct zone *zone = NULL;

	for (unsigned i = 0; i < nr; i++) {
		struct folio *folio = folios[i];

		/*
		 * Without references nobody changes it: the flag can be trusted without
		 * the lock.
		 */
		if (!folio_test(folio, FOLIO_LRU))
			continue;
		zone = lru_relock(thread, folio, zone);
		lru_remove_locked(zone, folio);
		folio_test_clear(folio, FOLIO_LRU | FOLIO_ACTIVE);
	}
	lru_unlock(zone);
}
