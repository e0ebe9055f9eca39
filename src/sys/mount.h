/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mounts: what a directory lies on. */
#ifndef SYS_MOUNT_H
#define SYS_MOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct mount_info {
	char type[64];	    /* "ext4" */
	char options[1024]; /* of the mount and of the file system, cut where too long */
	char point[1024];   /* where it is mounted */
};

/*
 * What the open file or directory @fd lies on, by /proc/self/mountinfo. False: not to be
 * found there (a private mount). @root as in sys/sysfile.h.
 */
bool mount_describe(const char *root, int fd, struct mount_info *info);
/* The same by an open mountinfo, of the namespace that @fd is from. */
bool mount_find(FILE *mountinfo, const char *root, int fd, struct mount_info *info);
/*
 * The value of "@key=" in a comma-separated list of options; false: not in it. "" for a
 * bare key.
 */
bool mount_option(const char *options, const char *key, char *value, size_t size);

#endif
