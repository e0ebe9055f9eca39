/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --verify: what records hold, so that whoever loads one can tell whether it is the right one.
 *
 * Every byte is a function of the seed, the file, the pass and its offset: a record that was
 * stored at another place, by another worker or in an earlier pass differs nearly
 * everywhere. A record of VERIFY_HEADER bytes or more begins with a header instead, which
 * names its file, its index and its pass, and a checksum over all of it. A reader makes
 * the record that it should find and compares all bytes, the checksum among them; so no
 * wrong byte can escape. What the header adds is what a wrong record tells about itself:
 * one whose own checksum holds is whole, but another one. A record of fewer bytes has no
 * room for it: one of a single byte equals that of another pass, or place, by a chance of
 * 1 in 256.
 */
#ifndef BENCH_VERIFY_H
#define BENCH_VERIFY_H

#include <stdint.h>

#include "base/reason.h"

#define VERIFY_HEADER 32
#define VERIFY_SHOWN  16 /* bytes of what was expected and found, in a message */

/* At the beginning of a record, in the machine's byte order. */
struct verify_header {
	uint64_t file, index, pass;
	uint64_t checksum; /* of all other bytes of the record */
};

/* What a file holds after one pass over it. */
struct verify_content {
	uint64_t file, pass;
	uint64_t key; /* of the seed, the file and the pass */
};

/* A record: its number in the file, where it lies there, and its length. */
struct verify_record {
	uint64_t index, offset, bytes;
};

struct verify_content verify_content(uint64_t seed, uint64_t file, uint64_t pass);
/* Makes @record in @to. */
void verify_fill(const struct verify_content *content, const struct verify_record *record,
		 char *to);
/*
 * Changes whenever a single word does: each step is a bijection of what it has so far, and of the
 * word.
 */
uint64_t verify_checksum(const char *record, uint64_t bytes);
/* The first byte in which they differ; @bytes: in none. */
uint64_t verify_first_wrong(const char *found, const char *expected, uint64_t bytes);
/*
 * Of @record, which is not as @expected: file, offset of the first wrong byte, what was
 * expected there and what was found, and which record it is where it can tell. @place:
 * where the file lies, or NULL.
 */
void verify_tell(const struct verify_content *content, const struct verify_record *record,
		 const char *found, const char *expected, const char *place,
		 struct reason *why);

#endif
