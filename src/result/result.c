/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "result/result.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "stats/stats.h"

#define VMSTAT_NAME(name) #name,
const char *const result_vmstat_names[RESULT_NR_VMSTAT] = { RESULT_VMSTAT_COUNTERS(
	VMSTAT_NAME) };

/* Phases are stored by name; these are the headings of pagezone's own. */
static const struct {
	const char *name, *title;
} titles[] = {
	{ "initial-writer", "Initial writers" },
	{ "rewriter", "Rewriters" },
	{ "reader", "Readers" },
	{ "re-reader", "Re-readers" },
	{ "reverse-reader", "Reverse readers" },
	{ "random-reader", "Random readers" },
	{ "random-writer", "Random writers" },
	{ "truncate", "Truncations" },
};

struct result *result_alloc(void)
{
	struct result *result = calloc(1, sizeof(*result));

	if (!result)
		return NULL;
	result->environment.numa_balancing = -1;
	result->environment.load1 = -1;
	result->environment.mem_total = UINT64_MAX;
	result->environment.mem_available = UINT64_MAX;
	result->environment.cgroup_limit = UINT64_MAX;
	result->parameters.budget = UINT64_MAX;
	result->parameters.truncate_pages = UINT64_MAX;
	result->parameters.truncate_count = UINT64_MAX;
	return result;
}

static void environment_free(struct result_environment *environment)
{
	free(environment->kernel);
	free(environment->cpu_model);
	free(environment->virtualisation);
	free(environment->governor);
	free(environment->thp_enabled);
	free(environment->thp_defrag);
	free(environment->thp_shmem);
	free(environment->allowed_cpus);
}

static void parameters_free(struct result_parameters *parameters)
{
	free(parameters->threads);
	free(parameters->layout);
	free(parameters->workers);
	free(parameters->pin);
	free(parameters->mem);
	free(parameters->pinned);
	free(parameters->per);
	free(parameters->truncate_state);
	free(parameters->truncate_mapped);
}

void result_sample_destroy(struct result_sample *sample)
{
	free(sample->workers);
	free(sample->failure);
	free(sample->counters.pages_by_node);
	result_times_destroy(&sample->times);
}

void result_free(struct result *result)
{
	if (!result)
		return;
	free(result->version);
	free(result->command_line);
	environment_free(&result->environment);
	parameters_free(&result->parameters);
	for (unsigned i = 0; i < result->nr_sides; i++) {
		free(result->sides[i].name);
		free(result->sides[i].spec);
		free(result->sides[i].mount);
	}
	for (unsigned i = 0; i < result->nr_phases; i++) {
		free(result->phases[i].name);
		free(result->phases[i].title);
	}
	for (unsigned i = 0; i < result->nr_samples; i++)
		result_sample_destroy(&result->samples[i]);
	for (unsigned i = 0; i < result->nr_warnings; i++)
		free(result->warnings[i]);
	free(result->sides);
	free(result->phases);
	free(result->samples);
	free(result->cells);
	free(result->speedups);
	free(result->warnings);
	result_free(result->reference);
	free(result);
}

/*
 * Room for one more element after @nr: arrays hold a power of two of them, so that only a
 * full one, which shows by its length, moves. NULL: no memory, and the array is as it
 * was.
 */
static void *array_grow(void *array, unsigned nr, size_t size)
{
	if (nr && !is_power_of_2(nr))
		return array;
	if (nr > UINT32_MAX / 4)
		return NULL;
	return reallocarray(array, nr ? 2 * (size_t)nr : 1, size);
}

struct result_sample *result_add_sample(struct result *result, unsigned nr_workers)
{
	struct result_sample *samples, *sample;
	struct result_worker *workers = NULL;

	samples = array_grow(result->samples, result->nr_samples, sizeof(*samples));
	if (!samples)
		return NULL;
	result->samples = samples;
	if (nr_workers) {
		workers = calloc(nr_workers, sizeof(*workers));
		if (!workers)
			return NULL;
		for (unsigned i = 0; i < nr_workers; i++)
			workers[i].cpu_start = workers[i].cpu_end = -1;
	}
	sample = &samples[result->nr_samples++];
	*sample = (struct result_sample){ .workers = workers, .nr_workers = nr_workers };
	return sample;
}

int result_add_side(struct result *result, const char *name, const char *spec)
{
	struct result_side *sides, side = { 0 };

	sides = array_grow(result->sides, result->nr_sides, sizeof(*sides));
	if (!sides)
		return -ENOMEM;
	result->sides = sides;
	side.name = strdup(name);
	side.spec = strdup(spec);
	if (!side.name || !side.spec) {
		free(side.name);
		free(side.spec);
		return -ENOMEM;
	}
	sides[result->nr_sides++] = side;
	return 0;
}

int result_add_phase(struct result *result, const char *name, const char *title)
{
	struct result_phase *phases, phase;

	for (size_t i = 0; !title && i < ARRAY_SIZE(titles); i++)
		if (!strcmp(name, titles[i].name))
			title = titles[i].title;
	phases = array_grow(result->phases, result->nr_phases, sizeof(*phases));
	if (!phases)
		return -ENOMEM;
	result->phases = phases;
	phase.name = strdup(name);
	phase.title = strdup(title ? title : name);
	if (!phase.name || !phase.title) {
		free(phase.name);
		free(phase.title);
		return -ENOMEM;
	}
	phases[result->nr_phases++] = phase;
	return 0;
}

int result_add_threads(struct result *result, unsigned threads)
{
	struct result_parameters *parameters = &result->parameters;
	unsigned *grown;

	if (result_has_threads(result, threads))
		return 0;
	grown = reallocarray(parameters->threads, (size_t)parameters->nr_threads + 1,
			     sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	parameters->threads = grown;
	grown[parameters->nr_threads++] = threads;
	return 0;
}

int result_warn(struct result *result, const char *fmt, ...)
{
	char **warnings, *text;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0)
		return -ENOMEM;
	for (unsigned i = 0; i < result->nr_warnings; i++) {
		if (!strcmp(result->warnings[i], text)) {
			free(text);
			return 0;
		}
	}
	warnings = array_grow(result->warnings, result->nr_warnings, sizeof(*warnings));
	if (!warnings) {
		free(text);
		return -ENOMEM;
	}
	result->warnings = warnings;
	warnings[result->nr_warnings++] = text;
	return 1;
}

static double rate_kb_per_s(uint64_t bytes, uint64_t ns)
{
	return (double)bytes / 1024 / ((double)ns / 1e9);
}

static double worker_rates(const struct result_sample *sample)
{
	double sum = 0;

	if (!sample->nr_workers)
		return NAN;
	for (unsigned i = 0; i < sample->nr_workers; i++) {
		const struct result_worker *worker = &sample->workers[i];

		if (!worker->bytes)
			continue;
		if (worker->end_ns <= worker->start_ns)
			return NAN;
		sum += rate_kb_per_s(worker->bytes, worker->end_ns - worker->start_ns);
	}
	return sum;
}

void result_sample_rates(struct result_sample *sample)
{
	sample->kb_per_s = sample->total_kb_per_s = sample->sum_of_worker_rates = NAN;
	if (sample->failure || !sample->window_ns || !sample->threads)
		return;
	sample->total_kb_per_s = rate_kb_per_s(sample->bytes, sample->window_ns);
	sample->kb_per_s = sample->total_kb_per_s / sample->threads;
	sample->sum_of_worker_rates = worker_rates(sample);
}

bool result_sample_is_void(const struct result_sample *sample)
{
	return sample->failure || !isfinite(sample->kb_per_s);
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* The order of cells and speed-ups. */
static int compare_places(unsigned side_a, unsigned phase_a, unsigned threads_a,
			  unsigned side_b, unsigned phase_b, unsigned threads_b)
{
	if (side_a != side_b)
		return COMPARE(side_a, side_b);
	if (phase_a != phase_b)
		return COMPARE(phase_a, phase_b);
	return COMPARE(threads_a, threads_b);
}

static int compare_cells(const void *a, const void *b)
{
	const struct result_cell *x = a, *y = b;

	return compare_places(x->side, x->phase, x->threads, y->side, y->phase,
			      y->threads);
}

static int compare_speedups(const void *a, const void *b)
{
	const struct result_speedup *x = a, *y = b;

	return compare_places(x->side, x->phase, x->threads, y->side, y->phase,
			      y->threads);
}

static int compare_samples(const void *a, const void *b)
{
	const struct result_sample *x = *(const struct result_sample *const *)a;
	const struct result_sample *y = *(const struct result_sample *const *)b;
	int order = compare_places(x->side, x->phase, x->threads, y->side, y->phase,
				   y->threads);

	return order ? order : COMPARE(x->round, y->round);
}

/* What result_derive() works with. */
struct derivation {
	struct result *result;
	const struct result_sample **sorted; /* by cell, then round */
	unsigned *starts; /* [nr_cells + 1]: where in @sorted each cell's samples are */
	double *values;	  /* scratch: [nr_samples] */
};

static int derivation_sort(struct derivation *d)
{
	struct result *result = d->result;
	unsigned nr = result->nr_samples, nr_cells = 0;

	d->sorted = reallocarray(NULL, nr + 1, sizeof(*d->sorted));
	d->starts = reallocarray(NULL, nr + 1, sizeof(*d->starts));
	d->values = reallocarray(NULL, nr + 1, sizeof(*d->values));
	if (!d->sorted || !d->starts || !d->values)
		return -ENOMEM;
	for (unsigned i = 0; i < nr; i++)
		d->sorted[i] = &result->samples[i];
	qsort(d->sorted, nr, sizeof(*d->sorted), compare_samples);
	for (unsigned i = 0; i < nr; i++) {
		const struct result_sample *at = d->sorted[i];
		const struct result_sample *before = i ? d->sorted[i - 1] : NULL;

		if (before && !compare_samples(&before, &at))
			return -EINVAL;
		if (!before ||
		    compare_places(before->side, before->phase, before->threads, at->side,
				   at->phase, at->threads))
			d->starts[nr_cells++] = i;
	}
	d->starts[nr_cells] = nr;
	result->cells = calloc(nr_cells + 1, sizeof(*result->cells));
	result->speedups = calloc(nr_cells + 1, sizeof(*result->speedups));
	if (!result->cells || !result->speedups)
		return -ENOMEM;
	result->nr_cells = nr_cells;
	return 0;
}

/* The median of a figure of @nr samples; NAN when one of them does not have it. */
static int median_of(struct derivation *d, const struct result_sample **samples,
		     unsigned nr, size_t figure, double *median)
{
	struct summary summary;
	int err;

	for (unsigned i = 0; i < nr; i++) {
		const void *member = (const char *)samples[i] + figure;

		d->values[i] = *(const double *)member;
		if (!isfinite(d->values[i]))
			return 0;
	}
	err = summary_compute(&summary, d->values, nr);
	if (!err)
		*median = summary.median;
	return err;
}

static int cell_derive(struct derivation *d, unsigned number)
{
	struct result_cell *cell = &d->result->cells[number];
	const struct result_sample **samples = &d->sorted[d->starts[number]];
	unsigned nr = d->starts[number + 1] - d->starts[number];
	struct summary summary;
	int err;

	*cell = (struct result_cell){ .side = samples[0]->side,
				      .phase = samples[0]->phase,
				      .threads = samples[0]->threads,
				      .kb_per_s = NAN,
				      .total_kb_per_s = NAN,
				      .sum_of_worker_rates = NAN,
				      .min = NAN,
				      .max = NAN,
				      .p25 = NAN,
				      .p75 = NAN };
	for (unsigned i = 0; i < nr; i++) {
		if (result_sample_is_void(samples[i]))
			cell->nr_void++;
		else
			d->values[cell->nr_samples++] = samples[i]->kb_per_s;
		cell->too_short |= samples[i]->too_short;
	}
	cell->is_void = cell->nr_void;
	if (cell->is_void)
		return 0;
	err = summary_compute(&summary, d->values, nr);
	if (err)
		return err;
	cell->kb_per_s = summary.median;
	cell->min = summary.min;
	cell->max = summary.max;
	cell->p25 = summary.p25;
	cell->p75 = summary.p75;
	err = median_of(d, samples, nr, offsetof(struct result_sample, total_kb_per_s),
			&cell->total_kb_per_s);
	if (err)
		return err;
	return median_of(d, samples, nr,
			 offsetof(struct result_sample, sum_of_worker_rates),
			 &cell->sum_of_worker_rates);
}

/* How much faster @patched is. */
static double sample_ratio(const struct result_sample *patched,
			   const struct result_sample *baseline)
{
	if (patched->times.nr && baseline->times.nr)
		return baseline->times.median_ns / patched->times.median_ns;
	return patched->kb_per_s / baseline->kb_per_s;
}

/* Of cell @number against cell @base of the baseline, round by round. */
static int speedup_derive(struct derivation *d, struct result_speedup *speedup,
			  unsigned number, unsigned base)
{
	const struct result_sample **patched = &d->sorted[d->starts[number]];
	const struct result_sample **patched_end = &d->sorted[d->starts[number + 1]];
	const struct result_sample **baseline = &d->sorted[d->starts[base]];
	const struct result_sample **baseline_end = &d->sorted[d->starts[base + 1]];
	struct interval interval;
	unsigned nr = 0;
	int err;

	while (patched < patched_end && baseline < baseline_end) {
		if ((*patched)->round < (*baseline)->round) {
			patched++;
		} else if ((*patched)->round > (*baseline)->round) {
			baseline++;
		} else {
			d->values[nr] = sample_ratio(*patched, *baseline);
			/* A baseline that moved nothing. */
			if (!isfinite(d->values[nr]))
				return 0;
			nr++;
			patched++;
			baseline++;
		}
	}
	if (!nr)
		return 0;
	err = interval_median(&interval, d->values, nr);
	if (err)
		return err;
	speedup->nr_rounds = nr;
	speedup->ratio = interval.value;
	speedup->low = interval.low;
	speedup->high = interval.high;
	return 0;
}

static int speedups_derive(struct derivation *d)
{
	struct result *result = d->result;

	for (unsigned i = 0; i < result->nr_cells; i++) {
		const struct result_cell *cell = &result->cells[i], *base;
		struct result_speedup *speedup;
		int err;

		if (!cell->side || result_side_is_limit(result, cell->side))
			continue;
		speedup = &result->speedups[result->nr_speedups++];
		*speedup = (struct result_speedup){ .side = cell->side,
						    .phase = cell->phase,
						    .threads = cell->threads,
						    .ratio = NAN,
						    .low = NAN,
						    .high = NAN };
		base = result_cell(result, 0, cell->phase, cell->threads);
		if (cell->is_void || !base || base->is_void)
			continue;
		err = speedup_derive(d, speedup, i, (unsigned)(base - result->cells));
		if (err)
			return err;
	}
	return 0;
}

int result_find_phase(const struct result *result, const char *name)
{
	for (unsigned i = 0; i < result->nr_phases; i++)
		if (!strcmp(result->phases[i].name, name))
			return (int)i;
	return -1;
}

int result_find_side(const struct result *result, const char *name)
{
	for (unsigned i = 0; i < result->nr_sides; i++)
		if (!strcmp(result->sides[i].name, name))
			return (int)i;
	return -1;
}

bool result_has_threads(const struct result *result, unsigned threads)
{
	for (unsigned i = 0; i < result->parameters.nr_threads; i++)
		if (result->parameters.threads[i] == threads)
			return true;
	return false;
}

bool result_side_is_limit(const struct result *result, unsigned side)
{
	return side && !strcmp(result->sides[side].name, "limit");
}

int result_derive(struct result *result)
{
	struct derivation d = { .result = result };
	int err;

	free(result->cells);
	free(result->speedups);
	result->cells = NULL;
	result->speedups = NULL;
	result->nr_cells = result->nr_speedups = 0;

	err = derivation_sort(&d);
	for (unsigned i = 0; !err && i < result->nr_cells; i++)
		err = cell_derive(&d, i);
	if (!err)
		err = speedups_derive(&d);
	if (err)
		result->nr_cells = result->nr_speedups = 0;
	free(d.values);
	free(d.starts);
	free(d.sorted);
	return err;
}

bool result_side_has_speedups(const struct result *result, unsigned side)
{
	for (unsigned i = 0; i < result->nr_speedups; i++)
		if (result->speedups[i].side == side)
			return true;
	return false;
}

bool result_phase_has_cells(const struct result *result, unsigned phase)
{
	for (unsigned i = 0; i < result->nr_cells; i++)
		if (result->cells[i].phase == phase)
			return true;
	return false;
}

const struct result_cell *result_cell(const struct result *result, unsigned side,
				      unsigned phase, unsigned threads)
{
	const struct result_cell key = { .side = side,
					 .phase = phase,
					 .threads = threads };

	if (!result->nr_cells)
		return NULL;
	return bsearch(&key, result->cells, result->nr_cells, sizeof(key), compare_cells);
}

const struct result_speedup *result_speedup(const struct result *result, unsigned side,
					    unsigned phase, unsigned threads)
{
	const struct result_speedup key = { .side = side,
					    .phase = phase,
					    .threads = threads };

	if (!result->nr_speedups)
		return NULL;
	return bsearch(&key, result->speedups, result->nr_speedups, sizeof(key),
		       compare_speedups);
}

double result_published(const struct result *result, unsigned phase, unsigned threads)
{
	const struct result *reference = result->reference;
	const struct result_speedup *speedup = NULL;
	int published = -1;

	if (reference)
		published = result_find_phase(reference, result->phases[phase].name);
	if (published >= 0)
		speedup = result_speedup(reference, 1, (unsigned)published, threads);
	return speedup ? speedup->ratio : NAN;
}
