/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When --rounds auto has enough of made-up results, and what stopping there does to them. */
#include "report/precision.h"

#include "base/bits.h"
#include "draw.h"
#include "fixture.h"
#include "stats/significance.h"
#include "stats/stats.h"

static const unsigned threads[] = { 1, 2 };

/*
 * Rounds of a baseline of 1000 MB/s and a patched side that is twice as fast, within ±
 * @spread (0.1); with two threads by ten times less.
 */
static struct result *made_up(unsigned rounds, double spread)
{
	/* Up and down, farther and nearer, none twice. */
	static const double turns[] = { 0, 1, -1, 0.5, -0.5, 0.8, -0.8, 0.2, -0.2 };
	struct result *result = fixture_empty(threads, ARRAY_SIZE(threads), rounds);

	must(result_add_side(result, "baseline", "null"));
	must(result_add_side(result, "patched", "null"));
	must(result_add_side(result, "limit", "memory"));
	must(result_add_phase(result, "reader", NULL));
	for (unsigned n = 0; n < rounds * 6; n++) {
		unsigned round = n / 6, side = n % 3;
		double turn = turns[round % ARRAY_SIZE(turns)] * spread;
		double rate = 1e6;

		if (n / 3 % 2)
			turn /= 10;
		if (side == 1)
			rate *= 2 * (1 + turn);
		if (side == 2 && round % 2)
			rate /= 3; /* nobody waits for the limit */
		fixture_sample(result, side, 0, threads[n / 3 % 2], round,
			       (uint64_t)rate);
	}
	must(result_derive(result));
	return result;
}

static struct precision found(struct result *result, double width, double slowdown)
{
	struct precision_wanted wanted = { .width = width, .slowdown = slowdown };
	struct precision precision;

	must(precision_find(&precision, result, &wanted));
	return precision;
}

static void widths(void)
{
	struct result *result = made_up(9, 0.1);
	const struct result_speedup *speedup = result_speedup(result, 1, 0, 1);
	struct precision precision = found(result, 0.5, NAN);
	double width =
		fmax(speedup->high - speedup->ratio, speedup->ratio - speedup->low) /
		speedup->ratio;
	struct precision_wanted wanted = { .width = width / 2, .slowdown = NAN };
	char *text;

	ok(precision_is_reached(&precision) && precision.nr_cells == 2 &&
		   precision.widest == width,
	   "two speed-ups that are narrow enough, the wider one by %.3f", width);
	precision_destroy(&precision);
	precision = found(result, width, NAN);
	ok(precision_is_reached(&precision), "exactly as narrow as wanted is enough");
	precision_destroy(&precision);

	precision = found(result, width / 2, NAN);
	ok(!precision_is_reached(&precision) && precision.nr_wide == 1 &&
		   precision.wide[0].threads == 1 && precision.wide[0].width == width,
	   "half of that: one is wider");
	ok(precision.enough >= 36 && precision.enough <= 37,
	   "and takes four times the rounds: %zu", precision.enough);
	text = precision_text(&precision, result, &wanted);
	ok(text && strstr(text, "1 of 2 intervals") &&
		   strstr(text, "patched reader@1 ") && strstr(text, "rounds would do"),
	   "which is said: %s", text);
	free(text);
	precision_destroy(&precision);
	precision = found(result, width / 100, NAN);
	ok(precision.nr_wide == 2 && precision.wide[0].threads == 1 && !precision.enough,
	   "a hundredth: both, the wider one first, and no number of rounds does");
	wanted.width = width / 100;
	text = precision_text(&precision, result, &wanted);
	ok(text && strstr(text, "not even 10000 rounds"), "also said: %s", text);
	free(text);
	precision_destroy(&precision);
	result_free(result);
}

static void few_rounds(void)
{
	for (unsigned rounds = 1; rounds <= 5; rounds++) {
		struct result *result = made_up(rounds, 0);
		struct precision precision = found(result, 0.02, NAN);

		ok(precision_is_reached(&precision) == (rounds == 5) &&
			   (rounds == 5 || isinf(precision.widest)),
		   "%u equal rounds %s", rounds, rounds == 5 ? "do" : "have no interval");
		ok(precision.enough == 5, "5 would do");
		if (rounds < 5) {
			struct precision_wanted wanted = { .width = 0.02,
							   .slowdown = NAN };
			char *text = precision_text(&precision, result, &wanted);

			ok(text && strstr(text, "; at least 5 rounds are needed"),
			   "nobody knows whether they do: %s", text);
			free(text);
		}
		precision_destroy(&precision);
		result_free(result);
	}
}

/* With a gate there have to be so many rounds that it can fail. */
static void power(void)
{
	struct precision precision;
	struct precision_wanted wanted = { .width = 0.5, .slowdown = 0.05 };
	struct result *result = made_up(5, 0.001);
	char *text;

	precision = found(result, 0.5, 0.05);
	ok(!precision_is_reached(&precision) && !precision.nr_wide &&
		   precision.nr_blind == 2 && isinf(precision.blind),
	   "5 rounds cannot show one of two cells to be slower");
	ok(precision.enough == 6, "%zu would do: 1/64 is below 0.05/2", precision.enough);
	text = precision_text(&precision, result, &wanted);
	ok(text && strstr(text, "2 of 2 cells have too few rounds"), "said: %s", text);
	free(text);
	precision_destroy(&precision);
	result_free(result);

	result = made_up(6, 0.001);
	precision = found(result, 0.5, 0.05);
	ok(precision_is_reached(&precision), "6 rounds that hardly spread can");
	precision_destroy(&precision);
	precision = found(result, 0.5, 0);
	ok(precision_is_reached(&precision), "at 0 %% it is enough that any can be seen");
	precision_destroy(&precision);
	result_free(result);

	result = made_up(9, 0.1);
	precision = found(result, 0.5, 0.05);
	ok(!precision_is_reached(&precision) && precision.nr_blind == 1 &&
		   precision.blind > 0.05 && precision.blind < 0.3 &&
		   precision.enough > 9,
	   "9 that spread by 10 %% cannot in one cell: only %.0f %%, %zu would do",
	   precision.blind * 100, precision.enough);
	text = precision_text(&precision, result, &wanted);
	ok(text && strstr(text, "1 of 2 cells would show only slow-downs of"), "said: %s",
	   text);
	free(text);
	precision_destroy(&precision);
	precision = found(result, 0.001, 0.5);
	ok(!precision_is_reached(&precision) && !precision.nr_blind,
	   "what can be seen has to be narrow all the same");
	precision_destroy(&precision);
	result_free(result);
}

static void without_speedups(void)
{
	struct result *result = fixture_empty(threads, 1, 9);
	struct precision precision;

	must(result_add_side(result, "run", "null"));
	must(result_add_phase(result, "reader", NULL));
	must(result_add_phase(result, "rewriter", NULL));
	for (unsigned round = 0; round < 9; round++)
		for (unsigned phase = 0; phase < 2; phase++)
			fixture_sample(result, 0, phase, 1, round,
				       100000 + 1000 * round * phase);
	must(result_derive(result));
	precision = found(result, 0.01, 0.05);
	ok(!precision_is_reached(&precision) && precision.nr_cells == 2 &&
		   precision.nr_wide == 1 && precision.wide[0].phase == 1 &&
		   precision.widest > 0.02 && precision.widest < 0.04 &&
		   !precision.nr_blind,
	   "of one side the medians count: %.3f", precision.widest);
	precision_destroy(&precision);
	precision = found(result, 0.04, NAN);
	ok(precision_is_reached(&precision), "which are narrow enough");
	precision_destroy(&precision);

	fixture_fail(&result->samples[result->nr_samples - 1], "no");
	must(result_derive(result));
	precision = found(result, 0.01, NAN);
	ok(precision_is_reached(&precision) && precision.nr_cells == 1,
	   "a void cell is not waited for");
	precision_destroy(&precision);
	fixture_fail(&result->samples[result->nr_samples - 2], "no");
	must(result_derive(result));
	precision = found(result, 0.01, NAN);
	ok(precision_is_reached(&precision) && !precision.nr_cells,
	   "and when all are void there is nothing to wait for");
	precision_destroy(&precision);
	result_free(result);
}

/* A cell alone, the worst case: 2 % of noise, no difference, until its interval is within 2 %. */
static void false_alarms(void)
{
	enum { RUNS = 4000, MOST = 200 };
	unsigned held = 0, slower = 0, alarms = 0, rounds = 0;
	struct random random;

	random_init(&random, 5);
	for (unsigned run = 0; run < RUNS; run++) {
		double ratio[MOST], logs[MOST];
		struct significance s;
		struct interval i;
		unsigned nr = 0;

		do {
			ratio[nr] = (1 + 0.02 * normal(&random)) /
				    (1 + 0.02 * normal(&random));
			logs[nr] = log(ratio[nr]);
			nr++;
			must(interval_median(&i, ratio, nr));
		} while (nr < INTERVAL_ENOUGH ||
			 (nr < MOST &&
			  fmax(i.high - i.value, i.value - i.low) > 0.02 * i.value));
		must(significance_paired(&s, logs, nr));
		held += i.low <= 1 && 1 <= i.high;
		slower += s.lower <= 0.05;
		alarms += s.lower <= 0.05 && i.value < 0.95;
		rounds += nr;
	}
	ok(rounds > 10 * RUNS && rounds < 25 * RUNS, "%.1f rounds on average",
	   (double)rounds / RUNS);
	ok(held * 100 >= RUNS * 91, "the interval holds the truth in %.1f %%",
	   100.0 * held / RUNS);
	ok(slower * 200 <= RUNS * 13, "it is said to be slower in %.1f %%",
	   100.0 * slower / RUNS);
	ok(!alarms, "never by more than 5 %%");
}

int main(void)
{
	slow_test();
	widths();
	few_rounds();
	power();
	without_speedups();
	false_alarms();
	return done();
}
