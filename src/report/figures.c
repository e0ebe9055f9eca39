/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/figures.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "stats/stats.h"

#define FIGURE(member, group)                                               \
	double figure_##member(const struct result_sample *sample)          \
	{                                                                   \
		const struct result_counters *counters = &sample->counters; \
                                                                            \
		if (!(counters->known & (group)))                           \
			return NAN;                                         \
		return (double)counters->member;                            \
	}

FIGURE(faults, RESULT_FAULTS)
FIGURE(minor_faults, RESULT_FAULTS)
FIGURE(major_faults, RESULT_FAULTS)
FIGURE(voluntary_switches, RESULT_USAGE)
FIGURE(involuntary_switches, RESULT_USAGE)
FIGURE(user_ns, RESULT_USAGE)
FIGURE(system_ns, RESULT_USAGE)
FIGURE(pages_sampled, RESULT_PLACEMENT)
FIGURE(pages_local, RESULT_PLACEMENT)
FIGURE(pages_as_asked, RESULT_ASKED)

double figure_pmd_mapped_bytes(const struct result_sample *sample)
{
	const struct result_counters *counters = &sample->counters;

	if (!(counters->known & RESULT_FAULTS) ||
	    counters->pmd_mapped_bytes == UINT64_MAX)
		return NAN;
	return (double)counters->pmd_mapped_bytes;
}

int figures_median(const struct result *result, const struct result_cell *cell,
		   const figure_fn *figures, unsigned nr, double *medians)
{
	const struct result_sample **samples;
	unsigned nr_samples = 0;
	double *values;
	int err = 0;

	for (unsigned f = 0; f < nr; f++)
		medians[f] = NAN;
	if (cell->is_void)
		return 0;
	samples = calloc(cell->nr_samples + 1, sizeof(*samples));
	values = calloc(cell->nr_samples + 1, sizeof(*values));
	if (!samples || !values)
		err = -ENOMEM;
	for (unsigned i = 0; !err && i < result->nr_samples; i++) {
		const struct result_sample *sample = &result->samples[i];

		if (nr_samples < cell->nr_samples && sample->side == cell->side &&
		    sample->phase == cell->phase && sample->threads == cell->threads)
			samples[nr_samples++] = sample;
	}
	for (unsigned f = 0; !err && f < nr; f++) {
		struct summary summary;
		unsigned nr_values = 0;

		for (unsigned i = 0; i < nr_samples; i++) {
			values[nr_values] = figures[f](samples[i]);
			nr_values += isfinite(values[nr_values]) != 0;
		}
		if (!nr_values)
			continue;
		err = summary_compute(&summary, values, nr_values);
		if (!err)
			medians[f] = summary.median;
	}
	free(values);
	free(samples);
	return err;
}
