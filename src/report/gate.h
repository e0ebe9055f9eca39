/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --min-speedup RATIO[:PHASE[@THREADS]]: what a result must reach. */
#ifndef REPORT_GATE_H
#define REPORT_GATE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/reason.h"
#include "result/result.h"

struct gate {
	double ratio;
	char phase[32];	  /* "": every phase */
	unsigned threads; /* 0: every thread count */
};

enum gate_verdict {
	GATE_PASSED,
	GATE_FAILED,	/* some cell is below the ratio */
	GATE_UNDECIDED, /* none is, but some cell is void or was not measured */
};

/* 0; -EINVAL with @why. The ratio is a decimal number above 0, with a point in every locale. */
int gate_parse(struct gate *gate, const char *text, struct reason *why);

/* 0; -ENOENT with @why when @result has no such phase or thread count, so that nothing would be held
 * against the gate. */
int gate_applies(const struct gate *gate, const struct result *result,
		 struct reason *why);

/* Whether it says anything about that cell. */
bool gate_concerns(const struct gate *gate, const struct result_phase *phase,
		   unsigned threads);

/* Holds the speed-ups of @result against @gate and prints a line for each cell that is below it or void. */
enum gate_verdict gate_check(const struct gate *gate, const struct result *result,
			     FILE *out);

#endif
