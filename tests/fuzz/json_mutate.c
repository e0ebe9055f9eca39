/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How libFuzzer changes what tests/fuzz/json.c gets: mostly as a tree of JSON, since of
 * the files that bytes are changed in, few are JSON after it and hardly any are results.
 */
#include <jansson.h>

#include "fuzz/fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned seed);

/* A xorshift generator (Marsaglia 2003): the same seed makes the same change. */
static unsigned draw(unsigned *state, size_t below)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return below ? *state % below : 0;
}

/* What has gone wrong elsewhere: bounds, units, what terminals and markup obey. */
static const char *const values[] = {
	"null",
	"true",
	"[]",
	"{}",
	"\"\"",
	"0",
	"1",
	"2",
	"6",
	"-1",
	"-0.0",
	"0.5",
	"1e-300",
	"1e300",
	"1.0000000000000002",
	"255",
	"4096",
	"4097",
	"1000000",
	"2147483648",
	"4294967295",
	"4294967296",
	"9007199254740993",
	"9223372036854775807",
	"\"\\u001b[2J\"",
	"\"\\u009b1m\"",
	"\"a\\nb\"",
	"\"|`<&\\\"'@,\"",
	"\"\\ud83d\\ude00\\uffff\"",
	"\"limit\"",
	"\"run\"",
	"\"patched\"",
	"\"truncate\"",
	"\"total\"",
};

static json_t *some_value(unsigned *state)
{
	return json_loads(values[draw(state, sizeof(values) / sizeof(*values))],
			  JSON_DECODE_ANY, NULL);
}

static size_t nr_members(const json_t *value)
{
	return json_is_object(value) ? json_object_size(value) : json_array_size(value);
}

static const char *key_at(json_t *object, size_t number)
{
	void *at = json_object_iter(object);

	while (number--)
		at = json_object_iter_next(object, at);
	return json_object_iter_key(at);
}

static json_t *member_at(json_t *value, size_t number)
{
	if (json_is_array(value))
		return json_array_get(value, number);
	return json_object_get(value, key_at(value, number));
}

/* An array or an object at random, from the root down. */
static json_t *some_container(json_t *root, unsigned *state)
{
	json_t *at = root;

	while (nr_members(at)) {
		json_t *below = member_at(at, draw(state, nr_members(at)));

		if (!nr_members(below) || !draw(state, 4))
			break;
		at = below;
	}
	return at;
}

static void put_member(json_t *container, size_t number, json_t *value)
{
	if (json_is_array(container))
		json_array_set_new(container, number, value);
	else
		json_object_set_new(container, key_at(container, number), value);
}

static void remove_member(json_t *container, size_t number)
{
	if (json_is_array(container))
		json_array_remove(container, number);
	else
		json_object_del(container, key_at(container, number));
}

/* One change to @root. */
static void change(json_t *root, unsigned *state)
{
	json_t *container = some_container(root, state), *member, *other;
	size_t nr = nr_members(container), number = draw(state, nr);

	if (!nr)
		return;
	member = member_at(container, number);
	switch (draw(state, 6)) {
	case 0:
		remove_member(container, number);
		break;
	case 1:
		other = some_container(root, state);
		if (nr_members(other))
			put_member(container, number,
				   json_deep_copy(member_at(
					   other, draw(state, nr_members(other)))));
		break;
	case 2:
		if (json_is_array(container))
			json_array_append_new(container, json_deep_copy(member));
		break;
	case 3:
		if (!json_is_integer(member))
			put_member(container, number, some_value(state));
		else
			json_integer_set(
				member,
				(json_int_t)((uint64_t)json_integer_value(member) - 2 +
					     draw(state, 5)));
		break;
	default:
		put_member(container, number, some_value(state));
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	unsigned state = seed | 1;
	json_t *root = draw(&state, 8) ? json_loadb((char *)data, size, 0, NULL) : NULL;
	char *text;
	size_t len;

	if (!root)
		return LLVMFuzzerMutate(data, size, max_size);
	for (unsigned nr = 1 + draw(&state, 4); nr; nr--)
		change(root, &state);
	text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	len = text ? strlen(text) : 0;
	if (!len || len > max_size) {
		free(text);
		return LLVMFuzzerMutate(data, size, max_size);
	}
	memcpy(data, text, len);
	free(text);
	return len;
}
