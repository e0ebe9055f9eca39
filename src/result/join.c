/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "result/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stats/histogram.h"

int result_pick_side(const struct result *result, const char *name, unsigned *side,
		     struct reason *why)
{
	int found = result_find_side(result, name ? name : "patched");
	unsigned nr = 0, last = 0;

	if (found >= 0) {
		*side = (unsigned)found;
		return 0;
	}
	for (unsigned i = 0; i < result->nr_sides; i++) {
		if (result_side_is_limit(result, i))
			continue;
		last = i;
		nr++;
	}
	/* A run has one side, which needs no name. */
	if (nr == 1) {
		*side = last;
		return 0;
	}
	return reason_set(why, -ENOENT, nr ? "it has no side '%s'" : "it has no sides",
			  name ? name : "patched");
}

static void side_destroy(struct result_side *side)
{
	free(side->name);
	free(side->spec);
	free(side->mount);
}

/*
 * What the @n-th warning says of @side: those of one side begin with its name. NULL: it
 * is of another one.
 */
static const char *warning_of(const struct result *result, unsigned side, unsigned n)
{
	const char *text = result->warnings[n];

	for (unsigned i = 0; i < result->nr_sides; i++) {
		const char *name = result->sides[i].name;
		size_t len = strlen(name);

		if (!strncmp(text, name, len) && !strncmp(text + len, ": ", 2))
			return i == side ? text + len + 2 : NULL;
	}
	return text;
}

/* The warnings that are not of other sides than @side, as those of @name. 0 or -ENOMEM. */
static int keep_warnings(struct result *result, unsigned side, const char *name)
{
	char **warnings = result->warnings;
	unsigned nr = 0;

	for (unsigned i = 0; i < result->nr_warnings; i++) {
		const char *text = warning_of(result, side, i);
		char *kept = NULL;

		if (text && asprintf(&kept, "%s: %s", name, text) < 0)
			return -ENOMEM;
		free(warnings[i]);
		warnings[i] = NULL;
		if (kept)
			warnings[nr++] = kept;
	}
	result->nr_warnings = nr;
	return 0;
}

int result_keep_side(struct result *result, unsigned side, const char *name)
{
	char *copy = strdup(name);
	unsigned nr = 0;

	if (!copy || keep_warnings(result, side, name)) {
		free(copy);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < result->nr_samples; i++) {
		struct result_sample *sample = &result->samples[i];

		if (sample->side != side) {
			result_sample_destroy(sample);
			continue;
		}
		sample->side = 0;
		result->samples[nr++] = *sample;
	}
	result->nr_samples = nr;
	for (unsigned i = 0; i < result->nr_sides; i++)
		if (i != side)
			side_destroy(&result->sides[i]);
	result->sides[0] = result->sides[side];
	result->nr_sides = 1;
	free(result->sides[0].name);
	result->sides[0].name = copy;
	return 0;
}

/* A copy of @nr elements at @from, NULL of NULL. */
static void *copy_array(const void *from, size_t nr, size_t size)
{
	void *copy = from ? reallocarray(NULL, nr + 1, size) : NULL;

	return copy ? memcpy(copy, from, nr * size) : NULL;
}

/* @to has room for as many workers. On -ENOMEM it is incomplete, but may be destroyed. */
static int copy_sample(struct result_sample *to, const struct result_sample *from)
{
	const struct result_counters *counters = &from->counters;
	struct result_worker *workers = to->workers;

	*to = *from;
	to->workers = workers;
	if (workers)
		memcpy(workers, from->workers, from->nr_workers * sizeof(*workers));
	to->failure = from->failure ? strdup(from->failure) : NULL;
	to->counters.pages_by_node = copy_array(counters->pages_by_node,
						counters->nr_nodes,
						sizeof(*counters->pages_by_node));
	to->times.ns = copy_array(from->times.ns, from->times.nr, sizeof(*to->times.ns));
	to->times.histogram =
		copy_array(from->times.histogram, 1, sizeof(*to->times.histogram));
	if (!to->failure == !from->failure &&
	    !to->counters.pages_by_node == !counters->pages_by_node &&
	    !to->times.ns == !from->times.ns &&
	    !to->times.histogram == !from->times.histogram)
		return 0;
	return -ENOMEM;
}

int result_join(struct result *result, const struct result *other, unsigned side,
		const char *name)
{
	unsigned number = result->nr_sides;
	const char *mount = other->sides[side].mount;

	if (result_add_side(result, name, other->sides[side].spec))
		return -ENOMEM;
	result->sides[number].mount = mount ? strdup(mount) : NULL;
	if (mount && !result->sides[number].mount)
		return -ENOMEM;
	for (unsigned i = 0; i < other->nr_samples; i++) {
		const struct result_sample *from = &other->samples[i];
		struct result_sample *to;
		int phase;

		if (from->side != side || !result_has_threads(result, from->threads))
			continue;
		phase = result_find_phase(result, other->phases[from->phase].name);
		if (phase < 0)
			continue;
		to = result_add_sample(result, from->nr_workers);
		if (!to || copy_sample(to, from))
			return -ENOMEM;
		to->side = number;
		to->phase = (unsigned)phase;
	}
	result->interrupted |= other->interrupted;
	for (unsigned i = 0; i < other->nr_warnings; i++) {
		const char *text = warning_of(other, side, i);

		if (text && result_warn(result, "%s: %s", name, text) < 0)
			return -ENOMEM;
	}
	return 0;
}

int result_copy_side(struct result **copy, const struct result *result, unsigned side,
		     const char *name)
{
	struct result *new = result_alloc();
	int err = new ? 0 : -ENOMEM;

	for (unsigned i = 0; !err && i < result->nr_phases; i++)
		err = result_add_phase(new, result->phases[i].name,
				       result->phases[i].title);
	for (unsigned i = 0; !err && i < result->parameters.nr_threads; i++)
		err = result_add_threads(new, result->parameters.threads[i]);
	if (!err)
		err = result_join(new, result, side, name);
	if (err)
		result_free(new);
	else
		*copy = new;
	return err;
}
