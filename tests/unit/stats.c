/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "stats/random.h"
#include "tap.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fabs(b);
}

static void test_summary(void)
{
	const double odd[] = { 7, 1, 5, 3, 9 }, even[] = { 4, 1, 3, 2 }, one[] = { 42 };
	const double large[] = { 1e300, 1e300, 3 };
	double kept[ARRAY_SIZE(odd)];
	struct summary s;

	memcpy(kept, odd, sizeof(kept));
	ok(!summary_compute(&s, odd, 5), "summary of five values");
	ok(s.nr == 5 && s.min == 1 && s.max == 9 && s.median == 5,
	   "their median and range");
	ok(near(s.mean, 5), "their mean");
	ok(s.p25 == 3 && s.p75 == 7, "their quartiles are values");
	ok(!memcmp(kept, odd, sizeof(kept)), "the values stay as they were");

	summary_compute(&s, even, 4);
	ok(s.median == 2.5, "median between two values");
	/* Type 7: at (n - 1) p from the first, 0.75 and 2.25 here. */
	ok(near(s.p25, 1.75) && near(s.p75, 3.25),
	   "quartiles between two values, type 7");

	summary_compute(&s, one, 1);
	ok(s.median == 42 && s.min == 42 && s.max == 42 && s.p25 == 42 && s.p75 == 42,
	   "all figures of one value are it");
	summary_compute(&s, large, 3);
	ok(s.median == 1e300 && isfinite(s.mean), "large values do not overflow");
	ok(summary_compute(&s, one, 0) == -EINVAL, "no value, no summary");
}

static void test_interval(void)
{
	double values[15], reversed[15];
	struct interval a, b;

	values[0] = 3.5;
	ok(!interval_median(&a, values, 1) && a.value == 3.5, "median of one value");
	ok(isnan(a.low) && isnan(a.high), "one value has no interval");
	ok(interval_median(&a, values, 0) == -EINVAL, "no value, no interval");

	for (int i = 0; i < 11; i++) {
		values[i] = 100 + (i * 7) % 11; /* 100 … 110, mixed */
		reversed[10 - i] = values[i];
	}
	ok(!interval_median(&a, values, 11) && a.value == 105, "median of 11 values");
	/*
	 * Of 2048 ways in which 11 values fall above and below, 12 have at most one
	 * below, 67 at most two, 232 three: 1 - 2 * 67 / 2048 = 93.5 %, 1 - 2 * 12 / 2048
	 * = 98.8 %. So the ends are between the 2nd and the 3rd value; 0.713 of 98.8 to
	 * 93.5 is 95 %, and Hettmansperger and Sheather make a weight of it: 9 * 0.713 /
	 * (2 + 7 * 0.713).
	 */
	ok(fabs(a.low - 101.91779) < 1e-4 && fabs(a.high - 108.08221) < 1e-4,
	   "it is the one the binomial distribution tells: %.5f, %.5f", a.low, a.high);
	interval_median(&b, reversed, 11);
	ok(a.low == b.low && a.high == b.high, "the order of the values does not matter");

	interval_median(&a, values, 3);
	ok(a.low == 100 && a.high == 107 && a.value == 103,
	   "of three values it is their range");
	interval_median(&a, values, 5);
	ok(a.low == 100 && a.high == 110 && a.value == 106, "and of five: %g, %g", a.low,
	   a.high);
	interval_median(&a, values, 6);
	ok(a.low > 100 && a.high < 110, "of six it is less");
	values[0] = 5;
	values[1] = 7;
	interval_median(&a, values, 2);
	ok(a.value == 6 && a.low == 5 && a.high == 7,
	   "two values: mean, and both as the ends");
	for (int i = 0; i < 15; i++)
		values[i] = 2;
	interval_median(&a, values, 15);
	ok(a.value == 2 && a.low == 2 && a.high == 2, "equal values: no width");
}

static void test_ratio(void)
{
	const double patched[] = { 20, 22, 24 }, base[] = { 10, 11, 12 };
	double many[40], more[40];
	struct interval a, b;

	ok(!interval_ratio(&a, patched, 3, base, 3) && a.value == 2,
	   "a ratio of medians");
	ok(near(a.low, 20 / 12.0) && near(a.high, 2.4),
	   "of three values each, the farthest that they allow");
	ok(!interval_ratio(&a, patched, 1, base, 3) && a.value == 20 / 11.0 &&
		   isnan(a.low) && isnan(a.high),
	   "one value has no interval");
	ok(interval_ratio(&a, patched, 0, base, 3) == -EINVAL &&
		   interval_ratio(&a, patched, 3, base, 0) == -EINVAL,
	   "no value, no ratio");
	for (int i = 0; i < 40; i++) {
		many[i] = 100 + i;
		more[i] = 100 + i;
	}
	interval_ratio(&a, many, 40, more, 40);
	interval_median(&b, many, 40);
	ok(a.low > b.low / b.high && a.high < b.high / b.low && near(a.low, 1 / a.high),
	   "two intervals of 95 %% would be too much: %.3f, %.3f", a.low, a.high);
}

static bool is_permutation(const uint32_t *permutation, size_t nr)
{
	unsigned char *seen = calloc(nr + 1, 1);
	bool good = true;

	for (size_t i = 0; i < nr && good; i++) {
		good = permutation[i] < nr && !seen[permutation[i]];
		if (good)
			seen[permutation[i]] = 1;
	}
	free(seen);
	return good;
}

static void test_permutation(void)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 1000, 131072 };
	uint32_t *a = malloc(131072 * sizeof(*a)), *b = malloc(131072 * sizeof(*b));
	size_t fixed = 0, ascents = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		permutation_fill(a, sizes[i], 5);
		ok(is_permutation(a, sizes[i]), "a permutation of %zu", sizes[i]);
	}
	permutation_fill(b, 131072, 5);
	ok(!memcmp(a, b, 131072 * sizeof(*a)), "the same seed, the same permutation");
	permutation_fill(b, 131072, 6);
	ok(memcmp(a, b, 131072 * sizeof(*a)) != 0, "another seed, another one");
	permutation_fill(b, 131072, 5ULL << 40);
	ok(memcmp(a, b, 131072 * sizeof(*a)) != 0,
	   "the upper half of the seed counts, too");
	permutation_fill(a, 1000, 0);
	permutation_fill(b, 1000, 1);
	ok(memcmp(a, b, 1000 * sizeof(*a)) != 0, "seeds 0 and 1 differ");
	permutation_fill(a, 131072, 5);
	for (size_t i = 0; i < 131072; i++) {
		fixed += a[i] == i;
		ascents += i && a[i] > a[i - 1];
	}
	/* Poisson with mean 1; normal with mean n/2 and deviation sqrt(n / 12). */
	ok(fixed < 10, "few elements stay: %zu", fixed);
	ok(labs((long)ascents - 65536) < 600, "as many ascents as descents: %zu",
	   ascents);
	free(a);
	free(b);
}

/* All 24 permutations of four elements are as likely: chi-squared with 23 degrees. */
static void test_permutation_is_uniform(void)
{
	unsigned count[256] = { 0 }, different = 0;
	const double expected = 24000 / 24.0;
	double chi2 = 0;

	for (uint64_t seed = 0; seed < 24000; seed++) {
		uint32_t p[4];

		permutation_fill(p, 4, seed);
		count[p[0] | p[1] << 2 | p[2] << 4 | p[3] << 6]++;
	}
	for (unsigned i = 0; i < 256; i++) {
		if (!count[i])
			continue;
		different++;
		chi2 += (count[i] - expected) * (count[i] - expected) / expected;
	}
	ok(different == 24, "all permutations of four come up");
	/* 99.99 % quantile: 56.2. */
	ok(chi2 < 56, "and none more often than others: chi2 %.1f", chi2);
}

static void test_random_below(void)
{
	/* Without rejection, every third number of [0, 3 × 2^30) would come up twice as
	 * often. */
	const uint64_t nr = 3ULL << 30;
	unsigned thirds[3] = { 0 }, last = 0;
	struct random random;

	random_init(&random, 1);
	for (int i = 0; i < 30000; i++) {
		uint32_t value = random_below(&random, nr);

		if (value >= nr)
			last++;
		thirds[value % 3]++;
	}
	ok(!last, "no number is out of range");
	ok(abs((int)thirds[0] - 10000) < 350 && abs((int)thirds[1] - 10000) < 350,
	   "no bias in a range of 3/4: %u %u %u", thirds[0], thirds[1], thirds[2]);
	for (int i = 0; i < 100; i++)
		last += random_below(&random, 1) != 0;
	ok(!last, "a range of one has one number");
	for (int i = 0; i < 1000; i++)
		last |= random_below(&random, 1ULL << 32);
	ok(last == UINT32_MAX, "a range of 2^32 has all bits");
}

static void test_seed_mix(void)
{
	/* splitmix64 seeded with 1234567, as published with its reference code. */
	ok(seed_mix(1234567, 0) == 6457827717110365317ULL, "first value of splitmix64");
	ok(seed_mix(1234567, 1) == 3203168211198807973ULL, "second");
	ok(seed_mix(1234567, 2) == 9817491932198370423ULL, "third");
}

int main(void)
{
	test_summary();
	test_interval();
	test_ratio();
	test_permutation();
	test_permutation_is_uniform();
	test_random_below();
	test_seed_mix();
	return done();
}
