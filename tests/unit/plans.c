/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plans for machines of many kinds, as tests/golden/plans/ has them, and what must hold
 * of all of them at -t 1 to 256. After a change that is meant:
 *
 *	GOLDEN_UPDATE=1 make check TESTS=tests/unit/plans; git diff tests/golden/plans
 *
 * A new machine is a line of the table here and a run of that.
 */
#include <stdarg.h>
#include <string.h>

#include "bench/bench.h"
#include "sys/topo.h"
#include "tap.h"
#include "unit/fixture.h"
#include "unit/plan_properties.h"

#define MAX_CPUS 4096

struct machine {
	const char *name;
	const char *source; /* a synthetic description, or a file of tests/data */
};

static const struct machine machines[] = {
	/* The machine of 2013. */
	{ "four-packages", "pack:4 numa:1 core:10 pu:2" },
	{ "eight-packages", "pack:8 numa:1 core:8 pu:2" },
	/* Sub-NUMA clusters of two generations. */
	{ "sub-numa-2", "pack:2 numa:2 core:8 pu:2" },
	{ "sub-numa-4", "pack:2 numa:4 core:6 pu:2" },
	/* Core complexes: a node a package, four nodes a package, a node a last-level cache. */
	{ "ccx", "pack:2 numa:1 l3:8 core:8 pu:2" },
	{ "ccx-four-nodes", "pack:2 numa:4 l3:2 core:8 pu:2" },
	{ "ccx-as-nodes", "pack:1 numa:12 l3:1 core:8 pu:2" },
	{ "dies", "pack:2 die:2 numa:1 core:4 pu:2" },
	{ "groups", "group:2 pack:4 numa:1 core:4 pu:2" },
	/* Small ones. */
	{ "one-cpu", "pack:1 numa:1 core:1 pu:1" },
	{ "two-cpus", "pack:1 numa:1 core:2 pu:1" },
	{ "one-core", "pack:1 numa:1 core:1 pu:2" },
	{ "laptop", "pack:1 numa:1 l3:1 l2:4 core:1 pu:2" },
	/* Levels that are not there, or the other way round. */
	{ "no-levels", "pu:6" },
	{ "nodes-only", "numa:8 core:4 pu:1" },
	{ "packages-without-nodes", "pack:2 core:4 pu:2" },
	{ "nodes-over-packages", "numa:2 pack:2 core:2 pu:2" },
	{ "three-packages", "pack:3 numa:1 core:5 pu:1" },
	/* Many siblings. */
	{ "four-siblings", "pack:2 numa:1 core:6 pu:4" },
	{ "eight-siblings", "pack:2 numa:1 core:3 pu:8" },
	/* Numbers as firmware gives them: siblings last; packages in turn; backwards. */
	{ "siblings-last",
	  "pack:2 numa:1 core:4 pu:2(indexes=0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15)" },
	{ "packages-in-turn", "pack:2 numa:1 core:4 pu:1(indexes=0,2,4,6,1,3,5,7)" },
	{ "backwards", "pack:1 numa:1 core:8 pu:1(indexes=7,6,5,4,3,2,1,0)" },
	/* Large ones. */
	{ "four-nodes-arm", "pack:2 numa:2 core:48 pu:1" },
	{ "1152-cpus", "pack:8 numa:1 core:72 pu:2" },
	{ "2048-cpus", "pack:2 numa:4 core:128 pu:2" },
	{ "high-numbers", "topology-high-numbers.xml" },
	/* Memory of two kinds; for all packages; none; where there are no CPUs. */
	{ "two-memories", "pack:2 [numa(memory=1GB)] [numa(memory=9GB)] core:4 pu:2" },
	{ "memory-for-all", "[numa(memory=64GB)] pack:2 [numa(memory=1GB)] core:4 pu:2" },
	{ "no-memory", "pack:2 [numa(memory=0)] core:2 pu:2" },
	{ "memory-elsewhere", "topology-memory.xml" },
	{ "power", "topology-power.xml" },
	/* Not all CPUs: a cpuset of CPUs 4 to 6; one that cuts across; CPUs that are off. */
	{ "cpus-4-6", "topology-cpus-4-6.xml" },
	{ "cpuset", "topology-cpuset.xml" },
	{ "offline", "topology-offline.xml" },
	{ "asymmetric", "topology-asymmetric.xml" },
	/* CPUs of different kinds. */
	{ "hybrid", "topology-hybrid.xml" },
	{ "hybrid-cpuset", "topology-hybrid-no-smt.xml" },
	{ "three-kinds", "topology-three-kinds.xml" },
};

static void add(char **text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add(char **text, const char *format, ...)
{
	char *longer, *more;
	va_list ap;
	int err;

	va_start(ap, format);
	err = vasprintf(&more, format, ap) < 0;
	va_end(ap);
	if (err || asprintf(&longer, "%s%s", *text ? *text : "", more) < 0)
		bail("no memory");
	free(more);
	free(*text);
	*text = longer;
}

/* One line: the CPUs by worker, until they start over. */
static void add_plan(char **text, const struct topo *topo, const struct pin *pin)
{
	struct placement p[BENCH_MAX_THREADS];
	unsigned nr = 1;

	if (topo_plan(topo, pin, BENCH_MAX_THREADS, p))
		bail("no plan for --pin %s", pin_text(pin));
	add(text, "%s: %d", pin_text(pin), p[0].cpu);
	for (; nr < BENCH_MAX_THREADS && p[nr].cpu != p[0].cpu; nr++)
		add(text, " %d", p[nr].cpu);
	add(text, nr < BENCH_MAX_THREADS ? "\n" : " ...\n");
}

/* "spread node:1": the last node that has CPUs. */
static void last_node(const struct topo *topo, struct pin *pin, char name[static 32])
{
	unsigned at = topo->nr_nodes - 1;
	struct reason why;

	while (!topo->nodes[at].nr_cpus)
		at--;
	snprintf(name, 32, "node:%u", topo->nodes[at].nid);
	if (pin_parse(pin, name, &why) || pin_check(pin, topo, &why))
		bail("--pin %s: %s", name, why.text);
}

static void check_golden(const struct machine *machine, const struct topo *topo)
{
	const struct pin spread = { .policy = PIN_SPREAD, .text = "spread" };
	const struct pin compact = { .policy = PIN_COMPACT, .text = "compact" };
	char file[64], name[32], *text = NULL;
	struct pin node = { .policy = PIN_SPREAD };

	add(&text, "%s\n%u packages, %u nodes, %u cores, CPUs %s of %u\nmemory of:",
	    machine->source, topo->nr_packages, topo->nr_nodes, topo->nr_cores,
	    topo->allowed_list, topo->nr_machine_cpus);
	for (unsigned i = 0; i < topo->nr_nodes; i++)
		if (topo->nodes[i].nr_cpus)
			add(&text, " %u=%u", topo->nodes[i].nid,
			    topo_mem_node(topo, topo->nodes[i].nid));
	add(&text, "\n");
	add_plan(&text, topo, &spread);
	add_plan(&text, topo, &compact);
	last_node(topo, &node, name);
	add_plan(&text, topo, &node);
	pin_destroy(&node);
	snprintf(file, sizeof(file), "plans/%s.txt", machine->name);
	ok_golden(text, file);
	free(text);
}

/* A plan for fewer workers is the beginning of one for more. */
static bool is_stable(const struct topo *topo, const struct pin *pin,
		      const struct placement *all)
{
	struct placement p[BENCH_MAX_THREADS];

	for (unsigned nr = 1; nr <= BENCH_MAX_THREADS; nr++) {
		if (topo_plan(topo, pin, nr, p) || memcmp(p, all, nr * sizeof(*p)))
			return false;
	}
	return true;
}

/* What does not hold, or NULL. @usable is how many CPUs the policy may use. */
static const char *broken(const struct topo *topo, const struct pin *pin,
			  const bool *wanted, unsigned usable)
{
	struct placement p[BENCH_MAX_THREADS];
	unsigned nr = usable < BENCH_MAX_THREADS ? usable : BENCH_MAX_THREADS;

	memset(p, 0x55, sizeof(p));
	if (topo_plan(topo, pin, BENCH_MAX_THREADS, p))
		return "there is a plan";
	if (!is_consistent(topo, p, BENCH_MAX_THREADS))
		return "CPUs with their nodes";
	if (!uses_each_once(usable, p, BENCH_MAX_THREADS))
		return "no CPU twice before each once";
	if (!is_stable(topo, pin, p))
		return "fewer workers get the beginning of the plan";
	if (pin->policy == PIN_COMPACT && !is_compact(p, nr))
		return "fills cores, nodes, packages";
	if (pin->policy == PIN_COMPACT || pin->policy == PIN_CPUS)
		return NULL;
	if (!nodes_are_balanced(topo, wanted, p, nr))
		return "nodes within one worker";
	return siblings_come_last(topo, p, nr) ? NULL : "cores before siblings";
}

static void check(const struct topo *topo, const struct pin *pin, const bool *wanted,
		  unsigned usable, const char *name)
{
	const char *what = broken(topo, pin, wanted, usable);

	if (!ok(!what, "%s: --pin %s: what must hold", name, pin_text(pin)))
		printf("# does not: %s\n", what);
}

/* Every other node that has CPUs, the last first. */
static void check_nodes(const struct topo *topo, const char *name)
{
	bool wanted[MAX_NODES] = { false };
	unsigned list[MAX_NODES], usable = 0, nth = 0;
	struct pin pin = { .policy = PIN_NODES, .text = "node:LIST", .list = list };

	for (unsigned i = topo->nr_nodes; i--;) {
		if (!topo->nodes[i].nr_cpus || nth++ % 2)
			continue;
		wanted[i] = true;
		list[pin.nr++] = topo->nodes[i].nid;
		usable += topo->nodes[i].nr_cpus;
	}
	check(topo, &pin, wanted, usable, name);
}

/* All CPUs, the last one of the topology first: exactly in this order. */
static void check_cpus(const struct topo *topo, const char *name)
{
	struct placement p[BENCH_MAX_THREADS];
	unsigned list[MAX_CPUS];
	struct pin pin = { .policy = PIN_CPUS, .text = "cpus:LIST", .list = list };
	bool same = true;

	while (pin.nr < topo->nr_cpus) {
		list[pin.nr] = topo->cpus[topo->nr_cpus - 1 - pin.nr].cpu;
		pin.nr++;
	}
	check(topo, &pin, NULL, topo->nr_cpus, name);
	if (topo_plan(topo, &pin, BENCH_MAX_THREADS, p))
		bail("no plan");
	for (unsigned i = 0; i < BENCH_MAX_THREADS; i++)
		same = same && p[i].cpu == (int)list[i % pin.nr];
	ok(same, "%s: --pin cpus:LIST: the order of the list", name);
}

static void check_machine(const struct machine *machine)
{
	const struct pin spread = { .policy = PIN_SPREAD };
	const struct pin compact = { .policy = PIN_COMPACT, .text = "compact" };
	char path[4096];
	const char *source = machine->source, *top = getenv("top_srcdir");
	struct reason why;
	struct topo *topo = NULL;

	if (strstr(source, ".xml")) {
		snprintf(path, sizeof(path), "%s/tests/data/%s", top ? top : ".", source);
		source = path;
	}
	if (topo_load(&topo, source, &why))
		bail("%s", why.text);
	if (topo->nr_nodes > MAX_NODES || topo->nr_cpus > MAX_CPUS)
		bail("%s is too large", machine->name);
	check_golden(machine, topo);
	check(topo, &spread, NULL, topo->nr_cpus, machine->name);
	check(topo, &compact, NULL, topo->nr_cpus, machine->name);
	check_nodes(topo, machine->name);
	check_cpus(topo, machine->name);
	topo_free(topo);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		check_machine(&machines[i]);
	return done();
}
