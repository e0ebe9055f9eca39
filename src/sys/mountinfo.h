/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of /proc/PID/mountinfo. */
#ifndef SYS_MOUNTINFO_H
#define SYS_MOUNTINFO_H

#include <stdbool.h>

/* One line, cut in place. */
struct mountinfo {
	int id;
	unsigned major, minor; /* st_dev of most of the files on it */
	char *root;	       /* directory of the file system that is mounted */
	char *point;	       /* where */
	char *mount_options;   /* of the mount: "rw,noatime" */
	char *type;	       /* "cgroup", "cgroup2" */
	char *options;	       /* of the file system: "rw,cpu,cpuacct" */
};

/*
 * proc(5): "36 35 98:0 /root /point rw,noatime master:1 - type source rw,options"; the
 * optional fields before the dash are any number. Octal escapes are undone. False: no such line.
 */
bool mountinfo_parse(char *line, struct mountinfo *mount);

#endif
