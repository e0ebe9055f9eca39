/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --min-speedup: what it takes, what it refuses, and how a result is held against it. */
#include "report/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "tap.h"

static void gate_is(const char *text, double ratio, const char *phase, unsigned threads)
{
	struct reason why = { "" };
	struct gate gate;

	ok(!gate_parse(&gate, text, &why) && gate.ratio == ratio &&
		   !strcmp(gate.phase, phase) && gate.threads == threads,
	   "gate '%s' %s", text, why.text);
}

static void gates(void)
{
	static const char *const malformed[] = { "",
						 "x",
						 "-1",
						 "+1",
						 "0",
						 "0.0",
						 "1e3",
						 "1,5",
						 "1.2.3",
						 ".",
						 "inf",
						 "nan",
						 "0x2",
						 "1.5:",
						 "1.5:@4",
						 "1.5:reader@",
						 "1.5:reader@0",
						 "1.5:reader@257",
						 "1.5:reader@x",
						 " 1",
						 "1 " };
	struct reason why;
	struct gate gate;

	gate_is("1", 1, "", 0);
	gate_is("1.5", 1.5, "", 0);
	gate_is("0.95:rewriter", 0.95, "rewriter", 0);
	gate_is("2:reader@16", 2, "reader", 16);
	for (size_t i = 0; i < ARRAY_SIZE(malformed); i++)
		ok(gate_parse(&gate, malformed[i], &why) == -EINVAL, "gate '%s': %s",
		   malformed[i], why.text);
}

/* Two phases at 1 and 2 threads; baseline 100 kB/s, patched as told (0: void). */
static struct result *make_result(const double patched[2][2])
{
	static const unsigned threads[] = { 1, 2 };
	struct result *result = result_alloc();

	if (!result)
		bail("no memory");
	result_add_side(result, "baseline", "cache:batch=1");
	result_add_side(result, "patched", "cache:batch=512");
	result_add_side(result, "limit", "memory");
	result_add_phase(result, "reader", "Readers");
	result_add_phase(result, "rewriter", "Rewriters");
	result->parameters.threads = malloc(sizeof(threads));
	memcpy(result->parameters.threads, threads, sizeof(threads));
	result->parameters.nr_threads = 2;
	for (unsigned phase = 0; phase < 2; phase++) {
		for (unsigned t = 0; t < 2; t++) {
			for (unsigned side = 0; side < 3; side++) {
				struct result_sample *sample =
					result_add_sample(result, 0);
				double rate = side == 1 ? patched[phase][t] : 100;

				sample->side = side;
				sample->phase = phase;
				sample->threads = threads[t];
				sample->window_ns = 1000000000;
				sample->bytes = (uint64_t)(rate * 1024 * threads[t]);
				if (rate == 0)
					sample->failure = strdup("made void");
				result_sample_rates(sample);
			}
		}
	}
	if (result_derive(result))
		bail("no memory");
	return result;
}

/* How many cells @text finds below, without a figure, and fine. */
static void verdict_is(const char *text, struct result *result, unsigned failed,
		       unsigned missing, unsigned passed)
{
	struct comparison comparison;
	struct outcomes outcomes;
	struct gate gate;
	struct gates gates = { .min_speedup = &gate,
			       .nr_min_speedup = 1,
			       .max_regression = NAN };
	struct reason why;

	if (gate_parse(&gate, text, &why) || comparison_init(&comparison, result, true) ||
	    outcomes_fill(&outcomes, &comparison, &gates))
		bail("no gate");
	ok(outcomes_count(&outcomes, OUTCOME_FAILED) == failed &&
		   outcomes_count(&outcomes, OUTCOME_MISSING) == missing &&
		   outcomes_count(&outcomes, OUTCOME_PASSED) == passed,
	   "gate '%s': %u of %u fail, %u have no figure", text,
	   outcomes_count(&outcomes, OUTCOME_FAILED), outcomes.nr,
	   outcomes_count(&outcomes, OUTCOME_MISSING));
	outcomes_destroy(&outcomes);
	comparison_destroy(&comparison);
}

static void applies(const char *text, const struct result *result, bool wanted)
{
	struct gate gate;
	struct reason why = { "" };

	gate_parse(&gate, text, &why);
	ok(!gate_applies(&gate, result, &why) == wanted, "gate '%s' %s to this run %s",
	   text, wanted ? "applies" : "does not apply", why.text);
}

static void verdicts(void)
{
	static const double good[2][2] = { { 150, 200 }, { 110, 120 } };
	static const double hole[2][2] = { { 150, 0 }, { 110, 120 } };
	struct result *result = make_result(good);

	verdict_is("1.1", result, 0, 0, 4);
	verdict_is("1.2", result, 1, 0, 3);
	verdict_is("1.6", result, 3, 0, 1);
	verdict_is("1.5:reader", result, 0, 0, 2);
	verdict_is("1.5:rewriter", result, 2, 0, 0);
	verdict_is("1.9:reader@2", result, 0, 0, 1);
	verdict_is("1.9:reader@1", result, 1, 0, 0);
	applies("2:reader@2", result, true);
	applies("2:reader@3", result, false);
	applies("2:re-reader", result, false);
	result_free(result);

	result = make_result(hole);
	verdict_is("1.1", result, 0, 1, 3);
	verdict_is("1.2", result, 1, 1, 2);
	/* Another cell than those of the gate. */
	verdict_is("1.1:rewriter", result, 0, 1, 2);
	result_free(result);
}

int main(void)
{
	gates();
	verdicts();
	return done();
}
