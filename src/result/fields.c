/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "result/fields.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/format.h"
#include "result/result.h"

#define MAX_ROUNDS 1000000

#define FIELD(struct_, member, kind_, ...)                              \
	{                                                               \
		.name = #member, .kind = kind_,                         \
		.offset = offsetof(struct struct_, member), __VA_ARGS__ \
	}
#define REQUIRED .flags = FIELD_REQUIRED

#define ENV(member, kind, ...) FIELD(result_environment, member, kind, __VA_ARGS__)

const struct field fields_environment[] = {
	ENV(kernel, FIELD_STRING),
	ENV(cpu_model, FIELD_STRING),
	ENV(virtualisation, FIELD_STRING),
	ENV(governor, FIELD_STRING),
	ENV(thp_enabled, FIELD_STRING),
	ENV(thp_defrag, FIELD_STRING),
	ENV(thp_shmem, FIELD_STRING),
	ENV(allowed_cpus, FIELD_STRING),
	ENV(nr_allowed_cpus, FIELD_UNSIGNED),
	ENV(nr_machine_cpus, FIELD_UNSIGNED),
	ENV(nr_nodes, FIELD_UNSIGNED),
	ENV(nr_packages, FIELD_UNSIGNED),
	ENV(nr_cores, FIELD_UNSIGNED),
	ENV(numa_balancing, FIELD_INT_OR_NULL),
	/* A load of 0 is a load, a quota of 0 is none. */
	ENV(load1, FIELD_REAL_OR_NULL, .null = -1),
	ENV(cpu_quota, FIELD_REAL_OR_NULL, .null = 0),
	ENV(mem_total, FIELD_U64_OR_NULL),
	ENV(mem_available, FIELD_U64_OR_NULL),
	ENV(cgroup_limit, FIELD_U64_OR_NULL),
	ENV(clock_step_ns, FIELD_U64),
	ENV(arena_bytes, FIELD_U64),
	ENV(arena_huge_bytes, FIELD_U64_OR_NULL),
	{ .name = NULL },
};

#define PARAMETER(member, kind, ...) FIELD(result_parameters, member, kind, __VA_ARGS__)

const struct field fields_parameters[] = {
	PARAMETER(bytes, FIELD_U64),
	PARAMETER(per_thread_size, FIELD_BOOL),
	PARAMETER(record, FIELD_U64),
	PARAMETER(rounds, FIELD_UNSIGNED, .max = MAX_ROUNDS),
	PARAMETER(rounds_auto, FIELD_BOOL, .flags = FIELD_SPARSE),
	PARAMETER(precision, FIELD_REAL_OR_NULL, .flags = FIELD_SPARSE, .null = 0),
	PARAMETER(budget, FIELD_U64_OR_NULL, .flags = FIELD_SPARSE),
	PARAMETER(layout, FIELD_STRING),
	PARAMETER(workers, FIELD_STRING),
	PARAMETER(pin, FIELD_STRING),
	PARAMETER(mem, FIELD_STRING),
	PARAMETER(pinned, FIELD_STRING),
	PARAMETER(per, FIELD_STRING),
	PARAMETER(verify, FIELD_BOOL, .flags = FIELD_SPARSE),
	PARAMETER(truncate_pages, FIELD_U64_OR_NULL, .flags = FIELD_SPARSE),
	PARAMETER(truncate_count, FIELD_U64_OR_NULL, .flags = FIELD_SPARSE),
	PARAMETER(truncate_state, FIELD_STRING, .flags = FIELD_SPARSE),
	PARAMETER(truncate_mapped, FIELD_STRING, .flags = FIELD_SPARSE),
	{ .name = NULL },
};

const struct field fields_side[] = {
	FIELD(result_side, mount, FIELD_STRING, .flags = FIELD_SPARSE),
	{ .name = NULL },
};

#define SAMPLE(member, kind, ...) FIELD(result_sample, member, kind, __VA_ARGS__)

const struct field fields_sample[] = {
	SAMPLE(threads, FIELD_UNSIGNED, REQUIRED, .min = 1, .max = FIELD_MAX_THREADS),
	SAMPLE(round, FIELD_ORDINAL, REQUIRED, .min = 1, .max = MAX_ROUNDS),
	SAMPLE(window_ns, FIELD_U64, REQUIRED),
	SAMPLE(bytes, FIELD_U64, REQUIRED),
	SAMPLE(kb_per_s, FIELD_REAL),
	SAMPLE(total_kb_per_s, FIELD_REAL),
	SAMPLE(sum_of_worker_rates, FIELD_REAL),
	SAMPLE(unmap_ns, FIELD_U64),
	{ .name = NULL },
};

const struct field fields_sample_end[] = {
	SAMPLE(too_short, FIELD_BOOL, .flags = FIELD_SPARSE),
	SAMPLE(failure, FIELD_STRING, .flags = FIELD_SPARSE),
	{ .name = NULL },
};

#define TIMES(member, kind, ...) FIELD(result_times, member, kind, __VA_ARGS__)

const struct field fields_times[] = {
	TIMES(nr, FIELD_U64, REQUIRED, .min = 1),
	TIMES(min_ns, FIELD_U64, REQUIRED),
	TIMES(median_ns, FIELD_REAL),
	TIMES(mean_ns, FIELD_REAL),
	TIMES(max_ns, FIELD_U64, REQUIRED),
	{ .name = NULL },
};

#define WORKER(member, kind, ...) FIELD(result_worker, member, kind, __VA_ARGS__)

const struct field fields_worker[] = {
	WORKER(cpu, FIELD_INT_OR_NULL),
	WORKER(node, FIELD_INT_OR_NULL),
	WORKER(cpu_start, FIELD_INT_OR_NULL, .flags = FIELD_SPARSE),
	WORKER(cpu_end, FIELD_INT_OR_NULL, .flags = FIELD_SPARSE),
	WORKER(start_ns, FIELD_U64, REQUIRED),
	WORKER(end_ns, FIELD_U64, REQUIRED),
	WORKER(bytes, FIELD_U64, REQUIRED),
	{ .name = NULL },
};

#define COUNTER(member, kind, group_) \
	FIELD(result_counters, member, kind, .group = group_)
#define FAULTS(member) COUNTER(member, FIELD_U64, RESULT_FAULTS)
#define USAGE(member)  COUNTER(member, FIELD_U64, RESULT_USAGE)
#define COUNTER_OF_LOCK(lock, figure)                                    \
	{                                                                \
		.name = #lock "_lock_" #figure, .kind = FIELD_U64,       \
		.offset = offsetof(struct result_counters, lock.figure), \
		.group = RESULT_LOCKS                                    \
	}
#define COUNTERS_OF_LOCK(lock)                                                 \
	COUNTER_OF_LOCK(lock, acquisitions), COUNTER_OF_LOCK(lock, contended), \
		COUNTER_OF_LOCK(lock, wait_ns)
#define COUNTER_OF_VMSTAT(name_)                               \
	{ .name = "vmstat_" #name_,                            \
	  .kind = FIELD_U64_OR_NULL,                           \
	  .offset = offsetof(struct result_counters, vmstat) + \
		    RESULT_VMSTAT_##name_ * sizeof(uint64_t),  \
	  .group = RESULT_VMSTAT },

const struct field fields_counters[] = {
	FAULTS(faults),
	FAULTS(minor_faults),
	FAULTS(major_faults),
	COUNTER(pages_inserted, FIELD_U64, RESULT_LOCKS),
	COUNTERS_OF_LOCK(mmap),
	COUNTERS_OF_LOCK(tree),
	COUNTERS_OF_LOCK(zone),
	COUNTERS_OF_LOCK(lru),
	COUNTER(pmd_mapped_bytes, FIELD_U64_OR_NULL, RESULT_FAULTS),
	USAGE(voluntary_switches),
	USAGE(involuntary_switches),
	USAGE(user_ns),
	USAGE(system_ns),
	COUNTER(pages_sampled, FIELD_U64, RESULT_PLACEMENT),
	COUNTER(pages_local, FIELD_U64, RESULT_PLACEMENT),
	COUNTER(pages_as_asked, FIELD_U64, RESULT_ASKED),
	RESULT_VMSTAT_COUNTERS(COUNTER_OF_VMSTAT){ .name = NULL },
};

#define CELL(member, kind, ...) FIELD(result_cell, member, kind, __VA_ARGS__)

const struct field fields_cell[] = {
	CELL(threads, FIELD_UNSIGNED),
	{ .name = "rounds",
	  .kind = FIELD_UNSIGNED,
	  .offset = offsetof(struct result_cell, nr_samples) },
	CELL(kb_per_s, FIELD_REAL),
	CELL(total_kb_per_s, FIELD_REAL),
	CELL(sum_of_worker_rates, FIELD_REAL),
	CELL(min, FIELD_REAL),
	CELL(p25, FIELD_REAL),
	CELL(p75, FIELD_REAL),
	CELL(max, FIELD_REAL),
	{ .name = "void",
	  .kind = FIELD_BOOL,
	  .offset = offsetof(struct result_cell, is_void),
	  .flags = FIELD_SPARSE },
	CELL(too_short, FIELD_BOOL, .flags = FIELD_SPARSE),
	{ .name = NULL },
};

#define SPEEDUP(member, kind, ...) FIELD(result_speedup, member, kind, __VA_ARGS__)

const struct field fields_speedup[] = {
	SPEEDUP(threads, FIELD_UNSIGNED),
	{ .name = "rounds",
	  .kind = FIELD_UNSIGNED,
	  .offset = offsetof(struct result_speedup, nr_rounds) },
	SPEEDUP(ratio, FIELD_REAL),
	SPEEDUP(low, FIELD_REAL),
	SPEEDUP(high, FIELD_REAL),
	{ .name = NULL },
};

json_t *fields_unless(int failed, json_t *value)
{
	if (!failed)
		return value;
	json_decref(value);
	return NULL;
}

json_t *fields_string(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */
	size_t len = strlen(text), used = 0;
	char *copy;
	json_t *string;

	copy = malloc(len * (sizeof(replacement) - 1) + 1);
	if (!copy)
		return NULL;
	while (*text) {
		size_t n = format_utf8(text);

		if (n) {
			memcpy(&copy[used], text, n);
			used += n;
			text += n;
		} else {
			memcpy(&copy[used], replacement, sizeof(replacement) - 1);
			used += sizeof(replacement) - 1;
			text++;
		}
	}
	string = json_stringn(copy, used);
	free(copy);
	return string;
}

static json_t *json_u64(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

json_t *fields_seed(uint64_t seed)
{
	char text[32];

	if (seed <= INT64_MAX)
		return json_u64(seed);
	snprintf(text, sizeof(text), "%" PRIu64, seed);
	return json_string(text);
}

static json_t *field_value(const struct field *field, const void *member)
{
	const double *real = member;
	const int *number = member;
	char *const *text = member;

	switch (field->kind) {
	case FIELD_STRING:
		return *text ? fields_string(*text) : json_null();
	case FIELD_UNSIGNED:
		return json_integer(*(const unsigned *)member);
	case FIELD_ORDINAL:
		return json_integer((json_int_t) * (const unsigned *)member + 1);
	case FIELD_U64:
		return json_u64(*(const uint64_t *)member);
	case FIELD_U64_OR_NULL:
		if (*(const uint64_t *)member == UINT64_MAX)
			return json_null();
		return json_u64(*(const uint64_t *)member);
	case FIELD_INT_OR_NULL:
		return *number < 0 ? json_null() : json_integer(*number);
	case FIELD_REAL:
		return isfinite(*real) ? json_real(*real) : json_null();
	case FIELD_REAL_OR_NULL:
		if (!isfinite(*real) || *real < 0 || *real <= field->null)
			return json_null();
		return json_real(*real);
	case FIELD_BOOL:
		return json_boolean(*(const bool *)member);
	}
	return NULL;
}

static int field_store(json_t *object, const struct field *field, const void *base)
{
	json_t *value = field_value(field, (const char *)base + field->offset);

	if ((field->flags & FIELD_SPARSE) &&
	    (json_is_null(value) || json_is_false(value)))
		return 0; /* null and false are not counted */
	return json_object_set_new(object, field->name, value) ? -ENOMEM : 0;
}

int fields_store(json_t *object, const struct field *fields, const void *base)
{
	int err = 0;

	for (const struct field *field = fields; !err && field->name; field++)
		err = field_store(object, field, base);
	return err;
}

int fields_store_groups(json_t *object, const struct field *fields, const void *base,
			unsigned groups)
{
	int err = 0;

	for (const struct field *field = fields; !err && field->name; field++)
		if (field->group & groups)
			err = field_store(object, field, base);
	return err;
}

unsigned fields_groups(const json_t *object, const struct field *fields)
{
	unsigned groups = 0;

	for (const struct field *field = fields; field->name; field++) {
		const json_t *value = json_object_get(object, field->name);

		if (value && (field->kind == FIELD_U64_OR_NULL || !json_is_null(value)))
			groups |= field->group;
	}
	return groups;
}

int place_error(const struct place *place, int err, const char *fmt, ...)
{
	size_t len = strlen(place->path);
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* The end of a path tells more than its start. */
	reason_set(place->why, err, "%s%s: %s%s", len > 180 ? "..." : "",
		   len > 180 ? place->path + len - 180 : place->path, place->where, text);
	if (place->why)
		format_plain(place->why->text);
	return err;
}

int place_open(const struct place *place, FILE **file)
{
	/* Without O_NONBLOCK, opening a FIFO takes until somebody writes to it: maybe for ever. */
	int fd = open(place->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), err;

	*file = NULL;
	if (fd >= 0 && !fcntl(fd, F_SETFL, 0))
		*file = fdopen(fd, "r");
	if (*file)
		return 0;
	err = -errno;
	if (fd >= 0)
		close(fd);
	return place_error(place, err, "%s", strerror(-err));
}

int place_integer(const struct place *place, const char *name, const json_t *value,
		  uint64_t min, uint64_t max, uint64_t *number)
{
	double real = json_real_value(value);
	bool good = false;

	*number = 0;
	if (json_is_integer(value)) {
		good = json_integer_value(value) >= 0;
		*number = (uint64_t)json_integer_value(value);
	} else if (json_is_real(value) && real >= 0 && real < 0x1p63 &&
		   real == floor(real)) {
		good = true;
		*number = (uint64_t)real;
	}
	if (good && *number >= min && *number <= max)
		return 0;
	if (max >= INT64_MAX)
		return place_error(place, -EINVAL,
				   "%s is not a whole number of at least %" PRIu64, name,
				   min);
	return place_error(place, -EINVAL,
			   "%s is not a whole number from %" PRIu64 " to %" PRIu64, name,
			   min, max);
}

static int load_string(const struct place *place, const struct field *field,
		       const json_t *value, char **member)
{
	char *text;

	if (!json_is_string(value))
		return place_error(place, -EINVAL, "%s is not a string", field->name);
	text = strdup(json_string_value(value));
	if (!text)
		return -ENOMEM;
	free(*member);
	*member = text;
	return 0;
}

static int load_integer(const struct place *place, const struct field *field,
			const json_t *value, void *member)
{
	uint64_t number, max = field->max;
	int err;

	if (!max) {
		max = INT64_MAX;
		if (field->kind == FIELD_UNSIGNED || field->kind == FIELD_ORDINAL)
			max = UINT_MAX;
		if (field->kind == FIELD_INT_OR_NULL)
			max = INT_MAX;
	}
	err = place_integer(place, field->name, value, field->min, max, &number);
	if (err)
		return err;
	if (field->kind == FIELD_UNSIGNED)
		*(unsigned *)member = (unsigned)number;
	else if (field->kind == FIELD_ORDINAL)
		*(unsigned *)member = (unsigned)number - 1;
	else if (field->kind == FIELD_INT_OR_NULL)
		*(int *)member = (int)number;
	else
		*(uint64_t *)member = number;
	return 0;
}

static int load_null(const struct place *place, const struct field *field, void *member)
{
	if (field->flags & FIELD_REQUIRED)
		return place_error(place, -EINVAL, "%s is missing", field->name);
	if (field->kind == FIELD_U64_OR_NULL)
		*(uint64_t *)member = UINT64_MAX;
	if (field->kind == FIELD_REAL)
		*(double *)member = NAN;
	if (field->kind == FIELD_REAL_OR_NULL)
		*(double *)member = field->null;
	if (field->kind == FIELD_INT_OR_NULL)
		*(int *)member = -1;
	return 0;
}

static int field_load(const struct place *place, const struct field *field,
		      const json_t *value, void *member)
{
	switch (field->kind) {
	case FIELD_STRING:
		return load_string(place, field, value, member);
	case FIELD_REAL:
	case FIELD_REAL_OR_NULL:
		if (!json_is_number(value) || json_number_value(value) < 0)
			return place_error(place, -EINVAL,
					   "%s is not a number of at least 0",
					   field->name);
		*(double *)member = json_number_value(value);
		return 0;
	case FIELD_BOOL:
		if (!json_is_boolean(value))
			return place_error(place, -EINVAL, "%s is neither true nor false",
					   field->name);
		*(bool *)member = json_is_true(value);
		return 0;
	default:
		return load_integer(place, field, value, member);
	}
}

int fields_load(const struct place *place, const json_t *object,
		const struct field *fields, void *base)
{
	for (const struct field *field = fields; field->name; field++) {
		const json_t *value = json_object_get(object, field->name);
		void *member = (char *)base + field->offset;
		int err;

		if (!value || json_is_null(value))
			err = load_null(place, field, member);
		else
			err = field_load(place, field, value, member);
		if (err)
			return err;
	}
	return 0;
}
