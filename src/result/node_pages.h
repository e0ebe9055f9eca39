/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where pages were found: the array of counters that no table of fields can describe. */
#ifndef RESULT_NODE_PAGES_H
#define RESULT_NODE_PAGES_H

#include <jansson.h>

#include "result/fields.h"
#include "result/result.h"

/* [{"node": 0, "pages": 512}, …]; NULL: no memory. */
json_t *node_pages_json(const struct result_counters *counters);

/*
 * Reads it from the counters @object, whose other figures have been read, and checks that all of
 * them go together. 0; -EINVAL with the reason, -ENOMEM.
 */
int node_pages_load(const struct place *place, const json_t *object,
		    struct result_counters *counters);

#endif
