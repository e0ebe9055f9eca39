/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/kernel_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/format.h"
#include "sys/mount.h"
#include "sys/tmpfs.h"

#define ELSEWHERE "choose another directory with dir="

/* ---- files ---- */

static int file_with_a_name(int dirfd)
{
	char name[64];

	for (unsigned i = 0; i < 1000; i++) {
		int fd;

		snprintf(name, sizeof(name), ".pagezone-%ld-%u", (long)getpid(), i);
		fd = openat(dirfd, name,
			    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd < 0)
			return -errno;
		if (unlinkat(dirfd, name, 0)) {
			int err = -errno;

			close(fd);
			unlinkat(dirfd, name,
				 0); /* what failed once may not fail again */
			return err;
		}
		return fd;
	}
	return -EEXIST;
}

int kernel_dir_file(const struct kernel_dir *dir)
{
	int fd = openat(dir->fd, ".", O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	/* What file systems, and kernels, without O_TMPFILE say: open(2). */
	if (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL)
		return file_with_a_name(dir->fd);
	return -errno;
}

/* ---- how much ---- */

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t files_space(const struct engine_setup *setup, bool huge)
{
	uint64_t unit = huge ? PMD_SIZE : PAGE_SIZE, bytes = 0;

	for (unsigned i = 0; i < setup->nr_files; i++)
		bytes = add_capped(bytes, align_up(setup->file_bytes[i], unit));
	return bytes;
}

uint64_t kernel_dir_space(const struct kernel_dir *dir, const struct engine_setup *setup)
{
	return files_space(setup, dir->huge);
}

static uint64_t most_space(const struct engine_setup *setups, unsigned nr, bool huge)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < nr; i++)
		most = max_u64(most, files_space(&setups[i], huge));
	return most;
}

static uint64_t largest_file(const struct engine_setup *setups, unsigned nr)
{
	uint64_t largest = 0;

	for (unsigned i = 0; i < nr; i++)
		for (unsigned k = 0; k < setups[i].nr_files; k++)
			largest = max_u64(largest, setups[i].file_bytes[k]);
	return largest;
}

/* ---- the limits ---- */

static int check_file_size(const struct kernel_dir *dir, int fd, uint64_t largest,
			   struct reason *why)
{
	struct rlimit limit;
	int err;

	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	    largest > limit.rlim_cur)
		return reason_set(why, -EFBIG,
				  "a file of %s is larger than the limit of %s for this "
				  "process; raise it (ulimit -f), or lower -S or -s",
				  format_size(largest).text,
				  format_size(limit.rlim_cur).text);
	if (!ftruncate(fd, (off_t)largest))
		return 0;
	err = -errno;
	if (err == -EFBIG || err == -EINVAL)
		return reason_set(why, err,
				  "%s: a file of %s is larger than its file system (%s) "
				  "can have; lower -S or -s, or " ELSEWHERE,
				  dir->name, format_size(largest).text, dir->type);
	return reason_set(why, err, "%s: a file cannot be made %s long: %s", dir->name,
			  format_size(largest).text, strerror(-err));
}

static int check_space(const struct kernel_dir *dir, const struct engine *engine,
		       const struct engine_setup *setup, struct reason *why)
{
	uint64_t need = kernel_dir_space(dir, setup), blocks, left;
	unsigned threads = setup->nr_workers;
	struct statvfs fs;

	if (fstatvfs(dir->fd, &fs))
		return reason_set(why, -errno, "%s: its free space cannot be told: %s",
				  dir->name, strerror(errno));
	if (!fs.f_blocks)
		return 0; /* a tmpfs without a limit: memory is the limit, and looked at */
	/* What is set aside for root is root's to take. */
	blocks = geteuid() ? fs.f_bavail : fs.f_bfree;
	/* Some network file systems say that they have all there can be. */
	if (__builtin_mul_overflow(blocks, fs.f_frsize, &left))
		left = UINT64_MAX;
	if (need <= left)
		return 0;
	return reason_set(
		why, -ENOSPC,
		"%u thread%s need%s %s%s in %s (%s), which has %s free; lower -S or -s, or %s",
		threads, threads == 1 ? "" : "s", threads == 1 ? "s" : "",
		format_size(need).text, dir->huge ? ", in huge pages," : "", dir->name,
		dir->type, format_size(left).text,
		engine->conf.kernel.dir ? ELSEWHERE : "raise size= of the tmpfs");
}

/* File systems without coherent shared mappings (9p, FUSE with direct I/O) say ENODEV. */
static int check_mapping(const struct kernel_dir *dir, int fd, struct reason *why)
{
	void *p;

	if (ftruncate(fd, PAGE_SIZE))
		return reason_set(why, -errno,
				  "%s: a file cannot be made a page long: %s", dir->name,
				  strerror(errno));
	p = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p != MAP_FAILED) {
		munmap(p, PAGE_SIZE);
		return 0;
	}
	if (errno == ENODEV)
		return reason_set(
			why, -ENODEV,
			"%s: its file system (%s) does not map files shared and "
			"writable (MAP_SHARED); " ELSEWHERE,
			dir->name, dir->type);
	return reason_set(why, -errno, "%s: a file on it (%s) cannot be mapped: %s",
			  dir->name, dir->type, strerror(errno));
}

static int check_all(const struct kernel_dir *dir, const struct engine *engine,
		     const struct engine_setup *setups, unsigned nr, struct reason *why)
{
	int fd = kernel_dir_file(dir), err;

	if (fd < 0)
		return reason_set(why, fd,
				  "%s: no file can be made there: %s; " ELSEWHERE,
				  dir->name, strerror(-fd));
	err = check_file_size(dir, fd, largest_file(setups, nr), why);
	if (!err)
		err = check_mapping(dir, fd, why);
	close(fd);
	for (unsigned i = 0; i < nr && !err; i++)
		err = check_space(dir, engine, &setups[i], why);
	return err;
}

/* ---- open and close ---- */

static int open_tmpfs(struct kernel_dir *dir, const struct engine *engine,
		      const struct engine_setup *setups, unsigned nr, char **mount,
		      struct reason *why)
{
	const char *huge = engine->conf.kernel.huge;
	uint64_t size = engine->conf.kernel.size;
	struct reason inner = { "" };
	char options[128];

	/* Without size= exactly what the run needs, and 1/64 for what grows in between. */
	if (!size) {
		size = most_space(setups, nr, true);
		size = min_u64(add_capped(size, size / 64 + PMD_SIZE), INT64_MAX);
		size = align_down(size, PAGE_SIZE);
	}
	snprintf(options, sizeof(options), "huge=%s,size=%llu", huge,
		 (unsigned long long)size);
	snprintf(dir->name, sizeof(dir->name), "the private tmpfs");
	dir->fd = mount_private_tmpfs(options, mount, &inner);
	if (dir->fd < 0)
		return reason_set(
			why, dir->fd,
			"%s; kernel:dir=DIR does without a mount of its own, with "
			"a DIR such as /dev/shm",
			inner.text);
	return 0;
}

static int open_dir(struct kernel_dir *dir, const struct engine *engine, char **mount,
		    struct reason *why)
{
	const char *name = engine->conf.kernel.dir;
	struct mount_info info;

	snprintf(dir->name, sizeof(dir->name), "%s%s", strlen(name) > 250 ? "..." : "",
		 strlen(name) > 250 ? name + strlen(name) - 250 : name);
	/* What a terminal would act upon. */
	format_plain(dir->name);
	dir->fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir->fd < 0)
		return reason_set(why, -errno, "dir=%s: %s", dir->name, strerror(errno));
	*mount = NULL;
	if (mount_describe("", dir->fd, &info) &&
	    asprintf(mount, "%s %s", info.type, info.options) < 0) {
		*mount = NULL;
		return reason_set(why, -ENOMEM, "out of memory");
	}
	return 0;
}

/* Type, kind and huge pages of what the directory lies on. */
static int look_at(struct kernel_dir *dir, const char *mount, struct reason *why)
{
	const char *options = mount ? strchr(mount, ' ') : NULL;
	struct statfs fs;
	char huge[32];

	snprintf(dir->type, sizeof(dir->type), "%.*s",
		 options ? (int)(options - mount) : 7, options ? mount : "unknown");
	if (fstatfs(dir->fd, &fs))
		return reason_set(why, -errno, "%s: its file system cannot be told: %s",
				  dir->name, strerror(errno));
	dir->is_tmpfs = fs.f_type == TMPFS_MAGIC;
	dir->in_memory = dir->is_tmpfs || fs.f_type == RAMFS_MAGIC;
	dir->huge = dir->in_memory && options &&
		    mount_option(options + 1, "huge", huge, sizeof(huge)) &&
		    (!strcmp(huge, "always") || !strcmp(huge, "within_size"));
	return 0;
}

int kernel_dir_open(struct kernel_dir *dir, const struct engine *engine,
		    const struct engine_setup *setups, unsigned nr, char **mount,
		    struct reason *why)
{
	int err;

	*dir = (struct kernel_dir){ .fd = -1 };
	*mount = NULL;
	if (engine->conf.kernel.dir)
		err = open_dir(dir, engine, mount, why);
	else
		err = open_tmpfs(dir, engine, setups, nr, mount, why);
	if (!err)
		err = look_at(dir, *mount, why);
	if (!err)
		err = check_all(dir, engine, setups, nr, why);
	if (!err)
		return 0;
	kernel_dir_close(dir);
	free(*mount);
	*mount = NULL;
	return err;
}

void kernel_dir_close(struct kernel_dir *dir)
{
	if (dir->fd >= 0)
		close(dir->fd);
	dir->fd = -1;
}
