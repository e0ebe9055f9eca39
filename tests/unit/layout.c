/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who moves which bytes: every byte once, shares that differ by at most one record. */
#include "bench/layout.h"

#include <errno.h>

#include "base/bits.h"
#include "tap.h"

struct geometry {
	unsigned workers;
	uint64_t bytes, record;
};

static const struct geometry totals[] = {
	{ 1, 1, 4096 }, /* less than a record */
	{ 4, 1 << 20, 4096 },
	{ 3, 512 << 20, 4096 },
	{ 64, 160 * 4096, 4096 }, /* one tool gave a worker 34 of these pages */
	{ 256, 16 * 4096, 4096 }, /* fewer records than workers */
	{ 7, 1000003, 4096 },	  /* nothing divides */
	{ 7, 1000003, 3000 },
	{ 5, 4096, 1 << 20 }, /* a record larger than the file */
	{ 256, (uint64_t)3 << 40, 1 << 20 },
	{ 2, 8193, 8192 },
};

/* Walks the shares in order; @shared: they must follow one another in one file. */
static void check_shares(const struct geometry *g, bool shared)
{
	uint64_t sum = 0, least = UINT64_MAX, most = 0;
	struct layout layout;
	bool in_place = true;

	if (!ok(!layout_init(&layout, g->workers, g->bytes, false, g->record, shared),
		"%u workers, %llu bytes, %s", g->workers, (unsigned long long)g->bytes,
		shared ? "shared" : "private"))
		return;
	for (unsigned i = 0; i < g->workers; i++) {
		const struct share *share = &layout.shares[i];
		uint64_t bytes = share->end - share->start;
		uint64_t records = div_round_up(bytes, g->record);

		in_place &= share->start <= share->end;
		in_place &= share->end <= layout.file_bytes[share->file];
		in_place &= shared ? share->start == sum : !share->start;
		in_place &= share->file == (shared ? 0 : i);
		in_place &= share->first == (!shared || !i);
		sum += bytes;
		least = min_u64(least, records);
		most = max_u64(most, records);
	}
	ok(in_place, "each share lies in its file");
	ok(sum == g->bytes && layout.total == sum, "all bytes, once");
	ok(most - least <= 1, "shares differ by at most a record (%llu to %llu)",
	   (unsigned long long)least, (unsigned long long)most);
	layout_destroy(&layout);
}

static void check_per_worker(void)
{
	struct layout layout;

	ok(!layout_init(&layout, 3, 5000, true, 4096, true),
	   "5000 bytes for each of 3 workers");
	ok(layout.total == 15000 && layout.file_bytes[0] == 15000 && layout.nr_files == 1,
	   "one file of 15000");
	ok(layout.shares[2].start == 10000 && layout.shares[2].end == 15000,
	   "the last third");
	layout_destroy(&layout);
	ok(!layout_init(&layout, 3, 5000, true, 4096, false),
	   "the same in files of their own");
	ok(layout.nr_files == 3 && layout.file_bytes[2] == 5000 &&
		   !layout.shares[2].start,
	   "each of 5000");
	layout_destroy(&layout);
}

int main(void)
{
	struct layout layout;

	for (size_t i = 0; i < ARRAY_SIZE(totals); i++) {
		check_shares(&totals[i], false);
		check_shares(&totals[i], true);
	}
	check_per_worker();
	ok(layout_init(&layout, 256, UINT64_MAX / 2, true, 4096, false) == -EOVERFLOW,
	   "more bytes than 64 bits count");
	ok(layout_init(&layout, 1, UINT64_MAX, false, 4096, false) == -EOVERFLOW,
	   "more bytes than an offset counts");
	return done();
}
