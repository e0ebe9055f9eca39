/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --min-speedup RATIO[:PHASE[@THREADS]]: what a result must reach. */
#ifndef REPORT_GATE_H
#define REPORT_GATE_H

#include <stdbool.h>

#include "base/reason.h"
#include "result/result.h"

struct gate {
	double ratio;
	char phase[32];	  /* "": every phase */
	unsigned threads; /* 0: every thread count */
};

/* 0; -EINVAL with @why. The ratio is a decimal number above 0, with a point in every locale. */
int gate_parse(struct gate *gate, const char *text, struct reason *why);

/*
 * 0; -ENOENT with @why when @result has no such phase or thread count, so that nothing
 * would be held against the gate.
 */
int gate_applies(const struct gate *gate, const struct result *result,
		 struct reason *why);

/* Whether it says anything about that cell. */
bool gate_concerns(const struct gate *gate, const struct result_phase *phase,
		   unsigned threads);

#endif
