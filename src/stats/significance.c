/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/significance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sort.h>

/*
 * A value, and twice its rank among all: ties share the mean of theirs, which is a half at worst.
 */
struct ranked {
	double value;
	size_t rank2;
	bool first; /* of the values tested: positive, or of side a */
};

static int compare_values(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* Sorts and ranks; returns the sum of t^3 - t over the groups of t equal values. */
static double ranks_fill(struct ranked *ranked, size_t nr)
{
	double ties = 0;

	qsort(ranked, nr, sizeof(*ranked), compare_values);
	for (size_t i = 0, end; i < nr; i = end) {
		double t;

		for (end = i + 1; end < nr && ranked[end].value == ranked[i].value;)
			end++;
		for (size_t k = i; k < end; k++)
			ranked[k].rank2 = i + end + 1; /* ranks i + 1 to end */
		t = (double)(end - i);
		ties += t * t * t - t;
	}
	return ties;
}

static void both_sides(struct significance *s, double lower, double higher)
{
	s->lower = fmin(lower, 1);
	s->higher = fmin(higher, 1);
	s->differs = fmin(2 * fmin(lower, higher), 1);
}

static const struct significance nothing = { 1, 1, 1 };

/* From the normal distribution; a sum of doubled ranks moves by at least 1. */
static void from_normal(struct significance *s, double sum, double mean, double variance)
{
	double sd = sqrt(variance);

	if (!(variance > 0)) {
		*s = nothing;
		return;
	}
	both_sides(s, gsl_cdf_ugaussian_P((sum + 1 - mean) / sd),
		   gsl_cdf_ugaussian_Q((sum - 1 - mean) / sd));
}

/* From the weights of all sums 0 … @max. */
static void from_weights(struct significance *s, const double *weights, size_t max,
			 size_t sum)
{
	double lower = 0, higher = 0, all = 0;

	for (size_t i = 0; i <= max; i++) {
		all += weights[i];
		lower += i <= sum ? weights[i] : 0;
		higher += i >= sum ? weights[i] : 0;
	}
	both_sides(s, lower / all, higher / all);
}

int significance_paired(struct significance *s, const double *values, size_t nr)
{
	struct ranked *ranked = calloc(nr + 1, sizeof(*ranked));
	size_t nr_ranked = 0, max = 0, sum = 0;
	double *weights, squares = 0;
	int err = 0;

	*s = nothing;
	if (!ranked)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (values[i] != 0)
			ranked[nr_ranked++] = (struct ranked){ .value = fabs(values[i]),
							       .first = values[i] > 0 };
	ranks_fill(ranked, nr_ranked);
	for (size_t i = 0; i < nr_ranked; i++) {
		double rank2 = (double)ranked[i].rank2;

		max += ranked[i].rank2;
		sum += ranked[i].first ? ranked[i].rank2 : 0;
		squares += rank2 * rank2;
	}
	if (nr_ranked > SIGNIFICANCE_EXACT) {
		from_normal(s, (double)sum, (double)max / 2, squares / 4);
		goto out;
	}
	weights = calloc(max + 1, sizeof(*weights));
	if (!weights) {
		err = -ENOMEM;
		goto out;
	}
	weights[0] = 1;
	for (size_t i = 0, top = 0; i < nr_ranked; i++) {
		top += ranked[i].rank2;
		/* Downwards: each rank is in a sum once. */
		for (size_t n = top; n >= ranked[i].rank2; n--)
			weights[n] += weights[n - ranked[i].rank2];
	}
	from_weights(s, weights, max, sum);
	free(weights);
out:
	free(ranked);
	return err;
}

/*
 * How many choices of @nr_a of the @nr ranks have each sum: ways[k * (max + 1) + sum] for k chosen.
 */
static int rank_sum_exact(struct significance *s, const struct ranked *ranked, size_t nr,
			  size_t nr_a, size_t sum)
{
	size_t max = nr * (nr + 1);
	double *ways = calloc((nr_a + 1) * (max + 1), sizeof(*ways));

	if (!ways)
		return -ENOMEM;
	ways[0] = 1;
	for (size_t i = 0, top = 0; i < nr; i++) {
		size_t rank2 = ranked[i].rank2;

		top += rank2;
		/* Downwards, as above. */
		for (size_t k = nr_a < i + 1 ? nr_a : i + 1; k >= 1; k--) {
			const double *without = &ways[(k - 1) * (max + 1)];
			double *with = &ways[k * (max + 1) + rank2];

			for (size_t n = 0; n <= top - rank2; n++)
				with[n] += without[n];
		}
	}
	from_weights(s, &ways[nr_a * (max + 1)], max, sum);
	free(ways);
	return 0;
}

int significance_unpaired(struct significance *s, const double *a, size_t nr_a,
			  const double *b, size_t nr_b)
{
	size_t nr = nr_a + nr_b, sum = 0;
	struct ranked *ranked;
	double ties;
	int err = 0;

	*s = nothing;
	if (!nr_a || !nr_b)
		return 0;
	ranked = calloc(nr, sizeof(*ranked));
	if (!ranked)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		ranked[i] = (struct ranked){ .value = i < nr_a ? a[i] : b[i - nr_a],
					     .first = i < nr_a };
	ties = ranks_fill(ranked, nr);
	for (size_t i = 0; i < nr; i++)
		sum += ranked[i].first ? ranked[i].rank2 : 0;
	if (nr > SIGNIFICANCE_EXACT) {
		double n = (double)nr, m = (double)nr_a;
		double variance = m * (n - m) / 12 * (n + 1 - ties / (n * (n - 1)));

		from_normal(s, (double)sum, m * (n + 1), 4 * variance);
	} else {
		err = rank_sum_exact(s, ranked, nr, nr_a, sum);
	}
	free(ranked);
	return err;
}

double significance_least_paired(size_t nr)
{
	return exp2(-(double)nr);
}

double significance_least_unpaired(size_t nr_a, size_t nr_b)
{
	/* n over m as exp of gammas, which no number of rounds overflows */
	return exp(gsl_sf_lngamma((double)nr_a + 1) + gsl_sf_lngamma((double)nr_b + 1) -
		   gsl_sf_lngamma((double)(nr_a + nr_b) + 1));
}

int significance_correct(double *p, size_t nr)
{
	size_t *order = calloc(nr + 1, sizeof(*order)), m = 0;
	double *known = calloc(nr + 1, sizeof(*known));
	double least = 1;
	size_t *index = calloc(nr + 1, sizeof(*index));
	int err = -ENOMEM;

	if (!order || !known || !index)
		goto out;
	for (size_t i = 0; i < nr; i++) {
		if (isnan(p[i]))
			continue;
		index[m] = i;
		known[m++] = p[i];
	}
	gsl_sort_index(order, known, 1, m);
	for (size_t rank = m; rank; rank--) {
		size_t i = order[rank - 1];

		least = fmin(least, known[i] * (double)m / (double)rank);
		p[index[i]] = least;
	}
	err = 0;
out:
	free(index);
	free(known);
	free(order);
	return err;
}

/*
 * How much more than the formula says so few values take: @least is the smallest p-value
 * that they can have.
 */
static double few_values(double least, double alpha)
{
	if (2 * least > alpha)
		return 1.25;
	return 8 * least > alpha ? 1.1 : 1;
}

double significance_detectable(const struct significance_design *design, double alpha)
{
	double a = (double)design->nr_a, b = (double)design->nr_b;
	double df = design->paired ? a - 1 : a + b - 2;
	double least = design->paired ?
			       significance_least_paired(design->nr_a) :
			       significance_least_unpaired(design->nr_a, design->nr_b);
	double error;

	/* The rounding of lngamma must not make 1/20 more than 5 %. */
	if (df < 1 || least > alpha * (1 + 1e-9))
		return INFINITY;
	error = design->sd * sqrt(design->paired ? 1 / a : 1 / a + 1 / b) /
		sqrt(3 / M_PI);
	return (gsl_cdf_tdist_Qinv(alpha, df) +
		gsl_cdf_tdist_Pinv(SIGNIFICANCE_POWER, df)) *
	       error * few_values(least, alpha);
}

size_t significance_enough(const struct significance_design *design, double alpha,
			   double shift, size_t max)
{
	struct significance_design more = *design;
	size_t low = 1, high = max; /* @low is not enough */

	more.nr_a = more.nr_b = max;
	if (significance_detectable(&more, alpha) > shift)
		return 0;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		more.nr_a = more.nr_b = middle;
		if (significance_detectable(&more, alpha) > shift)
			low = middle;
		else
			high = middle;
	}
	return high;
}
