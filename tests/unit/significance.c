/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/significance.h"

#include <math.h>
#include <stdlib.h>

#include "base/bits.h"
#include "draw.h"
#include "tap.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(b), 1e-3);
}

static void paired(void)
{
	const double up[] = { 1, 2, 3, 4, 5 }, down[] = { -1, -2, -3, -4, -5 };
	const double mixed[] = { -1, 2, 3, 4 }, ties[] = { 1, 1, -1, 0, 0 };
	const double zeros[3] = { 0 }, one[] = { 7 };
	struct significance s;

	significance_paired(&s, up, 5);
	ok(near(s.higher, 1.0 / 32) && s.lower == 1 && near(s.differs, 1.0 / 16),
	   "five of five values above 0: 1/32");
	significance_paired(&s, down, 5);
	ok(near(s.lower, 1.0 / 32) && s.higher == 1, "and below");
	/* W = 9 of 10: sums 9 and 10 are two of 16. */
	significance_paired(&s, mixed, 4);
	ok(near(s.higher, 2.0 / 16) && near(s.lower, 15.0 / 16),
	   "the smallest of four below 0: 2/16");
	/* Three ranks of 2; zeros are out. Sums 4 and 6 of 8 cases: 3 + 1. */
	significance_paired(&s, ties, 5);
	ok(near(s.higher, 0.5) && near(s.lower, 7.0 / 8), "ties share their ranks");
	significance_paired(&s, zeros, 3);
	ok(s.lower == 1 && s.higher == 1 && s.differs == 1, "zeros tell nothing");
	significance_paired(&s, one, 1);
	ok(near(s.higher, 0.5) && s.differs == 1, "one value tells nothing");
	ok(!significance_paired(&s, one, 0) && s.differs == 1, "nor does none");
}

static void unpaired(void)
{
	const double a[] = { 1, 2, 3 }, b[] = { 4, 5, 6 }, c[] = { 3.5, 5, 6 };
	const double d[] = { 1, 2, 4 }, same[] = { 2, 2, 2 };
	struct significance s;

	significance_unpaired(&s, a, 3, b, 3);
	ok(near(s.lower, 1.0 / 20) && s.higher == 1 && near(s.differs, 0.1),
	   "three below three: 1/20");
	significance_unpaired(&s, b, 3, a, 3);
	ok(near(s.higher, 1.0 / 20), "and above");
	/* Ranks 1, 2, 4: the sums 6 and 7 are two of 20. */
	significance_unpaired(&s, d, 3, c, 3);
	ok(near(s.lower, 2.0 / 20), "one exchange: 2/20");
	significance_unpaired(&s, same, 3, same, 3);
	ok(s.lower == 1 && s.higher == 1 && s.differs == 1,
	   "identical values are no difference");
	significance_unpaired(&s, a, 1, b, 1);
	ok(near(s.lower, 0.5) && s.differs == 1, "one round each tells nothing");
	significance_unpaired(&s, a, 0, b, 3);
	ok(s.differs == 1, "nor does none");
	ok(near(significance_least_paired(5), 1.0 / 32) &&
		   near(significance_least_unpaired(3, 3), 1.0 / 20) &&
		   near(significance_least_unpaired(5, 5), 1.0 / 252),
	   "the smallest p-values");
}

/* Just below and above the limit of the exact tests the p-values are about the same. */
static void approximation(void)
{
	double values[SIGNIFICANCE_EXACT + 1], b[SIGNIFICANCE_EXACT / 2];
	struct significance exact, normal;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		values[i] = (double)((i * 37) % 101) - 42;
	significance_paired(&exact, values, SIGNIFICANCE_EXACT - 1);
	significance_paired(&normal, values, SIGNIFICANCE_EXACT + 1);
	ok(fabs(exact.higher - normal.higher) < 0.03, "many pairs: %g and %g",
	   exact.higher, normal.higher);
	for (size_t i = 0; i < ARRAY_SIZE(b); i++)
		b[i] = (double)((i * 53) % 97) - 40;
	significance_unpaired(&exact, values, 32, b, 32);
	significance_unpaired(&normal, values, 33, b, 32);
	ok(fabs(exact.lower - normal.lower) < 0.06, "many values: %g and %g", exact.lower,
	   normal.lower);
}

/*
 * The example of Benjamini and Hochberg (1995), section 3.2: 15 p-values, of which the
 * first four stand at 5 % (Holm's and Bonferroni's correction leave three).
 */
static void correction(void)
{
	double p[] = { 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
		       0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000 };
	double few[] = { 0.04, NAN, 0.01, 0.03 };
	unsigned nr = 0;

	ok(!significance_correct(p, ARRAY_SIZE(p)), "fifteen p-values");
	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		nr += p[i] <= 0.05;
	ok(nr == 4, "four of them stand, as in the paper: %u", nr);
	ok(near(p[0], 0.0015) && near(p[1], 0.003) && near(p[2], 0.0095) &&
		   near(p[3], 0.035625) && p[14] == 1,
	   "their corrected values");
	/* 0.01 * 3/1, 0.03 * 3/2, 0.04 * 3/3, each at most the next. */
	significance_correct(few, 4);
	ok(near(few[2], 0.03) && near(few[3], 0.04) && near(few[0], 0.04),
	   "a larger one caps a smaller one");
	ok(isnan(few[1]), "what is no p-value does not count");
}

static void detectable(void)
{
	struct significance_design design = { .paired = true, .nr_a = 5, .sd = 0.01 };
	double few, many;
	size_t enough;

	ok(isinf(significance_detectable(&design, 0.01)), "5 pairs never reach 1 %%");
	few = significance_detectable(&design, 0.05);
	design.nr_a = 20;
	many = significance_detectable(&design, 0.05);
	ok(few > many && many > 0, "more rounds find less: %g, %g", few, many);
	/* (1.729 + 0.861) * 0.01 / sqrt(20) / 0.977 */
	ok(fabs(many - 0.005927) < 1e-5, "by the formula");
	enough = significance_enough(&design, 0.05, 0.005, 10000);
	design.nr_a = enough;
	ok(significance_detectable(&design, 0.05) <= 0.005, "%zu rounds do", enough);
	design.nr_a = enough - 1;
	ok(significance_detectable(&design, 0.05) > 0.005, "one less does not");
	design.sd = 100;
	ok(!significance_enough(&design, 0.05, 0.005, 1000), "some need too many");
	design = (struct significance_design){ .nr_a = 1, .nr_b = 1 };
	ok(isinf(significance_detectable(&design, 0.5)), "one round finds nothing");
	design = (struct significance_design){ .nr_a = 3, .nr_b = 3 };
	ok(significance_detectable(&design, 0.05) == 0, "no spread: anything is found");
}

/* ---- known truth ---- */

enum shape { NORMAL, LOG_NORMAL, BIMODAL, DRIFTING, NR_SHAPES };
static const char *const shapes[] = { "normal", "log-normal", "bimodal", "drifting" };

/* Throughput of one round, whose median is about 1000. */
static double draw(struct random *random, enum shape shape, unsigned round,
		   unsigned rounds)
{
	double at = rounds > 1 ? (double)round / (rounds - 1) - 0.5 : 0;

	switch (shape) {
	case NORMAL:
		return 1000 + 30 * normal(random);
	case LOG_NORMAL:
		return 1000 * exp(0.1 * normal(random));
	case BIMODAL:
		return (uniform(random) < 0.5 ? 950 : 1050) + 10 * normal(random);
	default:
		return 1000 * (1 + 0.1 * at) + 20 * normal(random);
	}
}

/* The same on both sides: in how many of @tables tables of @cells cells is anything significant? */
static unsigned false_alarms(enum shape shape, bool pairs, unsigned cells,
			     unsigned rounds, unsigned tables, double *least)
{
	struct random random;
	unsigned alarms = 0;

	*least = 1;
	random_init(&random, 1000 * shape + rounds);
	for (unsigned t = 0; t < tables; t++) {
		double p[63], best = 1;

		for (unsigned c = 0; c < cells; c++) {
			double a[64], b[64], ratio[64];
			struct significance s;

			for (unsigned r = 0; r < rounds; r++) {
				a[r] = draw(&random, shape, r, rounds);
				b[r] = draw(&random, shape, r, rounds);
				ratio[r] = log(b[r] / a[r]);
			}
			if (pairs)
				significance_paired(&s, ratio, rounds);
			else
				significance_unpaired(&s, b, rounds, a, rounds);
			p[c] = s.differs;
		}
		significance_correct(p, cells);
		for (unsigned c = 0; c < cells; c++)
			best = fmin(best, p[c]);
		alarms += best <= 0.05;
		*least = fmin(*least, best);
	}
	return alarms;
}

static void no_difference(void)
{
	double least;

	for (enum shape shape = 0; shape < NR_SHAPES; shape++) {
		for (unsigned pairs = 0; pairs < 2; pairs++) {
			unsigned tables = pairs ? 500 : 100;
			/*
			 * 5 % of 500 are 25, of 100 are 5; more than this has a probability of 1 %.
			 */
			unsigned limit = pairs ? 37 : 10;
			unsigned alarms =
				false_alarms(shape, pairs, 63, 14, tables, &least);

			ok(alarms <= limit, "%s, %s, 63 cells: %u false alarms in %u",
			   shapes[shape], pairs ? "paired" : "unpaired", alarms, tables);
			/*
			 * One cell: 5 % of 2000 are 100, of 1000 are 50. Drift only makes
			 * it more careful.
			 */
			alarms = false_alarms(shape, pairs, 1, 13, pairs ? 2000 : 1000,
					      &least);
			ok(alarms <= (pairs ? 125 : 68), "%s, %s, one cell: %u of %u",
			   shapes[shape], pairs ? "paired" : "unpaired", alarms,
			   pairs ? 2000 : 1000);
		}
	}
	ok(!false_alarms(NORMAL, true, 63, 1, 50, &least) && least == 1,
	   "one round is never significant");
}

static void shift_found(void)
{
	struct random random;
	unsigned found = 0, found_unpaired = 0;

	random_init(&random, 7);
	for (unsigned t = 0; t < 100; t++) {
		double a[14], b[14], ratio[14], p[63], q[63];

		for (unsigned c = 0; c < 63; c++) {
			struct significance s;

			for (unsigned r = 0; r < 14; r++) {
				a[r] = draw(&random, NORMAL, r, 14);
				b[r] = draw(&random, NORMAL, r, 14) * (c ? 1 : 0.9);
				ratio[r] = log(b[r] / a[r]);
			}
			significance_paired(&s, ratio, 14);
			p[c] = s.lower;
			significance_unpaired(&s, b, 14, a, 14);
			q[c] = s.lower;
		}
		significance_correct(p, 63);
		significance_correct(q, 63);
		found += p[0] <= 0.05;
		found_unpaired += q[0] <= 0.05;
	}
	ok(found >= 95, "one cell of 63 slower by 10 %%: found in %u of 100", found);
	ok(found_unpaired >= 95, "the same, unpaired: in %u", found_unpaired);
}

/*
 * What is called detectable is found about as often as is said, also by the fewest rounds
 * that can find anything.
 */
static void found_as_often_as_said(void)
{
	static const struct {
		bool paired;
		unsigned rounds, cells;
	} designs[] = { { true, 5, 1 },	  { true, 8, 7 },   { true, 9, 21 },
			{ true, 11, 63 }, { true, 12, 7 },  { true, 16, 63 },
			{ false, 5, 7 },  { false, 7, 63 }, { false, 12, 21 } };
	struct random random;

	random_init(&random, 5);
	for (unsigned d = 0; d < ARRAY_SIZE(designs); d++) {
		unsigned nr = designs[d].rounds, found = 0;
		struct significance_design design = { designs[d].paired, nr, nr, 1 };
		double alpha = 0.05 / designs[d].cells;
		double shift = significance_detectable(&design, alpha);
		struct significance s;
		double a[16], b[16];

		for (unsigned i = 0; i < 1000; i++) {
			for (unsigned n = 0; n < nr; n++) {
				a[n] = normal(&random) - shift;
				b[n] = normal(&random);
			}
			if (design.paired ? significance_paired(&s, a, nr) :
					    significance_unpaired(&s, a, nr, b, nr))
				abort();
			found += s.lower <= alpha * (1 + 1e-9);
		}
		/* The standard deviation of 1000 draws is 1.3 %. */
		ok(found >= 710 && found <= 910, "%s, %u rounds, %u cells: %u of 1000",
		   design.paired ? "pairs" : "two runs", nr, designs[d].cells, found);
	}
}

int main(void)
{
	slow_test();
	paired();
	unpaired();
	approximation();
	correction();
	detectable();
	found_as_often_as_said();
	no_difference();
	shift_found();
	return done();
}
