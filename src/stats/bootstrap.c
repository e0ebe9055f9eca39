/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "stats/random.h"

#define NR_RESAMPLES 2000

/* The value at @rank (from 0) of the resample that takes sorted[i] times[i] times. */
static double resample_at(const double *sorted, const size_t *times, size_t rank)
{
	size_t i = 0;

	for (size_t seen = times[0]; seen <= rank; seen += times[i])
		i++;
	return sorted[i];
}

/* The median of @nr values drawn from @sorted with replacement; @times is scratch.
 * Counting how often each is drawn spares sorting every resample. */
static double resample_median(const double *sorted, size_t *times, size_t nr,
			      struct random *random)
{
	double upper;

	memset(times, 0, nr * sizeof(*times));
	for (size_t i = 0; i < nr; i++)
		times[random_below(random, nr)]++;
	upper = resample_at(sorted, times, nr / 2);
	if (nr % 2)
		return upper;
	return 0.5 * (resample_at(sorted, times, nr / 2 - 1) + upper);
}

/*
 * The share of resamples to leave out below and above. 2.5 % each gives too narrow an interval for few values:
 * their spread is too small by sqrt((nr - 1) / nr), and the quantiles are the normal distribution's where
 * they should be Student's. Expanded percentile interval: Hesterberg, "What Teachers Should Know About the
 * Bootstrap", The American Statistician 69 (2015).
 */
static double tail(size_t nr)
{
	double n = (double)nr;

	return gsl_cdf_ugaussian_P(sqrt(n / (n - 1)) * gsl_cdf_tdist_Pinv(0.025, n - 1));
}

int bootstrap_median(struct interval *interval, const double *values, size_t nr,
		     uint64_t seed)
{
	struct random random;
	double *sorted, *medians;
	size_t *times;
	int err = -ENOMEM;

	if (!nr)
		return -EINVAL;
	sorted = malloc(nr * sizeof(*sorted));
	medians = malloc(NR_RESAMPLES * sizeof(*medians));
	times = malloc(nr * sizeof(*times));
	if (!sorted || !medians || !times)
		goto out;

	memcpy(sorted, values, nr * sizeof(*sorted));
	gsl_sort(sorted, 1, nr);
	interval->value = gsl_stats_median_from_sorted_data(sorted, 1, nr);
	interval->low = interval->high = NAN;
	err = 0;
	if (nr == 1)
		goto out;

	random_init(&random, seed);
	for (size_t i = 0; i < NR_RESAMPLES; i++)
		medians[i] = resample_median(sorted, times, nr, &random);
	gsl_sort(medians, 1, NR_RESAMPLES);
	interval->low =
		gsl_stats_quantile_from_sorted_data(medians, 1, NR_RESAMPLES, tail(nr));
	interval->high = gsl_stats_quantile_from_sorted_data(medians, 1, NR_RESAMPLES,
							     1 - tail(nr));
out:
	free(times);
	free(medians);
	free(sorted);
	return err;
}

int bootstrap_ratio(struct interval *interval, const double *values, size_t nr,
		    const double *base, size_t nr_base, uint64_t seed)
{
	size_t most = nr > nr_base ? nr : nr_base;
	double *sorted, *sorted_base, *ratios;
	struct random random;
	size_t *times;
	int err = -ENOMEM;

	if (!nr || !nr_base)
		return -EINVAL;
	sorted = malloc(nr * sizeof(*sorted));
	sorted_base = malloc(nr_base * sizeof(*sorted_base));
	ratios = malloc(NR_RESAMPLES * sizeof(*ratios));
	times = malloc(most * sizeof(*times));
	if (!sorted || !sorted_base || !ratios || !times)
		goto out;

	memcpy(sorted, values, nr * sizeof(*sorted));
	memcpy(sorted_base, base, nr_base * sizeof(*sorted_base));
	gsl_sort(sorted, 1, nr);
	gsl_sort(sorted_base, 1, nr_base);
	interval->value = gsl_stats_median_from_sorted_data(sorted, 1, nr) /
			  gsl_stats_median_from_sorted_data(sorted_base, 1, nr_base);
	interval->low = interval->high = NAN;
	err = 0;
	if (nr == 1 || nr_base == 1)
		goto out;

	random_init(&random, seed);
	for (size_t i = 0; i < NR_RESAMPLES; i++)
		ratios[i] = resample_median(sorted, times, nr, &random) /
			    resample_median(sorted_base, times, nr_base, &random);
	gsl_sort(ratios, 1, NR_RESAMPLES);
	interval->low =
		gsl_stats_quantile_from_sorted_data(ratios, 1, NR_RESAMPLES, 0.025);
	interval->high =
		gsl_stats_quantile_from_sorted_data(ratios, 1, NR_RESAMPLES, 0.975);
out:
	free(times);
	free(ratios);
	free(sorted_base);
	free(sorted);
	return err;
}
