/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where memory comes from, as the user writes it: --mem. What a policy means for a worker is worked
 * out here, on plain arrays; numamem.c tells it to the kernel.
 */
#ifndef SYS_MEMPOLICY_H
#define SYS_MEMPOLICY_H

#include <stdbool.h>

#include "base/reason.h"

struct topo;

enum mem_kind { MEM_LOCAL, MEM_REMOTE, MEM_INTERLEAVE, MEM_BIND, MEM_NONE };

/* All zero: local. */
struct mem_policy {
	enum mem_kind kind;
	const char *text; /* as given, not copied; see mem_policy_text() */
	/* Of MEM_BIND as given, then, and of MEM_INTERLEAVE, as mem_policy_resolve() left them. */
	unsigned *nodes;
	unsigned nr;
};

/* As the help shows it. */
#define MEM_SYNTAX "local|remote|interleave|bind:LIST|none"

/*
 * @text, which must stay where it is, is one of MEM_SYNTAX; a LIST is one of parse_list(). 0;
 * -EINVAL with @why, or -ENOMEM.
 */
int mem_policy_parse(struct mem_policy *policy, const char *text, struct reason *why);
void mem_policy_destroy(struct mem_policy *policy);
/* As given, or the name of the default. */
const char *mem_policy_text(const struct mem_policy *policy);

/*
 * Makes @nodes those of @topo that are meant, ascending, each once: of MEM_INTERLEAVE all that have
 * memory that may be used. 0; -EINVAL with @why, which names the first node that is not there, has
 * no memory or may not be used (cpuset.mems), and those that may; -ENOMEM.
 */
int mem_policy_resolve(struct mem_policy *policy, const struct topo *topo,
		       struct reason *why);

/*
 * The node that memory of a worker is asked of whose own memory is on node @own
 * (placement.mem_node). MEM_LOCAL: @own. MEM_REMOTE: the next node in number order, after
 * the last one the first, that has memory that may be used; it is @own again where there
 * is no other. Which node is next says nothing of distance: it is to be another one, and
 * each node's workers another one's. -1: none, the set of nodes or the system decides.
 */
int mem_policy_node(const struct mem_policy *policy, const struct topo *topo, int own);

/* How many nodes have memory that may be used. */
unsigned mem_nr_nodes(const struct topo *topo);
bool mem_policy_has_node(const struct mem_policy *policy, unsigned nid);

#endif
