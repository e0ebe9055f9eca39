/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command that times truncations. */
#include <argp.h>

#include "cli/cli.h"
#include "cli/measure.h"

#define DEFAULT_BASELINE "cache:batch=1,truncate-batch=1"
#define DEFAULT_PATCHED	 "cache:batch=1,truncate-batch=15"
#define DEFAULT_PAGES	 1024
#define DEFAULT_COUNT	 10000
#define DEFAULT_RUNS	 5
#define MAX_PAGES	 (1U << 28)
#define MAX_COUNT	 10000000

enum {
	KEY_PAGES = KEY_OF_COMMAND,
	KEY_COUNT,
	KEY_RUNS,
	KEY_STATE,
	KEY_MAPPED,
};

struct input {
	struct measurement m;
	struct measurement_sides sides;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const states[] = { "clean", "dirty", NULL };
	static const char *const mappings[] = { "no", "yes", NULL };
	struct input *input = state->input;
	struct bench_truncation *truncation = &input->m.truncation;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &input->m.options;
		return 0;
	case KEY_PAGES:
		input->m.pages = options_number("--pages", arg, 1, MAX_PAGES);
		return 0;
	case KEY_COUNT:
		truncation->count = options_number("--count", arg, 1, MAX_COUNT);
		return 0;
	case KEY_RUNS:
		options_rounds(&input->m.options, "--runs", arg);
		return 0;
	case KEY_STATE:
		truncation->dirty = options_choose("--state", arg, states);
		return 0;
	case KEY_MAPPED:
		truncation->mapped = options_choose("--mapped", arg, mappings);
		return 0;
	default:
		return measurement_option(&input->m, &input->sides, key, arg);
	}
}

static void init(struct input *input, int argc, char **argv)
{
	struct measurement *m = &input->m;

	measurement_init(m, argc, argv);
	m->options.rounds = DEFAULT_RUNS;
	m->truncates = true;
	m->pages = DEFAULT_PAGES;
	m->truncation =
		(struct bench_truncation){ .count = DEFAULT_COUNT, .dirty = true };
}

int cmd_truncate(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ NULL, 0, NULL, 0, "What is measured:", 1 },
		SIDES_OPTIONS(DEFAULT_BASELINE, DEFAULT_PATCHED),
		{ "pages", KEY_PAGES, "N", 0,
		  "Pages of 4 KiB that a truncation removes (default 1024)", 1 },
		{ "count", KEY_COUNT, "N", 0,
		  "Truncations of each thread and side in a run (default 10000)", 1 },
		{ "runs", KEY_RUNS, "N|auto", 0,
		  "Rows of the table (default 5); auto goes on until speed-ups are precise",
		  1 },
		{ "state", KEY_STATE, "clean|dirty", 0,
		  "Pages are only loaded, or stored to (default dirty)", 1 },
		{ "mapped", KEY_MAPPED, "yes|no", 0,
		  "Whether they are mapped while they are truncated (default no)", 1 },
		{ 0 },
	};
	static const char doc[] =
		"Times truncations of a file that is wholly in the page cache, and prints for each "
		"run the 1st and 95th percentile of a baseline and a patched page cache.\v"
		"An engine is cache:batch=N[,truncate-batch=M] (the in-process page cache; M "
		"folios are removed under one tree_lock hold, 1 to 512, default 15), "
		"tmpfs:huge=KIND or kernel:dir=DIR (the running kernel's). pagezone(1) tells "
		"their other keys.";
	static const struct argp_child children[] = { { &truncate_argp, 0, NULL, 2 },
						      { 0 } };
	const struct argp argp = { options, parse, NULL, doc, children, NULL, NULL };
	struct input input = { 0 };
	struct measurement *m = &input.m;
	int status;

	init(&input, argc, argv);
	argp_parse(&argp, argc, argv, 0, NULL, &input);
	options_default_threads(&m->options, 1);
	measurement_add_sides(m, &input.sides, DEFAULT_BASELINE, DEFAULT_PATCHED);
	status = measurement_run(m);
	measurement_destroy(m);
	return status;
}
