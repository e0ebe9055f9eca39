/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "result/node_pages.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* As many as a Linux kernel can be built for (MAX_NUMNODES). */
#define MAX_NODES 1024

json_t *node_pages_json(const struct result_counters *counters)
{
	json_t *array = json_array();
	int failed = !array;

	for (unsigned i = 0; !failed && i < counters->nr_nodes; i++) {
		const struct result_node_pages *node = &counters->pages_by_node[i];

		failed |= json_array_append_new(
			array, json_pack("{s:i,s:I}", "node", (int)node->node, "pages",
					 (json_int_t)node->pages));
	}
	return fields_unless(failed, array);
}

static int load_nodes(const struct place *place, const json_t *array,
		      struct result_counters *counters)
{
	size_t nr = json_array_size(array);
	uint64_t node, pages, left = counters->pages_sampled;

	if (nr > MAX_NODES)
		return place_error(place, -EINVAL, "pages_by_node has too many elements");
	counters->pages_by_node = calloc(nr + 1, sizeof(*counters->pages_by_node));
	if (!counters->pages_by_node)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const json_t *object = json_array_get(array, i);
		int err = place_integer(place, "pages_by_node.node",
					json_object_get(object, "node"), 0, INT_MAX,
					&node);

		if (!err)
			err = place_integer(place, "pages_by_node.pages",
					    json_object_get(object, "pages"), 0,
					    INT64_MAX, &pages);
		if (err)
			return err;
		if (i && node <= counters->pages_by_node[i - 1].node)
			return place_error(place, -EINVAL,
					   "pages_by_node is not in the order of nodes");
		if (pages > left)
			return place_error(
				place, -EINVAL,
				"pages_by_node has more pages than pages_sampled says");
		left -= pages;
		counters->pages_by_node[counters->nr_nodes++] =
			(struct result_node_pages){ (unsigned)node, pages };
	}
	if (left)
		return place_error(
			place, -EINVAL,
			"pages_by_node has fewer pages than pages_sampled says");
	return 0;
}

int node_pages_load(const struct place *place, const json_t *object,
		    struct result_counters *counters)
{
	const json_t *array = json_object_get(object, "pages_by_node");

	if (counters->pages_local > counters->pages_sampled ||
	    counters->pages_as_asked > counters->pages_sampled)
		return place_error(place, -EINVAL, "%s are more than pages_sampled",
				   counters->pages_local > counters->pages_sampled ?
					   "pages_local" :
					   "pages_as_asked");
	if (!array || json_is_null(array))
		return 0;
	if (!json_is_array(array))
		return place_error(place, -EINVAL, "pages_by_node is not an array");
	return load_nodes(place, array, counters);
}
