/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command topology: the machine, and the plan of the workers on it. */
#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/parse.h"
#include "bench/bench.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "sys/topo.h"

enum { KEY_TOPOLOGY = 256, KEY_PIN };

struct input {
	const char *source;
	unsigned threads; /* 0: as many as there are CPUs */
	struct pin pin;
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

/* ---- as tables ---- */

static void print_nodes(const struct topo *topo)
{
	printf("%6s%10s%14s%8s\n", "node", "package", "memory", "CPUs");
	for (unsigned i = 0; i < topo->nr_nodes; i++) {
		const struct topo_node *node = &topo->nodes[i];
		char package[16] = "-";

		if (node->package != UINT_MAX)
			snprintf(package, sizeof(package), "%u", node->package);
		printf("%6u%10s%14s%8u\n", node->nid, package,
		       node->memory ? format_size(node->memory).text : "none",
		       node->nr_cpus);
	}
}

static void print_number(int width, int number)
{
	if (number < 0)
		printf("%*s", width, "-");
	else
		printf("%*d", width, number);
}

static void print_plan(const struct placement *plan, unsigned nr)
{
	printf("%6s%6s%6s%10s%8s%16s\n", "worker", "CPU", "node", "package", "core",
	       "memory of node");
	for (unsigned i = 0; i < nr; i++) {
		print_number(6, (int)i);
		print_number(6, plan[i].cpu);
		print_number(6, plan[i].node);
		print_number(10, plan[i].package);
		print_number(8, plan[i].core);
		print_number(16, plan[i].mem_node);
		putchar('\n');
	}
}

static void print_text(const struct topo *topo, const struct placement *plan, unsigned nr,
		       const struct input *input)
{
	printf("%s: %u package%s, %u node%s, %u core%s; %u of %u CPU%s allowed: %s\n\n",
	       topo->is_this_machine ? "this machine" : input->source, topo->nr_packages,
	       topo->nr_packages == 1 ? "" : "s", topo->nr_nodes,
	       topo->nr_nodes == 1 ? "" : "s", topo->nr_cores,
	       topo->nr_cores == 1 ? "" : "s", topo->nr_cpus, topo->nr_machine_cpus,
	       topo->nr_machine_cpus == 1 ? "" : "s", topo->allowed_list);
	print_nodes(topo);
	printf("\n%u worker%s, --pin %s:\n", nr, nr == 1 ? "" : "s",
	       pin_text(&input->pin));
	print_plan(plan, nr);
}

/* ---- as JSON ---- */

static json_t *number_or_null(int number)
{
	return number < 0 ? json_null() : json_integer(number);
}

static json_t *nodes_json(const struct topo *topo)
{
	json_t *nodes = json_array();

	for (unsigned i = 0; nodes && i < topo->nr_nodes; i++) {
		const struct topo_node *node = &topo->nodes[i];
		int package = node->package == UINT_MAX ? -1 : (int)node->package;

		if (json_array_append_new(nodes,
					  json_pack("{s:i, s:o, s:I, s:i}", "node",
						    (int)node->nid, "package",
						    number_or_null(package), "memory",
						    (json_int_t)node->memory, "cpus",
						    (int)node->nr_cpus))) {
			json_decref(nodes);
			return NULL;
		}
	}
	return nodes;
}

static json_t *workers_json(const struct placement *plan, unsigned nr)
{
	json_t *workers = json_array();

	for (unsigned i = 0; workers && i < nr; i++) {
		json_t *worker = json_pack("{s:i, s:o, s:o, s:o, s:o, s:o}", "worker",
					   (int)i, "cpu", number_or_null(plan[i].cpu),
					   "node", number_or_null(plan[i].node),
					   "package", number_or_null(plan[i].package),
					   "core", number_or_null(plan[i].core),
					   "memory_node",
					   number_or_null(plan[i].mem_node));

		if (json_array_append_new(workers, worker)) {
			json_decref(workers);
			return NULL;
		}
	}
	return workers;
}

static int print_json(const struct topo *topo, const struct placement *plan, unsigned nr,
		      const struct input *input)
{
	json_t *root = json_pack(
		"{s:s, s:i, s:i, s:i, s:i, s:s, s:s, s:o, s:o}", "topology",
		topo->is_this_machine ? "this machine" : input->source, "packages",
		(int)topo->nr_packages, "cores", (int)topo->nr_cores, "machine_cpus",
		(int)topo->nr_machine_cpus, "cpus", (int)topo->nr_cpus, "allowed_cpus",
		topo->allowed_list, "pin", pin_text(&input->pin), "nodes",
		nodes_json(topo), "workers", workers_json(plan, nr));
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
		{ "pin", KEY_PIN, PIN_SYNTAX, 0, "The policy (default spread)", 0 },
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
	if (!input.threads)
		input.threads = topo->nr_cpus < BENCH_MAX_THREADS ? topo->nr_cpus :
								    BENCH_MAX_THREADS;
	err = topo_plan(topo, &input.pin, input.threads, plan);
	if (err)
		fail(EXIT_CANNOT, "no plan: %s", strerror(-err));
	if (input.json)
		err = print_json(topo, plan, input.threads, &input);
	else
		print_text(topo, plan, input.threads, &input);
	topo_free(topo);
	pin_destroy(&input.pin);
	if (err || fflush(stdout) || ferror(stdout)) {
		say("standard output: %s", strerror(err ? -err : errno));
		return EXIT_CANNOT;
	}
	return EXIT_DONE;
}
