/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which worker moves which bytes of which file. */
#ifndef BENCH_LAYOUT_H
#define BENCH_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

struct layout {
	unsigned nr_workers;
	struct share *shares; /* [nr_workers] */
	unsigned nr_files;
	uint64_t *file_bytes; /* [nr_files] */
	uint64_t total;	      /* bytes of all shares */
};

/*
 * @bytes: of each worker when @per_worker, else of all workers together, split in whole records so
 * that shares differ by at most one record (the last one may be short). @shared: one file, each
 * worker with its range; else a file a worker. Shares may be empty. mem_node and own_node
 * are left -1. 0; -ENOMEM; -EOVERFLOW when the bytes do not fit 63 bits.
 */
int layout_init(struct layout *layout, unsigned nr_workers, uint64_t bytes,
		bool per_worker, uint64_t record, bool shared);
void layout_destroy(struct layout *layout);

/* What engines see of it; the layout stays its owner. No arena yet. */
struct engine_setup layout_setup(const struct layout *layout, bool processes);

#endif
