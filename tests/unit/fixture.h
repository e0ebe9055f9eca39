/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results for tests. Out of memory ends the test. */
#ifndef TESTS_UNIT_FIXTURE_H
#define TESTS_UNIT_FIXTURE_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/result.h"
#include "tap.h"

/* A file whose only sample has these counters. */
#define FIXTURE_FILE(counters)                                       \
	"{\"schema\": \"pagezone-result/1\", \"pagezone\": {},\n"    \
	"\"environment\": {}, \"parameters\": {\"threads\": []},\n"  \
	"\"sides\": [{\"name\": \"run\", \"spec\": \"x\"}],\n"       \
	"\"samples\": [{\"side\": \"run\", \"phase\": \"reader\",\n" \
	" \"threads\": 2, \"round\": 1, \"window_ns\": 1,\n"         \
	" \"bytes\": 4096, \"counters\": " counters "}]}"

static inline void must(int err)
{
	if (err)
		bail("error %d", err);
}

static inline char *copied(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		bail("out of memory");
	return copy;
}

static inline struct result *fixture_empty(const unsigned *threads, unsigned nr_threads,
					   unsigned rounds)
{
	struct result *result = result_alloc();

	if (!result)
		bail("out of memory");
	result->version = copied("1.2.3");
	result->command_line = copied("pagezone speedup -t 1,2");
	result->parameters.threads = calloc(nr_threads + 1, sizeof(*threads));
	if (!result->parameters.threads)
		bail("out of memory");
	memcpy(result->parameters.threads, threads, nr_threads * sizeof(*threads));
	result->parameters.nr_threads = nr_threads;
	result->parameters.rounds = rounds;
	return result;
}

/* A sample that moves @kb_per_s × @threads KiB within a second. */
static inline struct result_sample *fixture_sample(struct result *result, unsigned side,
						   unsigned phase, unsigned threads,
						   unsigned round, uint64_t kb_per_s)
{
	struct result_sample *sample = result_add_sample(result, 0);

	if (!sample)
		bail("out of memory");
	sample->side = side;
	sample->phase = phase;
	sample->threads = threads;
	sample->round = round;
	sample->window_ns = 1000000000;
	sample->bytes = kb_per_s * 1024 * threads;
	result_sample_rates(sample);
	return sample;
}

static inline void fixture_fail(struct result_sample *sample, const char *why)
{
	sample->failure = copied(why);
	result_sample_rates(sample);
}

/* Of a cache that takes its locks once for @batch pages. */
static inline void fixture_counters(struct result_sample *sample, unsigned batch)
{
	uint64_t faults = sample->bytes / 4096 / batch;

	sample->counters = (struct result_counters){
		.known = RESULT_FAULTS | RESULT_LOCKS,
		.faults = faults,
		.minor_faults = sample->phase ? faults : 0,
		.pages_inserted = sample->phase ? 0 : sample->bytes / 4096,
		.pmd_mapped_bytes = batch == 512 ? sample->bytes : 0,
		.mmap = { .acquisitions = faults,
			  .contended = faults / 4,
			  .wait_ns = faults * 30 },
		.tree = { .acquisitions = sample->phase ? 0 : faults,
			  .contended = sample->phase ? 0 : faults / 2,
			  .wait_ns = sample->phase ? 0 : faults * 100 },
		.zone = { .acquisitions = faults / 32 },
		.lru = { .acquisitions = faults / 32, .wait_ns = 1 },
	};
}

/* Of real page faults, one for @batch pages, on a kernel that has no thp_file_mapped. */
static inline void fixture_real_faults(struct result_sample *sample, unsigned batch)
{
	struct result_counters *counters = &sample->counters;
	uint64_t faults = sample->bytes / 4096 / batch;

	counters->known |= RESULT_FAULTS | RESULT_USAGE | RESULT_VMSTAT;
	counters->faults = counters->minor_faults = faults;
	counters->pmd_mapped_bytes = batch == 512 ? sample->bytes : 0;
	counters->voluntary_switches = sample->threads;
	counters->involuntary_switches = 3 + sample->round;
	counters->user_ns = sample->bytes / 10;
	counters->system_ns = sample->bytes / 100 + faults * 1000;
	counters->vmstat[RESULT_VMSTAT_pgfault] = faults + 7;
	counters->vmstat[RESULT_VMSTAT_thp_file_fallback] = batch == 512 ? 0 : 1;
	counters->vmstat[RESULT_VMSTAT_thp_file_mapped] = UINT64_MAX;
	counters->vmstat[RESULT_VMSTAT_numa_hit] = sample->bytes / 4096;
}

/*
 * Of @nr_nodes nodes that have as many pages each, of which the first is the worker's and
 * asked for.
 */
static inline void fixture_placement(struct result_sample *sample, unsigned nr_nodes,
				     uint64_t pages)
{
	struct result_counters *counters = &sample->counters;

	counters->known |= RESULT_PLACEMENT | RESULT_ASKED;
	counters->pages_sampled = nr_nodes * pages;
	counters->pages_local = counters->pages_as_asked = pages;
	counters->pages_by_node = calloc(nr_nodes, sizeof(*counters->pages_by_node));
	if (!counters->pages_by_node)
		bail("out of memory");
	while (counters->nr_nodes < nr_nodes) {
		counters->pages_by_node[counters->nr_nodes] =
			(struct result_node_pages){ counters->nr_nodes, pages };
		counters->nr_nodes++;
	}
	for (unsigned i = 0; i < sample->nr_workers; i++)
		sample->workers[i].cpu_start = sample->workers[i].cpu_end = (int)i;
}

static inline void fixture_environment(struct result *result)
{
	struct result_environment *environment = &result->environment;
	struct result_parameters *parameters = &result->parameters;

	environment->kernel = copied("Linux 6.18.0 #1 SMP PREEMPT_DYNAMIC x86_64");
	environment->cpu_model = copied("Example(R) CPU E7-4870 @ 2.40GHz");
	environment->virtualisation = copied("kvm");
	environment->governor = copied("performance");
	environment->thp_enabled = copied("always");
	environment->thp_defrag = copied("madvise");
	environment->thp_shmem = copied("never");
	environment->allowed_cpus = copied("0-1");
	environment->nr_allowed_cpus = 2;
	environment->nr_machine_cpus = 4;
	environment->nr_nodes = environment->nr_packages = 1;
	environment->nr_cores = 2;
	environment->numa_balancing = 0;
	environment->load1 = 0.25;
	environment->cpu_quota = 1.5;
	environment->mem_total = 8343441408;
	environment->mem_available = 6549825536;
	environment->cgroup_limit = 4ULL << 30;
	environment->clock_step_ns = 25;
	environment->arena_bytes = 544ULL << 20;
	environment->arena_huge_bytes = 544ULL << 20;
	parameters->bytes = 512ULL << 20;
	parameters->record = 4096;
	parameters->seed = 42;
	parameters->layout = copied("private");
	parameters->workers = copied("thread");
	parameters->pin = copied("spread");
	parameters->mem = copied("local");
	parameters->pinned = copied("spread");
	parameters->per = copied("thread");
}

/* A bit of everything that a result can have. */
static inline struct result *fixture_full(void)
{
	static const unsigned threads[] = { 1, 2 }, batch[] = { 1, 512 };
	struct result *result = fixture_empty(threads, 2, 3);

	fixture_environment(result);
	must(result_add_side(result, "baseline", "cache:batch=1"));
	must(result_add_side(result, "patched", "cache:batch=512,dir=/tmp/a\\,b"));
	must(result_add_side(result, "limit", "memory"));
	must(result_add_phase(result, "initial-writer", "Initial writers"));
	must(result_add_phase(result, "reader", "Readers"));
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned t = 0; t < 2; t++) {
			for (unsigned n = 0; n < 6; n++) {
				unsigned side = n % 3, phase = n / 3;
				struct result_sample *sample =
					result_add_sample(result, threads[t]);

				if (!sample)
					bail("out of memory");
				sample->side = side;
				sample->phase = phase;
				sample->threads = threads[t];
				sample->round = round;
				sample->window_ns =
					123456789 / (side + 1) + 7654321 * round;
				sample->bytes = 512ULL << 20;
				sample->unmap_ns = 1000 + n;
				for (unsigned w = 0; w < threads[t]; w++)
					sample->workers[w] = (struct result_worker){
						.cpu = (int)w,
						.cpu_start = -1,
						.cpu_end = -1,
						.node = 0,
						.start_ns = 100 * w,
						.end_ns = sample->window_ns - w,
						.bytes = sample->bytes / threads[t],
					};
				if (side < 2)
					fixture_counters(sample, batch[side]);
				result_sample_rates(sample);
			}
		}
	}
	result->samples[0].workers[0].cpu = result->samples[0].workers[0].node = -1;
	result->samples[2].too_short = true;
	fixture_fail(&result->samples[result->nr_samples - 1],
		     "worker 1: No space left on device: \"/tmp/x\"");
	result->interrupted = true;
	if (result_warn(result, "binding is forbidden here: expect more spread") != 1 ||
	    result_warn(result, "%d %%, \"quoted\", \\, ü", 5) != 1)
		bail("out of memory");
	must(result_derive(result));
	return result;
}

/* The 2013 table: one round, no workers. */
static inline struct result *fixture_reference(const char *path)
{
	static const unsigned threads[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256 };
	struct result *result = fixture_empty(threads, 9, 1);
	FILE *in = fopen(path, "re");
	char line[256], phase[64];
	uint64_t baseline, patched;
	unsigned nr;

	if (!in || !fgets(line, sizeof(line), in))
		bail("cannot read %s", path);
	must(result_add_side(result, "baseline", "cache:batch=1"));
	must(result_add_side(result, "patched", "cache:batch=512"));
	while (fgets(line, sizeof(line), in)) {
		if (sscanf(line, "%63[^,],%u,%" SCNu64 ",%" SCNu64, phase, &nr, &baseline,
			   &patched) != 4)
			bail("cannot read %s", line);
		if (!result->nr_phases ||
		    strcmp(result->phases[result->nr_phases - 1].name, phase) != 0)
			must(result_add_phase(result, phase, NULL));
		fixture_sample(result, 0, result->nr_phases - 1, nr, 0, baseline);
		fixture_sample(result, 1, result->nr_phases - 1, nr, 0, patched);
	}
	fclose(in);
	must(result_derive(result));
	return result;
}

/* tests/golden/@name in the source tree. */
static inline const char *golden_path(const char *name)
{
	static char path[4096];
	const char *top = getenv("top_srcdir");

	snprintf(path, sizeof(path), "%s/tests/golden/%s", top ? top : ".", name);
	return path;
}

/*
 * Is @text what tests/golden/@name has? With GOLDEN_UPDATE in the environment the file is
 * written instead: read the difference before you commit it.
 */
static inline void ok_golden(const char *text, const char *name)
{
	const char *path = golden_path(name);
	char *golden = NULL;
	size_t size = 0;
	FILE *file;

	if (getenv("GOLDEN_UPDATE")) {
		file = fopen(path, "we");
		if (!file || fputs(text, file) == EOF || fclose(file))
			bail("cannot write %s", path);
	}
	file = fopen(path, "re");
	if (file && getdelim(&golden, &size, '\0', file) < 0)
		bail("cannot read %s", path);
	if (file)
		fclose(file);
	if (!ok(golden && !strcmp(text, golden), "as tests/golden/%s", name)) {
		printf("# got instead:\n");
		for (const char *at = text; *at;) {
			int len = (int)strcspn(at, "\n");

			printf("# %.*s\n", len, at);
			at += len + (at[len] == '\n');
		}
	}
	free(golden);
}

#endif
