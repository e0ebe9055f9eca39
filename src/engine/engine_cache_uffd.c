/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache:map=uffd: real faults into the in-process page cache. The frames of a file lie
 * in its order in a memfd (see mapping_place()), so a second mapping of that range of
 * the memfd is the file. It is registered for minor faults of userfaultfd: its page
 * tables are empty at first, and although every page is in the memfd, the kernel asks
 * before it maps one. Then the page cache does all that it does for a soft fault, with
 * the software page tables as its record, and UFFDIO_CONTINUE maps the frames that these
 * map now. Stores go into the frames; nothing is copied.
 *
 * Two things are not as with soft faults. Real PTEs are writable from the start: a store
 * to what a load brought in is no second fault (no phase does both in one mapping). And
 * the software page tables learn of the touched page only that it is accessed, not of
 * the others of its batch: where a batch is several folios, these stay on the inactive
 * list.
 *
 * The kernel asks by SIGBUS in the thread that faulted (UFFD_FEATURE_SIGBUS). The other
 * way are messages to a thread that handles them, one for each worker or one for all.
 * tests/bench/uffd 15 64, on two CPUs of an AMD EPYC under KVM, Linux 6.18, other load
 * on them; CPU time of all threads for a page that is new, ns, median of 15 interleaved
 * rounds, and how many times that of SIGBUS, median of the ratios (their spread):
 *
 *	workers	batch	SIGBUS	a handler each		one handler
 *	1	1	6180	2.61 (1.75-4.08)	2.28 (1.57-4.04)
 *	2	1	7150	1.77 (1.50-2.96)	2.06 (1.53-2.94)
 *	16	1	5864	2.89 (2.13-5.20)	2.32 (1.79-3.85)
 *	1	512	 861	1.09 (0.90-1.46)	1.04 (0.96-1.48)
 *	2	512	 906	1.12 (0.87-3.50)	1.06 (0.89-3.07)
 *	16	512	 901	1.35 (0.83-3.31)	1.33 (0.70-2.54)
 *
 * Pages that are resident: 2.86 and 3.05, 1.79 and 1.99, 3.03 and 2.78 times with
 * batch=1. Time elapsed, with batch=1 and new pages, is spread more by the other load,
 * of which two threads a worker escape more than one: 2.46 and 1.90, 1.01 and 1.91, 1.69
 * and 1.58 times. A handler costs two switches of threads a fault, and a single one
 * makes all faults take turns. A signal stays on the worker's CPU; its counters, its
 * node and its lists are the worker's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bits.h"
#include "engine/engine_cache.h"
#include "sys/arena.h"
#include "sys/sigbus.h"
#include "sys/uffd.h"

#define FEATURES (UFFD_FEATURE_SIGBUS | UFFD_FEATURE_MINOR_SHMEM)

/* Where a file lies in the arena. */
struct cache_place {
	unsigned region;
	size_t frame; /* of the region */
};

/* One worker's range of real memory. */
struct cache_uffd {
	int fd;
	int memory_fd;	     /* of the arena's region */
	off_t memory_offset; /* where byte @start of the file is in it */
	uint64_t start, end; /* bytes of the file: the vma's, whole pages */
	uint64_t batch;	     /* bytes */
	struct extent share; /* what the worker may touch, as the loop gets it */
	char *base; /* byte @start; 2 MiB aligned. PROT_NONE while nothing is mapped */
	bool mapped;
	bool write; /* the access that is under way */
	int err;    /* of the last fault that failed */
};

static size_t uffd_bytes(const struct cache_uffd *uffd)
{
	return uffd->end - uffd->start;
}

/* ---- set-up ---- */

static int cache_uffd_open(struct engine *engine, const struct engine_setup *setups,
			   unsigned nr, struct reason *why)
{
	struct reason inner;
	int fd = uffd_open(FEATURES, &inner);

	(void)engine;
	(void)setups;
	(void)nr;
	if (fd < 0)
		return reason_set(why, fd, "map=uffd: %s", inner.text);
	close(fd);
	return sigbus_install(why);
}

/*
 * Whole files, each from a 2 MiB boundary on, where the worker that empties it has its memory: the
 * frames of a file are one run. So a file that workers share lies on the node of the first.
 */
static size_t cache_uffd_arena_need(const struct engine *engine,
				    const struct engine_setup *setup, unsigned id)
{
	const struct share *share = &setup->shares[id];

	(void)engine;
	return share->first ? align_up(setup->file_bytes[share->file], PMD_SIZE) : 0;
}

/* Takes frames for a file from its worker's region or, when that is full, the first with room. */
static int place_file(struct cache_state *state, const struct engine_setup *setup,
		      const struct share *share, size_t *taken)
{
	const struct arena *arena = setup->arena;
	unsigned nid = share->mem_node < 0 ? ARENA_ANY_NODE : (unsigned)share->mem_node;
	uint64_t bytes = align_up(setup->file_bytes[share->file], PMD_SIZE);
	unsigned best = arena->nr_regions;
	struct cache_place *place = &state->places[share->file];

	for (unsigned i = 0; i < arena->nr_regions; i++) {
		if (arena->regions[i].bytes - taken[i] < bytes)
			continue;
		if (best == arena->nr_regions || arena->regions[i].nid == nid)
			best = i;
	}
	if (best == arena->nr_regions)
		return -ENOMEM;
	*place = (struct cache_place){ .region = best, .frame = taken[best] / PAGE_SIZE };
	taken[best] += bytes;
	return mapping_place(state->files[share->file], place->region, place->frame);
}

static int place_files(struct cache_state *state, const struct engine_setup *setup)
{
	size_t *taken = calloc(setup->arena->nr_regions, sizeof(*taken));
	int err = 0;

	state->places = calloc(setup->nr_files, sizeof(*state->places));
	if (!state->places || !taken)
		err = -ENOMEM;
	for (unsigned i = 0; i < setup->nr_workers && !err; i++) {
		const struct share *share = &setup->shares[i];

		if (share->first && state->files[share->file])
			err = place_file(state, setup, share, taken);
	}
	free(taken);
	return err;
}

static int cache_uffd_start(struct engine *engine, const struct engine_setup *setup,
			    struct reason *why)
{
	struct cache_state *state;
	int err = cache_start(engine, setup, why);

	if (err)
		return err;
	state = engine->state;
	err = place_files(state, setup);
	if (!err)
		return 0;
	cache_free_files(state, setup->nr_files);
	free(state->places);
	cache_stop(engine);
	return reason_set(why, err, "cache: no room for the files among the page frames");
}

static void cache_uffd_stop(struct engine *engine)
{
	struct cache_state *state = engine->state;

	free(state->places);
	cache_stop(engine);
}

/* ---- a worker's range ---- */

/* Whole 2 MiB, so that no neighbour's pages share a page table with this worker's. */
static size_t range_bytes(const struct cache_uffd *uffd)
{
	return align_up(uffd_bytes(uffd), PMD_SIZE);
}

static int range_open(struct cache_uffd **out, const struct engine_worker *worker,
		      struct reason *why)
{
	const struct engine *engine = worker->engine;
	const struct cache_state *state = engine->state;
	const struct share *share = worker->share;
	const struct cache_place *place = &state->places[share->file];
	struct cache_uffd *uffd = calloc(1, sizeof(*uffd));
	int err;

	if (!uffd)
		return reason_set(why, -ENOMEM, "cache: out of memory for worker %u",
				  worker->id);
	cache_vma_range(engine->setup, share, &uffd->start, &uffd->end);
	uffd->end = align_up(uffd->end, PAGE_SIZE);
	uffd->batch = engine->conf.cache.batch * PAGE_SIZE;
	uffd->memory_fd = engine->setup->arena->regions[place->region].fd;
	uffd->memory_offset = (off_t)(place->frame * PAGE_SIZE + uffd->start);
	uffd->fd = uffd_open(FEATURES, why);
	err = uffd->fd;
	if (err < 0)
		goto fail;
	uffd->base = arena_reserve(range_bytes(uffd));
	if (!uffd->base) {
		err = -errno;
		close(uffd->fd);
		reason_set(why, err, "cannot reserve %zu MiB of address space: %s",
			   uffd_bytes(uffd) >> 20, strerror(-err));
		goto fail;
	}
	uffd->share = (struct extent){ .base = uffd->base + (share->start - uffd->start),
				       .start = share->start,
				       .end = share->end };
	*out = uffd;
	return 0;
fail:
	free(uffd);
	return err;
}

static void range_close(struct cache_uffd *uffd)
{
	if (!uffd)
		return;
	munmap(uffd->base, range_bytes(uffd));
	close(uffd->fd);
	free(uffd);
}

/* In one step, so that nobody else's mapping can get in between. */
static void range_unmap(struct cache_uffd *uffd)
{
	mmap(uffd->base, uffd_bytes(uffd), PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	uffd->mapped = false;
}

static int range_map(struct cache_uffd *uffd, struct reason *why)
{
	int err;

	if (mmap(uffd->base, uffd_bytes(uffd), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED, uffd->memory_fd,
		 uffd->memory_offset) == MAP_FAILED)
		return reason_set(why, -errno, "cannot map page frames: %s",
				  strerror(errno));
	err = uffd_register(uffd->fd, uffd->base, uffd_bytes(uffd),
			    UFFDIO_REGISTER_MODE_MINOR);
	if (err) {
		range_unmap(uffd);
		return reason_set(why, err, "cannot register page frames: %s",
				  strerror(-err));
	}
	uffd->mapped = true;
	uffd->err = 0;
	return 0;
}

static int cache_uffd_worker_start(struct engine_worker *worker, struct reason *why)
{
	struct cache_worker *cw;
	int err = cache_worker_start(worker, why);

	if (err)
		return err;
	cw = worker->state;
	return cw->vma ? range_open(&cw->uffd, worker, why) : 0;
}

static void cache_uffd_worker_stop(struct engine_worker *worker)
{
	struct cache_worker *cw = worker->state;

	if (cw)
		range_close(cw->uffd);
	cache_worker_stop(worker);
}

static int cache_uffd_map(struct engine_worker *worker, struct reason *why)
{
	struct cache_worker *cw = worker->state;
	int err;

	if (!cw->vma)
		return 0;
	err = range_map(cw->uffd, why);
	return err ? err : cache_map(worker, why);
}

/* Also after a map that failed. */
static void cache_uffd_unmap(struct engine_worker *worker)
{
	struct cache_worker *cw = worker->state;

	if (!cw->vma || !cw->uffd->mapped)
		return;
	range_unmap(cw->uffd);
	cache_unmap(worker);
}

/* ---- faults ---- */

/* The whole share is one run of bytes, there or not: the fault comes with the access. */
static int cache_uffd_fault(struct engine_worker *worker, uint64_t offset, bool write,
			    struct extent *extent)
{
	struct cache_worker *cw = worker->state;

	(void)offset;
	cw->uffd->write = write;
	*extent = cw->uffd->share;
	return 0;
}

/* Maps for real what the page cache has mapped of the batch around @offset. */
static int map_batch(struct cache_uffd *uffd, const struct vma *vma, uint64_t offset)
{
	uint64_t at = max_u64(align_down(offset, uffd->batch), uffd->start);
	uint64_t end = min_u64(align_down(offset, uffd->batch) + uffd->batch, uffd->end);
	uint64_t run_end;
	int err = 0;

	while (!err && vma_next_run(vma, at, end, &at, &run_end)) {
		err = uffd_continue(uffd->fd, uffd->base + (at - uffd->start),
				    run_end - at);
		at = run_end;
	}
	return err;
}

/* In the signal handler, so in the middle of a copy, which holds no lock. */
static bool cache_uffd_resolve(void *arg, uintptr_t address)
{
	struct engine_worker *worker = arg;
	struct cache_worker *cw = worker->state;
	struct cache_uffd *uffd = cw->uffd;
	uintptr_t within = address - (uintptr_t)uffd->base;
	struct extent extent;
	uint64_t offset;

	if (within >= uffd_bytes(uffd))
		return false;
	offset = uffd->start + align_down(within, PAGE_SIZE);
	uffd->err = vma_touch(cw->vma, cw->thread, offset, uffd->write, &extent);
	if (!uffd->err)
		uffd->err = map_batch(uffd, cw->vma, offset);
	return !uffd->err;
}

static void cache_uffd_explain(struct engine_worker *worker, int err,
			       const struct sigbus_guard *guard, struct reason *why)
{
	struct cache_worker *cw = worker->state;
	int fault_err = cw->uffd->err;

	(void)guard;
	if (err != -EFAULT)
		reason_set(why, err, "%s", strerror(-err));
	else if (!fault_err)
		reason_set(why, err, "SIGBUS outside of the file");
	else
		reason_set(why, fault_err, "cannot resolve a page fault: %s",
			   strerror(-fault_err));
}

/*
 * What is mapped is so twice: the page tables of the page cache are its own to clear,
 * these are not.
 */
static int cache_uffd_truncate(struct engine_worker *worker, struct reason *why)
{
	struct cache_worker *cw = worker->state;
	struct cache_uffd *uffd = cw->uffd;

	if (uffd->mapped && madvise(uffd->base + (uffd->share.start - uffd->start),
				    uffd->share.end - uffd->share.start, MADV_DONTNEED))
		return reason_set(why, -errno, "cannot unmap page frames: %s",
				  strerror(errno));
	return cache_truncate(worker, why);
}

/* Real page tables have no PMD entries here: UFFDIO_CONTINUE maps pages. */
static void cache_uffd_counters(struct engine_worker *worker,
				struct engine_counters *counters)
{
	cache_counters(worker, counters);
	counters->cache.pmd_mapped_bytes = 0;
}

const struct engine_ops engine_cache_uffd = {
	.name = "cache",
	.summary = "the in-process page cache behind real page faults",
	.flags = ENGINE_NEEDS_ARENA | ENGINE_HAS_COUNTERS | ENGINE_REAL_FAULTS |
		 ENGINE_SHARED_ARENA,
	.parse = cache_parse,
	.open = cache_uffd_open,
	.arena_need = cache_uffd_arena_need,
	.overhead = cache_overhead,
	.start = cache_uffd_start,
	.stop = cache_uffd_stop,
	.worker_start = cache_uffd_worker_start,
	.worker_stop = cache_uffd_worker_stop,
	.empty = cache_empty,
	.map = cache_uffd_map,
	.unmap = cache_uffd_unmap,
	.fault = cache_uffd_fault,
	.resolve = cache_uffd_resolve,
	.explain = cache_uffd_explain,
	.truncate = cache_uffd_truncate,
	.page = cache_page,
	.counters = cache_uffd_counters,
	.reset_counters = cache_reset_counters,
};
