/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the two kinds of the cache engine share: software page tables and (map=uffd) real ones. */
#ifndef ENGINE_ENGINE_CACHE_H
#define ENGINE_ENGINE_CACHE_H

#include "engine/engine.h"

struct cache_place;
struct cache_uffd;

struct cache_state {
	struct page_cache *cache;
	struct mapping **files;	    /* [nr_files]; NULL for a file without bytes */
	struct cache_place *places; /* [nr_files]; NULL but for map=uffd */
};

/* All NULL in a worker without a share. */
struct cache_worker {
	struct cache_thread *thread;
	struct mapping *file;
	struct vma *vma;
	struct cache_uffd *uffd; /* NULL but for map=uffd */
};

/* Chosen by cache_parse() and not in the table of engines. */
extern const struct engine_ops engine_cache_uffd;

int cache_parse(struct engine *engine, struct spec *spec, struct reason *why);
size_t cache_overhead(const struct engine *engine, const struct engine_setup *setup);
int cache_start(struct engine *engine, const struct engine_setup *setup,
		struct reason *why);
/* All files are freed. */
void cache_stop(struct engine *engine);
/* The files that no worker freed: none has started. */
void cache_free_files(struct cache_state *state, unsigned nr_files);
int cache_worker_start(struct engine_worker *worker, struct reason *why);
void cache_worker_stop(struct engine_worker *worker);
int cache_empty(struct engine_worker *worker, struct reason *why);
int cache_map(struct engine_worker *worker, struct reason *why);
void cache_unmap(struct engine_worker *worker);
int cache_truncate(struct engine_worker *worker, struct reason *why);
void *cache_page(struct engine_worker *worker, uint64_t offset);
void cache_counters(struct engine_worker *worker, struct engine_counters *counters);
void cache_reset_counters(struct engine_worker *worker);

/* What the page tables of a worker span: whole PMD ranges, as far as the file goes. Bytes. */
void cache_vma_range(const struct engine_setup *setup, const struct share *share,
		     uint64_t *start, uint64_t *end);

#endif
