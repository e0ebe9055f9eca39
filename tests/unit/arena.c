/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for the engines: where it begins and ends, what is in it, and how much of it is
 * huge pages.
 */
#include "sys/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/clock.h"
#include "sys/numamem.h"
#include "tap.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED
#endif

#define MIB  ((size_t)1 << 20)
#define HUGE (2 * MIB)

/* The first node number that the machine cannot have memory on. */
#define NO_NODE (ARENA_MAX_NODES - 1)

static bool is_accessible(const void *p)
{
	int fds[2];
	bool good;

	if (pipe(fds))
		bail("no pipe");
	/* The kernel looks at the page, not at what a sanitizer thinks of it. */
	good = syscall(SYS_write, fds[1], p, (size_t)1) == 1;
	close(fds[0]);
	close(fds[1]);
	return good;
}

static bool is_aligned(const void *p)
{
	return !((uintptr_t)p % HUGE);
}

/* All bytes, without a byte beyond. */
static bool is_filled(const unsigned char *p, unsigned char value, size_t bytes)
{
	return p[0] == value && !memcmp(p, p + 1, bytes - 1);
}

/* Every page has a frame: reading would hide what is missing. */
static bool is_populated(void *p, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), nr = bytes / page, there = 0;
	unsigned char *map = calloc(nr, 1);

	if (mincore(p, bytes, map))
		memset(map, 1, nr); /* denied: cannot tell */
	for (size_t i = 0; i < nr; i++)
		there += map[i] & 1;
	free(map);
	return there == nr;
}

/*
 * Whether [@start, @start + @bytes) is address space that is taken, but open to nobody.
 */
static bool is_guard(const void *start, size_t bytes)
{
	uintptr_t at = (uintptr_t)start, stop = at + bytes;
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char *line = NULL, mode[8];
	size_t size = 0;

	if (!file)
		return true; /* cannot tell */
	while (at < stop && getline(&line, &size, file) > 0) {
		if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) != 3 || to <= at)
			continue;
		if (from > at || strcmp(mode, "---p"))
			break;
		at = to;
	}
	free(line);
	fclose(file);
	return at >= stop;
}

static bool region_is_sound(const struct arena_region *region, size_t bytes)
{
	char *base = region->base;

	return is_aligned(base) && region->bytes == bytes && region->reserved >= bytes &&
	       is_accessible(base) && is_accessible(base + bytes - 1) &&
	       is_guard(base - HUGE, HUGE) &&
	       is_guard(base + bytes, region->reserved - bytes + HUGE);
}

static void grow_and_shrink(void)
{
	const unsigned nid = 0;
	struct reason why = { "" };
	struct arena arena = { 0 };
	struct arena_region *region;
	size_t bytes = 5 * MIB;
	char *base;

	ok(!arena_bytes(&arena) && !arena_region(&arena, 0) && !arena_huge_bytes(&arena),
	   "a zeroed arena is empty");
	arena_destroy(&arena);

	if (arena_resize(&arena, &nid, &bytes, 1, &why))
		bail("%s", why.text);
	region = arena_region(&arena, 0);
	ok(region && region_is_sound(region, 6 * MIB), "5 MiB are 3 huge pages");
	ok(arena_bytes(&arena) == 6 * MIB && arena.nr_regions == 1, "and nothing else");
	base = region->base;
	ok(is_populated(base, 6 * MIB), "every page is there before it is touched");
	ok(is_filled((unsigned char *)base, 0, 6 * MIB), "memory is zero");
	memset(base, 7, 6 * MIB);

	ok(!arena_resize(&arena, &nid, &bytes, 1, &why) && region->base == base &&
		   is_filled((unsigned char *)base, 7, 6 * MIB),
	   "the same size again does nothing");

	bytes = HUGE;
	ok(!arena_resize(&arena, &nid, &bytes, 1, &why) &&
		   region_is_sound(region, HUGE) && region->base == base &&
		   region->reserved == 6 * MIB,
	   "shrinking keeps the address space and closes the rest");
	ok(is_filled((unsigned char *)base, 7, HUGE), "shrinking keeps what stays");

	bytes = 6 * MIB;
	ok(!arena_resize(&arena, &nid, &bytes, 1, &why) &&
		   region_is_sound(region, 6 * MIB) && region->base == base &&
		   is_populated(base, 6 * MIB),
	   "growing again within it moves nothing");
	ok(is_filled((unsigned char *)base, 7, HUGE) &&
		   is_filled((unsigned char *)base + HUGE, 0, 4 * MIB),
	   "what was given back comes back as zero");

	bytes = 16 * MIB;
	ok(!arena_resize(&arena, &nid, &bytes, 1, &why), "growing beyond it works");
	region = arena_region(&arena, 0);
	ok(region && region_is_sound(region, 16 * MIB), "and yields a sound region");
	memset(region->base, 9, 16 * MIB);

	bytes = 0;
	ok(!arena_resize(&arena, &nid, &bytes, 1, &why) && !arena.nr_regions &&
		   !arena_region(&arena, 0) && !is_accessible(base),
	   "no bytes: no region");
	bytes = HUGE;
	ok(!arena_resize(&arena, &nid, &bytes, 1, &why) && arena_bytes(&arena) == HUGE,
	   "and it can come back");
	base = arena_region(&arena, 0)->base;
	arena_destroy(&arena);
	ok(!arena.regions && !is_accessible(base), "destroying gives everything back");
}

static void several_nodes(void)
{
	const unsigned nids[] = { NO_NODE, 0, 0 }, beyond = ARENA_MAX_NODES;
	const size_t bytes[] = { 1, 3 * MIB, 3 * MIB };
	struct reason why = { "" };
	struct arena arena = { 0 };

	/* A node that does not exist gets memory from elsewhere. */
	if (arena_resize(&arena, nids, bytes, 3, &why))
		bail("%s", why.text);
	ok(arena.nr_regions == 2 && arena.regions[0].nid == 0 &&
		   arena.regions[1].nid == NO_NODE,
	   "regions are in the order of nodes");
	ok(region_is_sound(&arena.regions[0], 6 * MIB) &&
		   region_is_sound(&arena.regions[1], HUGE),
	   "a node that is named twice gets the sum");
	ok(arena.bind_err, "memory that could not be placed is told");
	memset(arena.regions[0].base, 1, 6 * MIB);
	memset(arena.regions[1].base, 2, HUGE);

	ok(!arena_resize(&arena, nids, bytes, 1, &why) && arena.nr_regions == 1 &&
		   arena.regions[0].nid == NO_NODE &&
		   is_filled(arena.regions[0].base, 2, HUGE),
	   "a node that is not named is given back");
	ok(arena_resize(&arena, &beyond, bytes, 1, &why) == -EINVAL &&
		   arena_bytes(&arena) == HUGE,
	   "a node number out of bounds is refused");
	arena_destroy(&arena);
}

static void placement(void)
{
	const unsigned nid = 0;
	const size_t bytes = HUGE;
	struct arena arena = { 0 };
	void *p = mmap(NULL, HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	int err = numamem_bind(p, HUGE, NULL, 0);

	ok(err == 0 || err == -EPERM || err == -ENOSYS || err == -EINVAL,
	   "placing on node 0 works or is forbidden (%d)", err);
	ok(numamem_bind(p, HUGE, NULL, 1 << 30) < 0, "an impossible node is refused");
	munmap(p, HUGE);
	ok(!arena_resize(&arena, &nid, &bytes, 1, NULL) && !arena.bind_err == !err,
	   "the arena knows whether it was placed");
	arena_destroy(&arena);
}

static void too_much(void)
{
	unsigned nids[] = { 0, 0 };
	size_t bytes[] = { HUGE, SIZE_MAX };
	struct reason why = { "" };
	struct arena arena = { 0 };
	char *base;

	if (arena_resize(&arena, nids, bytes, 1, &why))
		bail("%s", why.text);
	base = arena.regions[0].base;
	memset(base, 5, HUGE);

	ok(arena_resize(&arena, nids, bytes, 2, &why) == -ENOMEM && *why.text,
	   "a sum beyond 64 bits is refused (%s)", why.text);
	bytes[0] = SIZE_MAX;
	ok(arena_resize(&arena, nids, bytes, 1, &why) == -ENOMEM, "and so are all bits");
	ok(arena_bytes(&arena) == HUGE && is_filled((unsigned char *)base, 5, HUGE),
	   "what was there is untouched");
	bytes[0] = (size_t)1 << 50;
	*why.text = '\0';
	ok(arena_resize(&arena, nids, bytes, 1, &why) == -ENOMEM &&
		   strstr(why.text, "1073741824 MiB"),
	   "a petabyte is refused with its size (%s)", why.text);
	bytes[0] = HUGE;
	ok(!arena_resize(&arena, nids, bytes, 1, &why) && arena_bytes(&arena) == HUGE,
	   "the arena is usable afterwards");
	ok(arena_resize(&arena, nids, bytes, 1, NULL) == 0, "a reason is not needed");
	arena_destroy(&arena);
}

static size_t rollup_huge(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	unsigned long kib = 0;
	char line[256];

	if (!file)
		return SIZE_MAX;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "AnonHugePages: %lu", &kib) == 1)
			break;
	}
	fclose(file);
	return (size_t)kib << 10;
}

/* Counts only what the arena has: another mapping with huge pages lies beside it. */
static void huge_pages(void)
{
	const unsigned nid = 0;
	size_t bytes = 8 * MIB, huge, all;
	struct arena arena = { 0 };
	char *other = arena_private_alloc(4 * MIB, -1);
	char *base;

	if (!other || arena_resize(&arena, &nid, &bytes, 1, NULL))
		bail("no memory");
	base = arena.regions[0].base;
	huge = arena_huge_bytes(&arena);
	all = rollup_huge();
	ok(huge <= bytes && huge <= all && huge % HUGE == 0,
	   "%zu of %zu KiB are huge pages", huge >> 10, bytes >> 10);
	if (!huge) {
		skip("no huge pages here", 2);
	} else {
		bytes = huge / 2 / HUGE * HUGE;
		if (bytes) {
			arena_resize(&arena, &nid, &bytes, 1, NULL);
			ok(arena_huge_bytes(&arena) <= bytes, "nor those given back");
		} else {
			skip("only one huge page", 1);
			bytes = 8 * MIB;
		}
		madvise(base, bytes, MADV_NOHUGEPAGE);
		madvise(base, bytes, MADV_DONTNEED);
		memset(base, 1, bytes);
		ok(arena_huge_bytes(&arena) == 0, "small pages are none");
	}
	arena_destroy(&arena);
	arena_private_free(other, 4 * MIB);
}

/* Where the mapping that @p is in ends, by /proc/self/maps; 0 when it cannot be told. */
static uintptr_t mapping_end(const void *p)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long start, end, found = 0;
	char *line = NULL;
	size_t size = 0;

	if (!file)
		return 0;
	while (getline(&line, &size, file) > 0) {
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && (uintptr_t)p >= start &&
		    (uintptr_t)p < end)
			found = end;
	}
	free(line);
	fclose(file);
	return found;
}

static void private_memory(void)
{
	static const size_t sizes[] = { 1,	   4096,	4097,	      65536,
					MIB,	   HUGE - 4096, HUGE - 1,     HUGE,
					HUGE + 1,  3 * MIB,	4 * MIB,      100,
					MIB + 123, 8192,	4 * MIB - 77, 32768 };
	enum { NR = 16 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	bool sound = true, zero = true, alone = true, closed = true, there = true,
	     ends = true;
	char *p[NR];

	for (unsigned i = 0; i < NR; i++) {
		p[i] = arena_private_alloc(sizes[i], i % 2 ? 0 : -1);
		if (!p[i])
			bail("no memory");
	}
	for (unsigned i = 0; i < NR; i++) {
		size_t rounded = (sizes[i] + page - 1) / page * page;
		uintptr_t start = (uintptr_t)p[i] / HUGE;
		uintptr_t end = ((uintptr_t)p[i] + sizes[i] - 1) / HUGE;

		sound = sound && is_aligned(p[i]);
		there = there && is_populated(p[i], rounded);
		zero = zero && is_filled((unsigned char *)p[i], 0, rounded);
		if (rounded % HUGE) {
			uintptr_t last = mapping_end(p[i]);

			closed = closed && !is_accessible(p[i] + rounded);
			ends = ends && (!last || last == (uintptr_t)p[i] + rounded);
		}
		for (unsigned j = 0; j < NR; j++) {
			uintptr_t other = (uintptr_t)p[j] / HUGE;
			uintptr_t other_end = ((uintptr_t)p[j] + sizes[j] - 1) / HUGE;

			alone = alone && (i == j || other > end || other_end < start);
		}
	}
	ok(sound, "private memory begins on 2 MiB");
	ok(there, "private memory is populated");
	ok(zero, "private memory is zero");
	ok(alone, "no two share a huge page");
	ok(closed, "nothing can be put into the rest of the last huge page");
	ok(ends, "no mapping reaches over the end of one");
	for (unsigned i = 0; i < NR; i++)
		memset(p[i], 1, sizes[i]);
	for (unsigned i = 0; i < NR; i++)
		arena_private_free(p[i], sizes[i]);
	closed = true;
	for (unsigned i = 0; i < NR; i++)
		closed = closed && !is_accessible(p[i]) &&
			 !is_accessible(p[i] + sizes[i] - 1);
	ok(closed, "freeing gives all of it back");

	p[0] = arena_private_alloc(0, -1);
	ok(p[0] && is_aligned(p[0]), "no bytes are memory, too");
	arena_private_free(p[0], 0);
	arena_private_free(NULL, 4096);
	ok(!arena_private_alloc(SIZE_MAX, -1) &&
		   !arena_private_alloc(SIZE_MAX / 2 - 1, -1),
	   "too much is NULL");
	p[0] = arena_private_alloc(4096, NO_NODE);
	ok(p[0] != NULL, "an impossible node is no reason to fail");
	arena_private_free(p[0], 4096);
}

/* The kernel keeps its promise of ENOMEM: no signal, no half-done region. */
static void address_space_limit(void)
{
#ifdef IS_SANITIZED
	skip("a sanitizer needs more address space than a limit allows", 1);
#else
	pid_t child = fork();
	int status = 0;

	if (!child) {
		const unsigned nid = 0;
		size_t bytes = HUGE, more = 512 * MIB;
		struct rlimit limit = { 256 * MIB, 256 * MIB };
		struct arena arena = { 0 };

		if (arena_resize(&arena, &nid, &bytes, 1, NULL) ||
		    setrlimit(RLIMIT_AS, &limit))
			_exit(77);
		if (arena_resize(&arena, &nid, &more, 1, NULL) != -ENOMEM)
			_exit(1);
		if (arena_private_alloc(more, -1))
			_exit(2);
		more = 16 * MIB;
		if (arena_resize(&arena, &nid, &more, 1, NULL) ||
		    arena_bytes(&arena) != more)
			_exit(3);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 ||
	    (WIFEXITED(status) && WEXITSTATUS(status) == 77))
		skip("no child with a limit", 1);
	else
		ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		   "RLIMIT_AS is an error and not the end (status %x)", (unsigned)status);
#endif
}

/* A second mapping of a shared region; NULL: the first @bytes of its file are not there. */
static unsigned char *map_again(const struct arena_region *region, size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, region->fd, 0);

	if (p == MAP_FAILED)
		bail("cannot map a region again");
	if (lseek(region->fd, 0, SEEK_END) < (off_t)bytes) {
		munmap(p, bytes);
		return NULL;
	}
	return p;
}

static size_t file_bytes(const struct arena_region *region)
{
	return (size_t)lseek(region->fd, 0, SEEK_END);
}

static void shared_regions(void)
{
	const unsigned nids[] = { 0, NO_NODE };
	size_t bytes[] = { 5 * MIB, HUGE };
	struct reason why = { "" };
	struct arena arena = { .shared = true };
	struct arena_region *region;
	unsigned char *again;
	char *base;
	int fd;

	if (arena_resize(&arena, nids, bytes, 2, &why))
		bail("%s", why.text);
	region = arena_region(&arena, 0);
	ok(region_is_sound(region, 6 * MIB) && file_bytes(region) == 6 * MIB,
	   "shared: 5 MiB are 3 huge pages of a file");
	ok(is_populated(region->base, 6 * MIB) && is_filled(region->base, 0, 6 * MIB),
	   "shared: every page is there, and zero");
	ok(fcntl(region->fd, F_GETFD) == FD_CLOEXEC,
	   "shared: programs do not inherit it");
	ok(arena_region(&arena, NO_NODE)->fd != region->fd,
	   "shared: a file for each region");
	ok(arena_huge_bytes(&arena) <= arena_bytes(&arena),
	   "shared: huge pages are told (%zu MiB)", arena_huge_bytes(&arena) >> 20);

	base = region->base;
	memset(base, 7, HUGE);
	again = map_again(region, 6 * MIB);
	ok(again && is_filled(again, 7, HUGE), "shared: a second mapping has its bytes");
	again[4 * MIB] = 9;
	ok(base[4 * MIB] == 9, "shared: and stores to them");
	munmap(again, 6 * MIB);

	bytes[0] = HUGE;
	ok(!arena_resize(&arena, nids, bytes, 2, &why) && region_is_sound(region, HUGE) &&
		   region->base == base && file_bytes(region) == HUGE &&
		   is_filled((unsigned char *)base, 7, HUGE),
	   "shared: shrinking gives the rest of the file back");
	bytes[0] = 6 * MIB;
	ok(!arena_resize(&arena, nids, bytes, 2, &why) &&
		   region_is_sound(region, 6 * MIB) && region->base == base &&
		   is_populated(base, 6 * MIB) &&
		   is_filled((unsigned char *)base, 7, HUGE) &&
		   is_filled((unsigned char *)base + HUGE, 0, 4 * MIB),
	   "shared: growing again within it keeps what is there");
	bytes[0] = 16 * MIB;
	ok(!arena_resize(&arena, nids, bytes, 2, &why),
	   "shared: growing beyond it works");
	region = arena_region(&arena, 0);
	ok(region_is_sound(region, 16 * MIB) && file_bytes(region) == 16 * MIB &&
		   is_filled(region->base, 0, 16 * MIB),
	   "shared: and yields a sound region");

	bytes[0] = 0;
	fd = region->fd;
	ok(!arena_resize(&arena, nids, bytes, 2, &why) && !arena_region(&arena, 0) &&
		   fcntl(fd, F_GETFD) == -1,
	   "shared: no bytes: no region, no file");
	bytes[0] = (size_t)1 << 50;
	ok(arena_resize(&arena, nids, bytes, 2, &why) < 0 && *why.text &&
		   arena_bytes(&arena) == HUGE,
	   "shared: a petabyte is refused (%s)", why.text);
	fd = arena_region(&arena, NO_NODE)->fd;
	arena_destroy(&arena);
	ok(!arena.regions && fcntl(fd, F_GETFD) == -1,
	   "shared: destroying gives everything back");
}

/* ulimit -f is a signal for who does not look. */
static void shared_file_limit(void)
{
	const unsigned nid = 0;
	size_t bytes = 4 * MIB;
	struct reason why = { "" };
	struct arena arena = { .shared = true };
	struct rlimit old, low;

	getrlimit(RLIMIT_FSIZE, &old);
	low = old;
	low.rlim_cur = 3 * MIB;
	if (setrlimit(RLIMIT_FSIZE, &low)) {
		skip("cannot set a limit", 2);
		return;
	}
	ok(arena_resize(&arena, &nid, &bytes, 1, &why) == -EFBIG &&
		   strstr(why.text, "ulimit -f"),
	   "shared: more than files may have is refused (%s)", why.text);
	bytes = HUGE;
	ok(!arena_resize(&arena, &nid, &bytes, 1, &why), "shared: less is not");
	arena_destroy(&arena);
	setrlimit(RLIMIT_FSIZE, &old);
}

int main(void)
{
	uint64_t step;

	grow_and_shrink();
	several_nodes();
	placement();
	too_much();
	huge_pages();
	private_memory();
	address_space_limit();
	shared_regions();
	shared_file_limit();

	step = clock_step_ns();
	ok(step >= 1 && step < 100000000, "the clock steps by %llu ns",
	   (unsigned long long)step);
	return done();
}
