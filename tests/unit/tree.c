/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree against a plain array: seeded random operations, each also made in the
 * array, and what the tree's own checker says in between. Built with nodes of 64 slots
 * and of 4.
 *
 *	tree [SEED]
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "base/reason.h"
#include "cache/tree_node.h"
#include "tap.h"

/*
 * The array: a few windows of the space of indexes, each as wide as the largest order
 * used.
 */
#define WINDOW_ORDER 11
#define WINDOW	     (1u << WINDOW_ORDER)
#define NR_WINDOWS   7

struct item {
	unsigned order;
	uint32_t marks;
};

struct model {
	unsigned long base;
	struct item items[WINDOW];   /* what starts here, when it is stored */
	struct item *stored[WINDOW]; /* what covers this index */
};

struct fixture {
	struct tree tree;
	struct tree_slab slab;
	struct tree_pool pool;
	struct tree_node *stash; /* nodes hidden from the pool */
	struct model windows[NR_WINDOWS];
	unsigned long nr_stored;
	uint64_t random;
	bool failed;
};

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t random_next(struct fixture *f)
{
	uint64_t z = f->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static unsigned random_below(struct fixture *f, unsigned n)
{
	return (unsigned)(random_next(f) % n);
}

/* Small orders often, all of them sometimes. */
static unsigned random_order(struct fixture *f)
{
	switch (random_below(f, 4)) {
	case 0:
		return random_below(f, WINDOW_ORDER + 1);
	case 1:
		return random_below(f, 4);
	default:
		return 0;
	}
}

static uint32_t random_marks(struct fixture *f)
{
	return random_below(f, 3) ? 0 : random_below(f, 1u << TREE_NR_MARKS);
}

/* A condition that a test needs; says once per test what was the matter. */
#define must(f, cond, ...)                                                  \
	do {                                                                \
		if (!(cond) && !(f)->failed) {                              \
			(f)->failed = true;                                 \
			printf("# %s:%d: %s: ", __FILE__, __LINE__, #cond); \
			printf(__VA_ARGS__);                                \
			putchar('\n');                                      \
		}                                                           \
	} while (0)

/*
 * The model.
 */

static bool model_is_free(const struct model *m, unsigned at, unsigned order)
{
	for (unsigned i = 0; i < 1u << order; i++)
		if (m->stored[at + i])
			return false;
	return true;
}

static unsigned model_start(const struct model *m, unsigned at)
{
	return (unsigned)(m->stored[at] - m->items);
}

static void check_structure(struct fixture *f)
{
	struct reason why = { "" };
	long nr = tree_check(&f->tree, &why);

	must(f, nr >= 0, "%s", why.text);
	must(f, nr == (long)f->nr_stored, "%ld entries, not %lu", nr, f->nr_stored);
}

static void check_index(struct fixture *f, const struct model *m, unsigned at)
{
	unsigned long index = m->base + at;
	const struct item *item = m->stored[at];

	must(f, tree_load(&f->tree, index) == item, "at %#lx", index);
	for (enum tree_mark mark = 0; mark < TREE_NR_MARKS; mark++)
		must(f,
		     tree_get_mark(&f->tree, index, mark) ==
			     (item && item->marks >> mark & 1),
		     "mark %u at %#lx", mark, index);
}

static void check_window(struct fixture *f, const struct model *m)
{
	for (unsigned at = 0; at < WINDOW; at++)
		check_index(f, m, at);
	check_structure(f);
}

static void check_everything(struct fixture *f)
{
	for (unsigned w = 0; w < NR_WINDOWS; w++)
		check_window(f, &f->windows[w]);
}

/*
 * Operations, on the tree and on the model.
 */

static int expect_insert(const struct model *m, unsigned at, unsigned order)
{
	return model_is_free(m, at, order) ? 0 : -EEXIST;
}

static void model_insert(struct fixture *f, struct model *m, unsigned at, unsigned order,
			 uint32_t marks)
{
	struct item *item = &m->items[at];

	item->order = order;
	item->marks = marks;
	for (unsigned i = 0; i < 1u << order; i++)
		m->stored[at + i] = item;
	f->nr_stored++;
}

static void op_insert(struct fixture *f, struct model *m, struct tree_walk *walk,
		      unsigned at, unsigned order)
{
	uint32_t marks = random_marks(f);
	size_t nr_free = f->pool.nr_free;
	int want, got;

	at &= ~((1u << order) - 1);
	want = expect_insert(m, at, order);
	got = tree_insert_locked(walk, m->base + at, order, &m->items[at], marks);
	must(f, got == want, "order %u at %#lx: %d, not %d", order, m->base + at, got,
	     want);
	if (got)
		must(f, f->pool.nr_free == nr_free, "nodes taken in vain");
	else
		model_insert(f, m, at, order, marks);
}

static void op_delete(struct fixture *f, struct model *m, struct tree_walk *walk,
		      unsigned at)
{
	struct item *want = m->stored[at];
	void *got = tree_delete_locked(walk, m->base + at);

	must(f, got == want, "at %#lx", m->base + at);
	if (!want)
		return;
	at = model_start(m, at);
	for (unsigned i = 0; i < 1u << want->order; i++)
		m->stored[at + i] = NULL;
	f->nr_stored--;
}

static void op_mark(struct fixture *f, struct model *m, unsigned at)
{
	enum tree_mark mark = random_below(f, TREE_NR_MARKS);
	struct item *item = m->stored[at];
	bool set = random_below(f, 2);
	int got = (set ? tree_set_mark_locked :
			 tree_clear_mark_locked)(&f->tree, m->base + at, mark);

	must(f, got == (item ? 0 : -ENOENT), "%d at %#lx", got, m->base + at);
	if (item)
		item->marks = (item->marks & ~(1u << mark)) | (uint32_t)set << mark;
}

/* Entries of a part of one window, and what comes when there is no room for all. */
static void op_load_batch(struct fixture *f, struct model *m, unsigned start,
			  unsigned end)
{
	static void *entries[WINDOW];
	static unsigned long indexes[WINDOW];
	unsigned max = random_below(f, 2) ? WINDOW : random_below(f, 20), nr = 0,
		 want = 0;

	memset(entries, 0, sizeof(entries));
	nr = tree_load_batch(&f->tree, m->base + start, m->base + end, entries, indexes,
			     max);
	for (unsigned at = start; at < end && want < max; at++) {
		if (!m->stored[at] || (at > start && m->stored[at] == m->stored[at - 1]))
			continue;
		must(f, want < nr && entries[want] == m->stored[at], "entry %u, at %#lx",
		     want, m->base + at);
		must(f, indexes[want] == m->base + model_start(m, at), "index %u", want);
		want++;
	}
	must(f, nr == want, "%u entries, not %u", nr, want);
}

/*
 * From a place in one window to one in the same or another: only the order of windows
 * counts.
 */
static void op_find_marked(struct fixture *f, unsigned long start, unsigned long end)
{
	enum tree_mark mark = random_below(f, TREE_NR_MARKS);
	unsigned long want = end, got;

	for (unsigned w = 0; w < NR_WINDOWS; w++) {
		const struct model *m = &f->windows[w];

		for (unsigned at = 0; at < WINDOW; at++) {
			unsigned long index = m->base + at;

			if (index >= start && index < want && m->stored[at] &&
			    m->stored[at]->marks >> mark & 1)
				want = index;
		}
	}
	got = tree_find_marked(&f->tree, start, end, mark);
	must(f, got == want, "mark %u from %#lx to %#lx: %#lx, not %#lx", mark, start,
	     end, got, want);
}

/*
 * Fixture.
 */

static const unsigned long bases[NR_WINDOWS] = {
	0,
	WINDOW,
	3ul << 24,
	(1ul << 40) - WINDOW,
	(ULONG_MAX >> 12) - WINDOW + 1,
	(ULONG_MAX >> 12) + 1,
	ULONG_MAX - WINDOW + 1,
};

static void setup(struct fixture *f, uint64_t seed, size_t nr_nodes)
{
	memset(f, 0, sizeof(*f));
	f->random = seed;
	tree_init(&f->tree);
	if (tree_slab_init(&f->slab, nr_nodes))
		bail("no memory");
	tree_pool_init(&f->pool, &f->slab);
	for (unsigned w = 0; w < NR_WINDOWS; w++)
		f->windows[w].base = bases[w];
}

static void fill(struct fixture *f, size_t nr)
{
	if (tree_pool_fill(&f->pool, nr))
		bail("no memory");
}

/* Hides all nodes of the pool but @nr, or as many as there are. */
static void stash_all_but(struct fixture *f, size_t nr)
{
	while (f->pool.nr_free > nr) {
		struct tree_node *node = f->pool.free;

		f->pool.free = node->next;
		f->pool.nr_free--;
		node->next = f->stash;
		f->stash = node;
	}
}

static void unstash(struct fixture *f, size_t nr)
{
	while (nr-- && f->stash) {
		struct tree_node *node = f->stash;

		f->stash = node->next;
		node->next = f->pool.free;
		f->pool.free = node;
		f->pool.nr_free++;
	}
}

static size_t in_use(struct fixture *f)
{
	size_t nr;

	cache_rcu_barrier();
	nr = f->slab.nr_nodes - f->slab.nr_free - f->pool.nr_free;
	for (struct tree_node *node = f->stash; node; node = node->next)
		nr--;
	return nr;
}

/* Takes everything out again; no node may be missing then. */
static void teardown(struct fixture *f)
{
	struct tree_walk walk;

	tree_walk_init_locked(&walk, &f->tree, &f->pool);
	for (unsigned w = 0; w < NR_WINDOWS; w++) {
		struct model *m = &f->windows[w];

		for (unsigned at = 0; at < WINDOW; at++)
			if (m->stored[at])
				op_delete(f, m, &walk, at);
	}
	must(f, !f->tree.head, "something is left");
	check_structure(f);
	tree_pool_retire(&f->pool);
	must(f, !in_use(f), "%zu nodes are missing", in_use(f));
	unstash(f, SIZE_MAX);
	tree_pool_destroy(&f->pool);
	cache_rcu_barrier();
	must(f, f->slab.nr_free == f->slab.nr_nodes, "%zu free of %zu", f->slab.nr_free,
	     f->slab.nr_nodes);
	tree_slab_destroy(&f->slab);
}

/*
 * Tests.
 */

/* Single operations at random places, each through a walk of its own. */
static void run_single(struct fixture *f, unsigned nr_ops, unsigned nr_windows)
{
	for (unsigned op = 0; op < nr_ops && !f->failed; op++) {
		struct model *m = &f->windows[random_below(f, nr_windows)];
		unsigned at = random_below(f, WINDOW),
			 end = at + random_below(f, WINDOW - at);
		const struct model *other = &f->windows[random_below(f, nr_windows)];
		struct tree_walk walk;

		fill(f, TREE_MAX_NODES);
		tree_walk_init_locked(&walk, &f->tree, &f->pool);
		switch (random_below(f, 8)) {
		case 0 ... 2:
			op_insert(f, m, &walk, at, random_order(f));
			break;
		case 3 ... 4:
			op_delete(f, m, &walk, at);
			break;
		case 5:
			op_mark(f, m, at);
			break;
		case 6:
			op_load_batch(f, m, at, end);
			break;
		case 7:
			op_find_marked(f, m->base + at, other->base + end);
			break;
		}
		tree_pool_retire(&f->pool);
		check_index(f, m, at);
		if (op % 16 == 0)
			check_structure(f);
		if (op % 512 == 0)
			check_everything(f);
	}
}

/*
 * Runs of operations through one walk: mostly ascending, insertions and deletions
 * mixed.
 */
static void run_walks(struct fixture *f, unsigned nr_runs, unsigned nr_windows)
{
	for (unsigned run = 0; run < nr_runs && !f->failed; run++) {
		struct model *m = &f->windows[random_below(f, nr_windows)];
		unsigned at = random_below(f, WINDOW), nr = random_below(f, 300);
		unsigned order = random_below(f, 2) ? 0 : random_order(f);
		unsigned kind = random_below(f, 8);
		struct tree_walk walk;

		tree_walk_init_locked(&walk, &f->tree, &f->pool);
		for (; nr && at < WINDOW; nr--) {
			fill(f, TREE_MAX_NODES);
			if (kind < 3)
				op_insert(f, m, &walk, at, order);
			else if (kind < 6)
				op_delete(f, m, &walk, at);
			else if (random_below(f, 2))
				op_insert(f, m, &walk, at, random_order(f));
			else
				op_delete(f, m, &walk, at);
			if (nr % 32 == 0)
				check_structure(f);
			at += 1u << order;
			if (random_below(f, 40) == 0) {
				m = &f->windows[random_below(f, nr_windows)];
				at = random_below(f, WINDOW);
			}
		}
		tree_pool_retire(&f->pool);
		check_structure(f);
		if (run % 32 == 0)
			check_everything(f);
	}
}

static void test_random(uint64_t seed, unsigned nr_windows)
{
	static struct fixture f;

	setup(&f, seed, 1000);
	run_single(&f, 3000, nr_windows);
	run_walks(&f, 150, nr_windows);
	run_single(&f, 1000, nr_windows);
	check_everything(&f);
	teardown(&f);
	ok(!f.failed, "random operations in %u windows agree with an array", nr_windows);
}

/*
 * Every insertion with 0, 1, 2 ... nodes in the pool, in trees of all shapes, until one
 * is enough: as many as promised at the most, and nothing changes before.
 */
static void test_exhaustion(uint64_t seed)
{
	static struct fixture f;
	size_t most = 0;

	setup(&f, seed, 1000);
	for (unsigned step = 0; step < 400 && !f.failed; step++) {
		struct model *m = &f.windows[random_below(&f, NR_WINDOWS)];
		unsigned order = random_order(&f),
			 at = random_below(&f, WINDOW) >> order << order;
		size_t nr = 0, needed;
		struct tree_walk walk;
		int err;

		/* Both ends first: nothing takes more nodes than the second of them. */
		if (step < 2) {
			m = &f.windows[step ? NR_WINDOWS - 1 : 0];
			at = order = 0;
		} else if (step % 64 == 0) {
			run_walks(&f, 1, NR_WINDOWS);
		}
		needed = tree_nodes_needed(m->base + at, 1ul << order);
		if (!model_is_free(m, at, order)) {
			tree_walk_init_locked(&walk, &f.tree, &f.pool);
			op_delete(&f, m, &walk, at);
			tree_pool_retire(&f.pool);
			continue;
		}
		fill(&f, TREE_MAX_NODES);
		stash_all_but(&f, 0);
		for (;; nr++) {
			struct tree_node *free = f.pool.free;

			tree_walk_init_locked(&walk, &f.tree, &f.pool);
			err = tree_insert_locked(&walk, m->base + at, order,
						 &m->items[at], 3);
			if (err != -ENOMEM)
				break;
			must(&f, f.pool.nr_free == nr && f.pool.free == free,
			     "nodes are gone");
			check_index(&f, m, at);
			check_structure(&f);
			unstash(&f, 1);
		}
		must(&f, !err, "%d", err);
		must(&f, nr <= needed && nr <= TREE_MAX_NODES, "took %zu nodes, not %zu",
		     nr, needed);
		must(&f, !f.pool.nr_free, "%zu nodes to spare", f.pool.nr_free);
		model_insert(&f, m, at, order, 3);
		most = nr > most ? nr : most;
		unstash(&f, SIZE_MAX);
		if (step % 32 == 0)
			check_everything(&f);
	}
	check_everything(&f);
	teardown(&f);
	ok(!f.failed, "an empty pool changes nothing");
	ok(most == TREE_MAX_NODES, "%zu nodes at once, no more and no less", most);
}

/*
 * The pages of a range that are missing, through one walk, with as many nodes as were
 * promised.
 */
static void test_nodes_needed(uint64_t seed)
{
	static struct fixture f;

	setup(&f, seed, 1000);
	for (unsigned step = 0; step < 200 && !f.failed; step++) {
		struct model *m = &f.windows[random_below(&f, NR_WINDOWS)];
		unsigned start = random_below(&f, WINDOW), order;
		unsigned nr_pages = 1 + random_below(&f, WINDOW - start);
		struct tree_walk walk;

		if (step % 2)
			start = nr_pages = 1u << random_below(&f, WINDOW_ORDER);
		fill(&f, tree_nodes_needed(m->base + start, nr_pages));
		stash_all_but(&f, tree_nodes_needed(m->base + start, nr_pages));
		tree_walk_init_locked(&walk, &f.tree, &f.pool);
		for (unsigned at = start; at < start + nr_pages; at += 1u << order) {
			order = step % 4 < 2 ? random_below(&f, 10) : WINDOW_ORDER;
			while (at % (1u << order) ||
			       at + (1u << order) > start + nr_pages)
				order--;
			op_insert(&f, m, &walk, at, order);
		}
		check_structure(&f);
		if (random_below(&f, 2)) {
			unstash(&f, SIZE_MAX);
			for (unsigned at = 0; at < WINDOW; at++)
				op_delete(&f, m, &walk, at);
			check_structure(&f);
		}
		tree_pool_retire(&f.pool);
		unstash(&f, SIZE_MAX);
	}
	check_everything(&f);
	teardown(&f);
	ok(!f.failed, "tree_nodes_needed() nodes are enough");
}

/*
 * Two insertions that take every node of the promise: into a higher tree, and far over
 * a lone entry.
 */
static void test_nodes_exact(void)
{
	static const struct {
		unsigned long first, second;
	} cases[] = { { ULONG_MAX, 1 }, { 0, ULONG_MAX }, { 0, ULONG_MAX / TREE_SLOTS } };
	static struct fixture f;
	int item;

	setup(&f, 1, 100);
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t needed = tree_nodes_needed(cases[i].second, 1);
		struct tree_walk walk;

		fill(&f, TREE_MAX_NODES);
		tree_walk_init_locked(&walk, &f.tree, &f.pool);
		must(&f, !tree_insert_locked(&walk, cases[i].first, 0, &item, 0),
		     "case %u", i);
		unstash(&f, SIZE_MAX);
		fill(&f, TREE_MAX_NODES);
		stash_all_but(&f, needed);
		must(&f, !tree_insert_locked(&walk, cases[i].second, 0, &item, 0),
		     "case %u", i);
		must(&f, !f.pool.nr_free, "case %u: %zu of %zu nodes to spare", i,
		     f.pool.nr_free, needed);
		tree_delete_locked(&walk, cases[i].first);
		tree_delete_locked(&walk, cases[i].second);
		tree_pool_retire(&f.pool);
		unstash(&f, SIZE_MAX);
	}
	teardown(&f);
	ok(!f.failed, "tree_nodes_needed() nodes are not too many");
}

/*
 * The height follows the highest index up and down, and marks of a lone entry survive
 * it.
 */
static void test_height(void)
{
	static struct fixture f;
	int low, high;
	void *entry = &low, *far = &high;

	setup(&f, 1, 100);
	for (unsigned shift = 0; shift < 64; shift++) {
		struct tree_walk walk;
		unsigned long index = 1ul << shift;
		size_t nr_free;

		fill(&f, TREE_MAX_NODES);
		nr_free = f.pool.nr_free;
		tree_walk_init_locked(&walk, &f.tree, &f.pool);
		must(&f,
		     !tree_insert_locked(&walk, 0, 0, entry, 1u << TREE_MARK_WRITEBACK),
		     "0");
		must(&f, f.pool.nr_free == nr_free, "a lone entry at 0 takes nodes");
		must(&f, !tree_insert_locked(&walk, index, 0, far, 0), "%#lx", index);
		nr_free -= f.pool.nr_free;
		must(&f, nr_free == 2 * (shift / TREE_SHIFT) + 1, "%#lx takes %zu nodes",
		     index, nr_free);
		must(&f,
		     tree_load(&f.tree, 0) == entry && tree_load(&f.tree, index) == far,
		     "!");
		must(&f, tree_get_mark(&f.tree, 0, TREE_MARK_WRITEBACK),
		     "lost when it grew");
		must(&f, !tree_get_mark(&f.tree, index, TREE_MARK_WRITEBACK),
		     "mark out of air");
		must(&f, tree_delete_locked(&walk, index) == far, "%#lx", index);
		must(&f, tree_get_mark(&f.tree, 0, TREE_MARK_WRITEBACK),
		     "lost when it shrank");
		must(&f, !tree_get_mark(&f.tree, 0, TREE_MARK_DIRTY), "mark out of air");
		must(&f, tree_check(&f.tree, NULL) == 1, "2 ** %u", shift);
		for (struct tree_node *node = f.pool.retired; node; node = node->next)
			nr_free--;
		must(&f, nr_free == 0, "%zu nodes are left", nr_free);
		tree_pool_retire(&f.pool);
		must(&f, tree_delete_locked(&walk, 0) == entry, "0");
		must(&f, tree_check(&f.tree, NULL) == 0 && !tree_get_mark(&f.tree, 0, 1),
		     "left");
	}
	teardown(&f);
	ok(!f.failed, "the tree grows and shrinks with its highest index");
}

/* One entry of every order, first and last of its kind, and all around it refused. */
static void test_orders(void)
{
	static struct fixture f;
	int item;

	setup(&f, 1, 100);
	for (unsigned order = 0; order < 64; order++) {
		for (unsigned last = 0; last < 2; last++) {
			unsigned long size = 1ul << order, index = last ? -size : 0,
				      found;
			struct tree_walk walk;
			void *entry;

			fill(&f, TREE_MAX_NODES);
			tree_walk_init_locked(&walk, &f.tree, &f.pool);
			must(&f, !tree_insert_locked(&walk, index, order, &item, 1), "%u",
			     order);
			must(&f, tree_check(&f.tree, NULL) == 1, "order %u", order);
			must(&f, tree_load(&f.tree, index) == &item, "order %u", order);
			must(&f, tree_load(&f.tree, index + size / 2) == &item,
			     "order %u", order);
			must(&f, tree_load(&f.tree, index + size - 1) == &item,
			     "order %u", order);
			must(&f, !tree_load(&f.tree, index + size), "order %u", order);
			must(&f, !tree_load(&f.tree, index - 1), "order %u", order);
			for (unsigned o = 0; o < 64; o++) {
				unsigned long at = index + size - 1;

				must(&f,
				     tree_insert_locked(&walk, at >> o << o, o, &f, 0) ==
					     -EEXIST,
				     "order %u over %u", o, order);
			}
			must(&f,
			     tree_load_batch(&f.tree, index + size / 2, ULONG_MAX, &entry,
					     &found,
					     1) == (index + size / 2 < ULONG_MAX) &&
				     (index + size / 2 == ULONG_MAX || found == index),
			     "order %u", order);
			must(&f,
			     tree_get_mark(&f.tree, index + size - 1, TREE_MARK_DIRTY),
			     "%u", order);
			must(&f, tree_delete_locked(&walk, index + size - 1) == &item,
			     "%u", order);
			must(&f, tree_check(&f.tree, NULL) == 0, "order %u", order);
			tree_pool_retire(&f.pool);
		}
	}
	teardown(&f);
	ok(!f.failed, "entries of every order");
}

/* 512 pages: what the batched page cache stores at once. */
static void test_pmd(void)
{
	static struct fixture f;
	struct tree_walk walk;
	size_t nr_free;
	int item;

	setup(&f, 1, 100);
	fill(&f, TREE_MAX_NODES);
	nr_free = f.pool.nr_free;
	tree_walk_init_locked(&walk, &f.tree, &f.pool);
	must(&f, !tree_insert_locked(&walk, 512, 9, &item, 0), "order 9");
	ok(nr_free - f.pool.nr_free == 1, "512 pages at once take one node");
	must(&f, tree_delete_locked(&walk, 600) == &item, "600");
	tree_pool_retire(&f.pool);
	teardown(&f);
	ok(!f.failed, "and give them back");
}

/* No memory: what was got stays usable, and nothing is lost. */
static void test_slab(void)
{
	struct tree_slab slab;
	struct tree_pool pool;

	if (tree_slab_init(&slab, 0))
		bail("no memory");
	slab.fail_after = 1;
	tree_pool_init(&pool, &slab);
	ok(tree_pool_fill(&pool, 1) == 0, "the first chunk is given");
	ok(tree_pool_fill(&pool, slab.nr_nodes + 1) == -ENOMEM, "the second is not");
	ok(tree_pool_fill(&pool, slab.nr_nodes) == 0, "all of the first can be had");
	ok(slab.nr_free == 0 && pool.nr_free == slab.nr_nodes, "and is in the pool");
	ok(tree_pool_fill(&pool, SIZE_MAX) == -ENOMEM,
	   "more than there can be is not given");
	tree_pool_destroy(&pool);
	ok(slab.nr_free == slab.nr_nodes, "a pool gives all back");
	ok(tree_nodes_needed(0, 0) == 0, "no pages need no nodes");
	tree_slab_destroy(&slab);
	ok(slab.nr_nodes == 0, "and a slab");
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)clock_now_ns();

	printf("# seed %" PRIu64 ", %u slots\n", seed, TREE_SLOTS);
	cache_rcu_register_thread();
	test_slab();
	test_height();
	test_orders();
	test_pmd();
	test_random(seed, 1);
	test_random(seed + 1, 2);
	test_random(seed + 2, NR_WINDOWS);
	test_exhaustion(seed + 3);
	test_nodes_needed(seed + 4);
	test_nodes_exact();
	cache_rcu_unregister_thread();
	return done();
}
