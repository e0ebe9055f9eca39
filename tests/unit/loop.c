/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The timed loop over an engine made for it, which gives runs of odd lengths and remembers its
 * calls: what is moved, in which order, with how many calls, and what an error leaves.
 */
#include "bench/loop.h"

#include <errno.h>
#include <string.h>

#include "base/bits.h"
#include "tap.h"

#define FILE_BYTES (64 * 1024)

static struct {
	char bytes[FILE_BYTES];
	uint64_t run;	  /* length of the runs it gives */
	uint64_t fail_at; /* a call for this byte fails; UINT64_MAX: none does */
	unsigned calls;
	uint64_t touched[FILE_BYTES]; /* the offsets of the calls, in order */
	bool wrote;
	bool outside; /* a call for a byte that the share does not hold */
} file;

static int file_fault(struct engine_worker *worker, uint64_t offset, bool write,
		      struct extent *extent)
{
	const struct share *share = worker->share;

	if (offset < share->start || offset >= share->end)
		file.outside = true;
	if (offset / file.run == file.fail_at / file.run)
		return -ENOMEM;
	file.touched[file.calls++] = offset;
	file.wrote |= write;
	extent->start = offset / file.run * file.run;
	extent->end = min_u64(extent->start + file.run, FILE_BYTES);
	extent->base = file.bytes + extent->start;
	return 0;
}

static struct share share;
static struct engine_worker worker = { .share = &share };
static char buffer[FILE_BYTES];
static uint32_t permutation[FILE_BYTES];

static struct loop make_loop(uint64_t start, uint64_t end, uint64_t record, uint64_t run)
{
	uint64_t nr = div_round_up(end - start, record);

	share = (struct share){ .start = start, .end = end };
	file.run = run;
	file.fail_at = UINT64_MAX;
	file.calls = 0;
	file.wrote = file.outside = false;
	/* 7 has no common factor with the record counts used here: every record once */
	for (uint64_t i = 0; i < nr; i++)
		permutation[i] = (uint32_t)((i * 7 + 3) % nr);
	return (struct loop){ .worker = &worker,
			      .fault = file_fault,
			      .start = start,
			      .end = end,
			      .record = record,
			      .nr_records = nr,
			      .permutation = permutation,
			      .buffer = buffer };
}

static void fill_file(void)
{
	for (size_t i = 0; i < FILE_BYTES; i++)
		file.bytes[i] = (char)(i * 31 + i / 251);
}

static const char *const order_names[] = { "ascending", "descending", "random" };

/* A store of every record leaves the buffer in all of the share, and nothing outside it. */
static void stores(enum order order, uint64_t start, uint64_t end, uint64_t record,
		   uint64_t run)
{
	struct loop loop = make_loop(start, end, record, run);
	bool right = true;

	memset(file.bytes, 0, FILE_BYTES);
	for (size_t i = 0; i < record; i++)
		buffer[i] = (char)(i % 127 + 1);
	ok(!loop_choose(ACCESS_STORE, order)(&loop),
	   "%s stores of %llu over [%llu, %llu)", order_names[order],
	   (unsigned long long)record, (unsigned long long)start,
	   (unsigned long long)end);
	for (uint64_t i = 0; i < FILE_BYTES; i++) {
		char want = i < start || i >= end ?
				    0 :
				    (char)((i - start) % record % 127 + 1);

		right &= file.bytes[i] == want;
	}
	ok(right, "every byte of the share, none outside");
	ok(loop.bytes == end - start, "%llu bytes counted",
	   (unsigned long long)loop.bytes);
	ok(file.wrote && !file.outside, "asked for stores, inside the share");
}

/* Loads leave the last record of the order in the buffer. */
static void loads(enum order order, uint64_t record, uint64_t run)
{
	struct loop loop = make_loop(0, FILE_BYTES - 100, record, run);
	uint64_t last = order == ORDER_ASCENDING  ? loop.nr_records - 1 :
			order == ORDER_DESCENDING ? 0 :
						    permutation[loop.nr_records - 1];
	uint64_t offset = last * record;

	fill_file();
	memset(buffer, 0, sizeof(buffer));
	loop_choose(ACCESS_LOAD, order)(&loop);
	ok(!memcmp(buffer, file.bytes + offset, min_u64(record, loop.end - offset)),
	   "%s loads of %llu end with the record at %llu", order_names[order],
	   (unsigned long long)record, (unsigned long long)offset);
	ok(loop.bytes == FILE_BYTES - 100 && !file.wrote, "all bytes, loaded only");
}

static void calls(void)
{
	struct loop loop = make_loop(0, FILE_BYTES, 1024, 8192);

	loop_choose(ACCESS_LOAD, ORDER_ASCENDING)(&loop);
	ok(file.calls == 8, "ascending: one call a run (%u)", file.calls);
	ok(file.touched[0] == 0 && file.touched[7] == 7 * 8192,
	   "from the first to the last");
	loop = make_loop(0, FILE_BYTES, 1024, 8192);
	loop_choose(ACCESS_LOAD, ORDER_DESCENDING)(&loop);
	ok(file.calls == 8, "descending: one call a run (%u)", file.calls);
	ok(file.touched[0] == FILE_BYTES - 1024 && file.touched[7] < 8192,
	   "from the last to the first");
	loop = make_loop(0, FILE_BYTES, 1024, FILE_BYTES);
	loop_choose(ACCESS_STORE, ORDER_RANDOM)(&loop);
	ok(file.calls == 1, "random inside one run: one call (%u)", file.calls);
	loop = make_loop(0, FILE_BYTES, 16384, 4096);
	loop_choose(ACCESS_STORE, ORDER_ASCENDING)(&loop);
	ok(file.calls == 16, "a record over four runs: a call for each (%u)", file.calls);
	loop = make_loop(0, FILE_BYTES, 1024, 8192);
	loop_choose(ACCESS_NONE, ORDER_RANDOM)(&loop);
	ok(loop.bytes == FILE_BYTES, "no access: the records are counted all the same");
}

static void errors(void)
{
	struct loop loop = make_loop(0, FILE_BYTES, 4096, 4096);

	file.fail_at = 5 * 4096;
	ok(loop_choose(ACCESS_STORE, ORDER_ASCENDING)(&loop) == -ENOMEM,
	   "an error is passed on");
	ok(loop.bytes == 5 * 4096, "with the bytes of the records before it (%llu)",
	   (unsigned long long)loop.bytes);
	loop = make_loop(0, 0, 4096, 4096);
	ok(!loop_choose(ACCESS_STORE, ORDER_ASCENDING)(&loop) && !loop.bytes &&
		   !file.calls,
	   "an empty share: nothing happens");
}

int main(void)
{
	for (enum order order = ORDER_ASCENDING; order <= ORDER_RANDOM; order++) {
		stores(order, 0, FILE_BYTES, 4096, 4096);
		stores(order, 0, FILE_BYTES, 4096, FILE_BYTES);
		stores(order, 8192, 40000, 4096, 4096); /* the last record is short */
		stores(order, 3000, 60000, 3000, 4096); /* nothing is aligned */
		stores(order, 0, 20000, 10000, 4096);	/* records span runs */
		stores(order, 0, 5000, 9000, 2048); /* a record larger than the share */
		loads(order, 4096, 4096);
		loads(order, 3000, 4096);
		loads(order, 1000, FILE_BYTES);
	}
	calls();
	errors();
	return done();
}
