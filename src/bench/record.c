/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "sys/arena.h"

void record_warn(struct record *record, const char *text)
{
	if (result_warn(record->result, "%s", text) == 1 && record->conf->warn)
		record->conf->warn(record->conf->arg, text);
}

void record_binding(struct record *record, int bind_err)
{
	char text[256];
	bool offline;

	if (!bind_err || record->warned_binding)
		return;
	record->warned_binding = true;
	/* The kernel's word for CPUs that went since the plan was made; others are bound. */
	offline = bind_err == -EINVAL;
	snprintf(
		text, sizeof(text),
		"%sworkers could not be bound to CPUs (%s%s); they run where the scheduler "
		"puts them",
		offline ? "some " : "", strerror(-bind_err),
		offline ? ": a CPU went offline, or out of the cpuset" : "");
	record_warn(record, text);
	/* Where one CPU went the plan stays: who is elsewhere then is counted and told. */
	record->unbound = !offline;
	free(record->result->parameters.pinned);
	record->result->parameters.pinned =
		strdup(offline ? "in part (a CPU went away)" : "none (not permitted)");
}

void record_arenas(struct record *record, const struct arena *arenas, unsigned nr)
{
	struct result_environment *env = &record->result->environment;
	size_t bytes = 0;
	int bind_err = 0;
	char text[256];

	for (unsigned i = 0; i < nr; i++) {
		bytes += arena_bytes(&arenas[i]);
		if (arenas[i].nr_regions && !bind_err)
			bind_err = arenas[i].bind_err;
	}
	if (!bytes || env->arena_bytes == bytes)
		return;
	env->arena_bytes = bytes;
	env->arena_huge_bytes = 0;
	for (unsigned i = 0; i < nr && env->arena_huge_bytes != UINT64_MAX; i++) {
		size_t huge = arena_huge_bytes(&arenas[i]);

		env->arena_huge_bytes = huge == SIZE_MAX ? UINT64_MAX :
							   env->arena_huge_bytes + huge;
	}
	if (bind_err && !record->warned_arenas) {
		record->warned_arenas = true;
		snprintf(
			text, sizeof(text),
			"page frames could not be placed as --mem %.100s asks (mbind: %s); "
			"they lie where the system put them",
			mem_policy_text(&record->conf->mem), strerror(-bind_err));
		record_warn(record, text);
	}
	if (env->arena_huge_bytes < bytes && !record->warned_huge) {
		record->warned_huge = true;
		snprintf(text, sizeof(text),
			 "only %s of %s of page frames are backed by huge pages; see "
			 "/sys/kernel/mm/transparent_hugepage/%s",
			 format_size(env->arena_huge_bytes).text, format_size(bytes).text,
			 arenas->shared ? "shmem_enabled (advise or always)" :
					  "enabled (madvise or always)");
		record_warn(record, text);
	}
}

struct result_sample *record_sample(struct record *record,
				    const struct placement *placements, unsigned side,
				    unsigned phase, unsigned threads, unsigned round)
{
	struct result_sample *sample = result_add_sample(record->result, threads);

	if (!sample)
		return NULL;
	sample->side = side;
	sample->phase = phase;
	sample->threads = threads;
	sample->round = round;
	for (unsigned i = 0; i < threads; i++) {
		sample->workers[i].cpu = record->unbound ? -1 : placements[i].cpu;
		sample->workers[i].node = record->unbound ? -1 : placements[i].node;
	}
	return sample;
}

int record_failure(struct result_sample *sample, const struct reason *why)
{
	sample->failure = strdup(why->text);
	return sample->failure ? 0 : -ENOMEM;
}

/* Whether an earlier round told the same of this cell: a round is no news. */
static bool was_told(const struct result *result, const struct result_sample *sample)
{
	for (const struct result_sample *s = result->samples; s < sample; s++)
		if (s->side == sample->side && s->phase == sample->phase &&
		    s->threads == sample->threads && !s->failure == !sample->failure &&
		    s->too_short == sample->too_short)
			return true;
	return false;
}

/* A sample without a figure, or without a good one, says so on its way; reports say it again. */
static void tell(const struct record *record, const struct result_sample *sample)
{
	const struct bench_conf *conf = record->conf;
	const char *side = conf->sides[sample->side].name;
	const char *phase = conf->phases[sample->phase]->name;
	struct reason text;

	if (!(sample->failure || sample->too_short) || was_told(record->result, sample))
		return;
	if (sample->failure) {
		reason_set(&text, 0, "%s, %s, -t %u: no figure: %s", side, phase,
			   sample->threads, sample->failure);
		if (conf->failed)
			conf->failed(conf->arg, text.text);
	} else {
		reason_set(
			&text, 0,
			"%s, %s, -t %u: its window is too short for a clock that steps "
			"by %llu ns; raise %s",
			side, phase, sample->threads,
			(unsigned long long)record->result->environment.clock_step_ns,
			conf->truncation ? "--pages or --count" : "-S or -s");
		if (conf->warn)
			conf->warn(conf->arg, text.text);
	}
}

void record_finish(struct record *record, struct result_sample *sample)
{
	uint64_t step_ns = record->result->environment.clock_step_ns;

	sample->too_short = !sample->failure &&
			    sample->window_ns < BENCH_MIN_CLOCK_STEPS * step_ns;
	result_sample_rates(sample);
	tell(record, sample);
}
