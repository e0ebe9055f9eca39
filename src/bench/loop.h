/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The timed loop: one function for each access and order, chosen before the start. */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H

#include <stdint.h>

#include "bench/phase.h"
#include "bench/verify.h"
#include "engine/engine.h"

struct loop;

/*
 * Moves every record of the share once, whole, between the buffer and the mapping. Inside: no
 * clock, no option, no store to shared memory; one call into the engine a contiguous run of bytes,
 * none for a record within the run it is in. Loads cannot be optimised away.
 * 0, or what the engine's fault() returned.
 */
typedef int loop_fn(struct loop *loop);

struct loop {
	struct engine_worker *worker;
	loop_fn *run; /* what loop_choose() chose */
	int (*fault)(struct engine_worker *worker, uint64_t offset, bool write,
		     struct extent *extent); /* the engine's */
	uint64_t start, end;		     /* the worker's share, bytes of the file */
	uint64_t record;		     /* bytes; the last record may be shorter */
	uint64_t nr_records;		     /* of the share */
	const uint32_t *permutation; /* of 0 … nr_records - 1; ORDER_RANDOM only */
	char *buffer;		     /* @record bytes */
	uint64_t bytes;		     /* out: what was moved */

	/* Of --verify. Behind all else: the ordinary loops do not know of it. */
	const struct verify_content *content; /* what the records are to hold */
	uint64_t first_index; /* of the share's first record, in the file */
	char *expected;	      /* @record bytes: what a load should have found */
	bool mismatch; /* out: the loop ended with a record that is not as expected */
	struct verify_record
		wrong; /* out: that record; @buffer and @expected still have it */
};

loop_fn *loop_choose(enum access access, enum order order);
/*
 * The same, but each record is made before it is stored, and checked after it was loaded; -EBADMSG,
 * with @mismatch set, at the first that is wrong. Not for ACCESS_NONE.
 */
loop_fn *loop_choose_verified(enum access access, enum order order);

#endif
