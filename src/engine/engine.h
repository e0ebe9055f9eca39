/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An engine is a page cache under test. One engine, one file; its ops stand in engines[].
 *
 * Life of an engine: parse (the spec), open, once – then, for every thread count and round,
 * start – worker_start in each worker – { empty? or fill? – map – fault… – observe – unmap } for
 * each phase – worker_stop – stop – and close at the end. Everything but fault() is outside every
 * timed window. The driver of truncations has { empty or fill – map – fault… – unmap? –
 * truncate } instead, and times truncate() only.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reason.h"
#include "cache/cache.h"
#include "sys/sigbus.h"

struct arena;
struct engine_worker;
struct mem_policy;
struct spec;
struct topo;

/* Whose bytes: worker @id moves [start, end) of file number @file. */
struct share {
	unsigned file;
	uint64_t start, end;
	/* What its bytes lie on: this node, or as the set-up's policy says (-1). */
	int mem_node;
	int own_node; /* what else the worker has lies on; -1: where it first touches it */
	bool first;   /* of the workers of its file: the one that empties it */
};

/* One side at one thread count. */
struct engine_setup {
	struct arena *arena; /* resized for this set-up; NULL for engines that need none */
	const struct mem_policy *policy; /* of shares without a node; NULL: the system's */
	unsigned nr_workers;
	const struct share *shares; /* [nr_workers] */
	unsigned nr_files;
	const uint64_t *file_bytes; /* [nr_files] */
	bool processes; /* workers are processes, forked between start and stop */
	bool untimed_faults; /* no fault is inside of any time: none has to cost what a trap does */
};

struct engine_counters {
	struct cache_counters cache; /* its faults are those of an in-process page cache */
};

struct engine {
	const struct engine_ops *ops;
	unsigned flags;	   /* enum engine_flags: those of ops, and what the spec adds */
	char *spec;	   /* as the user wrote it */
	const char *place; /* between open and close: where its files lie; NULL: nowhere */
	char *mount; /* between open and close: type and options of what the files lie on */
	union {
		struct {
			unsigned batch;
			unsigned truncate_batch; /* folios under one tree_lock hold */
			bool uffd;		 /* map=uffd */
		} cache;
		struct {
			char *dir;     /* kernel: where the files lie; tmpfs: NULL */
			char *huge;    /* tmpfs: the mount option */
			uint64_t size; /* tmpfs: of the mount; 0: what the run needs */
			int advice;    /* of madvise(); -1: none */
			unsigned populate; /* pages at a time; 0: no */
			bool no_faultaround;
			uint64_t write; /* bytes a write(2) when files are made resident; 0: stores */
		} kernel;
		struct {
			unsigned slow; /* percent of the bytes that are copied twice, for tests */
		} memory;
	} conf;	      /* filled by ops->parse, emptied by ops->destroy */
	void *opened; /* the engine's own, between open and close */
	const struct engine_setup *setup; /* between start and stop */
	void *state;			  /* the engine's own, between start and stop */
};

/* Puts what the file is to hold from byte @at on, all of it inside the worker's share, into @to. */
typedef void engine_content_fn(void *arg, uint64_t at, uint64_t bytes, char *to);

struct engine_worker {
	struct engine *engine;
	unsigned id;
	const struct share *share;
	void *state; /* the engine's own, between worker_start and worker_stop */
	/*
	 * By worker_start: why the pages of the share cannot be placed as asked, -errno;
	 * and what call said so.
	 */
	int place_err;
	const char *place_call;
};

enum engine_flags {
	ENGINE_NEEDS_ARENA = 1 << 0,
	ENGINE_NO_COPY = 1 << 1, /* no bytes are moved: the loop walks the records only */
	ENGINE_HAS_COUNTERS = 1 << 2, /* of an in-process page cache: faults and locks */
	/* The CPU faults when its memory is touched: getrusage() counts, SIGBUS may be raised. */
	ENGINE_REAL_FAULTS = 1 << 3,
	ENGINE_PROCESSES = 1 << 4, /* its workers may be processes */
	/* The arena has to be one that can be mapped a second time. */
	ENGINE_SHARED_ARENA = 1 << 5,
	/* Files are made resident by fill(), also after an initial writer. */
	ENGINE_FILLS = 1 << 6,
	/*
	 * Its pages are memory that was free: where a hypervisor takes free memory back (free page
	 * reporting, balloons), the first touch of a page is the host's fault, not the
	 * page cache's.
	 */
	ENGINE_FREE_MEMORY = 1 << 7,
};

struct engine_ops {
	const char *name;
	const char *summary; /* one line for --help and the header of the tables */
	unsigned flags;

	/*
	 * Fills conf from the keys of the spec; refuses unknown keys by name. 0, -EINVAL,
	 * -ENOMEM.
	 */
	int (*parse)(struct engine *engine, struct spec *spec, struct reason *why);
	void (*destroy)(struct engine *engine); /* of conf, also after parse failed */
	/*
	 * Whether all of @setups can run here: mounts and opens what they need, compares
	 * limits. One line of @why names what is short and the option to change. Before
	 * any worker exists.
	 */
	int (*open)(struct engine *engine, const struct engine_setup *setups, unsigned nr,
		    struct reason *why);
	void (*close)(struct engine *engine);
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
	/*
	 * ENGINE_FILLS. In the worker, nothing is mapped: makes its share of the files
	 * new and resident by other means than stores. @content is asked for one piece
	 * after the other, ascending. Workers of one file come one after the other,
	 * ascending: it grows from nothing.
	 */
	int (*fill)(struct engine_worker *worker, engine_content_fn *content, void *arg,
		    struct reason *why);
	/* In the worker: its file, with empty page tables. */
	int (*map)(struct engine_worker *worker, struct reason *why);
	void (*unmap)(struct engine_worker *worker);
	/*
	 * The run of contiguous bytes around @offset, ready to be loaded from, or stored to when
	 * @write. The only call inside the timed loop. 0 or -errno.
	 */
	int (*fault)(struct engine_worker *worker, uint64_t offset, bool write,
		     struct extent *extent);
	/*
	 * In the worker, mapped or not: removes the pages of its share from the page
	 * cache. Where the share is the whole file the file may be empty then, until
	 * empty() gives it its size again. Timed by the driver of truncations. NULL: the
	 * engine has no pages. 0; -errno with @why.
	 */
	int (*truncate)(struct engine_worker *worker, struct reason *why);
	/* What resolves a SIGBUS in the worker's loop (see sys/sigbus.h); NULL: nothing does. */
	bool (*resolve)(void *worker, uintptr_t address);
	/* In the worker: why its loop ended with @err; @guard tells of the SIGBUS after -EFAULT. */
	void (*explain)(struct engine_worker *worker, int err,
			const struct sigbus_guard *guard, struct reason *why);
	/*
	 * In the worker, still mapped: bytes that huge pages could map, 0 when none were
	 * asked for.
	 */
	uint64_t (*huge_wanted)(struct engine_worker *worker);
	/*
	 * In the worker, still mapped: where the page at @offset of its share is in this
	 * process. NULL: it is not mapped. An engine without it has no pages.
	 */
	void *(*page)(struct engine_worker *worker, uint64_t offset);
	/* What the worker did since the last reset. NULL with no counters. */
	void (*counters)(struct engine_worker *worker, struct engine_counters *counters);
	void (*reset_counters)(struct engine_worker *worker);
};

/* Whether @worker is alone with its file. */
static inline bool engine_share_is_file(const struct engine_worker *worker)
{
	const struct share *share = worker->share;

	return !share->start &&
	       share->end == worker->engine->setup->file_bytes[share->file];
}

extern const struct engine_ops engine_cache, engine_kernel, engine_memory, engine_null,
	engine_tmpfs;
extern const struct engine_ops *const engines[]; /* NULL-terminated */

/*
 * Parses "NAME[:KEY=VALUE[,KEY=VALUE]...]" (a backslash escapes a comma or a backslash in a value).
 * 0; -EINVAL with @why naming the argument; -ENOMEM.
 */
int engine_parse(struct engine *engine, const char *spec, struct reason *why);
void engine_destroy(struct engine *engine);

#endif
