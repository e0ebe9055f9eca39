/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine as hwloc sees it, reduced to what pagezone needs. The only file that
 * includes hwloc.h is topo.c. CPU and node numbers are the operating system's; cpu and
 * node counts are not bounded (hwloc bitmaps, never a cpu_set_t). plan.c works on the
 * plain arrays alone, so that tests can make a struct topo by hand.
 */
#ifndef SYS_TOPO_H
#define SYS_TOPO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/reason.h"
#include "sys/pin.h"

struct topo_cpu {
	unsigned cpu;		/* OS number */
	unsigned package, core; /* logical numbers, machine-wide, from 0 */
	unsigned smt;		/* which of the allowed siblings of its core, from 0 */
	unsigned node;		/* OS number of the one node it belongs to */
	unsigned mem_node;	/* the node its memory comes from: topo_mem_node(node) */
	unsigned kind;		/* position in kinds; UINT_MAX: in none */
};

struct topo_node {
	unsigned nid;	  /* OS number */
	unsigned package; /* logical number of the one it is in; UINT_MAX: none */
	uint64_t memory;  /* bytes in all, not free ones; 0: a node without memory */
	bool allowed;	  /* the process may take memory from it (cpuset.mems) */
	unsigned nr_cpus; /* its allowed CPUs; 0: memory only, or none allowed */
	unsigned nr_online_cpus; /* allowed or not */
};

/* CPUs of one kind, on hybrid machines ("performance" and "efficient" cores). */
struct topo_kind {
	char *name;	  /* what the system calls it, "IntelCore"; "": nothing */
	int efficiency;	  /* rank by power, more is faster and hungrier; -1: unknown */
	unsigned max_mhz; /* 0: unknown */
	unsigned nr_cpus; /* allowed ones */
};

/* Data and unified caches of one level that are alike. */
struct topo_cache {
	unsigned level;
	bool is_data;	  /* else for data and instructions */
	uint64_t bytes;	  /* of each; 0: unknown */
	unsigned nr;	  /* how many */
	unsigned nr_cpus; /* online CPUs that share one */
};

struct topo {
	struct topo_cpu *cpus; /* allowed, in topology order: package, node, core, smt */
	unsigned nr_cpus;
	struct topo_node *nodes; /* ascending nid; of the machine, allowed or not */
	unsigned nr_nodes;
	unsigned *distances;	 /* [from * nr_nodes + to], by position; NULL: unknown */
	struct topo_kind *kinds; /* by efficiency; with none all CPUs are alike */
	unsigned nr_kinds;
	struct topo_cache *caches; /* from the last level to the first */
	unsigned nr_caches;
	unsigned nr_packages, nr_cores; /* that have allowed CPUs */
	unsigned nr_machine_cpus;	/* online ones of the machine, allowed or not */
	bool is_this_machine;		/* false: for planning only */
	char *allowed_list;		/* "0-3,8", for people */
	char *offline_list;		/* the same of CPUs that are off; "": none is */
	const char *missing;		/* what the system does not tell; NULL: nothing */
	void *hwloc;			/* hwloc_topology_t */
};

/*
 * Loads this machine (@source NULL), or another one for planning: an hwloc synthetic
 * string ("pack:4 numa:1 core:10 pu:2", at most 8192 CPUs) or the path of an XML file. On
 * this machine only CPUs that the calling thread may use count (affinity mask, cpuset):
 * call it before binding. 0; -EINVAL, -ENOENT, -ENOMEM with @why, which names the source.
 *
 * Each CPU belongs to exactly one node: on this machine the one that the kernel lists it
 * under, else the tightest that is local to it, of equals the one with the lowest number
 * (hwloc calls a memory-only node local to its nearest node's CPUs, too).
 */
int topo_load(struct topo **topo, const char *source, struct reason *why);
void topo_free(struct topo *topo);

/* Distance of nodes @from and @to as the firmware tells it (10: itself); 0: unknown. */
unsigned topo_distance(const struct topo *topo, unsigned from, unsigned to);
/*
 * Where memory for a CPU of node @nid comes from: @nid, or, when that has no memory or
 * none of it is allowed, the nearest node with some: by distance; where that is unknown
 * or equal, one of the same package, then the lowest number. @nid when no node has any.
 */
unsigned topo_mem_node(const struct topo *topo, unsigned nid);

/* NULL: no such CPU, or it is not allowed. */
const struct topo_cpu *topo_find_cpu(const struct topo *topo, unsigned cpu);
/* NULL: no such node; it may be one that is not allowed. */
const struct topo_node *topo_find_node(const struct topo *topo, unsigned nid);
/* Numbers of the nodes that @is_wanted, ascending, *@nr of them, to be freed. NULL: no memory. */
unsigned *topo_list_nodes(const struct topo *topo,
			  bool (*is_wanted)(const struct topo_node *), unsigned *nr);
/* -EINVAL with @why: "node 3 @what; allowed are 0-1", of those that are @is_allowed. */
int topo_refuse_node(const struct topo *topo, unsigned nid, const char *what,
		     bool (*is_allowed)(const struct topo_node *), struct reason *why);

enum topo_cpu_state {
	TOPO_CPU_ABSENT,
	TOPO_CPU_OFFLINE,
	TOPO_CPU_FORBIDDEN, /* by the affinity mask or the cpuset */
	TOPO_CPU_ALLOWED,
};

enum topo_cpu_state topo_cpu_state(const struct topo *topo, unsigned cpu);

/*
 * Binds the calling thread to @cpu. 0 or -errno (-EPERM, -ENOSYS in containers, -EINVAL
 * for a CPU that is offline or not allowed, -ENOSYS also when @topo is not this machine).
 */
int topo_bind_thread(const struct topo *topo, unsigned cpu);

/* Where a worker runs and where its memory comes from; -1: where the system puts it. */
struct placement {
	int cpu, node, mem_node;
	int package, core;
};

/*
 * The plan: placements[worker] for @nr workers; pure: depends on nothing but its
 * arguments.
 *
 * PIN_SPREAD takes one CPU of every node in turn, the nodes of different packages
 * alternating; within a node cores come before SMT siblings and packages alternate,
 * should it span several. A node that has no CPU left drops out. So four workers land on
 * four packages, packages and nodes are balanced within one worker for as long as they
 * have CPUs left, and siblings come when the cores of their node are used up. PIN_COMPACT
 * fills in topology order: siblings, cores, nodes, packages. Either uses no CPU twice
 * before each was used once, and starts over then.
 *
 * PIN_NODES is PIN_SPREAD over the CPUs of the nodes of @pin's list alone, whatever the
 * order of the list. PIN_CPUS takes the CPUs of the list in the list's order, and starts
 * over at its end; one that is listed twice is used twice. PIN_NONE: all -1.
 *
 * Nodes without CPUs get no worker; workers of a node without memory get the nearest
 * node's. A plan for fewer workers is the beginning of one for more. 0; -EINVAL when
 * there is no CPU to use, or when pin_check() would fail; -ENOMEM.
 */
int topo_plan(const struct topo *topo, const struct pin *pin, unsigned nr,
	      struct placement *placements);

/* How many CPUs the workers of this plan run on; unbound ones may use all. */
unsigned topo_cpus_in_use(const struct topo *topo, const struct placement *placements,
			  unsigned nr);

/*
 * Whether workers of this plan run, or with PIN_NONE may run, on CPUs of different kinds;
 * then @what says how many on which.
 */
bool topo_kinds_differ(const struct topo *topo, const struct placement *placements,
		       unsigned nr, struct reason *what);

#endif
