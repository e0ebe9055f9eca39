/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command that compares saved results. Measures nothing. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "cli/cli.h"
#include "cli/measure.h"
#include "report/compare.h"
#include "result/join.h"

enum { KEY_SIDE = KEY_OF_COMMAND, KEY_FORCE, KEY_PER };

enum format { TABLE, CSV, JSON, MARKDOWN, JUNIT };

struct input {
	struct gate_options gates;
	struct result *reference; /* NULL: not given */
	const char *side;
	bool force;
	enum report_per per;
	enum format format;
	char **paths;
	unsigned nr_paths;
};

static void no_memory(void)
{
	fail(EXIT_CANNOT, "out of memory");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[] = { "table",	   "csv",   "json",
					       "markdown", "junit", NULL };
	struct input *input = state->input;

	switch (key) {
	case KEY_MIN_SPEEDUP:
		gate_options_min_speedup(&input->gates, arg);
		return 0;
	case KEY_MAX_REGRESSION:
		gate_options_max_regression(&input->gates, arg);
		return 0;
	case KEY_REFERENCE:
		reference_take(&input->reference, arg);
		return 0;
	case KEY_SIDE:
		input->side = arg;
		return 0;
	case KEY_FORCE:
		input->force = true;
		return 0;
	case KEY_PER:
		input->per = options_per(arg);
		return 0;
	case 'f':
		input->format = (enum format)options_choose("-f", arg, formats);
		return 0;
	case ARGP_KEY_ARGS:
		input->paths = &state->argv[state->next];
		input->nr_paths = (unsigned)(state->argc - state->next);
		return 0;
	case ARGP_KEY_NO_ARGS:
		fail(EXIT_USAGE,
		     "compare needs the files to compare: BASELINE.json PATCHED.json, "
		     "or one file with both");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The sides of one run. */
static void compare_own(const struct input *input, const struct result *result)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < result->nr_sides; i++)
		nr += !result_side_is_limit(result, i);
	if (nr < 2)
		fail(EXIT_USAGE, "%s has one side only: give a second file",
		     input->paths[0]);
	if (input->side)
		fail(EXIT_USAGE, "--side is for several files; of one, all sides "
				 "are compared");
}

/* What makes them incomparable ends the process, and frees @other, which nobody else has. */
static void check_differences(const struct input *input, unsigned number,
			      const struct differences *differences, struct result *other)
{
	const struct difference *fatal = differences_fatal(differences);

	if (!fatal || input->force)
		return;
	result_free(other);
	fail(EXIT_USAGE,
	     "%s and %s did not measure the same: %s %s and %s; --force compares them all the "
	     "same",
	     input->paths[0], input->paths[number], fatal->what, fatal->baseline,
	     fatal->other);
}

/* One side of each file, as sides of the first one. */
static void compare_files(const struct input *input, struct result *first,
			  struct compared_file *files)
{
	unsigned base = 0, side = 0; /* of what does not end the process */
	struct reason why;

	if (result_pick_side(first, input->side, &base, &why))
		fail(EXIT_USAGE, "%s: %s", input->paths[0], why.text);
	files[0].side = strdup(first->sides[base].name);
	if (!files[0].side)
		no_memory();
	for (unsigned i = 1; i < input->nr_paths; i++) {
		struct result *other = result_get(input->paths[i]);
		char name[24] = "patched";

		if (i > 1)
			snprintf(name, sizeof(name), "patched%u", i);
		if (result_pick_side(other, input->side, &side, &why)) {
			result_free(other);
			fail(EXIT_USAGE, "%s: %s", input->paths[i], why.text);
		}
		files[i].side = strdup(other->sides[side].name);
		if (!files[i].side ||
		    differences_find(&files[i].differences, first, base, other, side))
			no_memory();
		check_differences(input, i, &files[i].differences, other);
		if (i == 1 && result_keep_side(first, base, "baseline"))
			no_memory();
		base = 0;
		if (result_join(first, other, side, name))
			no_memory();
		result_free(other);
	}
	/* They were not measured in turn, and the number of rounds is each file's own. */
	first->parameters.rounds = 0;
	first->parameters.rounds_auto = false;
	if (result_derive(first))
		no_memory();
}

static int print(const struct input *input, const struct compared *compared)
{
	static int (*const writers[])(const struct compared *compared, FILE *out) = {
		[TABLE] = report_compared,	 [CSV] = report_compared_csv,
		[JSON] = report_compared_json,	 [MARKDOWN] = report_compared_markdown,
		[JUNIT] = report_compared_junit,
	};

	return printed(writers[input->format](compared, stdout));
}

/*
 * What the header says of the tables is what they show here, not what they showed when it
 * was measured.
 */
static void show_per(struct result *result, enum report_per per)
{
	free(result->parameters.per);
	result->parameters.per = strdup(per == REPORT_PER_TOTAL ? "total" : "thread");
	if (!result->parameters.per)
		no_memory();
}

static int compare(const struct input *input)
{
	struct gates gates = gate_options_gates(&input->gates);
	struct compared compared = { .nr_files = input->nr_paths, .per = input->per };
	struct result *result = result_get(input->paths[0]);
	struct comparison comparison;
	struct outcomes outcomes;
	int err, status;

	compared.files = calloc(input->nr_paths, sizeof(*compared.files));
	if (!compared.files)
		no_memory();
	for (unsigned i = 0; i < input->nr_paths; i++)
		compared.files[i].path = input->paths[i];
	if (input->nr_paths == 1)
		compare_own(input, result);
	else
		compare_files(input, result, compared.files);
	show_per(result, input->per);
	gate_options_check(&input->gates, result);
	result->reference = input->reference; /* which is the result's from now on */
	reference_check(result);
	err = comparison_init(&comparison, result, input->nr_paths == 1);
	if (err == -E2BIG)
		fail(EXIT_USAGE, "%s: too many cells", input->paths[0]);
	/* A gate that nothing is held against is not passed. */
	if (!err && !comparison.nr_cells)
		fail(EXIT_CANNOT, "%s: there are no cells to compare", input->paths[0]);
	if (err || outcomes_fill(&outcomes, &comparison, &gates))
		no_memory();
	compared.comparison = &comparison;
	compared.outcomes = &outcomes;
	compared.status = outcomes_status(&outcomes);
	status = print(input, &compared);
	outcomes_print(&outcomes, &comparison, stderr);
	if (!status)
		status = compared.status;

	outcomes_destroy(&outcomes);
	comparison_destroy(&comparison);
	for (unsigned i = 0; i < input->nr_paths; i++) {
		differences_destroy(&compared.files[i].differences);
		free((char *)compared.files[i].side);
	}
	free(compared.files);
	result_free(result);
	return status;
}

int cmd_compare(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ NULL, 0, NULL, 0, "What must hold:", 1 },
		GATES_OPTIONS(1),
		{ NULL, 0, NULL, 0, "What is compared:", 2 },
		{ "side", KEY_SIDE, "NAME", 0,
		  "The side of files that have several (default patched)", 2 },
		REFERENCE_OPTION(2),
		{ "force", KEY_FORCE, NULL, 0, "Also what did not measure the same", 2 },
		{ NULL, 0, NULL, 0, "Output:", 3 },
		{ "per", KEY_PER, "thread|total", 0, "What tables show (default thread)",
		  3 },
		{ "format", 'f', "table|csv|json|markdown|junit", 0,
		  "Of standard output (default table)", 3 },
		{ 0 },
	};
	static const char doc[] =
		"Compares saved results: the tables of speed-ups, with what is significant "
		"marked, and a gate for continuous integration.\v"
		"One file compares its own sides, which were measured in turn: that is best. "
		"Several files compare one side of each, against the first file's. Exit "
		"status: 0 passed, 1 failed, 2 wrong usage or not comparable, 3 cells have no "
		"figure, 4 too noisy.";
	const struct argp argp = { options, parse, "BASELINE.json [PATCHED.json...]",
				   doc,	    NULL,  NULL,
				   NULL };
	struct input input = { 0 };
	int status;

	gate_options_init(&input.gates);
	argp_parse(&argp, argc, argv, 0, NULL, &input);
	status = compare(&input);
	gate_options_destroy(&input.gates);
	return status;
}
