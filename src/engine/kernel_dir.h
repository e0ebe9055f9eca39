/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the files of the kernel and tmpfs engines lie, and whether they fit there. */
#ifndef ENGINE_KERNEL_DIR_H
#define ENGINE_KERNEL_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/reason.h"
#include "engine/engine.h"

struct kernel_dir {
	int fd; /* of the directory; every file is opened relative to it */
	char name[300]; /* for messages: the directory as the user wrote it, or "the private tmpfs" */
	char type[64];	/* of the file system: "ext4" */
	bool in_memory; /* its pages are memory that nothing can reclaim but swapping */
	bool huge;	/* a file takes whole huge pages: huge=always or within_size */
	bool is_tmpfs;	/* its files have memory policies of their own */
};

/*
 * Mounts (tmpfs) or opens (kernel) the directory and holds what @setups need against the limits:
 * write permission, RLIMIT_FSIZE, the largest file, free space, shared mappings. 0;
 * -errno with @why.
 * *@mount gets type and options, to be freed.
 */
int kernel_dir_open(struct kernel_dir *dir, const struct engine *engine,
		    const struct engine_setup *setups, unsigned nr, char **mount,
		    struct reason *why);
void kernel_dir_close(struct kernel_dir *dir);

/*
 * A new, empty file in the directory that no name leads to: O_TMPFILE, or unlinked as soon as it is
 * open where the file system does not know that. Its descriptor or -errno.
 */
int kernel_dir_file(const struct kernel_dir *dir);

/* Bytes that the files of @setup take on the file system. */
uint64_t kernel_dir_space(const struct kernel_dir *dir, const struct engine_setup *setup);

#endif
