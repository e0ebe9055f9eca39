/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison for people, and as JSON and CSV. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include "report/compare.h"
#include "report/csv.h"
#include "report/text.h"
#include "result/fields.h"
#include "stats/stats.h"

static void put_place(const struct comparison *comparison, unsigned side, unsigned phase,
		      unsigned threads, FILE *out)
{
	const struct result *result = comparison->result;
	struct text text;

	text_put(out, result->sides[side].name);
	fputs(", ", out);
	text_put(out, result->phases[phase].name);
	fprintf(out, ", %s", text_count(&text, threads, "thread"));
}

void outcomes_print(const struct outcomes *outcomes, const struct comparison *comparison,
		    FILE *out)
{
	static const enum outcome_kind order[] = { OUTCOME_FAILED, OUTCOME_MISSING,
						   OUTCOME_NOISY };

	for (unsigned k = 0; k < sizeof(order) / sizeof(*order); k++) {
		for (unsigned i = 0; i < outcomes->nr; i++) {
			const struct outcome *outcome = &outcomes->list[i];

			if (outcome->kind != order[k])
				continue;
			fputs("pagezone: ", out);
			if (outcome->gate)
				fprintf(out, "%s: ", outcome->gate);
			put_place(comparison, outcome->side, outcome->phase,
				  outcome->threads, out);
			fputs(": ", out);
			text_put(out, outcome->text);
			putc('\n', out);
		}
	}
}

/* ---- the method ---- */

/* The fewest and the most rounds of a cell. */
static void count_rounds(const struct comparison *comparison, size_t *least, size_t *most)
{
	*least = SIZE_MAX;
	*most = 0;
	for (unsigned i = 0; i < comparison->nr_cells; i++) {
		const struct comparison_cell *cell = &comparison->cells[i];
		size_t nr[2] = { cell->design.nr_a, comparison->paired ?
							    cell->design.nr_a :
							    cell->design.nr_b };

		for (unsigned k = 0; k < 2 && !cell->missing; k++) {
			*least = nr[k] < *least ? nr[k] : *least;
			*most = nr[k] > *most ? nr[k] : *most;
		}
	}
}

/* Has a cell an interval of fewer rounds than @enough, which is not one of 95 %? */
static bool has_few(const struct comparison *comparison, size_t enough)
{
	for (unsigned i = 0; i < comparison->nr_cells; i++) {
		const struct comparison_cell *cell = &comparison->cells[i];
		size_t nr = cell->design.nr_a;

		if (!comparison->paired && cell->design.nr_b < nr)
			nr = cell->design.nr_b;
		if (!cell->missing && isfinite(cell->low) && nr < enough)
			return true;
	}
	return false;
}

static void put_detectable(const struct comparison *comparison, FILE *out)
{
	const struct comparison_cell *best = NULL, *worst = NULL;
	struct significance_design rounds = { .paired = comparison->paired };

	for (unsigned i = 0; i < comparison->nr_cells; i++) {
		const struct comparison_cell *cell = &comparison->cells[i];

		if (cell->missing)
			continue;
		if (!best || cell->detectable < best->detectable)
			best = cell;
		if (!worst || cell->detectable > worst->detectable)
			worst = cell;
	}
	if (!best)
		return;
	fputs(" Smallest detectable slow-down of one cell among the others (found in 80 % of "
	      "such comparisons): ",
	      out);
	if (isinf(best->detectable))
		fputs("none", out);
	else
		fprintf(out, "%.1f %% (", best->detectable * 100);
	if (!isinf(best->detectable)) {
		put_place(comparison, best->side, best->phase, best->threads, out);
		fputs(")", out);
	}
	if (best != worst && !isinf(best->detectable)) {
		fputs(" to ", out);
		if (isinf(worst->detectable))
			fputs("none", out);
		else
			fprintf(out, "%.1f %%", worst->detectable * 100);
		fputs(" (", out);
		put_place(comparison, worst->side, worst->phase, worst->threads, out);
		fputs(")", out);
	}
	if (isinf(worst->detectable))
		fprintf(out, "; for %u %s that takes at least %zu rounds",
			comparison->nr_known,
			comparison->nr_known == 1 ? "cell" : "cells",
			significance_enough(&rounds, comparison->alpha_one, 1, 10000));
	fputs(".", out);
}

static void write_method(const struct comparison *comparison, FILE *out)
{
	size_t least, most;
	char text[32];

	if (!comparison->nr_known)
		return;
	count_rounds(comparison, &least, &most);
	snprintf(text, sizeof(text), least == most ? "%zu" : "%zu to %zu", least, most);
	if (most < 2) {
		fputs("One round a side: no interval, and nothing can be said about "
		      "significance.",
		      out);
		return;
	}
	if (comparison->paired)
		fprintf(out,
			"The sides are of one run: speed-up is the median of the ratios of "
			"%s paired rounds, the interval between order statistics of these. ",
			text);
	else
		fprintf(out,
			"The sides are of different runs: speed-up is the ratio of the medians of "
			"%s rounds, the interval made of those of both sides; what else "
			"differs between the runs is in it. ",
			text);
	if (least < 2)
		fputs("One round of a side makes no interval. ", out);
	if (comparison->paired && has_few(comparison, INTERVAL_ENOUGH))
		fprintf(out,
			"With fewer than %d rounds it is their range, which holds the true ratio "
			"less often: in 75 %% with 3. ",
			INTERVAL_ENOUGH);
	if (!comparison->paired && has_few(comparison, INTERVAL_ENOUGH_RATIO))
		fprintf(out,
			"With fewer than %d rounds a side it is too narrow: 90 %% with 3. ",
			INTERVAL_ENOUGH_RATIO);
	fprintf(out,
		"* is significant: %s test of Wilcoxon, p-values corrected for %u %s by "
		"Benjamini and Hochberg, 5 %%.",
		comparison->paired ? "exact signed-rank" : "exact rank-sum",
		comparison->nr_known, comparison->nr_known == 1 ? "cell" : "cells");
	put_detectable(comparison, out);
}

int comparison_method(const struct comparison *comparison, char **text)
{
	size_t len;
	FILE *out;

	*text = NULL;
	out = open_memstream(text, &len);
	if (!out)
		return -ENOMEM;
	write_method(comparison, out);
	return fclose(out) || !*text ? -ENOMEM : 0;
}

static int put_method(const struct comparison *comparison, FILE *out)
{
	char *text;
	int err = comparison_method(comparison, &text);

	if (!err && *text) {
		putc('\n', out);
		text_wrap(out, text, 0, 0);
	}
	free(text);
	return err;
}

/* ---- for people ---- */

static void put_files(const struct compared *compared, FILE *out)
{
	const struct result *result = compared->comparison->result;

	for (unsigned i = 0; i < compared->nr_files; i++) {
		const struct compared_file *file = &compared->files[i];

		if (compared->nr_files == 1) {
			fputs("compared:   ", out);
			text_put(out, file->path);
			fputs(", its own sides\n", out);
			return;
		}
		fprintf(out, "%-12s", i ? "" : "compared:");
		text_put(out, result->sides[i].name);
		fputs(" is ", out);
		text_put(out, file->path);
		fputs(", side ", out);
		text_put(out, file->side);
		putc('\n', out);
	}
}

static void put_differences(const struct compared *compared, FILE *out)
{
	const struct result *result = compared->comparison->result;
	const struct difference *difference;
	unsigned file, n = 0;

	for (; (difference = compared_difference(compared, n, &file)); n++) {
		if (!n)
			fputs("** What differs **\n", out);
		fprintf(out, "%-16s ", difference->what);
		text_put(out, difference->baseline);
		fputs(" (baseline), ", out);
		text_put(out, difference->other);
		fputs(" (", out);
		text_put(out, result->sides[file].name);
		fputs(difference->fatal ? "): not comparable\n" : ")\n", out);
	}
	if (n)
		putc('\n', out);
}

static void put_gates(const struct compared *compared, FILE *out)
{
	const struct outcomes *outcomes = compared->outcomes;

	if (!outcomes->nr_gates)
		return;
	putc('\n', out);
	for (unsigned g = 0; g < outcomes->nr_gates; g++)
		fprintf(out, "%s%s", g ? ", " : "Gates: ", outcomes->gates[g]);
	fprintf(out, ": %u passed, %u failed, %u without a figure, %u too noisy.\n",
		outcomes_count(outcomes, OUTCOME_PASSED),
		outcomes_count(outcomes, OUTCOME_FAILED),
		outcomes_count(outcomes, OUTCOME_MISSING),
		outcomes_count(outcomes, OUTCOME_NOISY));
}

int report_compared(const struct compared *compared, FILE *out)
{
	const struct comparison *comparison = compared->comparison;
	int err;

	errno = 0;
	put_files(compared, out);
	err = report_header(comparison->result, out);
	if (err)
		return err;
	put_differences(compared, out);
	err = report_tables_compared(comparison->result, comparison, compared->per, out);
	if (!err)
		err = comparison->paired ?
			      report_extremes(comparison->result, out) :
			      report_extremes_of_runs(comparison->result, out);
	if (!err)
		err = put_method(comparison, out);
	if (!err)
		err = report_placement(comparison->result, out);
	if (err)
		return err;
	put_gates(compared, out);
	return text_finish(out);
}

/* ---- for programs ---- */

int report_compared_csv(const struct compared *compared, FILE *out)
{
	const struct comparison *comparison = compared->comparison;
	const struct result *result = comparison->result;

	errno = 0;
	fputs("phase,threads,side,spec,unit,rounds_baseline,rounds,baseline,value,speedup,"
	      "speedup_low,speedup_high,p,p_slower,significant,detectable_percent\n",
	      out);
	for (unsigned i = 0; i < comparison->nr_cells; i++) {
		const struct comparison_cell *cell = &comparison->cells[i];

		csv_string(out, result->phases[cell->phase].name);
		fprintf(out, ",%u,", cell->threads);
		csv_string(out, result->sides[cell->side].name);
		putc(',', out);
		csv_string(out, result->sides[cell->side].spec);
		fprintf(out, ",%s,%zu,%zu",
			comparison_is_time(result, cell->phase) ? "us" : "kB/s",
			comparison->paired ? cell->design.nr_a : cell->design.nr_b,
			cell->design.nr_a);
		csv_number(out, comparison_value(result, 0, cell->phase, cell->threads,
						 compared->per));
		csv_number(out, comparison_value(result, cell->side, cell->phase,
						 cell->threads, compared->per));
		csv_number(out, cell->ratio);
		csv_number(out, cell->low);
		csv_number(out, cell->high);
		csv_number(out, cell->p);
		csv_number(out, cell->p_slower);
		fprintf(out, ",%s",
			cell->missing			? "" :
			comparison_is_significant(cell) ? "yes" :
							  "no");
		csv_number(out, cell->detectable * 100);
		putc('\n', out);
	}
	return text_finish(out);
}

static json_t *real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* "so" packs take over what they are given, also NULL, which makes them fail. */
static json_t *json_cell(const struct compared *compared,
			 const struct comparison_cell *cell)
{
	const struct comparison *comparison = compared->comparison;
	const struct result *result = comparison->result;

	return json_pack(
		"{s:o, s:o, s:I, s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, "
		"s:o}",
		"side", fields_string(result->sides[cell->side].name), "phase",
		fields_string(result->phases[cell->phase].name), "threads",
		(json_int_t)cell->threads, "unit",
		comparison_is_time(result, cell->phase) ? "us" : "kB/s",
		"rounds_baseline",
		(json_int_t)(comparison->paired ? cell->design.nr_a : cell->design.nr_b),
		"rounds", (json_int_t)cell->design.nr_a, "baseline",
		real(comparison_value(result, 0, cell->phase, cell->threads,
				      compared->per)),
		"value",
		real(comparison_value(result, cell->side, cell->phase, cell->threads,
				      compared->per)),
		"ratio", real(cell->ratio), "low", real(cell->low), "high",
		real(cell->high), "p", real(cell->p), "p_slower", real(cell->p_slower),
		"significant", comparison_is_significant(cell), "detectable_percent",
		real(cell->detectable * 100), "missing",
		cell->missing ? fields_string(cell->missing) : json_null());
}

static json_t *json_files(const struct compared *compared)
{
	json_t *files = json_array();

	for (unsigned i = 0; i < compared->nr_files; i++) {
		const struct compared_file *file = &compared->files[i];
		json_t *differences = json_array();

		for (unsigned d = 0; d < file->differences.nr; d++) {
			const struct difference *difference = &file->differences.list[d];

			json_array_append_new(
				differences,
				json_pack("{s:s, s:o, s:o, s:b}", "what",
					  difference->what, "baseline",
					  fields_string(difference->baseline), "other",
					  fields_string(difference->other),
					  "incomparable", difference->fatal));
		}
		json_array_append_new(files,
				      json_pack("{s:o, s:o, s:o}", "path",
						fields_string(file->path), "side",
						file->side ? fields_string(file->side) :
							     json_null(),
						"differences", differences));
	}
	return files;
}

static json_t *json_sides(const struct result *result)
{
	json_t *sides = json_array();

	for (unsigned i = 0; i < result->nr_sides; i++)
		json_array_append_new(
			sides, json_pack("{s:o, s:o}", "name",
					 fields_string(result->sides[i].name), "spec",
					 fields_string(result->sides[i].spec)));
	return sides;
}

static json_t *json_outcomes(const struct compared *compared)
{
	static const char *const words[] = { "passed", "failed", "missing", "noisy" };
	const struct result *result = compared->comparison->result;
	const struct outcomes *outcomes = compared->outcomes;
	json_t *list = json_array();

	for (unsigned i = 0; i < outcomes->nr && outcomes->nr_gates; i++) {
		const struct outcome *outcome = &outcomes->list[i];

		json_array_append_new(
			list,
			json_pack("{s:s?, s:o, s:o, s:I, s:s, s:o}", "gate",
				  outcome->gate, "side",
				  fields_string(result->sides[outcome->side].name),
				  "phase",
				  fields_string(result->phases[outcome->phase].name),
				  "threads", (json_int_t)outcome->threads, "outcome",
				  words[outcome->kind], "text",
				  outcome->text ? fields_string(outcome->text) :
						  json_null()));
	}
	return list;
}

int report_compared_json(const struct compared *compared, FILE *out)
{
	const struct comparison *comparison = compared->comparison;
	json_t *cells = json_array(), *root;
	int err = 0;

	errno = 0;
	for (unsigned i = 0; i < comparison->nr_cells; i++)
		err |= json_array_append_new(cells,
					     json_cell(compared, &comparison->cells[i]));
	root = json_pack("{s:s, s:b, s:s, s:s, s:f, s:o, s:o, s:o, s:o, s:i}", "schema",
			 "pagezone-comparison/1", "paired", comparison->paired, "test",
			 comparison->paired ? "signed-rank" : "rank-sum", "correction",
			 "Benjamini-Hochberg", "alpha", COMPARE_ALPHA, "files",
			 json_files(compared), "sides", json_sides(comparison->result),
			 "cells", cells, "gates", json_outcomes(compared), "status",
			 compared->status);
	if (!root || err) {
		json_decref(root);
		return -ENOMEM;
	}
	err = json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
	putc('\n', out);
	json_decref(root);
	return err && !errno ? -EIO : text_finish(out);
}
