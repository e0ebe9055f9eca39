/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "result/times_json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/bits.h"
#include "stats/histogram.h"

/* All of them, in the order measured. */
static json_t *json_ns(const struct result_times *times)
{
	json_t *array = json_array();
	int failed = 0;

	for (uint64_t i = 0; !failed && i < times->nr; i++)
		failed |= json_array_append_new(array,
						json_integer((json_int_t)times->ns[i]));
	return fields_unless(failed, array);
}

/* [low, high, how many] of each bucket that has any. */
static json_t *json_buckets(const struct histogram *histogram)
{
	json_t *array = json_array();
	int failed = 0;

	for (unsigned i = 0; !failed && i < HISTOGRAM_NR_BUCKETS; i++)
		if (histogram->buckets[i])
			failed |= json_array_append_new(
				array, json_pack("[I,I,I]", (json_int_t)histogram_low(i),
						 (json_int_t)histogram_high(i),
						 (json_int_t)histogram->buckets[i]));
	return fields_unless(failed, array);
}

json_t *times_json(const struct result_times *times)
{
	json_t *object = json_object();
	int failed = fields_store(object, fields_times, times);

	if (times->ns) {
		failed |= json_object_set_new(object, "ns", json_ns(times));
		return fields_unless(failed, object);
	}
	failed |= json_object_set_new(object, "relative_error",
				      json_real(HISTOGRAM_RELATIVE_ERROR));
	failed |= json_object_set_new(object, "buckets", json_buckets(times->histogram));
	return fields_unless(failed, object);
}

/* Numbers that all have to be there: whole ones of at least 0. */
static int load_integers(const struct place *place, const char *name, const json_t *array,
			 size_t nr, uint64_t *numbers)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++)
		err = place_integer(place, name, json_array_get(array, i), 0, INT64_MAX,
				    &numbers[i]);
	return err;
}

static int load_ns(const struct place *place, const json_t *array,
		   struct result_times *times)
{
	size_t nr = json_array_size(array);
	uint64_t *ns;
	int err;

	if (nr != times->nr || nr > RESULT_MAX_TIMES)
		return place_error(place, -EINVAL,
				   "ns has not as many numbers as nr says");
	ns = calloc(nr, sizeof(*ns));
	if (!ns)
		return -ENOMEM;
	err = load_integers(place, "ns", array, nr, ns);
	if (!err)
		return result_times_set(times, ns, nr);
	free(ns);
	return err;
}

/* Buckets are those of stats/histogram.h; others would have another error. */
static int load_buckets(const struct place *place, const json_t *array,
			struct result_times *times)
{
	struct histogram *histogram = calloc(1, sizeof(*histogram));
	int err = histogram ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < json_array_size(array); i++) {
		const json_t *bucket = json_array_get(array, i);
		uint64_t numbers[3];
		unsigned n;

		err = load_integers(place, "buckets", bucket, ARRAY_SIZE(numbers),
				    numbers);
		if (err)
			break;
		n = histogram_bucket(numbers[0]);
		if (histogram_low(n) != numbers[0] || histogram_high(n) != numbers[1])
			err = place_error(place, -EINVAL,
					  "buckets[%zu] is not one of this pagezone's",
					  i);
		else if (numbers[2] > times->nr - histogram->nr)
			err = place_error(place, -EINVAL,
					  "buckets have more numbers than nr says");
		else
			histogram_add(histogram, numbers[0], numbers[2]);
	}
	if (!err && histogram->nr != times->nr)
		err = place_error(place, -EINVAL,
				  "buckets have fewer numbers than nr says");
	if (!err && (!isfinite(times->mean_ns) || times->min_ns > times->max_ns))
		err = place_error(place, -EINVAL, "min_ns, mean_ns and max_ns cannot be");
	if (err)
		free(histogram);
	else
		result_times_set_histogram(times, histogram, times->min_ns, times->max_ns,
					   times->mean_ns);
	return err;
}

int times_load(const struct place *place, const json_t *object,
	       struct result_times *times)
{
	struct place inner = *place;
	const json_t *ns = json_object_get(object, "ns");
	const json_t *buckets = json_object_get(object, "buckets");
	int err;

	if (!object || json_is_null(object))
		return 0;
	if (!json_is_object(object))
		return place_error(place, -EINVAL, "times is not an object");
	snprintf(inner.where, sizeof(inner.where), "%.32stimes.", place->where);
	err = fields_load(&inner, object, fields_times, times);
	if (!err && ns)
		err = load_ns(&inner, ns, times);
	else if (!err && buckets)
		err = load_buckets(&inner, buckets, times);
	else if (!err)
		err = place_error(&inner, -EINVAL, "ns is missing, and so are buckets");
	if (err)
		result_times_destroy(times);
	return err;
}
