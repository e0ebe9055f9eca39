/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers, sizes and thread lists as the user writes them.
 *
 * None of these depends on the locale or accepts a sign, a blank, a fraction,
 * an exponent or another radix. On an error nothing is stored.
 */
#ifndef BASE_PARSE_H
#define BASE_PARSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/reason.h"

#define PARSE_MAX_THREADS 256

/*
 * A size in bytes. A bare number counts bytes; the units are k m g t in either
 * case and KiB MiB GiB TiB (powers of 1024), kB MB GB TB (powers of 1000).
 * Zero is a size: the caller decides whether it makes sense.
 *
 * Returns 0, -EINVAL for anything else, -ERANGE when the size exceeds 64 bits.
 */
int parse_size(const char *s, uint64_t *bytes);

/*
 * A decimal number in [@min, @max].
 * Returns 0, -EINVAL for no number, -ERANGE for one outside the bounds.
 */
int parse_uint(const char *s, uint64_t min, uint64_t max, uint64_t *value);

/*
 * A time in whole seconds, with its unit: 90s, 10m or 1h. Zero is a time.
 * Returns 0, -EINVAL for anything else, -ERANGE when it exceeds 64 bits.
 */
int parse_duration(const char *s, uint64_t *seconds);

/*
 * Thread counts: items joined by commas, each a number (4), every number of a
 * range (1-8), or a range by doubling from its first number that always ends
 * with its last (1..256; 3..10 is 3, 6, 10). All are in [1, PARSE_MAX_THREADS];
 * repeated ones are dropped, the order is kept.
 *
 * Stores an array of *@nr numbers that the caller frees.
 * Returns 0; for the first fault from the left, -EINVAL where it is not such a list
 * and -ERANGE where a count is out of bounds; or -ENOMEM.
 */
int parse_threads(const char *s, unsigned **list, size_t *nr);

#define PARSE_MAX_LIST 65536

/*
 * Numbers as the kernel and taskset list CPUs and nodes: items joined by commas, each a
 * number (8), a range (0-3), every STEP-th number of a range (0-31:2, as of taskset), or
 * the first USED of every GROUP numbers of a range (0-31:2/8, as of the kernel). The
 * order is kept, and so is what is repeated. Numbers are at most INT_MAX.
 *
 * Stores an array of *@nr numbers that the caller frees.
 * Returns 0; -EINVAL for anything else, -ERANGE for a number that is too large and for
 * more than PARSE_MAX_LIST numbers; or -ENOMEM.
 */
int parse_list(const char *s, unsigned **list, size_t *nr);

/*
 * @text is one of the @nr_words @words, which becomes @word. After one that ends in a colon
 * comes a list, as of parse_list(), which becomes @list and @nr; without one they are NULL
 * and 0. @wanted is what a list should be: "a list of node numbers such as 0-1,3". 0;
 * -ENOENT: none of the words; -EINVAL, or -ENOMEM, with @why: no list.
 */
int parse_word(const char *text, const char *const words[], unsigned nr_words,
	       const char *wanted, unsigned *word, unsigned **list, unsigned *nr,
	       struct reason *why);

#endif /* BASE_PARSE_H */
