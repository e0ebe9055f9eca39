/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside the tree: what a node is and what a slot holds. For tree*.c only.
 *
 * A slot, and the head of the tree, is one word:
 *
 *	0			empty
 *	entry			an entry (two low bits clear)
 *	entry | 2		a sibling: the slot is covered by an entry of a lower slot
 *	node | level << 1 | 1	a child node, aligned to 64 bytes, and the level it is at
 *
 * A node at level L has slots of 2^(L * TREE_SHIFT) indexes each; leaves are at level
 * 0. The levels of a path count down by one, so a lookup learns all of them from the
 * head.
 *
 * A sibling is a copy of the entry rather than a reference to its first slot: a lookup
 * reads one word and is done. A reference read before, and the slot it names read
 * after, a deletion and an insertion would give an entry that never was at that index.
 * Writers, who know that nothing moves, find the first slot and the number of slots by
 * the alignment of entries, in at most TREE_SHIFT looks each (see tree_first_slot()).
 *
 * Invariants, all checked by tree_check(), true whenever tree_lock is free:
 *   - no node is empty;
 *   - the head is not a node whose only child is a node in slot 0, nor a leaf whose
 *     only entry is in slot 0 (it is that node, or that entry, instead);
 *   - a mark of a slot is set only where an entry starts, and then if that entry has
 *     it, or where a child is, and then if any mark of the child is set;
 *   - a node that is on no tree has empty slots and no marks.
 */
#ifndef CACHE_TREE_NODE_H
#define CACHE_TREE_NODE_H

#include <assert.h>

#if defined(__SANITIZE_ADDRESS__)
#define TREE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TREE_ASAN 1
#endif
#endif
#ifdef TREE_ASAN
#include <sanitizer/asan_interface.h>
#endif

#include "cache/tree.h"

#define TAG_NODE    ((uintptr_t)1)
#define TAG_SIBLING ((uintptr_t)2)
#define TAG_KIND    ((uintptr_t)3)
#define TAG_MASK    ((uintptr_t)CACHELINE_SIZE - 1)
#define TAG_LEVELS  32U /* five bits */

/* Out of the way of the few instructions that most calls take. */
#define __noinline __attribute__((noinline))

static_assert(TREE_SHIFT >= 2 && TREE_SHIFT <= 6, "marks of a node are one word");
static_assert(TREE_MAX_DEPTH <= TAG_LEVELS, "a level fits into its tag");
static_assert(offsetof(struct tree_node, slots) == CACHELINE_SIZE,
	      "slots fill whole cache lines, and what lookups do not read has its own");

static inline bool slot_is_node(uintptr_t slot)
{
	return slot & TAG_NODE;
}

static inline bool slot_is_sibling(uintptr_t slot)
{
	return (slot & TAG_KIND) == TAG_SIBLING;
}

static inline struct tree_node *slot_to_node(uintptr_t slot)
{
	return (struct tree_node *)(slot & ~TAG_MASK);
}

static inline unsigned slot_to_level(uintptr_t slot)
{
	return (unsigned)(slot & TAG_MASK) >> 1;
}

/* The entry that covers the index, of an entry or a sibling. */
static inline void *slot_to_entry(uintptr_t slot)
{
	return (void *)(slot & ~TAG_SIBLING);
}

static inline uintptr_t node_to_slot(const struct tree_node *node)
{
	return (uintptr_t)node | (uintptr_t)node->level << 1 | TAG_NODE;
}

/* Under tree_lock: nobody else writes. */
static inline uintptr_t slot_get_locked(void *const _Atomic *slot)
{
	return (uintptr_t)atomic_load_explicit((void *_Atomic *)slot,
					       memory_order_relaxed);
}

/* Under RCU. acquire: pairs with the release in slot_publish() */
static inline uintptr_t slot_get(void *const _Atomic *slot)
{
	return (uintptr_t)atomic_load_explicit((void *_Atomic *)slot,
					       memory_order_acquire);
}

/*
 * Makes an entry, and all that was written to it before, or a node with all that hangs
 * from it, reachable. release: pairs with the acquire in slot_get()
 */
static inline void slot_publish(void *_Atomic *slot, uintptr_t value)
{
	atomic_store_explicit(slot, (void *)value, memory_order_release);
}

/*
 * Empties a slot. relaxed: there is nothing to see behind the word; a grace period
 * comes before whatever happens to what was there.
 */
static inline void slot_clear(void *_Atomic *slot)
{
	atomic_store_explicit(slot, NULL, memory_order_relaxed);
}

static inline uint64_t node_marks(const struct tree_node *node, enum tree_mark mark)
{
	return atomic_load_explicit(&((struct tree_node *)node)->marks[mark],
				    memory_order_relaxed);
}

/* No read-modify-write: tree_lock keeps other writers out, readers need a whole word. */
static inline void node_set_marks(struct tree_node *node, enum tree_mark mark,
				  uint64_t marks)
{
	atomic_store_explicit(&node->marks[mark], marks, memory_order_relaxed);
}

static inline bool node_is_marked(const struct tree_node *node, unsigned offset,
				  enum tree_mark mark)
{
	return node_marks(node, mark) >> offset & 1;
}

static inline uint32_t head_marks(const struct tree *tree)
{
	return atomic_load_explicit(&((struct tree *)tree)->head_marks,
				    memory_order_relaxed);
}

static inline void head_set_marks(struct tree *tree, uint32_t marks)
{
	atomic_store_explicit(&tree->head_marks, marks, memory_order_relaxed);
}

/* Indexes below @level are this many bits of an index. */
static inline unsigned level_shift(unsigned level)
{
	return level * TREE_SHIFT;
}

/* The slot of @index in a node at @level. */
static inline unsigned level_offset(unsigned level, unsigned long index)
{
	return (index >> level_shift(level)) & TREE_MASK;
}

/* Whether indexes that differ in the bits of @difference meet in a node at @level. */
static inline bool level_spans(unsigned level, unsigned long difference)
{
	return difference >> level_shift(level) < TREE_SLOTS;
}

/*
 * Nobody may look at the slots of a node in the slab or in a pool: so AddressSanitizer
 * reports a reader that stays in a node for longer than a grace period.
 */
static inline void node_poison(struct tree_node *node)
{
#ifdef TREE_ASAN
	__asan_poison_memory_region(node->slots, sizeof(node->slots));
#else
	(void)node;
#endif
}

static inline void node_unpoison(struct tree_node *node)
{
#ifdef TREE_ASAN
	__asan_unpoison_memory_region(node->slots, sizeof(node->slots));
#else
	(void)node;
#endif
}

/* Asks for all cache lines of a node that will be written soon. */
static inline void node_prefetch(const struct tree_node *node)
{
	for (size_t at = 0; at < sizeof(*node); at += CACHELINE_SIZE)
		__builtin_prefetch((const char *)node + at, 1);
}

/* Takes a node out of the pool, which must have one. It is empty and has no parent. */
static inline struct tree_node *tree_pool_pop(struct tree_pool *pool, unsigned level)
{
	struct tree_node *node = pool->free;

	/* The next one may have to come from far away: it has the time of this one. */
	if (node->next)
		node_prefetch(node->next);
	pool->free = node->next;
	pool->nr_free--;
	node_unpoison(node);
	node->parent = NULL;
	node->level = (uint8_t)level;
	return node;
}

/* Takes @node, which no slot leads to any more, out of use once readers have left it. */
static inline void tree_pool_push_retired(struct tree_pool *pool, struct tree_node *node)
{
	node->next = pool->retired;
	pool->retired = node;
}

/*
 * The slot where the entry starts that covers slot @offset of @node. Entries are
 * aligned, so the first slot that is no sibling, among @offset with ever more low bits
 * cleared, is it. tree_lock.
 */
static inline unsigned tree_first_slot(const struct tree_node *node, unsigned offset)
{
	for (unsigned low = 1; slot_is_sibling(slot_get_locked(&node->slots[offset]));
	     low <<= 1)
		offset &= ~low;
	return offset;
}

/* How many slots the entry has that starts at slot @offset. tree_lock. */
static inline unsigned tree_nr_slots(const struct tree_node *node, unsigned offset)
{
	unsigned nr = 1;

	while (offset + nr < TREE_SLOTS &&
	       slot_is_sibling(slot_get_locked(&node->slots[offset + nr])))
		nr <<= 1;
	return nr;
}

/* Whether the entry at @index is the head itself. */
static inline bool tree_head_is_entry(const struct tree *tree, unsigned long index)
{
	uintptr_t head = slot_get(&tree->head);

	return !index && head && !slot_is_node(head);
}

#endif
