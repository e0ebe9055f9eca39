/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/sysfile.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

FILE *sysfile_open(const char *root, const char *fmt, ...)
{
	char path[2 * PATH_MAX];
	size_t len = strlen(root);
	va_list ap;
	int rest;

	if (len >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	memcpy(path, root, len);
	va_start(ap, fmt);
	rest = vsnprintf(path + len, sizeof(path) - len, fmt, ap);
	va_end(ap);
	if (rest < 0 || (size_t)rest >= sizeof(path) - len) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return fopen(path, "re");
}

bool sysfile_line(const char *root, const char *path, char *line, size_t size)
{
	FILE *file = sysfile_open(root, "%s", path);
	bool got;

	line[0] = '\0';
	if (!file)
		return false;
	got = fgets(line, (int)size, file);
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return got;
}

bool sysfile_number(const char *s, uint64_t *value)
{
	unsigned long long number;
	char *end;

	if (*s < '0' || *s > '9')
		return false;
	number = strtoull(s, &end, 10);
	if (*end && *end != '\n' && *end != ' ')
		return false;
	*value = number;
	return true;
}
