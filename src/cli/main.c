/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <argp.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

const char *argp_program_version = "pagezone " PACKAGE_VERSION;

const struct command commands[] = {
	{ "speedup",
	  "measure a baseline and a patched page cache, print the speed-up tables",
	  cmd_speedup },
	{ "run", "measure one engine, print its tables", cmd_run },
	{ "truncate", "time truncations, page by page and in batches", cmd_truncate },
	{ "import", "turn iozone's output, or a published table, into a result file",
	  cmd_import },
	{ "plot", "draw results: throughput and speed-up against threads", cmd_plot },
	{ "compare", "compare saved results, gate on what is significant", cmd_compare },
	{ "topology", "show the machine, and which CPU and node each worker would get",
	  cmd_topology },
	{ NULL, NULL, NULL },
};

struct call {
	const struct command *command;
	int argc;
	char **argv;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct call *call = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		for (const struct command *c = commands; c->name; c++)
			if (!strcmp(c->name, arg))
				call->command = c;
		if (!call->command)
			fail(EXIT_USAGE, "there is no command '%s'; see pagezone --help",
			     arg);
		/* What follows is the command's. */
		call->argc = state->argc - state->next + 1;
		call->argv = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_state_help(state, stderr, ARGP_HELP_SHORT_USAGE | ARGP_HELP_SEE);
		exit(EXIT_USAGE);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The list of commands after the options of --help. */
static char *filter_help(int key, const char *text, void *input)
{
	char *help = NULL;
	size_t size = 0;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	out = open_memstream(&help, &size);
	if (!out)
		return (char *)text;
	fputs("Commands:\n", out);
	for (const struct command *c = commands; c->name; c++)
		fprintf(out, "  %-10s %s\n", c->name, c->summary);
	fputs("\n'pagezone speedup' without any option is the main job. "
	      "'pagezone COMMAND --help' tells the options of a command; "
	      "pagezone(1) defines every figure.\n",
	      out);
	if (fclose(out)) {
		free(help);
		return (char *)text;
	}
	return help;
}

int main(int argc, char **argv)
{
	static const char doc[] =
		"Measures page caches: iozone's seven phases over memory-mapped "
		"files, one page at a time against a batch at a time.\v ";
	const struct argp argp = { .parser = parse,
				   .args_doc = "COMMAND [OPTION...]",
				   .doc = doc,
				   .help_filter = filter_help };
	struct call call = { 0 };
	char name[64];

	/* Numbers are the C locale's throughout; only messages of the system may be translated. */
	setlocale(LC_MESSAGES, "");
	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &call);
	snprintf(name, sizeof(name), "pagezone %s", call.command->name);
	call.argv[0] = name;
	return call.command->run(call.argc, call.argv);
}
