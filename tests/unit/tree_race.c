/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Readers under RCU against a writer under tree_lock. Whatever a lookup finds says
 * itself where it was stored, and must have been stored there; what stays in the tree
 * all the time must be found every time. Entries are freed after a grace period, and
 * nodes are reused after one, so that the sanitizers see who comes too late.
 *
 *	tree_race [SEED]
 */
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cache/tree_node.h"
#include "race_point.h"
#include "tap.h"

#define NR_READERS 3
#define NR_TREES   2
#define SPAN	   4096ul /* indexes that come and go */
#define MAX_ORDER  9
#define NR_ROUNDS  4000
#define LIMIT_NS   1200000000u
#define FAR	   (1ul << 30)

struct entry {
	struct rcu_head rcu;
	struct entry *next; /* of those that the writer has taken out */
	unsigned long index;
	unsigned order;
};

/*
 * What is always there: a lone entry at 0, over which the tree grows and shrinks; or
 * some.
 */
static const struct {
	unsigned long index;
	unsigned order;
	unsigned tree;
} always[] = {
	{ 0, 0, 0 }, { 77, 0, 1 }, { 1024, 5, 1 }, { 2048, 9, 1 }, { SPAN, 0, 1 },
};

struct race {
	struct tree trees[NR_TREES];
	struct tree_slab slab;
	atomic_bool stop;
};

struct reader {
	struct race *race;
	uint64_t random;
	unsigned long lookups, wrong;
	char what[200]; /* was wrong first */
	pthread_t thread;
};

__attribute__((format(printf, 3, 4))) static void expect(struct reader *r, bool right,
							 const char *fmt, ...)
{
	va_list ap;

	if (right)
		return;
	if (!r->wrong++) {
		va_start(ap, fmt);
		vsnprintf(r->what, sizeof(r->what), fmt, ap);
		va_end(ap);
	}
}

static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static bool covers(const struct entry *entry, unsigned long index)
{
	return index >> entry->order == entry->index >> entry->order;
}

static void read_one(struct reader *r)
{
	unsigned long index = random_next(&r->random) % (SPAN + 1);
	const struct tree *tree = &r->race->trees[random_next(&r->random) % NR_TREES];
	const struct entry *entry = tree_load(tree, index);

	expect(r, !entry || covers(entry, index), "at %#lx what is at %#lx", index,
	       entry ? entry->index : 0);
	tree_get_mark(tree, index, TREE_MARK_DIRTY);
	if (random_next(&r->random) % 16 == 0) {
		entry = tree_load(tree, FAR + index);
		expect(r, !entry || covers(entry, FAR + index),
		       "far away what is at %#lx", entry ? entry->index : 0);
	}
}

static void read_always(struct reader *r)
{
	unsigned i = random_next(&r->random) % ARRAY_SIZE(always);
	unsigned long index =
		always[i].index + random_next(&r->random) % (1ul << always[i].order);
	const struct entry *entry = tree_load(&r->race->trees[always[i].tree], index);

	expect(r, entry && entry->index == always[i].index, "not at %#lx what always is",
	       index);
}

static void read_batch(struct reader *r)
{
	unsigned long start = random_next(&r->random) % SPAN, end = SPAN + 1;
	unsigned nr, t = random_next(&r->random) % NR_TREES, max = 64;
	unsigned long indexes[64], past;
	void *entries[64];

	if (t == 0 && random_next(&r->random) % 2)
		start = 0;
	nr = tree_load_batch(&r->race->trees[t], start, end, entries, indexes, max);
	for (unsigned i = 0; i < nr; i++) {
		const struct entry *entry = entries[i];

		expect(r, entry->index == indexes[i], "%#lx for %#lx", indexes[i],
		       entry->index);
		expect(r, indexes[i] < end, "%#lx, which is not before %#lx", indexes[i],
		       end);
		expect(r, entry->index + (1ul << entry->order) > start,
		       "%#lx, order %u, which is before %#lx", entry->index, entry->order,
		       start);
		expect(r, !i || indexes[i] > indexes[i - 1], "%#lx after %#lx",
		       indexes[i], i ? indexes[i - 1] : 0);
	}
	/* All that is always there, from the start to where the batch was full. */
	past = nr == max ? indexes[nr - 1] : end;
	for (unsigned i = 0; i < ARRAY_SIZE(always); i++) {
		bool found = false;

		if (always[i].tree != t || always[i].index < start ||
		    always[i].index >= past)
			continue;
		for (unsigned j = 0; j < nr; j++)
			found |= indexes[j] == always[i].index;
		expect(r, found, "no %#lx from %#lx on, %u found", always[i].index, start,
		       nr);
	}
}

static void *reader_main(void *arg)
{
	struct reader *r = arg;

	cache_rcu_register_thread();
	while (!atomic_load_explicit(&r->race->stop, memory_order_relaxed)) {
		cache_rcu_read_lock();
		for (unsigned i = 0; i < 20; i++) {
			read_one(r);
			read_always(r);
			r->lookups += 2;
		}
		read_batch(r);
		r->lookups++;
		cache_rcu_read_unlock();
	}
	cache_rcu_unregister_thread();
	return NULL;
}

static void entry_free_rcu(struct rcu_head *rcu)
{
	cache_rcu_callback_begin(rcu);
	free(container_of(rcu, struct entry, rcu));
	cache_rcu_callback_end();
}

static struct entry *entry_alloc(unsigned long index, unsigned order)
{
	struct entry *entry = malloc(sizeof(*entry));

	if (!entry)
		bail("no memory");
	entry->index = index >> order << order;
	entry->order = order;
	return entry;
}

struct writer {
	struct race *race;
	struct tree_pool pool;
	struct lock_stats stats;
	uint64_t random;
	bool wrong;
};

static void insert(struct writer *w, struct tree_walk *walk, unsigned long index,
		   unsigned order, bool must)
{
	struct entry *entry = entry_alloc(index, order);
	uint32_t marks = random_next(&w->random) % 4;

	if (tree_insert_locked(walk, entry->index, order, entry, marks)) {
		free(entry);
		w->wrong |= must;
	}
}

static bool is_always(unsigned t, const struct entry *entry)
{
	for (unsigned i = 0; i < ARRAY_SIZE(always); i++)
		if (always[i].tree == t && always[i].index == entry->index)
			return true;
	return false;
}

/* Inserts or deletes a run under one hold of the lock; deletes all now and then. */
static void write_round(struct writer *w)
{
	unsigned t = random_next(&w->random) % NR_TREES,
		 kind = random_next(&w->random) % 8;
	unsigned order = kind % 2 ? random_next(&w->random) % (MAX_ORDER + 1) : 0;
	unsigned long index = random_next(&w->random) % SPAN,
		      nr = random_next(&w->random) % 128;
	struct tree *tree = &w->race->trees[t];
	struct entry *gone = NULL, *entry;
	struct tree_walk walk;

	if (kind == 7 || kind == 6) {
		index = 0;
		nr = SPAN;
	}
	if (tree_pool_fill(&w->pool, 2 * TREE_MAX_NODES + tree_nodes_needed(index, SPAN)))
		bail("no memory");
	lock_acquire(&tree->lock, &w->stats);
	tree_walk_init_locked(&walk, tree, &w->pool);
	if (kind < 3) {
		for (; nr && index < SPAN; nr--, index += 1ul << order)
			insert(w, &walk, index, order, false);
		if (kind == 0)
			insert(w, &walk, FAR + index, 0, false);
	} else {
		for (; nr && index < SPAN; nr--, index++) {
			entry = tree_load(tree, index);
			if (!entry || is_always(t, entry))
				continue;
			w->wrong |= tree_delete_locked(&walk, index) != entry;
			entry->next = gone;
			gone = entry;
		}
		while (kind == 7 && tree_load_batch(tree, FAR, FAR + SPAN + 1,
						    (void **)&entry, &index, 1)) {
			w->wrong |= tree_delete_locked(&walk, index) != entry;
			entry->next = gone;
			gone = entry;
		}
	}
	w->wrong |= tree_check(tree, NULL) < 0;
	lock_release(&tree->lock);
	tree_pool_retire(&w->pool);
	while (gone) {
		entry = gone;
		gone = entry->next;
		cache_call_rcu(&entry->rcu, entry_free_rcu);
	}
}

static void writer_init(struct writer *w, struct race *race, uint64_t seed)
{
	struct tree_walk walk;

	*w = (struct writer){ .race = race, .random = seed };
	tree_pool_init(&w->pool, &race->slab);
	for (unsigned i = 0; i < ARRAY_SIZE(always); i++) {
		if (tree_pool_fill(&w->pool, TREE_MAX_NODES))
			bail("no memory");
		tree_walk_init_locked(&walk, &race->trees[always[i].tree], &w->pool);
		insert(w, &walk, always[i].index, always[i].order, true);
	}
}

static void writer_destroy(struct writer *w)
{
	for (unsigned t = 0; t < NR_TREES; t++) {
		struct tree *tree = &w->race->trees[t];
		struct tree_walk walk;
		unsigned long index;
		void *entry;

		tree_walk_init_locked(&walk, tree, &w->pool);
		while (tree_load_batch(tree, 0, ULONG_MAX, &entry, &index, 1)) {
			w->wrong |= tree_delete_locked(&walk, index) != entry;
			free(entry);
		}
		w->wrong |= tree_check(tree, NULL) != 0;
	}
	tree_pool_destroy(&w->pool);
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : clock_now_ns();
	unsigned long lookups = 0, wrong = 0, rounds = 0;
	struct reader readers[NR_READERS];
	struct writer writer;
	struct race race;
	uint64_t start;

	printf("# seed %" PRIu64 ", %u slots\n", seed, TREE_SLOTS);
	cache_rcu_register_thread();
	for (unsigned t = 0; t < NR_TREES; t++)
		tree_init(&race.trees[t]);
	atomic_init(&race.stop, false);
	if (tree_slab_init(&race.slab, 100))
		bail("no memory");
	writer_init(&writer, &race, seed);
	for (unsigned i = 0; i < NR_READERS; i++) {
		readers[i] = (struct reader){ .race = &race, .random = seed + 1 + i };
		if (pthread_create(&readers[i].thread, NULL, reader_main, &readers[i]))
			bail("no thread");
	}
	start = clock_now_ns();
	for (; rounds < NR_ROUNDS && clock_now_ns() - start < LIMIT_NS; rounds++)
		write_round(&writer);
	atomic_store_explicit(&race.stop, true, memory_order_relaxed);
	for (unsigned i = 0; i < NR_READERS; i++) {
		pthread_join(readers[i].thread, NULL);
		lookups += readers[i].lookups;
		wrong += readers[i].wrong;
		if (readers[i].wrong)
			printf("# reader %u: %s\n", i, readers[i].what);
	}
	writer_destroy(&writer);
	printf("# %lu rounds of the writer, %lu lookups\n", rounds, lookups);
	ok(!wrong, "%lu lookups found what was never there or missed what always was",
	   wrong);
	ok(!writer.wrong, "the writer found what it had stored");
	cache_rcu_barrier();
	ok(race.slab.nr_free == race.slab.nr_nodes, "every node has come back");
	tree_slab_destroy(&race.slab);
	cache_rcu_unregister_thread();
	return done();
}
