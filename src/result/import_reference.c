/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the tables that were published: installed data files, so that they are easily looked at. */
#include "result/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/parse.h"
#include "result/fields.h"

#define MAX_COLUMNS 5
#define MAX_RATE    UINT64_C(1000000000000) /* kB/s */
#define MAX_US	    1000000000

/*
 * Of truncations only the 1st and the 95th percentile were posted. The 101 times between
 * which they lie are evenly spread from the one to the other, as the other quantiles are
 * not known.
 */
#define NR_TIMES  101
#define INDEX_P1  1
#define INDEX_P95 95

struct importer {
	struct result *result;
	struct place place;
	unsigned line;
};

struct table {
	const char *name, *header, *baseline, *patched, *note;
	int (*row)(struct importer *in, char *const *columns);
};

static int line_error(struct importer *in, const char *what)
{
	return place_error(&in->place, -EINVAL, "line %u: %s", in->line, what);
}

/* phase,threads,baseline_kb_per_s,patched_kb_per_s,published_speedup: in windows of a second. */
static int row_2013(struct importer *in, char *const *columns)
{
	struct result *result = in->result;
	uint64_t threads, rate;
	int err = 0, phase;

	if (parse_uint(columns[1], 1, FIELD_MAX_THREADS, &threads))
		return line_error(in, "not a thread count");
	phase = result_find_phase(result, columns[0]);
	if (phase < 0) {
		if (result->nr_phases == FIELD_MAX_NAMES)
			return line_error(in, "too many phases");
		phase = (int)result->nr_phases;
		err = result_add_phase(result, columns[0], NULL);
	}
	if (!err)
		err = result_add_threads(result, (unsigned)threads);
	for (unsigned side = 0; !err && side < 2; side++) {
		struct result_sample *sample;

		if (parse_uint(columns[2 + side], 1, MAX_RATE, &rate))
			return line_error(in, "not a throughput");
		sample = result_add_sample(result, 0);
		if (!sample)
			return -ENOMEM;
		sample->side = side;
		sample->phase = (unsigned)phase;
		sample->threads = (unsigned)threads;
		sample->window_ns = 1000000000;
		sample->bytes = rate * threads * 1024;
		result_sample_rates(sample);
	}
	return err;
}

/* run,baseline_p1,baseline_p95,patched_p1,patched_p95: microseconds */
static int row_2017(struct importer *in, char *const *columns)
{
	struct result *result = in->result;
	uint64_t run, low, high;
	int err = 0;

	if (parse_uint(columns[0], 1, 10000, &run))
		return line_error(in, "not the number of a run");
	if (!result->nr_phases)
		err = result_add_phase(result, "truncate", NULL);
	if (!err)
		err = result_add_threads(result, 1);
	for (unsigned side = 0; !err && side < 2; side++) {
		struct result_sample *sample;
		uint64_t *ns;

		if (parse_uint(columns[1 + 2 * side], 1, MAX_US, &low) ||
		    parse_uint(columns[2 + 2 * side], low, MAX_US, &high))
			return line_error(in, "not the percentiles of a run");
		sample = result_add_sample(result, 0);
		ns = calloc(NR_TIMES, sizeof(*ns));
		if (!sample || !ns) {
			free(ns);
			return -ENOMEM;
		}
		sample->side = side;
		sample->threads = 1;
		sample->round = (unsigned)run - 1;
		for (uint64_t i = 0; i < NR_TIMES; i++) {
			uint64_t at = max_u64(min_u64(i, INDEX_P95), INDEX_P1) - INDEX_P1;

			ns[i] = low * 1000 +
				(high - low) * 1000 * at / (INDEX_P95 - INDEX_P1);
			sample->window_ns += ns[i];
		}
		sample->bytes = NR_TIMES * 1024 * PAGE_SIZE;
		result_sample_rates(sample);
		err = result_times_set(&sample->times, ns, NR_TIMES);
	}
	return err;
}

static const struct table tables[] = {
	{ "thp-page-cache-2013",
	  "phase,threads,baseline_kb_per_s,patched_kb_per_s,published_speedup",
	  "small pages (2013)", "huge pages (2013)",
	  "imported: the table of Kirill A. Shutemov's third RFC of the transparent-huge-page "
	  "page cache, linux-mm, 2013: iozone -B on 4 packages of 10 cores with 2 threads; one "
	  "round; bytes and window_ns are made from the rates (1 s)",
	  row_2013 },
	{ "batched-truncation-2017",
	  "run,baseline_p1,baseline_p95,patched_p1,patched_p95", "page by page (2017)",
	  "batched (2017)",
	  "imported: the figures of Jan Kara's batched truncation, linux-mm, 2017: 10000 "
	  "truncations of 1024 pages, ext4 on a RAM disk. Only the 1st and 95th percentile of "
	  "each run were posted, without a unit (taken for microseconds): all other times are "
	  "spread evenly between them",
	  row_2017 },
};

/* @line, without its end, into @columns. */
static int read_row(struct importer *in, const struct table *table, char *line)
{
	char *columns[MAX_COLUMNS];
	unsigned nr = 0;

	for (char *column; (column = strsep(&line, ","));) {
		if (nr == MAX_COLUMNS || !*column)
			return line_error(in, "not five columns");
		columns[nr++] = column;
	}
	return nr == MAX_COLUMNS ? table->row(in, columns) :
				   line_error(in, "not five columns");
}

static int read_table(struct importer *in, const struct table *table, FILE *file)
{
	char line[256];
	int err = 0;

	errno = 0;
	while (!err && fgets(line, sizeof(line), file)) {
		size_t len = strcspn(line, "\r\n");

		in->line++;
		if (!line[len])
			return line_error(in, "cut off");
		line[len] = '\0';
		if (in->line > 1)
			err = read_row(in, table, line);
		else if (strcmp(line, table->header) != 0)
			err = line_error(in, "not the header of this table");
	}
	if (!err && ferror(file))
		err = place_error(&in->place, errno ? -errno : -EIO, "%s",
				  strerror(errno ? errno : EIO));
	if (!err && !in->result->nr_samples)
		err = place_error(&in->place, -EINVAL, "has no rows");
	return err;
}

static int set_parameters(struct importer *in, const struct table *table)
{
	struct result_parameters *parameters = &in->result->parameters;

	for (unsigned i = 0; i < in->result->nr_samples; i++)
		if (in->result->samples[i].round >= parameters->rounds)
			parameters->rounds = in->result->samples[i].round + 1;
	if (table->row == row_2017) {
		parameters->truncate_pages = 1024;
		parameters->truncate_count = 10000;
		parameters->per_thread_size = true;
		parameters->bytes = 1024 * PAGE_SIZE;
	}
	parameters->layout = strdup("private");
	parameters->per = strdup("thread");
	return parameters->layout && parameters->per ? 0 : -ENOMEM;
}

static int import_table(struct importer *in, const struct table *table)
{
	FILE *file;
	int err = place_open(&in->place, &file);

	if (err)
		return err;
	err = result_add_side(in->result, "baseline", table->baseline);
	if (!err)
		err = result_add_side(in->result, "patched", table->patched);
	if (!err)
		err = read_table(in, table, file);
	fclose(file);
	if (!err)
		err = set_parameters(in, table);
	if (!err)
		err = result_warn(in->result, "%s", table->note) < 0 ? -ENOMEM : 0;
	if (err)
		return err;
	err = result_derive(in->result);
	return err == -EINVAL ? place_error(&in->place, err, "has a row twice") : err;
}

int import_reference(struct result **result, const char *name, const char *dir,
		     struct reason *why)
{
	struct importer in = { .place = { .why = why } };
	const struct table *table = NULL;
	char *path;
	int err;

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		if (!strcmp(tables[i].name, name))
			table = &tables[i];
	if (!table)
		return reason_set(
			why, -ENOENT,
			"there is no published table '%.60s'; there are %s and %s", name,
			tables[0].name, tables[1].name);
	if (asprintf(&path, "%s/%s.csv", dir, name) < 0)
		return reason_set(why, -ENOMEM, "%s", strerror(ENOMEM));
	in.place.path = path;
	in.result = result_alloc();
	err = in.result ? import_table(&in, table) : -ENOMEM;
	if (err == -ENOMEM)
		reason_set(why, err, "%s", strerror(ENOMEM));
	free(path);
	if (err)
		result_free(in.result);
	else
		*result = in.result;
	return err;
}
