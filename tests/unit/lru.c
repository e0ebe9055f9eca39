/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The LRU lists and the batches in front of them. */
#include "cache_env.h"

/* A folio that only the test holds, with the reference that lru_add() takes over. */
static struct folio *new_folio(struct env *env, unsigned order)
{
	struct folio *folio = pcp_alloc(&env->thread->pcp, order);

	if (!folio)
		bail("no frame");
	folio_init(folio, FOLIO_UPTODATE, 2);
	return folio;
}

static size_t list_length(const struct list_head *list)
{
	struct list_head *pos;
	size_t nr = 0;

	list_for_each(pos, list)
		nr++;
	return nr;
}

static void test_add(void)
{
	struct env env;
	struct folio *folios[FOLIO_BATCH_SIZE];
	struct zone *zone;
	uint64_t *locked;
	bool good = true;
	unsigned i = 0;
	struct list_head *pos;

	env_open(&env, 2, 1);
	zone = &env.cache->zones[0];
	locked = &env.thread->counters.lru.acquisitions;
	for (i = 0; i < FOLIO_BATCH_SIZE - 1; i++) {
		folios[i] = new_folio(&env, 0);
		lru_add(folios[i], env.thread);
	}
	ok(*locked == 0 && list_empty(&zone->lru[LRU_INACTIVE]),
	   "14 folios wait in the batch");
	ok(folios[0]->refcount == 2 && !folio_test(folios[0], FOLIO_LRU),
	   "with a reference each, on no list");
	folios[i] = new_folio(&env, 0);
	lru_add(folios[i], env.thread);
	ok(*locked == 1 && zone->nr_lru_pages[LRU_INACTIVE] == 15,
	   "the 15th drains it, lru_lock "
	   "taken once");
	i = FOLIO_BATCH_SIZE;
	list_for_each(pos, &zone->lru[LRU_INACTIVE])
		good &= list_entry(pos, struct folio, lru) == folios[--i];
	ok(good && i == 0, "the newest is at the head");
	for (i = 0; i < FOLIO_BATCH_SIZE; i++)
		good &= folios[i]->refcount == 1 && folio_test(folios[i], FOLIO_LRU);
	ok(good, "the batch's references are gone");

	lru_add(folios[0] = new_folio(&env, 0), env.thread);
	lru_add(folios[1] = new_folio(&env, 3), env.thread);
	ok(*locked == 2 && zone->nr_lru_pages[LRU_INACTIVE] == 15 + 1 + 8,
	   "a folio of 8 pages drains the batch at once");
	folio_put(folios[1], env.thread);
	ok(zone->nr_lru_pages[LRU_INACTIVE] == 16 && !folio_test(folios[1], FOLIO_LRU),
	   "the last put takes it off its list");
	env_close(&env);
}

static void test_mark_accessed(void)
{
	struct folio *folios[FOLIO_BATCH_SIZE + 1];
	struct env env;
	struct zone *zone;
	uint64_t before;

	env_open(&env, 2, 1);
	zone = &env.cache->zones[0];
	for (unsigned i = 0; i <= FOLIO_BATCH_SIZE; i++)
		lru_add(folios[i] = new_folio(&env, 0), env.thread);
	/* 15 are on the list, the last one waits. */
	folio_mark_accessed(folios[15], env.thread);
	ok(folio_test(folios[15], FOLIO_REFERENCED) &&
		   !folio_test(folios[15], FOLIO_ACTIVE),
	   "the first access makes a folio referenced");
	folio_mark_accessed(folios[15], env.thread);
	ok(folio_test(folios[15], FOLIO_ACTIVE) &&
		   !folio_test(folios[15], FOLIO_REFERENCED),
	   "the second makes one that waits to be added active");
	lru_drain(env.thread);
	ok(zone->nr_lru_pages[LRU_ACTIVE] == 1 &&
		   zone->lru[LRU_ACTIVE].next == &folios[15]->lru,
	   "it is added to the active list");

	before = env.thread->counters.lru.acquisitions;
	for (unsigned i = 0; i < FOLIO_BATCH_SIZE; i++)
		for (unsigned n = 0; n < 2; n++)
			folio_mark_accessed(folios[i], env.thread);
	ok(env.thread->counters.lru.acquisitions == before + 1 &&
		   zone->nr_lru_pages[LRU_ACTIVE] == 16 &&
		   zone->nr_lru_pages[LRU_INACTIVE] == 0,
	   "15 folios are activated under one lru_lock hold");
	folio_mark_accessed(folios[0], env.thread);
	folio_mark_accessed(folios[0], env.thread);
	ok(env.thread->lru_activate.nr == 0 && folio_test(folios[0], FOLIO_REFERENCED),
	   "an active folio stays where it is");
	ok(list_length(&zone->lru[LRU_ACTIVE]) == 16, "once");

	/* Freed while it waits for activation: the batch holds it until it is drained. */
	folios[0] = new_folio(&env, 0);
	lru_add(folios[0], env.thread);
	lru_drain(env.thread);
	folio_mark_accessed(folios[0], env.thread);
	folio_mark_accessed(folios[0], env.thread);
	ok(folios[0]->refcount == 2, "the batch holds a reference");
	folio_put(folios[0], env.thread);
	lru_drain(env.thread);
	ok(folios[0]->refcount == 0 && zone->nr_lru_pages[LRU_ACTIVE] == 16 &&
		   zone->nr_lru_pages[LRU_INACTIVE] == 0,
	   "a folio that only the batch held is freed by the drain");
	env_close(&env);
}

static void test_nodes(void)
{
	struct folio *folios[10];
	struct env env;
	uint64_t before;

	env_open_nodes(&env, 2, 2, 0, 1, 15);
	for (unsigned i = 0; i < 10; i++) {
		/* Five of each node in a row. */
		env.thread->pcp.zone = &env.cache->zones[i / 5];
		folios[i] = new_folio(&env, 0);
		pcp_drain(&env.thread->pcp);
		lru_add(folios[i], env.thread);
	}
	lru_drain(env.thread);
	ok(env.cache->zones[0].nr_lru_pages[LRU_INACTIVE] == 5 &&
		   env.cache->zones[1].nr_lru_pages[LRU_INACTIVE] == 5,
	   "each folio is on a list of its own node");
	ok(env.thread->counters.lru.acquisitions == 2,
	   "a run of one node takes one lock hold");
	before = env.thread->counters.lru.acquisitions;
	lru_del_batch(folios, 10, env.thread);
	ok(env.thread->counters.lru.acquisitions == before + 2 &&
		   list_empty(&env.cache->zones[0].lru[LRU_INACTIVE]) &&
		   list_empty(&env.cache->zones[1].lru[LRU_INACTIVE]),
	   "so does taking them off");
	env_close(&env);
}

int main(void)
{
	test_add();
	test_mark_accessed();
	test_nodes();
	return done();
}
