/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stats.h"

/* More cells than these are a damaged file: 50 sides at all of 256 thread counts have 89,600. */
#define MAX_CELLS 100000

/* What comparison_init() works with. */
struct work {
	struct result *result;
	bool paired;
	const struct result_sample *
		*sorted; /* [nr_samples], by side, phase, threads, round */
	double *base, *patched, *ratios; /* scratch: [nr_samples] each */
};

static int compare_keys(const struct result_sample *x, const struct result_sample *y)
{
	if (x->side != y->side)
		return x->side < y->side ? -1 : 1;
	if (x->phase != y->phase)
		return x->phase < y->phase ? -1 : 1;
	return (x->threads > y->threads) - (x->threads < y->threads);
}

static int compare_samples(const void *a, const void *b)
{
	const struct result_sample *x = *(const struct result_sample *const *)a;
	const struct result_sample *y = *(const struct result_sample *const *)b;
	int order = compare_keys(x, y);

	return order ? order : (x->round > y->round) - (x->round < y->round);
}

/* The samples of a cell: the first in @sorted, and how many. */
static unsigned samples_of(const struct work *work, unsigned side, unsigned phase,
			   unsigned threads, const struct result_sample ***first)
{
	const struct result_sample key = { .side = side,
					   .phase = phase,
					   .threads = threads };
	unsigned low = 0, high = work->result->nr_samples, nr = 0;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (compare_keys(work->sorted[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*first = &work->sorted[low];
	while (low + nr < work->result->nr_samples &&
	       !compare_keys(work->sorted[low + nr], &key))
		nr++;
	return nr;
}

/* How fast: what the ratio of two sides is made of. */
static double speed(const struct result_sample *sample, bool times)
{
	return times ? 1 / sample->times.median_ns : sample->kb_per_s;
}

static const char *void_reason(const struct result_sample **samples, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		if (result_sample_is_void(samples[i]))
			return samples[i]->failure ? samples[i]->failure :
						     "an empty window";
	return NULL;
}

static int missing(struct comparison_cell *cell, const char *who, const char *why)
{
	free(cell->missing);
	return asprintf(&cell->missing, "%s %s", who, why) < 0 ? -ENOMEM : 0;
}

/* Whether both sides have figures; else says why not. 1, 0 or -ENOMEM. */
static int both_measured(const struct work *work, struct comparison_cell *cell,
			 const struct result_sample **base, unsigned nr_base,
			 const struct result_sample **patched, unsigned nr_patched)
{
	const char *names[] = { work->result->sides[0].name,
				work->result->sides[cell->side].name };
	const struct result_sample **samples[] = { base, patched };
	unsigned nr[] = { nr_base, nr_patched };

	for (unsigned i = 0; i < 2; i++) {
		const char *why = void_reason(samples[i], nr[i]);
		char *text;
		int err;

		if (!nr[i])
			return missing(cell, names[i], "was not measured");
		if (!why)
			continue;
		if (asprintf(&text, "is void: %s", why) < 0)
			return -ENOMEM;
		err = missing(cell, names[i], text);
		free(text);
		return err;
	}
	return 1;
}

static double sum_of_squares(const double *values, size_t nr)
{
	double mean = 0, sum = 0;

	for (size_t i = 0; i < nr; i++)
		mean += values[i] / (double)nr;
	for (size_t i = 0; i < nr; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sum;
}

/* Logarithms: a change by a factor is a shift then, and up and down weigh the same. */
static int keep_logs(struct comparison_cell *cell, const double *a, size_t nr_a,
		     const double *b, size_t nr_b)
{
	struct significance_design *design = &cell->design;
	double squares;

	cell->logs = calloc(nr_a + nr_b, sizeof(*cell->logs));
	if (!cell->logs)
		return -ENOMEM;
	for (size_t i = 0; i < nr_a; i++)
		cell->logs[i] = log(a[i]);
	for (size_t i = 0; i < nr_b; i++)
		cell->logs[nr_a + i] = log(b[i]);
	design->nr_a = nr_a;
	design->nr_b = nr_b;
	squares = sum_of_squares(cell->logs, nr_a);
	if (design->paired) {
		design->sd = nr_a > 1 ? sqrt(squares / (double)(nr_a - 1)) : NAN;
		return 0;
	}
	squares += sum_of_squares(&cell->logs[nr_a], nr_b);
	design->sd = nr_a + nr_b > 2 ? sqrt(squares / (double)(nr_a + nr_b - 2)) : NAN;
	return 0;
}

int comparison_test(const struct comparison_cell *cell, double shift,
		    struct significance *s)
{
	const struct significance_design *design = &cell->design;
	double *shifted;
	int err;

	if (shift == 0)
		return design->paired ? significance_paired(s, cell->logs, design->nr_a) :
					significance_unpaired(s, cell->logs, design->nr_a,
							      &cell->logs[design->nr_a],
							      design->nr_b);
	shifted = calloc(design->nr_a, sizeof(*shifted));
	if (!shifted)
		return -ENOMEM;
	for (size_t i = 0; i < design->nr_a; i++)
		shifted[i] = cell->logs[i] - shift;
	err = design->paired ?
		      significance_paired(s, shifted, design->nr_a) :
		      significance_unpaired(s, shifted, design->nr_a,
					    &cell->logs[design->nr_a], design->nr_b);
	free(shifted);
	return err;
}

/* The ratios of the rounds that both have. */
static int cell_paired(struct work *work, struct comparison_cell *cell,
		       const struct result_sample **base, unsigned nr_base,
		       const struct result_sample **patched, unsigned nr_patched,
		       bool times)
{
	const struct result_speedup *speedup =
		result_speedup(work->result, cell->side, cell->phase, cell->threads);
	unsigned nr = 0;

	for (unsigned i = 0, k = 0; i < nr_base && k < nr_patched;) {
		if (base[i]->round != patched[k]->round) {
			if (base[i]->round < patched[k]->round)
				i++;
			else
				k++;
			continue;
		}
		work->ratios[nr++] = speed(patched[k++], times) / speed(base[i++], times);
	}
	if (!nr || !speedup || !isfinite(speedup->ratio))
		return missing(cell, work->result->sides[cell->side].name,
			       "has no round in common with the baseline");
	cell->ratio = speedup->ratio;
	cell->low = speedup->low;
	cell->high = speedup->high;
	return keep_logs(cell, work->ratios, nr, NULL, 0);
}

static int cell_unpaired(struct work *work, struct comparison_cell *cell,
			 unsigned nr_base, unsigned nr_patched)
{
	struct result *result = work->result;
	struct result_speedup *speedup;
	struct interval interval;
	int err;

	err = interval_ratio(&interval, work->patched, nr_patched, work->base, nr_base);
	if (err)
		return err;
	cell->ratio = interval.value;
	cell->low = interval.low;
	cell->high = interval.high;
	speedup = (struct result_speedup *)result_speedup(result, cell->side, cell->phase,
							  cell->threads);
	if (speedup) {
		speedup->nr_rounds = nr_base < nr_patched ? nr_base : nr_patched;
		speedup->ratio = interval.value;
		speedup->low = interval.low;
		speedup->high = interval.high;
	}
	return keep_logs(cell, work->patched, nr_patched, work->base, nr_base);
}

static int cell_fill(struct work *work, struct comparison_cell *cell)
{
	const struct result_sample **base, **patched;
	unsigned nr_base, nr_patched;
	struct significance s;
	bool times = true;
	int err;

	cell->ratio = cell->low = cell->high = cell->p = cell->p_slower = NAN;
	cell->detectable = NAN;
	cell->design.paired = work->paired;
	nr_base = samples_of(work, 0, cell->phase, cell->threads, &base);
	nr_patched = samples_of(work, cell->side, cell->phase, cell->threads, &patched);
	err = both_measured(work, cell, base, nr_base, patched, nr_patched);
	if (err <= 0)
		return err;
	for (unsigned i = 0; i < nr_base; i++)
		times &= base[i]->times.nr != 0;
	for (unsigned i = 0; i < nr_patched; i++)
		times &= patched[i]->times.nr != 0;
	for (unsigned i = 0; i < nr_base; i++)
		work->base[i] = speed(base[i], times);
	for (unsigned i = 0; i < nr_patched; i++)
		work->patched[i] = speed(patched[i], times);
	/* One that moved nothing has no logarithm, and one of no time no speed. */
	for (unsigned i = 0; i < nr_base; i++)
		if (!isfinite(work->base[i]) || !(work->base[i] > 0))
			return missing(cell, work->result->sides[0].name,
				       "moved nothing");
	for (unsigned i = 0; i < nr_patched; i++)
		if (!isfinite(work->patched[i]) || !(work->patched[i] > 0))
			return missing(cell, work->result->sides[cell->side].name,
				       "moved nothing");
	err = work->paired ?
		      cell_paired(work, cell, base, nr_base, patched, nr_patched, times) :
		      cell_unpaired(work, cell, nr_base, nr_patched);
	if (err || cell->missing)
		return err;
	err = comparison_test(cell, 0, &s);
	cell->p = s.differs;
	cell->p_slower = s.lower;
	return err;
}

static int correct(struct comparison *comparison)
{
	double *p = calloc(comparison->nr_cells + 1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	for (unsigned i = 0; i < comparison->nr_cells; i++)
		p[i] = comparison->cells[i].p;
	err = significance_correct(p, comparison->nr_cells);
	for (unsigned i = 0; i < comparison->nr_cells; i++) {
		comparison->cells[i].p = p[i];
		p[i] = comparison->cells[i].p_slower;
	}
	if (!err)
		err = significance_correct(p, comparison->nr_cells);
	for (unsigned i = 0; i < comparison->nr_cells; i++)
		comparison->cells[i].p_slower = p[i];
	free(p);
	return err;
}

/*
 * Alone among many that are the same, a cell has to reach the level that the correction
 * asks of the first.
 */
static void find_detectable(struct comparison *comparison)
{
	if (!comparison->nr_known)
		return;
	comparison->alpha_one = COMPARE_ALPHA / comparison->nr_known;
	for (unsigned i = 0; i < comparison->nr_cells; i++) {
		struct comparison_cell *cell = &comparison->cells[i];

		if (!cell->missing)
			cell->detectable =
				1 - exp(-significance_detectable(&cell->design,
								 comparison->alpha_one));
		/* exp(-INFINITY) is 0: a slow-down by 100 % is none that can be. */
		if (cell->detectable >= 1)
			cell->detectable = INFINITY;
	}
}

static int cells_fill(struct comparison *comparison, struct work *work)
{
	const struct result *result = work->result;
	unsigned number = 0;
	int err = 0;

	for (unsigned side = 1; side < result->nr_sides; side++) {
		if (result_side_is_limit(result, side))
			continue;
		for (unsigned phase = 0; phase < result->nr_phases; phase++) {
			for (unsigned t = 0; t < result->parameters.nr_threads && !err;
			     t++) {
				struct comparison_cell *cell =
					&comparison->cells[number++];

				cell->side = side;
				cell->phase = phase;
				cell->threads = result->parameters.threads[t];
				err = cell_fill(work, cell);
				comparison->nr_known += !cell->missing;
			}
		}
	}
	return err;
}

int comparison_init(struct comparison *comparison, struct result *result, bool paired)
{
	struct work work = { .result = result, .paired = paired };
	size_t nr = (size_t)result->nr_samples + 1, nr_cells = 0;
	int err = -ENOMEM;

	*comparison = (struct comparison){ .result = result,
					   .paired = paired,
					   .alpha_one = COMPARE_ALPHA };
	for (unsigned side = 1; side < result->nr_sides; side++)
		nr_cells += (size_t)!result_side_is_limit(result, side) *
			    result->nr_phases * result->parameters.nr_threads;
	if (nr_cells > MAX_CELLS)
		return -E2BIG;
	comparison->nr_cells = (unsigned)nr_cells;
	comparison->cells = calloc(nr_cells + 1, sizeof(*comparison->cells));
	work.sorted = calloc(nr, sizeof(*work.sorted));
	work.base = calloc(nr, sizeof(*work.base));
	work.patched = calloc(nr, sizeof(*work.patched));
	work.ratios = calloc(nr, sizeof(*work.ratios));
	if (!comparison->cells || !work.sorted || !work.base || !work.patched ||
	    !work.ratios)
		goto out;
	for (unsigned i = 0; i < result->nr_samples; i++)
		work.sorted[i] = &result->samples[i];
	qsort(work.sorted, result->nr_samples, sizeof(*work.sorted), compare_samples);
	err = cells_fill(comparison, &work);
	if (!err)
		err = correct(comparison);
	if (!err)
		find_detectable(comparison);
out:
	free(work.ratios);
	free(work.patched);
	free(work.base);
	free(work.sorted);
	if (err)
		comparison_destroy(comparison);
	return err;
}

void comparison_destroy(struct comparison *comparison)
{
	for (unsigned i = 0; comparison->cells && i < comparison->nr_cells; i++) {
		free(comparison->cells[i].logs);
		free(comparison->cells[i].missing);
	}
	free(comparison->cells);
	*comparison = (struct comparison){ .nr_cells = 0 };
}

const struct comparison_cell *comparison_cell(const struct comparison *comparison,
					      unsigned side, unsigned phase,
					      unsigned threads)
{
	const struct result *result;
	unsigned nr_threads, before = 0, t = 0;

	if (!comparison)
		return NULL;
	result = comparison->result;
	nr_threads = result->parameters.nr_threads;
	if (!side || result_side_is_limit(result, side))
		return NULL;
	for (unsigned s = 1; s < side; s++)
		before += !result_side_is_limit(result, s);
	while (t < nr_threads && result->parameters.threads[t] != threads)
		t++;
	if (t == nr_threads)
		return NULL;
	return &comparison->cells[(before * result->nr_phases + phase) * nr_threads + t];
}

bool comparison_is_significant(const struct comparison_cell *cell)
{
	return cell && cell->p <= COMPARE_ALPHA;
}

bool comparison_is_time(const struct result *result, unsigned phase)
{
	return !strcmp(result->phases[phase].name, "truncate");
}

const char *comparison_interval_label(const struct comparison *comparison, unsigned side,
				      unsigned phase)
{
	const struct result *result = comparison->result;
	bool any = false, few = false;

	for (unsigned t = 0; t < result->parameters.nr_threads; t++) {
		const struct comparison_cell *cell = comparison_cell(
			comparison, side, phase, result->parameters.threads[t]);
		size_t enough = comparison->paired ? INTERVAL_ENOUGH :
						     INTERVAL_ENOUGH_RATIO;

		if (!cell || !isfinite(cell->low))
			continue;
		any = true;
		few |= cell->design.nr_a < enough ||
		       (!comparison->paired && cell->design.nr_b < enough);
	}
	return !any ? NULL : few ? "interval" : "95 % interval";
}

void comparison_interval(struct text *text, const struct comparison_cell *cell)
{
	struct text low, high;

	if (!cell || !isfinite(cell->low) || !isfinite(cell->high)) {
		strcpy(text->s, "-");
		return;
	}
	snprintf(text->s, sizeof(text->s), "%.30s-%.30s", text_fixed(&low, cell->low, 2),
		 text_fixed(&high, cell->high, 2));
}

/* The median over the runs of each run's median time. */
static int median_time(const struct result *result, const struct result_cell *cell,
		       double *us)
{
	double *values = calloc(cell->nr_samples + 1, sizeof(*values));
	struct summary summary;
	unsigned nr = 0;
	int err = 0;

	if (!values)
		return -ENOMEM;
	for (unsigned i = 0; i < result->nr_samples && nr < cell->nr_samples; i++) {
		const struct result_sample *sample = &result->samples[i];

		if (sample->side == cell->side && sample->phase == cell->phase &&
		    sample->threads == cell->threads && sample->times.nr)
			values[nr++] = sample->times.median_ns / 1e3;
	}
	if (nr)
		err = summary_compute(&summary, values, nr);
	if (nr && !err)
		*us = summary.median;
	free(values);
	return err;
}

double comparison_value(const struct result *result, unsigned side, unsigned phase,
			unsigned threads, enum report_per per)
{
	const struct result_cell *cell = result_cell(result, side, phase, threads);
	double value = NAN;

	if (!cell || cell->is_void)
		return NAN;
	if (comparison_is_time(result, phase)) {
		if (median_time(result, cell, &value))
			return NAN;
		return value;
	}
	return per == REPORT_PER_TOTAL ? cell->total_kb_per_s : cell->kb_per_s;
}
