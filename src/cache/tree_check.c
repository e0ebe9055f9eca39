/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a tree is what tree_node.h says it is. For tests: it reads everything. */
#include "cache/tree_node.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/reason.h"

struct checker {
	struct reason *why;
	long nr_entries;
};

__attribute__((format(printf, 4, 5))) static int bad(struct checker *checker,
						     const struct tree_node *node,
						     unsigned offset, const char *fmt,
						     ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return reason_set(checker->why, -EUCLEAN, "node %p at level %u, slot %u: %s",
			  (const void *)node, node->level, offset, text);
}

static int check_node(struct checker *checker, const struct tree_node *node,
		      const struct tree_node *parent, unsigned offset);

/* The entry that starts in slot @offset: its siblings, all of them and only there. */
static int check_entry(struct checker *checker, const struct tree_node *node,
		       unsigned offset, unsigned *nr_slots)
{
	uintptr_t entry = slot_get_locked(&node->slots[offset]);
	unsigned nr = 1;

	while (offset + nr < TREE_SLOTS &&
	       slot_is_sibling(slot_get_locked(&node->slots[offset + nr])))
		nr++;
	if (!is_power_of_2(nr) || offset % nr)
		return bad(checker, node, offset, "an entry of %u slots", nr);
	for (unsigned i = 1; i < nr; i++)
		if (slot_get_locked(&node->slots[offset + i]) != (entry | TAG_SIBLING))
			return bad(checker, node, offset, "sibling %u of another entry",
				   i);
	*nr_slots = nr;
	checker->nr_entries++;
	return 0;
}

/* The slot has a mark if and only if the child below it has any such mark. */
static int check_child_marks(struct checker *checker, const struct tree_node *node,
			     unsigned offset)
{
	const struct tree_node *child =
		slot_to_node(slot_get_locked(&node->slots[offset]));

	for (enum tree_mark mark = 0; mark < TREE_NR_MARKS; mark++)
		if (node_is_marked(node, offset, mark) != !!node_marks(child, mark))
			return bad(checker, node, offset,
				   "mark %u is not that of its child", mark);
	return 0;
}

static int check_slot(struct checker *checker, const struct tree_node *node,
		      unsigned offset, unsigned *nr_slots, uint64_t *may_mark)
{
	uintptr_t slot = slot_get_locked(&node->slots[offset]);
	int err;

	*nr_slots = 1;
	if (!slot)
		return 0;
	*may_mark |= UINT64_C(1) << offset;
	if (level_shift(node->level) + TREE_SHIFT > 64 &&
	    offset >> (64 - level_shift(node->level)))
		return bad(checker, node, offset, "beyond the highest index");
	if (slot_is_sibling(slot))
		return bad(checker, node, offset, "a sibling of nothing");
	if (!slot_is_node(slot))
		return check_entry(checker, node, offset, nr_slots);
	if (slot_to_level(slot) + 1 != node->level)
		return bad(checker, node, offset, "a child at level %u",
			   slot_to_level(slot));
	err = check_node(checker, slot_to_node(slot), node, offset);
	return err ? err : check_child_marks(checker, node, offset);
}

static int check_node(struct checker *checker, const struct tree_node *node,
		      const struct tree_node *parent, unsigned offset)
{
	uint64_t may_mark = 0;
	unsigned nr;

	if (node->parent != parent)
		return bad(checker, node, 0, "its parent is not %p",
			   (const void *)parent);
	if (parent && node->offset != offset)
		return bad(checker, node, 0, "its offset %u is not %u", node->offset,
			   offset);
	for (offset = 0; offset < TREE_SLOTS; offset += nr) {
		int err = check_slot(checker, node, offset, &nr, &may_mark);

		if (err)
			return err;
	}
	if (!may_mark)
		return bad(checker, node, 0, "an empty node");
	for (enum tree_mark mark = 0; mark < TREE_NR_MARKS; mark++)
		if (node_marks(node, mark) & ~may_mark)
			return bad(checker, node, 0, "mark %u where nothing starts",
				   mark);
	return 0;
}

static int check_head(struct checker *checker, const struct tree_node *node)
{
	uintptr_t slot = slot_get_locked(&node->slots[0]);

	for (unsigned offset = 1; offset < TREE_SLOTS; offset++)
		if (slot_get_locked(&node->slots[offset]))
			return 0;
	if (slot_is_node(slot) || !node->level)
		return bad(checker, node, 0, "the head is more than the tree needs");
	return 0;
}

long tree_check(const struct tree *tree, struct reason *why)
{
	struct checker checker = { .why = why };
	uintptr_t head = slot_get_locked(&tree->head);
	uint32_t marks = head_marks(tree);
	const struct tree_node *node;

	if (slot_is_sibling(head))
		return reason_set(why, -1, "the head is a sibling");
	if (marks && (!head || slot_is_node(head)))
		return reason_set(why, -1, "marks %#x of a head that is no entry", marks);
	if (marks >> TREE_NR_MARKS)
		return reason_set(why, -1, "marks %#x of the head", marks);
	if (!slot_is_node(head))
		return head != 0;
	node = slot_to_node(head);
	if (slot_to_level(head) != node->level)
		return reason_set(why, -1, "the head is at level %u, not %u", node->level,
				  slot_to_level(head));
	if (check_node(&checker, node, NULL, 0) || check_head(&checker, node))
		return -1;
	return checker.nr_entries;
}
