/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which folios were used of late: an inactive and an active list a node, under its lru_lock
 * (mm/swap.c of the kernel). Threads gather folios in batches of their own, so that the
 * lock is taken once a batch; a folio in a batch has a reference for it.
 */
#ifndef CACHE_LRU_H
#define CACHE_LRU_H

#include "cache/folio.h"

struct cache_thread;

#define FOLIO_BATCH_SIZE 15 /* PAGEVEC_SIZE */

struct folio_batch {
	unsigned nr;
	struct folio *folios[FOLIO_BATCH_SIZE];
};

/*
 * Puts a folio that is new in the page cache on the inactive list, sooner or later. Takes over
 * one of the caller's references. A folio of several pages is worth a drain at once.
 */
void lru_add(struct folio *folio, struct cache_thread *thread);

/*
 * The folio was accessed through a mapping: the first time makes it referenced, the
 * second active.
 */
void folio_mark_accessed(struct folio *folio, struct cache_thread *thread);

/* Empties both batches of the thread. */
void lru_drain(struct cache_thread *thread);

/* Takes a folio without references off its list, if it is on one. */
void lru_del(struct folio *folio, struct cache_thread *thread);
/* The same for @nr of them, with one lock hold for each run of the same node. */
void lru_del_batch(struct folio **folios, unsigned nr, struct cache_thread *thread);

#endif
