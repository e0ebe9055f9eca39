/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What only reads the tree. */
#include "cache/tree_node.h"

#include <limits.h>

/*
 * Lookups. A reader may be in a node that was unlinked while it came in: that node's
 * slots stay as they were when it left the tree, which was during the reader's call.
 * The node is not reused before the reader leaves its read side section.
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

/* A slot, and what a lookup needs to go on from there. */
struct tree_cursor {
	struct tree_node *node;
	unsigned level, offset;
};

/*
 * From @slot, the head, to the deepest slot that covers @index. false: no node spans
 * it.
 */
static inline bool cursor_descend(struct tree_cursor *cursor, uintptr_t slot,
				  unsigned long index)
{
	if (!slot_is_node(slot) || !level_spans(slot_to_level(slot), index))
		return false;
	while (slot_is_node(slot)) {
		cursor->node = slot_to_node(slot);
		cursor->level = slot_to_level(slot);
		cursor->offset = level_offset(cursor->level, index);
		slot = slot_get(&cursor->node->slots[cursor->offset]);
	}
	return true;
}

/*
 * How many slots before the cursor's, a sibling of @entry, the entry starts: entries
 * are aligned, so where some low bits of the offset are clear. 0: it has gone
 * meanwhile.
 */
static unsigned cursor_back(const struct tree_cursor *cursor, const void *entry)
{
	for (unsigned size = 2; size <= TREE_SLOTS; size <<= 1) {
		unsigned offset = cursor->offset & ~(size - 1);

		if (slot_get(&cursor->node->slots[offset]) == (uintptr_t)entry)
			return cursor->offset - offset;
	}
	return 0;
}

/* What tree_load_batch() has found so far. */
struct tree_batch {
	void **entries;
	unsigned long *indexes;
	unsigned nr, max;
};

/*
 * Whether an entry at @index, which covers where the lookup has got to, comes after all
 * in the batch. If not, it has just come where something in the batch was a moment ago.
 */
static inline bool batch_is_next(const struct tree_batch *batch, unsigned long index)
{
	return !batch->nr || index > batch->indexes[batch->nr - 1];
}

/* Adds the entry of which the cursor is at a sibling; @index is the first of the slot. */
static void batch_add_sibling(struct tree_batch *batch, const struct tree_cursor *cursor,
			      unsigned long index, void *entry)
{
	unsigned back, nr = batch->nr;

	if (nr && batch->entries[nr - 1] == entry)
		return;
	back = cursor_back(cursor, entry);
	index -= (unsigned long)back << level_shift(cursor->level);
	/* 0: it has gone. */
	if (!back || !batch_is_next(batch, index))
		return;
	batch->entries[nr] = entry;
	batch->indexes[nr] = index;
	batch->nr++;
}

/*
 * Adds what lies in the cursor's node from @start on, up to the node's end, a child or
 * @end. Returns the index to go on from; ULONG_MAX, which is never below @end, after
 * the last.
 */
static unsigned long batch_add_node(struct tree_batch *batch, struct tree_cursor *cursor,
				    unsigned long start, unsigned long end)
{
	unsigned shift = level_shift(cursor->level);
	unsigned long index = start >> shift << shift;

	do {
		uintptr_t slot = slot_get(&cursor->node->slots[cursor->offset]);

		if (slot_is_node(slot))
			return index > start ? index : start;
		if (slot_is_sibling(slot)) {
			batch_add_sibling(batch, cursor, index, slot_to_entry(slot));
		} else if (slot && (index >= start || batch_is_next(batch, index))) {
			batch->entries[batch->nr] = (void *)slot;
			batch->indexes[batch->nr++] = index;
		}
		cursor->offset++;
		index += 1ul << shift;
		if (!index)
			return ULONG_MAX;
	} while (cursor->offset < TREE_SLOTS && index < end && batch->nr < batch->max);
	return index;
}

unsigned tree_load_batch(const struct tree *tree, unsigned long start, unsigned long end,
			 void **entries, unsigned long *indexes, unsigned max)
{
	struct tree_batch batch = { .entries = entries, .indexes = indexes, .max = max };

	while (start < end && batch.nr < max) {
		/*
		 * One look: between two, an entry at 0 may become the head, or cease to
		 * be.
		 */
		uintptr_t head = slot_get(&tree->head);
		struct tree_cursor cursor;

		if (!start && head && !slot_is_node(head)) {
			entries[batch.nr] = (void *)head;
			indexes[batch.nr++] = start++;
			continue;
		}
		if (!cursor_descend(&cursor, head, start))
			break;
		start = batch_add_node(&batch, &cursor, start, end);
	}
	return batch.nr;
}

bool tree_get_mark(const struct tree *tree, unsigned long index, enum tree_mark mark)
{
	uintptr_t head = slot_get(&tree->head), slot;
	struct tree_cursor cursor;

	if (!index && head && !slot_is_node(head))
		return head_marks(tree) >> mark & 1;
	if (!cursor_descend(&cursor, head, index))
		return false;
	slot = slot_get(&cursor.node->slots[cursor.offset]);
	if (slot_is_sibling(slot))
		cursor.offset -= cursor_back(&cursor, slot_to_entry(slot));
	return slot && node_is_marked(cursor.node, cursor.offset, mark);
}

/*
 * The first index after those of *@node, which spans @index, that a node above it spans
 * too; *@node becomes that node. 0: there is none.
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

unsigned long tree_find_marked(const struct tree *tree, unsigned long start,
			       unsigned long end, enum tree_mark mark)
{
	uintptr_t head = slot_get_locked(&tree->head);
	unsigned long index = start;
	struct tree_node *node;

	if (tree_head_is_entry(tree, start) && end)
		return tree_get_mark(tree, 0, mark) ? 0 : end;
	if (start >= end || !slot_is_node(head) ||
	    !level_spans(slot_to_level(head), start))
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
