/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/text.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/format.h"

#define LINE_WIDTH 80

/* printf's decimal point is the locale's, of one or more bytes: makes it a point. */
static void point_replace(char *s)
{
	const char *point = localeconv()->decimal_point;
	char *at = strstr(s, point);
	size_t len = strlen(point);

	if (!at || !len)
		return;
	*at = '.';
	memmove(at + 1, at + len, strlen(at + len) + 1);
}

const char *text_fixed(struct text *text, double value, int decimals)
{
	if (!isfinite(value))
		return strcpy(text->s, "-");
	snprintf(text->s, sizeof(text->s), "%.*f", decimals, value);
	point_replace(text->s);
	return text->s;
}

const char *text_exact(struct text *text, double value)
{
	if (!isfinite(value))
		return strcpy(text->s, "-");
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text->s, sizeof(text->s), "%.*g", digits, value);
		if (strtod(text->s, NULL) == value)
			break;
	}
	point_replace(text->s);
	return text->s;
}

const char *text_rate(struct text *text, double rate)
{
	if (rate == 0)
		return strcpy(text->s, "0");
	return text_fixed(text, rate, rate < 0.1 ? 6 : 3);
}

const char *text_bytes(struct text *text, uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB",
					     "TiB",   "PiB", "EiB" };
	struct text number;
	double value = (double)bytes;
	unsigned unit = 0;
	uint64_t rest = 0;

	/* Up to 1023.9 of a unit. */
	while (value >= 1023.95) {
		rest |= bytes & 1023;
		bytes >>= 10;
		value /= 1024;
		unit++;
	}
	snprintf(text->s, sizeof(text->s), "%s %s",
		 text_fixed(&number, value, rest ? 1 : 0), units[unit]);
	return text->s;
}

const char *text_count(struct text *text, uint64_t nr, const char *noun)
{
	snprintf(text->s, sizeof(text->s), "%" PRIu64 " %.32s%s", nr, noun,
		 nr == 1 ? "" : "s");
	return text->s;
}

size_t text_width(const char *s)
{
	size_t width = 0;

	for (; *s; s++)
		width += ((unsigned char)*s & 0xc0) != 0x80;
	return width;
}

/* The @len bytes of @s, control characters as '?'. */
static void put_bytes(FILE *out, const char *s, size_t len)
{
	for (const char *end = s + len; s < end;) {
		size_t control = format_control(s);

		putc(control ? '?' : *s, out);
		s += control ? control : 1;
	}
}

void text_put(FILE *out, const char *s)
{
	put_bytes(out, s, strlen(s));
}

void text_wrap(FILE *out, const char *s, size_t column, size_t indent)
{
	bool first = true;

	while (*s) {
		size_t len = strcspn(s, " "), width = 0;

		/* A figure and its percent sign stay together. */
		while (s[len] == ' ' && s[len + 1] == '%')
			len += 1 + strcspn(s + len + 1, " ");
		for (size_t i = 0; i < len; i++)
			width += ((unsigned char)s[i] & 0xc0) != 0x80;
		if (!first && column + 1 + width > LINE_WIDTH) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			putc(' ', out);
			column++;
		}
		put_bytes(out, s, len);
		column += width;
		first = false;
		s += len;
		s += strspn(s, " ");
	}
	putc('\n', out);
}

int text_finish(FILE *out)
{
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

static bool has_threads(const unsigned *threads, unsigned nr, unsigned wanted)
{
	for (unsigned i = 0; i < nr; i++)
		if (threads[i] == wanted)
			return true;
	return false;
}

int text_threads(const struct result *result, unsigned **threads, unsigned *nr)
{
	const struct result_parameters *parameters = &result->parameters;
	unsigned *found, *ordered, nr_found = 0, nr_ordered = 0;

	found = calloc(result->nr_cells + 1, sizeof(*found));
	ordered = calloc(result->nr_cells + 1, sizeof(*ordered));
	if (!found || !ordered) {
		free(found);
		free(ordered);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < result->nr_cells; i++)
		if (!has_threads(found, nr_found, result->cells[i].threads))
			found[nr_found++] = result->cells[i].threads;
	for (unsigned i = 0; i < parameters->nr_threads; i++)
		if (has_threads(found, nr_found, parameters->threads[i]) &&
		    !has_threads(ordered, nr_ordered, parameters->threads[i]))
			ordered[nr_ordered++] = parameters->threads[i];
	/* A file may have samples of others. */
	qsort(found, nr_found, sizeof(*found), compare_unsigned);
	for (unsigned i = 0; i < nr_found; i++)
		if (!has_threads(ordered, nr_ordered, found[i]))
			ordered[nr_ordered++] = found[i];
	free(found);
	*threads = ordered;
	*nr = nr_ordered;
	return 0;
}
