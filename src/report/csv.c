/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comma-separated values (RFC 4180), one line a cell. */
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/text.h"

static void put_string(FILE *out, const char *s)
{
	size_t len = strlen(s);

	if (!strpbrk(s, ",\"\r\n") && !(len && (s[0] == ' ' || s[len - 1] == ' '))) {
		fputs(s, out);
		return;
	}
	putc('"', out);
	for (; *s; s++) {
		if (*s == '"')
			putc('"', out);
		putc(*s, out);
	}
	putc('"', out);
}

/* With the comma before it; what is not known is empty. */
static void put_number(FILE *out, double value)
{
	struct text text;

	putc(',', out);
	if (isfinite(value))
		fputs(text_exact(&text, value), out);
}

static void put_cell(const struct result *result, const struct result_cell *cell,
		     FILE *out)
{
	const struct result_speedup *speedup =
		result_speedup(result, cell->side, cell->phase, cell->threads);

	put_string(out, result->phases[cell->phase].name);
	fprintf(out, ",%u,", cell->threads);
	put_string(out, result->sides[cell->side].name);
	putc(',', out);
	put_string(out, result->sides[cell->side].spec);
	fprintf(out, ",%u", cell->nr_samples);
	put_number(out, cell->kb_per_s);
	put_number(out, cell->total_kb_per_s);
	put_number(out, cell->sum_of_worker_rates);
	put_number(out, cell->min);
	put_number(out, cell->p25);
	put_number(out, cell->p75);
	put_number(out, cell->max);
	put_number(out, speedup ? speedup->ratio : NAN);
	put_number(out, speedup ? speedup->low : NAN);
	put_number(out, speedup ? speedup->high : NAN);
	putc('\n', out);
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
	      "sum_of_worker_rates,min,p25,p75,max,speedup,speedup_low,speedup_high\n",
	      out);
	for (unsigned phase = 0; phase < result->nr_phases; phase++) {
		for (unsigned i = 0; i < nr_threads; i++) {
			for (unsigned side = 0; side < result->nr_sides; side++) {
				const struct result_cell *cell =
					result_cell(result, side, phase, threads[i]);

				if (cell)
					put_cell(result, cell, out);
			}
		}
	}
	free(threads);
	return text_finish(out);
}
