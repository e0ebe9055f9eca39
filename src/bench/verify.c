/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/verify.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "stats/stats.h"

struct verify_content verify_content(uint64_t seed, uint64_t file, uint64_t pass)
{
	return (struct verify_content){
		.file = file,
		.pass = pass,
		.key = seed_mix(seed_mix(seed_mix(seed, 0), file), pass),
	};
}

/*
 * The bytes [8 * n, 8 * n + 8) of the file: splitmix64 (Steele, Lea and Flood, "Fast splittable
 * pseudorandom number generators", OOPSLA 2014), as seed_mix(), but inline.
 */
static inline uint64_t word_at(uint64_t key, uint64_t n)
{
	uint64_t z = key + (n + 1) * 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* Less than a whole word. */
static void fill_part(uint64_t key, uint64_t offset, uint64_t bytes, char *to)
{
	uint64_t word = word_at(key, offset / sizeof(word));

	memcpy(to, (const char *)&word + offset % sizeof(word), bytes);
}

static void fill_bytes(uint64_t key, uint64_t offset, uint64_t bytes, char *to)
{
	uint64_t head = min_u64(-offset % sizeof(key), bytes), n;

	if (head)
		fill_part(key, offset, head, to);
	to += head;
	offset += head;
	bytes -= head;
	n = offset / sizeof(key);
	for (; bytes >= sizeof(key); bytes -= sizeof(key), to += sizeof(key)) {
		uint64_t word = word_at(key, n++);

		memcpy(to, &word, sizeof(word));
	}
	if (bytes)
		fill_part(key, n * sizeof(key), bytes, to);
}

static inline uint64_t add_word(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * 0x9e3779b97f4a7c15ULL;
	return sum ^ sum >> 29;
}

static uint64_t add_bytes(uint64_t sum, const char *from, uint64_t bytes)
{
	uint64_t word;

	for (; bytes >= sizeof(word); bytes -= sizeof(word), from += sizeof(word)) {
		memcpy(&word, from, sizeof(word));
		sum = add_word(sum, word);
	}
	if (!bytes)
		return sum;
	word = 0;
	memcpy(&word, from, bytes);
	return add_word(sum, word);
}

uint64_t verify_checksum(const char *record, uint64_t bytes)
{
	uint64_t sum = add_bytes(bytes, record, offsetof(struct verify_header, checksum));

	return add_bytes(sum, record + VERIFY_HEADER, bytes - VERIFY_HEADER);
}

void verify_fill(const struct verify_content *content, const struct verify_record *record,
		 char *to)
{
	struct verify_header header = {
		.file = content->file,
		.index = record->index,
		.pass = content->pass,
	};

	_Static_assert(sizeof(header) == VERIFY_HEADER, "as large as it is said to be");
	if (record->bytes < sizeof(header)) {
		fill_bytes(content->key, record->offset, record->bytes, to);
		return;
	}
	memcpy(to, &header, sizeof(header));
	fill_bytes(content->key, record->offset + sizeof(header),
		   record->bytes - sizeof(header), to + sizeof(header));
	header.checksum = verify_checksum(to, record->bytes);
	memcpy(to, &header, sizeof(header));
}

uint64_t verify_first_wrong(const char *found, const char *expected, uint64_t bytes)
{
	uint64_t i = 0;

	while (i < bytes && found[i] == expected[i])
		i++;
	return i;
}

struct hex {
	char text[2 * VERIFY_SHOWN + 1];
};

static struct hex to_hex(const char *from, uint64_t bytes)
{
	struct hex hex = { "" };

	for (uint64_t i = 0; i < bytes && i < VERIFY_SHOWN; i++)
		snprintf(hex.text + 2 * i, 3, "%02x", (unsigned char)from[i]);
	return hex;
}

/* Whether a wrong record is a whole one nevertheless, and then which. */
static bool is_whole(const char *found, uint64_t bytes, struct verify_header *header)
{
	if (bytes < sizeof(*header))
		return false;
	memcpy(header, found, sizeof(*header));
	return header->checksum == verify_checksum(found, bytes);
}

void verify_tell(const struct verify_content *content, const struct verify_record *record,
		 const char *found, const char *expected, const char *place,
		 struct reason *why)
{
	uint64_t i = verify_first_wrong(found, expected, record->bytes);
	struct verify_header header;
	char other[160] = "";

	if (is_whole(found, record->bytes, &header))
		snprintf(other, sizeof(other),
			 "; that is the whole record %llu of file %llu, pass %llu",
			 (unsigned long long)header.index,
			 (unsigned long long)header.file,
			 (unsigned long long)header.pass);
	reason_set(why, 0,
		   "file %llu%s%.250s, offset %llu: expected %s, found %s (record %llu, "
		   "byte %llu of %llu, pass %llu)%s",
		   (unsigned long long)content->file, place ? " in " : "",
		   place ? place : "", (unsigned long long)(record->offset + i),
		   to_hex(expected + i, record->bytes - i).text,
		   to_hex(found + i, record->bytes - i).text,
		   (unsigned long long)record->index, (unsigned long long)i,
		   (unsigned long long)record->bytes, (unsigned long long)content->pass,
		   other);
}
