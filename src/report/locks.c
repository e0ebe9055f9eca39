/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the batch changed: faults and locks for each page of data. */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "report/table.h"
#include "report/text.h"

/* Two groups of three columns in 80. */
static const struct table_layout layout = { .label = 16, .first = 8, .other = 9 };

enum event { EVENT_FAULT, EVENT_MMAP, EVENT_TREE, EVENT_ZONE, EVENT_LRU, NR_EVENTS };
static const char *const event_names[NR_EVENTS] = { "faults", "mmap", "tree", "zone",
						    "lru" };

/* Initial writers insert pages; the other phases find them. */
enum group { GROUP_INITIAL, GROUP_OTHER, NR_GROUPS };
enum column { COLUMN_EVENTS, COLUMN_CONTENDED, COLUMN_WAIT, NR_COLUMNS };

/* Of one side and group: doubles, as sums of a hostile file may exceed 64 bits. */
struct sums {
	double pages;
	double events[NR_EVENTS], contended[NR_EVENTS], wait_ns[NR_EVENTS];
};

static void sums_add_lock(struct sums *sums, enum event event,
			  const struct result_lock *lock)
{
	sums->events[event] += (double)lock->acquisitions;
	sums->contended[event] += (double)lock->contended;
	sums->wait_ns[event] += (double)lock->wait_ns;
}

static void sums_add(struct sums *sums, const struct result_sample *sample)
{
	const struct result_counters *counters = &sample->counters;

	sums->pages += (double)sample->bytes / PAGE_SIZE;
	sums->events[EVENT_FAULT] += (double)counters->faults;
	sums_add_lock(sums, EVENT_MMAP, &counters->mmap);
	sums_add_lock(sums, EVENT_TREE, &counters->tree);
	sums_add_lock(sums, EVENT_ZONE, &counters->zone);
	sums_add_lock(sums, EVENT_LRU, &counters->lru);
}

static void put_group(struct table *table, enum group group, enum event event,
		      const struct sums *sums)
{
	unsigned column = group * NR_COLUMNS;
	struct text text;
	char *share;

	if (!(sums->pages > 0)) {
		table_cell(table, column + COLUMN_EVENTS, "-");
		return;
	}
	table_cell(table, column + COLUMN_EVENTS,
		   text_rate(&text, sums->events[event] / sums->pages));
	if (event == EVENT_FAULT || !(sums->events[event] > 0))
		return;
	text_fixed(&text, 100 * sums->contended[event] / sums->events[event], 2);
	if (asprintf(&share, "%s %%", text.s) < 0) {
		table->failed = true;
		return;
	}
	table_cell(table, column + COLUMN_CONTENDED, share);
	free(share);
	table_cell(table, column + COLUMN_WAIT,
		   text_fixed(&text, sums->wait_ns[event] / sums->pages, 1));
}

static void put_row(struct table *table, const struct result *result, unsigned side,
		    enum event event, const struct sums *sums)
{
	char *label;

	if (asprintf(&label, "%-6s %s", event_names[event], result->sides[side].name) <
	    0) {
		table->failed = true;
		return;
	}
	table_row(table, label);
	free(label);
	for (enum group group = 0; group < NR_GROUPS; group++)
		put_group(table, group, event, &sums[group]);
}

static void put_headings(struct table *table)
{
	static const char *const groups[NR_GROUPS] = { "initial-writer", "other phases" };

	table_row(table, "");
	for (enum group group = 0; group < NR_GROUPS; group++)
		table_cell(table, group * NR_COLUMNS + COLUMN_CONTENDED, groups[group]);
	table_row(table, "");
	for (enum group group = 0; group < NR_GROUPS; group++) {
		table_cell(table, group * NR_COLUMNS + COLUMN_EVENTS, "events");
		table_cell(table, group * NR_COLUMNS + COLUMN_CONTENDED, "contended");
		table_cell(table, group * NR_COLUMNS + COLUMN_WAIT, "wait ns");
	}
}

static bool side_counts(const struct sums *sums)
{
	return sums[GROUP_INITIAL].pages > 0 || sums[GROUP_OTHER].pages > 0;
}

int report_locks(const struct result *result, FILE *out)
{
	struct sums(*sums)[NR_GROUPS];
	struct table table;
	bool any = false;
	int err;

	errno = 0;
	sums = calloc(result->nr_sides + 1, sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	for (unsigned i = 0; i < result->nr_samples; i++) {
		const struct result_sample *sample = &result->samples[i];
		const char *phase = result->phases[sample->phase].name;
		enum group group = GROUP_OTHER;

		if (!strcmp(phase, "initial-writer"))
			group = GROUP_INITIAL;
		if ((sample->counters.known & RESULT_LOCKS) &&
		    !result_sample_is_void(sample))
			sums_add(&sums[sample->side][group], sample);
	}
	table_init(&table, NR_GROUPS * NR_COLUMNS);
	put_headings(&table);
	for (enum event event = 0; event < NR_EVENTS; event++) {
		for (unsigned side = 0; side < result->nr_sides; side++) {
			if (!side_counts(sums[side]))
				continue;
			put_row(&table, result, side, event, sums[side]);
			any = true;
		}
	}
	err = 0;
	if (any) {
		fputs("\n** Faults and locks, for each page of 4 KiB moved **\n", out);
		err = table_print(&table, &layout, out);
	}
	table_destroy(&table);
	free(sums);
	return err ? err : text_finish(out);
}
