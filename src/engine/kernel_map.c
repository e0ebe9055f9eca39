/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How files are mapped: where, with which advice, how many pages a fault. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bits.h"
#include "engine/engine_kernel.h"
#include "engine/kernel_dir.h"
#include "sys/arena.h"
#include "sys/uffd.h"

void kernel_map_range(const struct engine_setup *setup, const struct share *share,
		      uint64_t *start, uint64_t *end)
{
	*start = align_down(share->start, PMD_SIZE);
	*end = min_u64(align_up(share->end, PMD_SIZE),
		       align_up(setup->file_bytes[share->file], PAGE_SIZE));
}

char *kernel_map_aligned(int fd, uint64_t start, uint64_t end)
{
	size_t bytes = end - start;
	char *base = arena_reserve(bytes);
	int err;

	if (!base || mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
			  (off_t)start) != MAP_FAILED)
		return base;
	err = errno;
	munmap(base, bytes);
	errno = err;
	return NULL;
}

int kernel_open_uffd(struct reason *why)
{
	int fd = uffd_open(UFFD_FEATURE_WP_ASYNC, why);

	/* Other errors are not about the feature. */
	return fd != -EINVAL ? fd : uffd_open(UFFD_FEATURE_WP_HUGETLBFS_SHMEM, why);
}

/*
 * A policy of a file is set through a mapping of it, and stays when that goes. 0,
 * whatever became of the policy; -errno where there is no mapping.
 */
static int place_range(struct engine_worker *worker, uint64_t start, uint64_t end,
		       const struct mem_policy *policy, int nid)
{
	const struct kernel_worker *kw = worker->state;
	size_t bytes = align_up(end, PAGE_SIZE) - align_down(start, PAGE_SIZE);
	void *p;
	int err;

	if (nid < 0 && !(policy && policy->nr))
		return 0;
	p = mmap(NULL, bytes, PROT_NONE, MAP_SHARED, kw->fd,
		 (off_t)align_down(start, PAGE_SIZE));
	if (p == MAP_FAILED)
		return -errno;
	err = numamem_bind(p, bytes, policy, nid);
	if (err)
		worker->place_err = err;
	munmap(p, bytes);
	return 0;
}

/* Of so many huge pages or more, it does not matter much with which node the kernel begins. */
#define MANY_HUGE_PAGES 256

/* Whether the share is to be interleaved, and comes in huge pages, but few. */
static bool is_few_huge_pages(const struct engine_worker *worker)
{
	const struct mem_policy *policy = worker->engine->setup->policy;
	const struct kernel_dir *dir = worker->engine->opened;
	const struct kernel_worker *kw = worker->state;

	return policy && policy->kind == MEM_INTERLEAVE && policy->nr &&
	       (dir->huge || worker->engine->conf.kernel.advice == MADV_HUGEPAGE) &&
	       kw->map_end - kw->map_start < MANY_HUGE_PAGES * PMD_SIZE;
}

/*
 * The kernel interleaves the huge pages of a file by their number in it, and small files all begin
 * with the same node: with one huge page each, all would lie on it. So each gets the
 * node whose turn it is, over all workers.
 */
static int interleave_huge_pages(struct engine_worker *worker)
{
	const struct mem_policy *policy = worker->engine->setup->policy;
	const struct kernel_worker *kw = worker->state;
	uint64_t turn = worker->id * div_round_up(kw->map_end - kw->map_start, PMD_SIZE);
	int err = 0;

	/* Workers go over the nodes in turn, too: with one huge page each, all would be local. */
	turn += worker->id / policy->nr;
	for (uint64_t at = kw->map_start; at < kw->map_end && !err; at += PMD_SIZE)
		err = place_range(worker, at, min_u64(at + PMD_SIZE, kw->map_end), NULL,
				  (int)policy->nodes[turn++ % policy->nr]);
	return err;
}

int kernel_place(struct engine_worker *worker, struct reason *why)
{
	const struct engine_setup *setup = worker->engine->setup;
	const struct kernel_dir *dir = worker->engine->opened;
	const struct share *share = worker->share;
	struct kernel_worker *kw = worker->state;
	int err;

	if (!dir->is_tmpfs) {
		worker->place_call = "set_mempolicy";
		worker->place_err =
			numamem_task_set(&kw->before, setup->policy, share->mem_node);
		return 0;
	}
	worker->place_call = "mbind";
	if (is_few_huge_pages(worker))
		err = interleave_huge_pages(worker);
	else
		err = place_range(worker, share->start, share->end, setup->policy,
				  share->mem_node);
	return err ? kernel_cannot_map(-err, why) : 0;
}

int kernel_cannot_map(int error, struct reason *why)
{
	return reason_set(why, -error, "the file cannot be mapped: %s%s", strerror(error),
			  error == ENOMEM ? "; see ulimit -v and vm.max_map_count" : "");
}

void kernel_unplace(struct engine_worker *worker)
{
	struct kernel_worker *kw = worker->state;

	numamem_task_restore(&kw->before);
}

int kernel_advise(const struct engine *engine, char *base, size_t bytes, int uffd,
		  struct reason *why)
{
	int advice = engine->conf.kernel.advice, err;

	if (advice >= 0 && madvise(base, bytes, advice))
		return reason_set(
			why, -errno, "advise=: madvise says: %s%s", strerror(errno),
			errno == EINVAL ? " (this kernel does not know it)" : "");
	if (uffd < 0)
		return 0;
	err = uffd_register(uffd, base, bytes, UFFDIO_REGISTER_MODE_WP);
	if (err)
		return reason_set(
			why, err,
			"faultaround=off: userfaultfd write-protect cannot be had "
			"for this file system: %s (tmpfs: Linux 5.19; others: 6.7)",
			strerror(-err));
	return 0;
}

int kernel_try_mapping(const struct engine *engine, const struct kernel_dir *dir,
		       struct reason *why)
{
	int fd = kernel_dir_file(dir), uffd = -1, err = 0;
	char *base = NULL;

	if (fd < 0 || ftruncate(fd, PAGE_SIZE) ||
	    !(base = kernel_map_aligned(fd, 0, PAGE_SIZE)))
		err = reason_set(why, fd < 0 ? fd : -errno,
				 "%s: a file cannot be mapped: %s", dir->name,
				 strerror(fd < 0 ? -fd : errno));
	if (!err && engine->conf.kernel.no_faultaround) {
		uffd = kernel_open_uffd(why);
		err = uffd < 0 ? uffd : 0;
	}
	if (!err)
		err = kernel_advise(engine, base, PAGE_SIZE, uffd, why);
	if (!err && engine->conf.kernel.populate &&
	    madvise(base, PAGE_SIZE, MADV_POPULATE_READ) && errno == EINVAL)
		err = reason_set(
			why, -EINVAL,
			"populate=: this kernel has no MADV_POPULATE_READ (Linux 5.14)");
	if (base)
		munmap(base, PAGE_SIZE);
	if (uffd >= 0)
		close(uffd);
	if (fd >= 0)
		close(fd);
	return err;
}
