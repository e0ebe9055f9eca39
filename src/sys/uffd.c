/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/uffd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bits.h"

#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00) /* Linux 6.1 */
#endif

static const struct {
	uint64_t bit;
	const char *name, *since;
} features_known[] = {
	{ UFFD_FEATURE_SIGBUS, "SIGBUS", "4.14" },
	{ UFFD_FEATURE_MINOR_SHMEM, "MINOR_SHMEM", "5.14" },
	{ UFFD_FEATURE_WP_HUGETLBFS_SHMEM, "WP_HUGETLBFS_SHMEM", "5.19" },
	{ UFFD_FEATURE_WP_ASYNC, "WP_ASYNC", "6.7" },
};

/*
 * Whoever may open the device (Linux 6.1) needs neither privilege nor sysctl nor
 * seccomp's leave.
 */
static int open_device(int flags)
{
	int device = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC), fd;

	if (device < 0)
		return -errno;
	fd = ioctl(device, USERFAULTFD_IOC_NEW, flags);
	if (fd < 0)
		fd = -errno;
	close(device);
	return fd;
}

static int open_any(struct reason *why)
{
	const int flags = O_CLOEXEC | O_NONBLOCK;
	long fd = syscall(SYS_userfaultfd, flags | UFFD_USER_MODE_ONLY);
	int err;

	/* Before Linux 5.11. */
	if (fd < 0 && errno == EINVAL)
		fd = syscall(SYS_userfaultfd, flags);
	if (fd >= 0)
		return (int)fd;
	err = errno;
	switch (err) {
	case EPERM:
		fd = open_device(flags | UFFD_USER_MODE_ONLY);
		if (fd >= 0)
			return (int)fd;
		return reason_set(
			why, -err,
			"userfaultfd is forbidden: set the sysctl vm.unprivileged_userfaultfd "
			"to 1 (needed before Linux 5.11), give this user access to "
			"/dev/userfaultfd, or allow the call in the container's seccomp filter");
	case ENOSYS:
		return reason_set(
			why, -err,
			"there is no userfaultfd here: the kernel lacks CONFIG_USERFAULTFD, or "
			"a container's seccomp filter hides it");
	case EMFILE:
	case ENFILE:
		return reason_set(
			why, -err,
			"cannot open a userfaultfd: %s; raise the limit (ulimit -n)",
			strerror(err));
	default:
		return reason_set(why, -err, "cannot open a userfaultfd: %s",
				  strerror(err));
	}
}

/* Names what of @features the kernel does not have. */
static int missing(int fd, uint64_t features, struct reason *why)
{
	/* Asked for none, it tells all; a failed UFFDIO_API may be repeated. */
	struct uffdio_api api = { .api = UFFD_API };
	uint64_t lacking;

	if (ioctl(fd, UFFDIO_API, &api))
		return reason_set(why, -EINVAL,
				  "the kernel's userfaultfd has another interface");
	lacking = features & ~api.features;
	for (size_t i = 0; i < ARRAY_SIZE(features_known); i++) {
		if (lacking & features_known[i].bit)
			return reason_set(
				why, -EINVAL,
				"the kernel's userfaultfd lacks UFFD_FEATURE_%s: Linux %s or "
				"later has it (not on every architecture)",
				features_known[i].name, features_known[i].since);
	}
	return reason_set(why, -EINVAL,
			  "the kernel's userfaultfd lacks the features %#llx",
			  (unsigned long long)lacking);
}

int uffd_open(uint64_t features, struct reason *why)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };
	int fd = open_any(why), err;

	if (fd < 0)
		return fd;
	if (!ioctl(fd, UFFDIO_API, &api))
		return fd;
	err = errno;
	if (err == EINVAL)
		missing(fd, features, why);
	else
		reason_set(why, -err, "cannot set userfaultfd up: %s", strerror(err));
	close(fd);
	return -err;
}

int uffd_register(int fd, void *start, size_t len, uint64_t mode)
{
	struct uffdio_register range = {
		.range = { .start = (uintptr_t)start, .len = len },
		.mode = mode,
	};

	return ioctl(fd, UFFDIO_REGISTER, &range) ? -errno : 0;
}

int uffd_continue(int fd, void *start, size_t len)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t at = (uintptr_t)start, end = at + len;

	while (at < end) {
		struct uffdio_continue range = { .range = { .start = at,
							    .len = end - at } };

		if (!ioctl(fd, UFFDIO_CONTINUE, &range))
			return 0;
		/*
		 * It stops at the first page that it cannot map, and says why when that
		 * is asked for.
		 */
		if (range.mapped > 0)
			at += (uint64_t)range.mapped;
		else if (errno == EEXIST)
			at += page;
		else if (errno != EAGAIN)
			return -errno;
		/* Else the mappings are about to change (fork, mremap): again. */
	}
	return 0;
}
