/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether what is printed as 95 % is 95 %: intervals and false alarms of simulated rounds
 * whose truth is known.
 */
#include <math.h>

#include "base/bits.h"
#include "draw.h"
#include "stats/significance.h"
#include "stats/stats.h"
#include "tap.h"

enum { MOST_ROUNDS = 40, DRAWS = 8000, TABLES = 2000, CELLS = 63 };

enum shape { NORMAL, LOG_NORMAL, BIMODAL, DRIFTING, NR_SHAPES };
static const char *const shapes[] = { "normal", "log-normal", "bimodal", "drifting" };

/*
 * The throughput of one round of one side. A third of bimodal rounds, of each side by
 * itself, loses a quarter, as on a machine that is shared. What drifts has the rounds
 * wander by a tenth in the course of a run, both sides alike, for they are measured in
 * turn.
 */
static double draw(struct random *random, enum shape shape, unsigned round,
		   unsigned rounds)
{
	double at = (double)round / rounds - 0.5;

	switch (shape) {
	case NORMAL:
		return 1000 + 30 * normal(random);
	case LOG_NORMAL:
		return 1000 * exp(0.2 * normal(random));
	case BIMODAL:
		return (uniform(random) < 1 / 3.0 ? 750 : 1000) + 15 * normal(random);
	default:
		return 1000 * (1 + 0.1 * at) + 20 * normal(random);
	}
}

/* The 95 % intervals of a speed-up of 1.25: of pairs, and of two runs. */
static void coverage(enum shape shape, unsigned rounds)
{
	const double truth = 1.25;
	unsigned in_paired = 0, in_unpaired = 0;
	double paired, unpaired;
	struct random random;

	random_init(&random, 100 * shape + rounds);
	for (unsigned i = 0; i < DRAWS; i++) {
		double a[MOST_ROUNDS], b[MOST_ROUNDS], ratio[MOST_ROUNDS];
		struct interval interval;

		for (unsigned r = 0; r < rounds; r++) {
			a[r] = draw(&random, shape, r, rounds);
			b[r] = draw(&random, shape, r, rounds) * truth;
			ratio[r] = b[r] / a[r];
		}
		if (interval_median(&interval, ratio, rounds))
			bail("no memory");
		in_paired += interval.low <= truth && truth <= interval.high;
		if (interval_ratio(&interval, b, rounds, a, rounds))
			bail("no memory");
		in_unpaired += interval.low <= truth && truth <= interval.high;
	}
	paired = 100.0 * in_paired / DRAWS;
	unpaired = 100.0 * in_unpaired / DRAWS;
	if (rounds < INTERVAL_ENOUGH) {
		double claimed = 100 - 200 * exp2(-(double)rounds);

		ok(fabs(paired - claimed) < 1.5,
		   "%s, %u rounds: the range holds the truth in %.1f %%, claimed %.1f %%",
		   shapes[shape], rounds, paired, claimed);
		return;
	}
	ok(paired >= 93 && paired <= 97, "%s, %u pairs: the interval covers in %.1f %%",
	   shapes[shape], rounds, paired);
	/* A drift within each run is no spread of their medians: more than enough. */
	ok(unpaired >= 92.5 && (shape == DRIFTING || unpaired <= 97.5),
	   "%s, %u rounds of two runs: in %.1f %%", shapes[shape], rounds, unpaired);
}

/* The medians of single sides, which are what a run without a baseline has. */
static void coverage_of_medians(enum shape shape, unsigned rounds)
{
	/* Of the bimodal: where 3/4 of the upper hump are above, -0.6745 deviations. */
	const double truth = shape == BIMODAL ? 1000 - 15 * 0.6744897501960817 : 1000;
	struct random random;
	unsigned held = 0;
	double share;

	if (shape == DRIFTING)
		return; /* has no one median */
	random_init(&random, 7000 + 100 * shape + rounds);
	for (unsigned i = 0; i < DRAWS; i++) {
		struct interval interval;
		double a[MOST_ROUNDS];

		for (unsigned r = 0; r < rounds; r++)
			a[r] = draw(&random, shape, r, rounds);
		if (interval_median(&interval, a, rounds))
			bail("no memory");
		held += interval.low <= truth && truth <= interval.high;
	}
	share = 100.0 * held / DRAWS;
	ok(share >= 93 && share <= 97, "%s, %u rounds of one side: in %.1f %%",
	   shapes[shape], rounds, share);
}

/*
 * In how many of 100 tables of 63 cells without any difference something is marked, or
 * said to be slower.
 */
static void false_alarms(enum shape shape, unsigned rounds)
{
	unsigned marked = 0, slower = 0;
	struct random random;

	random_init(&random, 31 * shape + rounds);
	for (unsigned t = 0; t < TABLES; t++) {
		double p[CELLS], p_slower[CELLS], least = 1, least_slower = 1;

		for (unsigned c = 0; c < CELLS; c++) {
			struct significance s;
			double logs[MOST_ROUNDS];

			for (unsigned r = 0; r < rounds; r++)
				logs[r] = log(draw(&random, shape, r, rounds) /
					      draw(&random, shape, r, rounds));
			if (significance_paired(&s, logs, rounds))
				bail("no memory");
			p[c] = s.differs;
			p_slower[c] = s.lower;
		}
		if (significance_correct(p, CELLS) ||
		    significance_correct(p_slower, CELLS))
			bail("no memory");
		for (unsigned c = 0; c < CELLS; c++) {
			least = fmin(least, p[c]);
			least_slower = fmin(least_slower, p_slower[c]);
		}
		marked += least <= 0.05;
		slower += least_slower <= 0.05;
	}
	ok(marked * 20 <= TABLES && slower * 20 <= TABLES,
	   "%s, %u pairs, 63 cells: false marks in %.2f %% of the tables, slower in %.2f %%",
	   shapes[shape], rounds, 100.0 * marked / TABLES, 100.0 * slower / TABLES);
}

int main(void)
{
	static const unsigned rounds[] = { 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 25 };

	slow_test();
	for (enum shape shape = 0; shape < NR_SHAPES; shape++) {
		for (size_t i = 0; i < ARRAY_SIZE(rounds); i++) {
			coverage(shape, rounds[i]);
			if (rounds[i] >= INTERVAL_ENOUGH)
				coverage_of_medians(shape, rounds[i]);
		}
		false_alarms(shape, 5);
		false_alarms(shape, 12);
		false_alarms(shape, 14);
	}
	return done();
}
