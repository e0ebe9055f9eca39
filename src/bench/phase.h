/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The seven phases of iozone's throughput mode. */
#ifndef BENCH_PHASE_H
#define BENCH_PHASE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/reason.h"

enum access {
	ACCESS_NONE,  /* no bytes move: the null engine */
	ACCESS_LOAD,  /* from the mapping to the worker's buffer */
	ACCESS_STORE, /* from the worker's buffer to the mapping */
};

enum order { ORDER_ASCENDING, ORDER_DESCENDING, ORDER_RANDOM };

struct phase {
	const char *name; /* its title is the result's, see result_add_phase() */
	enum access access;
	enum order order;
	unsigned iozone_test; /* iozone's -i number */
	bool starts_empty;    /* the file is new and empty; else it is resident */
};

#define NR_PHASES 7
extern const struct phase phases[NR_PHASES];

/*
 * Parses a list of names and iozone numbers ("reader,random-writer", "0,2"): phases[i] for i < *nr
 * in @list, in the order given, each once. 0; -EINVAL with @why naming the word.
 */
int phase_parse_list(const char *text, const struct phase *list[static NR_PHASES],
		     size_t *nr, struct reason *why);

#endif
