/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where pages and workers were: in files, and below the tables. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bits.h"
#include "fixture.h"
#include "report/report.h"

static void set_nodes(struct result_counters *counters, const uint64_t *pages,
		      unsigned nr)
{
	counters->pages_by_node = calloc(nr, sizeof(*counters->pages_by_node));
	if (!counters->pages_by_node)
		bail("out of memory");
	counters->known |= RESULT_PLACEMENT;
	counters->pages_sampled = 0;
	for (unsigned i = 0; i < nr; i++) {
		counters->pages_sampled += pages[i];
		if (pages[i])
			counters->pages_by_node[counters->nr_nodes++] =
				(struct result_node_pages){ i, pages[i] };
	}
}

/* Two sides, a phase, two thread counts; workers planned on, and seen on, CPU i. */
static struct result *make(const uint64_t (*pages)[4], const uint64_t *local,
			   const uint64_t *asked)
{
	static const unsigned threads[] = { 1, 2 };
	struct result *result = fixture_empty(threads, 2, 1);

	must(result_add_side(result, "baseline", "cache:batch=1"));
	must(result_add_side(result, "patched", "cache:batch=512"));
	must(result_add_phase(result, "reader", NULL));
	for (unsigned n = 0; n < 4; n++) {
		struct result_sample *sample = result_add_sample(result, threads[n / 2]);

		if (!sample)
			bail("out of memory");
		sample->side = n % 2;
		sample->threads = threads[n / 2];
		sample->window_ns = sample->bytes = 4096;
		for (unsigned w = 0; w < sample->threads; w++)
			sample->workers[w] = (struct result_worker){ .cpu = (int)w,
								     .cpu_start = (int)w,
								     .cpu_end = (int)w };
		if (pages)
			set_nodes(&sample->counters, pages[n], 4);
		sample->counters.pages_local = local ? local[n] : 0;
		if (asked) {
			sample->counters.known |= RESULT_ASKED;
			sample->counters.pages_as_asked = asked[n];
		}
		result_sample_rates(sample);
	}
	must(result_derive(result));
	return result;
}

static void is_said(struct result *result, const char *wanted, const char *name)
{
	char *lines = report_placement_lines(result);

	ok(lines && !strcmp(lines, wanted), "%s:\n%s", name, lines);
	free(lines);
	result_free(result);
}

static const uint64_t one_node[][4] = { { 512 }, { 512 }, { 1024 }, { 1024 } };
static const uint64_t four[][4] = { { 10, 10, 10, 10 },
				    { 40 },
				    { 20, 20, 20, 20 },
				    { 70, 10 } };
static const uint64_t all[] = { 512, 512, 1024, 1024 }, none[] = { 0, 0, 0, 0 };

static void said(void)
{
	static const uint64_t quarter[] = { 10, 10, 20, 20 },
			      forty[] = { 40, 40, 80, 80 };
	static const uint64_t large[][4] = { { 512 }, { 512 }, { 1024 }, { 8192 } };
	static const uint64_t nearly[] = { 512, 512, 1024, 8191 };
	struct result *result;

	is_said(make(one_node, all, all),
		"pages local: 100 % of 3072 looked at\n"
		"on the planned CPU: 100 % of 6 workers' loops, at start and end\n",
		"one node");
	is_said(make(large, nearly, nearly),
		"pages local: baseline 100 %, patched 99.9 to 100 % (least: reader, -t 2) "
		"of 10240 looked at\n"
		"pages by node: patched 100.0 % on 0\n"
		"on the planned CPU: 100 % of 6 workers' loops, at start and end\n",
		"all pages but one are not 100 %");
	is_said(make(four, quarter, forty),
		"pages local: 25 % of 240 looked at\n"
		"pages as asked: 100 % of 240 looked at\n"
		"pages by node: baseline 25.0 % on 0, 25.0 % on 1, 25.0 % on 2, 25.0 % on "
		"3\n"
		"pages by node: patched 91.7 % on 0, 8.3 % on 1\n"
		"on the planned CPU: 100 % of 6 workers' loops, at start and end\n",
		"interleaved");
	is_said(make(one_node, none, NULL),
		"pages local: 0 % of 3072 looked at\n"
		"pages by node: baseline 100.0 % on 0\n"
		"pages by node: patched 100.0 % on 0\n"
		"on the planned CPU: 100 % of 6 workers' loops, at start and end\n",
		"nothing was asked for");

	result = make(one_node, all, all);
	result->samples[3].workers[1].cpu_end = 5;
	is_said(result,
		"pages local: 100 % of 3072 looked at\n"
		"on the planned CPU: baseline 100 %, patched 50 to 100 % (least: reader, "
		"-t 2) of 6 workers' loops, at start and end\n",
		"a worker elsewhere");
	result = make(one_node, all, all);
	for (unsigned i = 0; i < result->nr_samples; i++)
		for (unsigned w = 0; w < result->samples[i].nr_workers; w++)
			result->samples[i].workers[w].cpu = -1;
	is_said(result, "pages local: 100 % of 3072 looked at\n", "not pinned");
	result = make(one_node, all, all);
	fixture_fail(&result->samples[0], "void");
	fixture_fail(&result->samples[2], "void");
	is_said(result,
		"pages local: patched 100 % of 1536 looked at\n"
		"on the planned CPU: patched 100 % of 3 workers' loops, at start and end\n",
		"void samples are left out, and the side that has no others");
	result = make(one_node, none, NULL);
	result->sides[0].name[0] = '\n';
	result->sides[1].name[1] = '\033';
	is_said(result,
		"pages local: 0 % of 3072 looked at\n"
		"pages by node: ?aseline 100.0 % on 0\n"
		"pages by node: p?tched 100.0 % on 0\n"
		"on the planned CPU: 100 % of 6 workers' loops, at start and end\n",
		"names of others' files do no harm");
	result = make(NULL, NULL, NULL);
	for (unsigned i = 0; i < result->nr_samples; i++)
		for (unsigned w = 0; w < result->samples[i].nr_workers; w++)
			result->samples[i].workers[w].cpu_start = -1;
	is_said(result, "", "nothing is known: nothing is said");
}

/* ---- files ---- */

static char path[] = "/tmp/pagezone-placement.XXXXXX";

static char *saved(const struct result *result)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out || result_write_json(result, out) || fclose(out))
		bail("cannot write");
	return text;
}

static int load(const char *text, struct result **result, struct reason *why)
{
	FILE *file = fopen(path, "we");

	*why = (struct reason){ "" };
	if (!file || fputs(text, file) == EOF || fclose(file))
		bail("cannot write %s", path);
	return result_load(result, path, why);
}

static void in_files(void)
{
	static const uint64_t quarter[] = { 10, 10, 20, 20 },
			      forty[] = { 40, 40, 80, 80 };
	struct result *result = make(four, quarter, forty), *loaded = NULL;
	char *first, *second;
	struct reason why;

	result->samples[0].workers[0].cpu_end = -1;
	first = saved(result);
	ok(!load(first, &loaded, &why), "placement is loaded %s", why.text);
	if (!loaded)
		bail("not loaded");
	second = saved(loaded);
	ok(!strcmp(first, second), "and comes back as it was");
	ok(loaded->samples[0].workers[0].cpu_start == 0 &&
		   loaded->samples[0].workers[0].cpu_end == -1 &&
		   loaded->samples[3].workers[1].cpu_end == 1,
	   "with CPUs, or that they are not known");
	ok(loaded->samples[3].counters.nr_nodes == 2 &&
		   loaded->samples[3].counters.pages_by_node[1].pages == 10,
	   "and with nodes");
	ok(!strstr(first, "\"cpu_end\":null") && !strstr(first, "\"cpu_end\": null"),
	   "what is not known has no key");
	free(first);
	free(second);
	result_free(result);
	result_free(loaded);

	/* As older versions wrote it, and when it was not checked. */
	result = make(NULL, NULL, NULL);
	for (unsigned i = 0; i < result->nr_samples; i++)
		for (unsigned w = 0; w < result->samples[i].nr_workers; w++)
			result->samples[i].workers[w].cpu_start =
				result->samples[i].workers[w].cpu_end = -1;
	first = saved(result);
	ok(!strstr(first, "\"pages_") && !strstr(first, "cpu_start"),
	   "not checked: no keys");
	loaded = NULL;
	ok(!load(first, &loaded, &why) && !loaded->samples[0].counters.known &&
		   loaded->samples[0].workers[0].cpu_start == -1,
	   "and without keys it is not known %s", why.text);
	free(first);
	result_free(result);
	result_free(loaded);
}

static void bad_files(void)
{
	static const struct {
		const char *counters, *why;
	} bad[] = {
		{ "\"pages_sampled\": 4, \"pages_local\": 5",
		  "samples[0].counters.pages_local are more than pages_sampled" },
		{ "\"pages_sampled\": 4, \"pages_as_asked\": 5",
		  "samples[0].counters.pages_as_asked are more than pages_sampled" },
		{ "\"pages_sampled\": -4", "samples[0].counters.pages_sampled is not" },
		{ "\"pages_sampled\": 4, \"pages_by_node\": 4",
		  "samples[0].counters.pages_by_node is not an array" },
		{ "\"pages_sampled\": 4, \"pages_by_node\": [4]",
		  "samples[0].counters.pages_by_node.node is not" },
		{ "\"pages_sampled\": 4, \"pages_by_node\": [{\"node\": 0}]",
		  "samples[0].counters.pages_by_node.pages is not" },
		{ "\"pages_sampled\": 4, \"pages_by_node\": [{\"node\": 0, \"pages\": 3}]",
		  "samples[0].counters.pages_by_node has fewer pages" },
		{ "\"pages_sampled\": 4, \"pages_by_node\": [{\"node\": 0, \"pages\": 5}]",
		  "samples[0].counters.pages_by_node has more pages" },
		{ "\"pages_sampled\": 4, \"pages_by_node\": [{\"node\": 1, \"pages\": 2}, "
		  "{\"node\": 0, \"pages\": 2}]",
		  "samples[0].counters.pages_by_node is not in the order" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct result *loaded = NULL;
		struct reason why;
		char text[1000];
		int err;

		snprintf(text, sizeof(text), FIXTURE_FILE("{%s}"), bad[i].counters);
		err = load(text, &loaded, &why);
		ok(err == -EINVAL && strstr(why.text, bad[i].why), "%s: %s",
		   bad[i].counters, why.text);
		if (!err)
			result_free(loaded);
	}
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		bail("no temporary file");
	close(fd);
	said();
	in_files();
	bad_files();
	unlink(path);
	return done();
}
