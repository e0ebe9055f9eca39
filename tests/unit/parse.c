/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sizes, numbers and thread lists: what is taken, and what is refused. */

#include "base/parse.h"
#include "tap.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <string.h>

#define UNTOUCHED 0xdeadbeefULL

static void size_is(const char *s, uint64_t expected)
{
	uint64_t bytes = UNTOUCHED;
	int err = parse_size(s, &bytes);

	ok(!err && bytes == expected, "size '%s' is %" PRIu64, s, expected);
}

static void size_fails(const char *s, int expected)
{
	uint64_t bytes = UNTOUCHED;
	int err = parse_size(s, &bytes);

	ok(err == expected && bytes == UNTOUCHED, "size '%s' is refused (%s)", s,
	   strerror(-expected));
}

static void sizes(void)
{
	/* clang-format off */
	static const char *const malformed[] = {
		"", " ", "k", "KiB", "-1", "+5", "-0", "12x", "1e9", "0.5g", "1,5g",
		"0x10", " 4k", "4k ", "4 k", "4\n", "8Gi", "8gib", "8GIB", "8Gb", "4kib",
		"4KB", "4B", "4b", "4kk", "4km", "1p", "1PiB", "inf", "nan",
		"18446744073709551616x", "\xd9\xa4", "4\xc2\xa0k"
	};
	/* clang-format on */

	size_is("0", 0);
	size_is("0g", 0);
	size_is("1", 1);
	size_is("007", 7);
	size_is("4k", 4096);
	size_is("4K", 4096);
	size_is("3m", 3ULL << 20);
	size_is("3M", 3ULL << 20);
	size_is("8g", 8ULL << 30);
	size_is("8G", 8ULL << 30);
	size_is("2t", 2ULL << 40);
	size_is("2T", 2ULL << 40);
	size_is("4KiB", 4096);
	size_is("4MiB", 4ULL << 20);
	size_is("4GiB", 4ULL << 30);
	size_is("4TiB", 4ULL << 40);
	size_is("4kB", 4000);
	size_is("4MB", 4000000);
	size_is("4GB", 4000000000ULL);
	size_is("4TB", 4000000000000ULL);
	size_is("18446744073709551615", UINT64_MAX);
	size_is("16777215t", 16777215ULL << 40);

	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
		size_fails(malformed[i], -EINVAL);

	size_fails("18446744073709551616", -ERANGE);
	size_fails("99999999999999999999999999999999g", -ERANGE);
	size_fails("16777216t", -ERANGE);
	size_fails("17179869184GiB", -ERANGE);
	size_fails("18446745TB", -ERANGE);
}

static void uint_is(const char *s, uint64_t min, uint64_t max, int expected,
		    uint64_t value)
{
	uint64_t v = UNTOUCHED;
	int err = parse_uint(s, min, max, &v);

	ok(err == expected && v == (expected ? UNTOUCHED : value),
	   "number '%s' in %" PRIu64 "..%" PRIu64 ": %s", s, min, max,
	   expected ? strerror(-expected) : "taken");
}

static void numbers(void)
{
	uint_is("0", 0, 10, 0, 0);
	uint_is("10", 0, 10, 0, 10);
	uint_is("11", 0, 10, -ERANGE, 0);
	uint_is("1", 2, 10, -ERANGE, 0);
	uint_is("18446744073709551615", 0, UINT64_MAX, 0, UINT64_MAX);
	uint_is("18446744073709551616", 0, UINT64_MAX, -ERANGE, 0);
	uint_is("", 0, 10, -EINVAL, 0);
	uint_is("-1", 0, 10, -EINVAL, 0);
	uint_is("+1", 0, 10, -EINVAL, 0);
	uint_is(" 1", 0, 10, -EINVAL, 0);
	uint_is("1 ", 0, 10, -EINVAL, 0);
	uint_is("1k", 0, 10, -EINVAL, 0);
	uint_is("0x1", 0, 10, -EINVAL, 0);
	uint_is("1.0", 0, 10, -EINVAL, 0);
}

static void durations(void)
{
	static const struct {
		const char *text;
		int err;
		uint64_t seconds;
	} cases[] = {
		{ "90s", 0, 90 },
		{ "10m", 0, 600 },
		{ "2h", 0, 7200 },
		{ "0s", 0, 0 },
		{ "18446744073709551615s", 0, UINT64_MAX },
		{ "18446744073709551616s", -ERANGE, 0 },
		{ "5124095576030432h", -ERANGE, 0 },
		{ "10", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "m", -EINVAL, 0 },
		{ "-1m", -EINVAL, 0 },
		{ "1.5h", -EINVAL, 0 },
		{ "10M", -EINVAL, 0 },
		{ "10min", -EINVAL, 0 },
		{ "1h30m", -EINVAL, 0 },
		{ " 1m", -EINVAL, 0 },
		{ "1 m", -EINVAL, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t seconds = UNTOUCHED;
		int err = parse_duration(cases[i].text, &seconds);

		ok(err == cases[i].err && seconds == (err ? UNTOUCHED : cases[i].seconds),
		   "time '%s': %s", cases[i].text, err ? strerror(-err) : "taken");
	}
}

/* parse_threads() or parse_list(). */
typedef int list_parser(const char *s, unsigned **list, size_t *nr);

static void list_is(list_parser *parse, const char *what, const char *s, size_t nr,
		    const unsigned *expected)
{
	unsigned *list = NULL;
	size_t got = 0;
	int err = parse(s, &list, &got);

	ok(!err && got == nr && !memcmp(list, expected, nr * sizeof(*list)),
	   "%s '%s' are %zu numbers", what, s, nr);
	free(list);
}

static void list_fails(list_parser *parse, const char *what, const char *s, int expected)
{
	unsigned *list = NULL;
	size_t nr = 0;
	int err = parse(s, &list, &nr);

	ok(err == expected && !list && !nr, "%s '%s' are refused (%s)", what, s,
	   strerror(-expected));
	free(list);
}

#define ALL_OF(...)                                                          \
	sizeof((unsigned[]){ __VA_ARGS__ }) / sizeof(unsigned), (unsigned[]) \
	{                                                                    \
		__VA_ARGS__                                                  \
	}
#define THREADS_ARE(s, ...) list_is(parse_threads, "threads", s, ALL_OF(__VA_ARGS__))
#define LIST_IS(s, ...)	    list_is(parse_list, "numbers", s, ALL_OF(__VA_ARGS__))

static void threads(void)
{
	/* clang-format off */
	static const char *const malformed[] = {
		"", ",", "1,", ",1", "1,,2", "8-1", "8..1", "-1", "+1", "1-", "1..",
		"..4", "-4", "1...4", "1.4", "1-2-3", "1..2..4", "1-2..4", "a", "1a",
		"1 2", "1, 2", " 1", "1 ", "1;2", "1x4", "1e1"
	};
	/* clang-format on */
	unsigned all[PARSE_MAX_THREADS];

	THREADS_ARE("1", 1);
	THREADS_ARE("256", 256);
	THREADS_ARE("1,2,4", 1, 2, 4);
	THREADS_ARE("4,2,1", 4, 2, 1);
	THREADS_ARE("1-8", 1, 2, 3, 4, 5, 6, 7, 8);
	THREADS_ARE("5-5", 5);
	THREADS_ARE("1..256", 1, 2, 4, 8, 16, 32, 64, 128, 256);
	THREADS_ARE("1..100", 1, 2, 4, 8, 16, 32, 64, 100);
	THREADS_ARE("3..10", 3, 6, 10);
	THREADS_ARE("7..7", 7);
	THREADS_ARE("1,1,2,1", 1, 2);
	THREADS_ARE("8,1..8,6-9", 8, 1, 2, 4, 6, 7, 9);

	for (unsigned i = 0; i < PARSE_MAX_THREADS; i++)
		all[i] = i + 1;
	list_is(parse_threads, "threads", "1-256", PARSE_MAX_THREADS, all);
	list_is(parse_threads, "threads", "1-256,1..256,17", PARSE_MAX_THREADS, all);

	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
		list_fails(parse_threads, "threads", malformed[i], -EINVAL);

	list_fails(parse_threads, "threads", "0", -ERANGE);
	list_fails(parse_threads, "threads", "1,0", -ERANGE);
	list_fails(parse_threads, "threads", "0-4", -ERANGE);
	list_fails(parse_threads, "threads", "257", -ERANGE);
	list_fails(parse_threads, "threads", "1..257", -ERANGE);
	list_fails(parse_threads, "threads", "1000000", -ERANGE);
	list_fails(parse_threads, "threads", "18446744073709551617", -ERANGE);
}

static void lists(void)
{
	/* clang-format off */
	static const char *const malformed[] = {
		"", ",", "1,", ",1", "1,,2", "8-1", "-1", "+1", "1-", "-4", "0..3", "1-2-3",
		"a", "1a", "1 2", "1, 2", " 1", "1 ", "0x1", "all", "3:2", "0-7:", "0-7:0",
		"0-7:0/4", "0-7:5/4", "0-7:2/", "0-7:/2", "0-7:2/4/8", "0-7/2", "0-7:2:2"
	};
	/* clang-format on */
	unsigned *list;
	size_t nr;

	LIST_IS("0", 0);
	LIST_IS("4095", 4095);
	LIST_IS("2147483647", 2147483647);
	LIST_IS("0-3,8", 0, 1, 2, 3, 8);
	LIST_IS("8,3,3,0-1", 8, 3, 3, 0, 1);
	LIST_IS("5-5", 5);
	LIST_IS("0-8:2", 0, 2, 4, 6, 8);
	LIST_IS("0-9:4,1", 0, 4, 8, 1);
	LIST_IS("0-31:2/8", 0, 1, 8, 9, 16, 17, 24, 25);
	LIST_IS("1-8:3/4", 1, 2, 3, 5, 6, 7);
	LIST_IS("0-8:2/4", 0, 1, 4, 5, 8);
	LIST_IS("0-7:100", 0);

	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
		list_fails(parse_list, "numbers", malformed[i], -EINVAL);
	list_fails(parse_list, "numbers", "2147483648", -ERANGE);
	list_fails(parse_list, "numbers", "18446744073709551616", -ERANGE);
	list_fails(parse_list, "numbers", "0-4:18446744073709551616", -ERANGE);
	list_fails(parse_list, "numbers", "0-65536", -ERANGE);
	list_fails(parse_list, "numbers", "0-2147483647", -ERANGE);
	ok(!parse_list("1-65536", &list, &nr) && nr == PARSE_MAX_LIST &&
		   list[nr - 1] == 65536,
	   "as long as a list can be");
	free(list);
}

int main(void)
{
	sizes();
	numbers();
	durations();
	threads();
	lists();
	if (setlocale(LC_ALL, "de_DE.UTF-8")) {
		size_is("4k", 4096);
		size_fails("0,5g", -EINVAL);
		size_fails("1.024", -EINVAL);
	} else {
		skip("no locale de_DE.UTF-8", 3);
	}
	return done();
}
