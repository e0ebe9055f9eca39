/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --verify: no two records are alike, no wrong byte escapes, and what is told of a wrong record is
 * true; first what is in a record, then the loops that make and check them over a file in memory.
 */
#include "bench/verify.h"

#include <errno.h>
#include <string.h>

#include "base/bits.h"
#include "bench/crew.h"
#include "tap.h"

#define FILE_BYTES (64 * 1024)

static char a[FILE_BYTES], b[FILE_BYTES], buffer[FILE_BYTES], expected[FILE_BYTES];

static void make(char *to, uint64_t seed, uint64_t file, uint64_t pass, uint64_t index,
		 uint64_t record, uint64_t bytes)
{
	struct verify_content content = verify_content(seed, file, pass);
	struct verify_record at = { index, index * record, bytes };

	memset(to, 0, FILE_BYTES);
	verify_fill(&content, &at, to);
}

/* Of @bytes random bytes, fewer than these are equal in two records (by far more than chance). */
static bool differ(uint64_t bytes)
{
	uint64_t same = 0;

	for (uint64_t i = 0; i < bytes; i++)
		same += a[i] == b[i];
	/* The headers' bytes that stand for the same numbers are. */
	return same < VERIFY_HEADER + 8 + bytes / 16 && memcmp(a, b, bytes);
}

static void contents(void)
{
	static const uint64_t sizes[] = { 8, 31, 32, 33, 4096, 5000 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint64_t n = sizes[i];

		make(a, 1, 2, 3, 4, n, n);
		make(b, 1, 2, 3, 4, n, n);
		ok(!memcmp(a, b, FILE_BYTES),
		   "records of %llu: the same again, and nothing behind them",
		   (unsigned long long)n);
		make(b, 2, 2, 3, 4, n, n);
		/* A record that is only a header has nothing of the seed. */
		ok(n == VERIFY_HEADER || differ(n), "other with another seed");
		make(b, 1, 0, 3, 4, n, n);
		ok(differ(n), "in another file");
		make(b, 1, 2, 4, 4, n, n);
		ok(differ(n), "in the next pass");
		make(b, 1, 2, 3, 5, n, n);
		ok(differ(n), "at the next place");
		make(b, 1, 3, 2, 4, n, n);
		ok(differ(n), "file and pass are not mixed up");
	}
}

/* Byte by byte, and in whole: of a file without headers. */
static void single_bytes(void)
{
	struct verify_content content = verify_content(7, 1, 9);
	unsigned counts[256] = { 0 }, most = 0;
	bool same = true;

	for (uint64_t i = 0; i < FILE_BYTES; i++) {
		struct verify_record at = { i, i, 1 };

		verify_fill(&content, &at, a + i);
		counts[(unsigned char)a[i]]++;
	}
	for (uint64_t i = 0; i < FILE_BYTES; i += 7) {
		struct verify_record at = { i / 7, i, min_u64(7, FILE_BYTES - i) };

		verify_fill(&content, &at, b + i);
	}
	for (uint64_t offset = 0; offset < 16; offset++) {
		for (uint64_t n = 1; n < VERIFY_HEADER; n++) {
			struct verify_record at = { 0, offset, n };

			verify_fill(&content, &at, buffer);
			same &= !memcmp(buffer, a + offset, n);
		}
	}
	for (unsigned i = 0; i < 256; i++)
		most = counts[i] > most ? counts[i] : most;
	ok(!memcmp(a, b, FILE_BYTES), "records of 1 and of 7 bytes make the same file");
	ok(same, "so do those of any length without a header, at any place");
	ok(most < 2 * FILE_BYTES / 256, "no byte is frequent (%u times)", most);
}

static void headers(void)
{
	struct verify_header header;

	make(a, 1, 2, 3, 4, 4096, 4096);
	memcpy(&header, a, sizeof(header));
	ok(header.file == 2 && header.index == 4 && header.pass == 3,
	   "a record carries its file, index and pass");
	ok(header.checksum == verify_checksum(a, 4096), "and its checksum");
	make(a, 1, 2, 3, 4, 32, 32);
	memcpy(&header, a, sizeof(header));
	ok(header.checksum == verify_checksum(a, 32) && header.index == 4,
	   "a record that is nothing but its header does too");
}

static void flips(uint64_t bytes)
{
	struct verify_content content = verify_content(1, 0, 1);
	struct verify_record record = { 3, 3 * bytes, bytes };
	uint64_t missed = 0, misplaced = 0, unsummed = 0, untold = 0;

	verify_fill(&content, &record, a);
	memcpy(b, a, bytes);
	for (uint64_t i = 0; i < bytes; i++) {
		char text[64];
		struct reason why;

		b[i] ^= (char)(1 << i % 8);
		missed += !memcmp(a, b, bytes);
		misplaced += verify_first_wrong(b, a, bytes) != i;
		if (bytes >= VERIFY_HEADER) {
			struct verify_header header;

			memcpy(&header, b, sizeof(header));
			unsummed += header.checksum == verify_checksum(b, bytes);
		}
		verify_tell(&content, &record, b, a, "/there", &why);
		snprintf(text, sizeof(text),
			 "file 0 in /there, offset %llu: expected %02x",
			 (unsigned long long)(record.offset + i), (unsigned char)a[i]);
		untold += !strstr(why.text, text);
		snprintf(text, sizeof(text), "found %02x", (unsigned char)b[i]);
		untold += !strstr(why.text, text) || strstr(why.text, "whole");
		b[i] = a[i];
	}
	ok(!missed && !misplaced, "a record of %llu: each wrong byte is found",
	   (unsigned long long)bytes);
	ok(!unsummed, "and no checksum holds then");
	ok(!untold, "the message has the file, its place, the offset and both bytes");
}

static void tells(void)
{
	struct verify_content content = verify_content(1, 2, 9), stale, other;
	struct verify_record record = { 5, 5000, 1000 }, next = { 6, 6000, 1000 };
	struct reason why;

	stale = verify_content(1, 2, 8);
	other = verify_content(1, 1, 9);
	verify_fill(&content, &record, a);
	verify_fill(&stale, &record, b);
	verify_tell(&content, &record, b, a, NULL, &why);
	ok(strstr(why.text, "offset 5016: ") &&
		   strstr(why.text, "that is the whole record 5 of file 2, pass 8"),
	   "a stale record: %s", why.text);
	verify_fill(&other, &record, b);
	verify_tell(&content, &record, b, a, NULL, &why);
	ok(strstr(why.text, "file 2, offset 5000: ") &&
		   strstr(why.text, "that is the whole record 5 of file 1, pass 9"),
	   "one of another file");
	verify_fill(&content, &next, b);
	verify_tell(&content, &record, b, a, NULL, &why);
	ok(strstr(why.text, "that is the whole record 6 of file 2, pass 9"),
	   "one of another place");
	verify_fill(&stale, &record, b);
	memcpy(b, a, 500);
	verify_tell(&content, &record, b, a, NULL, &why);
	ok(strstr(why.text, "offset 5500: ") && !strstr(why.text, "whole"),
	   "one half of it stale: no whole record");
	memcpy(b, a, 1000);
	memset(b + 995, 0, 5);
	memset(a + 995, 0x11, 5);
	verify_tell(&content, &record, b, a, NULL, &why);
	ok(strstr(why.text,
		  "expected 1111111111, found 0000000000 (record 5, byte 995 of "
		  "1000, pass 9)"),
	   "only bytes of the record are shown");
	memset(b, 0, 1000);
	verify_tell(&content, &record, b, a, NULL, &why);
	ok(strstr(why.text, "found 00000000000000000000000000000000 "),
	   "16 bytes at most");
}

/* ---- the loops ---- */

static char file[FILE_BYTES];
static uint64_t run_bytes;
static struct share share;
static struct engine_worker engine_worker = { .share = &share };
static uint32_t permutation[FILE_BYTES];

static int file_fault(struct engine_worker *worker, uint64_t offset, bool write,
		      struct extent *extent)
{
	extent->start = offset / run_bytes * run_bytes;
	extent->end = min_u64(extent->start + run_bytes, FILE_BYTES);
	extent->base = file + extent->start;
	return 0;
}

static struct loop make_loop(const struct verify_content *content, uint64_t start,
			     uint64_t end, uint64_t record)
{
	uint64_t nr = div_round_up(end - start, record);

	share = (struct share){ .start = start, .end = end };
	/* a prime that no number of records here is a multiple of: every record once */
	for (uint64_t i = 0; i < nr; i++)
		permutation[i] = (uint32_t)((i * 10007 + 3) % nr);
	return (struct loop){ .worker = &engine_worker,
			      .fault = file_fault,
			      .start = start,
			      .end = end,
			      .record = record,
			      .nr_records = nr,
			      .permutation = permutation,
			      .buffer = buffer,
			      .content = content,
			      .first_index = 10,
			      .expected = expected };
}

static void loops(uint64_t start, uint64_t end, uint64_t record, uint64_t run)
{
	struct verify_content content = verify_content(1, 0, 1), next;
	struct loop loop = make_loop(&content, start, end, record);
	struct bench_worker worker = { .engine = engine_worker,
				       .content = content,
				       .first_index = 10,
				       .record = record,
				       .store_buffer = buffer,
				       .made = UINT64_MAX };
	uint64_t bad = start + (end - start) / 2;

	next = verify_content(1, 0, 2);
	run_bytes = run;
	for (enum order s = ORDER_ASCENDING; s <= ORDER_RANDOM; s++) {
		bool right = true;

		memset(file, 0, FILE_BYTES);
		loop = make_loop(&content, start, end, record);
		right &= !loop_choose_verified(ACCESS_STORE, s)(&loop) &&
			 loop.bytes == end - start;
		for (enum order l = ORDER_ASCENDING; l <= ORDER_RANDOM; l++) {
			loop = make_loop(&content, start, end, record);
			right &= !loop_choose_verified(ACCESS_LOAD, l)(&loop) &&
				 loop.bytes == end - start && !loop.mismatch;
		}
		ok(right,
		   "[%llu, %llu) in records of %llu, runs of %llu: right in any "
		   "order",
		   (unsigned long long)start, (unsigned long long)end,
		   (unsigned long long)record, (unsigned long long)run);
	}
	for (uint64_t at = start; at < end; at += 777)
		worker_make_records(&worker, at, min_u64(777, end - at), a + at);
	ok(!memcmp(a + start, file + start, end - start),
	   "made in pieces it is the same");
	file[bad] ^= 0x40;
	for (enum order l = ORDER_ASCENDING; l <= ORDER_RANDOM; l++) {
		uint64_t k = (bad - start) / record;

		loop = make_loop(&content, start, end, record);
		ok(loop_choose_verified(ACCESS_LOAD, l)(&loop) == -EBADMSG &&
			   loop.mismatch && loop.wrong.index == 10 + k &&
			   loop.wrong.offset == start + k * record &&
			   verify_first_wrong(buffer, expected, loop.wrong.bytes) ==
				   bad - loop.wrong.offset,
		   "a wrong byte at %llu is found", (unsigned long long)bad);
	}
	file[bad] ^= 0x40;
	loop = make_loop(&next, start, end, record);
	ok(loop_choose_verified(ACCESS_LOAD, ORDER_DESCENDING)(&loop) == -EBADMSG &&
		   (record < 8 || loop.wrong.index == 10 + loop.nr_records - 1),
	   "what an earlier pass left is found");
}

int main(void)
{
	static const uint64_t sizes[] = { 1, 7, 8, 31, 32, 33, 4096, 5000 };

	contents();
	single_bytes();
	headers();
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		flips(sizes[i]);
	tells();
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		loops(0, FILE_BYTES, sizes[i], 4096);
		loops(10000, 50001, sizes[i], 4096);
		loops(3, 5004, sizes[i], FILE_BYTES);
	}
	loops(0, 5000, 100000, 4096);
	return done();
}
