/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Circular doubly linked list with an embedded head, as the kernel's list_head. Not atomic. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bits.h"

struct list_head {
	struct list_head *next, *prev;
};

#define list_entry(ptr, type, member) container_of(ptr, type, member)

#define list_for_each(pos, head) \
	for ((pos) = (head)->next; (pos) != (head); (pos) = (pos)->next)

static inline void list_init(struct list_head *head)
{
	head->next = head->prev = head;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline void list_insert(struct list_head *item, struct list_head *prev,
			       struct list_head *next)
{
	next->prev = item;
	item->next = next;
	item->prev = prev;
	prev->next = item;
}

static inline void list_add(struct list_head *item, struct list_head *head)
{
	list_insert(item, head, head->next);
}

static inline void list_add_tail(struct list_head *item, struct list_head *head)
{
	list_insert(item, head->prev, head);
}

/* Unlinks @item; its own pointers are left dangling on NULL, to fail loudly. */
static inline void list_del(struct list_head *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
	item->next = item->prev = NULL;
}

#endif
