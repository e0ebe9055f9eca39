/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From options and sides to printed tables, a saved result and an exit status. */
#ifndef CLI_MEASURE_H
#define CLI_MEASURE_H

#include "bench/bench.h"
#include "cli/options.h"
#include "report/gate.h"

struct measurement {
	struct options options;
	struct bench_side sides[BENCH_MAX_SIDES];
	unsigned nr_sides;
	struct gate *gates;
	unsigned nr_gates;
	char *command_line;
};

/* Ends the process when @spec is not one, or when there are too many sides. */
void measurement_add_side(struct measurement *m, const char *name, const char *spec);
/* Runs it all. Returns the exit status. Does not return when interrupted. */
int measurement_run(struct measurement *m);
void measurement_destroy(struct measurement *m);

/* argv as one line, quoted for a shell where it must be. NULL: no memory. */
char *command_line_join(int argc, char **argv);

#endif
