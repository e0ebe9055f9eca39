/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the counters of a cell's samples come to. */
#ifndef REPORT_FIGURES_H
#define REPORT_FIGURES_H

#include "result/result.h"

/* A figure of one sample. NAN: unknown. */
typedef double (*figure_fn)(const struct result_sample *sample);

/* As they are counted. */
double figure_faults(const struct result_sample *sample);
double figure_minor_faults(const struct result_sample *sample);
double figure_major_faults(const struct result_sample *sample);
double figure_pmd_mapped_bytes(const struct result_sample *sample);
double figure_pages_sampled(const struct result_sample *sample);
double figure_pages_local(const struct result_sample *sample);
double figure_pages_as_asked(const struct result_sample *sample);
double figure_voluntary_switches(const struct result_sample *sample);
double figure_involuntary_switches(const struct result_sample *sample);
double figure_user_ns(const struct result_sample *sample);
double figure_system_ns(const struct result_sample *sample);

/*
 * The medians of the @nr @figures over those samples of @cell that know them. NAN: none
 * does, or the cell is void, as of its rates. 0 or -ENOMEM.
 */
int figures_median(const struct result *result, const struct result_cell *cell,
		   const figure_fn *figures, unsigned nr, double *medians);

#endif
