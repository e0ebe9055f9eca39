/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "result/result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "base/bits.h"
#include "stats/histogram.h"

void result_times_destroy(struct result_times *times)
{
	free(times->ns);
	free(times->histogram);
	*times = (struct result_times){ .nr = 0 };
}

/* The quantiles of all that there are. */
static int exact_quantiles(const struct result_times *times, const double *fractions,
			   unsigned nr, double *ns)
{
	double *sorted = reallocarray(NULL, times->nr, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (uint64_t i = 0; i < times->nr; i++)
		sorted[i] = (double)times->ns[i];
	gsl_sort(sorted, 1, times->nr);
	for (unsigned i = 0; i < nr; i++)
		ns[i] = gsl_stats_quantile_from_sorted_data(sorted, 1, times->nr,
							    fractions[i]);
	free(sorted);
	return 0;
}

int result_times_quantiles(const struct result_times *times, const double *fractions,
			   unsigned nr, double *ns)
{
	if (times->ns)
		return exact_quantiles(times, fractions, nr, ns);
	for (unsigned i = 0; i < nr; i++) {
		ns[i] = NAN;
		if (!times->histogram)
			continue;
		/* The middle of a bucket may lie beyond the last number in it. */
		ns[i] = histogram_quantile(times->histogram, fractions[i]);
		ns[i] = fmax((double)times->min_ns, fmin(ns[i], (double)times->max_ns));
	}
	return 0;
}

static int set_median(struct result_times *times)
{
	static const double half = 0.5;

	return result_times_quantiles(times, &half, 1, &times->median_ns);
}

int result_times_set(struct result_times *times, uint64_t *ns, uint64_t nr)
{
	struct histogram *histogram = NULL;
	double sum = 0;
	int err;

	result_times_destroy(times);
	if (!nr) {
		free(ns);
		return 0;
	}
	if (nr > RESULT_MAX_TIMES) {
		histogram = calloc(1, sizeof(*histogram));
		if (!histogram) {
			free(ns);
			return -ENOMEM;
		}
	}
	*times = (struct result_times){ .nr = nr, .min_ns = UINT64_MAX };
	for (uint64_t i = 0; i < nr; i++) {
		times->min_ns = min_u64(times->min_ns, ns[i]);
		times->max_ns = max_u64(times->max_ns, ns[i]);
		sum += (double)ns[i];
		if (histogram)
			histogram_add(histogram, ns[i], 1);
	}
	times->mean_ns = sum / (double)nr;
	times->histogram = histogram;
	if (histogram)
		free(ns);
	else
		times->ns = ns;
	err = set_median(times);
	if (err)
		result_times_destroy(times);
	return err;
}

void result_times_set_histogram(struct result_times *times, struct histogram *histogram,
				uint64_t min_ns, uint64_t max_ns, double mean_ns)
{
	result_times_destroy(times);
	*times = (struct result_times){ .nr = histogram->nr,
					.histogram = histogram,
					.min_ns = min_ns,
					.max_ns = max_ns,
					.mean_ns = mean_ns };
	set_median(times);
}
