/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sizes for people. */
#include "base/format.h"

#include <string.h>

#include "base/bits.h"
#include "tap.h"

static void sizes(void)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{ 0, "0 B" },
		{ 1, "1 B" },
		{ 4095, "4095 B" },
		{ 4096, "4 KiB" },
		{ 4097, "4097 B" },
		{ 512 << 20, "512 MiB" },
		{ (uint64_t)3 << 29, "1536 MiB" },
		{ (uint64_t)1 << 40, "1 TiB" },
		{ 544 << 20, "544 MiB" },
		{ 24683656u * (uint64_t)1024, "23.6 GiB" },
		{ (uint64_t)32800 << 20, "32.1 GiB" },
		{ UINT64_MAX, "16.0 EiB" },
		{ (uint64_t)100 << 40, "100 TiB" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct size_text size = format_size(cases[i].bytes);

		ok(!strcmp(size.text, cases[i].text), "%llu is '%s' (%s)",
		   (unsigned long long)cases[i].bytes, cases[i].text, size.text);
	}
}

static void list_is(const unsigned *numbers, size_t nr, const char *expected)
{
	char *text = format_list(numbers, nr);

	ok(text && !strcmp(text, expected), "%zu numbers are '%s' (%s)", nr, expected,
	   text ? text : "none");
	free(text);
}

static void lists(void)
{
	static const unsigned numbers[] = { 0, 1, 2,	      4,	  6,
					    7, 9, 4294967293, 4294967294, 4294967295 };

	list_is(numbers, 0, "");
	list_is(numbers, 1, "0");
	list_is(numbers, 2, "0-1");
	list_is(numbers, 6, "0-2,4,6-7");
	list_is(numbers, 10, "0-2,4,6-7,9,4294967293-4294967295");
}

static void controls(void)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{ "", "" },
		{ "plain \xc3\xbc\xe2\x82\xac", "plain \xc3\xbc\xe2\x82\xac" },
		{ "\033[2J\r\n\t\x7f", "?[2J????" },
		/* U+009B, U+0080 and U+009F; U+00A0 and U+045B, which have their bytes, are none */
		{ "\xc2\x9b"
		  "2J\xc2\x80\xc2\x9f",
		  "?2J??" },
		{ "\xc2\xa0\xd1\x9b", "\xc2\xa0\xd1\x9b" },
		/* Cut short. */
		{ "a\xc2", "a\xc2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[32];

		strcpy(text, cases[i].from);
		format_plain(text);
		ok(!strcmp(text, cases[i].to), "control characters, case %zu: %s", i,
		   cases[i].to);
	}
}

int main(void)
{
	sizes();
	lists();
	controls();
	return done();
}
