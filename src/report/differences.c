/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In what two results differ: all that their files tell of where and how they were measured. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "report/compare.h"
#include "report/text.h"
#include "result/fields.h"

/* They differ from one run to the next; or are told of in another way. */
static const char *const fleeting[] = {
	"load1",       "mem_available",	   "clock_step_ns",
	"arena_bytes", "arena_huge_bytes", "per",
	"rounds",      "rounds_auto",	   "precision",
	"budget",      "pinned",	   NULL,
};

/* Not the same work: no ratio means anything. */
static const char *const fatal[] = {
	"bytes",	  "per_thread_size", "record", "truncate_pages",
	"truncate_state", "truncate_mapped", NULL,
};

static bool is_one_of(const char *name, const char *const names[])
{
	for (unsigned i = 0; names[i]; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Takes over @baseline and @other. 0 or -ENOMEM. */
static int add(struct differences *differences, const char *what, char *baseline,
	       char *other, bool is_fatal)
{
	struct difference *list;

	list = reallocarray(differences->list, (size_t)differences->nr + 1,
			    sizeof(*list));
	if (list)
		differences->list = list;
	if (!list || !baseline || !other) {
		free(baseline);
		free(other);
		return -ENOMEM;
	}
	list[differences->nr++] = (struct difference){
		.what = what, .baseline = baseline, .other = other, .fatal = is_fatal
	};
	return 0;
}

/* A member as text. NULL: no memory. */
static char *member_text(const struct field *field, const void *base)
{
	const void *at = (const char *)base + field->offset;
	uint64_t number;
	struct text text;

	switch (field->kind) {
	case FIELD_STRING:
		/* Empty: the system told nothing, as of a governor where there is none. */
		return strdup(*(char *const *)at && **(char *const *)at ?
				      *(char *const *)at :
				      "unknown");
	case FIELD_BOOL:
		if (!strcmp(field->name, "per_thread_size"))
			return strdup(*(const bool *)at ? "-s (of each thread)" :
							  "-S (of all threads)");
		return strdup(*(const bool *)at ? "yes" : "no");
	case FIELD_UNSIGNED:
	case FIELD_ORDINAL:
		/* Of CPUs, nodes, packages and cores: files that were imported do not tell. */
		if (!*(const unsigned *)at)
			return strdup("unknown");
		return strdup(text_fixed(&text, *(const unsigned *)at, 0));
	case FIELD_INT_OR_NULL:
		if (*(const int *)at < 0)
			return strdup("unknown");
		return strdup(text_fixed(&text, *(const int *)at, 0));
	case FIELD_REAL:
		return strdup(text_exact(&text, *(const double *)at));
	case FIELD_REAL_OR_NULL:
		if (!(*(const double *)at > field->null))
			return strdup("none");
		return strdup(text_exact(&text, *(const double *)at));
	case FIELD_U64:
	case FIELD_U64_OR_NULL:
		number = *(const uint64_t *)at;
		if (number == UINT64_MAX)
			return strdup(strcmp(field->name, "mem_total") ? "none" :
									 "unknown");
		/* No file has 0 bytes, nor has a record: imported ones may tell neither. */
		if (!number && is_one_of(field->name, fatal))
			return strdup("unknown");
		/* Exactly: what is rounded looks the same. */
		if (!strncmp(field->name, "truncate_", 9) ||
		    strchr(format_size(number).text, '.')) {
			snprintf(text.s, sizeof(text.s), "%" PRIu64, number);
			return strdup(text.s);
		}
		return strdup(format_size(number).text);
	}
	return strdup("unknown");
}

static int members(struct differences *differences, const struct field *fields,
		   const void *baseline, const void *other)
{
	int err = 0;

	for (; fields->name && !err; fields++) {
		char *a, *b;

		if (is_one_of(fields->name, fleeting))
			continue;
		a = member_text(fields, baseline);
		b = member_text(fields, other);
		if (a && b && !strcmp(a, b)) {
			free(a);
			free(b);
			continue;
		}
		err = add(differences, fields->name, a, b,
			  is_one_of(fields->name, fatal));
	}
	return err;
}

/* @missing: what it means where there is none. */
static int strings(struct differences *differences, const char *what, const char *a,
		   const char *b, const char *missing)
{
	a = a ? a : missing;
	b = b ? b : missing;
	if (!strcmp(a, b))
		return 0;
	return add(differences, what, strdup(a), strdup(b), false);
}

static char *join_phases(const struct result *result)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	for (unsigned i = 0; i < result->nr_phases; i++)
		fprintf(out, "%s%s", i ? "," : "", result->phases[i].name);
	return fclose(out) ? NULL : text;
}

static char *join_threads(const struct result *result)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	for (unsigned i = 0; i < result->parameters.nr_threads; i++)
		fprintf(out, "%s%u", i ? "," : "", result->parameters.threads[i]);
	return fclose(out) ? NULL : text;
}

static bool common_phase(const struct result *a, const struct result *b)
{
	for (unsigned i = 0; i < a->nr_phases; i++)
		if (result_find_phase(b, a->phases[i].name) >= 0)
			return true;
	return false;
}

static bool common_threads(const struct result *a, const struct result *b)
{
	for (unsigned i = 0; i < a->parameters.nr_threads; i++)
		if (result_has_threads(b, a->parameters.threads[i]))
			return true;
	return false;
}

/* Texts that were made for it; the same ones are no difference. */
static int lists(struct differences *differences, const char *what, char *a, char *b,
		 bool is_fatal)
{
	if (a && b && !strcmp(a, b)) {
		free(a);
		free(b);
		return 0;
	}
	return add(differences, what, a, b, is_fatal);
}

/* What came of --pin, unless that says it all. */
static int pinned(struct differences *differences, const struct result_parameters *a,
		  const struct result_parameters *b)
{
	if (a->pinned && a->pin && !strcmp(a->pinned, a->pin) && b->pinned && b->pin &&
	    !strcmp(b->pinned, b->pin))
		return 0;
	return strings(differences, "pinned", a->pinned, b->pinned, "unknown");
}

/* What was imported had none, nor workers. */
static int seeds(struct differences *differences, const struct result_parameters *a,
		 const struct result_parameters *b)
{
	char texts[2][24];

	if (!a->workers || !b->workers)
		return 0;
	snprintf(texts[0], sizeof(texts[0]), "%" PRIu64, a->seed);
	snprintf(texts[1], sizeof(texts[1]), "%" PRIu64, b->seed);
	return strings(differences, "seed", texts[0], texts[1], "");
}

int differences_find(struct differences *differences, const struct result *baseline,
		     unsigned baseline_side, const struct result *other, unsigned side)
{
	int err;

	*differences = (struct differences){ .nr = 0 };
	err = lists(differences, "phases", join_phases(baseline), join_phases(other),
		    !common_phase(baseline, other));
	if (!err)
		err = lists(differences, "threads", join_threads(baseline),
			    join_threads(other), !common_threads(baseline, other));
	if (!err)
		err = members(differences, fields_parameters, &baseline->parameters,
			      &other->parameters);
	if (!err)
		err = pinned(differences, &baseline->parameters, &other->parameters);
	if (!err)
		err = seeds(differences, &baseline->parameters, &other->parameters);
	if (!err)
		err = members(differences, fields_environment, &baseline->environment,
			      &other->environment);
	if (!err)
		err = strings(differences, "mount", baseline->sides[baseline_side].mount,
			      other->sides[side].mount, "none");
	if (!err)
		err = strings(differences, "pagezone", baseline->version, other->version,
			      "unknown");
	if (err)
		differences_destroy(differences);
	return err;
}

void differences_destroy(struct differences *differences)
{
	for (unsigned i = 0; i < differences->nr; i++) {
		free(differences->list[i].baseline);
		free(differences->list[i].other);
	}
	free(differences->list);
	*differences = (struct differences){ .nr = 0 };
}

const struct difference *differences_fatal(const struct differences *differences)
{
	for (unsigned i = 0; i < differences->nr; i++)
		if (differences->list[i].fatal)
			return &differences->list[i];
	return NULL;
}

const struct difference *compared_difference(const struct compared *compared, unsigned n,
					     unsigned *file)
{
	for (*file = 0; *file < compared->nr_files; ++*file) {
		const struct differences *differences =
			&compared->files[*file].differences;

		if (n < differences->nr)
			return &differences->list[n];
		n -= differences->nr;
	}
	return NULL;
}
