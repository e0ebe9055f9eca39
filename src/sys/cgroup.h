/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where this process's control group is, for one controller: version 1, version 2, and
 * hybrids of both, also in containers, where the path that the kernel tells and the
 * directories that are mounted need not agree.
 */
#ifndef SYS_CGROUP_H
#define SYS_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cgroup {
	int version;	     /* 1 or 2; 0: none was found */
	char path[PATH_MAX]; /* its directory, without @root */
	size_t mount_len;    /* the mount point's part of @path: ancestors end there */
	const char *root;    /* as given, not copied */
};

/*
 * Finds the group of this process for @controller ("memory", "cpu") by /proc/self/cgroup
 * and /proc/self/mountinfo: in the version 1 hierarchy that has the controller, else in
 * version 2 if it has. @root is put before every path ("" for the real ones). False, with
 * @cgroup->version 0, when neither has it or it is not mounted.
 */
bool cgroup_find(struct cgroup *cgroup, const char *controller, const char *root);

/* Steps to the parent; false, without a step, at the mount point. */
bool cgroup_parent(struct cgroup *cgroup);

/*
 * The first line of file @name of the group, without its newline; false and "": there is
 * none.
 */
bool cgroup_read(const struct cgroup *cgroup, const char *name, char *line, size_t size);

/* The number in file @name; false when there is no file or no number in it ("max"). */
bool cgroup_read_number(const struct cgroup *cgroup, const char *name, uint64_t *value);

/* The number after "@key " in file @name; false when there is none. */
bool cgroup_read_key(const struct cgroup *cgroup, const char *name, const char *key,
		     uint64_t *value);

#endif
