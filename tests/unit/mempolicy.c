/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --mem: what is one, which nodes it means, and what it comes to for a worker. */
#include "sys/mempolicy.h"

#include <errno.h>
#include <string.h>

#include "base/bits.h"
#include "sys/topo.h"
#include "tap.h"

/* 0 and 3 have memory; 1 has none, 4 may not be used, 7 is of memory only; there are no others. */
static struct topo_node nodes[] = {
	{ .nid = 0, .memory = 1 << 30, .allowed = true, .nr_cpus = 2 },
	{ .nid = 1, .memory = 0, .allowed = true, .nr_cpus = 2 },
	{ .nid = 3, .memory = 1 << 30, .allowed = true, .nr_cpus = 2 },
	{ .nid = 4, .memory = 1 << 30, .allowed = false, .nr_cpus = 2 },
	{ .nid = 7, .memory = 1 << 30, .allowed = true },
};
static const struct topo odd = { .nodes = nodes, .nr_nodes = ARRAY_SIZE(nodes) };
static const struct topo one = { .nodes = nodes, .nr_nodes = 1 };

static struct mem_policy parsed(const char *text)
{
	struct mem_policy policy = { .kind = MEM_LOCAL };
	struct reason why = { "" };

	if (mem_policy_parse(&policy, text, &why))
		bail("%s: %s", text, why.text);
	return policy;
}

static void words(void)
{
	static const char *const good[] = { "local",	  "remote",    "interleave",
					    "none",	  "bind:0",    "bind:0-1,3",
					    "bind:7,7,0", "bind:0-7:2" };
	static const char *const bad[] = {
		"",	   "Local",	"local ",	   "bind",	  "bind:",
		"bind:x",  "bind:-1",	"bind:1-0",	   "bind:0,",	  "bind 0",
		"nodes:0", "preferred", "bind:4294967296", "local,remote"
	};
	struct mem_policy policy = { .kind = MEM_LOCAL };

	ok(!strcmp(mem_policy_text(&policy), "local"), "all zero is local");
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		policy = parsed(good[i]);
		ok(!strcmp(mem_policy_text(&policy), good[i]) &&
			   !policy.nodes == !strchr(good[i], ':'),
		   "%s is kept as given", good[i]);
		mem_policy_destroy(&policy);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct reason why = { "" };

		policy = (struct mem_policy){ .kind = MEM_NONE };
		ok(mem_policy_parse(&policy, bad[i], &why) == -EINVAL && why.text[0] &&
			   policy.kind == MEM_NONE && !policy.nodes,
		   "'%s' is none: %s", bad[i], why.text);
	}
}

static bool has(const struct mem_policy *policy, const unsigned *wanted, unsigned nr)
{
	return policy->nr == nr &&
	       (!nr || !memcmp(policy->nodes, wanted, nr * sizeof(*wanted)));
}

static void resolving(void)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "bind:2", "node 2 does not exist; allowed are 0,3,7" },
		{ "bind:0,9", "node 9 does not exist; allowed are 0,3,7" },
		{ "bind:1", "node 1 has no memory; allowed are 0,3,7" },
		{ "bind:3-4", "node 4 may not be used (cpuset.mems); allowed are 0,3,7" },
	};
	static const unsigned usable[] = { 0, 3, 7 }, two[] = { 0, 7 };
	struct mem_policy policy = parsed("interleave");
	struct reason why = { "" };

	ok(!mem_policy_resolve(&policy, &odd, &why) && has(&policy, usable, 3),
	   "interleave is over all nodes with memory that may be used");
	ok(!mem_policy_resolve(&policy, &one, &why) && has(&policy, usable, 1),
	   "of one node, over that");
	ok(mem_policy_has_node(&policy, 0) && !mem_policy_has_node(&policy, 3),
	   "and no other is among them");
	mem_policy_destroy(&policy);
	policy = parsed("bind:7,0,7,0");
	ok(!mem_policy_resolve(&policy, &odd, &why) && has(&policy, two, 2),
	   "a list is put in order, each once");
	mem_policy_destroy(&policy);
	policy = parsed("local");
	ok(!mem_policy_resolve(&policy, &odd, &why) && !policy.nr, "local has no list");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		policy = parsed(bad[i].text);
		ok(mem_policy_resolve(&policy, &odd, &why) == -EINVAL &&
			   !strcmp(why.text, bad[i].why),
		   "%s: %s", bad[i].text, why.text);
		mem_policy_destroy(&policy);
	}
	ok(mem_nr_nodes(&odd) == 3 && mem_nr_nodes(&one) == 1,
	   "nodes that may be used are counted");
}

static void of_workers(void)
{
	static const struct {
		const char *text;
		int own, wanted;
	} cases[] = {
		{ "local", 0, 0 },    { "local", 7, 7 },       { "local", -1, -1 },
		{ "remote", 0, 3 },   { "remote", 3, 7 },      { "remote", 7, 0 },
		{ "remote", -1, -1 }, { "interleave", 3, -1 }, { "bind:0", 3, -1 },
		{ "none", 3, -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct mem_policy policy = parsed(cases[i].text);

		ok(mem_policy_node(&policy, &odd, cases[i].own) == cases[i].wanted,
		   "%s, a worker with memory of node %d: %d", cases[i].text, cases[i].own,
		   cases[i].wanted);
		mem_policy_destroy(&policy);
	}
	ok(mem_policy_node(&(struct mem_policy){ .kind = MEM_REMOTE }, &one, 0) == 0,
	   "remote of one node is that node");
}

int main(void)
{
	words();
	resolving();
	of_workers();
	return done();
}
