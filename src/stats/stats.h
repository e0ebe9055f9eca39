/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Summaries of samples. Quantiles, sorting, distributions and random numbers are GSL's. */
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
 * The median of @nr >= 1 finite values and its 95 % interval by interpolated order
 * statistics, which assumes nothing of the distribution but that it is continuous: for 5
 * values 93.75 %, from 6 on 94 to 96 %. Simulations are in tests/unit/interval.c. The
 * bootstrap of the median was left: its quantiles can only be a few of the values, so
 * that it holds the truth in 98 % with 7 or 8 of them.
 *
 * With fewer than INTERVAL_ENOUGH values no interval within their range is one of 95 %,
 * and none beyond it is known without assumptions. It is the range then, which holds the
 * true median with probability 1 - 2^(1-nr): 50 % for 2 values, 75 % for 3, 87.5 % for 4;
 * whoever prints it has to say so. With one value low and high are NAN, as nothing is
 * known.
 *
 * 0, -EINVAL without a value or -ENOMEM.
 */
int interval_median(struct interval *interval, const double *values, size_t nr);

#define INTERVAL_ENOUGH 5

/*
 * The median of @nr >= 1 values divided by that of @nr_base >= 1 others, all finite and
 * above 0, and its 95 % interval: from the ends of the intervals of both, each at the
 * level (83 % for as many values) at which those two together are one of 95 %. It
 * presumes that both spread about alike; where one spreads four times as much as the
 * other it holds the truth in 90 %. With fewer than INTERVAL_ENOUGH_RATIO values a side
 * it is too narrow: 90 % for 3. NAN where either has one value only.
 */
int interval_ratio(struct interval *interval, const double *values, size_t nr,
		   const double *base, size_t nr_base);

#define INTERVAL_ENOUGH_RATIO 4

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
