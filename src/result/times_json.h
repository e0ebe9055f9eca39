/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times of truncations: each, or a histogram. Both ways, so that both know the same form. */
#ifndef RESULT_TIMES_JSON_H
#define RESULT_TIMES_JSON_H

#include <jansson.h>

#include "result/fields.h"
#include "result/result.h"

/* Of @times that there are. NULL: no memory. */
json_t *times_json(const struct result_times *times);

/* Reads them; nothing or null is none. 0; -EINVAL with the reason, -ENOMEM. */
int times_load(const struct place *place, const json_t *object,
	       struct result_times *times);

#endif
