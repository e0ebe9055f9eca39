/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults that this process resolves itself, and faults that the kernel takes page by page. */
#include "sys/uffd.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bits.h"
#include "sys/sigbus.h"
#include "sys/usage.h"
#include "tap.h"

enum { NR_PAGES = 64, NR_THREADS = 4, NR_ROUNDS = 50 };

#define LEN (NR_PAGES * PAGE_SIZE)

/* A file in memory with a page of each number, but for @hole, mapped with empty page tables. */
struct region {
	int uffd, fd;
	unsigned char *map;
	unsigned batch; /* pages that a fault brings in */
	unsigned nr_faults;
};

static void region_open(struct region *region, int uffd, int hole, uint64_t mode)
{
	unsigned char page[PAGE_SIZE];
	int err;

	*region = (struct region){ .uffd = uffd, .batch = 1 };
	region->fd = memfd_create("uffd", MFD_CLOEXEC);
	if (region->fd < 0 || ftruncate(region->fd, LEN))
		bail("no file in memory");
	for (int i = 0; i < NR_PAGES; i++) {
		memset(page, i + 1, sizeof(page));
		if (i != hole && pwrite(region->fd, page, sizeof(page),
					i * (off_t)PAGE_SIZE) != (ssize_t)sizeof(page))
			bail("cannot fill a file in memory");
	}
	region->map = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, region->fd, 0);
	if (region->map == MAP_FAILED)
		bail("no mapping");
	madvise(region->map, LEN, MADV_NOHUGEPAGE);
	err = uffd_register(uffd, region->map, LEN, mode);
	if (err)
		bail("cannot register: %s", strerror(-err));
}

static void region_close(struct region *region)
{
	munmap(region->map, LEN);
	close(region->fd);
}

static bool bring_in(void *arg, uintptr_t address)
{
	struct region *region = arg;
	size_t size = region->batch * PAGE_SIZE;
	size_t start = align_down(address - (uintptr_t)region->map, size);

	region->nr_faults++;
	return !uffd_continue(region->uffd, region->map + start, size);
}

/* How many pages have their number. */
static int load_all(void *arg)
{
	struct region *region = arg;
	int nr = 0;

	for (int i = 0; i < NR_PAGES; i++)
		nr += *(volatile unsigned char *)(region->map + i * PAGE_SIZE) == i + 1;
	return nr;
}

static int load_one(void *arg)
{
	return *(volatile unsigned char *)arg;
}

/* Whether the page is mapped: touches it with nothing to resolve the fault. */
static bool is_mapped(struct region *region, unsigned page)
{
	struct sigbus_guard guard = { 0 };

	return sigbus_run(&guard, load_one, region->map + page * PAGE_SIZE) ==
	       (int)page + 1;
}

static void batches(int uffd)
{
	static const unsigned sizes[] = { 1, 4, NR_PAGES };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct region region;
		struct sigbus_guard guard = { .resolve = bring_in, .arg = &region };
		int nr;

		region_open(&region, uffd, -1, UFFDIO_REGISTER_MODE_MINOR);
		region.batch = sizes[i];
		nr = sigbus_run(&guard, load_all, &region);
		ok(nr == NR_PAGES && region.nr_faults == NR_PAGES / sizes[i],
		   "%u pages at a time: %d right, %u faults", sizes[i], nr,
		   region.nr_faults);
		region_close(&region);
	}
}

static void mapped_already(int uffd)
{
	static const unsigned before[] = { 0, 3, 4, 17, NR_PAGES - 1 };
	struct region region;
	bool all = true;

	region_open(&region, uffd, -1, UFFDIO_REGISTER_MODE_MINOR);
	for (size_t i = 0; i < ARRAY_SIZE(before); i++)
		all = all &&
		      !uffd_continue(uffd, region.map + before[i] * PAGE_SIZE, PAGE_SIZE);
	ok(all && is_mapped(&region, 17) && !is_mapped(&region, 16) &&
		   !is_mapped(&region, 18),
	   "single pages are mapped, their neighbours are not");
	ok(!uffd_continue(uffd, region.map, LEN),
	   "pages that are mapped are passed over");
	for (unsigned i = 0; i < NR_PAGES; i++)
		all = all && is_mapped(&region, i);
	ok(all, "and the others mapped");
	ok(!uffd_continue(uffd, region.map, LEN), "again: nothing to do");
	ok(!uffd_continue(uffd, region.map, 0), "no pages: nothing to do");
	region_close(&region);
}

static void holes(int uffd)
{
	struct region region;

	region_open(&region, uffd, 9, UFFDIO_REGISTER_MODE_MINOR);
	ok(uffd_continue(uffd, region.map, LEN) == -EFAULT,
	   "a page that is not in the file cannot be mapped");
	ok(is_mapped(&region, 8) && !is_mapped(&region, 10), "those before it are");
	ok(uffd_continue(uffd, region.map + 1, PAGE_SIZE) == -EINVAL,
	   "what is no whole page is refused");
	region_close(&region);
	ok(uffd_continue(uffd, region.map, LEN) == -ENOENT,
	   "what is not registered is refused");
}

static void *continue_all(void *arg)
{
	struct region *region = arg;
	struct sigbus_guard guard = { 0 };

	return uffd_continue(region->uffd, region->map, LEN) ||
			       sigbus_run(&guard, load_all, region) != NR_PAGES ?
		       region :
		       NULL;
}

static void race(int uffd)
{
	unsigned nr_failed = 0;

	for (unsigned round = 0; round < NR_ROUNDS; round++) {
		struct region region;
		pthread_t ids[NR_THREADS];
		void *failed;

		region_open(&region, uffd, -1, UFFDIO_REGISTER_MODE_MINOR);
		for (unsigned i = 0; i < NR_THREADS; i++) {
			if (pthread_create(&ids[i], NULL, continue_all, &region))
				bail("no thread");
		}
		for (unsigned i = 0; i < NR_THREADS; i++) {
			pthread_join(ids[i], &failed);
			nr_failed += !!failed;
		}
		region_close(&region);
	}
	ok(!nr_failed, "%d threads map the same pages at once (%u failed)", NR_THREADS,
	   nr_failed);
}

static void own_faults(void)
{
	struct reason why = { "" };
	int uffd = uffd_open(UFFD_FEATURE_SIGBUS | UFFD_FEATURE_MINOR_SHMEM, &why);

	if (uffd < 0) {
		skip(why.text, 1);
		return;
	}
	ok(fcntl(uffd, F_GETFD) == FD_CLOEXEC && fcntl(uffd, F_GETFL) & O_NONBLOCK,
	   "close-on-exec and non-blocking");
	batches(uffd);
	mapped_already(uffd);
	holes(uffd);
	race(uffd);
	ok(uffd_register(uffd, (void *)(uintptr_t)1, PAGE_SIZE,
			 UFFDIO_REGISTER_MODE_MINOR) == -EINVAL,
	   "no whole page cannot be registered");
	close(uffd);
}

/* Minor faults of loading each page of the region once, by empty page tables. */
static uint64_t faults_of_loads(struct region *region)
{
	struct usage before, now;

	/* What a sanitizer keeps for these addresses is there then, too. */
	usage_read(&before);
	load_all(region);
	usage_read(&now);
	if (madvise(region->map, LEN, MADV_DONTNEED))
		bail("cannot empty the page tables");
	usage_read(&before);
	load_all(region);
	usage_read(&now);
	return usage_since(&now, &before).minor_faults;
}

static void page_by_page(void)
{
	struct reason why = { "" };
	struct region region;
	uint64_t nr;
	int uffd =
		uffd_open(UFFD_FEATURE_WP_HUGETLBFS_SHMEM | UFFD_FEATURE_WP_ASYNC, &why);

	if (uffd < 0) {
		skip(why.text, 1);
		return;
	}
	region_open(&region, uffd, -1, UFFDIO_REGISTER_MODE_WP);
	nr = faults_of_loads(&region);
	ok(nr == NR_PAGES,
	   "registered for write-protect, each page is a fault (%llu of %d)",
	   (unsigned long long)nr, NR_PAGES);
	region.map[0] = 200;
	ok(region.map[0] == 200, "and can be written");
	region_close(&region);
	close(uffd);
}

static void missing(void)
{
	struct reason why = { "" };
	int fd = uffd_open(0, &why);

	if (fd < 0) {
		ok(*why.text, "no userfaultfd: %s", why.text);
		ok(uffd_open(0, NULL) == fd, "and nobody needs to ask why");
		return;
	}
	close(fd);
	why.text[0] = '\0';
	ok(uffd_open(1ull << 62, &why) == -EINVAL, "a feature that does not exist");
	ok(strstr(why.text, "0x4000000000000000"), "is named: %s", why.text);
	ok(uffd_open(1ull << 62, NULL) == -EINVAL, "and nobody needs to ask why");
}

int main(void)
{
	if (sigbus_install(NULL))
		bail("cannot catch SIGBUS");
	missing();
	own_faults();
	page_by_page();
	return done();
}
