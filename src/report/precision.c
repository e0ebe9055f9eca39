/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/precision.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "report/compare.h"
#include "stats/stats.h"

/* More are not named. */
#define MAX_NAMED 6

/*
 * Of what needs different numbers of rounds, all are done with the most; 0, which is
 * impossible, is more.
 */
static void need_rounds(struct precision *precision, size_t enough)
{
	if (!enough || !precision->enough)
		precision->enough = 0;
	else if (enough > precision->enough)
		precision->enough = enough;
}

/* A figure and its interval of @rounds rounds. 0 or -ENOMEM. */
static int look_at(struct precision *precision, const struct precision_wanted *wanted,
		   unsigned side, unsigned phase, unsigned threads,
		   const struct interval *interval, size_t rounds)
{
	double above = interval->high - interval->value;
	double below = interval->value - interval->low;
	struct precision_cell *cell;
	double width, enough = INTERVAL_ENOUGH;

	if (!isfinite(interval->value) || !(interval->value > 0))
		return 0;
	width = rounds < INTERVAL_ENOUGH ? INFINITY :
					   fmax(above, below) / interval->value;
	precision->nr_cells++;
	precision->widest = fmax(precision->widest, width);
	if (width <= wanted->width)
		return 0;
	cell = reallocarray(precision->wide, (size_t)precision->nr_wide + 1,
			    sizeof(*cell));
	if (!cell)
		return -ENOMEM;
	precision->wide = cell;
	cell += precision->nr_wide++;
	/* The width falls as the root of the number of rounds. */
	if (isfinite(width))
		enough = ceil((double)rounds * width * width / wanted->width /
			      wanted->width);
	*cell = (struct precision_cell){ .side = side,
					 .phase = phase,
					 .threads = threads,
					 .width = width,
					 .enough = enough <= PRECISION_MAX_ROUNDS ?
							   (size_t)enough :
							   0 };
	return 0;
}

/* The median of the rounds of each side. */
static int look_at_medians(struct precision *precision, const struct result *result,
			   const struct precision_wanted *wanted)
{
	double *values = calloc((size_t)result->nr_samples + 1, sizeof(*values));
	int err = values ? 0 : -ENOMEM;

	for (unsigned i = 0; i < result->nr_cells && !err; i++) {
		const struct result_cell *cell = &result->cells[i];
		struct interval interval;
		size_t nr = 0;

		if (cell->is_void || result_side_is_limit(result, cell->side))
			continue;
		for (unsigned s = 0; s < result->nr_samples; s++) {
			const struct result_sample *sample = &result->samples[s];

			if (sample->side == cell->side && sample->phase == cell->phase &&
			    sample->threads == cell->threads)
				values[nr++] = sample->kb_per_s;
		}
		err = interval_median(&interval, values, nr);
		if (!err)
			err = look_at(precision, wanted, cell->side, cell->phase,
				      cell->threads, &interval, nr);
	}
	free(values);
	return err;
}

static int look_at_speedups(struct precision *precision, const struct result *result,
			    const struct precision_wanted *wanted)
{
	int err = 0;

	for (unsigned i = 0; i < result->nr_speedups && !err; i++) {
		const struct result_speedup *speedup = &result->speedups[i];
		struct interval interval = { speedup->ratio, speedup->low,
					     speedup->high };

		err = look_at(precision, wanted, speedup->side, speedup->phase,
			      speedup->threads, &interval, speedup->nr_rounds);
	}
	return err;
}

/*
 * The rounds with which @cell would show the slow-down that is wanted; 0: more than are possible.
 */
static size_t enough_to_see(const struct comparison *comparison,
			    const struct comparison_cell *cell, double slowdown)
{
	struct significance_design design = cell->design;

	if (!(slowdown > 0) || !isfinite(design.sd)) {
		design.sd = 0;
		slowdown = 0;
	}
	return significance_enough(&design, comparison->alpha_one, -log1p(-slowdown),
				   PRECISION_MAX_ROUNDS);
}

static int look_at_power(struct precision *precision, struct result *result,
			 const struct precision_wanted *wanted)
{
	struct comparison comparison;
	int err = comparison_init(&comparison, result, true);

	if (err)
		return err;
	for (unsigned i = 0; i < comparison.nr_cells; i++) {
		const struct comparison_cell *cell = &comparison.cells[i];
		size_t enough;

		if (cell->missing || cell->detectable <= wanted->slowdown ||
		    (wanted->slowdown <= 0 && isfinite(cell->detectable)))
			continue;
		enough = enough_to_see(&comparison, cell, wanted->slowdown);
		precision->nr_blind++;
		precision->blind = fmax(precision->blind, cell->detectable);
		need_rounds(precision, enough);
	}
	comparison_destroy(&comparison);
	return 0;
}

static int compare_widths(const void *a, const void *b)
{
	const struct precision_cell *x = a, *y = b;

	return (x->width < y->width) - (x->width > y->width);
}

int precision_find(struct precision *precision, struct result *result,
		   const struct precision_wanted *wanted)
{
	int err;

	*precision = (struct precision){ .enough = INTERVAL_ENOUGH };
	err = result->nr_speedups ? look_at_speedups(precision, result, wanted) :
				    look_at_medians(precision, result, wanted);
	for (unsigned i = 0; i < precision->nr_wide; i++)
		need_rounds(precision, precision->wide[i].enough);
	if (!err && result->nr_speedups && !isnan(wanted->slowdown))
		err = look_at_power(precision, result, wanted);
	if (precision->nr_wide)
		qsort(precision->wide, precision->nr_wide, sizeof(*precision->wide),
		      compare_widths);
	if (err)
		precision_destroy(precision);
	return err;
}

void precision_destroy(struct precision *precision)
{
	free(precision->wide);
	*precision = (struct precision){ .nr_cells = 0 };
}

bool precision_is_reached(const struct precision *precision)
{
	return !precision->nr_wide && !precision->nr_blind;
}

static void put_wide(const struct precision *precision, const struct result *result,
		     const struct precision_wanted *wanted, FILE *out)
{
	unsigned named = precision->nr_wide < MAX_NAMED ? precision->nr_wide : MAX_NAMED;

	fprintf(out,
		"%u of %u intervals reach farther than %.3g %%: ", precision->nr_wide,
		precision->nr_cells, wanted->width * 100);
	for (unsigned i = 0; i < named; i++) {
		const struct precision_cell *cell = &precision->wide[i];

		fprintf(out, "%s%s %s@%u ", i ? ", " : "", result->sides[cell->side].name,
			result->phases[cell->phase].name, cell->threads);
		if (isfinite(cell->width))
			fprintf(out, "%.1f %%", cell->width * 100);
		else
			fputs("(too few rounds)", out);
	}
	if (precision->nr_wide > named)
		fprintf(out, " and %u more", precision->nr_wide - named);
}

char *precision_text(const struct precision *precision, const struct result *result,
		     const struct precision_wanted *wanted)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	if (precision->nr_wide)
		put_wide(precision, result, wanted, out);
	if (precision->nr_blind) {
		fprintf(out, "%s%u of %u cells ", precision->nr_wide ? "; " : "",
			precision->nr_blind, precision->nr_cells);
		if (isfinite(precision->blind))
			fprintf(out, "would show only slow-downs of more than %.1f %%",
				precision->blind * 100);
		else
			fputs("have too few rounds to show any slow-down", out);
	}
	/* Without an interval nothing is known of how far rounds are apart. */
	if (!isfinite(precision->widest) && precision->enough)
		fprintf(out, "; at least %zu rounds are needed", precision->enough);
	else if (precision->enough)
		fprintf(out, "; about %zu rounds would do", precision->enough);
	else
		fprintf(out, "; not even %d rounds would do", PRECISION_MAX_ROUNDS);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
