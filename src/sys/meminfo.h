/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much memory this process may still take, and who says so. */
#ifndef SYS_MEMINFO_H
#define SYS_MEMINFO_H

#include <limits.h>
#include <stdint.h>

#define MEM_UNLIMITED UINT64_MAX

struct meminfo {
	/* MemTotal and MemAvailable of /proc/meminfo; MEM_UNLIMITED: unknown */
	uint64_t total, available;
	/* The tightest limit of this process's cgroup and its ancestors */
	uint64_t cgroup_limit;
	/*
	 * The least that any of them leaves, not only the tightest: limit - usage +
	 * inactive file cache, from 0 to the limit. Both MEM_UNLIMITED: no limit.
	 */
	uint64_t cgroup_left;
	int cgroup_version;	    /* 1, 2; 0: there is no memory controller */
	char cgroup_path[PATH_MAX]; /* the directory that leaves the least; "": none */
	uint64_t rlimit_as; /* RLIMIT_AS - what is mapped; MEM_UNLIMITED: no limit */
};

/*
 * Reads /proc/meminfo, /proc/self/cgroup, /proc/self/mountinfo and the cgroup files (v1:
 * memory.limit_in_bytes, memory.usage_in_bytes, memory.stat; v2: memory.max,
 * memory.current, memory.stat, but not memory.high, which only slows down), hybrid
 * set-ups included. What cannot be read counts as unlimited. @root is put before every
 * path ("" for the real one): tests pass a made-up tree.
 */
void meminfo_read(struct meminfo *info, const char *root);

/*
 * Bytes that the @nr nodes @nids have free or could have: MemFree and the file pages of
 * /sys/devices/system/node/nodeN/meminfo. MEM_UNLIMITED when one of them does not tell.
 */
uint64_t meminfo_nodes_available(const unsigned *nids, unsigned nr, const char *root);

#endif
