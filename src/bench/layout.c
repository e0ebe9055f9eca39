/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

/* Where the share of worker @id begins: record @id * nr / workers of the whole, in bytes. */
static uint64_t share_start(uint64_t total, uint64_t record, unsigned nr_workers,
			    unsigned id)
{
	uint64_t nr_records = div_round_up(total, record);
	uint64_t first =
		nr_records / nr_workers * id + min_u64(id, nr_records % nr_workers);

	/* The last record may be short; an empty share after it starts at the end. */
	return first >= nr_records ? total : first * record;
}

int layout_init(struct layout *layout, unsigned nr_workers, uint64_t bytes,
		bool per_worker, uint64_t record, bool shared)
{
	*layout = (struct layout){ .nr_workers = nr_workers,
				   .total = bytes,
				   .nr_files = shared ? 1 : nr_workers };
	if (per_worker &&
	    __builtin_mul_overflow(bytes, (uint64_t)nr_workers, &layout->total))
		return -EOVERFLOW;
	if (layout->total > INT64_MAX - PMD_SIZE)
		return -EOVERFLOW;
	layout->shares = calloc(nr_workers, sizeof(*layout->shares));
	layout->file_bytes = calloc(layout->nr_files, sizeof(*layout->file_bytes));
	if (!layout->shares || !layout->file_bytes) {
		layout_destroy(layout);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < nr_workers; i++) {
		struct share *share = &layout->shares[i];

		if (per_worker) {
			share->start = i * bytes;
			share->end = share->start + bytes;
		} else {
			share->start = share_start(layout->total, record, nr_workers, i);
			share->end =
				share_start(layout->total, record, nr_workers, i + 1);
		}
		share->mem_node = share->own_node = -1;
		share->first = !shared || !i;
		if (shared)
			continue;
		share->file = i;
		share->end -= share->start;
		share->start = 0;
		layout->file_bytes[i] = share->end;
	}
	if (shared)
		layout->file_bytes[0] = layout->total;
	return 0;
}

void layout_destroy(struct layout *layout)
{
	free(layout->shares);
	free(layout->file_bytes);
	memset(layout, 0, sizeof(*layout));
}

struct engine_setup layout_setup(const struct layout *layout, bool processes)
{
	return (struct engine_setup){
		.nr_workers = layout->nr_workers,
		.shares = layout->shares,
		.nr_files = layout->nr_files,
		.file_bytes = layout->file_bytes,
		.processes = processes,
	};
}
