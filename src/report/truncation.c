/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Truncations: how long they took, run by run, as Jan Kara posted it in 2017. */
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/bits.h"
#include "report/csv.h"
#include "report/table.h"
#include "report/text.h"
#include "stats/stats.h"

/* tree_lock a page:     baseline   patched */
static const struct table_layout layout = { .label = 18, .first = 10, .other = 11 };

/* What one sample comes to. Times in us. NAN: unknown, or all when it is void. */
enum figure {
	FIGURE_MIN,
	FIGURE_P1,
	FIGURE_P25,
	FIGURE_MEDIAN,
	FIGURE_P75,
	FIGURE_P95,
	FIGURE_MAX,
	FIGURE_MEAN,
	FIGURE_NS_PER_PAGE, /* of the median */
	FIGURE_TREE_LOCK,   /* acquisitions per page */
	NR_FIGURES
};

struct figures {
	double of[NR_FIGURES];
};

static double tree_lock_per_page(const struct result_sample *sample)
{
	if (!(sample->counters.known & RESULT_LOCKS) || !sample->bytes)
		return NAN;
	return (double)sample->counters.tree.acquisitions /
	       ((double)sample->bytes / PAGE_SIZE);
}

/* 0 or -ENOMEM. */
static int figures_of(const struct result_sample *sample, struct figures *figures)
{
	static const double fractions[] = { 0.01, 0.25, 0.5, 0.75, 0.95 };
	const struct result_times *times = &sample->times;
	double ns[ARRAY_SIZE(fractions)], pages;
	int err;

	for (unsigned i = 0; i < NR_FIGURES; i++)
		figures->of[i] = NAN;
	if (result_sample_is_void(sample) || !times->nr)
		return 0;
	err = result_times_quantiles(times, fractions, ARRAY_SIZE(fractions), ns);
	if (err)
		return err;
	for (unsigned i = 0; i < ARRAY_SIZE(fractions); i++)
		figures->of[FIGURE_P1 + i] = ns[i] / 1e3;
	figures->of[FIGURE_MIN] = (double)times->min_ns / 1e3;
	figures->of[FIGURE_MAX] = (double)times->max_ns / 1e3;
	figures->of[FIGURE_MEAN] = times->mean_ns / 1e3;
	pages = (double)sample->bytes / PAGE_SIZE / (double)times->nr;
	figures->of[FIGURE_NS_PER_PAGE] = ns[2] / pages;
	figures->of[FIGURE_TREE_LOCK] = tree_lock_per_page(sample);
	return 0;
}

/* One thread count: a table. */
struct block {
	const struct result *result;
	unsigned phase, threads;
	unsigned *runs, nr_runs; /* the rounds that there are, ascending */
	unsigned nr_patched;	 /* sides that have speed-ups */
	struct figures *figures; /* [nr_sides][nr_runs] */
	double *scratch;	 /* [nr_runs] */
};

static struct figures *block_figures(const struct block *block, unsigned side,
				     unsigned run)
{
	return &block->figures[(size_t)side * block->nr_runs + run];
}

static bool block_has(const struct block *block, const struct result_sample *sample)
{
	return sample->phase == block->phase && sample->threads == block->threads;
}

/* Rounds may have any numbers: that of a file's only one may be a million. */
static int block_find_runs(struct block *block)
{
	const struct result *result = block->result;
	unsigned nr = 0;

	block->runs = calloc((size_t)result->nr_samples + 1, sizeof(*block->runs));
	if (!block->runs)
		return -ENOMEM;
	for (unsigned i = 0; i < result->nr_samples; i++)
		if (block_has(block, &result->samples[i]))
			block->runs[nr++] = result->samples[i].round;
	qsort(block->runs, nr, sizeof(*block->runs), compare_unsigned);
	for (unsigned i = 0; i < nr; i++)
		if (!i || block->runs[i] != block->runs[block->nr_runs - 1])
			block->runs[block->nr_runs++] = block->runs[i];
	return 0;
}

static unsigned block_run(const struct block *block, unsigned round)
{
	const unsigned *run = bsearch(&round, block->runs, block->nr_runs,
				      sizeof(*block->runs), compare_unsigned);

	return (unsigned)(run - block->runs);
}

static int block_init(struct block *block)
{
	const struct result *result = block->result;
	size_t nr;
	int err = block_find_runs(block);

	if (err)
		return err;
	for (unsigned side = 0; side < result->nr_sides; side++)
		block->nr_patched += result_speedup(result, side, block->phase,
						    block->threads) != NULL;
	nr = (size_t)result->nr_sides * block->nr_runs;
	block->figures = calloc(nr + 1, sizeof(*block->figures));
	block->scratch = calloc(block->nr_runs + 1, sizeof(*block->scratch));
	if (!block->figures || !block->scratch)
		return -ENOMEM;
	for (size_t i = 0; i < nr * NR_FIGURES; i++)
		block->figures[i / NR_FIGURES].of[i % NR_FIGURES] = NAN;
	for (unsigned i = 0; i < result->nr_samples && !err; i++) {
		const struct result_sample *sample = &result->samples[i];

		if (block_has(block, sample))
			err = figures_of(sample,
					 block_figures(block, sample->side,
						       block_run(block, sample->round)));
	}
	return err;
}

static void block_destroy(struct block *block)
{
	free(block->runs);
	free(block->figures);
	free(block->scratch);
}

/* Over the good runs of a side; NAN: there are none, or its cell is void. */
static int block_summary(const struct block *block, unsigned side, enum figure figure,
			 struct summary *summary)
{
	const struct result_cell *cell =
		result_cell(block->result, side, block->phase, block->threads);
	unsigned nr = 0;

	*summary = (struct summary){ .median = NAN, .min = NAN, .mean = NAN };
	for (unsigned run = 0; run < block->nr_runs; run++) {
		block->scratch[nr] = block_figures(block, side, run)->of[figure];
		nr += isfinite(block->scratch[nr]) != 0;
	}
	if (!nr || !cell || cell->is_void)
		return 0;
	return summary_compute(summary, block->scratch, nr);
}

/* Three digits at least. */
static const char *text_us(struct text *text, double us)
{
	return text_fixed(text, us, us < 1 ? 3 : us < 10 ? 2 : us < 100 ? 1 : 0);
}

static void put_range(struct table *table, unsigned column, double low, double high)
{
	struct text from, to;
	char *range;

	if (!isfinite(low) || !isfinite(high)) {
		table_cell(table, column, "-");
		return;
	}
	if (asprintf(&range, "%s-%s", text_us(&from, low), text_us(&to, high)) < 0) {
		table->failed = true;
		return;
	}
	table_cell(table, column, range);
	free(range);
}

static void put_headings(struct table *table, const struct block *block)
{
	const struct result *result = block->result;
	unsigned column = result->nr_sides;

	table_row(table, "p1-p95 of run");
	for (unsigned side = 0; side < result->nr_sides; side++)
		table_cell(table, side, result->sides[side].name);
	for (unsigned i = 0; i < block->nr_patched; i++)
		table_cell(table, column + i, "speed-up");
}

static void put_runs(struct table *table, const struct block *block)
{
	const struct result *result = block->result;

	for (unsigned run = 0; run < block->nr_runs; run++) {
		unsigned column = result->nr_sides;
		double base = block_figures(block, 0, run)->of[FIGURE_MEDIAN];
		struct text text;

		table_row(table, text_fixed(&text, block->runs[run] + 1., 0));
		for (unsigned side = 0; side < result->nr_sides; side++) {
			const struct figures *figures = block_figures(block, side, run);

			put_range(table, side, figures->of[FIGURE_P1],
				  figures->of[FIGURE_P95]);
			if (!result_speedup(result, side, block->phase, block->threads))
				continue;
			text_fixed(&text, base / figures->of[FIGURE_MEDIAN], 2);
			table_cell(table, column++, text.s);
		}
	}
}

enum summary_of { SUMMARY_MIN, SUMMARY_MEDIAN, SUMMARY_MEAN };

/* One figure of each side, over the runs. */
static int put_summary(struct table *table, const struct block *block, const char *label,
		       enum figure figure, enum summary_of of,
		       const char *(*format)(struct text *text, double value))
{
	int err = 0;

	table_row(table, label);
	for (unsigned side = 0; side < block->result->nr_sides && !err; side++) {
		struct summary summary;
		struct text text;

		err = block_summary(block, side, figure, &summary);
		if (!err)
			table_cell(table, side,
				   format(&text, of == SUMMARY_MIN    ? summary.min :
						 of == SUMMARY_MEDIAN ? summary.median :
									summary.mean));
	}
	return err;
}

static const char *text_us_finer(struct text *text, double us)
{
	return text_fixed(text, us, us < 10 ? 3 : us < 100 ? 2 : 1);
}

static const char *text_ns(struct text *text, double ns)
{
	return text_fixed(text, ns, ns < 100 ? 2 : 1);
}

static const char *text_locks(struct text *text, double locks)
{
	return isfinite(locks) ? text_rate(text, locks) : "-";
}

static int put_quartiles(struct table *table, const struct block *block)
{
	int err = 0;

	table_row(table, "quartiles");
	for (unsigned side = 0; side < block->result->nr_sides && !err; side++) {
		struct summary low, high;

		err = block_summary(block, side, FIGURE_P25, &low);
		if (!err)
			err = block_summary(block, side, FIGURE_P75, &high);
		if (!err)
			put_range(table, side, low.median, high.median);
	}
	return err;
}

static void put_speedups(struct table *table, const struct block *block)
{
	const struct result *result = block->result;

	table_row(table, "speed-up(times)");
	for (unsigned side = 0; side < result->nr_sides; side++) {
		const struct result_speedup *speedup =
			result_speedup(result, side, block->phase, block->threads);
		struct text text;

		if (speedup)
			table_cell(table, side, text_fixed(&text, speedup->ratio, 2));
	}
	/* See interval_median(). */
	table_row(table,
		  block->nr_runs < INTERVAL_ENOUGH ? "range of runs" : "95 % interval");
	for (unsigned side = 0; side < result->nr_sides; side++) {
		const struct result_speedup *speedup =
			result_speedup(result, side, block->phase, block->threads);
		struct text low, high;
		char *interval;

		if (!speedup)
			continue;
		if (!isfinite(speedup->low) || !isfinite(speedup->high)) {
			table_cell(table, side, "-");
			continue;
		}
		if (asprintf(&interval, "%s-%s", text_fixed(&low, speedup->low, 2),
			     text_fixed(&high, speedup->high, 2)) < 0) {
			table->failed = true;
			return;
		}
		table_cell(table, side, interval);
		free(interval);
	}
}

/* In the column of the first side that is compared, which it is to be held against. */
static void put_published(struct table *table, const struct block *block)
{
	const struct result *result = block->result;
	unsigned side = 0;
	struct text text;

	while (side + 1 < result->nr_sides &&
	       !result_speedup(result, side, block->phase, block->threads))
		side++;
	text_fixed(&text, result_published(result, block->phase, block->threads), 2);
	table_row(table, "published:");
	table_cell(table, side, text.s);
}

static bool any_locks(const struct block *block)
{
	for (size_t i = 0; i < (size_t)block->result->nr_sides * block->nr_runs; i++)
		if (isfinite(block->figures[i].of[FIGURE_TREE_LOCK]))
			return true;
	return false;
}

static int put_block(struct block *block, FILE *out)
{
	struct text text;
	struct table table;
	int err = block_init(block);

	if (err)
		return err;
	table_init(&table, block->result->nr_sides + block->nr_patched);
	put_headings(&table, block);
	put_runs(&table, block);
	err = put_summary(&table, block, "minimum", FIGURE_MIN, SUMMARY_MIN,
			  text_us_finer);
	if (!err)
		err = put_quartiles(&table, block);
	if (!err)
		err = put_summary(&table, block, "median", FIGURE_MEDIAN, SUMMARY_MEDIAN,
				  text_us_finer);
	if (!err)
		err = put_summary(&table, block, "mean", FIGURE_MEAN, SUMMARY_MEAN,
				  text_us_finer);
	if (!err)
		err = put_summary(&table, block, "ns a page", FIGURE_NS_PER_PAGE,
				  SUMMARY_MEDIAN, text_ns);
	if (!err && any_locks(block))
		err = put_summary(&table, block, "tree_lock a page", FIGURE_TREE_LOCK,
				  SUMMARY_MEAN, text_locks);
	if (block->nr_patched)
		put_speedups(&table, block);
	if (block->result->reference)
		put_published(&table, block);
	fputs("** ", out);
	text_put(out, block->result->phases[block->phase].title);
	fprintf(out, ", %s **\n", text_count(&text, block->threads, "thread"));
	if (!err)
		err = table_print(&table, &layout, out);
	table_destroy(&table);
	return err;
}

int report_truncations(const struct result *result, FILE *out)
{
	unsigned *threads, nr_threads;
	bool first = true;
	int err;

	errno = 0;
	err = text_threads(result, &threads, &nr_threads);
	if (err)
		return err;
	for (unsigned phase = 0; !err && phase < result->nr_phases; phase++) {
		for (unsigned i = 0; !err && i < nr_threads; i++) {
			struct block block = { .result = result,
					       .phase = phase,
					       .threads = threads[i] };

			if (!first)
				putc('\n', out);
			first = false;
			err = put_block(&block, out);
			block_destroy(&block);
		}
	}
	free(threads);
	return err ? err : text_finish(out);
}

/* ---- for programs ---- */

static int put_sample(const struct result *result, const struct result_sample *sample,
		      FILE *out)
{
	const struct result_speedup *speedup =
		result_speedup(result, sample->side, sample->phase, sample->threads);
	struct figures figures;
	int err = figures_of(sample, &figures);

	if (err)
		return err;
	fprintf(out, "%u,%u,", sample->threads, sample->round + 1);
	csv_string(out, result->sides[sample->side].name);
	putc(',', out);
	csv_string(out, result->sides[sample->side].spec);
	fprintf(out, ",%llu", (unsigned long long)sample->times.nr);
	for (unsigned i = 0; i < NR_FIGURES; i++)
		csv_number(out, figures.of[i]);
	csv_number(out, speedup ? speedup->ratio : NAN);
	csv_number(out, speedup ? speedup->low : NAN);
	csv_number(out, speedup ? speedup->high : NAN);
	putc('\n', out);
	return 0;
}

int report_truncations_csv(const struct result *result, FILE *out)
{
	int err = 0;

	errno = 0;
	fputs("threads,run,side,spec,truncations,min_us,p1_us,p25_us,median_us,p75_us,p95_us,"
	      "max_us,mean_us,ns_per_page,tree_lock_per_page,speedup,speedup_low,"
	      "speedup_high\n",
	      out);
	for (unsigned i = 0; i < result->nr_samples && !err; i++)
		err = put_sample(result, &result->samples[i], out);
	return err ? err : text_finish(out);
}
