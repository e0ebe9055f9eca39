/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plans: which CPU each worker gets, on machines that hwloc makes up and on some made by
 * hand.
 */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sys/topo.h"
#include "tap.h"
#include "unit/plan_properties.h"

#define pinned(name) (&(struct pin){ .policy = (name) })

/* A machine as a list of CPUs; nodes and distances are added by the test. */
struct made {
	struct topo topo;
	struct topo_cpu cpus[4096];
	struct topo_node nodes[16];
	unsigned distances[16 * 16];
};

static struct made made;

static struct topo *make(void)
{
	memset(&made, 0, sizeof(made));
	made.topo.cpus = made.cpus;
	made.topo.nodes = made.nodes;
	return &made.topo;
}

static void add_node(unsigned nid, unsigned package, uint64_t memory)
{
	made.nodes[made.topo.nr_nodes++] = (struct topo_node){
		.nid = nid, .package = package, .memory = memory, .allowed = true
	};
}

/* One CPU; the node need not have been added: then it is, with memory. */
static void add_cpu(unsigned cpu, unsigned package, unsigned node, unsigned core)
{
	struct topo *topo = &made.topo;
	unsigned n = 0, smt = 0;

	while (n < topo->nr_nodes && made.nodes[n].nid != node)
		n++;
	if (n == topo->nr_nodes)
		add_node(node, package, 1 << 30);
	made.nodes[n].nr_cpus++;
	for (unsigned i = 0; i < topo->nr_cpus; i++)
		smt += made.cpus[i].core == core;
	made.cpus[topo->nr_cpus++] = (struct topo_cpu){
		.cpu = cpu, .package = package, .node = node, .core = core, .smt = smt
	};
}

/* Called when all nodes are there. */
static struct topo *made_topo(void)
{
	struct topo *topo = &made.topo;

	for (unsigned i = 0; i < topo->nr_cpus; i++)
		made.cpus[i].mem_node = topo_mem_node(topo, made.cpus[i].node);
	topo->nr_machine_cpus = topo->nr_cpus;
	return topo;
}

static void check_properties(const struct topo *topo, bool even, const char *name)
{
	unsigned nr = 2 * topo->nr_cpus + 3;
	struct placement *p = calloc(nr, sizeof(*p)), *few = calloc(nr, sizeof(*few));
	unsigned some = topo->nr_cpus / 2 + 1;

	memset(p, 0x55, nr * sizeof(*p));
	ok(!topo_plan(topo, pinned(PIN_SPREAD), nr, p) && is_consistent(topo, p, nr),
	   "%s: spread: CPUs of the machine, with their nodes", name);
	ok(uses_each_once(topo->nr_cpus, p, nr),
	   "%s: spread: no CPU twice before each once", name);
	ok(nodes_are_balanced(topo, NULL, p, topo->nr_cpus),
	   "%s: spread: nodes within one worker", name);
	if (even)
		ok(packages_are_balanced(topo, p), "%s: spread: packages within one",
		   name);
	ok(siblings_come_last(topo, p, topo->nr_cpus),
	   "%s: spread: cores before siblings", name);
	ok(!topo_plan(topo, pinned(PIN_SPREAD), some, few) &&
		   !memcmp(few, p, some * sizeof(*p)),
	   "%s: spread: fewer workers get the beginning of the same plan", name);
	ok(!topo_plan(topo, pinned(PIN_COMPACT), nr, p) && is_consistent(topo, p, nr) &&
		   uses_each_once(topo->nr_cpus, p, nr),
	   "%s: compact: no CPU twice before each once", name);
	ok(is_compact(p, topo->nr_cpus), "%s: compact: fills cores, nodes, packages",
	   name);
	free(p);
	free(few);
}

/* CPUs of the plan as "0 20 40", compared as text so that a failure can be read. */
static void check_plan(const struct topo *topo, const struct pin *pin, unsigned nr,
		       const char *expected, const char *name)
{
	struct placement *p = calloc(nr, sizeof(*p));
	char text[1024] = "";
	size_t len = 0;

	topo_plan(topo, pin, nr, p);
	for (unsigned i = 0; i < nr; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%d",
					i ? " " : "", p[i].cpu);
	if (!ok(!strcmp(text, expected), "%s", name))
		printf("#      got: %s\n# expected: %s\n", text, expected);
	free(p);
}

static unsigned distinct(const struct placement *p, unsigned nr, size_t field)
{
	unsigned count = 0;

	for (unsigned i = 0; i < nr; i++) {
		unsigned j = 0;

		while (j < i && memcmp((const char *)&p[i] + field,
				       (const char *)&p[j] + field, sizeof(int)))
			j++;
		count += j == i;
	}
	return count;
}

static void synthetic_machines(void)
{
	static const struct {
		const char *description;
		bool even;
		unsigned nr_cpus, nr_nodes, nr_packages, nr_cores;
	} machines[] = {
		{ "pack:4 numa:1 core:10 pu:2", true, 80, 4, 4, 40 },
		{ "pack:2 numa:2 core:4 pu:2", true, 32, 4, 2, 16 },
		{ "pack:2 numa:4 l3:2 core:4 pu:2", true, 128, 8, 2, 64 },
		{ "pack:8 numa:1 core:8 pu:2", true, 128, 8, 8, 64 },
		{ "pack:2 numa:1 die:2 core:3 pu:4", true, 48, 2, 2, 12 },
		{ "pack:3 numa:1 core:5 pu:1", true, 15, 3, 3, 15 },
		{ "numa:2 pack:2 core:2 pu:2", false, 16, 2, 4, 8 },
		{ "numa:8 core:4 pu:1", true, 32, 8, 1, 32 },
		{ "pack:2 core:4 pu:2", true, 16, 1, 2, 8 },
		{ "pack:1 numa:1 core:2 pu:8", true, 16, 1, 1, 2 },
		{ "core:4 pu:2", true, 8, 1, 1, 4 },
		{ "pu:6", true, 6, 1, 1, 6 },
		{ "pack:1 core:1 pu:1", true, 1, 1, 1, 1 },
		{ "pack:2 numa:4 core:128 pu:2", true, 2048, 8, 2, 1024 },
		{ "[numa(memory=64GB)] pack:2 [numa(memory=1GB)] core:4 pu:2", true, 16,
		  3, 2, 8 },
		{ "pack:2 [numa(memory=1GB)] [numa(memory=9GB)] core:4 pu:2", true, 16, 4,
		  2, 8 },
		{ "pack:2 [numa(memory=0)] core:2 pu:2", true, 8, 2, 2, 4 },
		{ "pack:2 numa:1 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)", true, 8, 2, 2,
		  4 },
	};
	struct reason why = { "" };
	struct topo *topo;

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		const char *name = machines[i].description;

		if (topo_load(&topo, name, &why))
			bail("%s", why.text);
		ok(topo->nr_cpus == machines[i].nr_cpus &&
			   topo->nr_nodes == machines[i].nr_nodes &&
			   topo->nr_packages == machines[i].nr_packages &&
			   topo->nr_cores == machines[i].nr_cores,
		   "%s: %u CPUs, %u nodes, %u packages, %u cores", name, topo->nr_cpus,
		   topo->nr_nodes, topo->nr_packages, topo->nr_cores);
		check_properties(topo, machines[i].even, name);
		topo_free(topo);
	}
}

/* The machine of 2013: 4 packages of 10 cores of 2 threads. */
static void four_packages(void)
{
	struct placement p[80];
	struct topo *topo;

	if (topo_load(&topo, "pack:4 numa:1 core:10 pu:2", NULL))
		bail("hwloc knows no synthetic machine");
	topo_plan(topo, pinned(PIN_SPREAD), 80, p);
	ok(distinct(p, 4, offsetof(struct placement, package)) == 4,
	   "4 workers, 4 packages");
	ok(distinct(p, 40, offsetof(struct placement, core)) == 40,
	   "40 workers, 40 cores");
	ok(distinct(p, 80, offsetof(struct placement, cpu)) == 80, "80 workers, 80 CPUs");
	check_plan(topo, pinned(PIN_SPREAD), 9, "0 20 40 60 2 22 42 62 4",
		   "spread takes packages in turn");
	check_plan(topo, pinned(PIN_COMPACT), 9, "0 1 2 3 4 5 6 7 8",
		   "compact takes siblings first");
	topo_free(topo);

	if (topo_load(&topo, "pack:2 numa:2 core:2 pu:2", NULL))
		bail("hwloc knows no synthetic machine");
	check_plan(topo, pinned(PIN_SPREAD), 10, "0 8 4 12 2 10 6 14 1 9",
		   "packages, then the nodes within, then cores, then siblings");
	topo_free(topo);

	if (topo_load(&topo, "numa:2 pack:2 core:2 pu:2", NULL))
		bail("hwloc knows no synthetic machine");
	check_plan(topo, pinned(PIN_SPREAD), 8, "0 8 4 12 2 10 6 14",
		   "nodes that span packages take those in turn");
	topo_free(topo);
}

static void no_pinning(void)
{
	struct topo *topo = make();
	struct placement p[3];
	bool good;

	good = !topo_plan(topo, pinned(PIN_NONE), 3, p);
	for (unsigned i = 0; i < 3; i++)
		good = good && p[i].cpu == -1 && p[i].node == -1 && p[i].mem_node == -1 &&
		       p[i].package == -1 && p[i].core == -1;
	ok(good, "none: everything is -1, even on a machine without CPUs");
	ok(topo_plan(topo, pinned(PIN_SPREAD), 3, p) == -EINVAL,
	   "spread over no CPU is refused");
	ok(topo_plan(topo, pinned(PIN_COMPACT), 0, p) == -EINVAL, "and so is compact");
}

static void gaps_in_cpu_numbers(void)
{
	static const unsigned numbers[] = { 4, 5, 6, 100, 101, 4095 };
	struct topo *topo = make();

	for (unsigned i = 0; i < 6; i++)
		add_cpu(numbers[i], i / 3, i / 3, i);
	check_properties(made_topo(), true, "gaps");
	check_plan(topo, pinned(PIN_SPREAD), 7, "4 100 5 101 6 4095 4",
		   "gaps: numbers are the system's");
}

static void more_than_1024_cpus(void)
{
	struct topo *topo = make();
	struct placement *p;

	/* CPU n is the sibling of CPU n + 768, as firmware likes to number them. */
	for (unsigned cpu = 0; cpu < 1536; cpu++)
		add_cpu(cpu, cpu % 768 / 192, cpu % 768 / 96, cpu % 768);
	check_properties(made_topo(), true, "1536 CPUs");
	p = calloc(1536, sizeof(*p));
	topo_plan(topo, pinned(PIN_SPREAD), 1536, p);
	ok(distinct(p, 768, offsetof(struct placement, core)) == 768,
	   "1536 CPUs: 768 workers, 768 cores");
	ok(p[8].cpu == 1 && p[768].cpu == 768 && p[1535].cpu == 1535,
	   "1536 CPUs: siblings follow in the same order");
	free(p);
}

static void asymmetric_nodes(void)
{
	struct topo *topo = make();
	unsigned cpu = 0;

	/* 1 core of 2, 6 cores of 2, 3 cores of 1 */
	for (unsigned core = 0; core < 10; core++) {
		unsigned package = core < 1 ? 0 : core < 7 ? 1 : 2;

		for (unsigned smt = 0; smt < (core < 7 ? 2 : 1); smt++)
			add_cpu(cpu++, package, package, core);
	}
	check_properties(made_topo(), true, "asymmetric");
	check_plan(topo, pinned(PIN_SPREAD), 18,
		   "0 2 14 1 4 15 6 16 8 10 12 3 5 7 9 11 13 0",
		   "asymmetric: a node without free CPUs drops out");
	check_plan(topo, pinned(PIN_COMPACT), 18,
		   "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 0", "asymmetric: compact");

	/*
	 * Three nodes in one package and one in the other: nodes count more than
	 * packages.
	 */
	topo = make();
	for (cpu = 0; cpu < 8; cpu++)
		add_cpu(cpu, cpu / 6, cpu / 2, cpu);
	check_properties(made_topo(), false, "3 + 1 nodes");
	check_plan(topo, pinned(PIN_SPREAD), 8, "0 6 2 4 1 7 3 5",
		   "3 + 1 nodes: each node in turn");
}

static void one_node_over_packages(void)
{
	struct topo *topo = make();

	for (unsigned cpu = 0; cpu < 16; cpu++)
		add_cpu(cpu, cpu / 4, 0, cpu / 2);
	made.nodes[0].package = UINT_MAX;
	check_properties(made_topo(), true, "one node, 4 packages");
	check_plan(topo, pinned(PIN_SPREAD), 9, "0 4 8 12 2 6 10 14 1",
		   "one node, 4 packages: packages in turn, siblings last");

	/* A second node, which shares package 1 with the first. */
	topo = make();
	for (unsigned cpu = 0; cpu < 4; cpu++)
		add_cpu(cpu, cpu / 2, 0, cpu);
	for (unsigned cpu = 4; cpu < 8; cpu++)
		add_cpu(cpu, 1, 1, cpu);
	check_properties(made_topo(), false, "overlapping packages");
	check_plan(topo, pinned(PIN_SPREAD), 8, "0 4 2 5 1 6 3 7",
		   "overlapping packages");
}

/* A single sibling of each core is allowed, and half of the second node. */
static void restricted_cpus(void)
{
	struct topo *topo = make();

	for (unsigned cpu = 1; cpu < 16; cpu += 2)
		add_cpu(cpu, 0, 0, cpu / 2);
	for (unsigned cpu = 24; cpu < 28; cpu++)
		add_cpu(cpu, 1, 1, cpu / 2);
	check_properties(made_topo(), true, "restricted");
	check_plan(topo, pinned(PIN_SPREAD), 12, "1 24 3 26 5 25 7 27 9 11 13 15",
		   "restricted");
}

static void node_without_cpus(void)
{
	struct topo *topo = make();
	struct placement p[8];
	bool used = false;

	for (unsigned cpu = 0; cpu < 8; cpu++)
		add_cpu(cpu, cpu / 4, cpu / 4, cpu);
	add_node(2, 0, 1ull << 40);
	check_properties(made_topo(), true, "memory-only node");
	topo_plan(topo, pinned(PIN_SPREAD), 8, p);
	for (unsigned i = 0; i < 8; i++)
		used = used || p[i].node == 2 || p[i].mem_node == 2;
	ok(!used, "memory-only node: no worker, and nobody's memory");
	ok(topo_mem_node(topo, 2) == 2, "memory-only node: has its own memory");
}

static void node_without_memory(void)
{
	struct topo *topo = make();
	struct placement p[3];

	for (unsigned cpu = 0; cpu < 3; cpu++)
		add_cpu(cpu, cpu, cpu, cpu);
	made.nodes[1].memory = 0;
	check_properties(made_topo(), true, "memory-less node");
	topo_plan(topo, pinned(PIN_SPREAD), 3, p);
	ok(p[1].node == 1 && p[1].mem_node == 0,
	   "memory-less node: the lowest number helps out");

	/* Distances make another one the nearest. */
	for (unsigned i = 0; i < 3; i++) {
		for (unsigned j = 0; j < 3; j++)
			made.distances[i * 3 + j] = i == j ? 10 : i + j == 1 ? 31 : 21;
	}
	topo->distances = made.distances;
	made_topo();
	topo_plan(topo, pinned(PIN_SPREAD), 3, p);
	ok(p[0].mem_node == 0 && p[1].mem_node == 2 && p[2].mem_node == 2,
	   "memory-less node: the nearest helps out");
	ok(topo_distance(topo, 0, 1) == 31 && topo_distance(topo, 1, 2) == 21 &&
		   topo_distance(topo, 2, 2) == 10 && topo_distance(topo, 0, 7) == 0,
	   "distances by node number");

	/* Memory that the cpuset does not allow is none. */
	made.nodes[2].allowed = false;
	ok(topo_mem_node(topo, 1) == 0 && topo_mem_node(topo, 2) == 1 - 1,
	   "memory that is not allowed does not count");
	made.nodes[0].memory = 0;
	ok(topo_mem_node(topo, 1) == 1, "no memory anywhere: the node itself");

	/* Without distances a node of the same package is nearer. */
	topo = make();
	for (unsigned cpu = 0; cpu < 4; cpu++)
		add_cpu(cpu, cpu / 2, cpu, cpu);
	made.nodes[2].memory = 0;
	ok(topo_mem_node(made_topo(), 2) == 3,
	   "memory-less node: its package helps out first");
	ok(topo_distance(topo, 2, 2) == 10 && topo_distance(topo, 2, 3) == 0,
	   "unknown distances are 0, but to itself");
}

/* POWER numbers its nodes 0, 8, 250 ...; the order of the CPUs given does not matter. */
static void odd_numbers_and_orders(void)
{
	struct topo *topo = make();
	struct placement a[24], b[24];

	for (unsigned cpu = 0; cpu < 24; cpu++)
		add_cpu(cpu, cpu / 8, cpu < 8 ? 0 : cpu < 16 ? 8 : 250, cpu / 4);
	check_properties(made_topo(), true, "nodes 0, 8, 250");
	topo_plan(topo, pinned(PIN_SPREAD), 24, a);
	for (unsigned i = 0; i < 12; i++) {
		struct topo_cpu swap = made.cpus[i];

		made.cpus[i] = made.cpus[23 - i];
		made.cpus[23 - i] = swap;
	}
	topo_plan(topo, pinned(PIN_SPREAD), 24, b);
	ok(!memcmp(a, b, sizeof(a)),
	   "the plan does not depend on the order of the array");
	ok(a[1].node == 8 && a[2].node == 250, "node numbers are the system's");

	topo = make();
	for (unsigned cpu = 0; cpu < 4; cpu++)
		add_cpu(cpu, cpu / 2, cpu < 2 ? 9 : 2, cpu);
	check_plan(made_topo(), pinned(PIN_SPREAD), 4, "0 2 1 3",
		   "packages go first in their order");
}

static void check_pin(const char *text, unsigned nr, const char *expected)
{
	struct reason why = { "" };
	struct pin pin;

	if (pin_parse(&pin, text, &why) || pin_check(&pin, made_topo(), &why))
		bail("--pin %s: %s", text, why.text);
	ok(!strcmp(pin_text(&pin), text), "--pin %s: kept as given", text);
	check_plan(made_topo(), &pin, nr, expected, text);
	pin_destroy(&pin);
}

/* Refused by the parser or by the machine: @what must be in the reason. */
static void refuse_pin(const char *text, const char *what)
{
	struct reason why = { "" };
	struct placement p[1];
	struct pin pin = { 0 };
	int err = pin_parse(&pin, text, &why);

	if (!err) {
		err = pin_check(&pin, made_topo(), &why);
		if (pin.nr == 1)
			ok(topo_plan(made_topo(), &pin, 1, p) == -EINVAL,
			   "--pin %s: and there is no plan", text);
	}
	if (!ok(err == -EINVAL && strstr(why.text, what), "--pin %s: %s", text, what))
		printf("# got: %s\n", why.text);
	pin_destroy(&pin);
}

static void lists(void)
{
	char allowed[] = "0-11";

	/* Three nodes of two cores of two siblings, and one with memory only. */
	make();
	for (unsigned cpu = 0; cpu < 12; cpu++)
		add_cpu(cpu, cpu / 8, cpu / 4, cpu / 2);
	add_node(3, 0, 1 << 30);
	add_node(4, 0, 1 << 30);
	made.nodes[4].nr_online_cpus = 2;
	made.topo.allowed_list = allowed;

	check_pin("spread", 7, "0 8 4 2 10 6 1");
	check_pin("compact", 4, "0 1 2 3");
	check_pin("none", 3, "-1 -1 -1");
	check_pin("node:1", 6, "4 6 5 7 4 6");
	check_pin("node:2,0", 5, "0 8 2 10 1");
	check_pin("node:0,2,0", 5, "0 8 2 10 1");
	check_pin("node:0-2", 7, "0 8 4 2 10 6 1");
	check_pin("cpus:3", 3, "3 3 3");
	check_pin("cpus:11,0,5", 7, "11 0 5 11 0 5 11");
	check_pin("cpus:7,7,1", 4, "7 7 1 7");
	check_pin("cpus:0-10:4", 4, "0 4 8 0");
	check_pin("cpus:0-11:1/6,3", 4, "0 6 3 0");

	refuse_pin("", "spread, compact, node:LIST, cpus:LIST or none");
	refuse_pin("Spread", "spread, compact, node:LIST, cpus:LIST or none");
	refuse_pin("spread:1", "spread, compact, node:LIST, cpus:LIST or none");
	refuse_pin("node", "spread, compact, node:LIST, cpus:LIST or none");
	refuse_pin("node:", "not a list of numbers");
	refuse_pin("cpus:1,", "not a list of numbers");
	refuse_pin("cpus:99999999999", "too large");
	refuse_pin("cpus:0,12", "CPU 12 does not exist; allowed are 0-11");
	refuse_pin("node:1-5", "node 3 has no CPU, only memory; allowed are 0-2");
	refuse_pin("node:4", "node 4 has no CPU that may be used");
	refuse_pin("node:7", "node 7 does not exist; allowed are 0-2");
}

int main(void)
{
	lists();
	synthetic_machines();
	four_packages();
	no_pinning();
	gaps_in_cpu_numbers();
	more_than_1024_cpus();
	asymmetric_nodes();
	one_node_over_packages();
	restricted_cpus();
	node_without_cpus();
	node_without_memory();
	odd_numbers_and_orders();
	return done();
}
