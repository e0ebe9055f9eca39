/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/loop.h"

#include <errno.h>
#include <string.h>

#include "base/bits.h"

#define __always_inline_ inline __attribute__((always_inline))

/*
 * The empty asm takes the address and clobbers memory: the compiler must assume that the copied
 * bytes are looked at, whichever way they went.
 */
static __always_inline_ void move(enum access access, char *mapped, char *buffer,
				  size_t len)
{
	if (access == ACCESS_LOAD)
		memcpy(buffer, mapped, len);
	else
		memcpy(mapped, buffer, len);
	__asm__ volatile("" : : "r"(mapped), "r"(buffer) : "memory");
}

static __always_inline_ bool inside(const struct extent *run, uint64_t offset,
				    uint64_t len)
{
	return offset >= run->start && offset + len <= run->end;
}

/* A record that does not lie in the run at hand: piece by piece, a call for each run it meets. */
static __always_inline_ int move_pieces(struct loop *loop, enum access access,
					uint64_t offset, uint64_t len, struct extent *run)
{
	uint64_t done = 0;

	while (done < len) {
		uint64_t at = offset + done, piece;
		int err;

		if (!inside(run, at, 1)) {
			err = loop->fault(loop->worker, at, access == ACCESS_STORE, run);
			if (unlikely(err))
				return err;
		}
		piece = min_u64(len - done, run->end - at);
		if (access != ACCESS_NONE)
			move(access, run->base + (at - run->start), loop->buffer + done,
			     piece);
		done += piece;
	}
	return 0;
}

/* --verify: record @k of the share, to be stored. */
static void make(const struct loop *loop, uint64_t k, uint64_t offset, uint64_t len)
{
	struct verify_record record = { loop->first_index + k, offset, len };

	verify_fill(loop->content, &record, loop->buffer);
}

/* And as it was loaded. */
static int check(struct loop *loop, uint64_t k, uint64_t offset, uint64_t len)
{
	struct verify_record record = { loop->first_index + k, offset, len };

	verify_fill(loop->content, &record, loop->expected);
	if (likely(!memcmp(loop->buffer, loop->expected, len)))
		return 0;
	loop->mismatch = true;
	loop->wrong = record;
	return -EBADMSG;
}

static __always_inline_ int walk(struct loop *loop, enum access access, enum order order)
{
	const uint64_t start = loop->start, end = loop->end, record = loop->record;
	const uint64_t nr = loop->nr_records;
	struct extent run = { 0 };
	uint64_t bytes = 0;
	int err = 0;

	for (uint64_t i = 0; i < nr; i++) {
		uint64_t k = order == ORDER_ASCENDING  ? i :
			     order == ORDER_DESCENDING ? nr - 1 - i :
							 loop->permutation[i];
		uint64_t offset = start + k * record;
		uint64_t len = min_u64(record, end - offset);

		if (unlikely(!inside(&run, offset, len))) {
			err = move_pieces(loop, access, offset, len, &run);
			if (unlikely(err))
				break;
		} else if (access == ACCESS_NONE) {
			__asm__ volatile("" : : "r"(offset) : "memory");
		} else {
			move(access, run.base + (offset - run.start), loop->buffer, len);
		}
		bytes += len;
	}
	loop->bytes = bytes;
	return err;
}

/* A walk of its own, so that the one above is compiled as if there were no other. */
static __always_inline_ int walk_verified(struct loop *loop, enum access access,
					  enum order order)
{
	const uint64_t start = loop->start, end = loop->end, record = loop->record;
	const uint64_t nr = loop->nr_records;
	struct extent run = { 0 };
	int err = 0;

	loop->bytes = 0;
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t k = order == ORDER_ASCENDING  ? i :
			     order == ORDER_DESCENDING ? nr - 1 - i :
							 loop->permutation[i];
		uint64_t offset = start + k * record;
		uint64_t len = min_u64(record, end - offset);

		if (access == ACCESS_STORE)
			make(loop, k, offset, len);
		err = move_pieces(loop, access, offset, len, &run);
		if (!err && access == ACCESS_LOAD)
			err = check(loop, k, offset, len);
		if (unlikely(err))
			break;
		loop->bytes += len;
	}
	return err;
}

#define LOOP(name, access, order)                 \
	static int name(struct loop *loop)        \
	{                                         \
		return walk(loop, access, order); \
	}

#define VERIFIED(name, access, order)                      \
	static int verified_##name(struct loop *loop)      \
	{                                                  \
		return walk_verified(loop, access, order); \
	}

LOOP(none_ascending, ACCESS_NONE, ORDER_ASCENDING)
LOOP(none_descending, ACCESS_NONE, ORDER_DESCENDING)
LOOP(none_random, ACCESS_NONE, ORDER_RANDOM)
LOOP(load_ascending, ACCESS_LOAD, ORDER_ASCENDING)
LOOP(load_descending, ACCESS_LOAD, ORDER_DESCENDING)
LOOP(load_random, ACCESS_LOAD, ORDER_RANDOM)
LOOP(store_ascending, ACCESS_STORE, ORDER_ASCENDING)
LOOP(store_descending, ACCESS_STORE, ORDER_DESCENDING)
LOOP(store_random, ACCESS_STORE, ORDER_RANDOM)

VERIFIED(load_ascending, ACCESS_LOAD, ORDER_ASCENDING)
VERIFIED(load_descending, ACCESS_LOAD, ORDER_DESCENDING)
VERIFIED(load_random, ACCESS_LOAD, ORDER_RANDOM)
VERIFIED(store_ascending, ACCESS_STORE, ORDER_ASCENDING)
VERIFIED(store_descending, ACCESS_STORE, ORDER_DESCENDING)
VERIFIED(store_random, ACCESS_STORE, ORDER_RANDOM)

loop_fn *loop_choose(enum access access, enum order order)
{
	static loop_fn *const loops[3][3] = {
		[ACCESS_NONE] = { none_ascending, none_descending, none_random },
		[ACCESS_LOAD] = { load_ascending, load_descending, load_random },
		[ACCESS_STORE] = { store_ascending, store_descending, store_random },
	};

	return loops[access][order];
}

loop_fn *loop_choose_verified(enum access access, enum order order)
{
	static loop_fn *const loops[3][3] = {
		[ACCESS_LOAD] = { verified_load_ascending, verified_load_descending,
				  verified_load_random },
		[ACCESS_STORE] = { verified_store_ascending, verified_store_descending,
				   verified_store_random },
	};

	return loops[access][order];
}
