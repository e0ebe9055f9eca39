/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What only reads the tree. */
#include "cache/tree_node.h"

#include <limits.h>

/*
 * Lookups. A reader may be in a node that was unlinked while it came in: that node's slots
 * stay as they were when it left the tree, which was during the reader's call. The node is
 * not reused before the reader leaves its read side section.
 */

void *tree_load(const struct tree *tree, unsigned long index)
{
	uintptr_t slot = slot_get(&tree->head);
	unsigned shift;

	if (!slot_is_node(slot))
		return index ? NULL : (void *)slot;
	shift = level_shift(slot_to_level(slot));
	if (index >> shift >= TREE_SLOTS)
		return NULL;
	do {
		slot = slot_get(&slot_to_node(slot)->slots[index >> shift & TREE_MASK]);
		shift -= TREE_SHIFT;
	} while (slot_is_node(slot));
	return slot_to_entry(slot);
}

/* Where a lookup of many has got to: a slot. */
struct tree_cursor {
	struct tree_node *node;
	unsigned level, offset;
	unsigned long index;	/* the first of the slot, once past the start */
	bool end;		/* there are no more indexes */
};

/* To the deepest slot that covers the cursor's index. false: the tree has no such node. */
static bool cursor_descend(struct tree_cursor *cursor, const struct tree *tree)
{
	uintptr_t slot = slot_get(&tree->head);

	if (!slot_is_node(slot) || !level_spans(slot_to_level(slot), cursor->index))
		return false;
	while (slot_is_node(slot)) {
		cursor->node = slot_to_node(slot);
		cursor->level = slot_to_level(slot);
		cursor->offset = level_offset(cursor->level, cursor->index);
		slot = slot_get(&cursor->node->slots[cursor->offset]);
	}
	return true;
}

/* On to the next slot. false: not in this node. */
static bool cursor_next(struct tree_cursor *cursor)
{
	unsigned shift = level_shift(cursor->level);

	cursor->index = ((cursor->index >> shift) + 1) << shift;
	cursor->end = !cursor->index;
	return ++cursor->offset < TREE_SLOTS && !cursor->end;
}

/* The first index of the slot that is @back slots before the cursor. */
static unsigned long cursor_index(const struct tree_cursor *cursor, unsigned back)
{
	unsigned shift = level_shift(cursor->level);

	return ((cursor->index >> shift) - back) << shift;
}

/*
 * The first index of @entry, of which the cursor is at a sibling: entries are aligned, so it
 * starts where some low bits of the offset are clear. ULONG_MAX: it has gone from there.
 */
static unsigned long cursor_first(const struct tree_cursor *cursor, const void *entry)
{
	for (unsigned size = 2; size <= TREE_SLOTS; size <<= 1) {
		unsigned offset = cursor->offset & ~(size - 1);

		if (slot_get(&cursor->node->slots[offset]) == (uintptr_t)entry)
			return cursor_index(cursor, cursor->offset - offset);
	}
	return ULONG_MAX;
}

unsigned tree_load_batch(const struct tree *tree, unsigned long start, unsigned long end,
			 void **entries, unsigned long *indexes, unsigned max)
{
	struct tree_cursor cursor = { .index = start };
	uintptr_t slot = slot_get(&tree->head);
	unsigned nr = 0;

	if (slot && !slot_is_node(slot) && !start && end && max) {
		entries[nr] = (void *)slot;
		indexes[nr++] = 0;
		cursor.index++;
	}
	while (!cursor.end && cursor.index < end && nr < max && cursor_descend(&cursor, tree)) {
		do {
			unsigned long first;
			void *entry;

			slot = slot_get(&cursor.node->slots[cursor.offset]);
			if (!slot)
				continue;
			if (slot_is_node(slot))
				break;
			entry = slot_to_entry(slot);
			if (!slot_is_sibling(slot))
				first = cursor_index(&cursor, 0);
			else if (nr && entries[nr - 1] == entry)
				continue;
			else
				first = cursor_first(&cursor, entry);
			/* What comes before the last one, or has gone, came or went just now. */
			if (first == ULONG_MAX && slot_is_sibling(slot))
				continue;
			if (nr && first <= indexes[nr - 1])
				continue;
			entries[nr] = entry;
			indexes[nr++] = first;
		} while (cursor_next(&cursor) && cursor.index < end && nr < max);
	}
	return nr;
}

bool tree_get_mark(const struct tree *tree, unsigned long index, enum tree_mark mark)
{
	struct tree_cursor cursor = { .index = index };
	uintptr_t slot;

	if (!cursor_descend(&cursor, tree))
		return tree_head_is_entry(tree, index) &&
		       atomic_load_explicit(&tree->head_marks, memory_order_relaxed) >> mark & 1;
	slot = slot_get(&cursor.node->slots[cursor.offset]);
	if (slot_is_sibling(slot)) {
		unsigned long first = cursor_first(&cursor, slot_to_entry(slot));

		if (first == ULONG_MAX)
			return false;
		cursor.offset = level_offset(cursor.level, first);
	}
	return slot && node_is_marked(cursor.node, cursor.offset, mark);
}

/*
 * The first index after those of *@node, which spans @index, that a node above it spans too;
 * *@node becomes that node. 0: there is none.
 */
static unsigned long climb_past(struct tree_node **node, unsigned long index)
{
	unsigned offset, shift;

	do {
		offset = (*node)->offset + 1u;
		*node = (*node)->parent;
		if (!*node)
			return 0;
	} while (offset == TREE_SLOTS);
	shift = level_shift((*node)->level);
	return ((index >> shift) + 1) << shift;
}

unsigned long tree_find_marked(const struct tree *tree, unsigned long start, unsigned long end,
			       enum tree_mark mark)
{
	uintptr_t head = slot_get_locked(&tree->head);
	unsigned long index = start;
	struct tree_node *node;

	if (tree_head_is_entry(tree, start) && end)
		return tree_get_mark(tree, 0, mark) ? 0 : end;
	if (start >= end || !slot_is_node(head) || !level_spans(slot_to_level(head), start))
		return end;
	for (node = slot_to_node(head);;) {
		unsigned shift = level_shift(node->level);
		unsigned offset = level_offset(node->level, index), next;
		uint64_t marks = node_marks(node, mark) >> offset << offset;
		uintptr_t slot = slot_get_locked(&node->slots[offset]);

		if (slot_is_sibling(slot) &&
		    node_is_marked(node, tree_first_slot(node, offset), mark))
			return index;
		if (!marks) {
			index = climb_past(&node, index);
			if (!index || index >= end)
				return end;
			continue;
		}
		next = (unsigned)__builtin_ctzll(marks);
		if (next > offset)
			index = ((index >> shift) + next - offset) << shift;
		if (index >= end)
			return end;
		slot = slot_get_locked(&node->slots[next]);
		if (!slot_is_node(slot))
			return index;
		node = slot_to_node(slot);
	}
}
