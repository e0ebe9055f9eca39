/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader of results. What it takes is written, loaded and written again as the same
 * bytes, and all that shows or compares results can do so, in text that is plain.
 */
#include <errno.h>

#include "fuzz/fuzz.h"
#include "report/compare.h"
#include "report/plot.h"
#include "report/report.h"
#include "result/join.h"
#include "result/result.h"

const char fuzz_name[] = "json";

/* What is written there; the caller frees it. */
struct memory {
	char *text;
	size_t len;
	FILE *out;
};

static FILE *memory_open(struct memory *memory)
{
	memory->text = NULL;
	memory->out = open_memstream(&memory->text, &memory->len);
	fuzz_must(memory->out, NULL);
	return memory->out;
}

static char *memory_close(struct memory *memory)
{
	fuzz_must(!fclose(memory->out) && memory->text, NULL);
	fuzz_must(strlen(memory->text) == memory->len, memory->text);
	return memory->text;
}

static char *written(const struct result *result)
{
	struct memory memory;

	fuzz_must(!result_write_json(result, memory_open(&memory)), NULL);
	return memory_close(&memory);
}

static struct result *loaded(const char *text)
{
	struct result *result = NULL;
	struct reason why = { "" };
	int err = result_load(&result, fuzz_file(text, strlen(text)), &why);

	if (err) {
		fprintf(stderr, "%s\n", why.text);
		fuzz_failed("what was written loads", text);
	}
	return result;
}

static unsigned nr_commas(const char **line)
{
	bool quoted = false;
	unsigned nr = 0;
	const char *c;

	for (c = *line; *c && *c != '\n'; c++) {
		quoted ^= *c == '"';
		nr += *c == ',' && !quoted;
	}
	*line = *c ? c + 1 : c;
	return nr;
}

/* Every line has the columns of the first. */
static void check_csv(const char *text)
{
	const char *at = text;
	unsigned nr = nr_commas(&at);

	while (*at)
		fuzz_must(nr_commas(&at) == nr, text);
}

/* Ends what @memory took; it is plain. */
static void check_plain(struct memory *memory, int err, bool csv)
{
	char *text = memory_close(memory);

	fuzz_must(!err, text);
	fuzz_must(fuzz_is_plain(text, true), text);
	if (csv)
		check_csv(text);
	free(text);
}

static int write_tables(const struct result *result, FILE *out)
{
	return report_tables(result, REPORT_PER_THREAD, out);
}

static int write_markdown(const struct result *result, FILE *out)
{
	return report_markdown(result, REPORT_PER_TOTAL, out);
}

/* @between is of two such files, or NULL: there is one. */
static void draw(const struct result *result, const struct result *between)
{
	const struct result *results[] = { result, result };
	const char *const names[] = { "a", "b" };
	struct reason why = { "" };
	struct memory memory;
	int err = report_plot(results, names, between ? 2 : 1, between, REPORT_PER_THREAD,
			      PLOT_SVG, memory_open(&memory), &why);

	free(memory_close(&memory));
	if (err)
		fuzz_refused(err, why.text);
}

static void show(const struct result *result)
{
	static const struct {
		int (*write)(const struct result *result, FILE *out);
		bool csv;
	} reports[] = {
		{ report_header, false },      { write_tables, false },
		{ report_truncations, false }, { report_truncations_csv, true },
		{ report_extremes, false },    { report_locks, false },
		{ report_placement, false },   { report_csv, true },
		{ write_markdown, false },
	};
	struct memory memory;
	int err;

	for (size_t i = 0; i < sizeof(reports) / sizeof(*reports); i++) {
		err = reports[i].write(result, memory_open(&memory));
		check_plain(&memory, err, reports[i].csv);
	}
	draw(result, NULL);
}

/* As the command compare does it. */
static void compare(struct result *result, bool paired, struct compared_file *files,
		    unsigned nr_files)
{
	static int (*const writers[])(const struct compared *compared, FILE *out) = {
		report_compared,
		report_compared_markdown,
		report_compared_junit,
		report_compared_csv,
	};
	const struct gate gate = { .ratio = 1 };
	const struct gates gates = { .min_speedup = &gate,
				     .nr_min_speedup = 1,
				     .max_regression = 5 };
	struct comparison comparison;
	struct outcomes outcomes;
	struct compared compared = { .comparison = &comparison,
				     .outcomes = &outcomes,
				     .files = files,
				     .nr_files = nr_files };
	struct memory memory;
	int err;

	err = comparison_init(&comparison, result, paired);
	fuzz_must(!err || err == -E2BIG, NULL);
	if (err)
		return;
	fuzz_must(!outcomes_fill(&outcomes, &comparison, &gates), NULL);
	for (size_t i = 0; i < sizeof(writers) / sizeof(*writers); i++) {
		err = writers[i](&compared, memory_open(&memory));
		check_plain(&memory, err, writers[i] == report_compared_csv);
	}
	fuzz_must(!report_compared_json(&compared, memory_open(&memory)), NULL);
	free(memory_close(&memory));
	outcomes_print(&outcomes, &comparison, memory_open(&memory));
	check_plain(&memory, 0, false);
	outcomes_destroy(&outcomes);
	comparison_destroy(&comparison);
}

/* Two of them are the same as @result; they are used up. */
static void compare_files(const struct result *result, struct result *first,
			  struct result *second)
{
	struct compared_file files[2] = { { .path = "a" }, { .path = "b" } };
	struct reason why = { "" };
	unsigned base, side;

	if (result_pick_side(first, NULL, &base, &why)) {
		fuzz_must(*why.text, NULL);
		goto out;
	}
	fuzz_must(!result_pick_side(second, NULL, &side, &why), why.text);
	fuzz_must(!differences_find(&files[1].differences, first, base, second, side),
		  NULL);
	files[0].side = files[1].side = "side";
	fuzz_must(!result_keep_side(first, base, "baseline"), NULL);
	fuzz_must(!result_join(first, second, side, "patched"), NULL);
	first->parameters.rounds = 0;
	fuzz_must(!result_derive(first), NULL);
	compare(first, false, files, 2);
	draw(result, first);
	differences_destroy(&files[1].differences);
out:
	result_free(first);
	result_free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct compared_file file = { .path = "a" };
	struct result *result = NULL, *again;
	struct reason why = { "" };
	char *first, *second;
	int err = result_load(&result, fuzz_file(data, size), &why);

	if (err) {
		fuzz_must(!result, why.text);
		fuzz_refused(err, why.text);
		return 0;
	}
	first = written(result);
	again = loaded(first);
	second = written(again);
	fuzz_must(!strcmp(first, second), second);
	show(result);
	compare(result, true, &file, 1);
	compare_files(result, again, loaded(first));
	free(first);
	free(second);
	result_free(result);
	return 0;
}
