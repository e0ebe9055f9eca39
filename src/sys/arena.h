/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory that in-process engines use in turn: one region a NUMA node, aligned to 2
 * MiB, backed by huge pages where the system gives them, placed by mbind, touched before
 * anything is timed.
 */
#ifndef SYS_ARENA_H
#define SYS_ARENA_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/reason.h"

struct mem_policy;

#define ARENA_MAX_NODES 1024
/* A region that is bound to no one node: the arena's policy, or the system, places it. */
#define ARENA_ANY_NODE UINT_MAX

struct arena_region {
	unsigned nid;	 /* the node's OS number, or ARENA_ANY_NODE */
	int fd;		 /* shared: the memfd that @base maps from offset 0; else -1 */
	void *base;	 /* 2 MiB aligned */
	size_t bytes;	 /* populated bytes, a multiple of 2 MiB */
	size_t reserved; /* address space behind @base */
};

struct arena {
	/*
	 * Set before the first call, never changed after: every region is a MAP_SHARED mapping of
	 * a memfd, whose frames can be mapped a second time. Huge pages then depend on
	 * shmem_enabled instead of enabled in /sys/kernel/mm/transparent_hugepage.
	 */
	bool shared;
	/*
	 * Set before the first call: of the region that is bound to no one node
	 * (ARENA_ANY_NODE). NULL: the system places it.
	 */
	const struct mem_policy *policy;
	struct arena_region *regions; /* ascending by nid; only what was asked for */
	unsigned nr_regions;
	/* Why a region's place could not be asked for, -errno of mbind(2); 0: of all it could. */
	int bind_err;
};

/*
 * Makes the arena hold @bytes[i] (rounded up to 2 MiB) on node @nids[i], i < @nr: gives
 * back what is more than asked for, then grows regions and populates them. A node that is
 * named twice gets the sum, one that is not named or gets 0 bytes has no region. Within
 * the address space that a region has it neither moves nor loses what stays; beyond that
 * it is made anew, zeroed and elsewhere, so begin with the largest request. Calling it
 * again with the same sizes does nothing. Pointers to regions do not survive a call.
 *
 * Memory comes from the node as long as it has any (MPOL_PREFERRED); from that of ARENA_ANY_NODE as
 * numamem_bind() has it of the arena's policy. It is populated by
 * MADV_POPULATE_WRITE, which says ENOMEM instead of raising a signal; where the kernel
 * does not have that (before 5.14), by a store to each page. A memory cgroup's limit is
 * not an error of either but the OOM killer: compare with meminfo_read() first.
 *
 * A shared region's frames go when it shrinks, also from whoever maps them a second time:
 * there they raise SIGBUS then.
 *
 * 0; -ENOMEM, -EINVAL, for shared regions also -EFBIG (ulimit -f), -EMFILE, … with @why (how much,
 * which node). After an error the arena is smaller than asked for, but sound.
 */
int arena_resize(struct arena *arena, const unsigned *nids, const size_t *bytes,
		 unsigned nr, struct reason *why);
/* Gives everything back; also of a zeroed struct. The struct is zeroed then, @shared too. */
void arena_destroy(struct arena *arena);

/* The region of @nid; NULL: there is none. */
struct arena_region *arena_region(struct arena *arena, unsigned nid);
/* Bytes of all regions. */
size_t arena_bytes(const struct arena *arena);
/*
 * Bytes that huge pages back (AnonHugePages, of shared regions ShmemPmdMapped, of
 * /proc/self/smaps); SIZE_MAX when it is unreadable.
 */
size_t arena_huge_bytes(const struct arena *arena);

/*
 * Address space without access whose first byte is 2 MiB aligned; exactly @bytes of it,
 * whole pages, to be mapped over by MAP_FIXED. Costs no memory; munmap(2) gives it back.
 * NULL with errno.
 */
void *arena_reserve(size_t bytes);

/*
 * Per-worker memory (record buffer, page tables, permutation): @bytes rounded up to pages
 * at the start of an address range of its own that begins and ends on a 2 MiB boundary,
 * so that no huge page can span two workers. The rest of the range is PROT_NONE: it costs
 * no memory, and no neighbour can move in. Less than 2 MiB is kept off huge pages, more
 * is advised to use them. Placed on @nid (preferred; negative: by the calling thread's
 * first touch), zeroed, populated. NULL with errno on failure; 0 bytes are one page.
 */
void *arena_private_alloc(size_t bytes, int nid);
/* @bytes as it was allocated with; @p may be NULL. */
void arena_private_free(void *p, size_t bytes);

#endif
