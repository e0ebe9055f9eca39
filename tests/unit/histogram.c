/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log-linear histogram: no number is further from its bucket's middle than the bound says. */
#include "stats/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "stats/random.h"
#include "tap.h"

static uint64_t random_u64(struct random *random)
{
	return (uint64_t)random_below(random, 1ULL << 32) << 32 |
	       random_below(random, 1ULL << 32);
}

/* @value is in its bucket, and the middle of that is near enough. */
static bool holds(uint64_t value)
{
	unsigned bucket = histogram_bucket(value);
	uint64_t low = histogram_low(bucket), high = histogram_high(bucket);
	long double middle = 0.5L * ((long double)low + (long double)high);

	return bucket < HISTOGRAM_NR_BUCKETS && low <= value && value <= high &&
	       fabsl(middle - (long double)value) <=
		       (long double)value * HISTOGRAM_RELATIVE_ERROR;
}

static void test_buckets(void)
{
	bool joined = histogram_low(0) == 0, exact = true;
	unsigned last = HISTOGRAM_NR_BUCKETS - 1;

	for (unsigned i = 0; i < last; i++)
		joined &= histogram_high(i) + 1 == histogram_low(i + 1);
	ok(joined, "each bucket begins where the one before it ends");
	ok(histogram_high(last) == UINT64_MAX, "the last one ends with the last number");
	for (unsigned i = 0; i < 2 * HISTOGRAM_PER_OCTAVE; i++)
		exact &= histogram_low(i) == i && histogram_high(i) == i;
	ok(exact, "small numbers have a bucket each");
}

static void test_bound(void)
{
	struct random random;
	bool good = true;

	random_init(&random, 1);
	for (unsigned i = 0; i < 1000000 && good; i++) {
		uint64_t value = random_u64(&random) >> random_below(&random, 64);

		good = holds(value);
		if (!good)
			printf("# %llu\n", (unsigned long long)value);
	}
	ok(good, "the bound holds for a million numbers of 1 to 64 bits");
	for (unsigned bit = 0; bit < 64; bit++)
		good &= holds(1ULL << bit) && holds((1ULL << bit) - 1) &&
			holds((1ULL << bit) + 1);
	ok(good && holds(UINT64_MAX), "and around every power of two");
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Against the numbers themselves, sorted. */
static void test_quantiles(void)
{
	static const double fractions[] = { 0, 0.01, 0.25, 0.5, 0.75, 0.95, 0.999, 1 };
	static const unsigned sizes[] = { 1, 2, 5, 1000, 99999 };
	struct histogram *histogram = malloc(sizeof(*histogram));
	uint64_t *values = calloc(99999, sizeof(*values));
	struct random random;

	if (!histogram || !values)
		bail("out of memory");
	random_init(&random, 2);
	for (unsigned s = 0; s < ARRAY_SIZE(sizes); s++) {
		unsigned nr = sizes[s];
		bool good = true;

		memset(histogram, 0, sizeof(*histogram));
		for (unsigned i = 0; i < nr; i++) {
			/* Up to 2^40 ns, 18 minutes, most of them small. */
			values[i] = random_u64(&random) >>
				    (24 + random_below(&random, 39));
			histogram_add(histogram, values[i], 1);
		}
		qsort(values, nr, sizeof(*values), compare_u64);
		for (unsigned f = 0; f < ARRAY_SIZE(fractions); f++) {
			double at = fractions[f] * (nr - 1), wanted, got;
			unsigned rank = (unsigned)at;

			wanted = (double)values[rank];
			if (rank + 1 < nr)
				wanted +=
					(at - rank) * ((double)values[rank + 1] - wanted);
			got = histogram_quantile(histogram, fractions[f]);
			if (fabs(got - wanted) <= wanted * HISTOGRAM_RELATIVE_ERROR)
				continue;
			good = false;
			printf("# of %u: %g is %g, not %g\n", nr, fractions[f], got,
			       wanted);
		}
		ok(good && histogram->nr == nr, "quantiles of %u numbers", nr);
	}
	memset(histogram, 0, sizeof(*histogram));
	ok(isnan(histogram_quantile(histogram, 0.5)), "nothing has no median");
	histogram_add(histogram, 7, 1000000000000);
	histogram_add(histogram, 9, 1000000000000);
	ok(histogram_quantile(histogram, 0.25) == 7 &&
		   histogram_quantile(histogram, 0.75) == 9,
	   "counts beyond 32 bits");
	free(values);
	free(histogram);
}

int main(void)
{
	test_buckets();
	test_bound();
	test_quantiles();
	return done();
}
