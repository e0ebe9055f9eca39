/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command that turns what others measured into results. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/measure.h"
#include "result/import.h"

struct input {
	const char *output;
	const char **words;
	unsigned nr_words;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct input *input = state->input;

	switch (key) {
	case 'o':
		if (!*arg)
			fail(EXIT_USAGE, "-o: the name of the file is empty");
		input->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		input->words[input->nr_words++] = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The installed data files, unless the environment names others: those of a source tree. */
static const char *data_dir(void)
{
	const char *dir = getenv("PAGEZONE_DATADIR");

	return dir && *dir ? dir : PKGDATADIR;
}

struct result *result_get(const char *path)
{
	struct result *result = NULL;
	struct reason why = { "" };
	int err = result_load(&result, path, &why);

	if (err)
		fail(err == -ENOMEM ? EXIT_CANNOT : EXIT_USAGE, "%s", why.text);
	return result;
}

struct result *reference_get(const char *option, const char *name)
{
	struct result *result = NULL;
	struct reason why = { "" };
	int err = import_reference(&result, name, data_dir(), &why);

	if (err)
		fail(err == -ENOMEM ? EXIT_CANNOT : EXIT_USAGE, "%s: %s", option,
		     why.text);
	return result;
}

void reference_take(struct result **reference, const char *name)
{
	if (*reference)
		fail(EXIT_USAGE, "--reference %s: there is one reference", name);
	*reference = reference_get("--reference", name);
}

void reference_check(const struct result *result)
{
	const struct result *reference = result->reference;

	if (!reference)
		return;
	for (unsigned i = 0; i < reference->nr_phases; i++)
		if (result_find_phase(result, reference->phases[i].name) >= 0)
			return;
	fail(EXIT_USAGE, "--reference: the published table has none of these phases: %s",
	     !strcmp(reference->phases[0].name, "truncate") ?
		     "it is one of truncations" :
		     "it is not one of truncations");
}

static struct result *import(const struct input *input)
{
	struct result *result = NULL;
	struct reason why = { "" };
	int err;

	if (!input->nr_words)
		fail(EXIT_USAGE, "import needs iozone FILE... or reference NAME");
	if (!strcmp(input->words[0], "reference")) {
		if (input->nr_words != 2)
			fail(EXIT_USAGE, "import reference needs one NAME");
		return reference_get("import reference", input->words[1]);
	}
	if (strcmp(input->words[0], "iozone") != 0)
		fail(EXIT_USAGE, "import %s: it can be iozone or reference",
		     input->words[0]);
	if (input->nr_words < 2)
		fail(EXIT_USAGE, "import iozone needs a FILE");
	err = import_iozone(&result, input->words + 1, input->nr_words - 1, &why);
	if (err)
		fail(err == -ENOMEM ? EXIT_CANNOT : EXIT_USAGE, "%s", why.text);
	return result;
}

/* What is not in the figures. */
static void tell(const struct result *result)
{
	const struct result_sample *failed = NULL;
	unsigned nr = 0;

	for (unsigned i = 0; i < result->nr_cells; i++)
		nr += result->cells[i].is_void;
	if (result->interrupted)
		say("warning: a run was interrupted: what it had ended is imported");
	for (unsigned i = 0; !failed && i < result->nr_samples; i++)
		if (result->samples[i].failure)
			failed = &result->samples[i];
	if (nr && failed)
		say("warning: %u of %u cells have no figure; the first, %s@%u: %s", nr,
		    result->nr_cells, result->phases[failed->phase].name, failed->threads,
		    failed->failure);
}

/* Returns the exit status. */
static int put(const struct result *result, const char *output)
{
	struct reason why;

	if (!output)
		return printed(result_write_json(result, stdout));
	if (!result_save(result, output, &why))
		return EXIT_DONE;
	say("-o %s", why.text);
	return EXIT_CANNOT;
}

int cmd_import(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "output", 'o', "FILE", 0,
		  "Save the result in FILE (default: JSON on standard output)", 1 },
		{ 0 },
	};
	static const char doc[] =
		"Turns what iozone's throughput mode (-t N) printed, or a published table, into a "
		"result file.\v"
		"All FILEs together are one side. \"Parent sees\" becomes the throughput, \"Children "
		"see\" the sum of worker rates. NAME is thp-page-cache-2013 or "
		"batched-truncation-2017.";
	const struct argp argp = { options, parse, "iozone FILE...\nreference NAME",
				   doc,	    NULL,  NULL,
				   NULL };
	struct input input = { 0 };
	struct result *result;
	char *command_line = command_line_join(argc, argv); /* before it is permuted */
	int status;

	input.words = calloc((size_t)argc + 1, sizeof(*input.words));
	if (!input.words)
		fail(EXIT_CANNOT, "out of memory");
	argp_parse(&argp, argc, argv, 0, NULL, &input);
	result = import(&input);
	result->version = strdup(PACKAGE_VERSION);
	result->command_line = command_line;
	if (!result->version || !result->command_line)
		fail(EXIT_CANNOT, "out of memory");
	tell(result);
	status = put(result, input.output);
	result_free(result);
	free(input.words);
	return status;
}
