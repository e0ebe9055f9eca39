/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables that page-cache developers post: one a phase. */
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "report/compare.h"
#include "report/happened.h"
#include "report/table.h"
#include "report/text.h"

/* threads:               1         2         4 */
static const struct table_layout layout = { .label = 16, .first = 8, .other = 10 };

/* What all tables of a result have in common. */
struct tables {
	const struct result *result;
	const struct comparison *comparison; /* NULL: none is printed */
	enum report_per per;
	unsigned *threads;
	unsigned nr_threads;
	unsigned nr_patched; /* sides that have speed-ups */
};

static void row_label(struct table *table, const char *before, const char *name,
		      const char *after)
{
	char *label;

	if (asprintf(&label, "%s%s%s", before, name, after) < 0) {
		table->failed = true;
		return;
	}
	table_row(table, label);
	free(label);
}

static void side_row(struct table *table, const struct tables *tables, unsigned phase,
		     unsigned side)
{
	row_label(table, "", tables->result->sides[side].name, ":");
	for (unsigned i = 0; i < tables->nr_threads; i++) {
		double value = comparison_value(tables->result, side, phase,
						tables->threads[i], tables->per);
		struct text text;

		table_cell(table, i,
			   text_fixed(&text, value,
				      comparison_is_time(tables->result, phase) ? 1 : 0));
	}
}

static void speedup_row(struct table *table, const struct tables *tables, unsigned phase,
			unsigned side)
{
	row_label(table, "speed-up(",
		  tables->nr_patched > 1 ? tables->result->sides[side].name : "times",
		  "):");
	for (unsigned i = 0; i < tables->nr_threads; i++) {
		const struct result_speedup *speedup =
			result_speedup(tables->result, side, phase, tables->threads[i]);
		const struct comparison_cell *cell = comparison_cell(
			tables->comparison, side, phase, tables->threads[i]);
		struct text ratio, text;

		text_fixed(&ratio, speedup ? speedup->ratio : NAN, 2);
		/* In front, so that the digits stay below each other. */
		snprintf(text.s, sizeof(text.s), "%s%.60s",
			 comparison_is_significant(cell) ? "*" : "", ratio.s);
		table_cell(table, i, text.s);
	}
}

/* Below a row of speed-ups; none when no cell has one. */
static void interval_row(struct table *table, const struct tables *tables, unsigned phase,
			 unsigned side)
{
	const char *label = comparison_interval_label(tables->comparison, side, phase);

	if (!label)
		return;
	row_label(table, "", label, ":");
	for (unsigned i = 0; i < tables->nr_threads; i++) {
		const struct comparison_cell *cell = comparison_cell(
			tables->comparison, side, phase, tables->threads[i]);
		struct text text;

		comparison_interval(&text, cell);
		table_cell(table, i, text.s);
	}
}

/* What the reference has at the same thread counts. */
static void published_row(struct table *table, const struct tables *tables,
			  unsigned phase)
{
	table_row(table, "published:");
	for (unsigned i = 0; i < tables->nr_threads; i++) {
		struct text text;

		table_cell(table, i,
			   text_fixed(&text,
				      result_published(tables->result, phase,
						       tables->threads[i]),
				      2));
	}
}

/* With what really happened below it; @happened: anything did. */
static int phase_table(const struct tables *tables, unsigned phase, FILE *out,
		       bool *happened)
{
	const struct result *result = tables->result;
	struct table table;
	int err;

	table_init(&table, tables->nr_threads);
	table_row(&table, "threads:");
	for (unsigned i = 0; i < tables->nr_threads; i++) {
		struct text text;

		table_cell(&table, i, text_fixed(&text, tables->threads[i], 0));
	}
	for (unsigned side = 0; side < result->nr_sides; side++)
		if (!result_side_is_limit(result, side))
			side_row(&table, tables, phase, side);
	for (unsigned side = 0; side < result->nr_sides; side++)
		if (result_side_is_limit(result, side))
			side_row(&table, tables, phase, side);
	for (unsigned side = 0; side < result->nr_sides; side++)
		if (result_side_has_speedups(result, side)) {
			speedup_row(&table, tables, phase, side);
			if (tables->comparison)
				interval_row(&table, tables, phase, side);
		}
	if (result->reference)
		published_row(&table, tables, phase);

	fputs("** ", out);
	text_put(out, result->phases[phase].title);
	if (comparison_is_time(result, phase))
		fputs(", median time in us", out);
	fputs(" **\n", out);
	err = table_print(&table, &layout, out);
	/* Two runs are compared by their speed. */
	if (!err && !tables->comparison)
		err = report_happened_phase(result, phase, tables->threads, &table,
					    &layout, out, happened);
	table_destroy(&table);
	return err;
}

int report_tables(const struct result *result, enum report_per per, FILE *out)
{
	return report_tables_compared(result, NULL, per, out);
}

int report_tables_compared(const struct result *result,
			   const struct comparison *comparison, enum report_per per,
			   FILE *out)
{
	struct tables tables = { .result = result, .comparison = comparison, .per = per };
	bool first = true, happened = false;
	int err;

	errno = 0;
	err = text_threads(result, &tables.threads, &tables.nr_threads);
	if (err)
		return err;
	for (unsigned side = 0; side < result->nr_sides; side++)
		tables.nr_patched += result_side_has_speedups(result, side);
	for (unsigned phase = 0; !err && phase < result->nr_phases; phase++) {
		if (!result_phase_has_cells(result, phase))
			continue;
		if (!first)
			putc('\n', out);
		first = false;
		err = phase_table(&tables, phase, out, &happened);
	}
	if (!err && happened)
		report_happened_legend(out);
	free(tables.threads);
	return err ? err : text_finish(out);
}
