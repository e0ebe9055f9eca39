/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/topo_source.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/topo.h"

/*
 * The most CPUs that a Linux kernel can be built for. hwloc's time for a synthetic
 * description grows with the square of them: 8192 take 1.4 s (in one package 14 s), 16384
 * already 11 s.
 */
#define MAX_SYNTHETIC_CPUS 8192

/*
 * CPUs of a synthetic description: the product of its counts; attributes and attached
 * objects do not count.
 */
static uint64_t synthetic_cpus(const char *s)
{
	uint64_t product = 1;
	unsigned depth = 0;
	char before = ' ';

	while (*s) {
		if (*s == '(' || *s == '[') {
			depth++;
		} else if (*s == ')' || *s == ']') {
			depth -= depth > 0;
		} else if (!depth && isdigit((unsigned char)*s) &&
			   strchr(" \t:", before)) {
			char *end;
			uint64_t count = strtoull(s, &end, 10);

			if (__builtin_mul_overflow(product, count, &product))
				return UINT64_MAX;
			before = '0';
			s = end;
			continue;
		}
		before = *s++;
	}
	return product;
}

int topo_source_kind(const char *source, enum topo_source *kind, struct reason *why)
{
	struct stat st;
	size_t len;

	*kind = TOPO_SOURCE_MACHINE;
	if (!source)
		return 0;

	if (!stat(source, &st)) {
		*kind = TOPO_SOURCE_XML;
		if (!S_ISREG(st.st_mode))
			return reason_set(why, -EINVAL,
					  "topology '%s': not a regular file", source);
		if (access(source, R_OK))
			return reason_set(why, -errno, "topology '%s': %s", source,
					  strerror(errno));
		return 0;
	}

	len = strlen(source);
	if (strchr(source, '/') || (len > 4 && !strcmp(source + len - 4, ".xml")))
		return reason_set(why, -ENOENT, "topology '%s': no such file", source);
	*kind = TOPO_SOURCE_SYNTHETIC;
	if (synthetic_cpus(source) > MAX_SYNTHETIC_CPUS)
		return reason_set(why, -EINVAL, "topology '%s': more than %u CPUs",
				  source, MAX_SYNTHETIC_CPUS);
	return 0;
}

int topo_source_check(const struct topo *topo, const char *source, struct reason *why)
{
	for (unsigned i = 0; i < topo->nr_nodes; i++) {
		unsigned nid = topo->nodes[i].nid;

		if (nid > INT_MAX)
			return reason_set(why, -EINVAL,
					  "topology '%s': a node has the number %u",
					  source ? source : "this machine", nid);
		if (i && topo->nodes[i - 1].nid == nid)
			return reason_set(why, -EINVAL,
					  "topology '%s': two nodes have the number %u",
					  source ? source : "this machine", nid);
	}
	return 0;
}

bool topo_affinity_is_readable(void)
{
	cpu_set_t set;

	/* EINVAL: only too small */
	return !sched_getaffinity(0, sizeof(set), &set) || errno == EINVAL;
}

bool topo_x86_is_wanted(void)
{
	return topo_affinity_is_readable() &&
	       access("/sys/devices/system/cpu/cpu0/topology", F_OK);
}

bool topo_nodes_are_masked(void)
{
	DIR *dir = opendir("/sys/devices/system/node");
	struct dirent *entry;
	bool found = false;

	if (!dir)
		return false;
	while (!found && (entry = readdir(dir)))
		found = !strncmp(entry->d_name, "node", 4) &&
			isdigit((unsigned char)entry->d_name[4]);
	closedir(dir);
	return !found;
}

const char *topo_missing_of_machine(bool told)
{
	if (!told)
		return "hwloc was told to show another machine than this one (HWLOC_XMLFILE, "
		       "HWLOC_SYNTHETIC or the like in the environment; unset them): workers "
		       "cannot be bound";
	if (access("/sys/devices/system/cpu/online", F_OK))
		return "the kernel tells nothing of CPUs (nothing in "
		       "/sys/devices/system/cpu): packages, cores and nodes may be "
		       "others";
	if (access("/sys/devices/system/node/online", F_OK))
		return "the kernel tells no NUMA nodes (nothing in "
		       "/sys/devices/system/node): all CPUs and memory count as one node";
	return NULL;
}
