/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a reader should take from the tables, and what they do not show. */
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/text.h"
#include "stats/stats.h"

/* Intervals are not shown for fewer rounds: two values have none. */
#define ROUNDS_FOR_INTERVAL 3

static void put_where(const struct result *result, const struct result_speedup *speedup,
		      FILE *out)
{
	struct text ratio, threads;

	fprintf(out, "%s times (", text_fixed(&ratio, speedup->ratio, 2));
	text_put(out, result->phases[speedup->phase].name);
	fprintf(out, ", %s)", text_count(&threads, speedup->threads, "thread"));
}

static bool has_interval(const struct result_speedup *speedup)
{
	return speedup->nr_rounds >= ROUNDS_FOR_INTERVAL && isfinite(speedup->low) &&
	       isfinite(speedup->high);
}

static void put_interval(const struct result_speedup *speedup, FILE *out)
{
	struct text low, high;

	fprintf(out, "%s to %s", text_fixed(&low, speedup->low, 2),
		text_fixed(&high, speedup->high, 2));
}

/* @paired: see report_extremes_of_runs(). */
static void put_intervals(const struct result_speedup *min,
			  const struct result_speedup *max, bool paired, FILE *out)
{
	unsigned rounds = min->nr_rounds < max->nr_rounds ? min->nr_rounds :
							    max->nr_rounds;
	bool few;

	if (!has_interval(min) || !has_interval(max))
		return;
	/* See interval_median(): of so few, their range is all there is; and interval_ratio(). */
	few = rounds < (paired ? INTERVAL_ENOUGH : INTERVAL_ENOUGH_RATIO);
	if (few && paired)
		fprintf(out, "Range of %u rounds: ", rounds);
	else if (few)
		fputs(min == max ? "Interval: " : "Intervals: ", out);
	else
		fputs(min == max ? "95 % interval: " : "95 % intervals: ", out);
	put_interval(min, out);
	if (min != max) {
		fputs(" and ", out);
		put_interval(max, out);
	}
	if (!paired)
		fputs(".\n", out);
	else if (few)
		fprintf(out,
			" (holds the true one in %.*f %%; %d rounds make a 95 %% interval).\n",
			rounds == 4 ? 1 : 0, 100 - 200 * exp2(-(double)rounds),
			INTERVAL_ENOUGH);
	else
		fprintf(out, " (between order statistics of %u rounds).\n", rounds);
}

/* Of one side, when it has any. @named: there are others. */
static void side_extremes(const struct result *result, unsigned side, bool named,
			  bool paired, FILE *out)
{
	const struct result_speedup *min = NULL, *max = NULL;

	for (unsigned i = 0; i < result->nr_speedups; i++) {
		const struct result_speedup *speedup = &result->speedups[i];

		if (speedup->side != side || !isfinite(speedup->ratio))
			continue;
		if (!min || speedup->ratio < min->ratio)
			min = speedup;
		if (!max || speedup->ratio > max->ratio)
			max = speedup;
	}
	if (!min)
		return;
	fputs("Speed-up ", out);
	if (named) {
		fputs("of ", out);
		text_put(out, result->sides[side].name);
		putc(' ', out);
	}
	if (min != max)
		fputs("from ", out);
	put_where(result, min, out);
	if (min != max) {
		fputs(" to ", out);
		put_where(result, max, out);
	}
	fputs(".\n", out);
	put_intervals(min, max, paired, out);
}

/* Why a void cell is void: what its first failed round says. */
static const char *void_reason(const struct result *result,
			       const struct result_cell *cell)
{
	for (unsigned i = 0; i < result->nr_samples; i++) {
		const struct result_sample *sample = &result->samples[i];

		if (sample->side == cell->side && sample->phase == cell->phase &&
		    sample->threads == cell->threads && result_sample_is_void(sample))
			return sample->failure ? sample->failure : "an empty window";
	}
	return "unknown";
}

/*
 * "baseline reader@1,2, patched reader@4": the cells of which is_listed() is true. Cells
 * are ordered by side and phase.
 */
static void put_cells(const struct result *result, const bool *listed, FILE *out)
{
	const struct result_cell *before = NULL;

	for (unsigned i = 0; i < result->nr_cells; i++) {
		const struct result_cell *cell = &result->cells[i];

		if (!listed[i])
			continue;
		if (before && before->side == cell->side &&
		    before->phase == cell->phase) {
			fprintf(out, ",%u", cell->threads);
			continue;
		}
		if (before)
			fputs(", ", out);
		text_put(out, result->sides[cell->side].name);
		putc(' ', out);
		text_put(out, result->phases[cell->phase].name);
		fprintf(out, "@%u", cell->threads);
		before = cell;
	}
	putc('\n', out);
}

/* One line a reason, with the cells that it voids. */
static int void_cells(const struct result *result, FILE *out)
{
	unsigned nr_void = 0, nr_reasons = 0;
	const char **reasons;
	bool *listed;
	int err = -ENOMEM;

	for (unsigned i = 0; i < result->nr_cells; i++)
		nr_void += result->cells[i].is_void;
	if (!nr_void)
		return 0;
	reasons = calloc(result->nr_cells, sizeof(*reasons));
	listed = calloc(result->nr_cells, sizeof(*listed));
	if (!reasons || !listed)
		goto out;
	for (unsigned i = 0; i < result->nr_cells; i++) {
		bool new = result->cells[i].is_void;

		if (!new)
			continue;
		reasons[i] = void_reason(result, &result->cells[i]);
		for (unsigned n = 0; n < i && new; n++)
			new = !reasons[n] || strcmp(reasons[n], reasons[i]) != 0;
		nr_reasons += new;
	}
	fprintf(out, "Void: %u of ", nr_void);
	fprintf(out, "%s, ", text_count(&(struct text){ 0 }, result->nr_cells, "cell"));
	fprintf(out, "for %s:\n", text_count(&(struct text){ 0 }, nr_reasons, "reason"));
	for (unsigned i = 0; i < result->nr_cells; i++) {
		const char *reason = reasons[i];

		if (!reason)
			continue;
		for (unsigned n = i; n < result->nr_cells; n++) {
			listed[n] = reasons[n] && !strcmp(reasons[n], reason);
			if (listed[n])
				reasons[n] = NULL;
		}
		fputs("  ", out);
		text_put(out, reason);
		fputs(": ", out);
		put_cells(result, listed, out);
		memset(listed, 0, result->nr_cells * sizeof(*listed));
	}
	err = 0;
out:
	free(listed);
	free(reasons);
	return err;
}

static int short_cells(const struct result *result, FILE *out)
{
	unsigned nr = 0;
	bool *listed;

	listed = calloc(result->nr_cells + 1, sizeof(*listed));
	if (!listed)
		return -ENOMEM;
	for (unsigned i = 0; i < result->nr_cells; i++) {
		listed[i] = result->cells[i].too_short && !result->cells[i].is_void;
		nr += listed[i];
	}
	if (nr) {
		fputs("Too short for the clock (take a larger size): ", out);
		put_cells(result, listed, out);
	}
	free(listed);
	return 0;
}

static void interrupted(const struct result *result, FILE *out)
{
	const struct result_parameters *parameters = &result->parameters;
	unsigned long planned = (unsigned long)result->nr_sides * result->nr_phases *
				parameters->nr_threads;
	struct text samples;

	if (!result->interrupted)
		return;
	fprintf(out, "Interrupted after %s",
		text_count(&samples, result->nr_samples, "sample"));
	if (planned && parameters->rounds)
		fprintf(out, " of %lu", planned * parameters->rounds);
	if (planned > result->nr_cells)
		fprintf(out, "; %lu of %lu cells have none", planned - result->nr_cells,
			planned);
	fputs(".\n", out);
}

static int put_paragraph(const struct result *result, bool paired, FILE *out)
{
	unsigned nr_patched = 0;
	int err;

	for (unsigned i = 0; i < result->nr_speedups; i++)
		nr_patched += !i ||
			      result->speedups[i].side != result->speedups[i - 1].side;
	for (unsigned side = 0; side < result->nr_sides; side++)
		side_extremes(result, side, nr_patched > 1, paired, out);
	err = void_cells(result, out);
	if (!err)
		err = short_cells(result, out);
	if (!err)
		interrupted(result, out);
	return err;
}

static int put_extremes(const struct result *result, bool paired, FILE *out)
{
	char *text = NULL;
	size_t len = 0;
	FILE *paragraph = open_memstream(&text, &len);
	bool failed;
	int err;

	if (!paragraph)
		return -ENOMEM;
	err = put_paragraph(result, paired, paragraph);
	failed = ferror(paragraph);
	if ((fclose(paragraph) || failed || !text) && !err)
		err = -ENOMEM;
	if (!err) {
		errno = 0;
		if (len)
			fprintf(out, "\n%s", text);
		err = text_finish(out);
	}
	free(text);
	return err;
}

int report_extremes(const struct result *result, FILE *out)
{
	return put_extremes(result, true, out);
}

int report_extremes_of_runs(const struct result *result, FILE *out)
{
	return put_extremes(result, false, out);
}
