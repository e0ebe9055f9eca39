/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a result as JSON. Each sample is a value of its own that is gone before the next
 * one is made: a tree of all workers of all samples would be larger than the result.
 * jansson writes numbers with 17 digits and a point, whatever the locale says.
 */
#include "result/result.h"

#include <errno.h>

#include <jansson.h>

#include "result/fields.h"
#include "result/node_pages.h"
#include "result/times_json.h"

/* After stdio failed: what errno tells, if anything. */
static int io_error(void)
{
	return errno ? -errno : -EIO;
}

/*
 * Dumps @value, which is used up, after @before. 0, -ENOMEM when it is NULL, or what
 * stdio met.
 */
static int dump(FILE *out, const char *before, json_t *value)
{
	int err = 0;

	if (!value)
		return -ENOMEM;
	if (fputs(before, out) == EOF || json_dumpf(value, out, JSON_ENCODE_ANY))
		err = io_error();
	json_decref(value);
	return err;
}

/* "name": { one member a line }. Uses up @object. */
static int dump_object(FILE *out, const char *name, json_t *object)
{
	const char *before = "", *key;
	json_t *value;
	int err = 0;

	if (!object)
		return -ENOMEM;
	if (fprintf(out, ",\n  \"%s\": {", name) < 0)
		err = io_error();
	json_object_foreach(object, key, value) {
		if (!err && fprintf(out, "%s\n    \"%s\": ", before, key) < 0)
			err = io_error();
		if (!err)
			err = dump(out, "", json_incref(value));
		before = ",";
	}
	json_decref(object);
	if (!err && fputs("\n  }", out) == EOF)
		err = io_error();
	return err;
}

static json_t *json_pagezone(const struct result *result)
{
	json_t *object = json_object();
	int failed = 0;

	failed |= json_object_set_new(
		object, "version", fields_string(result->version ? result->version : ""));
	failed |= json_object_set_new(
		object, "command_line",
		fields_string(result->command_line ? result->command_line : ""));
	failed |=
		json_object_set_new(object, "seed", fields_seed(result->parameters.seed));
	return fields_unless(failed, object);
}

static json_t *json_environment(const struct result *result)
{
	json_t *object = json_object();

	return fields_unless(
		fields_store(object, fields_environment, &result->environment), object);
}

static json_t *json_parameters(const struct result *result)
{
	const struct result_parameters *parameters = &result->parameters;
	json_t *object = json_object(), *threads = json_array(), *phases = json_array();
	int failed = 0;

	for (unsigned i = 0; i < parameters->nr_threads; i++)
		failed |= json_array_append_new(threads,
						json_integer(parameters->threads[i]));
	for (unsigned i = 0; i < result->nr_phases; i++)
		failed |= json_array_append_new(phases,
						fields_string(result->phases[i].name));
	failed |= json_object_set_new(object, "threads", threads);
	failed |= json_object_set_new(object, "phases", phases);
	failed |= fields_store(object, fields_parameters, parameters);
	return fields_unless(failed, object);
}

static json_t *json_side(const struct result *result, unsigned number)
{
	const struct result_side *side = &result->sides[number];
	json_t *object = json_object();
	int failed = 0;

	failed |= json_object_set_new(object, "name", fields_string(side->name));
	failed |= json_object_set_new(object, "spec", fields_string(side->spec));
	failed |= fields_store(object, fields_side, side);
	return fields_unless(failed, object);
}

/* What samples, cells and speed-ups begin with. */
static json_t *json_place(const struct result *result, unsigned side, unsigned phase)
{
	json_t *object = json_object();
	int failed = 0;

	failed |= json_object_set_new(object, "side",
				      fields_string(result->sides[side].name));
	failed |= json_object_set_new(object, "phase",
				      fields_string(result->phases[phase].name));
	return fields_unless(failed, object);
}

static json_t *json_workers(const struct result_sample *sample)
{
	json_t *array = json_array();
	int failed = 0;

	for (unsigned i = 0; !failed && i < sample->nr_workers; i++) {
		json_t *object = json_object();

		failed |= fields_store(object, fields_worker, &sample->workers[i]);
		failed |= json_array_append_new(array, object);
	}
	return fields_unless(failed, array);
}

static json_t *json_counters(const struct result_sample *sample)
{
	const struct result_counters *counters = &sample->counters;
	json_t *object = json_object();
	int failed =
		fields_store_groups(object, fields_counters, counters, counters->known);

	if (counters->known & RESULT_PLACEMENT)
		failed |= json_object_set_new(object, "pages_by_node",
					      node_pages_json(counters));
	return fields_unless(failed, object);
}

static json_t *json_sample(const struct result *result, unsigned number)
{
	const struct result_sample *sample = &result->samples[number];
	json_t *object = json_place(result, sample->side, sample->phase);
	int failed = 0;

	failed |= fields_store(object, fields_sample, sample);
	failed |= json_object_set_new(object, "workers", json_workers(sample));
	if (sample->times.nr)
		failed |=
			json_object_set_new(object, "times", times_json(&sample->times));
	failed |= json_object_set_new(object, "counters", json_counters(sample));
	failed |= fields_store(object, fields_sample_end, sample);
	return fields_unless(failed, object);
}

static json_t *json_cell(const struct result *result, unsigned number)
{
	const struct result_cell *cell = &result->cells[number];
	json_t *object = json_place(result, cell->side, cell->phase);

	return fields_unless(fields_store(object, fields_cell, cell), object);
}

static json_t *json_speedup(const struct result *result, unsigned number)
{
	const struct result_speedup *speedup = &result->speedups[number];
	json_t *object = json_place(result, speedup->side, speedup->phase);

	return fields_unless(fields_store(object, fields_speedup, speedup), object);
}

static json_t *json_warning(const struct result *result, unsigned number)
{
	return fields_string(result->warnings[number]);
}

/* "name": [ one element a line ]. */
static int dump_array(FILE *out, const char *name, const struct result *result,
		      unsigned nr,
		      json_t *(*element)(const struct result *result, unsigned number))
{
	int err;

	if (fprintf(out, ",\n  \"%s\": [", name) < 0)
		return io_error();
	for (unsigned i = 0; i < nr; i++) {
		err = dump(out, i ? ",\n    " : "\n    ", element(result, i));
		if (err)
			return err;
	}
	return fputs(nr ? "\n  ]" : "]", out) == EOF ? io_error() : 0;
}

int result_write_json(const struct result *result, FILE *out)
{
	int err;

	errno = 0;
	if (fputs("{\n  \"schema\": \"" RESULT_SCHEMA "\"", out) == EOF)
		return io_error();
	err = dump_object(out, "pagezone", json_pagezone(result));
	if (!err)
		err = dump_object(out, "environment", json_environment(result));
	if (!err)
		err = dump_object(out, "parameters", json_parameters(result));
	if (!err)
		err = dump_array(out, "sides", result, result->nr_sides, json_side);
	if (!err)
		err = dump_array(out, "samples", result, result->nr_samples, json_sample);
	if (!err)
		err = dump_array(out, "cells", result, result->nr_cells, json_cell);
	if (!err)
		err = dump_array(out, "speedups", result, result->nr_speedups,
				 json_speedup);
	if (!err && result->interrupted &&
	    fputs(",\n  \"interrupted\": true", out) == EOF)
		err = io_error();
	if (!err && result->nr_warnings)
		err = dump_array(out, "warnings", result, result->nr_warnings,
				 json_warning);
	if (!err && (fputs("\n}\n", out) == EOF || fflush(out) || ferror(out)))
		err = io_error();
	return err;
}
