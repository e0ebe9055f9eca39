/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tmpfs of this process alone. */
#ifndef SYS_TMPFS_H
#define SYS_TMPFS_H

#include "base/reason.h"

/*
 * Mounts a tmpfs with @options ("huge=always,size=1g") in a mount namespace of its own, which a
 * child makes and leaves behind – in a user namespace where this process may not mount – and
 * returns a descriptor of its root directory. Nobody else can see the mount; it is gone
 * when the last descriptor of it, or of a file on it, is closed, however the process
 * ends. *@description gets its type and options as the kernel says them ("tmpfs
 * rw,relatime,size=1048576k,huge=always"), to be freed. -errno with @why: which step was
 * refused and why.
 */
int mount_private_tmpfs(const char *options, char **description, struct reason *why);

#endif
