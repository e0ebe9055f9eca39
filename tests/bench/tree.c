/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tree alone costs, in nanoseconds per page, against liburcu's lock-free hash
 * table (rculfhash, with as many buckets as pages, so that it never resizes) and a
 * plain array.
 *
 *	tests/bench/tree [--rounds N] [--check]
 *
 * Every figure is the median over rounds; a round measures each container once, in an
 * order that flips from round to round. As a page cache does it, one by one means for
 * each page to acquire the lock, start at the head, insert or delete, release; and 512
 * at a time to do that once for 512 pages. Lookups are each in a read side section of
 * their own. The array is the limit: it does the same locking, and then one load or
 * store. The hash table needs no lock.
 *
 * Exit status: 0; 1 with --check when insertion 512 at a time is not REQUIRED times
 * cheaper per page than one by one; 2 usage; 3 no memory.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/parse.h"
#include "cache/rcu.h"
#include "cache/tree.h"

#include <urcu/rculfhash.h>

#define NR_PAGES   131072u
#define BATCH	   512u
#define MAX_ROUNDS 1001
#define REQUIRED   5.0

/*
 * In the order in which a round can run them: what is inserted is found, and then
 * deleted.
 */
enum operation {
	INSERT_ONE,
	LOOKUP_ASCENDING,
	LOOKUP_RANDOM,
	DELETE_ONE,
	INSERT_BATCH,
	LOOKUP_BATCH,
	DELETE_BATCH,
	INSERT_FOLIO,
	LOOKUP_FOLIO,
	DELETE_FOLIO,
	NR_OPERATIONS,
};

static const char *const operations[NR_OPERATIONS] = {
	[INSERT_ONE] = "insert one by one",
	[LOOKUP_ASCENDING] = "look up, ascending",
	[LOOKUP_RANDOM] = "look up, random",
	[DELETE_ONE] = "delete one by one",
	[INSERT_BATCH] = "insert 512 at a time",
	[LOOKUP_BATCH] = "look up 512 at a time",
	[DELETE_BATCH] = "delete 512 at a time",
	[INSERT_FOLIO] = "insert a 512-page entry",
	[LOOKUP_FOLIO] = "look up in those, random",
	[DELETE_FOLIO] = "delete a 512-page entry",
};

struct page {
	struct cds_lfht_node node;
	unsigned long index;
};

struct bench {
	struct page *pages;
	uint32_t *permutation;
	struct lock_stats stats;
	struct tree tree;
	struct tree_slab slab;
	struct tree_pool pool;
	struct cds_lfht *hash;
	struct lock array_lock;
	void *_Atomic *array;
};

/*
 * Times one operation on all pages; returns the pages that it found, stored or took
 * out.
 */
struct container {
	const char *name;
	unsigned long (*run)(struct bench *b, enum operation operation, uint64_t *ns);
};

static _Noreturn void die(int status, const char *what)
{
	fprintf(stderr, "tests/bench/tree: %s\n", what);
	exit(status);
}

/*
 * The time that this thread has run: all that is measured runs in it, and what else
 * runs on the machine then shows only as far as it shares caches.
 */
static uint64_t cpu_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/*
 * The tree.
 */

static unsigned long tree_insert_run(struct bench *b, unsigned batch, unsigned order)
{
	unsigned long done = 0;

	for (unsigned long at = 0; at < NR_PAGES; at += batch) {
		struct tree_walk walk;

		if (tree_pool_fill(&b->pool, batch == 1 ? TREE_MAX_NODES :
							  tree_nodes_needed(at, batch)))
			die(3, "no memory");
		lock_acquire(&b->tree.lock, &b->stats);
		tree_walk_init_locked(&walk, &b->tree, &b->pool);
		for (unsigned long i = at; i < at + batch; i += 1ul << order)
			done += !tree_insert_locked(&walk, i, order, &b->pages[i], 0);
		lock_release(&b->tree.lock);
	}
	return done << order;
}

static unsigned long tree_delete_run(struct bench *b, unsigned batch, unsigned order)
{
	unsigned long done = 0;

	for (unsigned long at = 0; at < NR_PAGES; at += batch) {
		struct tree_walk walk;

		lock_acquire(&b->tree.lock, &b->stats);
		tree_walk_init_locked(&walk, &b->tree, &b->pool);
		for (unsigned long i = at; i < at + batch; i += 1ul << order)
			done += tree_delete_locked(&walk, i) == &b->pages[i];
		lock_release(&b->tree.lock);
		tree_pool_retire(&b->pool);
	}
	return done << order;
}

static unsigned long tree_lookup_run(struct bench *b, bool random, unsigned order)
{
	unsigned long done = 0;

	for (unsigned long i = 0; i < NR_PAGES; i++) {
		unsigned long index = random ? b->permutation[i] : i;

		cache_rcu_read_lock();
		done += tree_load(&b->tree, index) == &b->pages[index >> order << order];
		cache_rcu_read_unlock();
	}
	return done;
}

static unsigned long tree_lookup_batch_run(struct bench *b)
{
	unsigned long done = 0, indexes[BATCH];
	void *entries[BATCH];

	for (unsigned long at = 0; at < NR_PAGES; at += BATCH) {
		cache_rcu_read_lock();
		done += tree_load_batch(&b->tree, at, at + BATCH, entries, indexes,
					BATCH);
		cache_rcu_read_unlock();
	}
	return done;
}

static unsigned long tree_run(struct bench *b, enum operation operation, uint64_t *ns)
{
	uint64_t start = cpu_now_ns();
	unsigned long done = 0;

	switch (operation) {
	case INSERT_ONE:
		done = tree_insert_run(b, 1, 0);
		break;
	case INSERT_BATCH:
		done = tree_insert_run(b, BATCH, 0);
		break;
	case INSERT_FOLIO:
		done = tree_insert_run(b, BATCH, PMD_ORDER);
		break;
	case LOOKUP_ASCENDING:
		done = tree_lookup_run(b, false, 0);
		break;
	case LOOKUP_RANDOM:
		done = tree_lookup_run(b, true, 0);
		break;
	case LOOKUP_BATCH:
		done = tree_lookup_batch_run(b);
		break;
	case LOOKUP_FOLIO:
		done = tree_lookup_run(b, true, PMD_ORDER);
		break;
	case DELETE_ONE:
		done = tree_delete_run(b, 1, 0);
		break;
	case DELETE_BATCH:
		done = tree_delete_run(b, BATCH, 0);
		break;
	case DELETE_FOLIO:
		done = tree_delete_run(b, BATCH, PMD_ORDER);
		break;
	case NR_OPERATIONS:
		break;
	}
	*ns = cpu_now_ns() - start;
	cache_rcu_barrier();
	return done;
}

/*
 * The hash table, at its best: an index is its own hash, so every page has a bucket of
 * its own, and neighbours have neighbours. Its entries are pages only: nothing is done
 * for those of 512 pages.
 */

static int page_match(struct cds_lfht_node *node, const void *key)
{
	return container_of(node, struct page, node)->index ==
	       *(const unsigned long *)key;
}

static struct page *hash_find(struct bench *b, unsigned long index)
{
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;

	cds_lfht_lookup(b->hash, index, page_match, &index, &iter);
	node = cds_lfht_iter_get_node(&iter);
	return node ? container_of(node, struct page, node) : NULL;
}

static unsigned long hash_insert_run(struct bench *b, unsigned batch)
{
	unsigned long done = 0;

	for (unsigned long at = 0; at < NR_PAGES; at += batch) {
		cache_rcu_read_lock();
		for (unsigned long i = at; i < at + batch; i++) {
			struct cds_lfht_node *node = &b->pages[i].node;

			cds_lfht_node_init(node);
			done += cds_lfht_add_unique(b->hash, i, page_match, &i, node) ==
				node;
		}
		cache_rcu_read_unlock();
	}
	return done;
}

static unsigned long hash_delete_run(struct bench *b, unsigned batch)
{
	unsigned long done = 0;

	for (unsigned long at = 0; at < NR_PAGES; at += batch) {
		cache_rcu_read_lock();
		for (unsigned long i = at; i < at + batch; i++) {
			struct page *page = hash_find(b, i);

			done += page && !cds_lfht_del(b->hash, &page->node);
		}
		cache_rcu_read_unlock();
	}
	return done;
}

static unsigned long hash_lookup_run(struct bench *b, bool random, unsigned batch)
{
	unsigned long done = 0;

	for (unsigned long at = 0; at < NR_PAGES; at += batch) {
		cache_rcu_read_lock();
		for (unsigned long i = at; i < at + batch; i++) {
			unsigned long index = random ? b->permutation[i] : i;

			done += hash_find(b, index) == &b->pages[index];
		}
		cache_rcu_read_unlock();
	}
	return done;
}

static unsigned long hash_run(struct bench *b, enum operation operation, uint64_t *ns)
{
	uint64_t start = cpu_now_ns();
	unsigned long done = 0;

	switch (operation) {
	case INSERT_ONE:
	case INSERT_BATCH:
		done = hash_insert_run(b, operation == INSERT_ONE ? 1 : BATCH);
		break;
	case LOOKUP_ASCENDING:
	case LOOKUP_RANDOM:
		done = hash_lookup_run(b, operation == LOOKUP_RANDOM, 1);
		break;
	case LOOKUP_BATCH:
		done = hash_lookup_run(b, false, BATCH);
		break;
	case DELETE_ONE:
	case DELETE_BATCH:
		done = hash_delete_run(b, operation == DELETE_ONE ? 1 : BATCH);
		break;
	case INSERT_FOLIO:
	case LOOKUP_FOLIO:
	case DELETE_FOLIO:
	case NR_OPERATIONS:
		*ns = 0;
		return NR_PAGES;
	}
	*ns = cpu_now_ns() - start;
	/* Before its nodes are used again. */
	urcu_memb_synchronize_rcu();
	return done;
}

/*
 * The array.
 */

static unsigned long array_change_run(struct bench *b, unsigned batch, bool insert)
{
	unsigned long done = 0;

	for (unsigned long at = 0; at < NR_PAGES; at += batch) {
		lock_acquire(&b->array_lock, &b->stats);
		for (unsigned long i = at; i < at + batch; i++) {
			void *old =
				atomic_load_explicit(&b->array[i], memory_order_relaxed);

			done += old == (insert ? NULL : &b->pages[i]);
			atomic_store_explicit(&b->array[i], insert ? &b->pages[i] : NULL,
					      memory_order_release);
		}
		lock_release(&b->array_lock);
	}
	return done;
}

static unsigned long array_lookup_run(struct bench *b, bool random, unsigned batch)
{
	unsigned long done = 0;

	for (unsigned long at = 0; at < NR_PAGES; at += batch) {
		cache_rcu_read_lock();
		for (unsigned long i = at; i < at + batch; i++) {
			unsigned long index = random ? b->permutation[i] : i;

			done += atomic_load_explicit(&b->array[index],
						     memory_order_acquire) ==
				&b->pages[index];
		}
		cache_rcu_read_unlock();
	}
	return done;
}

static unsigned long array_run(struct bench *b, enum operation operation, uint64_t *ns)
{
	uint64_t start = cpu_now_ns();
	unsigned long done = 0;

	switch (operation) {
	case INSERT_ONE:
	case DELETE_ONE:
		done = array_change_run(b, 1, operation == INSERT_ONE);
		break;
	case INSERT_BATCH:
	case INSERT_FOLIO:
	case DELETE_BATCH:
	case DELETE_FOLIO:
		done = array_change_run(
			b, BATCH, operation == INSERT_BATCH || operation == INSERT_FOLIO);
		break;
	case LOOKUP_ASCENDING:
	case LOOKUP_RANDOM:
	case LOOKUP_FOLIO:
		done = array_lookup_run(b, operation != LOOKUP_ASCENDING, 1);
		break;
	case LOOKUP_BATCH:
		done = array_lookup_run(b, false, BATCH);
		break;
	case NR_OPERATIONS:
		break;
	}
	*ns = cpu_now_ns() - start;
	return done;
}

/*
 * Rounds and the table.
 */

static const struct container containers[] = {
	{ "tree", tree_run },
	{ "rculfhash", hash_run },
	{ "array", array_run },
};
#define NR_CONTAINERS ARRAY_SIZE(containers)

static uint64_t samples[NR_CONTAINERS][NR_OPERATIONS][MAX_ROUNDS]; /* ns for all pages */

static void bench_init(struct bench *b)
{
	uint64_t state = 1;

	memset(b, 0, sizeof(*b));
	b->pages = calloc(NR_PAGES, sizeof(*b->pages));
	b->permutation = calloc(NR_PAGES, sizeof(*b->permutation));
	b->array = calloc(NR_PAGES, sizeof(*b->array));
	b->hash = cds_lfht_new_flavor(NR_PAGES, NR_PAGES, NR_PAGES, 0, &urcu_memb_flavor,
				      NULL);
	if (!b->pages || !b->permutation || !b->array || !b->hash ||
	    tree_slab_init(&b->slab, NR_PAGES / TREE_SLOTS * 2))
		die(3, "no memory");
	tree_init(&b->tree);
	tree_pool_init(&b->pool, &b->slab);
	lock_init(&b->array_lock);
	for (uint32_t i = 0; i < NR_PAGES; i++) {
		uint32_t other;

		/* Knuth's MMIX generator; Fisher and Yates' shuffle, inside out. */
		state = state * 6364136223846793005u + 1442695040888963407u;
		other = (uint32_t)((state >> 32) % (i + 1));
		b->pages[i].index = i;
		b->permutation[i] = b->permutation[other];
		b->permutation[other] = i;
	}
}

static void bench_destroy(struct bench *b)
{
	tree_pool_destroy(&b->pool);
	tree_slab_destroy(&b->slab);
	cds_lfht_destroy(b->hash, NULL);
	free(b->array);
	free(b->permutation);
	free(b->pages);
}

/* One round; the first, into sample 0 again, is to warm up. */
static void run_round(struct bench *b, unsigned round)
{
	for (unsigned i = 0; i < NR_CONTAINERS; i++) {
		unsigned c = round % 2 ? (unsigned)NR_CONTAINERS - 1 - i : i;

		for (enum operation o = 0; o < NR_OPERATIONS; o++)
			if (containers[c].run(b, o, &samples[c][o][round]) != NR_PAGES)
				die(3, "a container lost pages");
	}
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* ns per page: the median, and half the distance of the quartiles from each other. */
static double summary(unsigned c, enum operation o, unsigned rounds, double *spread)
{
	uint64_t *s = samples[c][o];

	qsort(s, rounds, sizeof(*s), compare_u64);
	*spread = (double)(s[rounds * 3 / 4] - s[rounds / 4]) / 2 / NR_PAGES;
	return (double)s[rounds / 2] / NR_PAGES;
}

static double print_table(unsigned rounds)
{
	double one = 0, batch = 0;

	printf("ns per page, %u pages, median of %u rounds +- half quartile distance\n",
	       NR_PAGES, rounds);
	printf("%-26s", "");
	for (unsigned c = 0; c < NR_CONTAINERS; c++)
		printf("%20s", containers[c].name);
	putchar('\n');
	for (enum operation o = 0; o < NR_OPERATIONS; o++) {
		printf("%-26s", operations[o]);
		for (unsigned c = 0; c < NR_CONTAINERS; c++) {
			double spread, median = summary(c, o, rounds, &spread);

			if (median > 0)
				printf("%12.3f +-%5.3f", median, spread);
			else
				printf("%20s", "-");
			if (c == 0 && o == INSERT_ONE)
				one = median;
			if (c == 0 && o == INSERT_BATCH)
				batch = median;
		}
		putchar('\n');
	}
	return one / batch;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "rounds", required_argument, NULL, 'r' },
		{ "check", no_argument, NULL, 'c' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t rounds = 21;
	bool check = false;
	struct bench bench;
	double ratio;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'c')
			check = true;
		else if (c != 'r' || parse_uint(optarg, 7, MAX_ROUNDS, &rounds))
			die(2, "usage: tree [--rounds 7...1001] [--check]");
	}
	if (optind < argc)
		die(2, "usage: tree [--rounds 7...1001] [--check]");
	cache_rcu_register_thread();
	bench_init(&bench);
	run_round(&bench, 0);
	for (unsigned round = 0; round < rounds; round++)
		run_round(&bench, round);
	bench_destroy(&bench);
	cache_rcu_unregister_thread();
	ratio = print_table((unsigned)rounds);
	printf("insertion 512 at a time is %.1f times cheaper per page than one by one"
	       " (at least %.0f wanted)\n",
	       ratio, REQUIRED);
	return check && ratio < REQUIRED;
}
