/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mounts: a private one, and what a directory lies on. */
#ifndef SYS_MOUNT_H
#define SYS_MOUNT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/reason.h"

/*
 * Mounts a tmpfs with @options ("huge=always,size=1g") in a mount namespace of its own, which a
 * child makes and leaves behind – in a user namespace where this process may not mount – and
 * returns a descriptor of its root directory. Nobody else can see the mount; it is gone when the last
 * descriptor of it, or of a file on it, is closed, however the process ends. *@description gets
 * its type and options as the kernel says them ("tmpfs rw,relatime,size=1048576k,huge=always"), to be
 * freed. -errno with @why: which step was refused and why.
 */
int mount_private_tmpfs(const char *options, char **description, struct reason *why);

struct mount_info {
	char type[64];	    /* "ext4" */
	char options[1024]; /* of the mount and of the file system, cut where too long */
	char point[1024];   /* where it is mounted */
};

/* What the open file or directory @fd lies on, by /proc/self/mountinfo. False: not to be found there
 * (a private mount). @root as in sys/sysfile.h. */
bool mount_describe(const char *root, int fd, struct mount_info *info);
/* The value of "@key=" in a comma-separated list of options; false: not in it. "" for a bare key. */
bool mount_option(const char *options, const char *key, char *value, size_t size);

#endif
