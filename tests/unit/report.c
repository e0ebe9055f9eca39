/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

#include <errno.h>
#include <locale.h>

#include "base/bits.h"
#include "fixture.h"
#include "report/table.h"
#include "report/text.h"

typedef int (*report_fn)(const struct result *result, FILE *out);

static int tables_per_thread(const struct result *result, FILE *out)
{
	return report_tables(result, REPORT_PER_THREAD, out);
}

static int tables_per_total(const struct result *result, FILE *out)
{
	return report_tables(result, REPORT_PER_TOTAL, out);
}

/* What @report prints. The caller frees it. */
static char *printed(report_fn report, const struct result *result)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		bail("out of memory");
	must(report(result, out));
	fclose(out);
	return text;
}

static void report_golden(report_fn report, const struct result *result, const char *name)
{
	char *text = printed(report, result);

	ok_golden(text, name);
	free(text);
}

static void ok_printed(report_fn report, const struct result *result, const char *wanted,
		       const char *what)
{
	char *text = printed(report, result);

	if (!ok(!strcmp(text, wanted), "%s", what))
		printf("# got: %s\n", text);
	free(text);
}

/* No line has blanks at its end or is wider than @width (0: no matter). */
static bool lines_are_tidy(const char *text, size_t width)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len && (text[len - 1] == ' ' || (width && len > width)))
			return false;
		text += len + (text[len] == '\n');
	}
	return true;
}

/* The line of @text that starts with @label, after the line @title. */
static const char *find_line(const char *text, const char *title, const char *label)
{
	const char *at = strstr(text, title);

	while (at && strncmp(at, label, strlen(label)) != 0) {
		at = strchr(at, '\n');
		if (at)
			at++;
	}
	return at;
}

/* Each published speed-up, where it belongs: read from the text of the tables. */
static void test_published(const struct result *result)
{
	FILE *in = fopen(golden_path("thp-page-cache-2013.csv"), "re");
	char *text = printed(tables_per_thread, result), line[256], published[32],
	     phase[64];
	unsigned nr = 0, good = 0, threads;

	while (in && fgets(line, sizeof(line), in)) {
		const char *at;
		char title[64];
		int column;

		if (sscanf(line, "%63[^,],%u,%*u,%*u,%31s", phase, &threads, published) !=
		    3)
			continue;
		for (unsigned p = 0; p < result->nr_phases; p++)
			if (!strcmp(result->phases[p].name, phase))
				snprintf(title, sizeof(title), "** %s **",
					 result->phases[p].title);
		at = find_line(text, title, "speed-up(times):");
		if (!at || strcspn(at, "\n") != 16 + 8 + 8 * 10)
			continue;
		column = 24 + 10 * __builtin_ctz(threads);
		nr++;
		/* The digits end exactly at the column's edge. */
		good += !strncmp(&at[column - (int)strlen(published)], published,
				 strlen(published)) &&
			at[column - (int)strlen(published) - 1] == ' ';
	}
	if (in)
		fclose(in);
	ok(nr == 63, "63 published cells are there: %u", nr);
	ok(good == 63, "each speed-up to the digit: %u", good);
	free(text);
}

static void test_reference(void)
{
	struct result *result = fixture_reference(golden_path("thp-page-cache-2013.csv"));
	char *text;

	report_golden(tables_per_thread, result, "tables-2013.txt");
	free(result->command_line);
	result->command_line = strdup("pagezone import reference x -o y");
	ok_printed(report_header, result,
		   "pagezone 1.2.3: pagezone import reference x -o y\n"
		   "engines:    baseline  cache:batch=1\n"
		   "            patched   cache:batch=512\n"
		   "rounds:     1 round\n"
		   "unit:       kB/s per thread (1 kB = 1024 bytes)\n\n",
		   "the header of what was imported says nothing of how it was measured");
	report_golden(tables_per_total, result, "tables-2013-total.txt");
	report_golden(report_csv, result, "tables-2013.csv");
	test_published(result);
	ok_printed(report_extremes, result,
		   "\nSpeed-up from 1.23 times (reverse-reader, 1 thread) to 9.22 times "
		   "(initial-writer, 32 threads).\n",
		   "the extremes of 2013");
	ok_printed(report_locks, result, "", "no counters, no locks");
	text = printed(tables_per_thread, result);
	ok(lines_are_tidy(text, 0), "no blanks at the ends of lines");
	ok(strncmp(text,
		   "** Initial writers **\n"
		   "threads:               1         2         4",
		   strlen("** Initial writers **\n"
			  "threads:               1         2         4")) == 0,
	   "the shape of the post");
	setenv("COLUMNS", "20", 1);
	report_golden(tables_per_thread, result, "tables-2013.txt");
	unsetenv("COLUMNS");
	free(text);
	result_free(result);
}

static void test_full(void)
{
	struct result *result = fixture_full();
	char *text;

	report_golden(report_header, result, "header.txt");
	report_golden(tables_per_thread, result, "tables.txt");
	report_golden(tables_per_total, result, "tables-total.txt");
	report_golden(report_extremes, result, "extremes.txt");
	report_golden(report_locks, result, "locks.txt");
	report_golden(report_csv, result, "cells.csv");
	text = printed(report_header, result);
	ok(lines_are_tidy(text, 80), "the header has 80 columns");
	free(text);
	result->environment.arena_huge_bytes--;
	text = printed(report_header, result);
	ok(strstr(text, "544 MiB, 99 % in huge pages") != NULL,
	   "the whole share is all of it");
	free(text);
	result->environment.arena_huge_bytes = UINT64_MAX;
	text = printed(report_header, result);
	ok(strstr(text, "544 MiB, unknown how much in huge pages") != NULL,
	   "a share that is not known is none");
	free(text);
	result->environment.arena_huge_bytes = 544ULL << 20;
	result->parameters.per_thread_size = true;
	text = printed(report_header, result);
	ok(strstr(text, "512 MiB per thread") != NULL, "a size per thread");
	ok(!strstr(text, "verified"), "nothing about verifying");
	free(text);
	result->parameters.verify = true;
	text = printed(report_header, result);
	ok(strstr(text, "\nverified:   every record checked; figures include that\n") !=
		   NULL,
	   "but of a verified run");
	free(text);
	text = printed(report_locks, result);
	ok(lines_are_tidy(text, 80), "so have the locks");
	free(text);
	result_free(result);
}

/* Three patched sides, numbers of 12 digits, void and missing cells, odd names. */
static void test_wide(void)
{
	static const unsigned threads[] = { 16, 1, 2, 256 };
	struct result *result = fixture_empty(threads, 4, 2);

	must(result_add_side(result, "baseline", "cache:batch=1"));
	must(result_add_side(result, "patched", "cache:batch=\"8\""));
	must(result_add_side(result, "patched2", "cache:dir=/tmp/a b\n,batch=64"));
	must(result_add_side(result, "largest-folios", "cache:batch=512"));
	must(result_add_side(result, "limit", "memory"));
	must(result_add_phase(result, "reader", NULL));
	must(result_add_phase(result, "never-ran", NULL));
	must(result_add_phase(result, "\033[31mred", NULL));
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned side = 0; side < 5; side++) {
			fixture_sample(result, side, 0, 1, round,
				       123456789012 + side * 987654321);
			fixture_sample(result, side, 0, 2, round, 5 + side + round);
			fixture_sample(result, side, 2, 16, round, 1234567);
		}
		fixture_sample(result, 4, 2, 3, round, 77);
	}
	fixture_fail(&result->samples[1], "worker 0: No space left\non device");
	fixture_fail(&result->samples[2], "worker 0: No space left\non device");
	fixture_fail(&result->samples[6], "killed");
	result->samples[17].window_ns = 0;
	result_sample_rates(&result->samples[17]);
	result->samples[0].too_short = true;
	result->interrupted = true;
	must(result_derive(result));
	report_golden(tables_per_thread, result, "wide.txt");
	report_golden(report_extremes, result, "wide-extremes.txt");
	report_golden(report_csv, result, "wide.csv");
	report_golden(report_header, result, "wide-header.txt");
	result_free(result);
}

static void test_run(void)
{
	static const unsigned threads[] = { 4 };
	struct result *result = fixture_empty(threads, 1, 1);

	must(result_add_side(result, "run", "null"));
	must(result_add_phase(result, "re-reader", NULL));
	ok_printed(tables_per_thread, result, "", "no samples, no tables");
	fixture_sample(result, 0, 0, 4, 0, 98765432);
	must(result_derive(result));
	ok_printed(tables_per_thread, result,
		   "** Re-readers **\n"
		   "threads:               4\n"
		   "run:            98765432\n",
		   "a single side has its own row and no speed-up");
	ok_printed(report_extremes, result, "", "nothing to say, nothing printed");
	result->interrupted = true;
	ok_printed(report_extremes, result, "\nInterrupted after 1 sample of 1.\n",
		   "interrupted");
	result_free(result);

	result = fixture_empty(threads, 1, 1);
	must(result_add_side(result, "run", "cache"));
	must(result_add_phase(result, "reader", NULL));
	fixture_counters(fixture_sample(result, 0, 0, 4, 0, 4096), 1);
	fixture_fail(&result->samples[0], "killed");
	must(result_derive(result));
	ok_printed(report_locks, result, "", "what a void sample counted is not shown");
	result_free(result);

	result = fixture_empty(threads, 1, 8);
	must(result_add_side(result, "baseline", "a"));
	must(result_add_side(result, "patched", "b"));
	must(result_add_phase(result, "re-reader", NULL));
	for (unsigned round = 0; round < 8; round++) {
		fixture_sample(result, 0, 0, 4, round, 100);
		fixture_sample(result, 1, 0, 4, round, 100 + 10 * round);
	}
	must(result_derive(result));
	ok_printed(
		report_extremes, result,
		"\nSpeed-up 1.35 times (re-reader, 4 threads).\n"
		"95 % interval: 1.09 to 1.61 (between order statistics of 8 rounds).\n",
		"a single cell is no range");
	result_free(result);
}

/* The soft page cache against the kernel's, with small and with huge pages. */
static struct result *made_up_faults(void)
{
	static const unsigned threads[] = { 1, 2, 4 }, batch[] = { 1, 1, 512 };
	static const unsigned kb_per_s[] = { 1 << 20, 1 << 18, 1 << 21 };
	struct result *result = fixture_empty(threads, 3, 3);

	must(result_add_side(result, "baseline", "cache:batch=1"));
	must(result_add_side(result, "patched", "tmpfs:huge=never"));
	must(result_add_side(result, "patched2", "tmpfs:huge=always"));
	result->sides[1].mount = copied(
		"tmpfs rw,relatime,size=1310720k,nr_inodes=4096,huge=never,noswap");
	result->sides[2].mount =
		copied("tmpfs rw,relatime,\033size=1310720k,huge=always");
	must(result_add_phase(result, "initial-writer", NULL));
	must(result_add_phase(result, "reader", NULL));
	for (unsigned n = 0; n < 3 * 3 * 3 * 2; n++) {
		unsigned round = n % 3, side = n / 3 % 3, phase = n / 27, t = n / 9 % 3;
		struct result_sample *sample =
			fixture_sample(result, side, phase, threads[t], round,
				       (kb_per_s[side] + 1024 * round) >> t);

		if (side)
			fixture_real_faults(sample, batch[side]);
		else
			fixture_counters(sample, 1);
	}
	/* A round that is unlike the others does not show; one fault in 1 GiB does. */
	result->samples[3].counters.major_faults = 1000;
	for (unsigned i = 6; i < 9; i++)
		result->samples[i].counters.minor_faults++;
	/* Half of it in huge pages, once unknown; a little short of all. */
	for (unsigned i = 15; i < 18; i++)
		result->samples[i].counters.pmd_mapped_bytes /= 2;
	result->samples[16].counters.pmd_mapped_bytes = UINT64_MAX;
	for (unsigned i = 24; i < 27; i++)
		result->samples[i].counters.pmd_mapped_bytes--;
	fixture_fail(&result->samples[13], "worker 1: No space left on device: /tmp/x");
	must(result_derive(result));
	return result;
}

static void test_happened(void)
{
	struct result *result = made_up_faults();
	char *text = printed(tables_per_thread, result);

	report_golden(tables_per_thread, result, "happened.txt");
	report_golden(report_header, result, "happened-header.txt");
	report_golden(report_csv, result, "happened.csv");
	ok(lines_are_tidy(text, 80), "what happened has 80 columns");
	ok(!strcasestr(text, "nan") && !strcasestr(text, "inf"), "and no NaN");
	free(text);
	text = printed(report_locks, result);
	ok(strstr(text, "baseline") && !strstr(text, "patched"),
	   "real page faults are not among the locks");
	free(text);
	/* Only void samples have them: no rows. */
	for (unsigned i = 0; i < result->nr_samples; i++)
		if (result->samples[i].side && !result->samples[i].failure)
			fixture_fail(&result->samples[i], "killed");
	must(result_derive(result));
	text = printed(tables_per_thread, result);
	ok(!strstr(text, "per GiB") && !strstr(text, "vmstat"),
	   "what a void sample saw is not shown");
	free(text);
	result_free(result);
}

/* No bytes, nothing known, and all that is too large. */
static void test_happened_extremes(void)
{
	static const unsigned threads[] = { 1, 2, 4 };
	struct result *result = fixture_empty(threads, 3, 1);
	struct result_counters *counters;
	struct result_sample *sample;
	char *text;

	must(result_add_side(result, "a-side-with-a-long-name", "kernel:dir=/"));
	must(result_add_side(result, "b\n", "kernel:dir=/"));
	must(result_add_phase(result, "reader", NULL));
	must(result_add_phase(result, "re-reader", NULL));
	/* Much, much for a byte, nothing for 0 bytes. */
	for (unsigned t = 0; t < 3; t++) {
		sample = fixture_sample(result, 0, 0, threads[t], 0, 123456789012);
		if (t)
			sample->bytes = 2 - t;
		result_sample_rates(sample);
		memset(&sample->counters, 0xff, sizeof(sample->counters));
		sample->counters.known = RESULT_FAULTS | RESULT_USAGE | RESULT_VMSTAT;
		sample->counters.pages_by_node = NULL;
		sample->counters.nr_nodes = 0;
		sample->counters.vmstat[RESULT_VMSTAT_pgfault] = UINT64_MAX - 1;
	}
	/* Without usage, without faults, and without any. */
	for (unsigned t = 0; t < 3; t++) {
		sample = fixture_sample(result, 1, 0, threads[t], 0, 1 << 20);
		counters = &sample->counters;
		counters->known = RESULT_VMSTAT | (t ? 0 : RESULT_FAULTS);
		counters->known |= t == 1 ? RESULT_USAGE : 0;
	}
	/* The page cache counts as minor only what it found. */
	sample = fixture_sample(result, 1, 1, 2, 0, 1 << 19);
	fixture_real_faults(sample, 1);
	sample->counters.minor_faults = 5;
	sample->counters.major_faults = 2;
	must(result_derive(result));
	text = printed(tables_per_thread, result);
	report_golden(tables_per_thread, result, "happened-extremes.txt");
	report_golden(report_csv, result, "happened-extremes.csv");
	ok(!strcasestr(text, "nan") && !strcasestr(text, "inf"), "no NaN, no infinity");
	ok(lines_are_tidy(text, 0), "no blanks at the ends of lines");
	free(text);
	result_free(result);
}

/* The columns of a table below @above, whose first cell ends at 25 and whose last
 * takes 11. */
static void test_columns_below(const struct table *above)
{
	static const struct table_layout layout = { .label = 1, .first = 1, .other = 1 };
	struct table table;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	table_init(&table, 3);
	table.above = above;
	table_row(&table, "a heading that is longer than the label's room");
	table_row(&table, "a:");
	table_cell(&table, 0, "1");
	table_cell(&table, 1, "222");
	table_cell(&table, 2, "3");
	if (!out || table_print(&table, &layout, out))
		bail("out of memory");
	fclose(out);
	if (!ok(!strcmp(text, "a heading that is longer than the label's room\n"
			      "a:                      1 222          3\n"),
		"columns below those of another table, and a heading over them"))
		printf("# got:\n%s", text);
	free(text);
	table_destroy(&table);
}

static void test_columns(void)
{
	static const struct table_layout layout = { .label = 16,
						    .first = 8,
						    .other = 10 };
	static const struct {
		const char *label, *cells[3], *line;
	} rows[] = {
		{ "a:",
		  { "1", "2", "3" },
		  "a:                     1         2         3\n" },
		{ "label-of-sixteen", { "1.2", "", NULL }, "label-of-sixteen     1.2\n" },
		{ "ü:",
		  { "ü", "-", "x" },
		  "ü:                     ü         -         x\n" },
		{ "",
		  { NULL, NULL, "x" },
		  "                                           x\n" },
		{ "short:",
		  { "12345678901234567", NULL, NULL },
		  "short: 12345678901234567\n" },
		{ "none", { NULL, NULL, NULL }, "none\n" },
	};
	char *text = NULL, wanted[512] = "";
	struct table table;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		bail("out of memory");
	table_init(&table, 3);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		table_row(&table, rows[i].label);
		for (unsigned c = 0; c < 3; c++)
			if (rows[i].cells[c])
				table_cell(&table, c, rows[i].cells[c]);
		strcat(wanted, rows[i].line);
	}
	ok(!table_print(&table, &layout, out), "print a table");
	fclose(out);
	if (!ok(!strcmp(text, wanted), "columns: wide labels and cells borrow room"))
		printf("# got:\n%s# wanted:\n%s", text, wanted);
	free(text);

	/* One digit more than fits, in the first column and in a later one. */
	table_row(&table, "short:");
	table_cell(&table, 0, "123456789012345678");
	table_cell(&table, 2, "1234567890");
	table_row(&table, "label-of-eighteen-");
	table_cell(&table, 0, "abcdef");
	out = open_memstream(&text, &len);
	if (!out || table_print(&table, &layout, out))
		bail("out of memory");
	fclose(out);
	ok(strstr(text, "\na:") == NULL &&
		   strncmp(text, "a:                      1         2          3\n",
			   47) == 0,
	   "columns grow, and all rows with them");
	ok(strstr(text, "\nshort: 123456789012345678           1234567890\n") != NULL &&
		   strstr(text, "\nlabel-of-eighteen- abcdef\n") != NULL,
	   "with at least one blank between");
	free(text);
	test_columns_below(&table);
	table_destroy(&table);
}

static void test_text(void)
{
	struct text text;

	ok(!strcmp(text_fixed(&text, 2.675, 2), "2.67"),
	   "as printf rounds, not of the decimal");
	ok(!strcmp(text_fixed(&text, NAN, 2), "-") &&
		   !strcmp(text_fixed(&text, -INFINITY, 0), "-"),
	   "not finite is -");
	ok(!strcmp(text_fixed(&text, 9e24, 0), "9000000000000000385875968"), "large");
	ok(!strcmp(text_exact(&text, 0.1), "0.1") &&
		   !strcmp(text_exact(&text, 1.0 / 3), "0.3333333333333333") &&
		   !strcmp(text_exact(&text, 1103360), "1103360"),
	   "no more digits than it takes");
	ok(!strcmp(text_bytes(&text, 1023), "1023 bytes") &&
		   !strcmp(text_bytes(&text, 1024), "1 KiB") &&
		   !strcmp(text_bytes(&text, 1536), "1.5 KiB") &&
		   !strcmp(text_bytes(&text, (1 << 20) - 1), "1.0 MiB") &&
		   !strcmp(text_bytes(&text, UINT64_MAX), "16.0 EiB"),
	   "bytes: %s", text.s);
	ok(!strcmp(text_count(&text, 1, "thread"), "1 thread") &&
		   !strcmp(text_count(&text, 0, "thread"), "0 threads"),
	   "one thread, no threads");
	ok(text_width("a\xc3\xbc\xe2\x82\xac") == 3, "characters, not bytes");
}

static void test_errors(void)
{
	static const report_fn reports[] = { report_header, tables_per_thread,
					     report_extremes, report_locks, report_csv };
	static const char *const names[] = { "header", "tables", "extremes", "locks",
					     "csv" };
	struct result *result = fixture_full();

	for (size_t i = 0; i < ARRAY_SIZE(reports); i++) {
		FILE *full = fopen("/dev/full", "r+e");

		ok(full && reports[i](result, full) == -ENOSPC,
		   "%s: a full disk is an error", names[i]);
		if (full)
			fclose(full);
	}
	result_free(result);
}

static void test_locale(void)
{
	struct result *result;

	if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
		skip("no locale de_DE.UTF-8", 7);
		return;
	}
	result = fixture_full();
	report_golden(report_header, result, "header.txt");
	report_golden(tables_per_thread, result, "tables.txt");
	report_golden(report_extremes, result, "extremes.txt");
	report_golden(report_locks, result, "locks.txt");
	report_golden(report_csv, result, "cells.csv");
	result_free(result);
	result = made_up_faults();
	report_golden(tables_per_thread, result, "happened.txt");
	report_golden(report_csv, result, "happened.csv");
	result_free(result);
	setlocale(LC_ALL, "C");
}

/* Of @count truncations of 1024 pages; times from 1000 * @us ns on, and some that took long. */
static struct result_sample *add_truncations(struct result *result, unsigned side,
					     unsigned threads, unsigned round,
					     uint64_t us, uint64_t acquisitions)
{
	struct result_sample *sample = result_add_sample(result, 0);
	uint64_t nr = 200 * threads, *ns = calloc(nr, sizeof(*ns));

	if (!sample || !ns)
		bail("out of memory");
	sample->side = side;
	sample->threads = threads;
	sample->round = round;
	sample->bytes = nr * 1024 * 4096;
	for (uint64_t i = 0; i < nr; i++) {
		ns[i] = 1000 * us + 10 * i + (i % 50 ? 0 : 50000 * us);
		sample->window_ns += ns[i] / threads;
	}
	must(result_times_set(&sample->times, ns, nr));
	if (acquisitions) {
		sample->counters.known = RESULT_LOCKS;
		sample->counters.tree.acquisitions = nr * acquisitions;
	}
	result_sample_rates(sample);
	return sample;
}

/* Three sides, one of them without locks, one with a failed run. */
static void test_truncations(void)
{
	static const unsigned threads[] = { 1, 4 };
	struct result *result = fixture_empty(threads, 2, 5);
	struct result_parameters *parameters = &result->parameters;
	char *text;

	fixture_environment(result);
	parameters->bytes = 4 << 20;
	parameters->per_thread_size = true;
	parameters->record = 0;
	parameters->truncate_pages = 1024;
	parameters->truncate_count = 200;
	parameters->truncate_state = copied("dirty");
	parameters->truncate_mapped = copied("no");
	must(result_add_side(result, "baseline", "cache:batch=1,truncate-batch=1"));
	must(result_add_side(result, "patched", "cache:batch=512"));
	must(result_add_side(result, "patched2", "tmpfs:huge=never"));
	must(result_add_phase(result, "truncate", NULL));
	for (unsigned round = 0; round < 5; round++) {
		for (unsigned t = 0; t < 2; t++) {
			unsigned nr = threads[t];

			add_truncations(result, 0, nr, round, 248 + round, 1024);
			add_truncations(result, 1, nr, round, 2, 2);
			add_truncations(result, 2, nr, round, 209 - round, 0);
		}
	}
	fixture_fail(&result->samples[result->nr_samples - 1], "worker 3: it is full");
	must(result_derive(result));
	report_golden(report_header, result, "truncations-header.txt");
	report_golden(report_truncations, result, "truncations.txt");
	report_golden(report_truncations_csv, result, "truncations.csv");
	text = printed(report_truncations, result);
	ok(lines_are_tidy(text, 80), "truncations fit 80 columns");
	free(text);
	ok(fabs(result_speedup(result, 2, 0, 1)->ratio -
		result_cell(result, 2, 0, 1)->kb_per_s /
			result_cell(result, 0, 0, 1)->kb_per_s) < 0.2,
	   "the ratio of medians goes the way of the throughput");
	result_free(result);
}

/* The numbers of rounds are a file's own. */
static void test_sparse_runs(void)
{
	static const unsigned threads[] = { 1 };
	struct result *result = fixture_empty(threads, 1, 2);
	unsigned rows = 0;
	char *text;

	must(result_add_side(result, "run", "cache:batch=1"));
	must(result_add_phase(result, "truncate", NULL));
	add_truncations(result, 0, 1, 999999, 250, 1024);
	add_truncations(result, 0, 1, 6, 250, 1024);
	must(result_derive(result));
	text = printed(report_truncations, result);
	for (const char *at = text; *at; at++)
		rows += *at == '\n' && at[1] >= '0' && at[1] <= '9';
	ok(rows == 2 && strstr(text, "\n7 ") && strstr(text, "\n1000000 "),
	   "a row for each run there is, under its own number");
	free(text);
	result_free(result);
}

int main(void)
{
	test_reference();
	test_full();
	test_wide();
	test_run();
	test_happened();
	test_happened_extremes();
	test_columns();
	test_text();
	test_errors();
	test_locale();
	test_truncations();
	test_sparse_runs();
	return done();
}
