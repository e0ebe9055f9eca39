/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_FORMAT_H
#define BASE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

struct size_text {
	char text[32];
};

/*
 * @bytes for people, in binary units: exact when it is a whole number of some unit ("512 MiB",
 * "4 KiB", "4097 B"), else with one decimal of the largest unit that fits ("1.5 GiB").
 */
struct size_text format_size(uint64_t bytes);

/*
 * Ascending numbers as the kernel lists CPUs, "0-3,8"; the caller frees it. NULL: no
 * memory.
 */
char *format_list(const unsigned *numbers, size_t nr);

/*
 * The bytes of the control character at the start of @s, which a terminal would obey: one
 * of ASCII's, or, in UTF-8, one of ISO 6429's C1 set (U+0080 to U+009F). 0: it is none.
 * Names in files and on the command line may have them.
 */
size_t format_control(const char *s);
/* Replaces them by '?', in place. */
void format_plain(char *s);
/*
 * The bytes of the UTF-8 character at @s (RFC 3629: no surrogates, nothing overlong or
 * above U+10FFFF). 0: there is none, or the end.
 */
size_t format_utf8(const char *s);

#endif
