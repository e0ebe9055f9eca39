/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache/tree_node.h"

#include <errno.h>

#include "base/bits.h"

void tree_init(struct tree *tree)
{
	atomic_init(&tree->head, NULL);
	atomic_init(&tree->head_marks, 0);
	lock_init(&tree->lock);
}

/*
 * Marks. A bit of a node says that its slot, or something below it, has the mark.
 */

static __noinline void node_mark(struct tree_node *node, unsigned offset,
				 enum tree_mark mark)
{
	for (;;) {
		uint64_t old = node_marks(node, mark);

		node_set_marks(node, mark, old | UINT64_C(1) << offset);
		/* When the node had any, those above say so already. */
		if (old || !node->parent)
			return;
		offset = node->offset;
		node = node->parent;
	}
}

static __noinline void node_unmark(struct tree_node *node, unsigned offset,
				   enum tree_mark mark)
{
	for (;;) {
		uint64_t left = node_marks(node, mark) & ~(UINT64_C(1) << offset);

		node_set_marks(node, mark, left);
		if (left || !node->parent)
			return;
		offset = node->offset;
		node = node->parent;
	}
}

/*
 * Walks. The node of the walk, or one above it, or else the head, leads to any index.
 */

void tree_walk_init_locked(struct tree_walk *walk, struct tree *tree,
			   struct tree_pool *pool)
{
	walk->tree = tree;
	walk->pool = pool;
	walk->node = NULL;
	walk->slots = NULL;
	walk->nr_slots = 0;
	walk->index = 0;
}

static inline void walk_set(struct tree_walk *walk, struct tree_node *node,
			    unsigned long index)
{
	walk->node = node;
	walk->slots = node ? node->slots : NULL;
	walk->nr_slots = node && !node->level ? TREE_SLOTS : 0;
	walk->index = index & ~TREE_MASK;
}

/* The lowest node from the walk's on up, not below @level, that spans @index, or NULL. */
static inline struct tree_node *walk_climb(const struct tree_walk *walk,
					   unsigned long index, unsigned level)
{
	struct tree_node *node = walk->node;
	uintptr_t head;

	if (node) {
		unsigned long difference = index ^ walk->index;

		while (node &&
		       (node->level < level || !level_spans(node->level, difference)))
			node = node->parent;
		return node;
	}
	head = slot_get_locked(&walk->tree->head);
	if (!slot_is_node(head) || slot_to_level(head) < level ||
	    !level_spans(slot_to_level(head), index))
		return NULL;
	return slot_to_node(head);
}

/*
 * The deepest node on the way to @index, not below @level, and the slot of @index
 * there. NULL: the head is no node, or not one that spans @index and is at @level or
 * above.
 */
static inline struct tree_node *walk_descend(const struct tree_walk *walk,
					     unsigned long index, unsigned level,
					     uintptr_t *slot)
{
	struct tree_node *node = walk_climb(walk, index, level);
	unsigned at;

	if (!node)
		return NULL;
	for (at = node->level;; at--) {
		*slot = slot_get_locked(&node->slots[level_offset(at, index)]);
		if (at == level || !slot_is_node(*slot))
			return node;
		node = slot_to_node(*slot);
	}
}

/*
 * Insertion. What is new is built first and then published by one store, so that a lookup
 * finds all of a path or nothing.
 */

static __noinline void node_mark_all(struct tree_node *node, unsigned offset,
				     uint32_t marks)
{
	for (enum tree_mark mark = 0; marks >> mark; mark++)
		if (marks >> mark & 1)
			node_mark(node, offset, mark);
}

/* Stores @entry in @nr empty slots of @node. */
static inline void node_store(struct tree_node *node, unsigned offset, unsigned nr,
			      void *entry, uint32_t marks)
{
	if (unlikely(marks))
		node_mark_all(node, offset, marks);
	slot_publish(&node->slots[offset], (uintptr_t)entry);
	while (--nr)
		slot_publish(&node->slots[++offset], (uintptr_t)entry | TAG_SIBLING);
}

/* Hangs @child into an empty slot of @node. */
static void node_attach(struct tree_node *node, unsigned offset, struct tree_node *child)
{
	child->parent = node;
	child->offset = (uint8_t)offset;
	for (enum tree_mark mark = 0; mark < TREE_NR_MARKS; mark++)
		if (node_marks(child, mark))
			node_mark(node, offset, mark);
	slot_publish(&node->slots[offset], node_to_slot(child));
}

struct insertion {
	unsigned long index;
	void *entry;
	unsigned level;	   /* of the node that the entry goes into */
	unsigned nr_slots; /* that it takes there */
	uint32_t marks;
};

/*
 * A path of new nodes up to level @top, with only the new entry in it; returns its top.
 */
static struct tree_node *branch_build(struct tree_walk *walk, const struct insertion *ins,
				      unsigned top)
{
	struct tree_node *node = tree_pool_pop(walk->pool, ins->level);

	node_store(node, level_offset(ins->level, ins->index), ins->nr_slots, ins->entry,
		   ins->marks);
	walk_set(walk, node, ins->index);
	for (unsigned level = ins->level + 1; level <= top; level++) {
		struct tree_node *child = node;

		node = tree_pool_pop(walk->pool, level);
		node_attach(node, level_offset(level, ins->index), child);
	}
	return node;
}

/* A head at level @top over the present one, which is too small. Not published. */
static struct tree_node *head_grow(struct tree_walk *walk, uintptr_t head, unsigned top)
{
	struct tree *tree = walk->tree;
	struct tree_node *node;

	if (slot_is_node(head)) {
		node = slot_to_node(head);
	} else {
		node = tree_pool_pop(walk->pool, 0);
		node_store(node, 0, 1, (void *)head, head_marks(tree));
		head_set_marks(tree, 0);
	}
	while (node->level < top) {
		struct tree_node *child = node;

		node = tree_pool_pop(walk->pool, child->level + 1u);
		node_attach(node, 0, child);
	}
	return node;
}

/* Where no node spans the new entry: the tree is empty, or must grow in height. */
static int insert_above_locked(struct tree_walk *walk, const struct insertion *ins,
			       unsigned long last)
{
	struct tree *tree = walk->tree;
	uintptr_t head = slot_get_locked(&tree->head);
	unsigned top = ins->level, lowest;
	struct tree_node *node;

	while (!level_spans(top, last))
		top++;
	if (!head && !last) {
		head_set_marks(tree, ins->marks);
		slot_publish(&tree->head, (uintptr_t)ins->entry);
		return 0;
	}
	if (!head) {
		if (walk->pool->nr_free < top - ins->level + 1)
			return -ENOMEM;
		node = branch_build(walk, ins, top);
		slot_publish(&tree->head, node_to_slot(node));
		return 0;
	}
	/* What starts at 0 and is not spanned by the head covers all that there is. */
	if (!ins->index)
		return -EEXIST;
	lowest = slot_is_node(head) ? slot_to_level(head) + 1 : 0;
	if (walk->pool->nr_free < top - lowest + 1 + top - ins->level)
		return -ENOMEM;
	node = head_grow(walk, head, top);
	if (top == ins->level) {
		node_store(node, level_offset(top, ins->index), ins->nr_slots, ins->entry,
			   ins->marks);
		walk_set(walk, node, ins->index);
	} else {
		node_attach(node, level_offset(top, ins->index),
			    branch_build(walk, ins, top - 1));
	}
	slot_publish(&tree->head, node_to_slot(node));
	return 0;
}

int tree_insert_slow_locked(struct tree_walk *walk, unsigned long index, unsigned order,
			    void *entry, uint32_t marks)
{
	unsigned level = order / TREE_SHIFT, offset;
	struct insertion ins = {
		.index = index,
		.entry = entry,
		.level = level,
		.nr_slots = 1u << order % TREE_SHIFT,
		.marks = marks,
	};
	struct tree_node *node;
	uintptr_t slot;

	node = walk_descend(walk, index, level, &slot);
	if (!node)
		return insert_above_locked(walk, &ins, index | ((1ul << order) - 1));
	if (slot)
		return -EEXIST;
	offset = level_offset(node->level, index);
	if (node->level > level) {
		if (walk->pool->nr_free < node->level - level)
			return -ENOMEM;
		node_attach(node, offset, branch_build(walk, &ins, node->level - 1u));
		return 0;
	}
	for (unsigned i = 1; i < ins.nr_slots; i++)
		if (slot_get_locked(&node->slots[offset + i]))
			return -EEXIST;
	node_store(node, offset, ins.nr_slots, entry, marks);
	walk_set(walk, node, index);
	return 0;
}

/*
 * Deletion. Nodes do not count their slots: a count would cost every insertion and
 * every deletion a write, each of which waits for the one before. Whether a node is
 * empty is found by looking, once a deletion has left nothing next to it.
 */

/* Whether slots [@start, TREE_SLOTS) of @node are empty. */
static bool node_is_empty_from(const struct tree_node *node, unsigned start)
{
	for (; start < TREE_SLOTS; start++)
		if (slot_get_locked(&node->slots[start]))
			return false;
	return true;
}

/* Whether @node is empty, whose slots [@start, @end) are. */
static bool node_is_empty(const struct tree_node *node, unsigned start, unsigned end)
{
	if (end < TREE_SLOTS && slot_get_locked(&node->slots[end]))
		return false;
	if (start && slot_get_locked(&node->slots[start - 1]))
		return false;
	return node_is_empty_from(node, 0);
}

/* Takes away heads that have become more than the tree needs. The head is a node. */
static void head_shrink(struct tree_walk *walk, struct tree_node *head)
{
	struct tree *tree = walk->tree;
	uint32_t marks = 0;
	uintptr_t slot;

	for (;;) {
		slot = slot_get_locked(&head->slots[0]);
		if (!slot || !node_is_empty_from(head, 1))
			return;
		if (!slot_is_node(slot))
			break;
		/* Readers may still be in the old head: its slot 0 stays as it is. */
		tree_pool_push_retired(walk->pool, head);
		head = slot_to_node(slot);
		head->parent = NULL;
		slot_publish(&tree->head, slot);
		walk_set(walk, head, 0);
	}
	if (head->level)
		return;
	for (enum tree_mark mark = 0; mark < TREE_NR_MARKS; mark++)
		marks |= (uint32_t)node_is_marked(head, 0, mark) << mark;
	head_set_marks(tree, marks);
	slot_publish(&tree->head, slot);
	tree_pool_push_retired(walk->pool, head);
	walk_set(walk, NULL, 0);
}

/*
 * Takes away what is not needed once slots [@start, @end) of the walk's node are empty.
 */
static void node_prune(struct tree_walk *walk, unsigned start, unsigned end)
{
	struct tree_node *node = walk->node;

	while (node_is_empty(node, start, end)) {
		struct tree_node *parent = node->parent;

		tree_pool_push_retired(walk->pool, node);
		if (!parent) {
			slot_clear(&walk->tree->head);
			walk_set(walk, NULL, 0);
			return;
		}
		/* The marks have gone already: the node has none. */
		start = node->offset;
		end = start + 1;
		slot_clear(&parent->slots[start]);
		node = parent;
		walk_set(walk, node, walk->index);
	}
	if (!node->parent)
		head_shrink(walk, node);
}

static void *delete_head_locked(struct tree_walk *walk, unsigned long index)
{
	struct tree *tree = walk->tree;
	uintptr_t head = slot_get_locked(&tree->head);

	if (index || slot_is_node(head))
		return NULL;
	slot_clear(&tree->head);
	head_set_marks(tree, 0);
	return (void *)head;
}

/* A run has come to @node, a leaf: asks for the one after it. */
static void leaf_prefetch_next(const struct tree_node *node)
{
	uintptr_t next;

	if (node->level || !node->parent || node->offset == TREE_MASK)
		return;
	next = slot_get_locked(&node->parent->slots[node->offset + 1]);
	if (slot_is_node(next))
		node_prefetch(slot_to_node(next));
}

/*
 * Takes @slot out of slot @offset of @node when that is all there is to do: it is an
 * entry of one slot, its marks are not the last ones in the node, and the next slot, where
 * something else starts, keeps the node.
 */
static inline bool node_delete_plain(struct tree_node *node, unsigned offset,
				     uintptr_t slot)
{
	uint64_t bit = UINT64_C(1) << offset, marks[TREE_NR_MARKS];
	bool last = false;
	uintptr_t next;

	for (enum tree_mark mark = 0; mark < TREE_NR_MARKS; mark++) {
		marks[mark] = node_marks(node, mark);
		last |= marks[mark] == bit;
	}
	if (unlikely(!slot || slot_is_sibling(slot) || offset == TREE_MASK || last))
		return false;
	next = slot_get_locked(&node->slots[offset + 1]);
	if (unlikely(!next || slot_is_sibling(next)))
		return false;
	for (enum tree_mark mark = 0; mark < TREE_NR_MARKS; mark++)
		if (marks[mark] & bit)
			node_set_marks(node, mark, marks[mark] & ~bit);
	slot_clear(&node->slots[offset]);
	return true;
}

/* The rest: an entry that holds slot @offset of the walk's node, whatever it is. */
static void node_delete(struct tree_walk *walk, unsigned offset)
{
	struct tree_node *node = walk->node;
	unsigned start = tree_first_slot(node, offset);
	unsigned end = start + tree_nr_slots(node, start);

	for (enum tree_mark mark = 0; mark < TREE_NR_MARKS; mark++)
		if (node_is_marked(node, start, mark))
			node_unmark(node, start, mark);
	for (unsigned i = start; i < end; i++)
		slot_clear(&node->slots[i]);
	node_prune(walk, start, end);
}

static __noinline void *delete_slow_locked(struct tree_walk *walk, unsigned long index)
{
	struct tree_node *node;
	unsigned offset;
	uintptr_t slot;

	node = walk_descend(walk, index, 0, &slot);
	if (!node)
		return delete_head_locked(walk, index);
	if (walk->node && walk->node != node)
		leaf_prefetch_next(node);
	walk_set(walk, node, index);
	offset = level_offset(node->level, index);
	if (slot && !node_delete_plain(node, offset, slot))
		node_delete(walk, offset);
	return slot_to_entry(slot);
}

void *tree_delete_locked(struct tree_walk *walk, unsigned long index)
{
	unsigned long offset = index - walk->index;

	if (likely(offset < walk->nr_slots)) {
		uintptr_t slot = slot_get_locked(&walk->slots[offset]);

		if (likely(node_delete_plain(walk->node, (unsigned)offset, slot)))
			return (void *)slot;
	}
	return delete_slow_locked(walk, index);
}

/*
 * Marks of entries.
 */

/* The node and the first slot of the entry at @index. NULL: none, or it is the head. */
static struct tree_node *tree_find_locked(struct tree *tree, unsigned long index,
					  unsigned *offset)
{
	struct tree_walk walk;
	struct tree_node *node;
	uintptr_t slot;

	tree_walk_init_locked(&walk, tree, NULL);
	node = walk_descend(&walk, index, 0, &slot);
	if (!node || !slot)
		return NULL;
	*offset = tree_first_slot(node, level_offset(node->level, index));
	return node;
}

int tree_set_mark_locked(struct tree *tree, unsigned long index, enum tree_mark mark)
{
	unsigned offset;
	struct tree_node *node = tree_find_locked(tree, index, &offset);

	if (node)
		node_mark(node, offset, mark);
	else if (tree_head_is_entry(tree, index))
		head_set_marks(tree, head_marks(tree) | UINT32_C(1) << mark);
	else
		return -ENOENT;
	return 0;
}

int tree_clear_mark_locked(struct tree *tree, unsigned long index, enum tree_mark mark)
{
	unsigned offset;
	struct tree_node *node = tree_find_locked(tree, index, &offset);

	if (node && node_is_marked(node, offset, mark))
		node_unmark(node, offset, mark);
	else if (!node && tree_head_is_entry(tree, index))
		head_set_marks(tree, head_marks(tree) & ~(UINT32_C(1) << mark));
	else if (!node)
		return -ENOENT;
	return 0;
}
