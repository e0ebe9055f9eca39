/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/parse.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	uint64_t bytes;
} units[] = {
	{ "", 1 },
	{ "k", 1ULL << 10 },
	{ "K", 1ULL << 10 },
	{ "KiB", 1ULL << 10 },
	{ "kB", 1000ULL },
	{ "m", 1ULL << 20 },
	{ "M", 1ULL << 20 },
	{ "MiB", 1ULL << 20 },
	{ "MB", 1000ULL * 1000 },
	{ "g", 1ULL << 30 },
	{ "G", 1ULL << 30 },
	{ "GiB", 1ULL << 30 },
	{ "GB", 1000ULL * 1000 * 1000 },
	{ "t", 1ULL << 40 },
	{ "T", 1ULL << 40 },
	{ "TiB", 1ULL << 40 },
	{ "TB", 1000ULL * 1000 * 1000 * 1000 },
};

/*
 * The digits at *@s; advances *@s past all of them, also when they overflow.
 * Not strtoull(): that takes blanks, signs and, as -1, wraps.
 */
static int parse_digits(const char **s, uint64_t *value)
{
	const char *p = *s;
	uint64_t v = 0;
	int err = 0;

	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			err = -ERANGE;
	}
	*s = p;
	*value = v;
	return err;
}

int parse_size(const char *s, uint64_t *bytes)
{
	uint64_t v;
	int err = parse_digits(&s, &v);

	if (err == -EINVAL)
		return err;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(s, units[i].name))
			continue;
		if (err || __builtin_mul_overflow(v, units[i].bytes, &v))
			return -ERANGE;
		*bytes = v;
		return 0;
	}
	return -EINVAL;
}

int parse_duration(const char *s, uint64_t *seconds)
{
	uint64_t v, unit;
	int err = parse_digits(&s, &v);

	if (err == -EINVAL)
		return err;
	unit = *s == 's' ? 1 : *s == 'm' ? 60 : *s == 'h' ? 3600 : 0;
	if (!unit || s[1])
		return -EINVAL;
	if (err || __builtin_mul_overflow(v, unit, &v))
		return -ERANGE;
	*seconds = v;
	return 0;
}

int parse_uint(const char *s, uint64_t min, uint64_t max, uint64_t *value)
{
	uint64_t v;
	int err = parse_digits(&s, &v);

	if (err == -EINVAL || *s)
		return -EINVAL;
	if (err || v < min || v > max)
		return -ERANGE;
	*value = v;
	return 0;
}

/* The thread counts seen so far: each at most once, so the array never overflows. */
struct thread_list {
	unsigned count[PARSE_MAX_THREADS];
	size_t nr;
	bool seen[PARSE_MAX_THREADS + 1];
};

static void thread_list_add(struct thread_list *list, unsigned threads)
{
	if (list->seen[threads])
		return;
	list->seen[threads] = true;
	list->count[list->nr++] = threads;
}

/* The thread count at *@s. */
static int parse_thread_count(const char **s, unsigned *threads)
{
	uint64_t v;
	int err = parse_digits(s, &v);

	if (err)
		return err;
	if (v < 1 || v > PARSE_MAX_THREADS)
		return -ERANGE;
	*threads = (unsigned)v;
	return 0;
}

/* One item of the list at *@s. */
static int parse_thread_item(const char **s, struct thread_list *list)
{
	unsigned first, last;
	bool doubling;
	int err;

	err = parse_thread_count(s, &first);
	if (err)
		return err;
	doubling = !strncmp(*s, "..", 2);
	if (!doubling && **s != '-') {
		thread_list_add(list, first);
		return 0;
	}
	*s += doubling ? 2 : 1;
	err = parse_thread_count(s, &last);
	if (err)
		return err;
	if (last < first)
		return -EINVAL;
	for (unsigned n = first; n < last; n = doubling ? 2 * n : n + 1)
		thread_list_add(list, n);
	thread_list_add(list, last);
	return 0;
}

int parse_threads(const char *s, unsigned **list, size_t *nr)
{
	struct thread_list found = { .nr = 0 };
	unsigned *copy;
	int err;

	for (;; s++) {
		err = parse_thread_item(&s, &found);
		if (err)
			return err;
		if (*s != ',')
			break;
	}
	if (*s)
		return -EINVAL;
	copy = malloc(found.nr * sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	memcpy(copy, found.count, found.nr * sizeof(*copy));
	*list = copy;
	*nr = found.nr;
	return 0;
}

/* The numbers of a list so far; it grows as they come. */
struct number_list {
	unsigned *numbers;
	size_t nr, room;
};

static int number_list_add(struct number_list *list, unsigned number)
{
	if (list->nr == PARSE_MAX_LIST)
		return -ERANGE;
	if (list->nr == list->room) {
		size_t room = list->room ? 2 * list->room : 64;
		unsigned *numbers = realloc(list->numbers, room * sizeof(*numbers));

		if (!numbers)
			return -ENOMEM;
		list->numbers = numbers;
		list->room = room;
	}
	list->numbers[list->nr++] = number;
	return 0;
}

/* A number of a list at *@s. */
static int parse_list_number(const char **s, uint64_t *value)
{
	int err = parse_digits(s, value);

	return !err && *value > INT_MAX ? -ERANGE : err;
}

/* What may follow a range at *@s: ":STEP" or ":USED/GROUP". */
static int parse_list_step(const char **s, uint64_t *used, uint64_t *group)
{
	int err;

	*used = *group = 1;
	if (**s != ':')
		return 0;
	++*s;
	err = parse_list_number(s, group);
	if (!err && **s == '/') {
		++*s;
		*used = *group;
		err = parse_list_number(s, group);
	}
	if (err)
		return err;
	return !*used || *used > *group ? -EINVAL : 0;
}

/* One item of the list at *@s. */
static int parse_list_item(const char **s, struct number_list *list)
{
	uint64_t first, last, used, group;
	int err;

	err = parse_list_number(s, &first);
	if (err)
		return err;
	if (**s != '-')
		return number_list_add(list, (unsigned)first);
	++*s;
	err = parse_list_number(s, &last);
	if (!err)
		err = parse_list_step(s, &used, &group);
	if (!err && last < first)
		err = -EINVAL;
	for (uint64_t n = first; !err && n <= last; n += group)
		for (uint64_t i = n; !err && i <= last && i < n + used; i++)
			err = number_list_add(list, (unsigned)i);
	return err;
}

int parse_list(const char *s, unsigned **list, size_t *nr)
{
	struct number_list found = { .nr = 0 };
	int err;

	for (;; s++) {
		err = parse_list_item(&s, &found);
		if (err || *s != ',')
			break;
	}
	if (!err && *s)
		err = -EINVAL;
	if (err) {
		free(found.numbers);
		return err;
	}
	*list = found.numbers;
	*nr = found.nr;
	return 0;
}

/* parse_list() with what is wrong. */
static int parse_list_why(const char *s, const char *wanted, unsigned **list,
			  unsigned *nr, struct reason *why)
{
	size_t nr_found;
	int err = parse_list(s, list, &nr_found);

	if (err == -ENOMEM)
		return reason_set(why, err, "out of memory");
	if (err == -ERANGE)
		return reason_set(why, -EINVAL,
				  "a number that is too large, or more than %d numbers",
				  PARSE_MAX_LIST);
	if (err)
		return reason_set(why, err, "not %s", wanted);
	*nr = (unsigned)nr_found;
	return 0;
}

int parse_word(const char *text, const char *const words[], unsigned nr_words,
	       const char *wanted, unsigned *word, unsigned **list, unsigned *nr,
	       struct reason *why)
{
	*list = NULL;
	*nr = 0;
	for (*word = 0; *word < nr_words; ++*word) {
		size_t len = strlen(words[*word]);

		if (words[*word][len - 1] != ':') {
			if (!strcmp(text, words[*word]))
				return 0;
		} else if (!strncmp(text, words[*word], len)) {
			return parse_list_why(text + len, wanted, list, nr, why);
		}
	}
	return -ENOENT;
}
