/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Copies one value from @text up to an unescaped comma or the end; returns where it stopped. */
static const char *unescape(const char *text, char *to)
{
	while (*text && *text != ',') {
		if (*text == '\\' && !*++text)
			return NULL;
		*to++ = *text++;
	}
	*to = '\0';
	return text;
}

static int parse_pair(struct spec *spec, const char **text, struct reason *why)
{
	size_t len = strcspn(*text, "=,");
	struct spec_key *keys = realloc(spec->keys, (spec->nr_keys + 1) * sizeof(*keys));
	struct spec_key *key;

	if (!keys)
		return reason_set(why, -ENOMEM, "out of memory");
	spec->keys = keys;
	key = &keys[spec->nr_keys];
	*key = (struct spec_key){ .key = strndup(*text, len) };
	if (!key->key)
		return reason_set(why, -ENOMEM, "out of memory");
	spec->nr_keys++;
	if (!len || (*text)[len] != '=')
		return reason_set(why, -EINVAL, "'%s' is not KEY=VALUE", key->key);
	for (size_t i = 0; i + 1 < spec->nr_keys; i++)
		if (!strcmp(keys[i].key, key->key))
			return reason_set(why, -EINVAL, "key '%s' is given twice",
					  key->key);
	*text += len + 1;
	key->value = malloc(strlen(*text) + 1);
	if (!key->value)
		return reason_set(why, -ENOMEM, "out of memory");
	*text = unescape(*text, key->value);
	if (!*text)
		return reason_set(why, -EINVAL, "a backslash at the end escapes nothing");
	return 0;
}

int spec_parse(struct spec *spec, const char *text, struct reason *why)
{
	size_t len = strcspn(text, ":");
	int err;

	memset(spec, 0, sizeof(*spec));
	spec->name = strndup(text, len);
	if (!spec->name)
		return reason_set(why, -ENOMEM, "out of memory");
	text += len;
	while (*text) { /* at the colon, or at a comma between pairs */
		text++;
		err = parse_pair(spec, &text, why);
		if (err) {
			spec_destroy(spec);
			return err;
		}
	}
	return 0;
}

void spec_destroy(struct spec *spec)
{
	for (size_t i = 0; i < spec->nr_keys; i++) {
		free(spec->keys[i].key);
		free(spec->keys[i].value);
	}
	free(spec->keys);
	free(spec->name);
	memset(spec, 0, sizeof(*spec));
}

const char *spec_take(struct spec *spec, const char *key)
{
	for (size_t i = 0; i < spec->nr_keys; i++) {
		if (strcmp(spec->keys[i].key, key))
			continue;
		spec->keys[i].taken = true;
		return spec->keys[i].value;
	}
	return NULL;
}

int spec_refuse_rest(const struct spec *spec, const char *known, struct reason *why)
{
	for (size_t i = 0; i < spec->nr_keys; i++) {
		if (spec->keys[i].taken)
			continue;
		if (!*known)
			return reason_set(why, -EINVAL, "%s takes no keys, but got '%s'",
					  spec->name, spec->keys[i].key);
		return reason_set(why, -EINVAL, "%s has no key '%s' (it has: %s)",
				  spec->name, spec->keys[i].key, known);
	}
	return 0;
}
