/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

/* The level of an interval, and the normal distribution's quantile that goes with it. */
#define LEVEL	 0.95
#define QUANTILE 1.959963984540054

/*
 * The probability that the true median is between the @d-th smallest of @nr values and
 * the @d-th largest.
 */
static double level_of(size_t nr, size_t d)
{
	return 1 - 2 * gsl_cdf_binomial_P((unsigned)d - 1, 0.5, (unsigned)nr);
}

/*
 * The interval of @level of the median of @nr >= 2 ascending values, by the interpolated
 * order statistics of Hettmansperger and Sheather, "Confidence intervals based on
 * interpolated order statistics", Statistics & Probability Letters 4 (1986). The ends of
 * level_of() are exact for any distribution but jump: from 98.4 % to 87.5 % with 7
 * values. In between the ends move from one value to the next, not linearly in the level
 * but as is right for Laplace's distribution; the paper and Sheather and McKean (1987)
 * show that it hardly depends on the distribution. Where even the range is no such
 * interval, it is the range.
 */
static void order_statistics(struct interval *interval, const double *sorted, size_t nr,
			     double level)
{
	size_t d = 1, end = nr / 2 + 1; /* the level of @end is too low */
	double wide, narrow, part, weight, n = (double)nr;

	interval->low = sorted[0];
	interval->high = sorted[nr - 1];
	if (level_of(nr, 1) <= level)
		return;
	while (end - d > 1) {
		size_t middle = d + (end - d) / 2;

		if (level_of(nr, middle) >= level)
			d = middle;
		else
			end = middle;
	}
	wide = level_of(nr, d);
	narrow = level_of(nr, d + 1);
	part = (wide - level) / (wide - narrow);
	weight = (n - (double)d) * part / ((double)d + (n - 2 * (double)d) * part);
	interval->low = (1 - weight) * sorted[d - 1] + weight * sorted[d];
	interval->high = (1 - weight) * sorted[nr - d] + weight * sorted[nr - d - 1];
}

static double *sorted_copy(const double *values, size_t nr)
{
	double *sorted = malloc(nr * sizeof(*sorted));

	if (!sorted)
		return NULL;
	memcpy(sorted, values, nr * sizeof(*sorted));
	gsl_sort(sorted, 1, nr);
	return sorted;
}

int interval_median(struct interval *interval, const double *values, size_t nr)
{
	double *sorted;

	if (!nr)
		return -EINVAL;
	sorted = sorted_copy(values, nr);
	if (!sorted)
		return -ENOMEM;
	interval->value = gsl_stats_median_from_sorted_data(sorted, 1, nr);
	interval->low = interval->high = NAN;
	if (nr > 1)
		order_statistics(interval, sorted, nr, LEVEL);
	free(sorted);
	return 0;
}

/*
 * The level of the intervals of two medians of @nr_a and @nr_b values whose ends are
 * those of an interval of LEVEL of the difference. Standard errors add as squares, ends
 * do not; errors fall as the roots of the numbers of values. 83.4 % for as many:
 * Goldstein and Healy, "The graphical presentation of a collection of means", J. R.
 * Statist. Soc. A 158 (1995).
 */
static double level_of_each(size_t nr_a, size_t nr_b)
{
	double a = 1 / sqrt((double)nr_a), b = 1 / sqrt((double)nr_b);

	return 1 - 2 * gsl_cdf_ugaussian_Q(QUANTILE * hypot(a, b) / (a + b));
}

int interval_ratio(struct interval *interval, const double *values, size_t nr,
		   const double *base, size_t nr_base)
{
	double *sorted, *sorted_base, level;
	struct interval own, of_base;

	if (!nr || !nr_base)
		return -EINVAL;
	sorted = sorted_copy(values, nr);
	sorted_base = sorted_copy(base, nr_base);
	if (!sorted || !sorted_base) {
		free(sorted_base);
		free(sorted);
		return -ENOMEM;
	}
	interval->value = gsl_stats_median_from_sorted_data(sorted, 1, nr) /
			  gsl_stats_median_from_sorted_data(sorted_base, 1, nr_base);
	interval->low = interval->high = NAN;
	if (nr > 1 && nr_base > 1) {
		level = level_of_each(nr, nr_base);
		order_statistics(&own, sorted, nr, level);
		order_statistics(&of_base, sorted_base, nr_base, level);
		interval->low = own.low / of_base.high;
		interval->high = own.high / of_base.low;
	}
	free(sorted_base);
	free(sorted);
	return 0;
}
