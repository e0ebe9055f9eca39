/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands that measure the seven phases: speedup and run. */
#include <argp.h>

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

enum { KEY_ENGINE = KEY_OF_COMMAND };

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
	default:
		return measurement_option(&input->m, &input->sides, key, arg);
	}
}

static const struct argp_child children[] = { { &common_argp, 0, NULL, 2 }, { 0 } };

int cmd_speedup(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ NULL, 0, NULL, 0, "What is compared:", 1 },
		SIDES_OPTIONS(DEFAULT_BASELINE, DEFAULT_PATCHED),
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

	measurement_init(&input.m, argc, argv);
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

	measurement_init(&input.m, argc, argv);
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
