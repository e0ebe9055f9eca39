/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From options and sides to printed tables, a saved result and an exit status. */
#ifndef CLI_MEASURE_H
#define CLI_MEASURE_H

#include "bench/bench.h"
#include "cli/gates.h"
#include "cli/options.h"

struct measurement {
	struct options options;
	struct bench_side sides[BENCH_MAX_SIDES];
	unsigned nr_sides;
	struct gate_options gates;
	char *command_line;
	struct result *reference; /* of --reference; NULL: not given */
	/* Truncations of @pages pages are measured; else phases. */
	bool truncates;
	struct bench_truncation truncation;
	uint64_t pages;
};

/* As given: sides are added after parsing, in their order whatever the order of the options. */
struct measurement_sides {
	const char *baseline; /* NULL: not given */
	const char *patched[BENCH_MAX_SIDES];
	unsigned nr_patched;
};

/* Everything as when no option is given, of the command line @argv. */
void measurement_init(struct measurement *m, int argc, char **argv);
/* Ends the process when @spec is not one, or when there are too many sides. */
void measurement_add_side(struct measurement *m, const char *name, const char *spec);
/* The options of commands that compare sides, with the engines that are the defaults. */
enum {
	KEY_BASELINE = 512,
	KEY_PATCHED,
	KEY_MIN_SPEEDUP,
	KEY_MAX_REGRESSION,
	KEY_REFERENCE,
	KEY_OF_COMMAND, /* the command's own begin here */
};

#define GATES_OPTIONS(group)                                                                  \
	{ "max-regression",                                                                   \
	  KEY_MAX_REGRESSION,                                                                 \
	  "PERCENT",                                                                          \
	  0,                                                                                  \
	  "Exit with status 1 when a cell is significantly slower, by more than PERCENT; "    \
	  "with 4 when that could not be seen",                                               \
	  group },                                                                            \
	{                                                                                     \
		"min-speedup", KEY_MIN_SPEEDUP, "RATIO[:PHASE[@THREADS]]", 0,                 \
			"Exit with status 1 when a speed-up is below RATIO; may be repeated", \
			group                                                                 \
	}

#define REFERENCE_OPTION(group)                                                                  \
	{                                                                                        \
		"reference", KEY_REFERENCE, "NAME", 0,                                           \
			"Show the speed-ups of a published table below: thp-page-cache-2013 or " \
			"batched-truncation-2017",                                               \
			group                                                                    \
	}

#define SIDES_OPTIONS(baseline, patched)                                               \
	{ "baseline",                                                                  \
	  KEY_BASELINE,                                                                \
	  "SPEC",                                                                      \
	  0,                                                                           \
	  "Engine of the baseline (default " baseline ")",                             \
	  1 },                                                                         \
		{ "patched",                                                           \
		  KEY_PATCHED,                                                         \
		  "SPEC",                                                              \
		  0,                                                                   \
		  "Engine of the patched side (default " patched "); may be repeated", \
		  1 },                                                                 \
		GATES_OPTIONS(1), REFERENCE_OPTION(1)

/*
 * Takes one of them; any other @key is ARGP_ERR_UNKNOWN. Ends the process when there are
 * too many, when a gate is not one, or when there is no such reference.
 */
error_t measurement_option(struct measurement *m, struct measurement_sides *sides,
			   int key, const char *arg);
/* "baseline", "patched", "patched2" …; the defaults where none was given. */
void measurement_add_sides(struct measurement *m, struct measurement_sides *sides,
			   const char *baseline, const char *patched);
/* Runs it all. Returns the exit status. Does not return when interrupted. */
int measurement_run(struct measurement *m);
void measurement_destroy(struct measurement *m);

/* argv as one line, quoted for a shell where it must be. NULL: no memory. */
char *command_line_join(int argc, char **argv);

#endif
