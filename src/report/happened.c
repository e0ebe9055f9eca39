/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/happened.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "report/figures.h"
#include "report/text.h"

#define GIB ((double)(1 << 30))
/* Of the further lines of what /proc/vmstat counted. */
#define INDENT 4

static double per_gib(const struct result_sample *sample, double value)
{
	return sample->bytes ? value / (double)sample->bytes * GIB : NAN;
}

/*
 * Those that needed no reading, as getrusage counts them. The in-process page cache does
 * not count those as minor that found no page and read none.
 */
static double minor_per_gib(const struct result_sample *sample)
{
	double minor = figure_faults(sample) - figure_major_faults(sample);

	return per_gib(sample, fmax(minor, figure_minor_faults(sample)));
}

static double major_per_gib(const struct result_sample *sample)
{
	return per_gib(sample, figure_major_faults(sample));
}

static double pmd_mapped_percent(const struct result_sample *sample)
{
	return per_gib(sample, figure_pmd_mapped_bytes(sample)) / GIB * 100;
}

static double user_ms_per_gib(const struct result_sample *sample)
{
	return per_gib(sample, figure_user_ns(sample)) / 1e6;
}

static double system_ms_per_gib(const struct result_sample *sample)
{
	return per_gib(sample, figure_system_ns(sample)) / 1e6;
}

static double voluntary_per_gib(const struct result_sample *sample)
{
	return per_gib(sample, figure_voluntary_switches(sample));
}

static double involuntary_per_gib(const struct result_sample *sample)
{
	return per_gib(sample, figure_involuntary_switches(sample));
}

/* One decimal, unless it is 0. */
static const char *text_tenths(struct text *text, double value)
{
	size_t len = strlen(text_fixed(text, value, 1));

	if (len > 2 && !strcmp(&text->s[len - 2], ".0"))
		text->s[len - 2] = '\0';
	return text->s;
}

/* Rounded down: 100 is all of it. */
static const char *text_percent(struct text *text, double value)
{
	return text_tenths(text, floor(value * 10) / 10);
}

/* Of 10 and more, the tenths are noise. */
static const char *text_roughly(struct text *text, double value)
{
	return value < 10 ? text_tenths(text, value) : text_fixed(text, value, 0);
}

#define MAX_FIGURES 2

static const struct section {
	const char *heading;
	const char *(*text)(struct text *text, double value);
	unsigned nr;
	figure_fn figures[MAX_FIGURES]; /* parted by a slash */
} sections[] = {
	{ "faults per GiB, minor/major:",
	  text_tenths,
	  2,
	  { minor_per_gib, major_per_gib } },
	{ "PMD-mapped, % of the bytes moved:", text_percent, 1, { pmd_mapped_percent } },
	{ "CPU time, ms per GiB, user/system:",
	  text_roughly,
	  2,
	  { user_ms_per_gib, system_ms_per_gib } },
	{ "context switches per GiB, voluntary/involuntary:",
	  text_roughly,
	  2,
	  { voluntary_per_gib, involuntary_per_gib } },
};

/* A phase's samples of one side with real page faults. */
struct side_sums {
	bool any;
	/* Doubles, as sums of a hostile file may exceed 64 bits. */
	double vmstat[RESULT_NR_VMSTAT];
};

static void sums_add(struct side_sums *sums, const struct result_sample *sample)
{
	sums->any = true;
	for (unsigned i = 0; i < RESULT_NR_VMSTAT; i++)
		if (sample->counters.vmstat[i] != UINT64_MAX)
			sums->vmstat[i] += (double)sample->counters.vmstat[i];
}

/* 0 or -ENOMEM. */
static int put_cell(struct table *table, unsigned column, const struct section *section,
		    const struct result *result, const struct result_cell *cell)
{
	double medians[MAX_FIGURES] = { NAN, NAN };
	char both[2 * sizeof(struct text)];
	struct text first, second;
	int err;

	if (cell) {
		err = figures_median(result, cell, section->figures, section->nr,
				     medians);
		if (err)
			return err;
	}
	/* As where there is no rate: one dash, not two. */
	if (section->nr < 2 || (isnan(medians[0]) && isnan(medians[1]))) {
		table_cell(table, column, section->text(&first, medians[0]));
		return 0;
	}
	snprintf(both, sizeof(both), "%s/%s", section->text(&first, medians[0]),
		 section->text(&second, medians[1]));
	table_cell(table, column, both);
	return 0;
}

static int put_section(struct table *table, const struct section *section,
		       const struct result *result, unsigned phase,
		       const unsigned *threads, const struct side_sums *sums)
{
	int err = 0;

	table_row(table, section->heading);
	for (unsigned side = 0; side < result->nr_sides; side++) {
		char *label;

		if (!sums[side].any)
			continue;
		if (asprintf(&label, "%s:", result->sides[side].name) < 0)
			return -ENOMEM;
		table_row(table, label);
		free(label);
		for (unsigned i = 0; !err && i < table->nr_columns; i++)
			err = put_cell(table, i, section, result,
				       result_cell(result, side, phase, threads[i]));
	}
	return err;
}

/* "vmstat, baseline: pgfault 196608, thp_file_fallback 3"; nothing when all is 0. */
static int put_vmstat(const struct result_side *side, const struct side_sums *sums,
		      FILE *out)
{
#define NAME(name) #name,
	static const char *const names[] = { RESULT_VMSTAT_COUNTERS(NAME) };
#undef NAME
	char *text = NULL;
	size_t len = 0;
	FILE *line = open_memstream(&text, &len);
	bool any = false, failed;

	if (!line)
		return -ENOMEM;
	fprintf(line, "vmstat, %s:", side->name);
	for (unsigned i = 0; i < RESULT_NR_VMSTAT; i++) {
		struct text number;

		if (!(sums->vmstat[i] > 0))
			continue;
		fprintf(line, "%s %s %s", any ? "," : "", names[i],
			text_fixed(&number, sums->vmstat[i], 0));
		any = true;
	}
	failed = ferror(line);
	/* glibc's fclose may succeed without memory for the text. */
	if (fclose(line) || failed || !text) {
		free(text);
		return -ENOMEM;
	}
	if (any)
		text_wrap(out, text, 0, INDENT);
	free(text);
	return 0;
}

int report_happened_phase(const struct result *result, unsigned phase,
			  const unsigned *threads, const struct table *above,
			  const struct table_layout *layout, FILE *out, bool *any)
{
	struct side_sums *sums = calloc(result->nr_sides + 1, sizeof(*sums));
	bool found = false;
	struct table table;
	int err = 0;

	if (!sums)
		return -ENOMEM;
	for (unsigned i = 0; i < result->nr_samples; i++) {
		const struct result_sample *sample = &result->samples[i];

		if (sample->phase != phase || result_sample_is_void(sample) ||
		    !(sample->counters.known & RESULT_VMSTAT))
			continue;
		sums_add(&sums[sample->side], sample);
		found = true;
	}
	table_init(&table, above->nr_columns);
	table.above = above;
	for (size_t i = 0; found && !err && i < ARRAY_SIZE(sections); i++)
		err = put_section(&table, &sections[i], result, phase, threads, sums);
	if (found && !err) {
		*any = true;
		putc('\n', out);
		err = table_print(&table, layout, out);
	}
	for (unsigned side = 0; found && !err && side < result->nr_sides; side++)
		if (sums[side].any)
			err = put_vmstat(&result->sides[side], &sums[side], out);
	table_destroy(&table);
	free(sums);
	return err;
}

void report_happened_legend(FILE *out)
{
	putc('\n', out);
	text_wrap(
		out,
		"Below the tables, medians of the rounds: faults, CPU time and context "
		"switches are those of the workers (getrusage; of cache:...,map=uffd, "
		"the faults are those that the page cache in this process resolved), and "
		"the wait for the common start is among the switches. PMD-mapped is what "
		"smaps had before unmapping, rounded down. vmstat: by how much counters "
		"of /proc/vmstat grew over all rounds and thread counts, on the whole "
		"machine; those that did not are left out.",
		0, 0);
}
