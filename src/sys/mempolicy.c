/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/mempolicy.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/parse.h"
#include "sys/topo.h"

/* By enum mem_kind. */
static const char *const kinds[] = { "local", "remote", "interleave", "bind:", "none" };

int mem_policy_parse(struct mem_policy *policy, const char *text, struct reason *why)
{
	struct mem_policy new = { .text = text };
	unsigned kind;
	int err = parse_word(text, kinds, ARRAY_SIZE(kinds),
			     "a list of node numbers such as 0 or 0-1,3", &kind,
			     &new.nodes, &new.nr, why);

	if (err == -ENOENT)
		return reason_set(
			why, -EINVAL,
			"it can be local, remote, interleave, bind:LIST or none; a LIST is "
			"one of node numbers, such as 0-1,3");
	if (err)
		return err;
	new.kind = (enum mem_kind)kind;
	*policy = new;
	return 0;
}

void mem_policy_destroy(struct mem_policy *policy)
{
	free(policy->nodes);
	*policy = (struct mem_policy){ .kind = MEM_LOCAL };
}

const char *mem_policy_text(const struct mem_policy *policy)
{
	return policy->text ? policy->text : kinds[MEM_LOCAL];
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

static int check_node(const struct topo *topo, unsigned nid, struct reason *why)
{
	const struct topo_node *node = topo_find_node(topo, nid);

	if (!node)
		return topo_refuse_node(topo, nid, "does not exist", may_be_used, why);
	if (!node->memory)
		return topo_refuse_node(topo, nid, "has no memory", may_be_used, why);
	if (!node->allowed)
		return topo_refuse_node(topo, nid, "may not be used (cpuset.mems)",
					may_be_used, why);
	return 0;
}

int mem_policy_resolve(struct mem_policy *policy, const struct topo *topo,
		       struct reason *why)
{
	unsigned nr = 0;
	int err = 0;

	if (policy->kind == MEM_INTERLEAVE) {
		free(policy->nodes);
		policy->nodes = topo_list_nodes(topo, may_be_used, &policy->nr);
		return policy->nodes ? 0 : reason_set(why, -ENOMEM, "out of memory");
	}
	for (unsigned i = 0; i < policy->nr && !err; i++)
		err = check_node(topo, policy->nodes[i], why);
	if (err || !policy->nr)
		return err;
	qsort(policy->nodes, policy->nr, sizeof(*policy->nodes), compare_unsigned);
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
