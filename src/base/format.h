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

#endif
