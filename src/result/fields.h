/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The members of the JSON form, as tables: the writer and the loader walk the same ones,
 * so that they cannot drift apart.
 */
#ifndef RESULT_FIELDS_H
#define RESULT_FIELDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "base/reason.h"

/* More threads, or sides, phases and warnings, than these are a damaged file. */
#define FIELD_MAX_THREADS 4096
#define FIELD_MAX_NAMES	  1000

enum field_kind {
	FIELD_STRING,	    /* char *; NULL is null */
	FIELD_UNSIGNED,	    /* unsigned */
	FIELD_ORDINAL,	    /* unsigned, from 0 here and from 1 in JSON */
	FIELD_U64,	    /* uint64_t below 2^63; above, it is written as 2^63 - 1 */
	FIELD_U64_OR_NULL,  /* uint64_t; UINT64_MAX is null, and null is read as it */
	FIELD_INT_OR_NULL,  /* int; negative is null, which is read as -1 */
	FIELD_REAL,	    /* double; NAN or inf is null, which is read as NAN */
	FIELD_REAL_OR_NULL, /* double; null unless above @null, which null is read as */
	FIELD_BOOL,	    /* bool */
};

enum field_flags {
	FIELD_REQUIRED = 1 << 0, /* has to be there */
	FIELD_SPARSE = 1 << 1,	 /* not written when NULL or false */
};

struct field {
	const char *name;
	enum field_kind kind;
	size_t offset; /* in the struct it is a member of */
	unsigned flags;
	uint64_t min,
		max; /* of the integers, as JSON has them; max 0: as large as the type */
	double null; /* of FIELD_REAL_OR_NULL */
	unsigned group; /* of counters: the one enum result_known that it belongs to */
};

/* All end with a field without a name. */
extern const struct field fields_environment[]; /* of struct result_environment */
extern const struct field fields_parameters[];	/* of struct result_parameters */
extern const struct field fields_side[];   /* of struct result_side, but for its names */
extern const struct field fields_sample[]; /* of struct result_sample, to the workers */
extern const struct field fields_sample_end[]; /* and after the counters */
extern const struct field fields_times[];  /* of struct result_times, but for all times */
extern const struct field fields_worker[]; /* of struct result_worker */
extern const struct field fields_counters[]; /* of struct result_counters */
extern const struct field fields_cell[];     /* of struct result_cell */
extern const struct field fields_speedup[];  /* of struct result_speedup */

/* A JSON string of @text; bytes that are not UTF-8 become U+FFFD. NULL: no memory. */
json_t *fields_string(const char *text);
/* A seed: a number, or from 2^63 on, which jansson cannot read, a string of digits. */
json_t *fields_seed(uint64_t seed);

/* @value, or NULL after dropping it when something @failed. */
json_t *fields_unless(int failed, json_t *value);

/* Adds the fields of @base to @object. 0 or -ENOMEM (also when @object is NULL). */
int fields_store(json_t *object, const struct field *fields, const void *base);
/* Only those of @groups. */
int fields_store_groups(json_t *object, const struct field *fields, const void *base,
			unsigned groups);
/* Of which groups @object has a figure; a null that can be one is. */
unsigned fields_groups(const json_t *object, const struct field *fields);

/* Where the loader is: for messages. */
struct place {
	const char *path;
	struct reason *why;
	char where[64]; /* before a field's name: "samples[3].workers[1]." or "" */
};

/*
 * One line: the path, where, and what is wrong; control characters become '?'. Returns
 * @err.
 */
int place_error(const struct place *place, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Opens the place's file to be read. A FIFO that nobody has open for writing is empty;
 * others are waited for when they are read. 0 or -errno with the reason.
 */
int place_open(const struct place *place, FILE **file);
/*
 * An integer (also one written as 1e9) in [@min, @max]. 0 or -EINVAL with the reason;
 * @number is 0 then.
 */
int place_integer(const struct place *place, const char *name, const json_t *value,
		  uint64_t min, uint64_t max, uint64_t *number);
/*
 * Fills @base from @object. What is missing or null becomes what its kind reads null as,
 * or stays as it is, unless it is required. 0, -EINVAL with the reason set, or -ENOMEM.
 */
int fields_load(const struct place *place, const json_t *object,
		const struct field *fields, void *base);

#endif
