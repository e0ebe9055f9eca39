/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory limits on made-up machines: control groups of both versions, in and out of
 * containers.
 */
#include "sys/meminfo.h"

#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include "madeup.h"
#include "sys/cgroup.h"
#include "tap.h"

#define MIB	1048576ull
#define NONE_V1 "9223372036854771712\n"

static struct meminfo info;

static void check(uint64_t limit, uint64_t left, int version, const char *path,
		  const char *name)
{
	meminfo_read(&info, madeup_root);
	if (!ok(info.cgroup_limit == limit && info.cgroup_left == left &&
			info.cgroup_version == version && !strcmp(info.cgroup_path, path),
		"%s", name))
		printf("#      got: limit %llu left %llu version %d path '%s'\n"
		       "# expected: limit %llu left %llu version %d path '%s'\n",
		       (unsigned long long)info.cgroup_limit,
		       (unsigned long long)info.cgroup_left, info.cgroup_version,
		       info.cgroup_path, (unsigned long long)limit,
		       (unsigned long long)left, version, path);
}

static void check_unlimited(int version, const char *name)
{
	check(MEM_UNLIMITED, MEM_UNLIMITED, version, "", name);
}

/* A group with its limit and usage, by the files of either version. */
static void group(int version, const char *dir, const char *limit, const char *usage,
		  const char *stat)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir,
		 version == 1 ? "memory.limit_in_bytes" : "memory.max");
	madeup(path, limit);
	snprintf(path, sizeof(path), "%s/%s", dir,
		 version == 1 ? "memory.usage_in_bytes" : "memory.current");
	if (usage)
		madeup(path, usage);
	snprintf(path, sizeof(path), "%s/memory.stat", dir);
	if (stat)
		madeup(path, stat);
	if (version == 2) {
		snprintf(path, sizeof(path), "%s/cgroup.controllers", dir);
		madeup(path, "cpuset cpu io memory pids\n");
	}
}

static void machine_memory(void)
{
	madeup_clear();
	meminfo_read(&info, madeup_root);
	ok(info.total == MEM_UNLIMITED && info.available == MEM_UNLIMITED,
	   "no /proc/meminfo: unknown");
	check_unlimited(0, "no files at all: no limit");
	madeup("/proc/meminfo",
	       "MemTotal:       16303428 kB\nMemFree:         9000000 kB\n"
	       "MemAvailable:   12000000 kB\nBuffers:              12 kB\n");
	meminfo_read(&info, madeup_root);
	ok(info.total == 16303428ull << 10 && info.available == 12000000ull << 10,
	   "MemTotal and MemAvailable in bytes");
	madeup("/proc/meminfo", "MemTotal: 100 kB\nMemFree: 50 kB\n");
	meminfo_read(&info, madeup_root);
	ok(info.total == 100 << 10 && info.available == MEM_UNLIMITED,
	   "a kernel without MemAvailable: unknown");
}

static void version_2(void)
{
	madeup_clear();
	madeup("/proc/self/cgroup", "0::/user.slice/app.scope\n");
	madeup("/proc/self/mountinfo",
	       "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
	       "31 23 0:28 / /sys/fs/cgroup rw shared:4 - cgroup2 x rw,nsdelegate\n");
	madeup("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
	group(2, "/sys/fs/cgroup/user.slice/app.scope", "104857600\n", "31457280\n",
	      "anon 1000\nfile 5000000\ninactive_anon 7\nactive_file 9\n"
	      "inactive_file 2097152\n");
	check(100 * MIB, 72 * MIB, 2, "/sys/fs/cgroup/user.slice/app.scope",
	      "v2: limit - usage + inactive file cache");
	group(2, "/sys/fs/cgroup/user.slice", "max\n", "209715200\n", NULL);
	check(100 * MIB, 72 * MIB, 2, "/sys/fs/cgroup/user.slice/app.scope",
	      "v2: max is no limit");
	group(2, "/sys/fs/cgroup/user.slice", "83886080\n", "41943040\n", NULL);
	check(80 * MIB, 40 * MIB, 2, "/sys/fs/cgroup/user.slice",
	      "v2: a tighter ancestor");
	group(2, "/sys/fs/cgroup/user.slice", "1073741824\n", "1071644672\n", NULL);
	check(100 * MIB, 2 * MIB, 2, "/sys/fs/cgroup/user.slice",
	      "v2: a wide ancestor that others have filled leaves less, and is named");
	group(2, "/sys/fs/cgroup/user.slice", "max\n", NULL, NULL);
	group(2, "/sys/fs/cgroup/user.slice/app.scope", "104857600\n", "125829120\n",
	      "inactive_file 1048576\n");
	check(100 * MIB, 0, 2, "/sys/fs/cgroup/user.slice/app.scope",
	      "v2: more in use than allowed leaves nothing");
	group(2, "/sys/fs/cgroup/user.slice/app.scope", "104857600\n", "1048576\n",
	      "inactive_file 99999999999999999999999\n");
	check(100 * MIB, 100 * MIB, 2, "/sys/fs/cgroup/user.slice/app.scope",
	      "v2: never more left than the limit");
	group(2, "/sys/fs/cgroup/user.slice/app.scope", "max\n", "1\n", NULL);
	check_unlimited(2, "v2: max everywhere");
	group(2, "/sys/fs/cgroup/user.slice/app.scope", "0\n", "0\n", NULL);
	check(0, 0, 2, "/sys/fs/cgroup/user.slice/app.scope", "v2: a limit of nothing");
	group(2, "/sys/fs/cgroup/user.slice/app.scope", "garbage\n", "1\n", NULL);
	check_unlimited(2, "v2: what is no number is no limit");
}

static void version_1(void)
{
	madeup_clear();
	madeup("/proc/self/cgroup",
	       "5:cpu,cpuacct:/other\n4:memory:/outer/inner\n1:name=x:/\n");
	madeup("/proc/self/mountinfo",
	       "33 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
	       "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
	group(1, "/sys/fs/cgroup/memory", NONE_V1, "5000000000\n", NULL);
	group(1, "/sys/fs/cgroup/memory/outer", NONE_V1, "5000000000\n", NULL);
	group(1, "/sys/fs/cgroup/memory/outer/inner", "104857600\n", "52428800\n",
	      "cache 1\ninactive_file 4096\ntotal_cache 8\n"
	      "total_inactive_file 10485760\n");
	check(100 * MIB, 60 * MIB, 1, "/sys/fs/cgroup/memory/outer/inner",
	      "v1: limit - usage + inactive file cache of all children");
	group(1, "/sys/fs/cgroup/memory/outer", "62914560\n", "52428800\n",
	      "inactive_file 1048576\n");
	check(60 * MIB, 11 * MIB, 1, "/sys/fs/cgroup/memory/outer",
	      "v1: a tighter ancestor");
	madeup("/sys/fs/cgroup/memory/outer/memory.use_hierarchy", "0\n");
	check(100 * MIB, 60 * MIB, 1, "/sys/fs/cgroup/memory/outer/inner",
	      "v1: an ancestor that does not count its children does not limit them");
	madeup("/sys/fs/cgroup/memory/outer/memory.use_hierarchy", "1\n");
	group(1, "/sys/fs/cgroup/memory/outer", NONE_V1, "1\n", NULL);
	group(1, "/sys/fs/cgroup/memory/outer/inner", NONE_V1, "1\n", NULL);
	check_unlimited(1, "v1: the huge number is no limit");
	group(1, "/sys/fs/cgroup/memory/outer/inner", "9223372036854710272\n", "1\n",
	      NULL);
	check_unlimited(1, "v1: neither is that of 64 KiB pages");
	madeup("/proc/self/cgroup", "4:memory:/outer/inner:with:colons\n");
	group(1, "/sys/fs/cgroup/memory/outer/inner:with:colons", "1048576\n", "0\n",
	      NULL);
	check(MIB, MIB, 1, "/sys/fs/cgroup/memory/outer/inner:with:colons",
	      "v1: colons in the path");
}

/*
 * Version 1 has the memory controller and version 2 is mounted beside it, or the other
 * way round.
 */
static void hybrid(void)
{
	madeup_clear();
	madeup("/proc/self/cgroup", "4:memory:/job\n1:cpu:/\n0::/job2\n");
	madeup("/proc/self/mountinfo",
	       "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
	       "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
	       "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
	group(1, "/sys/fs/cgroup/memory/job", "2097152\n", "1048576\n", NULL);
	madeup("/sys/fs/cgroup/unified/job2/cgroup.controllers", "\n");
	madeup("/sys/fs/cgroup/unified/cgroup.controllers", "pids\n");
	check(2 * MIB, MIB, 1, "/sys/fs/cgroup/memory/job",
	      "hybrid: memory by version 1");

	madeup("/proc/self/cgroup", "1:cpu:/\n0::/job2\n");
	check_unlimited(0, "hybrid: no version has the memory controller");
	madeup("/sys/fs/cgroup/unified/cgroup.controllers", "pids memory\n");
	check_unlimited(2, "hybrid: version 2 has it above, and sets no limit");
	madeup("/sys/fs/cgroup/unified/job2/memory.max", "3145728\n");
	check(3 * MIB, 3 * MIB, 2, "/sys/fs/cgroup/unified/job2",
	      "hybrid: memory by version 2");

	madeup("/proc/self/cgroup", "4:memory:/job\n0::/job2\n");
	madeup("/proc/self/mountinfo",
	       "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
	check(3 * MIB, 3 * MIB, 2, "/sys/fs/cgroup/unified/job2",
	      "hybrid: version 1 is not mounted");
	madeup("/proc/self/cgroup", "4:memoryless,xmemory:/job\n");
	madeup("/proc/self/mountinfo",
	       "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
	check_unlimited(0, "hybrid: controllers whose names contain the word are others");
	madeup("/proc/self/cgroup", "4:memory:/job\n");
	madeup("/proc/self/mountinfo",
	       "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup x rw,memoryx,xmemory\n");
	check_unlimited(0, "hybrid: and so are mounts");
}

static void containers(void)
{
	madeup_clear();
	/* The host's path, and only the container's own group mounted. */
	madeup("/proc/self/cgroup", "4:memory:/docker/abc/sub\n");
	madeup("/proc/self/mountinfo",
	       "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup x rw,memory\n");
	group(1, "/sys/fs/cgroup/memory", "8388608\n", "4194304\n", NULL);
	group(1, "/sys/fs/cgroup/memory/sub", "2097152\n", "1048576\n", NULL);
	check(2 * MIB, MIB, 1, "/sys/fs/cgroup/memory/sub",
	      "container: the mount's root is not part of the path");
	madeup("/proc/self/cgroup", "4:memory:/docker/abc\n");
	check(8 * MIB, 4 * MIB, 1, "/sys/fs/cgroup/memory",
	      "container: the mount is the group");
	madeup("/proc/self/cgroup", "4:memory:/docker/abcdef/sub\n");
	madeup("/sys/fs/cgroup/memorydef/sub/memory.limit_in_bytes", "1\n");
	check(8 * MIB, 4 * MIB, 1, "/sys/fs/cgroup/memory",
	      "container: a name that begins alike is another group");
	madeup("/proc/self/cgroup", "4:memory:/kubepods/pod1/abc\n");
	check(8 * MIB, 4 * MIB, 1, "/sys/fs/cgroup/memory",
	      "container: a path that does not exist is the mount");

	/* In a cgroup namespace, but the process was moved out of it. */
	madeup("/proc/self/cgroup", "0::/../../elsewhere\n");
	madeup("/proc/self/mountinfo",
	       "31 23 0:28 / /sys/fs/cgroup ro - cgroup2 cgroup rw,nsdelegate\n");
	group(2, "/sys/fs/cgroup", "4194304\n", "0\n", NULL);
	madeup("/elsewhere/memory.max", "1\n");
	madeup("/sys/elsewhere/memory.max", "1\n");
	check(4 * MIB, 4 * MIB, 2, "/sys/fs/cgroup",
	      "container: a path outside the namespace");
	madeup("/proc/self/cgroup", "0::/\n");
	check(4 * MIB, 4 * MIB, 2, "/sys/fs/cgroup",
	      "container: its own root has a limit");

	/* Mounted twice: the one that has the path counts. */
	madeup("/proc/self/cgroup", "0::/a/b\n");
	madeup("/proc/self/mountinfo",
	       "30 23 0:28 /c /mnt rw - cgroup2 cgroup rw\n"
	       "31 23 0:28 /a /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
	madeup("/mnt/memory.max", "1\n");
	group(2, "/sys/fs/cgroup/b", "1048576\n", "0\n", NULL);
	check(MIB, MIB, 2, "/sys/fs/cgroup/b", "container: the mount that has the path");
}

static void odd_names(void)
{
	madeup_clear();
	madeup("/proc/self/cgroup", "0::/with blank and \\ more\n");
	madeup("/proc/self/mountinfo",
	       "30 23 0:28\n"
	       "31 23 0:28 / /mnt/my\\040groups rw master:1 x:2 - cgroup2 none rw\n"
	       "32 23 0:28 / /dash - fs rw - tmpfs x y\n");
	madeup("/mnt/my groups/cgroup.controllers", "memory\n");
	group(2, "/mnt/my groups/with blank and \\ more", "1048576\n", "0\n", NULL);
	check(MIB, MIB, 2, "/mnt/my groups/with blank and \\ more", "blanks in names");

	madeup("/proc/self/mountinfo", "");
	check_unlimited(0, "an empty mountinfo");
	madeup("/proc/self/cgroup", "");
	check_unlimited(0, "an empty cgroup file");
	madeup("/proc/self/cgroup", "no colons\n0:only one\n\n:::\n");
	check_unlimited(0, "damaged lines");
	madeup("/proc/self/cgroup", "0::/a");
	madeup("/proc/self/mountinfo", "1 2 3 / /m rw - cgroup2 c rw");
	madeup("/m/a/memory.max", "4096");
	madeup("/m/a/cgroup.controllers", "memory");
	check(4096, 4096, 2, "/m/a", "no newline at the end");
}

static void parents(void)
{
	struct cgroup cgroup;
	unsigned steps = 0;

	madeup_clear();
	madeup("/proc/self/cgroup", "0::/a/b/c\n");
	madeup("/proc/self/mountinfo", "1 2 3 / /mount/point rw - cgroup2 c rw\n");
	group(2, "/mount/point/a/b/c", "1\n", NULL, NULL);
	ok(cgroup_find(&cgroup, "memory", madeup_root), "a group is found");
	while (cgroup_parent(&cgroup))
		steps++;
	ok(steps == 3 && !strcmp(cgroup.path, "/mount/point"),
	   "its ancestors end at the mount point (%u)", steps);
	ok(!cgroup_find(&cgroup, "hugetlb", madeup_root) && !cgroup.version,
	   "a controller that is not there is not found");
}

static void address_space(void)
{
	struct rlimit limit = { 0 }, saved;

	madeup_clear();
	meminfo_read(&info, madeup_root);
	getrlimit(RLIMIT_AS, &saved);
	if (saved.rlim_cur != RLIM_INFINITY)
		skip("RLIMIT_AS is set here", 1);
	else
		ok(info.rlimit_as == MEM_UNLIMITED, "no RLIMIT_AS: no limit");

	/* More than is mapped, also with a sanitizer. */
	limit.rlim_cur = (rlim_t)1 << 60;
	limit.rlim_max = saved.rlim_max;
	if (setrlimit(RLIMIT_AS, &limit)) {
		skip("RLIMIT_AS cannot be set", 3);
		return;
	}
	meminfo_read(&info, madeup_root);
	ok(info.rlimit_as == (uint64_t)1 << 60, "RLIMIT_AS counts");
	madeup("/proc/self/statm", "256 10 5 1 0 20 0\n");
	meminfo_read(&info, madeup_root);
	ok(info.rlimit_as == ((uint64_t)1 << 60) - 256 * (uint64_t)sysconf(_SC_PAGESIZE),
	   "less what is mapped");
	madeup("/proc/self/statm", "1125899906842624 10 5\n");
	meminfo_read(&info, madeup_root);
	ok(info.rlimit_as == 0, "never negative");
	setrlimit(RLIMIT_AS, &saved);
}

static void nodes(void)
{
	static const unsigned nids[] = { 0, 3 };

	madeup_clear();
	madeup("/sys/devices/system/node/node0/meminfo",
	       "Node 0 MemTotal:       100000 kB\nNode 0 MemFree:         50000 kB\n"
	       "Node 0 Active(anon):     7000 kB\nNode 0 Inactive(file):   2000 kB\n"
	       "Node 0 Active(file):      100 kB\n");
	ok(meminfo_nodes_available(nids, 1, madeup_root) == 52100 << 10,
	   "of a node: what is free, and file pages");
	ok(meminfo_nodes_available(nids, 2, madeup_root) == MEM_UNLIMITED,
	   "a node that does not tell has no limit");
	madeup("/sys/devices/system/node/node3/meminfo", "Node 3 MemFree: 1 kB\n");
	ok(meminfo_nodes_available(nids, 2, madeup_root) == 52101 << 10, "nodes add up");
	madeup("/sys/devices/system/node/node3/meminfo", "what?\n");
	ok(meminfo_nodes_available(nids, 2, madeup_root) == MEM_UNLIMITED &&
		   meminfo_nodes_available(nids, 0, madeup_root) == MEM_UNLIMITED,
	   "nothing that can be read, no nodes: no limit");
}

static void this_machine(void)
{
	meminfo_read(&info, "");
	ok(info.total && info.total >= 1 << 20 && info.available <= info.total,
	   "this machine has %llu MiB of %llu",
	   (unsigned long long)(info.available >> 20),
	   (unsigned long long)(info.total >> 20));
	ok(info.cgroup_left <= info.cgroup_limit, "this process's group");
}

int main(void)
{
	machine_memory();
	version_2();
	version_1();
	hybrid();
	containers();
	odd_names();
	parents();
	address_space();
	nodes();
	this_machine();
	madeup_end();
	return done();
}
