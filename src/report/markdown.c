/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Markdown with the tables of GitHub's dialect, to be pasted into a pull request. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "report/compare.h"
#include "report/report.h"
#include "report/text.h"

/* Names may hold anything: nothing in them is markup, HTML or the end of a cell. */
static void put_plain(FILE *out, const char *s)
{
	for (; *s; s++) {
		size_t control = format_control(s);

		if (control) {
			putc('?', out);
			s += control - 1;
			continue;
		}
		if (*s == '<')
			fputs("&lt;", out);
		else if (*s == '&')
			fputs("&amp;", out);
		/* Neither a mention nor an issue's number. */
		else if (*s == '@')
			fputs("&#64;", out);
		else if (*s == '#')
			fputs("&#35;", out);
		else if (strchr("\\`*_{}[]()|~!>", *s))
			fprintf(out, "\\%c", *s);
		else
			putc(*s, out);
	}
}

struct tables {
	const struct result *result;
	const struct comparison *comparison; /* NULL: none */
	enum report_per per;
	unsigned *threads, nr_threads, nr_patched;
};

static void side_row(const struct tables *tables, unsigned phase, unsigned side,
		     FILE *out)
{
	const struct result *result = tables->result;

	fputs("| ", out);
	put_plain(out, result->sides[side].name);
	for (unsigned i = 0; i < tables->nr_threads; i++) {
		struct text text;
		double value = comparison_value(result, side, phase, tables->threads[i],
						tables->per);

		fprintf(out, " | %s",
			text_fixed(&text, value,
				   comparison_is_time(result, phase) ? 1 : 0));
	}
	fputs(" |\n", out);
}

static void speedup_rows(const struct tables *tables, unsigned phase, unsigned side,
			 FILE *out)
{
	const char *label = NULL;

	fputs("| speed-up", out);
	if (tables->nr_patched > 1) {
		fputs(" of ", out);
		put_plain(out, tables->result->sides[side].name);
	}
	for (unsigned i = 0; i < tables->nr_threads; i++) {
		const struct result_speedup *speedup =
			result_speedup(tables->result, side, phase, tables->threads[i]);
		bool mark = comparison_is_significant(comparison_cell(
			tables->comparison, side, phase, tables->threads[i]));
		struct text text;

		text_fixed(&text, speedup ? speedup->ratio : NAN, 2);
		fprintf(out, mark ? " | **%s**" : " | %s", text.s);
	}
	fputs(" |\n", out);
	if (tables->comparison)
		label = comparison_interval_label(tables->comparison, side, phase);
	if (!label)
		return;
	fprintf(out, "| %s", label);
	for (unsigned i = 0; i < tables->nr_threads; i++) {
		struct text text;

		comparison_interval(&text, comparison_cell(tables->comparison, side,
							   phase, tables->threads[i]));
		fprintf(out, " | %s", text.s);
	}
	fputs(" |\n", out);
}

static void published_row(const struct tables *tables, unsigned phase, FILE *out)
{
	fputs("| published", out);
	for (unsigned i = 0; i < tables->nr_threads; i++) {
		double ratio =
			result_published(tables->result, phase, tables->threads[i]);
		struct text text;

		fprintf(out, " | %s", text_fixed(&text, ratio, 2));
	}
	fputs(" |\n", out);
}

static int put_tables(const struct result *result, const struct comparison *comparison,
		      enum report_per per, FILE *out)
{
	struct tables tables = { .result = result, .comparison = comparison, .per = per };
	int err = text_threads(result, &tables.threads, &tables.nr_threads);

	if (err)
		return err;
	for (unsigned side = 0; side < result->nr_sides; side++)
		tables.nr_patched += result_side_has_speedups(result, side);
	for (unsigned phase = 0; phase < result->nr_phases; phase++) {
		if (!result_phase_has_cells(result, phase))
			continue;
		fputs("\n### ", out);
		put_plain(out, result->phases[phase].title);
		if (comparison_is_time(result, phase))
			fputs(", median time in us", out);
		fputs("\n\n| threads", out);
		for (unsigned i = 0; i < tables.nr_threads; i++)
			fprintf(out, " | %u", tables.threads[i]);
		fputs(" |\n| :---", out);
		for (unsigned i = 0; i < tables.nr_threads; i++)
			fputs(" | ---:", out);
		fputs(" |\n", out);
		for (unsigned side = 0; side < result->nr_sides; side++)
			side_row(&tables, phase, side, out);
		for (unsigned side = 0; side < result->nr_sides; side++)
			if (result_side_has_speedups(result, side))
				speedup_rows(&tables, phase, side, out);
		if (result->reference)
			published_row(&tables, phase, out);
	}
	free(tables.threads);
	return 0;
}

/* What the lines on pages and CPUs are about. 0 or -ENOMEM. */
static int put_workers(const struct result *result, FILE *out)
{
	char *text = report_workers(&result->parameters);

	if (!text)
		return -ENOMEM;
	if (*text) {
		fputs("- workers: ", out);
		put_plain(out, text);
		putc('\n', out);
	}
	free(text);
	return 0;
}

static void put_warnings(const struct result *result, FILE *out)
{
	if (result->interrupted)
		fputs("- interrupted: these are the rounds that there were\n", out);
	for (unsigned i = 0; i < result->nr_warnings; i++) {
		fputs("- warning: ", out);
		put_plain(out, result->warnings[i]);
		putc('\n', out);
	}
}

/* As bullets. 0 or -ENOMEM. */
static int put_placement(const struct result *result, FILE *out)
{
	char *lines = report_placement_lines(result), *save, *line;

	if (!lines)
		return -ENOMEM;
	for (line = strtok_r(lines, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		fputs("- ", out);
		put_plain(out, line);
		putc('\n', out);
	}
	free(lines);
	return 0;
}

/* What a reader of the tables has to know: as in the header of a terminal's. 0 or -ENOMEM. */
static int put_what(const struct result *result, enum report_per per, FILE *out)
{
	const struct result_environment *environment = &result->environment;
	int err;

	for (unsigned i = 0; i < result->nr_sides; i++) {
		fputs("- ", out);
		put_plain(out, result->sides[i].name);
		fputs(": ", out);
		put_plain(out, result->sides[i].spec);
		putc('\n', out);
	}
	if (environment->cpu_model || environment->kernel) {
		fputs("- machine: ", out);
		put_plain(out, environment->cpu_model ? environment->cpu_model :
							"unknown CPU");
		fputs(", ", out);
		put_plain(out,
			  environment->kernel ? environment->kernel : "unknown kernel");
		putc('\n', out);
	}
	err = put_workers(result, out);
	if (err)
		return err;
	if (result->nr_phases && comparison_is_time(result, 0))
		fputs("- unit: microseconds a truncation\n", out);
	else
		fprintf(out, "- unit: kB/s %s (1 kB = 1024 bytes)\n",
			per == REPORT_PER_TOTAL ? "in total" : "per thread");
	put_warnings(result, out);
	return put_placement(result, out);
}

int report_markdown(const struct result *result, enum report_per per, FILE *out)
{
	int err;

	errno = 0;
	fputs("## pagezone\n\n", out);
	err = put_what(result, per, out);
	if (!err)
		err = put_tables(result, NULL, per, out);
	return err ? err : text_finish(out);
}

static const char *verdict(const struct compared *compared)
{
	if (!compared->outcomes->nr_gates)
		return NULL;
	switch (compared->status) {
	case 0:
		return "passed";
	case 1:
		return "failed";
	case 4:
		return "too noisy to decide";
	default:
		return "not decided: cells have no figure";
	}
}

static void put_outcomes(const struct compared *compared, FILE *out)
{
	static const char *const words[] = { "passed", "failed", "no figure",
					     "too noisy" };
	const struct result *result = compared->comparison->result;
	const struct outcomes *outcomes = compared->outcomes;
	unsigned passed = outcomes_count(outcomes, OUTCOME_PASSED);

	if (verdict(compared))
		fprintf(out, "\n%u of %u passed.\n", passed, outcomes->nr);
	if (passed == outcomes->nr)
		return;
	fputs("\n| cell | gate | outcome | why |\n| :--- | :--- | :--- | :--- |\n", out);
	for (unsigned i = 0; i < outcomes->nr; i++) {
		const struct outcome *outcome = &outcomes->list[i];

		if (outcome->kind == OUTCOME_PASSED)
			continue;
		fputs("| ", out);
		put_plain(out, result->sides[outcome->side].name);
		putc(' ', out);
		put_plain(out, result->phases[outcome->phase].name);
		fprintf(out, "&#64;%u | ", outcome->threads);
		if (outcome->gate)
			put_plain(out, outcome->gate);
		fprintf(out, " | %s | ", words[outcome->kind]);
		put_plain(out, outcome->text);
		fputs(" |\n", out);
	}
}

static void put_differences(const struct compared *compared, FILE *out)
{
	const struct result *result = compared->comparison->result;
	const struct difference *difference;
	unsigned file, n = 0;

	for (; (difference = compared_difference(compared, n, &file)); n++) {
		if (!n)
			fputs("\n| differs | baseline | other | side |\n"
			      "| :--- | :--- | :--- | :--- |\n",
			      out);
		fputs("| ", out);
		put_plain(out, difference->what);
		fputs(difference->fatal ? ", not comparable | " : " | ", out);
		put_plain(out, difference->baseline);
		fputs(" | ", out);
		put_plain(out, difference->other);
		fputs(" | ", out);
		put_plain(out, result->sides[file].name);
		fputs(" |\n", out);
	}
}

static int put_method(const struct comparison *comparison, FILE *out)
{
	char *text;
	int err = comparison_method(comparison, &text);

	/* Marks are bold here. */
	if (!err && *text) {
		char *mark = strstr(text, "* is significant");

		putc('\n', out);
		if (mark) {
			*mark = '\0';
			put_plain(out, text);
			fputs("Bold", out);
			put_plain(out, mark + 1);
		} else {
			put_plain(out, text);
		}
		putc('\n', out);
	}
	free(text);
	return err;
}

int report_compared_markdown(const struct compared *compared, FILE *out)
{
	const struct comparison *comparison = compared->comparison;
	const char *result = verdict(compared);
	int err;

	errno = 0;
	fprintf(out, result ? "## pagezone compare: %s\n\n" : "## pagezone compare\n\n",
		result);
	for (unsigned i = 0; i < compared->nr_files; i++) {
		fputs("- ", out);
		put_plain(out, compared->nr_files > 1 ?
				       comparison->result->sides[i].name :
				       "file");
		fputs(" is ", out);
		put_plain(out, compared->files[i].path);
		if (compared->files[i].side) {
			fputs(", side ", out);
			put_plain(out, compared->files[i].side);
		}
		putc('\n', out);
	}
	err = put_what(comparison->result, compared->per, out);
	if (err)
		return err;
	put_outcomes(compared, out);
	put_differences(compared, out);
	err = put_tables(comparison->result, comparison, compared->per, out);
	if (!err)
		err = put_method(comparison, out);
	return err ? err : text_finish(out);
}
