/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Engine specs: NAME[:KEY=VALUE[,KEY=VALUE]...]. A comma or a backslash in a value is escaped by
 * a backslash; a colon is not special after the first, so that any path can be a value.
 */
#ifndef ENGINE_SPEC_H
#define ENGINE_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/reason.h"

struct spec_key {
	char *key, *value;
	bool taken;
};

struct spec {
	char *name;
	struct spec_key *keys;
	size_t nr_keys;
};

/* 0; -EINVAL with @why (empty key, no '=', a key twice, a lone backslash at the end); -ENOMEM. */
int spec_parse(struct spec *spec, const char *text, struct reason *why);
void spec_destroy(struct spec *spec);

/* The value of @key, which counts as known from now on; NULL when it is not there. */
const char *spec_take(struct spec *spec, const char *key);
/*
 * After all known keys were taken: 0, or -EINVAL with @why naming the first key that is left and
 * the keys that @known lists.
 */
int spec_refuse_rest(const struct spec *spec, const char *known, struct reason *why);

#endif
