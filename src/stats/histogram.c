/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/histogram.h"

#include <math.h>

unsigned histogram_bucket(uint64_t value)
{
	unsigned octave = value ? 63 - (unsigned)__builtin_clzll(value) : 0;
	unsigned shift = octave > HISTOGRAM_SHIFT ? octave - HISTOGRAM_SHIFT : 0;

	return (shift << HISTOGRAM_SHIFT) + (unsigned)(value >> shift);
}

/* Bits that the numbers of @bucket may differ in. */
static unsigned bucket_shift(unsigned bucket)
{
	return bucket < 2 * HISTOGRAM_PER_OCTAVE ? 0 : (bucket >> HISTOGRAM_SHIFT) - 1;
}

uint64_t histogram_low(unsigned bucket)
{
	unsigned shift = bucket_shift(bucket);

	return (uint64_t)(bucket - (shift << HISTOGRAM_SHIFT)) << shift;
}

uint64_t histogram_high(unsigned bucket)
{
	return histogram_low(bucket) + ((1ULL << bucket_shift(bucket)) - 1);
}

void histogram_add(struct histogram *histogram, uint64_t value, uint64_t times)
{
	histogram->buckets[histogram_bucket(value)] += times;
	histogram->nr += times;
}

/* What stands for the number at @rank (from 0), which is there. */
static double value_at(const struct histogram *histogram, uint64_t rank)
{
	unsigned bucket = 0;

	for (uint64_t seen = histogram->buckets[0]; seen <= rank;
	     seen += histogram->buckets[bucket])
		bucket++;
	return 0.5 * ((double)histogram_low(bucket) + (double)histogram_high(bucket));
}

double histogram_quantile(const struct histogram *histogram, double fraction)
{
	double at, below, above;
	uint64_t rank;

	if (!histogram->nr)
		return NAN;
	at = fraction * (double)(histogram->nr - 1);
	rank = (uint64_t)at;
	if (rank + 1 >= histogram->nr)
		return value_at(histogram, histogram->nr - 1);
	below = value_at(histogram, rank);
	above = value_at(histogram, rank + 1);
	return below + (at - (double)rank) * (above - below);
}
