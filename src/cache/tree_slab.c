/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where nodes come from and where they go to: slab, pools, grace periods. */
#include "cache/tree_node.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* What a pool takes from the slab at once: enough for one fault of 512 single pages. */
#define POOL_REFILL 32
/* Nodes carved at once when a slab runs dry: 72 KiB with nodes of 64 slots. */
#define CHUNK_NODES 128

struct tree_chunk {
	struct tree_chunk *next;
	size_t nr_nodes;
	struct tree_node nodes[] __cacheline_aligned;
};

/* Carves at least @nr_nodes nodes; the first touch puts them on the caller's node. */
static int slab_grow_locked(struct tree_slab *slab, size_t nr_nodes)
{
	struct tree_chunk *chunk;
	struct tree_node **stack;
	size_t bytes, align = CACHELINE_SIZE;

	if (!slab->fail_after)
		return -ENOMEM;
	if (__builtin_mul_overflow(nr_nodes, sizeof(struct tree_node), &bytes) ||
	    __builtin_add_overflow(bytes, sizeof(*chunk) + PMD_SIZE, &bytes))
		return -ENOMEM;
	bytes -= PMD_SIZE;
	if (bytes >= PMD_SIZE) {
		align = PMD_SIZE;
		bytes = align_up(bytes, PMD_SIZE);
	}
	chunk = aligned_alloc(align, bytes);
	if (!chunk)
		return -ENOMEM;
	if (align == PMD_SIZE)
		madvise(chunk, bytes, MADV_HUGEPAGE);
	memset(chunk, 0, bytes);
	chunk->nr_nodes = (bytes - sizeof(*chunk)) / sizeof(struct tree_node);
	stack = realloc(slab->free, (slab->nr_nodes + chunk->nr_nodes) * sizeof(*stack));
	if (!stack) {
		free(chunk);
		return -ENOMEM;
	}
	slab->free = stack;
	if (slab->fail_after != UINT64_MAX)
		slab->fail_after--;
	chunk->next = slab->chunks;
	slab->chunks = chunk;
	/* From the last to the first, so that the first are taken first. */
	for (size_t i = chunk->nr_nodes; i--;) {
		chunk->nodes[i].slab = slab;
		slab->free[slab->nr_free++] = &chunk->nodes[i];
		node_poison(&chunk->nodes[i]);
	}
	slab->nr_nodes += chunk->nr_nodes;
	return 0;
}

int tree_slab_init(struct tree_slab *slab, size_t nr_nodes)
{
	struct lock_stats stats = { 0 };
	sigset_t all, old;
	int err = 0;

	memset(slab, 0, sizeof(*slab));
	slab->fail_after = UINT64_MAX;
	lock_init(&slab->lock);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	urcu_memb_get_default_call_rcu_data();
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (nr_nodes) {
		lock_acquire(&slab->lock, &stats);
		err = slab_grow_locked(slab, nr_nodes);
		lock_release(&slab->lock);
	}
	return err;
}

void tree_slab_destroy(struct tree_slab *slab)
{
	cache_rcu_barrier();
	while (slab->chunks) {
		struct tree_chunk *chunk = slab->chunks;

		slab->chunks = chunk->next;
		for (size_t i = 0; i < chunk->nr_nodes; i++)
			node_unpoison(&chunk->nodes[i]);
		free(chunk);
	}
	free(slab->free);
	slab->free = NULL;
	slab->nr_free = slab->nr_nodes = 0;
}

/* Puts the list of nodes from @node on back into @slab. */
static void slab_put(struct tree_slab *slab, struct tree_node *node,
		     struct lock_stats *stats)
{
	lock_acquire(&slab->lock, stats);
	for (; node; node = node->next)
		slab->free[slab->nr_free++] = node;
	lock_release(&slab->lock);
}

void tree_pool_init(struct tree_pool *pool, struct tree_slab *slab)
{
	memset(pool, 0, sizeof(*pool));
	pool->slab = slab;
}

void tree_pool_destroy(struct tree_pool *pool)
{
	tree_pool_retire(pool);
	slab_put(pool->slab, pool->free, &pool->stats);
	pool->free = NULL;
	pool->nr_free = 0;
}

int tree_pool_refill(struct tree_pool *pool, size_t nr)
{
	struct tree_slab *slab = pool->slab;
	size_t want = nr > POOL_REFILL ? nr : POOL_REFILL;
	int err = 0;

	lock_acquire(&slab->lock, &pool->stats);
	if (pool->nr_free + slab->nr_free < nr) {
		size_t missing = nr - pool->nr_free - slab->nr_free;

		err = slab_grow_locked(slab,
				       missing > CHUNK_NODES ? missing : CHUNK_NODES);
	}
	while (!err && pool->nr_free < want && slab->nr_free) {
		struct tree_node *node = slab->free[--slab->nr_free];

		node->next = pool->free;
		pool->free = node;
		pool->nr_free++;
	}
	lock_release(&slab->lock);
	return err;
}

/* A batch of retired nodes without readers: empties what shrinking left in them. */
static void nodes_free_rcu(struct rcu_head *rcu)
{
	struct tree_node *first = container_of(rcu, struct tree_node, rcu);
	struct lock_stats stats = { 0 };

	cache_rcu_callback_begin(rcu);
	for (struct tree_node *node = first; node; node = node->next) {
		slot_clear(&node->slots[0]);
		for (enum tree_mark mark = 0; mark < TREE_NR_MARKS; mark++)
			node_set_marks(node, mark, 0);
		node_poison(node);
	}
	slab_put(first->slab, first, &stats);
	cache_rcu_callback_end();
}

void tree_pool_retire(struct tree_pool *pool)
{
	struct tree_node *first = pool->retired;

	if (!first)
		return;
	pool->retired = NULL;
	cache_call_rcu(&first->rcu, nodes_free_rcu);
}

size_t tree_nodes_needed(unsigned long index, unsigned long nr_pages)
{
	unsigned long last = index + nr_pages - 1;
	unsigned level, top;
	size_t nr = 0;

	if (!nr_pages)
		return 0;
	/* What the range touches, up to a head that spans it, if all is missing. */
	top = ilog2_u64(nr_pages) / TREE_SHIFT;
	for (level = 0; level < top || !level_spans(level, last); level++) {
		unsigned long nodes = (last >> level_shift(level) >> TREE_SHIFT) -
				      (index >> level_shift(level) >> TREE_SHIFT);

		nr += nodes + 1;
	}
	nr++;
	/*
	 * In a lower tree, those over what is there already, up to that head. In a
	 * higher tree, those between its head and ours, through which the range is
	 * reached.
	 */
	return nr +
	       (2 * level >= TREE_MAX_DEPTH - 2 ? level : TREE_MAX_DEPTH - 2 - level);
}
