/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --min-speedup and --max-regression: the gates of all commands that have speed-ups. */
#ifndef CLI_GATES_H
#define CLI_GATES_H

#include "report/compare.h"

struct gate_options {
	struct gate *list; /* of --min-speedup */
	unsigned nr;
	double max_regression; /* percent; NAN: not given */
};

void gate_options_init(struct gate_options *options);
void gate_options_destroy(struct gate_options *options);
/* Each takes an argument, and ends the process when it is none. */
void gate_options_min_speedup(struct gate_options *options, const char *arg);
void gate_options_max_regression(struct gate_options *options, const char *arg);

bool gate_options_any(const struct gate_options *options);
/* Ends the process when one of them says nothing about any cell of @result. */
void gate_options_check(const struct gate_options *options, const struct result *result);
/* As outcomes_fill() takes them. */
struct gates gate_options_gates(const struct gate_options *options);

/* The exit status that the worst of @outcomes makes: 1, then 3, then 4, then 0. */
int outcomes_status(const struct outcomes *outcomes);
/*
 * Holds the sides of one run against them and says on stderr which cells are not fine.
 * The exit status.
 */
int gate_options_hold(const struct gate_options *options, struct result *result);

#endif
