/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/meminfo.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/bits.h"
#include "sys/cgroup.h"
#include "sys/sysfile.h"

static void read_machine(struct meminfo *info, const char *root)
{
	FILE *file = sysfile_open(root, "/proc/meminfo");
	unsigned long long kib;
	char line[256];

	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "MemTotal: %llu kB", &kib) == 1)
			info->total = (uint64_t)kib << 10;
		else if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			info->available = (uint64_t)kib << 10;
	}
	fclose(file);
}

/* File pages of the group that the kernel takes back first when the limit is reached. */
static uint64_t reclaimable(const struct cgroup *cgroup)
{
	uint64_t bytes;

	/* Version 1 leaves a group's children out, but for the keys with "total_". */
	if (cgroup->version == 1 &&
	    cgroup_read_key(cgroup, "memory.stat", "total_inactive_file", &bytes))
		return bytes;
	if (cgroup_read_key(cgroup, "memory.stat", "inactive_file", &bytes))
		return bytes;
	return 0;
}

/* Takes the limit of one group into account, if it has one. */
static void read_limit(struct meminfo *info, const struct cgroup *cgroup)
{
	const bool v1 = cgroup->version == 1;
	uint64_t limit, usage, most, left;

	if (!cgroup_read_number(cgroup, v1 ? "memory.limit_in_bytes" : "memory.max",
				&limit))
		return;
	/*
	 * Version 1 has no word for "none" but the largest long, rounded down to a page.
	 */
	if (limit >= INT64_MAX - (1 << 20))
		return;
	if (!cgroup_read_number(cgroup, v1 ? "memory.usage_in_bytes" : "memory.current",
				&usage))
		usage = 0;
	if (__builtin_add_overflow(limit, reclaimable(cgroup), &most))
		most = UINT64_MAX;
	left = usage < most ? most - usage : 0;
	if (left > limit)
		left = limit;

	if (limit < info->cgroup_limit)
		info->cgroup_limit = limit;
	if (left < info->cgroup_left) {
		info->cgroup_left = left;
		snprintf(info->cgroup_path, sizeof(info->cgroup_path), "%s",
			 cgroup->path);
	}
}

static void read_cgroup(struct meminfo *info, const char *root)
{
	struct cgroup cgroup;
	uint64_t hierarchy;

	if (!cgroup_find(&cgroup, "memory", root))
		return;
	info->cgroup_version = cgroup.version;
	do {
		read_limit(info, &cgroup);
		if (!cgroup_parent(&cgroup))
			break;
		/*
		 * Before Linux 5.11 a version 1 group could choose not to count its
		 * children.
		 */
	} while (!cgroup_read_number(&cgroup, "memory.use_hierarchy", &hierarchy) ||
		 hierarchy);
}

static void read_rlimit(struct meminfo *info, const char *root)
{
	uint64_t pages = 0, mapped;
	struct rlimit rlimit;
	char line[128];

	if (getrlimit(RLIMIT_AS, &rlimit) || rlimit.rlim_cur == RLIM_INFINITY)
		return;
	if (sysfile_line(root, "/proc/self/statm", line, sizeof(line)))
		sysfile_number(line, &pages);
	mapped = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	info->rlimit_as = mapped < rlimit.rlim_cur ? rlimit.rlim_cur - mapped : 0;
}

/* Of one node; MEM_UNLIMITED: unknown. */
static uint64_t node_available(unsigned nid, const char *root)
{
	static const char *const keys[] = { "MemFree:", "Active(file):",
					    "Inactive(file):" };
	unsigned long long kib;
	uint64_t bytes = 0;
	unsigned nr = 0;
	char line[256], key[64];
	FILE *file;

	file = sysfile_open(root, "/sys/devices/system/node/node%u/meminfo", nid);
	if (!file)
		return MEM_UNLIMITED;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Node %*u %63s %llu kB", key, &kib) != 2)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			if (strcmp(key, keys[i]))
				continue;
			bytes += (uint64_t)kib << 10;
			nr++;
		}
	}
	fclose(file);
	return nr ? bytes : MEM_UNLIMITED;
}

uint64_t meminfo_nodes_available(const unsigned *nids, unsigned nr, const char *root)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < nr; i++) {
		uint64_t bytes = node_available(nids[i], root);

		if (bytes == MEM_UNLIMITED || __builtin_add_overflow(sum, bytes, &sum))
			return MEM_UNLIMITED;
	}
	return nr ? sum : MEM_UNLIMITED;
}

void meminfo_read(struct meminfo *info, const char *root)
{
	*info = (struct meminfo){
		.total = MEM_UNLIMITED,
		.available = MEM_UNLIMITED,
		.cgroup_limit = MEM_UNLIMITED,
		.cgroup_left = MEM_UNLIMITED,
		.rlimit_as = MEM_UNLIMITED,
	};
	read_machine(info, root);
	read_cgroup(info, root);
	read_rlimit(info, root);
}
