/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The index of pages of one mapping: a radix tree as the kernel's XArray is one.
 *
 * Words:
 *   index   what is looked up; counts pages.
 *   entry   what is stored: a pointer with its two low bits clear (a folio).
 *   order   an entry covers the 2^order indexes of a naturally aligned range.
 *   node    TREE_SLOTS slots; a slot is empty, an entry, a child node or a sibling.
 *   sibling a further slot of an entry that covers several slots of one node: a store
 *           of 512 pages writes eight slots. It holds the entry too, so that a lookup
 *           reads nothing else.
 *   level   how far a node is above the leaves: a slot at level L is 2^(L * TREE_SHIFT)
 *           indexes.
 *   mark    a bit per slot and per node: "something below here is dirty".
 *   walk    a place in the tree that the next operation goes on from.
 *
 * Locking: tree_lock guards every change. Lookups take none: they run inside
 * rcu_read_lock(), see tree_load(). Nothing under tree_lock allocates: a walk takes its
 * nodes from a pool that the caller filled before, and a caller that runs dry drops the
 * lock, refills and tries again.
 */
#ifndef CACHE_TREE_H
#define CACHE_TREE_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bits.h"
#include "base/lock.h"
#include "cache/rcu.h"

#ifndef TREE_SHIFT
#define TREE_SHIFT 6 /* the unit test is built a second time with 2 */
#endif
#define TREE_SLOTS (1U << TREE_SHIFT)
#define TREE_MASK  ((unsigned long)TREE_SLOTS - 1)

enum tree_mark {
	TREE_MARK_DIRTY,
	TREE_MARK_WRITEBACK,
	TREE_NR_MARKS,
};

struct tree_chunk;

/* Here only for what is inline below; tree_node.h says what slots hold. */
struct tree_node {
	union {
		struct tree_node *parent; /* NULL: this is the head. tree_lock */
		struct rcu_head rcu;	  /* once unlinked: of the first of a batch */
	};
	uint8_t level;		/* tree_lock */
	uint8_t offset;		/* its slot in @parent. tree_lock */
	struct tree_node *next; /* in a pool: on one of its lists */
	struct tree_slab *slab; /* where it goes back to; never changes */
	/* tree_lock for changes, RCU for lookups: */
	_Atomic uint64_t marks[TREE_NR_MARKS]; /* a bit for each slot */
	void *_Atomic slots[TREE_SLOTS] __cacheline_aligned;
};

struct tree {
	/* tree_lock for changes, RCU for lookups: */
	void *_Atomic head;	     /* NULL, an entry at index 0, or a node */
	_Atomic uint32_t head_marks; /* of a lone entry at index 0, else 0 */
	/* tree_lock; apart from what lookups read. */
	struct lock lock __cacheline_aligned;
};

/*
 * All nodes of a page cache. Nodes are carved from chunks that are freed only with the
 * slab; a node that left a tree comes back here after a grace period (call_rcu).
 */
struct tree_slab {
	struct lock lock; /* guards all below; innermost, never under tree_lock */
	/* A stack rather than a list: who takes many does not wait for each in turn. */
	struct tree_node **free;
	size_t nr_free;	 /* nodes on it */
	size_t nr_nodes; /* nodes carved so far, free or in use */
	struct tree_chunk *chunks;
	/* For tests: this many more chunk allocations succeed; UINT64_MAX: all. */
	uint64_t fail_after;
};

/*
 * A worker's private stock of nodes, and the nodes its last deletions took out of a
 * tree.
 */
struct tree_pool {
	struct tree_slab *slab;
	struct tree_node *free;
	size_t nr_free;
	struct tree_node *retired; /* unlinked, readers may still be inside */
	struct lock_stats stats;   /* of the slab lock */
};

/* Nodes from the leaf to the head at the most. */
#define TREE_MAX_DEPTH ((64 + TREE_SHIFT - 1) / TREE_SHIFT)
/*
 * Nodes that one insertion of a single entry can need at the most: those above a lone
 * entry at index 0, which becomes a path of its own, and those above the new one; they
 * meet at the head.
 */
#define TREE_MAX_NODES (2 * TREE_MAX_DEPTH - 1)

/*
 * Carves and touches @nr_nodes nodes, in huge pages when they fill one. Starts
 * liburcu's thread, all signals blocked, so that the first tree_pool_retire() does not.
 * 0 or -ENOMEM.
 */
int tree_slab_init(struct tree_slab *slab, size_t nr_nodes);
/*
 * Waits for every grace period (rcu_barrier) first. All pools must have been given
 * back.
 */
void tree_slab_destroy(struct tree_slab *slab);

void tree_pool_init(struct tree_pool *pool, struct tree_slab *slab);
/* Gives all nodes back, the retired ones after a grace period: as tree_pool_retire(). */
void tree_pool_destroy(struct tree_pool *pool);
/* The slow half of tree_pool_fill(). */
int tree_pool_refill(struct tree_pool *pool, size_t nr);

/* Makes sure that @pool holds @nr nodes. Not under tree_lock. 0 or -ENOMEM. */
static inline int tree_pool_fill(struct tree_pool *pool, size_t nr)
{
	return likely(pool->nr_free >= nr) ? 0 : tree_pool_refill(pool, nr);
}

/*
 * How many nodes are enough to insert the @nr_pages pages from @index, whatever their
 * orders and whatever is in the tree. One page: from 10 nodes near the start to
 * TREE_MAX_NODES.
 */
size_t tree_nodes_needed(unsigned long index, unsigned long nr_pages);
/*
 * Hands the retired nodes to call_rcu. Not under tree_lock; by a thread registered with
 * RCU.
 */
void tree_pool_retire(struct tree_pool *pool);

void tree_init(struct tree *tree);

/*
 * The entry at @index, or NULL. Under rcu_read_lock() or tree_lock. Wait-free: one load
 * per level. Under RCU the answer was true at some moment during the call, and no more
 * is promised: the caller takes a reference and looks again (see mapping.h,
 * guarantees). What was written to an entry before it was inserted is seen by who finds
 * it.
 */
void *tree_load(const struct tree *tree, unsigned long index);

/*
 * Entries of [@start, @end) in ascending order, each once, at most @max of them:
 * entries[i] and the first index it covers, which may lie before @start. Returns how
 * many. Under rcu_read_lock() or tree_lock. Under RCU each entry was there at some
 * moment during the call, not all at one moment; one that is moved to another index
 * meanwhile may come with that.
 */
unsigned tree_load_batch(const struct tree *tree, unsigned long start, unsigned long end,
			 void **entries, unsigned long *indexes, unsigned max);

/*
 * The first index in [@start, @end) whose entry has @mark (@start, when an entry that
 * covers it began before); @end when there is none. tree_lock.
 */
unsigned long tree_find_marked(const struct tree *tree, unsigned long start,
			       unsigned long end, enum tree_mark mark);

/*
 * A walk keeps the node it is in, so that a run of ascending indexes costs one descent
 * a node. Valid only while tree_lock is held without a break, and while no other walk
 * inserts or deletes.
 */
struct tree_walk {
	struct tree *tree;
	struct tree_pool *pool;
	struct tree_node *node; /* where the last operation ended; NULL: at the head */
	void *_Atomic *slots;	/* of @node when it is a leaf */
	unsigned long nr_slots; /* TREE_SLOTS then, else 0 */
	unsigned long index; /* the first that @node spans when it is a leaf, else any */
};

void tree_walk_init_locked(struct tree_walk *walk, struct tree *tree,
			   struct tree_pool *pool);

/* What tree_insert_locked() does not do itself. */
int tree_insert_slow_locked(struct tree_walk *walk, unsigned long index, unsigned order,
			    void *entry, uint32_t marks);

/*
 * Stores @entry for the 2^@order indexes from @index (aligned to its order). @marks is
 * a set of 1 << enum tree_mark that the entry starts with. @order is less than 64.
 *
 * Returns 0;
 * -EEXIST: something is stored in that range;
 * -ENOMEM: the pool does not have the nodes this takes, at most TREE_MAX_NODES.
 * On an error nothing was changed. What takes one slot appears to lookups at once, what
 * takes several from its lowest index to its highest.
 *
 * Inline for the next page of a run, in the leaf where the walk is.
 */
static inline int tree_insert_locked(struct tree_walk *walk, unsigned long index,
				     unsigned order, void *entry, uint32_t marks)
{
	unsigned long offset = index - walk->index;
	void *_Atomic *slot;

	if (unlikely(order || marks || offset >= walk->nr_slots))
		return tree_insert_slow_locked(walk, index, order, entry, marks);
	slot = &walk->slots[offset];
	if (unlikely(atomic_load_explicit(slot, memory_order_relaxed)))
		return -EEXIST;
	/* release: pairs with the acquire of a lookup, see slot_get() */
	atomic_store_explicit(slot, entry, memory_order_release);
	return 0;
}

/*
 * Removes the whole entry that covers @index and returns it (NULL: none), its marks
 * with it. Emptied nodes go to the pool's retired list.
 */
void *tree_delete_locked(struct tree_walk *walk, unsigned long index);

/* -ENOENT when there is no entry at @index. */
int tree_set_mark_locked(struct tree *tree, unsigned long index, enum tree_mark mark);
int tree_clear_mark_locked(struct tree *tree, unsigned long index, enum tree_mark mark);
/* Under tree_lock; under RCU a hint, as of an entry that changes meanwhile. */
bool tree_get_mark(const struct tree *tree, unsigned long index, enum tree_mark mark);

/*
 * For tests: walks everything and checks parents, offsets, siblings and marks against
 * each other. Returns the number of entries, or -1 with a line on what is wrong in
 * @why.
 */
struct reason;
long tree_check(const struct tree *tree, struct reason *why);

#endif
