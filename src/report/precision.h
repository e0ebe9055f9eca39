/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Are there enough rounds? What --rounds auto looks at after each of them.
 *
 * STOPPING. Who looks at p-values after each round, and stops at a good one, finds
 * differences where there are none (Armitage, McPherson and Rowe, "Repeated significance
 * tests on accumulating data", J. R. Statist. Soc. A 132, 1969). So nothing here depends
 * on which side is faster or by how much: only widths of intervals, the spread, and
 * numbers of rounds and cells do. That is Chow and Robbins's sequential interval of a
 * fixed width (Annals of Mathematical Statistics 36, 1965). It is still not free: short
 * intervals are the ones that hold the truth less often, and those end a run. Simulated
 * in tests/unit/precision.c: alone, a cell's interval holds it in 91 to 94 % then, and a
 * mark is false in up to 6.5 % instead of 5; of several cells, the widest of which ends
 * the run, in 94.5 to 95.5 % and in about 5 %. To look less often, or to want it narrow
 * for some rounds on end, costs rounds and does not change that. A gate's alarm needs a
 * loss of more than its percentage, too, and is false in none.
 */
#ifndef REPORT_PRECISION_H
#define REPORT_PRECISION_H

#include <stdbool.h>
#include <stddef.h>

#include "result/result.h"

struct precision_wanted {
	/*
	 * Both ends of an interval are to be at most this share (0.02) of the figure away
	 * from it. Figures are the speed-ups; where no side is compared, the medians in
	 * kB/s.
	 */
	double width;
	/*
	 * A slow-down by this share (0.05) is to be found, see significance_detectable();
	 * 0: any one; NAN: none has to.
	 */
	double slowdown;
};

/* A cell whose interval is too wide. */
struct precision_cell {
	unsigned side, phase, threads;
	double width; /* of its interval, as above; INFINITY: too few rounds for one */
	size_t enough; /* rounds with which it would be narrow, if the spread stays; 0: more than are possible */
};

struct precision {
	unsigned nr_cells;	     /* that have a figure; void ones never will */
	struct precision_cell *wide; /* the widest first */
	unsigned nr_wide;
	double widest; /* of all cells; INFINITY: some have too few rounds; 0: there is no cell */
	unsigned nr_blind; /* cells where that slow-down would not be found */
	double blind; /* the smallest one that would be, in the worst of them; INFINITY: none */
	size_t enough; /* rounds that do for all this, if the spread stays; 0: more than are possible */
};

#define PRECISION_MAX_ROUNDS 10000

/* Of @result, which is derived. 0 or -ENOMEM. */
int precision_find(struct precision *precision, struct result *result,
		   const struct precision_wanted *wanted);
void precision_destroy(struct precision *precision);

/* Whether more rounds are of no use: all is as wanted, or no cell has a figure. */
bool precision_is_reached(const struct precision *precision);

/*
 * What is not as @wanted, for a warning: which cells are wider, how wide they are and how
 * many rounds would do. To be freed. NULL: no memory.
 */
char *precision_text(const struct precision *precision, const struct result *result,
		     const struct precision_wanted *wanted);

#endif
