/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Summaries of samples. Quantiles, sorting and random numbers are GSL's. */
#ifndef STATS_STATS_H
#define STATS_STATS_H

#include <stddef.h>
#include <stdint.h>

struct summary {
	size_t nr;
	double median, min, max, mean;
	double p25, p75;
};

/* Of @nr >= 1 finite values, in any order (they are copied). 0, -EINVAL without a value
 * or -ENOMEM. Quantiles: GSL's gsl_stats_quantile_from_sorted_data, linear interpolation
 * (type 7 of Hyndman and Fan 1996). */
int summary_compute(struct summary *summary, const double *values, size_t nr);

struct interval {
	double value, low, high;
};

/*
 * The median of @nr >= 1 finite values and its 95 % interval by the percentile bootstrap
 * (Efron 1979), expanded for few values (Hesterberg 2015), 2000 resamples drawn with @seed: the same values in any order give the
 * same interval. With one value low = high = value is NOT claimed: they are NAN, as
 * nothing is known.
 *
 * No interval within the range of the values can do better than that range, which holds
 * the true median with probability 1 - 2^(1-nr): 75 % for 3 values, 94 % for 5, 97 % for
 * 6. Whoever prints the interval of fewer than BOOTSTRAP_ENOUGH values has to say so.
 *
 * 0, -EINVAL without a value or -ENOMEM.
 */
int bootstrap_median(struct interval *interval, const double *values, size_t nr,
		     uint64_t seed);

/*
 * The median of @nr >= 1 values divided by that of @nr_base >= 1 others, all finite and the latter above 0, and its
 * 95 % interval: by the plain percentile bootstrap, where each side is resampled by itself (Efron and Tibshirani 1993, 8.3: two
 * samples), for there are no pairs. NAN where either has one value only.
 */
int bootstrap_ratio(struct interval *interval, const double *values, size_t nr,
		    const double *base, size_t nr_base, uint64_t seed);

#define BOOTSTRAP_ENOUGH 6

/*
 * A uniformly random permutation of 0 … @nr - 1 (Fisher-Yates), reproducible from @seed.
 * @nr is at most 2^32.
 */
void permutation_fill(uint32_t *permutation, size_t nr, uint64_t seed);

/*
 * Mixes a run's seed with a number (a worker, a cell) into an independent seed: what
 * splitmix64 (Steele, Lea and Flood 2014) seeded with @seed returns as its (@number +
 * 1)-th value.
 */
uint64_t seed_mix(uint64_t seed, uint64_t number);

#endif
