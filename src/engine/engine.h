/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An engine is a page cache under test. One engine, one file; its ops stand in engines[].
 *
 * Life of an engine: parse (the spec, once) – then, for every thread count and round,
 * start – worker_start in each worker – { empty? – map – fault… – unmap } for each phase –
 * worker_stop – stop. Everything but fault() is outside every timed window.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reason.h"
#include "cache/cache.h"

struct arena;
struct engine_worker;
struct spec;
struct topo;

/* Whose bytes: worker @id moves [start, end) of file number @file. */
struct share {
	unsigned file;
	uint64_t start, end;
	int mem_node; /* where the worker's memory comes from; -1: anywhere */
	bool first;   /* of the workers of its file: the one that empties it */
};

/* One side at one thread count. */
struct engine_setup {
	struct arena *arena; /* resized for this set-up; NULL for engines that need none */
	unsigned nr_workers;
	const struct share *shares; /* [nr_workers] */
	unsigned nr_files;
	const uint64_t *file_bytes; /* [nr_files] */
};

struct engine_counters {
	struct cache_counters cache;
	uint64_t major_faults;
};

struct engine {
	const struct engine_ops *ops;
	char *spec; /* as the user wrote it */
	union {
		struct {
			unsigned batch;
		} cache;
	} conf;				  /* filled by ops->parse */
	const struct engine_setup *setup; /* between start and stop */
	void *state;			  /* the engine's own, between start and stop */
};

struct engine_worker {
	struct engine *engine;
	unsigned id;
	const struct share *share;
	void *state; /* the engine's own, between worker_start and worker_stop */
};

enum engine_flags {
	ENGINE_NEEDS_ARENA = 1 << 0,
	ENGINE_NO_COPY = 1 << 1, /* no bytes are moved: the loop walks the records only */
	ENGINE_HAS_COUNTERS = 1 << 2, /* faults and locks exist */
};

struct engine_ops {
	const char *name;
	const char *summary; /* one line for --help and the header of the tables */
	unsigned flags;

	/* Fills conf from the keys of the spec; refuses unknown keys by name. 0 or -EINVAL. */
	int (*parse)(struct engine *engine, struct spec *spec, struct reason *why);
	/* Arena bytes that worker @id needs on its node, and other bytes the whole set-up takes. */
	size_t (*arena_need)(const struct engine *engine,
			     const struct engine_setup *setup, unsigned id);
	size_t (*overhead)(const struct engine *engine, const struct engine_setup *setup);

	int (*start)(struct engine *engine, const struct engine_setup *setup,
		     struct reason *why);
	void (*stop)(struct engine *engine);
	int (*worker_start)(struct engine_worker *worker, struct reason *why);
	void (*worker_stop)(struct engine_worker *worker);

	/* In the worker: its share of the files becomes new and empty. Nothing is mapped then. */
	int (*empty)(struct engine_worker *worker, struct reason *why);
	/* In the worker: its file, with empty page tables. */
	int (*map)(struct engine_worker *worker, struct reason *why);
	void (*unmap)(struct engine_worker *worker);
	/*
	 * The run of contiguous bytes around @offset, ready to be loaded from, or stored to when
	 * @write. The only call inside the timed loop. 0 or -errno.
	 */
	int (*fault)(struct engine_worker *worker, uint64_t offset, bool write,
		     struct extent *extent);
	/* What the worker did since the last reset. NULL with no counters. */
	void (*counters)(struct engine_worker *worker, struct engine_counters *counters);
	void (*reset_counters)(struct engine_worker *worker);
};

extern const struct engine_ops engine_cache, engine_memory, engine_null;
extern const struct engine_ops *const engines[]; /* NULL-terminated */

/* Parses "NAME[:KEY=VALUE[,KEY=VALUE]...]" (a backslash escapes a comma or a backslash in a value).
 * 0; -EINVAL with @why naming the argument; -ENOMEM. */
int engine_parse(struct engine *engine, const char *spec, struct reason *why);
void engine_destroy(struct engine *engine);

#endif
