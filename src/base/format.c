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
