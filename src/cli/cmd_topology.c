/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command topology: the machine, and the plan of the workers on it. */
#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/format.h"
#include "base/parse.h"
#include "bench/bench.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "report/text.h"
#include "result/fields.h"
#include "sys/topo.h"

enum { KEY_TOPOLOGY = 256, KEY_PIN, KEY_MEM };

struct input {
	const char *source;
	unsigned threads; /* 0: as many as there are CPUs */
	struct pin pin;
	struct mem_policy mem;
	bool json;
};

static void threads_argument(struct input *input, const char *arg)
{
	unsigned *list;
	size_t nr;

	if (parse_threads(arg, &list, &nr))
		fail(EXIT_USAGE,
		     "-t %s: not a thread count, or a list of them, from 1 to %u", arg,
		     PARSE_MAX_THREADS);
	/* Placements do not depend on the count: the longest plan holds the shorter ones. */
	for (size_t i = 0; i < nr; i++)
		if (list[i] > input->threads)
			input->threads = list[i];
	free(list);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct input *input = state->input;

	switch (key) {
	case 't':
		threads_argument(input, arg);
		return 0;
	case KEY_TOPOLOGY:
		input->source = arg;
		return 0;
	case KEY_PIN:
		options_pin(&input->pin, arg);
		return 0;
	case KEY_MEM:
		options_mem(&input->mem, arg);
		return 0;
	case 'f':
		input->json = !strcmp(arg, "json");
		if (!input->json && strcmp(arg, "table"))
			fail(EXIT_USAGE, "-f %s: it can be table or json", arg);
		return 0;
	case ARGP_KEY_ARG:
		fail(EXIT_USAGE, "unexpected argument '%s'", arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- sets of CPUs ---- */

enum cpu_set { OF_PACKAGE, OF_NODE, OF_KIND };

struct cpu_count {
	unsigned nr_cpus, nr_cores;
	char *list; /* "0-3,8" */
};

static bool is_of(const struct topo_cpu *cpu, enum cpu_set set, unsigned number)
{
	return number == (set == OF_PACKAGE ? cpu->package :
			  set == OF_NODE    ? cpu->node :
					      cpu->kind);
}

/* The allowed CPUs of a package, node or kind. Ends the process where there is no memory. */
static struct cpu_count count_cpus(const struct topo *topo, enum cpu_set set,
				   unsigned number)
{
	unsigned *cpus = malloc(topo->nr_cpus * sizeof(*cpus));
	struct cpu_count count = { 0 };

	for (unsigned i = 0; cpus && i < topo->nr_cpus; i++) {
		if (!is_of(&topo->cpus[i], set, number))
			continue;
		cpus[count.nr_cpus++] = topo->cpus[i].cpu;
		count.nr_cores += !topo->cpus[i].smt;
	}
	if (cpus) {
		qsort(cpus, count.nr_cpus, sizeof(*cpus), compare_unsigned);
		count.list = format_list(cpus, count.nr_cpus);
	}
	free(cpus);
	if (!count.list)
		fail(EXIT_CANNOT, "out of memory");
	return count;
}

/* The package of the first CPU at or after *@at, which moves to the next one's. */
static bool next_package(const struct topo *topo, unsigned *at, unsigned *package)
{
	if (*at == topo->nr_cpus)
		return false;
	*package = topo->cpus[*at].package;
	while (*at < topo->nr_cpus && topo->cpus[*at].package == *package)
		++*at;
	return true;
}

static const char *cache_name(const struct topo_cache *cache, char name[static 16])
{
	snprintf(name, 16, "L%u%s", cache->level, cache->is_data ? "d" : "");
	return name;
}

static const char *machine_name(const struct topo *topo, const struct input *input)
{
	if (topo->is_this_machine)
		return "this machine";
	return input->source ? input->source : "another machine";
}

/* ---- as tables ---- */

static void print_number(int width, int number)
{
	if (number < 0)
		printf("%*s", width, "-");
	else
		printf("%*d", width, number);
}

static const char *list_or_none(const struct cpu_count *count)
{
	return *count->list ? count->list : "none";
}

static void print_packages(const struct topo *topo)
{
	unsigned at = 0, package;

	printf("%7s%8s%8s  %s\n", "package", "cores", "CPUs", "allowed");
	while (next_package(topo, &at, &package)) {
		struct cpu_count count = count_cpus(topo, OF_PACKAGE, package);

		printf("%7u%8u%8u  %s\n", package, count.nr_cores, count.nr_cpus,
		       list_or_none(&count));
		free(count.list);
	}
}

static void print_nodes(const struct topo *topo)
{
	printf("\n%7s%10s%14s%8s  %s\n", "node", "package", "memory", "CPUs", "allowed");
	for (unsigned i = 0; i < topo->nr_nodes; i++) {
		const struct topo_node *node = &topo->nodes[i];
		struct cpu_count count = count_cpus(topo, OF_NODE, node->nid);

		printf("%7u", node->nid);
		print_number(10, node->package == UINT_MAX ? -1 : (int)node->package);
		printf("%14s%8u  %s%s\n",
		       node->memory ? format_size(node->memory).text : "none",
		       node->nr_online_cpus, list_or_none(&count),
		       node->memory && !node->allowed ? ", memory not allowed" : "");
		free(count.list);
	}
}

static void print_distances(const struct topo *topo)
{
	if (topo->nr_nodes < 2)
		return;
	if (!topo->distances) {
		printf("\ndistances of nodes: unknown\n");
		return;
	}
	printf("\n%7s", "from to");
	for (unsigned to = 0; to < topo->nr_nodes; to++)
		printf("%6u", topo->nodes[to].nid);
	for (unsigned from = 0; from < topo->nr_nodes; from++) {
		printf("\n%7u", topo->nodes[from].nid);
		for (unsigned to = 0; to < topo->nr_nodes; to++) {
			unsigned distance = topo_distance(topo, topo->nodes[from].nid,
							  topo->nodes[to].nid);

			print_number(6, distance ? (int)distance : -1);
		}
	}
	putchar('\n');
}

static void print_kinds(const struct topo *topo)
{
	if (topo->nr_kinds < 2)
		return;
	printf("\n%7s%14s%12s%9s%8s  %s\n", "kind", "name", "efficiency", "max MHz",
	       "CPUs", "allowed");
	for (unsigned i = 0; i < topo->nr_kinds; i++) {
		const struct topo_kind *kind = &topo->kinds[i];
		struct cpu_count count = count_cpus(topo, OF_KIND, i);

		printf("%7u%14s", i, *kind->name ? kind->name : "-");
		print_number(12, kind->efficiency);
		print_number(9, kind->max_mhz ? (int)kind->max_mhz : -1);
		printf("%8u  %s\n", kind->nr_cpus, list_or_none(&count));
		free(count.list);
	}
}

static void print_caches(const struct topo *topo)
{
	char name[16];

	if (!topo->nr_caches)
		return;
	printf("\n%7s%12s%8s%14s\n", "cache", "size", "number", "CPUs of each");
	for (unsigned i = 0; i < topo->nr_caches; i++) {
		const struct topo_cache *cache = &topo->caches[i];

		printf("%7s%12s%8u%14u\n", cache_name(cache, name),
		       cache->bytes ? format_size(cache->bytes).text : "-", cache->nr,
		       cache->nr_cpus);
	}
}

/* "0-3,8": the nodes that memory comes from, whoever the worker is. NULL: each has its own. */
static char *common_nodes(const struct mem_policy *mem)
{
	char *list;

	if (!mem->nr)
		return NULL;
	list = format_list(mem->nodes, mem->nr);
	if (!list)
		fail(EXIT_CANNOT, "out of memory");
	return list;
}

static void print_plan(const struct placement *plan, unsigned nr,
		       const struct mem_policy *mem)
{
	char *nodes = common_nodes(mem);

	printf("%7s%6s%6s%10s%8s%16s\n", "worker", "CPU", "node", "package", "core",
	       "memory of node");
	for (unsigned i = 0; i < nr; i++) {
		print_number(7, (int)i);
		print_number(6, plan[i].cpu);
		print_number(6, plan[i].node);
		print_number(10, plan[i].package);
		print_number(8, plan[i].core);
		if (nodes)
			printf("%16s", nodes);
		else
			print_number(16, plan[i].mem_node);
		putchar('\n');
	}
	free(nodes);
}

static void print_text(const struct topo *topo, const struct placement *plan, unsigned nr,
		       const struct input *input)
{
	struct reason kinds;

	text_put(stdout, machine_name(topo, input));
	printf(": %u package%s, %u node%s, %u core%s; %u of %u CPU%s allowed: %s\n",
	       topo->nr_packages, topo->nr_packages == 1 ? "" : "s", topo->nr_nodes,
	       topo->nr_nodes == 1 ? "" : "s", topo->nr_cores,
	       topo->nr_cores == 1 ? "" : "s", topo->nr_cpus, topo->nr_machine_cpus,
	       topo->nr_machine_cpus == 1 ? "" : "s", topo->allowed_list);
	if (*topo->offline_list)
		printf("offline: %s\n", topo->offline_list);
	if (topo->missing)
		printf("note: %s\n", topo->missing);
	putchar('\n');
	print_packages(topo);
	print_nodes(topo);
	print_distances(topo);
	print_kinds(topo);
	print_caches(topo);
	printf("\n%u worker%s, --pin %s, --mem %s:\n", nr, nr == 1 ? "" : "s",
	       pin_text(&input->pin), mem_policy_text(&input->mem));
	print_plan(plan, nr, &input->mem);
	if (topo_kinds_differ(topo, plan, nr, &kinds))
		printf("\nnote: workers on CPUs of different kinds: %s\n", kinds.text);
	if (input->mem.kind == MEM_REMOTE && mem_nr_nodes(topo) < 2)
		printf("\nnote: there is one node with memory: remote is local\n");
}

/* ---- as JSON ---- */

static json_t *number_or_null(int number)
{
	return number < 0 ? json_null() : json_integer(number);
}

/* Appends @item, or makes an end of @array where there is none. */
static json_t *appended(json_t *array, json_t *item)
{
	if (!json_array_append_new(array, item))
		return array;
	json_decref(array);
	return NULL;
}

static json_t *packages_json(const struct topo *topo)
{
	json_t *packages = json_array();
	unsigned at = 0, package;

	while (packages && next_package(topo, &at, &package)) {
		struct cpu_count count = count_cpus(topo, OF_PACKAGE, package);

		packages = appended(packages,
				    json_pack("{s:i, s:i, s:i, s:s}", "package",
					      (int)package, "cores", (int)count.nr_cores,
					      "cpus", (int)count.nr_cpus, "allowed_cpus",
					      count.list));
		free(count.list);
	}
	return packages;
}

static json_t *nodes_json(const struct topo *topo)
{
	json_t *nodes = json_array();

	for (unsigned i = 0; nodes && i < topo->nr_nodes; i++) {
		const struct topo_node *node = &topo->nodes[i];
		int package = node->package == UINT_MAX ? -1 : (int)node->package;
		struct cpu_count count = count_cpus(topo, OF_NODE, node->nid);

		nodes = appended(
			nodes,
			json_pack("{s:i, s:o, s:I, s:b, s:i, s:i, s:s}", "node",
				  (int)node->nid, "package", number_or_null(package),
				  "memory", (json_int_t)node->memory, "memory_allowed",
				  node->allowed, "machine_cpus",
				  (int)node->nr_online_cpus, "cpus", (int)node->nr_cpus,
				  "allowed_cpus", count.list));
		free(count.list);
	}
	return nodes;
}

/* A row for each node, in their order; null: unknown. */
static json_t *distances_json(const struct topo *topo)
{
	json_t *rows = topo->distances ? json_array() : json_null();

	for (unsigned i = 0; topo->distances && rows && i < topo->nr_nodes; i++) {
		json_t *row = json_array();

		for (unsigned j = 0; row && j < topo->nr_nodes; j++) {
			unsigned d = topo_distance(topo, topo->nodes[i].nid,
						   topo->nodes[j].nid);

			row = appended(row, number_or_null(d ? (int)d : -1));
		}
		rows = appended(rows, row);
	}
	return rows;
}

static json_t *kinds_json(const struct topo *topo)
{
	json_t *kinds = json_array();

	for (unsigned i = 0; kinds && i < topo->nr_kinds; i++) {
		const struct topo_kind *kind = &topo->kinds[i];
		int mhz = kind->max_mhz ? (int)kind->max_mhz : -1;
		struct cpu_count count = count_cpus(topo, OF_KIND, i);

		kinds = appended(
			kinds, json_pack("{s:i, s:s, s:o, s:o, s:i, s:s}", "kind", (int)i,
					 "name", kind->name, "efficiency",
					 number_or_null(kind->efficiency), "max_mhz",
					 number_or_null(mhz), "cpus", (int)kind->nr_cpus,
					 "allowed_cpus", count.list));
		free(count.list);
	}
	return kinds;
}

static json_t *caches_json(const struct topo *topo)
{
	json_t *caches = json_array();

	for (unsigned i = 0; caches && i < topo->nr_caches; i++) {
		const struct topo_cache *cache = &topo->caches[i];
		char name[16];

		caches = appended(caches, json_pack("{s:s, s:i, s:I, s:i, s:i}", "cache",
						    cache_name(cache, name), "level",
						    (int)cache->level, "bytes",
						    (json_int_t)cache->bytes, "number",
						    (int)cache->nr, "cpus_of_each",
						    (int)cache->nr_cpus));
	}
	return caches;
}

static int worker_kind(const struct topo *topo, const struct placement *placement)
{
	const struct topo_cpu *cpu = NULL;

	if (placement->cpu >= 0)
		cpu = topo_find_cpu(topo, (unsigned)placement->cpu);
	return cpu && cpu->kind < topo->nr_kinds ? (int)cpu->kind : -1;
}

static json_t *workers_json(const struct topo *topo, const struct placement *plan,
			    unsigned nr)
{
	json_t *workers = json_array();

	for (unsigned i = 0; workers && i < nr; i++)
		workers = appended(
			workers,
			json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "worker", (int)i,
				  "cpu", number_or_null(plan[i].cpu), "node",
				  number_or_null(plan[i].node), "package",
				  number_or_null(plan[i].package), "core",
				  number_or_null(plan[i].core), "kind",
				  number_or_null(worker_kind(topo, &plan[i])),
				  "memory_node", number_or_null(plan[i].mem_node)));
	return workers;
}

static json_t *memory_nodes_json(const struct mem_policy *mem)
{
	json_t *nodes;

	if (!mem->nr)
		return json_null();
	nodes = json_array();
	for (unsigned i = 0; nodes && i < mem->nr; i++)
		nodes = appended(nodes, json_integer(mem->nodes[i]));
	return nodes;
}

static int print_json(const struct topo *topo, const struct placement *plan, unsigned nr,
		      const struct input *input)
{
	json_t *root = json_pack(
		"{s:o, s:i, s:i, s:i, s:i, s:s, s:s, s:s?, s:s, s:s, s:o, s:o, s:o, s:o, "
		"s:o, s:o, s:o}",
		"topology", fields_string(machine_name(topo, input)), "packages",
		(int)topo->nr_packages, "cores", (int)topo->nr_cores, "machine_cpus",
		(int)topo->nr_machine_cpus, "cpus", (int)topo->nr_cpus, "allowed_cpus",
		topo->allowed_list, "offline_cpus", topo->offline_list, "note",
		topo->missing, "pin", pin_text(&input->pin), "mem",
		mem_policy_text(&input->mem), "memory_nodes",
		memory_nodes_json(&input->mem), "package_list", packages_json(topo),
		"nodes", nodes_json(topo), "distances", distances_json(topo), "kinds",
		kinds_json(topo), "caches", caches_json(topo), "workers",
		workers_json(topo, plan, nr));
	int err;

	if (!root)
		return -ENOMEM;
	err = json_dumpf(root, stdout, JSON_INDENT(2));
	json_decref(root);
	putchar('\n');
	return err ? -EIO : 0;
}

int cmd_topology(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "threads", 't', "LIST", 0,
		  "How many workers are planned (default: as many as CPUs)", 0 },
		{ "topology", KEY_TOPOLOGY, "TOPOLOGY", 0,
		  "Another machine: an hwloc synthetic string or XML file", 0 },
		{ "pin", KEY_PIN, PIN_SYNTAX, 0, "Which CPUs (default spread)", 0 },
		{ "mem", KEY_MEM, MEM_SYNTAX, 0, "Which nodes' memory (default local)",
		  0 },
		{ "format", 'f', "table|json", 0, "Of standard output (default table)",
		  0 },
		{ 0 },
	};
	static const char doc[] =
		"Shows the machine as pagezone sees it, and which CPU and node "
		"each worker would get.";
	const struct argp argp = { options, parse, NULL, doc, NULL, NULL, NULL };
	struct placement plan[BENCH_MAX_THREADS];
	struct input input = { .source = NULL };
	struct reason why;
	struct topo *topo;
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &input);
	err = topo_load(&topo, input.source, &why);
	if (err)
		fail(input.source ? EXIT_USAGE : EXIT_CANNOT, "%s", why.text);
	options_check_pin(&input.pin, topo);
	options_resolve_mem(&input.mem, &input.pin, topo);
	if (!input.threads)
		input.threads = topo->nr_cpus < BENCH_MAX_THREADS ? topo->nr_cpus :
								    BENCH_MAX_THREADS;
	err = topo_plan(topo, &input.pin, input.threads, plan);
	if (err)
		fail(EXIT_CANNOT, "no plan: %s", strerror(-err));
	for (unsigned i = 0; i < input.threads; i++)
		plan[i].mem_node = mem_policy_node(&input.mem, topo, plan[i].mem_node);
	if (input.json)
		err = print_json(topo, plan, input.threads, &input);
	else
		print_text(topo, plan, input.threads, &input);
	topo_free(topo);
	pin_destroy(&input.pin);
	mem_policy_destroy(&input.mem);
	return printed(err);
}
