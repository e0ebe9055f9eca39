/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel and tmpfs engines: files of the running kernel's page cache, mapped shared. They
 * differ in where the files lie: under dir=, or on a tmpfs that is mounted for the run.
 *
 * A worker's whole share is one extent: the CPU faults while the loop copies. Only with populate=
 * the loop comes back for each window of pages.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/format.h"
#include "engine/engine_kernel.h"
#include "engine/kernel_dir.h"

/* ---- once a run ---- */

static int kernel_open(struct engine *engine, const struct engine_setup *setups,
		       unsigned nr, struct reason *why)
{
	struct kernel_dir *dir = malloc(sizeof(*dir));
	int err;

	if (!dir)
		return reason_set(why, -ENOMEM, "out of memory");
	err = sigbus_install(why);
	if (err)
		goto fail;
	err = kernel_dir_open(dir, engine, setups, nr, &engine->mount, why);
	if (err)
		goto fail;
	err = kernel_try_mapping(engine, dir, why);
	if (err) {
		kernel_dir_close(dir);
		goto fail;
	}
	engine->opened = dir;
	engine->place = dir->name;
	return 0;
fail:
	free(dir);
	return err;
}

static void kernel_close(struct engine *engine)
{
	if (!engine->opened)
		return;
	kernel_dir_close(engine->opened);
	free(engine->opened);
	engine->opened = NULL;
	engine->place = NULL;
	free(engine->mount);
	engine->mount = NULL;
}

/* Files of tmpfs are memory; page tables are memory everywhere: 8 bytes a page. */
static size_t kernel_overhead(const struct engine *engine,
			      const struct engine_setup *setup)
{
	const struct kernel_dir *dir = engine->opened;
	size_t bytes = 0;

	for (unsigned i = 0; i < setup->nr_workers; i++) {
		const struct share *share = &setup->shares[i];

		bytes +=
			align_up((share->end - share->start) / PAGE_SIZE * 8, PAGE_SIZE) +
			PAGE_SIZE;
	}
	if (dir && dir->in_memory)
		bytes += kernel_dir_space(dir, setup);
	return bytes;
}

/* ---- once a thread count ---- */

static void close_files(struct kernel_state *state, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		if (state->fds[i] >= 0)
			close(state->fds[i]);
	free(state->fds);
	free(state);
}

static void kernel_stop(struct engine *engine)
{
	close_files(engine->state, engine->setup->nr_files);
	engine->state = NULL;
	engine->setup = NULL;
}

/* As many descriptors as this process may have: 256 files and 256 userfaultfds. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int make_file(const struct kernel_dir *dir, uint64_t bytes, int *fd,
		     struct reason *why)
{
	int err = 0;

	*fd = kernel_dir_file(dir);
	if (*fd < 0)
		err = *fd;
	else if (ftruncate(*fd, (off_t)bytes))
		err = -errno;
	if (!err)
		return 0;
	return reason_set(why, err, "%s: no file of %llu bytes can be made: %s%s",
			  dir->name, (unsigned long long)bytes, strerror(-err),
			  err == -EMFILE ? "; raise ulimit -n, or lower -t" : "");
}

static int kernel_start(struct engine *engine, const struct engine_setup *setup,
			struct reason *why)
{
	struct kernel_state *state = calloc(1, sizeof(*state));
	int err = 0;

	if (!state)
		return reason_set(why, -ENOMEM, "out of memory");
	state->fds = calloc(setup->nr_files, sizeof(*state->fds));
	if (!state->fds) {
		free(state);
		return reason_set(why, -ENOMEM, "out of memory");
	}
	raise_file_limit();
	for (unsigned i = 0; i < setup->nr_files; i++)
		state->fds[i] = -1;
	for (unsigned i = 0; i < setup->nr_files && !err; i++)
		if (setup->file_bytes[i])
			err = make_file(engine->opened, setup->file_bytes[i],
					&state->fds[i], why);
	if (err) {
		close_files(state, setup->nr_files);
		return err;
	}
	engine->setup = setup;
	engine->state = state;
	return 0;
}

/* ---- in the worker ---- */

static void kernel_worker_stop(struct engine_worker *worker)
{
	struct kernel_worker *kw = worker->state;

	if (!kw)
		return;
	if (kw->uffd >= 0)
		close(kw->uffd);
	kernel_unplace(worker);
	free(kw->populated);
	free(kw);
	worker->state = NULL;
}

static int kernel_worker_start(struct engine_worker *worker, struct reason *why)
{
	const struct engine *engine = worker->engine;
	const struct kernel_state *state = engine->state;
	const struct share *share = worker->share;
	struct kernel_worker *kw = calloc(1, sizeof(*kw));

	if (!kw)
		return reason_set(why, -ENOMEM, "out of memory");
	worker->state = kw;
	kw->fd = kw->uffd = -1;
	if (share->start == share->end)
		return 0;
	kw->fd = state->fds[share->file];
	kernel_map_range(engine->setup, share, &kw->map_start, &kw->map_end);
	kw->populate = (uint64_t)engine->conf.kernel.populate * PAGE_SIZE;
	if (kw->populate) {
		uint64_t windows = div_round_up(kw->map_end, kw->populate) -
				   kw->map_start / kw->populate;

		kw->populated = calloc(div_round_up(windows, 8), 1);
		if (!kw->populated)
			return reason_set(why, -ENOMEM, "out of memory");
	}
	if (engine->conf.kernel.no_faultaround) {
		kw->uffd = kernel_open_uffd(why);
		if (kw->uffd < 0)
			return kw->uffd;
	}
	return kernel_place(worker, why);
}

static int kernel_empty(struct engine_worker *worker, struct reason *why)
{
	uint64_t bytes = worker->engine->setup->file_bytes[worker->share->file];
	const struct kernel_state *state = worker->engine->state;
	struct kernel_worker *kw = worker->state;
	int fd = state->fds[worker->share->file];

	kw->filled = false;
	if (!worker->share->first || fd < 0)
		return 0;
	if (ftruncate(fd, 0) || ftruncate(fd, (off_t)bytes))
		return reason_set(why, -errno, "the file cannot be emptied: %s",
				  strerror(errno));
	return 0;
}

static uint64_t window_of(const struct kernel_worker *kw, uint64_t offset)
{
	return offset / kw->populate - kw->map_start / kw->populate;
}

static int kernel_map(struct engine_worker *worker, struct reason *why)
{
	struct kernel_worker *kw = worker->state;
	int err;

	if (kw->fd < 0)
		return 0;
	kw->base = kernel_map_aligned(kw->fd, kw->map_start, kw->map_end);
	if (!kw->base)
		return kernel_cannot_map(errno, why);
	if (kw->populated)
		memset(kw->populated, 0, window_of(kw, kw->map_end - 1) / 8 + 1);
	/*
	 * khugepaged would make huge pages of what write= made small, in mid-run. Kernels
	 * without huge pages do not know the advice, nor do they need it.
	 */
	if (kw->filled && worker->engine->conf.kernel.write < PMD_SIZE)
		madvise(kw->base, kw->map_end - kw->map_start, MADV_NOHUGEPAGE);
	err = kernel_advise(worker->engine, kw->base, kw->map_end - kw->map_start,
			    kw->uffd, why);
	if (!err)
		return 0;
	munmap(kw->base, kw->map_end - kw->map_start);
	kw->base = NULL;
	return err;
}

static void kernel_unmap(struct engine_worker *worker)
{
	struct kernel_worker *kw = worker->state;

	if (kw->base)
		munmap(kw->base, kw->map_end - kw->map_start);
	kw->base = NULL;
}

/* The window of pages around @offset, which the kernel brings in and maps in one call. */
static int populate_window(struct kernel_worker *kw, uint64_t offset, bool write,
			   struct extent *extent)
{
	uint64_t start = align_down(offset, PAGE_SIZE) / kw->populate * kw->populate;
	uint64_t nr = window_of(kw, offset), end;

	end = min_u64(start + kw->populate, kw->map_end);
	start = max_u64(start, kw->map_start);
	if (!(kw->populated[nr / 8] & 1U << nr % 8)) {
		int rc;

		do
			rc = madvise(kw->base + (start - kw->map_start), end - start,
				     write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
		while (rc && errno == EINTR);
		if (rc) {
			kw->failed_offset = start;
			return -errno;
		}
		kw->populated[nr / 8] |= (uint8_t)(1U << nr % 8);
	}
	extent->start = max_u64(start, extent->start);
	extent->end = min_u64(end, extent->end);
	return 0;
}

static int kernel_fault(struct engine_worker *worker, uint64_t offset, bool write,
			struct extent *extent)
{
	struct kernel_worker *kw = worker->state;
	int err = 0;

	kw->write = write;
	extent->start = worker->share->start;
	extent->end = worker->share->end;
	if (kw->populate)
		err = populate_window(kw, offset, write, extent);
	extent->base = kw->base + (extent->start - kw->map_start);
	return err;
}

static void *kernel_page(struct engine_worker *worker, uint64_t offset)
{
	const struct kernel_worker *kw = worker->state;

	return kw->base ? kw->base + (align_down(offset, PAGE_SIZE) - kw->map_start) :
			  NULL;
}

/* ---- files made resident by write(2) ---- */

static int write_all(int fd, const char *from, uint64_t bytes, uint64_t offset)
{
	while (bytes) {
		ssize_t n = pwrite(fd, from, bytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		from += n;
		offset += (uint64_t)n;
		bytes -= (uint64_t)n;
	}
	return 0;
}

static int kernel_fill(struct engine_worker *worker, engine_content_fn *content,
		       void *arg, struct reason *why)
{
	struct kernel_worker *kw = worker->state;
	const struct kernel_dir *dir = worker->engine->opened;
	const struct share *share = worker->share;
	uint64_t piece = worker->engine->conf.kernel.write;
	char *buffer;
	int err = 0;

	kw->filled = true;
	if (kw->fd < 0)
		return 0;
	/*
	 * Not to its full length before it is written: within the size of a file a tmpfs of
	 * huge=within_size takes huge pages, beyond it folios as large as the write(2).
	 */
	if (!share->start && ftruncate(kw->fd, 0))
		return reason_set(why, -errno, "the file cannot be emptied: %s",
				  strerror(errno));
	buffer = malloc(piece);
	if (!buffer)
		return reason_set(why, -ENOMEM, "write=: no memory for %s",
				  format_size(piece).text);
	for (uint64_t at = share->start; at < share->end && !err;) {
		/* In pieces of the file, whose borders a share need not meet. */
		uint64_t end = min_u64(at - at % piece + piece, share->end);

		content(arg, at, end - at, buffer);
		err = write_all(kw->fd, buffer, end - at, at);
		at = end;
	}
	free(buffer);
	/* Writeback locks folios, and fault-around leaves out those that are locked. */
	if (!err && !dir->in_memory && fdatasync(kw->fd))
		err = -errno;
	if (err)
		return reason_set(why, err, "%s: %s", dir->name, strerror(-err));
	return 0;
}

/* A file that several workers share keeps its size. */
static int kernel_truncate(struct engine_worker *worker, struct reason *why)
{
	const struct kernel_worker *kw = worker->state;
	const struct share *share = worker->share;
	bool whole = engine_share_is_file(worker);
	int rc = whole ? ftruncate(kw->fd, 0) :
			 fallocate(kw->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				   (off_t)share->start,
				   (off_t)(share->end - share->start));

	return rc ? reason_set(why, -errno, "%s: %s", whole ? "ftruncate" : "fallocate",
			       strerror(errno)) :
		    0;
}

/* ---- when it fails ---- */

/*
 * The kernel's SIGBUS does not say why. A read or a write of the same byte does. It is
 * what the page fault tried, so it meets the same end, unless something changed
 * meanwhile.
 */
static int ask_again(int fd, uint64_t offset, bool write)
{
	char byte = 0;
	ssize_t n = write ? pwrite(fd, &byte, 1, (off_t)offset) :
			    pread(fd, &byte, 1, (off_t)offset);

	return n < 0 ? -errno : 0;
}

static void kernel_explain(struct engine_worker *worker, int err,
			   const struct sigbus_guard *guard, struct reason *why)
{
	const struct kernel_worker *kw = worker->state;
	const struct kernel_dir *dir = worker->engine->opened;
	uint64_t offset = kw->failed_offset;
	bool bus = err == -EFAULT;

	if (bus && guard->address - (uintptr_t)kw->base < kw->map_end - kw->map_start)
		offset = guard->address - (uintptr_t)kw->base + kw->map_start;
	if (bus) {
		int cause = ask_again(kw->fd, offset, kw->write);

		/* A load from a hole takes a page too, of tmpfs. */
		if (!cause && !kw->write && dir->in_memory)
			cause = ask_again(kw->fd, offset, true);
		if (cause)
			err = cause;
	}
	if (err == -EFAULT)
		reason_set(why, err,
			   "%s (%s): the kernel has no page for offset %llu of the file "
			   "(SIGBUS), and does not say why",
			   dir->name, dir->type, (unsigned long long)offset);
	else
		reason_set(why, err, "%s (%s): %s, at offset %llu of the file%s",
			   dir->name, dir->type, strerror(-err),
			   (unsigned long long)offset,
			   err != -ENOSPC ? "" :
			   worker->engine->conf.kernel.dir ?
					    "; lower -S or -s" :
					    "; raise size= of the tmpfs");
}

/* ---- huge pages ---- */

static uint64_t kernel_huge_wanted(struct engine_worker *worker)
{
	const struct kernel_worker *kw = worker->state;
	const struct kernel_dir *dir = worker->engine->opened;

	/* With write= the size of the write(2) decides how large folios are. */
	if ((!dir->huge && worker->engine->conf.kernel.advice != MADV_HUGEPAGE) ||
	    worker->engine->conf.kernel.write)
		return 0;
	return align_down(kw->map_end - kw->map_start, PMD_SIZE);
}

#define KERNEL_FLAGS (ENGINE_REAL_FAULTS | ENGINE_PROCESSES | ENGINE_FREE_MEMORY)

#define KERNEL_OPS                                                                     \
	.flags = KERNEL_FLAGS, .destroy = kernel_destroy, .open = kernel_open,         \
	.close = kernel_close, .overhead = kernel_overhead, .start = kernel_start,     \
	.stop = kernel_stop, .worker_start = kernel_worker_start,                      \
	.worker_stop = kernel_worker_stop, .empty = kernel_empty, .fill = kernel_fill, \
	.map = kernel_map, .unmap = kernel_unmap, .fault = kernel_fault,               \
	.truncate = kernel_truncate, .explain = kernel_explain,                        \
	.huge_wanted = kernel_huge_wanted, .page = kernel_page

const struct engine_ops engine_kernel = {
	.name = "kernel",
	.summary = "the running kernel's page cache, files under dir=",
	.parse = kernel_parse,
	KERNEL_OPS,
};

const struct engine_ops engine_tmpfs = {
	.name = "tmpfs",
	.summary = "the running kernel's page cache, a private tmpfs",
	.parse = tmpfs_parse,
	KERNEL_OPS,
};
