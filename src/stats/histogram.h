/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A log-linear histogram of whole numbers, as HdrHistogram (Gil Tene) and fio's stat.h
 * have it: every power of two is cut into HISTOGRAM_PER_OCTAVE buckets of the same width.
 * GSL's histograms have one width, or bounds that are searched.
 *
 * ERROR BOUND. Below 2 * HISTOGRAM_PER_OCTAVE a bucket is one number, and nothing is
 * lost. A bucket [low, high] above is 2^s wide, where low >= HISTOGRAM_PER_OCTAVE * 2^s.
 * Its middle, (low + high) / 2, which stands for all its numbers, is at most (2^s - 1) /
 * 2 from any of them, hence by less than
 *
 *	1 / (2 * HISTOGRAM_PER_OCTAVE) = 1/256 = 0.4 %
 *
 * of that number: HISTOGRAM_RELATIVE_ERROR. It holds for every number of 64 bits, so also for every
 * quantile, which lies between two of them.
 */
#ifndef STATS_HISTOGRAM_H
#define STATS_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_SHIFT		 7
#define HISTOGRAM_PER_OCTAVE	 (1U << HISTOGRAM_SHIFT)
#define HISTOGRAM_NR_BUCKETS	 ((65U - HISTOGRAM_SHIFT) << HISTOGRAM_SHIFT)
#define HISTOGRAM_RELATIVE_ERROR (1.0 / (2 * HISTOGRAM_PER_OCTAVE))

struct histogram {
	uint64_t nr; /* of all buckets */
	uint64_t buckets[HISTOGRAM_NR_BUCKETS];
};

/* The bucket of @value, and the smallest and the largest number of a bucket. */
unsigned histogram_bucket(uint64_t value);
uint64_t histogram_low(unsigned bucket);
uint64_t histogram_high(unsigned bucket);

/* @times times @value. The struct starts zeroed. */
void histogram_add(struct histogram *histogram, uint64_t value, uint64_t times);

/*
 * The quantile of @fraction, 0 … 1, by linear interpolation between the two nearest ranks
 * (type 7 of Hyndman and Fan 1996, as summary_compute() has it), within the bound above.
 * NAN when empty.
 */
double histogram_quantile(const struct histogram *histogram, double fraction);

#endif
