/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --min-speedup: what it takes, what it refuses, and how a result is held against it. */
#include "report/gate.h"

#include <errno.h>
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

static void verdict_is(const char *text, const struct result *result,
		       enum gate_verdict wanted, unsigned lines)
{
	struct gate gate;
	struct reason why;
	char *said = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&said, &size);
	enum gate_verdict verdict;
	unsigned nr = 0;

	if (!out || gate_parse(&gate, text, &why))
		bail("no gate");
	verdict = gate_check(&gate, result, out);
	fclose(out);
	for (const char *c = said; *c; c++)
		nr += *c == '\n';
	ok(verdict == wanted && nr == lines, "gate '%s': verdict %d, %u cells named",
	   text, verdict, nr);
	free(said);
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

	verdict_is("1.1", result, GATE_PASSED, 0);
	verdict_is("1.2", result, GATE_FAILED, 1);
	verdict_is("1.6", result, GATE_FAILED, 3);
	verdict_is("1.5:reader", result, GATE_PASSED, 0);
	verdict_is("1.5:rewriter", result, GATE_FAILED, 2);
	verdict_is("1.9:reader@2", result, GATE_PASSED, 0);
	verdict_is("1.9:reader@1", result, GATE_FAILED, 1);
	applies("2:reader@2", result, true);
	applies("2:reader@3", result, false);
	applies("2:re-reader", result, false);
	result_free(result);

	result = make_result(hole);
	verdict_is("1.1", result, GATE_UNDECIDED, 1);
	verdict_is("1.2", result, GATE_FAILED, 2);
	verdict_is("1.1:rewriter", result, GATE_PASSED, 0);
	result_free(result);
}

int main(void)
{
	gates();
	verdicts();
	return done();
}
