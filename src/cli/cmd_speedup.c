/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands that measure the seven phases: speedup and run. */
#include <argp.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/measure.h"

#define DEFAULT_BASELINE "cache:batch=1"
#define DEFAULT_PATCHED	 "cache:batch=512"

#define ENGINES_HELP                                                                           \
	"An engine is cache:batch=N (the in-process page cache, N pages a fault, a power of "  \
	"two up to 512; with map=uffd behind real page faults), tmpfs:huge=KIND (the running " \
	"kernel's, on a private tmpfs: never, always, within_size, advise), kernel:dir=DIR "   \
	"(the same, on any file system), memory (plain copies: the limit) or null (the "       \
	"harness alone). pagezone(1) tells their other keys."

enum {
	KEY_BASELINE = 512,
	KEY_PATCHED,
	KEY_MIN_SPEEDUP,
	KEY_MAX_REGRESSION,
	KEY_REFERENCE,
	KEY_ENGINE,
};

struct input {
	struct measurement m;
	struct measurement_sides sides;
	const char *engine;
};

static error_t parse_speedup(int key, char *arg, struct argp_state *state)
{
	struct input *input = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &input->m.options;
		return 0;
	case KEY_BASELINE:
		measurement_baseline(&input->sides, arg);
		return 0;
	case KEY_PATCHED:
		measurement_patched(&input->sides, arg);
		return 0;
	case KEY_MIN_SPEEDUP:
		measurement_add_gate(&input->m, arg);
		return 0;
	case KEY_REFERENCE:
		measurement_reference(&input->m, arg);
		return 0;
	case KEY_MAX_REGRESSION:
		measurement_max_regression(&input->m, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void init(struct input *input, int argc, char **argv)
{
	options_init(&input->m.options);
	input->m.command_line = command_line_join(argc, argv);
	if (!input->m.command_line)
		fail(EXIT_CANNOT, "out of memory");
}

static const struct argp_child children[] = { { &common_argp, 0, NULL, 2 }, { 0 } };

int cmd_speedup(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ NULL, 0, NULL, 0, "What is compared:", 1 },
		{ "baseline", KEY_BASELINE, "SPEC", 0,
		  "Engine of the baseline (default " DEFAULT_BASELINE ")", 1 },
		{ "patched", KEY_PATCHED, "SPEC", 0,
		  "Engine of the patched side (default " DEFAULT_PATCHED
		  "); may be repeated",
		  1 },
		{ "max-regression", KEY_MAX_REGRESSION, "PERCENT", 0,
		  "Exit with status 1 when a cell is significantly slower, by more than PERCENT; "
		  "with 4 when that could not be seen",
		  1 },
		{ "min-speedup", KEY_MIN_SPEEDUP, "RATIO[:PHASE[@THREADS]]", 0,
		  "Exit with status 1 when a speed-up is below RATIO; may be repeated",
		  1 },
		{ "reference", KEY_REFERENCE, "NAME", 0,
		  "Show the speed-ups of a published table below: thp-page-cache-2013 or "
		  "batched-truncation-2017",
		  1 },
		{ 0 },
	};
	static const char doc[] =
		"Measures a baseline and a patched page cache in turn and prints the seven tables: "
		"baseline, patched, speed-up.\v" ENGINES_HELP;
	const struct argp argp = {
		options, parse_speedup, NULL, doc, children, NULL, NULL
	};
	struct input input = { 0 };
	int status;

	init(&input, argc, argv);
	argp_parse(&argp, argc, argv, 0, NULL, &input);
	measurement_add_sides(&input.m, &input.sides, DEFAULT_BASELINE, DEFAULT_PATCHED);
	if (input.m.options.limit)
		measurement_add_side(&input.m, "limit", "memory");
	status = measurement_run(&input.m);
	measurement_destroy(&input.m);
	return status;
}

static error_t parse_run(int key, char *arg, struct argp_state *state)
{
	struct input *input = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &input->m.options;
		return 0;
	case KEY_ENGINE:
		input->engine = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_run(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ NULL, 0, NULL, 0, "What is measured by:", 1 },
		{ "engine", KEY_ENGINE, "SPEC", 0, "The engine (needed)", 1 },
		{ 0 },
	};
	static const char doc[] =
		"Measures one engine and prints its tables.\v" ENGINES_HELP;
	const struct argp argp = { options, parse_run, NULL, doc, children, NULL, NULL };
	struct input input = { 0 };
	int status;

	init(&input, argc, argv);
	argp_parse(&argp, argc, argv, 0, NULL, &input);
	if (!input.engine)
		fail(EXIT_USAGE,
		     "run needs --engine SPEC, for example --engine cache:batch=512");
	measurement_add_side(&input.m, "run", input.engine);
	if (input.m.options.limit)
		measurement_add_side(&input.m, "limit", "memory");
	status = measurement_run(&input.m);
	measurement_destroy(&input.m);
	return status;
}
