/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/mempolicy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/format.h"
#include "base/parse.h"
#include "sys/topo.h"

static const struct {
	const char *name;
	enum mem_kind kind;
	bool has_list; /* the name is followed by it */
} kinds[] = {
	{ "local", MEM_LOCAL, false },
	{ "remote", MEM_REMOTE, false },
	{ "interleave", MEM_INTERLEAVE, false },
	{ "bind:", MEM_BIND, true },
	{ "none", MEM_NONE, false },
};

static int parse_nodes(struct mem_policy *policy, const char *text, struct reason *why)
{
	size_t nr;
	int err = parse_list(text, &policy->nodes, &nr);

	if (err == -ENOMEM)
		return reason_set(why, err, "out of memory");
	if (err == -ERANGE)
		return reason_set(why, -EINVAL,
				  "a number that is too large, or more than %d numbers",
				  PARSE_MAX_LIST);
	if (err)
		return reason_set(why, err,
				  "not a list of node numbers such as 0 or 0-1,3");
	policy->nr = (unsigned)nr;
	return 0;
}

int mem_policy_parse(struct mem_policy *policy, const char *text, struct reason *why)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t len = strlen(kinds[i].name);
		struct mem_policy new = { .kind = kinds[i].kind, .text = text };
		int err = 0;

		if (kinds[i].has_list ? strncmp(text, kinds[i].name, len) :
					strcmp(text, kinds[i].name))
			continue;
		if (kinds[i].has_list)
			err = parse_nodes(&new, text + len, why);
		if (!err)
			*policy = new;
		return err;
	}
	return reason_set(
		why, -EINVAL,
		"it can be local, remote, interleave, bind:LIST or none; a LIST is one of "
		"node numbers, such as 0-1,3");
}

void mem_policy_destroy(struct mem_policy *policy)
{
	free(policy->nodes);
	*policy = (struct mem_policy){ .kind = MEM_LOCAL };
}

const char *mem_policy_text(const struct mem_policy *policy)
{
	return policy->text ? policy->text : kinds[0].name;
}

static bool may_be_used(const struct topo_node *node)
{
	return node->memory && node->allowed;
}

unsigned mem_nr_nodes(const struct topo *topo)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < topo->nr_nodes; i++)
		nr += may_be_used(&topo->nodes[i]);
	return nr;
}

/* All nodes that may be used, ascending. NULL: no memory. */
static unsigned *usable_nodes(const struct topo *topo, unsigned *nr)
{
	unsigned *nodes = malloc((topo->nr_nodes + 1) * sizeof(*nodes));

	*nr = 0;
	for (unsigned i = 0; nodes && i < topo->nr_nodes; i++)
		if (may_be_used(&topo->nodes[i]))
			nodes[(*nr)++] = topo->nodes[i].nid;
	return nodes;
}

static int refuse_node(const struct topo *topo, unsigned nid, const char *what,
		       struct reason *why)
{
	unsigned nr, *nodes = usable_nodes(topo, &nr);
	char *list = nodes ? format_list(nodes, nr) : NULL;

	reason_set(why, -EINVAL, "node %u %s; allowed are %s", nid, what,
		   list && nr ? list : "none");
	free(list);
	free(nodes);
	return -EINVAL;
}

static int check_node(const struct topo *topo, unsigned nid, struct reason *why)
{
	const struct topo_node *node = topo_find_node(topo, nid);

	if (!node)
		return refuse_node(topo, nid, "does not exist", why);
	if (!node->memory)
		return refuse_node(topo, nid, "has no memory", why);
	if (!node->allowed)
		return refuse_node(topo, nid, "may not be used (cpuset.mems)", why);
	return 0;
}

static int compare(const void *left, const void *right)
{
	unsigned a = *(const unsigned *)left, b = *(const unsigned *)right;

	return a < b ? -1 : a > b;
}

int mem_policy_resolve(struct mem_policy *policy, const struct topo *topo,
		       struct reason *why)
{
	unsigned nr = 0;
	int err = 0;

	if (policy->kind == MEM_INTERLEAVE) {
		free(policy->nodes);
		policy->nodes = usable_nodes(topo, &policy->nr);
		return policy->nodes ? 0 : reason_set(why, -ENOMEM, "out of memory");
	}
	for (unsigned i = 0; i < policy->nr && !err; i++)
		err = check_node(topo, policy->nodes[i], why);
	if (err || !policy->nr)
		return err;
	qsort(policy->nodes, policy->nr, sizeof(*policy->nodes), compare);
	for (unsigned i = 0; i < policy->nr; i++)
		if (!nr || policy->nodes[i] != policy->nodes[nr - 1])
			policy->nodes[nr++] = policy->nodes[i];
	policy->nr = nr;
	return 0;
}

int mem_policy_node(const struct mem_policy *policy, const struct topo *topo, int own)
{
	int first = -1;

	if (own < 0 || (policy->kind != MEM_LOCAL && policy->kind != MEM_REMOTE))
		return -1;
	if (policy->kind == MEM_LOCAL)
		return own;
	for (unsigned i = 0; i < topo->nr_nodes; i++) {
		if (!may_be_used(&topo->nodes[i]))
			continue;
		if (topo->nodes[i].nid > (unsigned)own)
			return (int)topo->nodes[i].nid;
		if (first < 0)
			first = (int)topo->nodes[i].nid;
	}
	return first < 0 ? own : first;
}

bool mem_policy_has_node(const struct mem_policy *policy, unsigned nid)
{
	for (unsigned i = 0; i < policy->nr; i++)
		if (policy->nodes[i] == nid)
			return true;
	return false;
}
