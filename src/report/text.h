/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and names as all reports write them. */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "result/result.h"

/* Room for one formatted figure. */
struct text {
	char s[64];
};

/* All fill @text and return its string. A figure that is not finite is "-". */

/* With @decimals digits after a point, whatever the locale says. */
const char *text_fixed(struct text *text, double value, int decimals);
/* As few digits as give the same double when read again. */
const char *text_exact(struct text *text, double value);
/* Events a page: "1.000", and "0.001953" for one in 512. */
const char *text_rate(struct text *text, double rate);
/* Roughly: "512 MiB", "7.8 GiB". For what has to be exact there is format_size(). */
const char *text_bytes(struct text *text, uint64_t bytes);
/* "1 thread", "2 threads". */
const char *text_count(struct text *text, uint64_t nr, const char *noun);

/* Columns that @s takes on a terminal: characters, for UTF-8. */
size_t text_width(const char *s);
/* Prints @s without its control characters. */
void text_put(FILE *out, const char *s);
/*
 * Prints the words of @s in lines of at most 80 columns where words allow it, from column
 * @column on; further lines are indented by @indent.
 */
void text_wrap(FILE *out, const char *s, size_t column, size_t indent);

/* 0 or -errno after writing to @out; errno must have been 0 before. */
int text_finish(FILE *out);

/*
 * The thread counts that have a cell, in the order asked for. The caller frees them. 0 or
 * -ENOMEM.
 */
int text_threads(const struct result *result, unsigned **threads, unsigned *nr);

#endif
