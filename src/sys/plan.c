/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What needs only the plain arrays of a struct topo: no system call, no hwloc. */
#include "sys/topo.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/format.h"

/* A CPU and its place in the order; ranks count from 0. */
struct seat {
	const struct topo_cpu *cpu;
	unsigned smt;  /* rank in its core */
	unsigned core; /* rank of its core in its node's part of its package */
	unsigned turn; /* rank in its node: the round in which it is taken */
	unsigned node; /* rank of its node in its package */
};

static int compare(unsigned a, unsigned b)
{
	return a < b ? -1 : a > b;
}

/* Topology order: package, node, core, sibling. */
static int compare_topology(const void *left, const void *right)
{
	const struct topo_cpu *a = ((const struct seat *)left)->cpu;
	const struct topo_cpu *b = ((const struct seat *)right)->cpu;
	int order = compare(a->package, b->package);

	if (!order)
		order = compare(a->node, b->node);
	if (!order)
		order = compare(a->core, b->core);
	if (!order)
		order = compare(a->smt, b->smt);
	return order ? order : compare(a->cpu, b->cpu);
}

/* By node, and within a node in the order in which its CPUs are taken. */
static int compare_in_node(const void *left, const void *right)
{
	const struct seat *a = left, *b = right;
	int order = compare(a->cpu->node, b->cpu->node);

	if (!order)
		order = compare(a->smt, b->smt);
	if (!order)
		order = compare(a->core, b->core);
	if (!order)
		order = compare(a->cpu->package, b->cpu->package);
	return order ? order : compare(a->cpu->cpu, b->cpu->cpu);
}

/* One CPU of each node a turn: the nodes of different packages alternate. */
static int compare_turns(const void *left, const void *right)
{
	const struct seat *a = left, *b = right;
	int order = compare(a->turn, b->turn);

	if (!order)
		order = compare(a->node, b->node);
	if (!order)
		order = compare(a->cpu->package, b->cpu->package);
	return order ? order : compare(a->cpu->node, b->cpu->node);
}

/* Ranks of siblings and cores; @seats are in topology order. */
static void rank_cores(struct seat *seats, unsigned nr)
{
	for (unsigned i = 1; i < nr; i++) {
		const struct topo_cpu *cpu = seats[i].cpu, *prev = seats[i - 1].cpu;

		if (cpu->package != prev->package || cpu->node != prev->node)
			continue;
		if (cpu->core == prev->core) {
			seats[i].core = seats[i - 1].core;
			seats[i].smt = seats[i - 1].smt + 1;
		} else {
			seats[i].core = seats[i - 1].core + 1;
		}
	}
}

/* Rank of each node, in each of its packages; @seats are in topology order. */
static void rank_nodes(struct seat *seats, unsigned nr)
{
	for (unsigned i = 1; i < nr; i++) {
		const struct topo_cpu *cpu = seats[i].cpu, *prev = seats[i - 1].cpu;

		if (cpu->package == prev->package)
			seats[i].node = seats[i - 1].node + (cpu->node != prev->node);
	}
}

/* When each is taken; @seats are ordered by node. */
static void rank_turns(struct seat *seats, unsigned nr)
{
	for (unsigned i = 1; i < nr; i++) {
		if (seats[i].cpu->node == seats[i - 1].cpu->node)
			seats[i].turn = seats[i - 1].turn + 1;
	}
}

/* The order of PIN_SPREAD. */
static void spread_seats(struct seat *seats, unsigned nr)
{
	rank_cores(seats, nr);
	rank_nodes(seats, nr);
	qsort(seats, nr, sizeof(*seats), compare_in_node);
	rank_turns(seats, nr);
	qsort(seats, nr, sizeof(*seats), compare_turns);
}

static bool is_listed(const struct pin *pin, unsigned number)
{
	for (unsigned i = 0; i < pin->nr; i++)
		if (pin->list[i] == number)
			return true;
	return false;
}

/* Seats of the CPUs that the policy may use, in topology order. */
static unsigned take_seats(const struct topo *topo, const struct pin *pin,
			   struct seat *seats)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < topo->nr_cpus; i++)
		if (pin->policy != PIN_NODES || is_listed(pin, topo->cpus[i].node))
			seats[nr++].cpu = &topo->cpus[i];
	qsort(seats, nr, sizeof(*seats), compare_topology);
	return nr;
}

static struct placement place(const struct topo_cpu *cpu)
{
	return (struct placement){
		.cpu = (int)cpu->cpu,
		.node = (int)cpu->node,
		.mem_node = (int)cpu->mem_node,
		.package = (int)cpu->package,
		.core = (int)cpu->core,
	};
}

static int plan_list(const struct topo *topo, const struct pin *pin, unsigned nr,
		     struct placement *placements)
{
	for (unsigned i = 0; i < nr; i++) {
		const struct topo_cpu *cpu = NULL;

		if (pin->nr)
			cpu = topo_find_cpu(topo, pin->list[i % pin->nr]);
		if (!cpu)
			return -EINVAL;
		placements[i] = place(cpu);
	}
	return 0;
}

int topo_plan(const struct topo *topo, const struct pin *pin, unsigned nr,
	      struct placement *placements)
{
	struct seat *seats;
	unsigned nr_seats;

	if (pin->policy == PIN_NONE) {
		for (unsigned i = 0; i < nr; i++)
			placements[i] = (struct placement){ -1, -1, -1, -1, -1 };
		return 0;
	}
	if (!topo->nr_cpus)
		return -EINVAL;
	if (pin->policy == PIN_CPUS)
		return plan_list(topo, pin, nr, placements);

	seats = calloc(topo->nr_cpus, sizeof(*seats));
	if (!seats)
		return -ENOMEM;
	nr_seats = take_seats(topo, pin, seats);
	if (pin->policy != PIN_COMPACT)
		spread_seats(seats, nr_seats);
	for (unsigned i = 0; i < nr && nr_seats; i++)
		placements[i] = place(seats[i % nr_seats].cpu);
	free(seats);
	return nr_seats ? 0 : -EINVAL;
}

/* Position of node @nid, nr_nodes when there is none. */
static unsigned node_position(const struct topo *topo, unsigned nid)
{
	unsigned i = 0;

	while (i < topo->nr_nodes && topo->nodes[i].nid != nid)
		i++;
	return i;
}

const struct topo_cpu *topo_find_cpu(const struct topo *topo, unsigned cpu)
{
	for (unsigned i = 0; i < topo->nr_cpus; i++)
		if (topo->cpus[i].cpu == cpu)
			return &topo->cpus[i];
	return NULL;
}

const struct topo_node *topo_find_node(const struct topo *topo, unsigned nid)
{
	unsigned position = node_position(topo, nid);

	return position < topo->nr_nodes ? &topo->nodes[position] : NULL;
}

unsigned *topo_list_nodes(const struct topo *topo,
			  bool (*is_wanted)(const struct topo_node *), unsigned *nr)
{
	unsigned *nids = malloc((topo->nr_nodes + 1) * sizeof(*nids));

	*nr = 0;
	for (unsigned i = 0; nids && i < topo->nr_nodes; i++)
		if (is_wanted(&topo->nodes[i]))
			nids[(*nr)++] = topo->nodes[i].nid;
	return nids;
}

int topo_refuse_node(const struct topo *topo, unsigned nid, const char *what,
		     bool (*is_allowed)(const struct topo_node *), struct reason *why)
{
	unsigned nr, *nids = topo_list_nodes(topo, is_allowed, &nr);
	char *list = nids ? format_list(nids, nr) : NULL;

	reason_set(why, -EINVAL, "node %u %s; allowed are %s", nid, what,
		   !list ? "others" :
		   *list ? list :
			   "none");
	free(list);
	free(nids);
	return -EINVAL;
}

unsigned topo_cpus_in_use(const struct topo *topo, const struct placement *placements,
			  unsigned nr)
{
	unsigned used = 0;

	if (nr && placements->cpu < 0)
		return nr < topo->nr_cpus ? nr : topo->nr_cpus;
	for (unsigned i = 0; i < nr; i++) {
		unsigned j = 0;

		while (j < i && placements[j].cpu != placements[i].cpu)
			j++;
		used += j == i;
	}
	return used;
}

/* How many of the workers run on CPUs of kind @kind; unbound ones may run on any. */
static unsigned workers_on_kind(const struct topo *topo,
				const struct placement *placements, unsigned nr,
				unsigned kind)
{
	unsigned count = 0;

	for (unsigned i = 0; i < nr; i++) {
		const struct topo_cpu *cpu = NULL;

		if (placements[i].cpu >= 0)
			cpu = topo_find_cpu(topo, (unsigned)placements[i].cpu);
		count += cpu && cpu->kind == kind;
		count += placements[i].cpu < 0 && topo->kinds[kind].nr_cpus;
	}
	return count;
}

bool topo_kinds_differ(const struct topo *topo, const struct placement *placements,
		       unsigned nr, struct reason *what)
{
	char text[256] = "";
	unsigned used = 0;
	size_t len = 0;

	for (unsigned kind = 0; kind < topo->nr_kinds; kind++) {
		unsigned count = workers_on_kind(topo, placements, nr, kind);
		const char *name = topo->kinds[kind].name;
		char number[24];

		if (!count)
			continue;
		snprintf(number, sizeof(number), "kind %u", kind);
		if (len < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len,
						"%s%u on %s", used ? ", " : "", count,
						*name ? name : number);
		used++;
	}
	if (used > 1)
		reason_set(what, 0, "%s", placements->cpu < 0 ? "not bound" : text);
	return used > 1;
}

static unsigned distance_at(const struct topo *topo, unsigned from, unsigned to)
{
	if (topo->distances)
		return topo->distances[(size_t)from * topo->nr_nodes + to];
	return from == to ? 10 : 0;
}

unsigned topo_distance(const struct topo *topo, unsigned from, unsigned to)
{
	unsigned a = node_position(topo, from), b = node_position(topo, to);

	if (a == topo->nr_nodes || b == topo->nr_nodes)
		return 0;
	return distance_at(topo, a, b);
}

unsigned topo_mem_node(const struct topo *topo, unsigned nid)
{
	unsigned from = node_position(topo, nid), best = topo->nr_nodes;
	unsigned package = from < topo->nr_nodes ? topo->nodes[from].package : UINT_MAX;
	uint64_t best_cost = UINT64_MAX;

	for (unsigned i = 0; i < topo->nr_nodes; i++) {
		const struct topo_node *node = &topo->nodes[i];
		unsigned distance = from < topo->nr_nodes ? distance_at(topo, from, i) :
							    0;
		uint64_t cost;

		if (!node->memory || !node->allowed)
			continue;
		if (i == from)
			return nid;
		/* An unknown distance is longer than any known one. */
		cost = (uint64_t)(distance ? distance : UINT_MAX) << 1;
		cost |= package == UINT_MAX || node->package != package;
		if (cost < best_cost) {
			best_cost = cost;
			best = i;
		}
	}
	return best < topo->nr_nodes ? topo->nodes[best].nid : nid;
}
