/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

int summary_compute(struct summary *summary, const double *values, size_t nr)
{
	double *sorted;

	if (!nr)
		return -EINVAL;
	sorted = malloc(nr * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, values, nr * sizeof(*sorted));
	gsl_sort(sorted, 1, nr);
	*summary = (struct summary){
		.nr = nr,
		.median = gsl_stats_median_from_sorted_data(sorted, 1, nr),
		.min = sorted[0],
		.max = sorted[nr - 1],
		.mean = gsl_stats_mean(sorted, 1, nr),
		.p25 = gsl_stats_quantile_from_sorted_data(sorted, 1, nr, 0.25),
		.p75 = gsl_stats_quantile_from_sorted_data(sorted, 1, nr, 0.75),
	};
	free(sorted);
	return 0;
}
