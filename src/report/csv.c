/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comma-separated values (RFC 4180), one line a cell. */
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/format.h"
#include "report/csv.h"
#include "report/figures.h"
#include "report/text.h"

void csv_string(FILE *out, const char *s)
{
	size_t len = strlen(s);

	if (!strpbrk(s, ",\"") && !(len && (s[0] == ' ' || s[len - 1] == ' '))) {
		text_put(out, s);
		return;
	}
	putc('"', out);
	for (; *s; s++) {
		size_t control = format_control(s);

		if (*s == '"')
			putc('"', out);
		putc(control ? '?' : *s, out);
		s += control ? control - 1 : 0;
	}
	putc('"', out);
}

void csv_number(FILE *out, double value)
{
	struct text text;

	putc(',', out);
	if (isfinite(value))
		fputs(text_exact(&text, value), out);
}

/* The last columns. */
/* clang-format off */
#define COUNTERS(X) \
	X(faults) X(minor_faults) X(major_faults) X(pmd_mapped_bytes) \
	X(voluntary_switches) X(involuntary_switches) X(user_ns) X(system_ns)
/* clang-format on */
#define HEADING(name) "," #name
#define FIGURE(name)  figure_##name,

static const figure_fn counters[] = { COUNTERS(FIGURE) };

/* 0 or -ENOMEM. */
static int put_cell(const struct result *result, const struct result_cell *cell,
		    FILE *out)
{
	const struct result_speedup *speedup =
		result_speedup(result, cell->side, cell->phase, cell->threads);
	double medians[ARRAY_SIZE(counters)];
	int err = figures_median(result, cell, counters, ARRAY_SIZE(counters), medians);

	if (err)
		return err;
	csv_string(out, result->phases[cell->phase].name);
	fprintf(out, ",%u,", cell->threads);
	csv_string(out, result->sides[cell->side].name);
	putc(',', out);
	csv_string(out, result->sides[cell->side].spec);
	fprintf(out, ",%u", cell->nr_samples);
	csv_number(out, cell->kb_per_s);
	csv_number(out, cell->total_kb_per_s);
	csv_number(out, cell->sum_of_worker_rates);
	csv_number(out, cell->min);
	csv_number(out, cell->p25);
	csv_number(out, cell->p75);
	csv_number(out, cell->max);
	csv_number(out, speedup ? speedup->ratio : NAN);
	csv_number(out, speedup ? speedup->low : NAN);
	csv_number(out, speedup ? speedup->high : NAN);
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		csv_number(out, medians[i]);
	putc('\n', out);
	return 0;
}

int report_csv(const struct result *result, FILE *out)
{
	unsigned *threads, nr_threads;
	int err;

	errno = 0;
	err = text_threads(result, &threads, &nr_threads);
	if (err)
		return err;
	fputs("phase,threads,side,spec,rounds,kb_per_s,total_kb_per_s,"
	      "sum_of_worker_rates,min,p25,p75,max,speedup,speedup_low,speedup_high" COUNTERS(
		      HEADING) "\n",
	      out);
	for (unsigned phase = 0; !err && phase < result->nr_phases; phase++) {
		for (unsigned i = 0; !err && i < nr_threads; i++) {
			for (unsigned side = 0; !err && side < result->nr_sides; side++) {
				const struct result_cell *cell =
					result_cell(result, side, phase, threads[i]);

				if (cell)
					err = put_cell(result, cell, out);
			}
		}
	}
	free(threads);
	return err ? err : text_finish(out);
}
