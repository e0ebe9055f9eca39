/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What must hold of a plan, whatever the machine. For the tests of plans. */
#ifndef UNIT_PLAN_PROPERTIES_H
#define UNIT_PLAN_PROPERTIES_H

#include <stdbool.h>
#include <stdlib.h>

#include "sys/topo.h"

#define MAX_NODES 64

/* Position of the node, so that counts can be kept in an array. */
static inline unsigned node_at(const struct topo *topo, int nid)
{
	unsigned i = 0;

	while (i < topo->nr_nodes && (int)topo->nodes[i].nid != nid)
		i++;
	return i;
}

/* Every placement names what its CPU really is, and memory from where there is some. */
static inline bool is_consistent(const struct topo *topo, const struct placement *p,
				 unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		const struct topo_cpu *cpu = topo_find_cpu(topo, (unsigned)p[i].cpu);

		if (!cpu || p[i].node != (int)cpu->node ||
		    p[i].package != (int)cpu->package || p[i].core != (int)cpu->core ||
		    p[i].mem_node != (int)cpu->mem_node)
			return false;
	}
	return true;
}

/* Each of @usable CPUs once in every run of as many workers, in the same order each time. */
static inline bool uses_each_once(unsigned usable, const struct placement *p, unsigned nr)
{
	for (unsigned i = 0; i < usable && i < nr; i++) {
		for (unsigned j = 0; j < i; j++) {
			if (p[i].cpu == p[j].cpu)
				return false;
		}
	}
	for (unsigned i = usable; i < nr; i++) {
		if (p[i].cpu != p[i - usable].cpu)
			return false;
	}
	return true;
}

/*
 * After any number of the first @nr workers no node is two behind another one while it has
 * a free CPU. @nr is at most the number of usable CPUs; @wanted tells of each node whether
 * the plan may use it, NULL: all.
 */
static inline bool nodes_are_balanced(const struct topo *topo, const bool *wanted,
				      const struct placement *p, unsigned nr)
{
	unsigned used[MAX_NODES] = { 0 };

	for (unsigned i = 0; i < nr; i++) {
		unsigned most = 0;

		used[node_at(topo, p[i].node)]++;
		for (unsigned n = 0; n < topo->nr_nodes; n++)
			most = used[n] > most ? used[n] : most;
		for (unsigned n = 0; n < topo->nr_nodes; n++) {
			if ((!wanted || wanted[n]) && used[n] < topo->nodes[n].nr_cpus &&
			    used[n] + 1 < most)
				return false;
		}
	}
	return true;
}

/* The same of packages, where each has as many nodes as the others. */
static inline bool packages_are_balanced(const struct topo *topo,
					 const struct placement *p)
{
	unsigned used[MAX_NODES] = { 0 }, size[MAX_NODES] = { 0 };

	for (unsigned i = 0; i < topo->nr_cpus; i++)
		size[topo->cpus[i].package]++;
	for (unsigned i = 0; i < topo->nr_cpus; i++) {
		unsigned most = 0;

		used[p[i].package]++;
		for (unsigned n = 0; n < MAX_NODES; n++)
			most = used[n] > most ? used[n] : most;
		for (unsigned n = 0; n < MAX_NODES; n++) {
			if (used[n] < size[n] && used[n] + 1 < most)
				return false;
		}
	}
	return true;
}

/* No second sibling of a core while another core of the same node is idle. @nr as above. */
static inline bool siblings_come_last(const struct topo *topo, const struct placement *p,
				      unsigned nr)
{
	unsigned *used = calloc(topo->nr_cpus, sizeof(*used));
	bool good = true;

	/* used[] goes by the position of the core's first CPU. */
	for (unsigned i = 0; i < nr && good; i++) {
		unsigned core = 0;

		while (topo->cpus[core].core != (unsigned)p[i].core)
			core++;
		used[core]++;
		for (unsigned c = 0; c < topo->nr_cpus && good && used[core] > 1; c++) {
			const struct topo_cpu *cpu = &topo->cpus[c];
			unsigned first = 0;

			if ((int)cpu->node != p[i].node)
				continue;
			while (topo->cpus[first].core != cpu->core)
				first++;
			good = used[first] > 0;
		}
	}
	free(used);
	return good;
}

/* Once left, a core, a node of a package and a package are not come back to. @nr as above. */
static inline bool is_compact(const struct placement *p, unsigned nr)
{
	for (unsigned i = 2; i < nr; i++) {
		for (unsigned j = 0; j < i - 1; j++) {
			if (p[j].core == p[i].core && p[i - 1].core != p[i].core)
				return false;
			if (p[j].package == p[i].package &&
			    p[i - 1].package != p[i].package)
				return false;
			if (p[j].package == p[i].package && p[j].node == p[i].node &&
			    p[i - 1].node != p[i].node)
				return false;
		}
	}
	return true;
}

#endif
