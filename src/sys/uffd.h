/* SPDX-License-Identifier: GPL-2.0-or-later */
/* userfaultfd(2), as far as it works without privilege (UFFD_USER_MODE_ONLY). */
#ifndef SYS_UFFD_H
#define SYS_UFFD_H

#include <linux/userfaultfd.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reason.h"

/* Debian 12's header is that of Linux 6.1. */
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12) /* Linux 5.19 */
#endif
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15) /* Linux 6.7 */
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1 /* Linux 5.11 */
#endif

/*
 * A userfaultfd with @features (UFFD_FEATURE_*), close-on-exec, non-blocking. The descriptor;
 * -ENOSYS, -EPERM (also /dev/userfaultfd may not be opened), -EINVAL (a feature is missing), …
 * with @why, which says what to change.
 */
int uffd_open(uint64_t features, struct reason *why);
/*
 * Registers [@start, @start + @len), whole pages, for @mode (UFFDIO_REGISTER_MODE_*). 0
 * or -errno.
 */
int uffd_register(int fd, void *start, size_t len, uint64_t mode);
/*
 * Maps those pages of [@start, @start + @len) of a shared mapping that are in its file
 * and not mapped yet (UFFDIO_CONTINUE); others may do the same at once. As few ioctls as
 * there are runs of pages that are not mapped, and one for each page that is. 0 or
 * -errno: -EFAULT for a page that is not in the file, those before it are mapped then.
 * Async-signal-safe.
 */
int uffd_continue(int fd, void *start, size_t len);

#endif
