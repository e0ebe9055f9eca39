/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said of the CPUs before a run: kinds that are mixed, quotas, what is not told. */
#include "bench/advice.h"

#include <string.h>

#include "bench/record.h"
#include "tap.h"

/* 8 CPUs on 4 cores of 2 siblings, of the first kind, and 4 cores without, of the second. */
static struct topo_cpu cpus[12];
static struct topo_node node = { .package = 0, .memory = 1 << 30, .allowed = true };
static char fast[] = "IntelCore", slow[] = "";
static struct topo_kind kinds[] = { { .name = slow }, { .name = fast } };
static struct topo topo = {
	.cpus = cpus,
	.nr_cpus = 12,
	.nodes = &node,
	.nr_nodes = 1,
	.kinds = kinds,
	.nr_kinds = 2,
};

static void make_topo(void)
{
	for (unsigned i = 0; i < 12; i++) {
		cpus[i] = (struct topo_cpu){
			.cpu = i,
			.core = i < 8 ? i / 2 : i - 4,
			.smt = i < 8 && i % 2,
			.kind = i < 8,
		};
		kinds[i < 8].nr_cpus++;
	}
}

/* The warnings of a run, one a line. */
static const char *advice(const struct pin *pin, const unsigned *threads, unsigned nr,
			  double quota)
{
	static char text[4096];
	struct bench_conf conf = {
		.topo = &topo, .threads = threads, .nr_threads = nr, .pin = *pin
	};
	struct result *result = result_alloc();
	struct record record = { .conf = &conf, .result = result };

	result->environment.cpu_quota = quota;
	if (advice_on_cpus(&record))
		bail("no advice");
	*text = '\0';
	for (unsigned i = 0; i < result->nr_warnings; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s\n",
			 result->warnings[i]);
	result_free(result);
	return text;
}

static void check(bool good, const char *text, const char *name)
{
	if (!ok(good, "%s", name))
		printf("# got: %s", text);
}

static void mixed_kinds(void)
{
	static const unsigned threads[] = { 1, 8, 4, 5, 12 };
	static unsigned same[] = { 0, 2, 4, 11 };
	const struct pin spread = { 0 }, compact = { .policy = PIN_COMPACT },
			 none = { .policy = PIN_NONE };
	struct pin list = { .policy = PIN_CPUS, .list = same, .nr = 3 };
	const char *text;

	text = advice(&spread, threads, 5, 0);
	check(strstr(text, "-t 8 run on CPUs of different kinds (4 on kind 0, 4 on "
			   "IntelCore)") &&
		      !strstr(strstr(text, "kinds") + 5, "kinds"),
	      text, "workers on different kinds: told once, with how many on which");
	text = advice(&spread, threads, 1, 0);
	check(!*text, text, "one worker is on one kind");
	text = advice(&compact, threads, 2, 0);
	check(!*text, text, "compact: eight siblings of one kind");
	text = advice(&compact, threads, 5, 0);
	check(strstr(text, "(4 on kind 0, 8 on IntelCore)") != NULL, text,
	      "compact: twelve are not");
	text = advice(&list, threads, 5, 0);
	check(!*text, text, "a list of CPUs of one kind");
	list.nr = 4;
	text = advice(&list, threads + 2, 1, 0);
	check(strstr(text, "(1 on kind 0, 3 on IntelCore)") != NULL, text,
	      "a list of both");
	text = advice(&none, threads, 1, 0);
	check(strstr(text, "-t 1 run on CPUs of different kinds (not bound)") != NULL,
	      text, "a worker that is not bound may be on either");
	topo.nr_kinds = 1;
	text = advice(&spread, threads, 5, 0);
	check(!*text, text, "on a machine of one kind there is nothing to say");
	topo.nr_kinds = 0;
	text = advice(&none, threads, 5, 0);
	check(!*text, text, "nor where kinds are not told");
}

static void quotas(void)
{
	static const unsigned threads[] = { 1, 256, 2 };
	static unsigned same[] = { 3, 3 };
	const struct pin spread = { 0 }, none = { .policy = PIN_NONE },
			 list = { .policy = PIN_CPUS, .list = same, .nr = 2 };
	const char *text = advice(&spread, threads, 3, 1.5);

	check(strstr(text, "quota is 1.50 CPUs") && strstr(text, "-t 256 uses 12 CPUs"),
	      text, "a quota below the CPUs that workers use is told");
	text = advice(&spread, threads, 1, 1);
	check(!*text, text, "a quota of as many is not");
	text = advice(&spread, threads, 2, 12);
	check(!*text, text, "whatever the number of workers");
	text = advice(&spread, threads, 1, 0.25);
	check(strstr(text, "quota is 0.25 CPUs") != NULL, text, "a quarter of a CPU");
	text = advice(&list, threads, 3, 1);
	check(!*text, text, "workers that share one CPU");
	text = advice(&none, threads, 3, 11.99);
	check(strstr(text, "11.99 CPUs") && strstr(text, "12 CPUs"), text,
	      "workers that are not bound use all CPUs");
}

/* CPUs 0 to 3 are on the one node, the others on one whose memory they do not get. */
static void memory_elsewhere(void)
{
	static const unsigned threads[] = { 1, 12 };
	struct topo_node nodes[] = { node, { .nid = 3, .allowed = true } };
	struct topo whole = topo;
	const struct pin spread = { 0 }, none = { .policy = PIN_NONE };
	const char *text;

	topo.nodes = nodes;
	topo.nr_nodes = 2;
	for (unsigned i = 4; i < 12; i++)
		cpus[i].node = 3;
	text = advice(&spread, threads, 1, 0);
	check(!*text, text, "workers on a node with memory: nothing to say");
	text = advice(&spread, threads, 2, 0);
	check(!strcmp(text,
		      "node 3 has no memory: to its workers that of node 0 counts as "
		      "local\n"),
	      text,
	      "a node without memory is told once, with the one that it gets it from");
	nodes[1].memory = 1 << 30;
	nodes[1].allowed = false;
	text = advice(&spread, threads, 2, 0);
	check(strstr(text, "node 3 has no memory that may be used (cpuset.mems)") != NULL,
	      text, "so is one whose memory may not be used");
	text = advice(&none, threads, 2, 0);
	check(!*text, text, "nobody is on it who is not pinned");
	for (unsigned i = 4; i < 12; i++)
		cpus[i].node = 0;
	topo = whole;
}

int main(void)
{
	static const unsigned one = 1;
	const char *text;

	make_topo();
	mixed_kinds();
	quotas();
	memory_elsewhere();
	topo.missing = "the kernel tells no NUMA nodes";
	text = advice(&(struct pin){ 0 }, &one, 1, 0);
	check(!strcmp(text, "the kernel tells no NUMA nodes\n"), text,
	      "what the system does not tell is told");
	return done();
}
