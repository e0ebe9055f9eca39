/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "result/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int result_pick_side(const struct result *result, const char *name, unsigned *side,
		     struct reason *why)
{
	unsigned nr = 0, last = 0;

	for (unsigned i = 0; i < result->nr_sides; i++) {
		if (!strcmp(result->sides[i].name, name ? name : "patched")) {
			*side = i;
			return 0;
		}
		if (!result_side_is_limit(result, i)) {
			last = i;
			nr++;
		}
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

int result_keep_side(struct result *result, unsigned side, const char *name)
{
	char *copy = strdup(name);
	unsigned nr = 0;

	if (!copy)
		return -ENOMEM;
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

static bool has_threads(const struct result *result, unsigned threads)
{
	for (unsigned i = 0; i < result->parameters.nr_threads; i++)
		if (result->parameters.threads[i] == threads)
			return true;
	return false;
}

static bool find_phase(const struct result *result, const char *name, unsigned *phase)
{
	for (unsigned i = 0; i < result->nr_phases; i++) {
		if (!strcmp(result->phases[i].name, name)) {
			*phase = i;
			return true;
		}
	}
	return false;
}

int result_join(struct result *result, struct result *other, unsigned side,
		const char *name)
{
	unsigned number = result->nr_sides, phase;

	if (result_add_side(result, name, other->sides[side].spec))
		return -ENOMEM;
	result->sides[number].mount = other->sides[side].mount;
	other->sides[side].mount = NULL;
	for (unsigned i = 0; i < other->nr_samples; i++) {
		struct result_sample *from = &other->samples[i], *to;

		if (from->side != side || !has_threads(result, from->threads) ||
		    !find_phase(result, other->phases[from->phase].name, &phase))
			continue;
		to = result_add_sample(result, 0);
		if (!to)
			return -ENOMEM;
		*to = *from;
		to->side = number;
		to->phase = phase;
		from->workers = NULL;
		from->nr_workers = 0;
		from->failure = NULL;
		from->counters.pages_by_node = NULL;
		from->counters.nr_nodes = 0;
		from->times = (struct result_times){ .nr = 0 };
	}
	result->interrupted |= other->interrupted;
	for (unsigned i = 0; i < other->nr_warnings; i++)
		if (result_warn(result, "%s: %s", name, other->warnings[i]) < 0)
			return -ENOMEM;
	return 0;
}
