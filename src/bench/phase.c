/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/phase.h"

#include <errno.h>
#include <string.h>

const struct phase phases[NR_PHASES] = {
	{ "initial-writer", ACCESS_STORE, ORDER_ASCENDING, 0, true },
	{ "rewriter", ACCESS_STORE, ORDER_ASCENDING, 0, false },
	{ "reader", ACCESS_LOAD, ORDER_ASCENDING, 1, false },
	{ "re-reader", ACCESS_LOAD, ORDER_ASCENDING, 1, false },
	{ "reverse-reader", ACCESS_LOAD, ORDER_DESCENDING, 3, false },
	{ "random-reader", ACCESS_LOAD, ORDER_RANDOM, 2, false },
	{ "random-writer", ACCESS_STORE, ORDER_RANDOM, 2, false },
};

static bool matches(const struct phase *phase, const char *word, size_t len)
{
	if (len == 1 && word[0] >= '0' && word[0] <= '9')
		return phase->iozone_test == (unsigned)(word[0] - '0');
	return strlen(phase->name) == len && !memcmp(phase->name, word, len);
}

static void add_once(const struct phase *list[], size_t *nr, const struct phase *phase)
{
	for (size_t i = 0; i < *nr; i++)
		if (list[i] == phase)
			return;
	list[(*nr)++] = phase;
}

int phase_parse_list(const char *text, const struct phase *list[static NR_PHASES],
		     size_t *nr, struct reason *why)
{
	*nr = 0;
	for (;;) {
		size_t len = strcspn(text, ",");
		bool found = false;

		for (size_t i = 0; i < NR_PHASES; i++) {
			if (!matches(&phases[i], text, len))
				continue;
			add_once(list, nr, &phases[i]);
			found = true;
		}
		if (!found)
			return reason_set(
				why, -EINVAL,
				"there is no phase '%.*s' (there are: initial-writer, "
				"rewriter, reader, re-reader, reverse-reader, "
				"random-reader, random-writer, and iozone's 0 to 3)",
				(int)len, text);
		if (!text[len])
			return 0;
		text += len + 1;
	}
}
