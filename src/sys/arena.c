/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the address space of a region is laid out: [guard | populated | reserved | guard].
 * Only the populated part is accessible; everything else is PROT_NONE, so that the kernel
 * can neither merge the populated part with a neighbour's mapping nor let a huge page
 * reach over its ends. PROT_NONE costs no memory and no commit charge, only address
 * space.
 *
 * The populated part of a shared region is one mapping of its memfd, which is exactly as long: the
 * frame at base + o is the file's at offset o.
 */
#include "sys/arena.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/bits.h"
#include "sys/numamem.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U /* Linux 6.3 */
#endif

void *arena_reserve(size_t bytes)
{
	char *raw, *base;
	size_t head;

	raw = mmap(NULL, bytes + PMD_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (raw == MAP_FAILED)
		return NULL;
	head = -(uintptr_t)raw & (PMD_SIZE - 1);
	base = raw + head;
	if (head)
		munmap(raw, head);
	munmap(base + bytes, PMD_SIZE - head);
	return base;
}

/* Back to PROT_NONE: gives back pages, commit charge, policy and advice of the range. */
static int range_release(void *start, size_t bytes)
{
	void *p = mmap(start, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		       -1, 0);

	return p == MAP_FAILED ? -errno : 0;
}

/*
 * Gives every page of the range a frame. MADV_POPULATE_WRITE reports what it cannot get
 * as ENOMEM; where the kernel (or a seccomp filter) does not know it, one store a page
 * does the same less safely.
 */
static int range_populate(char *start, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int rc;

	/* A signal makes it stop half-way; what is there already is skipped quickly. */
	do
		rc = madvise(start, bytes, MADV_POPULATE_WRITE);
	while (rc && errno == EINTR);
	if (!rc)
		return 0;
	/* Of a memfd: what would be SIGBUS, there is no memory to commit to it. */
	if (errno == EFAULT)
		return -ENOMEM;
	if (errno != EINVAL && errno != ENOSYS && errno != EPERM)
		return -errno;
	for (size_t offset = 0; offset < bytes; offset += page)
		((volatile char *)start)[offset] = 0;
	return 0;
}

/*
 * Makes [@start, @start + @bytes) of a reserved range accessible and populates it, on
 * node @nid or, where that is negative, as @policy says. *@bind_err gets why that could
 * not be asked for, which is no error. On failure the range is as it was.
 */
static int range_open(char *start, size_t bytes, int advice,
		      const struct mem_policy *policy, int nid, int *bind_err)
{
	int err;

	if (mprotect(start, bytes, PROT_READ | PROT_WRITE))
		return -errno;
	/* It is only advice: kernels without huge pages do not know it. */
	madvise(start, bytes, advice);
	err = numamem_bind(start, bytes, policy, nid);
	if (err)
		*bind_err = err;
	err = range_populate(start, bytes);
	if (err)
		range_release(start, bytes);
	return err;
}

/* Sets the length of a shared region's file, without the signal of which a shell knows more. */
static int file_resize(int fd, size_t bytes)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_FSIZE, &limit) && bytes > limit.rlim_cur)
		return -EFBIG;
	return ftruncate(fd, (off_t)bytes) ? -errno : 0;
}

/* An empty file. vm.memfd_noexec may insist on the flag that kernels before 6.3 do not know. */
static int file_open(void)
{
	int fd = memfd_create("pagezone", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("pagezone", MFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* As range_open(), of the part of a shared region that comes next. */
static int file_range_open(struct arena *arena, struct arena_region *region, size_t bytes,
			   int nid)
{
	char *start = (char *)region->base + region->bytes;
	int err = file_resize(region->fd, region->bytes + bytes);

	if (err)
		return err;
	if (mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, region->fd,
		 (off_t)region->bytes) == MAP_FAILED)
		err = -errno;
	else
		err = range_open(start, bytes, MADV_HUGEPAGE, arena->policy, nid,
				 &arena->bind_err);
	if (err)
		file_resize(region->fd, region->bytes);
	return err;
}

static void region_unmap(struct arena_region *region)
{
	if (region->base)
		munmap((char *)region->base - PMD_SIZE, region->reserved + 2 * PMD_SIZE);
	if (region->fd >= 0)
		close(region->fd);
	region->fd = -1;
	region->base = NULL;
	region->bytes = region->reserved = 0;
}

static int region_shrink(struct arena_region *region, size_t bytes)
{
	int err = range_release((char *)region->base + bytes, region->bytes - bytes);

	if (err)
		return err;
	region->bytes = bytes;
	return region->fd < 0 ? 0 : file_resize(region->fd, bytes);
}

/* The node to ask for; negative: none. */
static int region_node(const struct arena_region *region)
{
	return region->nid == ARENA_ANY_NODE ? -1 : (int)region->nid;
}

/* Address space for @bytes, and of a shared region a file for them, in place of what it had. */
static int region_renew(struct arena *arena, struct arena_region *region, size_t bytes,
			struct reason *why)
{
	char *base;

	/* The old pages go first: the peak is the larger size, not the sum. */
	region_unmap(region);
	base = arena_reserve(bytes + 2 * PMD_SIZE);
	if (!base)
		return reason_set(why, -ENOMEM,
				  "cannot reserve %zu MiB of address space: %s",
				  bytes >> 20, strerror(errno));
	region->base = base + PMD_SIZE;
	region->reserved = bytes;
	if (!arena->shared)
		return 0;
	region->fd = file_open();
	if (region->fd < 0)
		return reason_set(why, region->fd,
				  "cannot create a memfd for page frames: %s",
				  strerror(-region->fd));
	return 0;
}

static int region_grow(struct arena *arena, struct arena_region *region, size_t bytes,
		       struct reason *why)
{
	size_t more;
	int err;

	if (bytes > region->reserved) {
		err = region_renew(arena, region, bytes, why);
		if (err)
			return err;
	}
	more = bytes - region->bytes;
	if (arena->shared)
		err = file_range_open(arena, region, more, region_node(region));
	else
		err = range_open((char *)region->base + region->bytes, more,
				 MADV_HUGEPAGE, arena->policy, region_node(region),
				 &arena->bind_err);
	if (err == -EFBIG)
		return reason_set(
			why, err,
			"cannot get %zu MiB of shared memory: larger than files "
			"may be; raise ulimit -f",
			bytes >> 20);
	if (err && region->nid == ARENA_ANY_NODE)
		return reason_set(why, err, "cannot get %zu MiB of memory: %s",
				  bytes >> 20, strerror(-err));
	if (err)
		return reason_set(why, err, "cannot get %zu MiB of memory on node %u: %s",
				  bytes >> 20, region->nid, strerror(-err));
	region->bytes = bytes;
	return 0;
}

/* What the request asks for on @nid, in whole huge pages; SIZE_MAX: more than can be. */
static size_t wanted_bytes(const unsigned *nids, const size_t *bytes, unsigned nr,
			   unsigned nid)
{
	size_t sum = 0;

	for (unsigned i = 0; i < nr; i++) {
		if (nids[i] == nid && __builtin_add_overflow(sum, bytes[i], &sum))
			return SIZE_MAX;
	}
	if (sum > SIZE_MAX / 2)
		return SIZE_MAX;
	return align_up(sum, PMD_SIZE);
}

/* The region of @nid, made if there is none; they stay ascending. NULL: no memory. */
static struct arena_region *region_get(struct arena *arena, unsigned nid)
{
	struct arena_region *regions;
	unsigned at = 0;

	while (at < arena->nr_regions && arena->regions[at].nid < nid)
		at++;
	if (at < arena->nr_regions && arena->regions[at].nid == nid)
		return &arena->regions[at];

	regions = reallocarray(arena->regions, arena->nr_regions + 1, sizeof(*regions));
	if (!regions)
		return NULL;
	memmove(&regions[at + 1], &regions[at],
		(arena->nr_regions - at) * sizeof(*regions));
	regions[at] = (struct arena_region){ .nid = nid, .fd = -1 };
	arena->regions = regions;
	arena->nr_regions++;
	return &regions[at];
}

/* Forgets regions that hold nothing. */
static void arena_compact(struct arena *arena)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < arena->nr_regions; i++) {
		if (arena->regions[i].bytes)
			arena->regions[kept++] = arena->regions[i];
		else
			region_unmap(&arena->regions[i]);
	}
	arena->nr_regions = kept;
}

static int arena_grow(struct arena *arena, const unsigned *nids, const size_t *bytes,
		      unsigned nr, struct reason *why)
{
	for (unsigned i = 0; i < nr; i++) {
		size_t want = wanted_bytes(nids, bytes, nr, nids[i]);
		struct arena_region *region;
		int err;

		if (!want)
			continue;
		region = region_get(arena, nids[i]);
		if (!region)
			return reason_set(why, -ENOMEM, "out of memory");
		if (want <= region->bytes)
			continue;
		err = region_grow(arena, region, want, why);
		if (err)
			return err;
	}
	return 0;
}

int arena_resize(struct arena *arena, const unsigned *nids, const size_t *bytes,
		 unsigned nr, struct reason *why)
{
	int err;

	for (unsigned i = 0; i < nr; i++) {
		if (nids[i] >= ARENA_MAX_NODES && nids[i] != ARENA_ANY_NODE)
			return reason_set(why, -EINVAL, "node %u: no such node", nids[i]);
		if (wanted_bytes(nids, bytes, nr, nids[i]) == SIZE_MAX)
			return reason_set(why, -ENOMEM,
					  "node %u: more memory than a machine can have",
					  nids[i]);
	}
	if (!arena->nr_regions)
		arena->bind_err = 0;

	/* Shrink before growing: what one node gives back another one may need. */
	for (unsigned i = 0; i < arena->nr_regions; i++) {
		struct arena_region *region = &arena->regions[i];
		size_t want = wanted_bytes(nids, bytes, nr, region->nid);

		if (want >= region->bytes)
			continue;
		err = region_shrink(region, want);
		if (err)
			return reason_set(why, err,
					  "cannot shrink the memory of node %u: %s",
					  region->nid, strerror(-err));
	}
	err = arena_grow(arena, nids, bytes, nr, why);
	arena_compact(arena);
	return err;
}

void arena_destroy(struct arena *arena)
{
	for (unsigned i = 0; i < arena->nr_regions; i++)
		region_unmap(&arena->regions[i]);
	free(arena->regions);
	*arena = (struct arena){ 0 };
}

struct arena_region *arena_region(struct arena *arena, unsigned nid)
{
	for (unsigned i = 0; i < arena->nr_regions; i++) {
		if (arena->regions[i].nid == nid)
			return &arena->regions[i];
	}
	return NULL;
}

size_t arena_bytes(const struct arena *arena)
{
	size_t sum = 0;

	for (unsigned i = 0; i < arena->nr_regions; i++)
		sum += arena->regions[i].bytes;
	return sum;
}

static bool in_arena(const struct arena *arena, uintptr_t start, uintptr_t end)
{
	for (unsigned i = 0; i < arena->nr_regions; i++) {
		uintptr_t base = (uintptr_t)arena->regions[i].base;

		if (start >= base && end <= base + arena->regions[i].bytes)
			return true;
	}
	return false;
}

size_t arena_huge_bytes(const struct arena *arena)
{
	FILE *smaps = fopen("/proc/self/smaps", "re");
	unsigned long start, end, kib;
	bool inside = false;
	char *line = NULL;
	size_t size = 0, sum = 0;

	if (!smaps)
		return SIZE_MAX;
	while (getline(&line, &size, smaps) > 0) {
		/*
		 * A mapping's first line begins with its addresses; its figures follow.
		 */
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = in_arena(arena, start, end);
		else if (inside && (sscanf(line, "AnonHugePages: %lu kB", &kib) == 1 ||
				    sscanf(line, "ShmemPmdMapped: %lu kB", &kib) == 1))
			sum += (size_t)kib << 10;
	}
	free(line);
	fclose(smaps);
	return sum;
}

void *arena_private_alloc(size_t bytes, int nid)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t span = align_up(bytes ? bytes : 1, PMD_SIZE);
	int err, bind_err;
	char *p;

	if (bytes > SIZE_MAX / 2) {
		errno = ENOMEM;
		return NULL;
	}
	p = arena_reserve(span);
	if (!p)
		return NULL;
	/* What is left of the last 2 MiB stays PROT_NONE: no neighbour can move in. */
	err = range_open(p, align_up(bytes ? bytes : 1, page),
			 bytes < PMD_SIZE ? MADV_NOHUGEPAGE : MADV_HUGEPAGE, NULL, nid,
			 &bind_err);
	if (err) {
		munmap(p, span);
		errno = -err;
		return NULL;
	}
	return p;
}

void arena_private_free(void *p, size_t bytes)
{
	if (p)
		munmap(p, align_up(bytes ? bytes : 1, PMD_SIZE));
}
