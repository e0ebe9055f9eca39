/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a comparison finds in made-up results whose truth is known. */
#include "report/compare.h"

#include <errno.h>

#include "base/bits.h"
#include "draw.h"
#include "fixture.h"
#include "result/join.h"

static const unsigned threads[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256 };
static const char *const phase_names[] = { "initial-writer", "rewriter",
					   "reader",	     "re-reader",
					   "reverse-reader", "random-reader",
					   "random-writer" };

/*
 * 63 cells of both sides; @factor is how fast the patched one is at cell @one, or everywhere (-1).
 */
static struct result *made_up(struct random *random, unsigned rounds, double noise,
			      double factor, int one)
{
	struct result *result = fixture_empty(threads, ARRAY_SIZE(threads), rounds);

	must(result_add_side(result, "baseline", "null"));
	must(result_add_side(result, "patched", "null"));
	for (unsigned p = 0; p < ARRAY_SIZE(phase_names); p++)
		must(result_add_phase(result, phase_names[p], NULL));
	for (unsigned cell = 0; cell < 63; cell++) {
		for (unsigned n = 0; n < 2 * rounds; n++) {
			double rate = 1e6 * exp(noise * normal(random));

			if (n % 2 && (one < 0 || cell == (unsigned)one))
				rate *= factor;
			fixture_sample(result, n % 2, cell / 9, threads[cell % 9], n / 2,
				       (uint64_t)rate);
		}
	}
	must(result_derive(result));
	return result;
}

/* How the gate --max-regression @percent ends: counts of outcomes. */
struct counts {
	unsigned of[4];
};

static struct counts gate_counts(struct result *result, bool pairs, double percent)
{
	struct gates gates = { .max_regression = percent };
	struct comparison comparison;
	struct outcomes outcomes;
	struct counts counts;

	must(comparison_init(&comparison, result, pairs));
	must(outcomes_fill(&outcomes, &comparison, &gates));
	for (unsigned kind = 0; kind < 4; kind++)
		counts.of[kind] = outcomes_count(&outcomes, kind);
	outcomes_destroy(&outcomes);
	comparison_destroy(&comparison);
	return counts;
}

static void false_and_missed_alarms(void)
{
	struct random random;

	for (unsigned pairs = 0; pairs < 2; pairs++) {
		const char *how = pairs ? "paired" : "unpaired";
		unsigned alarms = 0, found = 0, all = 0, few = 0, noisy = 0, passed = 0;

		random_init(&random, 11 + pairs);
		for (unsigned i = 0; i < 24; i++) {
			struct result *result = made_up(&random, 12, 0.02, 1, -1);

			alarms += gate_counts(result, pairs, 0).of[OUTCOME_FAILED] > 0;
			passed += gate_counts(result, pairs, 15).of[OUTCOME_PASSED] == 63;
			result_free(result);
			result = made_up(&random, 12, 0.02, 0.9, 31);
			found += gate_counts(result, pairs, 5).of[OUTCOME_FAILED] == 1;
			result_free(result);
			result = made_up(&random, 6, 0.02, 0.9, -1);
			all += gate_counts(result, pairs, 5).of[OUTCOME_FAILED] == 63;
			result_free(result);
			result = made_up(&random, 5, 0.02, 1, -1);
			few += gate_counts(result, pairs, 0).of[OUTCOME_FAILED] > 0;
			noisy += gate_counts(result, pairs, 1).of[OUTCOME_NOISY] > 0;
			result_free(result);
		}
		/* 5 % of 24 are 1; 5 or more have a probability of 1 %. */
		ok(alarms <= 4, "%s: no difference, 63 cells: %u false alarms in 24", how,
		   alarms);
		ok(passed == 24, "%s: %u of 24 pass where 15 %% are allowed", how,
		   passed);
		ok(found >= 22, "%s: one cell slower by 10 %%: found alone in %u of 24",
		   how, found);
		ok(all >= 21, "%s: all slower by 10 %%, 6 rounds: all found in %u of 24",
		   how, all);
		ok(few <= 4, "%s: 5 rounds: %u false alarms in 24", how, few);
		ok(noisy == 24, "%s: 5 rounds of 2 %% cannot tell 1 %%: %u of 24", how,
		   noisy);
	}
}

/* The table of 2013 has one round, and its published speed-ups. */
static void reference(void)
{
	struct result *result = fixture_reference(golden_path("thp-page-cache-2013.csv"));
	struct comparison comparison;
	double least = INFINITY, most = 0;
	struct text text;
	unsigned marks = 0;

	must(comparison_init(&comparison, result, true));
	ok(comparison.nr_cells == 63 && comparison.nr_known == 63,
	   "63 speed-ups of 2013");
	for (unsigned i = 0; i < comparison.nr_cells; i++) {
		least = fmin(least, comparison.cells[i].ratio);
		most = fmax(most, comparison.cells[i].ratio);
		marks += comparison_is_significant(&comparison.cells[i]);
		if (isfinite(comparison.cells[i].low) ||
		    isfinite(comparison.cells[i].detectable))
			marks++;
	}
	ok(!strcmp(text_fixed(&text, least, 2), "1.23"), "from %s", text.s);
	ok(!strcmp(text_fixed(&text, most, 2), "9.22"), "to %s", text.s);
	ok(!marks, "one round has no marks and no intervals");
	comparison_destroy(&comparison);
	result_free(result);
}

static void degenerate(void)
{
	static const unsigned one[] = { 1 };
	struct result *result = fixture_empty(one, 1, 7);
	struct comparison comparison;
	struct result_sample *last;

	must(result_add_side(result, "baseline", "null"));
	must(result_add_side(result, "patched", "null"));
	must(result_add_phase(result, "reader", NULL));
	for (unsigned round = 0; round < 7; round++) {
		fixture_sample(result, 0, 0, 1, round, 1000);
		fixture_sample(result, 1, 0, 1, round, 1000);
	}
	must(result_derive(result));
	for (unsigned pairs = 0; pairs < 2; pairs++) {
		struct counts counts;

		must(comparison_init(&comparison, result, pairs));
		ok(comparison.cells[0].p == 1 && comparison.cells[0].ratio == 1 &&
			   comparison.cells[0].low == 1 && comparison.cells[0].high == 1,
		   "identical values are no difference");
		ok(comparison.cells[0].detectable == 0, "any other would have been seen");
		comparison_destroy(&comparison);
		counts = gate_counts(result, pairs, 1);
		ok(counts.of[OUTCOME_PASSED] == 1, "and pass");
	}

	last = &result->samples[result->nr_samples - 1];
	fixture_fail(last, "no");
	must(result_derive(result));
	must(comparison_init(&comparison, result, true));
	ok(comparison.cells[0].missing && isnan(comparison.cells[0].ratio) &&
		   isnan(comparison.cells[0].p) && !comparison.nr_known &&
		   !comparison_is_significant(&comparison.cells[0]),
	   "a void cell: %s", comparison.cells[0].missing);
	comparison_destroy(&comparison);
	ok(gate_counts(result, true, 1).of[OUTCOME_MISSING] == 1, "has no verdict");
	result_free(result);

	result = fixture_empty(one, 1, 1);
	must(result_derive(result));
	must(comparison_init(&comparison, result, true));
	ok(!comparison.nr_cells, "a result of nothing has nothing to compare");
	comparison_destroy(&comparison);
	result_free(result);
}

/* Sides of two results, whose phases have another order. */
static void joined(void)
{
	static const unsigned one[] = { 1 }, two[] = { 1, 2 };
	struct result *a = fixture_empty(two, 2, 1), *b = fixture_empty(one, 1, 1);
	struct differences differences;
	struct reason why;
	unsigned side = 99;

	must(result_add_side(a, "baseline", "null"));
	must(result_add_side(a, "patched", "memory"));
	must(result_add_side(b, "run", "cache:batch=8"));
	must(result_add_phase(a, "reader", NULL));
	must(result_add_phase(a, "rewriter", NULL));
	must(result_add_phase(b, "rewriter", NULL));
	must(result_add_phase(b, "re-reader", NULL));
	must(result_add_phase(b, "reader", NULL));
	for (unsigned n = 0; n < 8; n++)
		fixture_sample(a, n % 2, n / 2 % 2, 1 + n / 4, 0, 100 + n);
	for (unsigned p = 0; p < 3; p++)
		fixture_sample(b, 0, p, 1, 0, 1000 + p);
	must(result_derive(a));
	must(result_derive(b));
	a->parameters.record = 4096;
	b->parameters.record = 8192;

	must(differences_find(&differences, a, 1, b, 0));
	ok(differences.nr == 3 && !differences.list[0].fatal &&
		   !differences.list[1].fatal && differences.list[2].fatal,
	   "phases, threads and the record differ, the last is fatal");
	differences_destroy(&differences);

	ok(!result_pick_side(a, NULL, &side, &why) && side == 1, "the patched side");
	ok(!result_pick_side(a, "baseline", &side, &why) && side == 0, "another one");
	ok(result_pick_side(a, "run", &side, &why) == -ENOENT, "one that is not there");
	ok(!result_pick_side(b, "patched", &side, &why) && side == 0, "the only one");

	must(result_warn(a, "hot") < 0);
	must(result_warn(a, "patched: cold") < 0);
	must(result_warn(a, "baseline: wet") < 0);
	must(result_warn(b, "run: dry") < 0);
	must(result_keep_side(a, 1, "baseline"));
	must(result_join(a, b, 0, "patched"));
	result_free(b);
	ok(a->nr_warnings == 3 && !strcmp(a->warnings[0], "baseline: hot") &&
		   !strcmp(a->warnings[1], "baseline: cold") &&
		   !strcmp(a->warnings[2], "patched: dry"),
	   "the warnings of both, and none of a side that was left out");
	must(result_derive(a));
	ok(a->nr_sides == 2 && !strcmp(a->sides[0].spec, "memory") &&
		   !strcmp(a->sides[1].spec, "cache:batch=8"),
	   "one side of each");
	ok(result_cell(a, 0, 0, 1)->kb_per_s == 101 && a->nr_cells == 6,
	   "the first has its samples");
	ok(result_cell(a, 1, 0, 1)->kb_per_s == 1002 &&
		   result_cell(a, 1, 1, 1)->kb_per_s == 1000,
	   "the other those of the phases by their names");
	ok(!result_cell(a, 1, 0, 2), "and none that it has not");
	result_free(a);
}

static void percentages(void)
{
	static const char *const good[] = { "0", "0.0", "5", "2.5", "5%", "99.9" };
	static const double values[] = { 0, 0, 5, 2.5, 5, 99.9 };
	static const char *const bad[] = { "",	  "%",	 "-1", "100", "1e1",
					   "5%%", "x",	 ".",  "0..", "5:reader",
					   "nan", "inf", " 5", "5 ",  "1000000000000000" };
	struct reason why;
	double percent;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ok(!gates_parse_regression(&percent, good[i], &why) &&
			   percent == values[i],
		   "'%s' is %g %%", good[i], values[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ok(gates_parse_regression(&percent, bad[i], &why) == -EINVAL, "'%s': %s",
		   bad[i], why.text);
}

int main(void)
{
	slow_test();
	percentages();
	degenerate();
	reference();
	joined();
	false_and_missed_alarms();
	return done();
}
