/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a result. A file may come from anywhere: whatever is wrong with it ends in one
 * line that names the file and the field. What can be computed from samples is, instead
 * of being believed.
 */
#include "result/result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/bits.h"
#include "result/fields.h"
#include "result/node_pages.h"
#include "result/times_json.h"

/* A run of 256 threads, 9 thread counts, 7 phases, 2 sides and 100 rounds has 60 MB. */
#define MAX_FILE_BYTES ((size_t)1 << 30)

struct loader {
	struct result *result;
	struct place place;
};

/* Where the next messages are about. */
static void loader_at(struct loader *loader, const char *array, size_t number)
{
	snprintf(loader->place.where, sizeof(loader->place.where), "%s[%zu].", array,
		 number);
}

static void loader_at_top(struct loader *loader)
{
	loader->place.where[0] = '\0';
}

struct source {
	FILE *in;
	size_t nr_read;
};

static size_t source_read(void *buffer, size_t len, void *data)
{
	struct source *source = data;
	size_t nr;

	if (source->nr_read >= MAX_FILE_BYTES)
		return (size_t)-1;
	nr = fread(buffer, 1, len, source->in);
	source->nr_read += nr;
	if (!nr && ferror(source->in))
		return (size_t)-1;
	return nr;
}

/* 0 with the value in @root, or -errno with the reason. */
static int load_json(struct loader *loader, json_t **root)
{
	struct source source = { .nr_read = 0 };
	json_error_t error;
	int err = place_open(&loader->place, &source.in);

	if (err)
		return err;
	errno = 0;
	*root = json_load_callback(source_read, &source, JSON_REJECT_DUPLICATES, &error);
	err = errno;
	if (*root)
		err = 0;
	else if (ferror(source.in))
		err = place_error(&loader->place, err ? -err : -EIO, "%s",
				  strerror(err ? err : EIO));
	else if (source.nr_read >= MAX_FILE_BYTES)
		err = place_error(&loader->place, -EFBIG, "larger than %zu bytes",
				  MAX_FILE_BYTES);
	/* Out of memory, jansson says nothing, or that the token is invalid. */
	else if (err == ENOMEM || !*error.text)
		err = -ENOMEM;
	else if (!source.nr_read)
		err = place_error(&loader->place, -EINVAL,
				  "empty, not a pagezone result");
	else
		err = place_error(&loader->place, -EINVAL,
				  "not JSON: line %d, column %d: %s", error.line,
				  error.column, error.text);
	fclose(source.in);
	return err;
}

static int load_schema(struct loader *loader, const json_t *root)
{
	const json_t *schema = json_object_get(root, "schema");
	const char *text = json_string_value(schema);

	if (!json_is_object(root))
		return place_error(&loader->place, -EINVAL,
				   "not a pagezone result: no object");
	if (!schema)
		return place_error(&loader->place, -EINVAL,
				   "not a pagezone result: no schema");
	if (!text || strcmp(text, RESULT_SCHEMA))
		return place_error(&loader->place, -EINVAL,
				   "schema is \"%s\", but this pagezone reads \"%s\"",
				   text ? text : "?", RESULT_SCHEMA);
	return 0;
}

/* A member of @object that has to be there. NULL with the reason set. */
static const json_t *member(struct loader *loader, const json_t *object, const char *name,
			    json_type type)
{
	const json_t *value = json_object_get(object, name);

	if (!value)
		place_error(&loader->place, -EINVAL, "%s is missing", name);
	else if (json_typeof(value) != type)
		place_error(&loader->place, -EINVAL, "%s is not %s", name,
			    type == JSON_ARRAY ? "an array" : "an object");
	else
		return value;
	return NULL;
}

/* An element of the array @name, which has to be an object; moves the loader there. */
static int element(struct loader *loader, const json_t *array, const char *name,
		   size_t number, const json_t **object)
{
	loader_at(loader, name, number);
	*object = json_array_get(array, number);
	if (json_is_object(*object))
		return 0;
	loader_at_top(loader);
	return place_error(&loader->place, -EINVAL, "%s[%zu] is not an object", name,
			   number);
}

/* For lists of names, which are searched one by one. */
static int check_length(struct loader *loader, const json_t *array, const char *name)
{
	if (json_array_size(array) <= FIELD_MAX_NAMES)
		return 0;
	return place_error(&loader->place, -EINVAL, "%s has more than %d elements", name,
			   FIELD_MAX_NAMES);
}

/* A string that has to be there and not to be empty. */
static int load_name(struct loader *loader, const json_t *object, const char *key,
		     const char **name)
{
	*name = json_string_value(json_object_get(object, key));
	if (*name && **name)
		return 0;
	return place_error(&loader->place, -EINVAL, "%s is not a name", key);
}

static int load_seed(struct loader *loader, const json_t *value)
{
	uint64_t *seed = &loader->result->parameters.seed;
	const char *text = json_string_value(value);
	char *end;

	if (!value || json_is_null(value))
		return 0;
	if (!text)
		return place_integer(&loader->place, "seed", value, 0, INT64_MAX, seed);
	errno = 0;
	*seed = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno)
		return place_error(&loader->place, -EINVAL,
				   "seed is not a number below 2^64");
	return 0;
}

static int load_pagezone(struct loader *loader, const json_t *root)
{
	static const struct field fields[] = {
		{ .name = "version",
		  .kind = FIELD_STRING,
		  .offset = offsetof(struct result, version) },
		{ .name = "command_line",
		  .kind = FIELD_STRING,
		  .offset = offsetof(struct result, command_line) },
		{ .name = NULL },
	};
	const json_t *object = member(loader, root, "pagezone", JSON_OBJECT);
	int err;

	if (!object)
		return -EINVAL;
	strcpy(loader->place.where, "pagezone.");
	err = fields_load(&loader->place, object, fields, loader->result);
	return err ? err : load_seed(loader, json_object_get(object, "seed"));
}

static int load_environment(struct loader *loader, const json_t *root)
{
	const json_t *object = member(loader, root, "environment", JSON_OBJECT);

	if (!object)
		return -EINVAL;
	strcpy(loader->place.where, "environment.");
	return fields_load(&loader->place, object, fields_environment,
			   &loader->result->environment);
}

static int load_threads(struct loader *loader, const json_t *object)
{
	struct result_parameters *parameters = &loader->result->parameters;
	const json_t *array = member(loader, object, "threads", JSON_ARRAY);
	size_t nr = json_array_size(array);

	if (!array)
		return -EINVAL;
	parameters->threads = calloc(nr + 1, sizeof(*parameters->threads));
	if (!parameters->threads)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		char name[32];
		uint64_t threads;
		int err;

		snprintf(name, sizeof(name), "threads[%zu]", i);
		err = place_integer(&loader->place, name, json_array_get(array, i), 1,
				    FIELD_MAX_THREADS, &threads);
		if (err)
			return err;
		if (result_has_threads(loader->result, (unsigned)threads))
			return place_error(&loader->place, -EINVAL, "%s is there already",
					   name);
		parameters->threads[parameters->nr_threads++] = (unsigned)threads;
	}
	return 0;
}

/* The order the phases ran in. Not having it is no harm: samples name theirs. */
static int load_phases(struct loader *loader, const json_t *object)
{
	const json_t *array = json_object_get(object, "phases");
	int err;

	if (array && !json_is_array(array))
		return place_error(&loader->place, -EINVAL, "phases is not an array");
	err = check_length(loader, array, "phases");
	for (size_t i = 0; !err && i < json_array_size(array); i++) {
		const char *name = json_string_value(json_array_get(array, i));

		if (!name || !*name || result_find_phase(loader->result, name) >= 0)
			return place_error(&loader->place, -EINVAL,
					   "phases[%zu] is not a new name", i);
		err = result_add_phase(loader->result, name, NULL);
	}
	return err;
}

static int load_parameters(struct loader *loader, const json_t *root)
{
	struct result_parameters *parameters = &loader->result->parameters;
	const json_t *object = member(loader, root, "parameters", JSON_OBJECT);
	int err;

	if (!object)
		return -EINVAL;
	strcpy(loader->place.where, "parameters.");
	err = load_threads(loader, object);
	if (!err)
		err = load_phases(loader, object);
	if (!err)
		err = fields_load(&loader->place, object, fields_parameters, parameters);
	if (!err && parameters->per && strcmp(parameters->per, "thread") &&
	    strcmp(parameters->per, "total"))
		err = place_error(&loader->place, -EINVAL,
				  "per is neither thread nor total");
	return err;
}

static int load_sides(struct loader *loader, const json_t *root)
{
	const json_t *array = member(loader, root, "sides", JSON_ARRAY), *object;
	const char *name, *spec;
	int err;

	if (!array)
		return -EINVAL;
	err = check_length(loader, array, "sides");
	for (size_t i = 0; !err && i < json_array_size(array); i++) {
		err = element(loader, array, "sides", i, &object);
		if (!err)
			err = load_name(loader, object, "name", &name);
		if (!err && result_find_side(loader->result, name) >= 0)
			err = place_error(&loader->place, -EINVAL,
					  "name %.40s is there already", name);
		if (!err)
			err = load_name(loader, object, "spec", &spec);
		if (!err)
			err = result_add_side(loader->result, name, spec);
		if (!err)
			err = fields_load(&loader->place, object, fields_side,
					  &loader->result->sides[i]);
	}
	return err;
}

/* Which side and phase a sample belongs to. */
static int load_sample_place(struct loader *loader, const json_t *object, unsigned *side,
			     unsigned *phase)
{
	struct result *result = loader->result;
	const char *name;
	int err, number;

	err = load_name(loader, object, "side", &name);
	if (err)
		return err;
	number = result_find_side(result, name);
	if (number < 0)
		return place_error(&loader->place, -EINVAL,
				   "side %.40s is not one of the sides", name);
	*side = (unsigned)number;

	err = load_name(loader, object, "phase", &name);
	if (err)
		return err;
	number = result_find_phase(result, name);
	if (number >= 0) {
		*phase = (unsigned)number;
		return 0;
	}
	if (result->nr_phases >= FIELD_MAX_NAMES)
		return place_error(&loader->place, -EINVAL, "phase is one of too many");
	*phase = result->nr_phases;
	return result_add_phase(result, name, NULL);
}

static int load_workers(struct loader *loader, const json_t *array,
			struct result_sample *sample)
{
	struct place place = loader->place;
	int err = 0;

	for (size_t i = 0; !err && i < json_array_size(array); i++) {
		const json_t *object = json_array_get(array, i);
		struct result_worker *worker = &sample->workers[i];

		snprintf(place.where, sizeof(place.where), "%.32sworkers[%zu].",
			 loader->place.where, i);
		if (!json_is_object(object))
			return place_error(&loader->place, -EINVAL,
					   "workers[%zu] is not an object", i);
		worker->cpu = worker->node = -1;
		err = fields_load(&place, object, fields_worker, worker);
	}
	return err;
}

static int load_counters(struct loader *loader, const json_t *object,
			 struct result_counters *counters)
{
	struct place place = loader->place;
	int err;

	if (!object || json_is_null(object))
		return 0;
	if (!json_is_object(object))
		return place_error(&loader->place, -EINVAL, "counters is not an object");
	snprintf(place.where, sizeof(place.where), "%.32scounters.", loader->place.where);
	err = fields_load(&place, object, fields_counters, counters);
	counters->known = fields_groups(object, fields_counters);
	return err ? err : node_pages_load(&place, object, counters);
}

/* @in_file may be rounded to a whole number, but not be another figure. */
static int check_rate(struct loader *loader, const char *name, double in_file,
		      double computed)
{
	if (isnan(in_file) || fabs(in_file - computed) <= 1 + computed / 1000)
		return 0;
	return place_error(&loader->place, -EINVAL,
			   "%s is %.6g, but bytes, window_ns and threads make it %.6g",
			   name, in_file, computed);
}

/* Computes the rates anew, and keeps what cannot be. */
static int load_rates(struct loader *loader, struct result_sample *sample)
{
	double kb_per_s = sample->kb_per_s, total = sample->total_kb_per_s;
	double sum = sample->sum_of_worker_rates;
	int err;

	result_sample_rates(sample);
	if (isnan(sample->kb_per_s))
		return 0;
	if (!sample->nr_workers)
		sample->sum_of_worker_rates = sum;
	err = check_rate(loader, "kb_per_s", kb_per_s, sample->kb_per_s);
	return err ? err :
		     check_rate(loader, "total_kb_per_s", total, sample->total_kb_per_s);
}

static int load_sample(struct loader *loader, const json_t *object)
{
	const json_t *workers = json_object_get(object, "workers");
	struct result_sample *sample;
	unsigned side = 0, phase = 0;
	int err;

	if (workers && !json_is_array(workers))
		return place_error(&loader->place, -EINVAL, "workers is not an array");
	err = load_sample_place(loader, object, &side, &phase);
	if (err)
		return err;
	if (json_array_size(workers) > FIELD_MAX_THREADS)
		return place_error(&loader->place, -EINVAL,
				   "workers has too many elements");
	sample = result_add_sample(loader->result, (unsigned)json_array_size(workers));
	if (!sample)
		return -ENOMEM;
	sample->side = side;
	sample->phase = phase;
	sample->kb_per_s = sample->total_kb_per_s = sample->sum_of_worker_rates = NAN;
	err = fields_load(&loader->place, object, fields_sample, sample);
	/* As for phases: what was measured is what samples tell. */
	if (!err)
		err = result_add_threads(loader->result, sample->threads);
	if (!err && sample->nr_workers && sample->nr_workers != sample->threads)
		err = place_error(&loader->place, -EINVAL,
				  "workers are %u, but threads are %u",
				  sample->nr_workers, sample->threads);
	if (!err)
		err = load_workers(loader, workers, sample);
	if (!err)
		err = times_load(&loader->place, json_object_get(object, "times"),
				 &sample->times);
	if (!err)
		err = load_counters(loader, json_object_get(object, "counters"),
				    &sample->counters);
	if (!err)
		err = fields_load(&loader->place, object, fields_sample_end, sample);
	return err ? err : load_rates(loader, sample);
}

static int load_samples(struct loader *loader, const json_t *root)
{
	const json_t *array = member(loader, root, "samples", JSON_ARRAY), *object;
	int err = 0;

	if (!array)
		return -EINVAL;
	for (size_t i = 0; !err && i < json_array_size(array); i++) {
		err = element(loader, array, "samples", i, &object);
		if (!err)
			err = load_sample(loader, object);
	}
	return err;
}

/* Cells and speed-ups are computed anew, but ought to look like it. */
static int check_derived(struct loader *loader, const json_t *root)
{
	static const char *const names[] = { "cells", "speedups" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const json_t *array = json_object_get(root, names[i]);

		if (array && !json_is_array(array))
			return place_error(&loader->place, -EINVAL, "%s is not an array",
					   names[i]);
	}
	return 0;
}

static int load_remarks(struct loader *loader, const json_t *root)
{
	static const struct field fields[] = {
		{ .name = "interrupted",
		  .kind = FIELD_BOOL,
		  .offset = offsetof(struct result, interrupted) },
		{ .name = NULL },
	};
	const json_t *warnings = json_object_get(root, "warnings");
	int err = fields_load(&loader->place, root, fields, loader->result);

	if (!err && warnings && !json_is_array(warnings))
		return place_error(&loader->place, -EINVAL, "warnings is not an array");
	if (!err)
		err = check_length(loader, warnings, "warnings");
	for (size_t i = 0; !err && i < json_array_size(warnings); i++) {
		const char *text = json_string_value(json_array_get(warnings, i));

		if (!text)
			return place_error(&loader->place, -EINVAL,
					   "warnings[%zu] is not a string", i);
		err = result_warn(loader->result, "%s", text);
		if (err > 0)
			err = 0;
	}
	return err;
}

static int load_result(struct loader *loader, const json_t *root)
{
	static int (*const parts[])(struct loader * loader, const json_t *root) = {
		load_schema, load_pagezone, load_environment, load_parameters,
		load_sides,  load_samples,  check_derived,    load_remarks,
	};
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_SIZE(parts); i++) {
		loader_at_top(loader);
		err = parts[i](loader, root);
	}
	if (err)
		return err;
	loader_at_top(loader);
	err = result_derive(loader->result);
	if (err == -EINVAL)
		err = place_error(
			&loader->place, err,
			"samples has the same side, phase, threads and round twice");
	return err;
}

int result_load(struct result **result, const char *path, struct reason *why)
{
	struct loader loader = { .place = { .path = path, .why = why } };
	json_t *root = NULL;
	int err;

	err = load_json(&loader, &root);
	if (!err) {
		loader.result = result_alloc();
		err = loader.result ? load_result(&loader, root) : -ENOMEM;
	}
	json_decref(root);
	if (err == -ENOMEM) {
		loader_at_top(&loader);
		place_error(&loader.place, err, "%s", strerror(ENOMEM));
	}
	if (err)
		result_free(loader.result);
	else
		*result = loader.result;
	return err;
}
