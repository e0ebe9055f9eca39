/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "result/result.h"

#include <errno.h>

#include "base/bits.h"
#include "fixture.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fabs(b);
}

static void test_rates(void)
{
	struct result_worker workers[] = {
		{ .start_ns = 0, .end_ns = 500000000, .bytes = 1 << 20 },
		{ .start_ns = 500000000, .end_ns = 2000000000, .bytes = 3 << 20 },
		{ .start_ns = 7, .end_ns = 7, .bytes = 0 },
	};
	struct result_sample sample = { .threads = 4,
					.window_ns = 2000000000,
					.bytes = 4 << 20,
					.workers = workers,
					.nr_workers = 3 };

	result_sample_rates(&sample);
	ok(sample.total_kb_per_s == 2048, "4 MiB in 2 s are 2048 kB/s");
	ok(sample.kb_per_s == 512, "512 for each of 4 threads");
	ok(near(sample.sum_of_worker_rates, 2048 + 2048),
	   "the workers' own rates, without the idle");
	ok(!result_sample_is_void(&sample), "a good sample is not void");

	workers[0].end_ns = 0;
	result_sample_rates(&sample);
	ok(isnan(sample.sum_of_worker_rates) && sample.kb_per_s == 512,
	   "a worker without a duration has no rate, the sample has");
	sample.nr_workers = 0;
	result_sample_rates(&sample);
	ok(isnan(sample.sum_of_worker_rates), "no workers, no sum");

	sample.window_ns = 0;
	result_sample_rates(&sample);
	ok(isnan(sample.kb_per_s) && isnan(sample.total_kb_per_s),
	   "an empty window has no rate");
	ok(result_sample_is_void(&sample), "and is void");
	sample.window_ns = 1;
	sample.failure = (char *)(uintptr_t) "failed";
	result_sample_rates(&sample);
	ok(isnan(sample.kb_per_s) && result_sample_is_void(&sample),
	   "so has a failed one");
	sample.failure = NULL;
	sample.bytes = 0;
	result_sample_rates(&sample);
	ok(sample.kb_per_s == 0 && !result_sample_is_void(&sample),
	   "nothing moved is a rate of 0");
	/* 1.5 × 2^62 bytes a ns: no overflow on the way. */
	sample.bytes = 3ULL << 61;
	result_sample_rates(&sample);
	ok(near(sample.total_kb_per_s, 0x1.8p52 * 1e9), "large counts do not overflow");
}

/*
 * Two sides, 1 and 2 threads, three rounds: 1 thread: baseline 100 400 200, patched 300
 * 400 500: medians 200 and 400, ratios 3 1 2.5.
 */
static struct result *three_rounds(void)
{
	static const unsigned threads[] = { 2, 1 };
	static const unsigned baseline[] = { 100, 400, 200 },
			      patched[] = { 300, 400, 500 };
	struct result *result = fixture_empty(threads, 2, 3);

	must(result_add_side(result, "baseline", "cache:batch=1"));
	must(result_add_side(result, "patched", "cache:batch=512"));
	must(result_add_phase(result, "reader", NULL));
	for (unsigned round = 0; round < 3; round++) {
		fixture_sample(result, 1, 0, 1, round, patched[round]);
		fixture_sample(result, 0, 0, 1, 2 - round, baseline[2 - round]);
		fixture_sample(result, 0, 0, 2, round, 10);
		fixture_sample(result, 1, 0, 2, round, 12);
	}
	return result;
}

static void test_derive(void)
{
	struct result *result = three_rounds();
	const struct result_speedup *speedup;
	const struct result_cell *cell;

	ok(!strcmp(result->phases[0].title, "Readers"), "a known phase has its title");
	ok(!result_derive(result), "derive");
	ok(result->nr_cells == 4 && result->nr_speedups == 2, "4 cells, 2 speed-ups");
	cell = result_cell(result, 0, 0, 1);
	ok(cell && cell->kb_per_s == 200 && cell->nr_samples == 3 && !cell->is_void,
	   "the median of the rounds");
	ok(cell && cell->min == 100 && cell->max == 400 && cell->p25 == 150 &&
		   cell->p75 == 300,
	   "their spread");
	ok(cell && isnan(cell->sum_of_worker_rates), "no sum of workers without workers");
	cell = result_cell(result, 1, 0, 2);
	ok(cell && cell->kb_per_s == 12 && cell->total_kb_per_s == 24,
	   "total is per thread × 2");
	speedup = result_speedup(result, 1, 0, 1);
	ok(speedup && speedup->ratio == 2.5,
	   "the median of the ratios, not the ratio of medians");
	ok(speedup && speedup->low == 1 && speedup->high == 3 && speedup->nr_rounds == 3,
	   "its interval is within the ratios");
	speedup = result_speedup(result, 1, 0, 2);
	ok(speedup && near(speedup->ratio, 1.2) && near(speedup->low, 1.2) &&
		   near(speedup->high, 1.2),
	   "equal ratios have no width");
	ok(!result_cell(result, 0, 0, 3) && !result_cell(result, 2, 0, 1) &&
		   !result_cell(result, 0, 1, 1),
	   "other cells do not exist");
	ok(!result_speedup(result, 0, 0, 1), "the baseline has no speed-up");
	ok(!result_derive(result) && result->nr_cells == 4, "derive anew");
	result_free(result);
}

static void test_void(void)
{
	struct result *result = three_rounds();
	const struct result_speedup *speedup;
	const struct result_cell *cell;

	must(result_add_side(result, "limit", "memory"));
	must(result_add_side(result, "patched2", "cache:batch=64"));
	fixture_sample(result, 2, 0, 1, 0, 1000);
	fixture_sample(result, 3, 0, 1, 1, 800);
	fixture_sample(result, 3, 0, 4, 1, 800);
	/* Of the baseline, 2 threads, the second round. */
	fixture_fail(&result->samples[6], "it broke");
	must(result_derive(result));
	cell = result_cell(result, 0, 0, 2);
	ok(cell && cell->is_void && isnan(cell->kb_per_s) && isnan(cell->max),
	   "a void sample voids its cell");
	ok(cell && cell->nr_samples == 2 && cell->nr_void == 1,
	   "the good samples are counted");
	cell = result_cell(result, 1, 0, 2);
	ok(cell && cell->kb_per_s == 12, "the other side keeps its figure");
	speedup = result_speedup(result, 1, 0, 2);
	ok(speedup && isnan(speedup->ratio) && isnan(speedup->low) &&
		   isnan(speedup->high),
	   "a void baseline voids the speed-up");
	speedup = result_speedup(result, 1, 0, 1);
	ok(speedup && speedup->ratio == 2.5, "and no other one");
	ok(result_cell(result, 2, 0, 1) && !result_speedup(result, 2, 0, 1),
	   "the limit has a cell, but no speed-up");
	speedup = result_speedup(result, 3, 0, 1);
	ok(speedup && speedup->ratio == 2 && speedup->nr_rounds == 1 &&
		   isnan(speedup->low) && isnan(speedup->high),
	   "sides are paired by round, and one round has no interval");
	speedup = result_speedup(result, 3, 0, 4);
	ok(speedup && isnan(speedup->ratio), "no baseline cell, no ratio");
	result_free(result);

	result = three_rounds();
	fixture_fail(fixture_sample(result, 1, 0, 1, 3, 1), "patched broke");
	must(result_derive(result));
	speedup = result_speedup(result, 1, 0, 1);
	ok(speedup && isnan(speedup->ratio), "a void patched side voids the speed-up");
	result_free(result);

	/* In a round that the other side does not have. */
	result = three_rounds();
	fixture_fail(fixture_sample(result, 0, 0, 1, 3, 1), "baseline broke");
	must(result_derive(result));
	speedup = result_speedup(result, 1, 0, 1);
	ok(speedup && isnan(speedup->ratio),
	   "a baseline void in a round of its own, too");
	result_free(result);

	result = three_rounds();
	fixture_sample(result, 1, 0, 4, 0, 1000);
	fixture_sample(result, 1, 0, 4, 1, 600);
	fixture_sample(result, 0, 0, 4, 1, 200);
	fixture_sample(result, 0, 0, 4, 2, 1);
	must(result_derive(result));
	speedup = result_speedup(result, 1, 0, 4);
	ok(speedup && speedup->ratio == 3 && speedup->nr_rounds == 1,
	   "only rounds that both sides have are paired");
	result_free(result);
}

static void test_odd_samples(void)
{
	static const unsigned threads[] = { 1 };
	struct result *result = three_rounds();
	const struct result_speedup *speedup;

	fixture_sample(result, 1, 0, 1, 1, 7);
	ok(result_derive(result) == -EINVAL && !result->nr_cells && !result->nr_speedups,
	   "a round twice is refused");
	result_free(result);

	result = fixture_empty(threads, 1, 1);
	ok(!result_derive(result) && !result->nr_cells, "no samples, no cells");
	must(result_add_side(result, "run", "null"));
	must(result_add_side(result, "patched", "null"));
	must(result_add_phase(result, "something-else", NULL));
	ok(!strcmp(result->phases[0].title, "something-else"),
	   "an unknown phase is its own title");
	fixture_sample(result, 0, 0, 1, 0, 0);
	fixture_sample(result, 1, 0, 1, 0, 0)->too_short = true;
	must(result_derive(result));
	speedup = result_speedup(result, 1, 0, 1);
	ok(speedup && isnan(speedup->ratio), "0 by 0 is no ratio");
	ok(result->cells[1].too_short && !result->cells[0].too_short,
	   "too short is kept");
	result_free(result);
	result_free(NULL);
}

/* What holds for any samples at all. */
static void test_properties(void)
{
	static const unsigned threads[] = { 1 };
	unsigned bad = 0, differ = 0;
	uint32_t state = 1;

	for (unsigned round = 0; round < 200; round++) {
		struct result *result = fixture_empty(threads, 1, 9), *reversed;
		unsigned rates[2][9], nr = 1 + round % 9;
		const struct result_speedup *s;

		reversed = fixture_empty(threads, 1, 9);
		for (unsigned side = 0; side < 2; side++) {
			must(result_add_side(result, side ? "patched" : "baseline", "x"));
			must(result_add_side(reversed, side ? "patched" : "baseline",
					     "x"));
			for (unsigned i = 0; i < nr; i++) {
				state = state * 1664525 + 1013904223;
				rates[side][i] = 1000 + (state >> 20);
			}
		}
		must(result_add_phase(result, "reader", NULL));
		must(result_add_phase(reversed, "reader", NULL));
		for (unsigned i = 0; i < nr; i++) {
			for (unsigned side = 0; side < 2; side++) {
				fixture_sample(result, side, 0, 1, i, rates[side][i]);
				fixture_sample(reversed, 1 - side, 0, 1, nr - 1 - i,
					       rates[1 - side][nr - 1 - i]);
			}
		}
		must(result_derive(result));
		must(result_derive(reversed));
		s = &result->speedups[0];
		if (result->nr_speedups != 1 || !(s->ratio > 0) || s->nr_rounds != nr)
			bad++;
		if (nr == 1 ? !isnan(s->low) :
			      !(s->low <= s->ratio && s->ratio <= s->high))
			bad++;
		for (unsigned i = 0; i < 2; i++)
			differ += result->cells[i].kb_per_s !=
					  reversed->cells[i].kb_per_s ||
				  result->cells[i].p25 != reversed->cells[i].p25 ||
				  result->cells[i].max != reversed->cells[i].max;
		if (s->ratio != reversed->speedups[0].ratio ||
		    (nr > 1 && s->low != reversed->speedups[0].low))
			differ++;
		result_free(result);
		result_free(reversed);
	}
	ok(!bad, "the interval holds the ratio, and is there from 2 rounds on");
	ok(!differ, "the order of the samples does not matter");
}

static void test_warnings(void)
{
	struct result *result = result_alloc();
	char text[] = "number 00";
	bool good = true;

	ok(result_warn(result, "slow: %d %%", 5) == 1, "a warning");
	ok(result_warn(result, "slow: %d %%", 5) == 0 && result->nr_warnings == 1,
	   "the same one is kept once");
	ok(!strcmp(result->warnings[0], "slow: 5 %"), "formatted");
	for (unsigned i = 0; i < 20; i++) {
		text[8] = (char)('0' + i % 10);
		text[7] = (char)('0' + i / 10);
		good &= result_warn(result, "%s", text) == 1;
	}
	ok(good && result->nr_warnings == 21 &&
		   !strcmp(result->warnings[20], "number 19"),
	   "others are kept in order");
	result_free(result);
}

static void test_many_samples(void)
{
	struct result *result = result_alloc();
	bool good = true;

	must(result_add_side(result, "run", "null"));
	must(result_add_phase(result, "reader", NULL));
	for (unsigned i = 0; i < 3000; i++) {
		struct result_sample *sample = result_add_sample(result, i % 7);

		good &= sample && !sample->failure && sample->nr_workers == i % 7 &&
			!sample->workers == !(i % 7) && !sample->bytes;
		sample->threads = 1 + i % 256;
		sample->round = i;
		sample->bytes = 1024;
		sample->window_ns = 1 + i;
		result_sample_rates(sample);
	}
	ok(good && result->nr_samples == 3000, "samples start zeroed");
	ok(result->samples[2999].window_ns == 3000 && result->samples[0].window_ns == 1,
	   "and stay where they are put");
	ok(!result_derive(result) && result->nr_cells == 256, "a cell a thread count");
	ok(result_cell(result, 0, 0, 256) == &result->cells[255], "in ascending order");
	result_free(result);
}

int main(void)
{
	test_rates();
	test_derive();
	test_void();
	test_odd_samples();
	test_properties();
	test_warnings();
	test_many_samples();
	return done();
}
