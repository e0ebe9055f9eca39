/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct size_text format_size(uint64_t bytes)
{
	static const char *const units[] = {
		"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"
	};
	struct size_text size;
	unsigned unit = 0;
	uint64_t tenths;

	while (unit < 6 && bytes >> (10 * (unit + 1)))
		unit++;
	while (unit && (bytes & ((UINT64_C(1) << (10 * unit)) - 1))) {
		/* not whole: a smaller unit that is, while the number stays short */
		if (bytes >> (10 * (unit - 1)) > 9999)
			break;
		unit--;
	}
	if (!unit || !(bytes & ((UINT64_C(1) << (10 * unit)) - 1))) {
		snprintf(size.text, sizeof(size.text), "%llu %s",
			 (unsigned long long)(bytes >> (10 * unit)), units[unit]);
		return size;
	}
	/* tenths of the unit, rounded up: a need is never understated */
	tenths = (bytes >> (10 * unit)) * 10 +
		 (((bytes & ((UINT64_C(1) << (10 * unit)) - 1)) >> (10 * (unit - 1))) *
			  10 +
		  1023) / 1024;
	snprintf(size.text, sizeof(size.text), "%llu.%llu %s",
		 (unsigned long long)(tenths / 10), (unsigned long long)(tenths % 10),
		 units[unit]);
	return size;
}

char *format_list(const unsigned *numbers, size_t nr)
{
	/* "4294967295-4294967295," and the end */
	char *text = malloc(nr * 22 + 1);
	size_t len = 0;

	if (!text)
		return NULL;
	*text = '\0';
	for (size_t i = 0, last; i < nr; i = last + 1) {
		for (last = i; last + 1 < nr && numbers[last + 1] == numbers[last] + 1;)
			last++;
		len += (size_t)sprintf(text + len, "%s%u", i ? "," : "", numbers[i]);
		if (last > i)
			len += (size_t)sprintf(text + len, "-%u", numbers[last]);
	}
	return text;
}

size_t format_control(const char *s)
{
	const unsigned char *c = (const unsigned char *)s;

	if (*c && (*c < ' ' || *c == 0x7f))
		return 1;
	return c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0 ? 2 : 0;
}

void format_plain(char *s)
{
	for (; *s; s++) {
		size_t len = format_control(s);

		if (!len)
			continue;
		*s = '?';
		if (len > 1)
			memmove(s + 1, s + len, strlen(s + len) + 1);
	}
}

size_t format_utf8(const char *s)
{
	static const struct {
		unsigned char first, last, low,
			high; /* of the first byte, of the second */
		size_t len;
	} forms[] = {
		{ 0x01, 0x7f, 0, 0, 1 },       { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	const unsigned char *c = (const unsigned char *)s;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (*c < forms[i].first || *c > forms[i].last)
			continue;
		if (forms[i].len > 1 && (c[1] < forms[i].low || c[1] > forms[i].high))
			return 0;
		for (size_t n = 2; n < forms[i].len; n++)
			if (c[n] < 0x80 || c[n] > 0xbf)
				return 0;
		return forms[i].len;
	}
	return 0;
}
