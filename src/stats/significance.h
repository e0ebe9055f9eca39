/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is a difference real? Exact rank tests, which assume no distribution: they count the
 * ways in which the same figures could have fallen if both sides were the same. Few
 * rounds cannot give small p-values then, and significance_least_*() tell how small they
 * get; a t-test would claim more, and be wrong on the two-humped figures of a shared
 * machine.
 */
#ifndef STATS_SIGNIFICANCE_H
#define STATS_SIGNIFICANCE_H

#include <stdbool.h>
#include <stddef.h>

struct significance {
	double lower; /* p-value of: the values lie below (the first below the second ones) */
	double higher;	/* the same, above */
	double differs; /* two-sided: twice the smaller of both, at most 1 */
};

/*
 * Do the @nr @values lie around 0? The signed-rank test (Wilcoxon 1945), whose null
 * distribution is that of all 2^nr assignments of signs: exact, by dynamic programming,
 * up to SIGNIFICANCE_EXACT values, ties and all; above it, the normal approximation with
 * the correction for continuity. Zeros are left out (Wilcoxon). Without any other value
 * nothing speaks for a difference: all are 1. 0 or -ENOMEM.
 */
int significance_paired(struct significance *s, const double *values, size_t nr);
/*
 * Do the @nr_a values @a lie where the @nr_b values @b do? The rank-sum test (Wilcoxon
 * 1945, Mann and Whitney 1947) over all choices of nr_a ranks: exact up to
 * SIGNIFICANCE_EXACT values in total, ties and all; above it, the normal approximation
 * with corrections for ties and continuity. All are 1 when either has no value. 0 or
 * -ENOMEM.
 */
int significance_unpaired(struct significance *s, const double *a, size_t nr_a,
			  const double *b, size_t nr_b);

#define SIGNIFICANCE_EXACT 64

/*
 * The smallest one-sided p-values that so many values can have: 1 / 2^nr, 1 / (nr_a +
 * nr_b over nr_a).
 */
double significance_least_paired(size_t nr);
double significance_least_unpaired(size_t nr_a, size_t nr_b);

/*
 * Corrects @nr p-values in place for their number, so that of those that are then at most
 * x, an expected share of x is false at most; if all is the same on both sides, any is
 * with probability x at most: Benjamini and Hochberg, "Controlling the false discovery
 * rate", J. R. Statist. Soc. B 57 (1995), as adjusted values (the smallest m p(j) / j of
 * all j >= i). It holds for independent and for positively dependent cells (Benjamini and
 * Yekutieli 2001). NANs are no p-values, stay and do not count. 0 or -ENOMEM.
 */
int significance_correct(double *p, size_t nr);

/* How two sides were measured. */
struct significance_design {
	bool paired;
	size_t nr_a, nr_b; /* paired: nr_a pairs */
	double sd;	   /* of the paired differences, or within both sides (pooled) */
};

/*
 * The smallest shift that a one-sided test at level @alpha finds with probability
 * SIGNIFICANCE_POWER: (t(1 - alpha) + t(power)) standard errors, as for a t-test (the
 * usual formula for sample sizes; Student's t instead of the normal quantiles, as the
 * spread is an estimate), with the standard error of a rank test, whose efficiency is 3 /
 * pi for normal values (Hodges and Lehmann 1956). Where only one or a few orders of ranks
 * reach @alpha that finds too little, 54 to 65 % with the fewest values: it is made
 * larger then, by 25 or 10 %, with which simulations of normal values find 75 to 85 %
 * (tests/unit/significance.c). INFINITY: so few values cannot reach @alpha at all.
 */
double significance_detectable(const struct significance_design *design, double alpha);
/*
 * The values a side with which that is at most @shift, the spread staying as it is; 0:
 * more than @max.
 */
size_t significance_enough(const struct significance_design *design, double alpha,
			   double shift, size_t max);

#define SIGNIFICANCE_POWER 0.8

#endif
