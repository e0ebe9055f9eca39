/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From options and sides to printed tables, a saved result and an exit status. */
#ifndef CLI_MEASURE_H
#define CLI_MEASURE_H

#include "bench/bench.h"
#include "cli/options.h"
#include "report/compare.h"

struct measurement {
	struct options options;
	struct bench_side sides[BENCH_MAX_SIDES];
	unsigned nr_sides;
	struct gate *gates;
	unsigned nr_gates;
	const char *max_regression; /* as given; NULL: not */
	double max_regression_percent;
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

/* Ends the process when @spec is not one, or when there are too many sides. */
void measurement_add_side(struct measurement *m, const char *name, const char *spec);
/* The arguments of --baseline, --patched and --min-speedup. End the process when there are too many, or
 * when a gate is not one. */
void measurement_baseline(struct measurement_sides *sides, const char *arg);
void measurement_patched(struct measurement_sides *sides, const char *arg);
void measurement_add_gate(struct measurement *m, const char *arg);
/* The argument of --reference. Ends the process when there is no such table, or one already. */
void measurement_reference(struct measurement *m, const char *arg);
void measurement_max_regression(struct measurement *m, const char *arg);
/* "baseline", "patched", "patched2" …; the defaults where none was given. */
void measurement_add_sides(struct measurement *m, struct measurement_sides *sides,
			   const char *baseline, const char *patched);
/* Runs it all. Returns the exit status. Does not return when interrupted. */
int measurement_run(struct measurement *m);
void measurement_destroy(struct measurement *m);

/* What the worst of them makes of the exit status. */
int outcomes_status(const struct outcomes *outcomes);

/* argv as one line, quoted for a shell where it must be. NULL: no memory. */
char *command_line_join(int argc, char **argv);

#endif
