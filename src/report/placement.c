/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where pages and workers were found, in a few lines below the tables. */
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/text.h"

/* A share of pages or workers, of one side or of all: in samples, and where it is least. */
struct share {
	double part, whole; /* sums */
	double least, most; /* of a sample, in percent */
	const struct result_sample *where_least;
};

enum kind { KIND_LOCAL, KIND_ASKED, KIND_CPUS, NR_KINDS };

static void share_add(struct share *share, const struct result_sample *sample,
		      double part, double whole)
{
	double percent = part / whole * 100;

	if (!(whole > 0))
		return;
	if (!share->where_least || percent < share->least) {
		share->least = percent;
		share->where_least = sample;
	}
	if (percent > share->most)
		share->most = percent;
	share->part += part;
	share->whole += whole;
}

/* The loops of pinned workers, and those that began and ended where they should. */
static void add_cpus(struct share *share, const struct result_sample *sample)
{
	double planned = 0, good = 0;

	for (unsigned i = 0; i < sample->nr_workers; i++) {
		const struct result_worker *worker = &sample->workers[i];

		if (worker->cpu < 0 || worker->cpu_start < 0 || worker->cpu_end < 0)
			continue;
		planned++;
		good += worker->cpu_start == worker->cpu &&
			worker->cpu_end == worker->cpu;
	}
	share_add(share, sample, good, planned);
}

static void shares_add(struct share shares[NR_KINDS], const struct result_sample *sample)
{
	const struct result_counters *counters = &sample->counters;
	double sampled = (double)counters->pages_sampled;

	if (counters->known & RESULT_PLACEMENT) {
		share_add(&shares[KIND_LOCAL], sample, (double)counters->pages_local,
			  sampled);
		if (counters->known & RESULT_ASKED)
			share_add(&shares[KIND_ASKED], sample,
				  (double)counters->pages_as_asked, sampled);
	}
	add_cpus(&shares[KIND_CPUS], sample);
}

/* Rounded down, with a decimal unless it is 0: 100 is all of it. */
static const char *text_percent(struct text *text, double percent)
{
	size_t len = strlen(text_fixed(text, floor(percent * 10) / 10, 1));

	if (len > 2 && !strcmp(&text->s[len - 2], ".0"))
		text->s[len - 2] = '\0';
	return text->s;
}

/* "25 %", or "24.1 to 25 % (least: reader, -t 8)". */
static void put_share(FILE *line, const struct result *result, const struct share *share)
{
	struct text least, most;

	text_percent(&least, share->least);
	text_percent(&most, share->most);
	if (!strcmp(least.s, most.s)) {
		fprintf(line, "%s %%", least.s);
		return;
	}
	fprintf(line, "%s to %s %% (least: ", least.s, most.s);
	text_put(line, result->phases[share->where_least->phase].name);
	fprintf(line, ", -t %u)", share->where_least->threads);
}

/* Of all sides at once where each has one, and the same share in all samples. */
static bool is_one_share(const struct share (*shares)[NR_KINDS], unsigned nr,
			 enum kind kind)
{
	for (unsigned i = 0; i < nr; i++) {
		const struct share *share = &shares[i][kind];

		if (!(share->whole > 0) || share->least < share->most ||
		    share->least < shares[0][kind].least ||
		    share->least > shares[0][kind].least)
			return false;
	}
	return true;
}

/* "pages local: 100 % of 4096 looked at"; nothing where no side has any. */
static void put_kind(FILE *line, const struct result *result,
		     const struct share (*shares)[NR_KINDS], enum kind kind,
		     const char *name, const char *of, const char *of_one)
{
	const char *separator = "";
	double whole = 0;
	struct text text;

	for (unsigned i = 0; i < result->nr_sides; i++)
		whole += shares[i][kind].whole;
	if (!(whole > 0))
		return;
	fprintf(line, "%s: ", name);
	if (is_one_share(shares, result->nr_sides, kind)) {
		put_share(line, result, &shares[0][kind]);
	} else {
		for (unsigned i = 0; i < result->nr_sides; i++) {
			if (!(shares[i][kind].whole > 0))
				continue;
			fputs(separator, line);
			text_put(line, result->sides[i].name);
			putc(' ', line);
			put_share(line, result, &shares[i][kind]);
			separator = ", ";
		}
	}
	fprintf(line, " of %s %s\n", text_fixed(&text, whole, 0),
		whole > 1 ? of : of_one);
}

/* Of all samples together; those of a file may be any number of nodes, and large. */
struct nodes {
	struct node {
		unsigned nid;
		double pages;
	} * nodes;
	unsigned nr;
	double sum;
};

static int nodes_add(struct nodes *nodes, const struct result_node_pages *pages)
{
	struct node *grown;

	nodes->sum += (double)pages->pages;
	for (unsigned i = 0; i < nodes->nr; i++) {
		if (nodes->nodes[i].nid == pages->node) {
			nodes->nodes[i].pages += (double)pages->pages;
			return 0;
		}
	}
	grown = reallocarray(nodes->nodes, nodes->nr + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	nodes->nodes = grown;
	grown[nodes->nr++] = (struct node){ pages->node, (double)pages->pages };
	return 0;
}

static int compare_nodes(const void *left, const void *right)
{
	unsigned a = ((const struct node *)left)->nid;
	unsigned b = ((const struct node *)right)->nid;

	return a < b ? -1 : a > b;
}

/* "pages by node: baseline 25.0 % on 0, 75.0 % on 1" */
static int put_nodes(FILE *line, const struct result *result, unsigned side)
{
	struct nodes nodes = { .nr = 0 };
	int err = 0;

	for (unsigned i = 0; i < result->nr_samples && !err; i++) {
		const struct result_sample *sample = &result->samples[i];

		if (sample->side != side || result_sample_is_void(sample))
			continue;
		for (unsigned n = 0; n < sample->counters.nr_nodes && !err; n++)
			err = nodes_add(&nodes, &sample->counters.pages_by_node[n]);
	}
	if (!err && nodes.nr) {
		qsort(nodes.nodes, nodes.nr, sizeof(*nodes.nodes), compare_nodes);
		fputs("pages by node: ", line);
		text_put(line, result->sides[side].name);
		putc(' ', line);
		for (unsigned i = 0; i < nodes.nr; i++) {
			struct text text;

			fprintf(line, "%s%s %% on %u", i ? ", " : "",
				text_fixed(&text, nodes.nodes[i].pages / nodes.sum * 100,
					   1),
				nodes.nodes[i].nid);
		}
		putc('\n', line);
	}
	free(nodes.nodes);
	return err;
}

/* All lines, one after the other. */
static int put_lines(FILE *lines, const struct result *result,
		     const struct share (*shares)[NR_KINDS])
{
	bool asked = false;
	int err = 0;

	for (unsigned i = 0; i < result->nr_sides; i++)
		asked |= shares[i][KIND_ASKED].part < shares[i][KIND_LOCAL].part ||
			 shares[i][KIND_ASKED].part > shares[i][KIND_LOCAL].part;
	put_kind(lines, result, shares, KIND_LOCAL, "pages local", "looked at",
		 "looked at");
	/* What was asked for is local memory, or nothing: no second line. */
	if (asked)
		put_kind(lines, result, shares, KIND_ASKED, "pages as asked", "looked at",
			 "looked at");
	/* Nor where they lie, when each is where its worker is. */
	for (unsigned i = 0; i < result->nr_sides && !err; i++)
		if (shares[i][KIND_LOCAL].part < shares[i][KIND_LOCAL].whole)
			err = put_nodes(lines, result, i);
	put_kind(lines, result, shares, KIND_CPUS, "on the planned CPU",
		 "workers' loops, at start and end", "worker's loop, at start and end");
	return err;
}

char *report_placement_lines(const struct result *result)
{
	struct share(*shares)[NR_KINDS] = calloc(result->nr_sides + 1, sizeof(*shares));
	char *text = NULL;
	size_t len = 0;
	FILE *lines = open_memstream(&text, &len);
	int err = 0;

	for (unsigned i = 0; shares && i < result->nr_samples; i++)
		if (!result_sample_is_void(&result->samples[i]))
			shares_add(shares[result->samples[i].side], &result->samples[i]);
	if (shares && lines)
		err = put_lines(lines, result, (const struct share(*)[NR_KINDS])shares);
	if (lines)
		err |= ferror(lines);
	/* glibc's fclose may succeed without memory for the text. */
	if (!shares || !lines || fclose(lines) || err) {
		free(text);
		text = NULL;
	}
	free(shares);
	return text;
}

int report_placement(const struct result *result, FILE *out)
{
	char *lines = report_placement_lines(result), *save, *line;

	errno = 0;
	if (!lines)
		return -ENOMEM;
	if (*lines)
		putc('\n', out);
	for (line = strtok_r(lines, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		text_wrap(out, line, 0, 4);
	free(lines);
	return text_finish(out);
}
