/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small files of /proc and /sys. @root is put before every path: "" for the real ones, a
 * directory with a made-up tree in tests.
 */
#ifndef SYS_SYSFILE_H
#define SYS_SYSFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Opens the file whose absolute path @fmt makes, for reading. NULL with errno. */
FILE *sysfile_open(const char *root, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The first line of @path without its newline, cut at @size; false and "" when there is
 * none.
 */
bool sysfile_line(const char *root, const char *path, char *line, size_t size);

/*
 * The decimal number at the start of @s, which nothing but a blank or a newline may
 * follow. What exceeds 64 bits is the largest there is. False when it is no number, and
 * @value is left alone.
 */
bool sysfile_number(const char *s, uint64_t *value);

#endif
