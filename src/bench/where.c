/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/where.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/format.h"
#include "bench/crew.h"
#include "bench/record.h"
#include "sys/numamem.h"
#include "sys/sigbus.h"

/* Of what was asked for, below which a worker's pages are a warning. */
#define ENOUGH_PERCENT 99

/* ---- in the worker ---- */

void where_start(struct where *where)
{
	int node;

	where->cpu_end = where->node = -1;
	where->err = 0;
	where->nr = 0;
	numamem_here(&where->cpu_start, &node);
}

void where_end(struct where *where)
{
	numamem_here(&where->cpu_end, &where->node);
}

/*
 * A place in [0, @nr) for part @i of a share: steps of the golden ratio, which are even in whatever
 * period the parts and an interleaving of pages have together. Each worker begins elsewhere.
 */
static uint64_t place_within(unsigned id, uint64_t i, uint64_t nr)
{
	uint32_t fraction = (uint32_t)(i + id * WHERE_MAX_PAGES) * 2654435769U;

	return fraction * nr >> 32;
}

/* The addresses of pages that are mapped; how many. */
static unsigned choose_pages(struct engine_worker *worker, void **addresses)
{
	const struct share *share = worker->share;
	uint64_t first = share->start / PAGE_SIZE;
	uint64_t nr_pages = div_round_up(share->end, PAGE_SIZE) - first, start = 0;
	uint64_t nr = min_u64(nr_pages, WHERE_MAX_PAGES);
	unsigned nr_found = 0;

	for (uint64_t i = 0; i < nr; i++) {
		uint64_t end = (i + 1) * nr_pages / nr;
		uint64_t page = start + place_within(worker->id, i, end - start);
		/* Of a share that begins within a page, the first page begins before it. */
		uint64_t offset = max_u64((first + page) * PAGE_SIZE, share->start);

		addresses[nr_found] = worker->engine->ops->page(worker, offset);
		nr_found += addresses[nr_found] != NULL;
		start = end;
	}
	return nr_found;
}

struct touch {
	void *const *addresses;
	const int *nodes;
	unsigned nr;
};

static int touch_missing(void *arg)
{
	const struct touch *touch = arg;

	for (unsigned i = 0; i < touch->nr; i++)
		if (touch->nodes[i] < 0)
			(void)*(volatile char *)touch->addresses[i];
	return 0;
}

static bool any_missing(const int *nodes, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		if (nodes[i] < 0)
			return true;
	return false;
}

void where_look(struct where *where, struct engine_worker *worker)
{
	void *addresses[WHERE_MAX_PAGES];
	int nodes[WHERE_MAX_PAGES];
	struct touch touch = { .addresses = addresses, .nodes = nodes };
	struct sigbus_guard guard = { 0 };

	if (!worker->engine->ops->page || worker->share->start == worker->share->end)
		return;
	touch.nr = choose_pages(worker, addresses);
	where->err = numamem_where(addresses, nodes, touch.nr);
	/* A page that cannot be read any more is none that could be asked for. */
	if (!where->err && any_missing(nodes, touch.nr) &&
	    !(worker->engine->flags & ENGINE_REAL_FAULTS ?
		      sigbus_run(&guard, touch_missing, &touch) :
		      touch_missing(&touch)))
		where->err = numamem_where(addresses, nodes, touch.nr);
	for (unsigned i = 0; i < touch.nr && !where->err; i++)
		if (nodes[i] >= 0 && nodes[i] < NUMAMEM_MAX_NODES)
			where->nodes[where->nr++] = (int16_t)nodes[i];
}

/* ---- from workers to a sample ---- */

/* The node that is local to a worker: that of its CPU, or where that has no memory, the nearest. */
static int local_node(const struct topo *topo, const struct where *where)
{
	if (where->node < 0 || !topo_find_node(topo, (unsigned)where->node))
		return where->node;
	return (int)topo_mem_node(topo, (unsigned)where->node);
}

/* Whether anything is asked of where pages of @share lie. */
static bool is_asked(const struct mem_policy *policy, const struct share *share)
{
	return share->mem_node >= 0 || policy->nr;
}

/* Local memory is that of the node on which the worker is, not of the one where it should be. */
static bool is_as_asked(const struct mem_policy *policy, const struct share *share,
			int local, int nid)
{
	if (policy->kind == MEM_LOCAL)
		return nid == local;
	if (share->mem_node >= 0)
		return nid == share->mem_node;
	return mem_policy_has_node(policy, (unsigned)nid);
}

static unsigned count_as_asked(const struct crew *crew, unsigned id)
{
	const struct where *where = &crew->workers[id].where;
	const struct share *share = &crew->layout.shares[id];
	int local = local_node(crew->conf->topo, where);
	unsigned nr = 0;

	for (unsigned i = 0; i < where->nr; i++)
		nr += is_as_asked(&crew->conf->mem, share, local, where->nodes[i]);
	return nr;
}

static int set_nodes(struct result_counters *counters,
		     const uint64_t pages[NUMAMEM_MAX_NODES])
{
	unsigned nr = 0;

	for (unsigned nid = 0; nid < NUMAMEM_MAX_NODES; nid++)
		nr += pages[nid] != 0;
	counters->pages_by_node = calloc(nr + 1, sizeof(*counters->pages_by_node));
	if (!counters->pages_by_node)
		return -ENOMEM;
	for (unsigned nid = 0; nid < NUMAMEM_MAX_NODES; nid++)
		if (pages[nid])
			counters->pages_by_node[counters->nr_nodes++] =
				(struct result_node_pages){ nid, pages[nid] };
	return 0;
}

int where_collect(struct result_sample *sample, const struct crew *crew)
{
	struct result_counters *counters = &sample->counters;
	uint64_t pages[NUMAMEM_MAX_NODES] = { 0 };
	bool asked = true;

	for (unsigned id = 0; id < crew->nr; id++) {
		const struct where *where = &crew->workers[id].where;
		int local = local_node(crew->conf->topo, where);

		sample->workers[id].cpu_start = where->cpu_start;
		sample->workers[id].cpu_end = where->cpu_end;
		counters->pages_sampled += where->nr;
		counters->pages_as_asked += count_as_asked(crew, id);
		asked &= !where->nr ||
			 is_asked(&crew->conf->mem, &crew->layout.shares[id]);
		for (unsigned i = 0; i < where->nr; i++) {
			counters->pages_local += where->nodes[i] == local;
			pages[where->nodes[i]]++;
		}
	}
	if (!counters->pages_sampled)
		return 0;
	counters->known |= RESULT_PLACEMENT | (asked ? RESULT_ASKED : 0);
	return set_nodes(counters, pages);
}

/* ---- what people have to know ---- */

void where_advise(struct record *record)
{
	const struct bench_conf *conf = record->conf;
	unsigned nr = mem_nr_nodes(conf->topo);

	if (conf->mem.kind == MEM_REMOTE && nr < 2)
		record_warn(record, conf->topo->nr_nodes < 2 ?
					    "there is one node: --mem remote is local" :
					    "there is one node whose memory may be used: "
					    "--mem remote is that node");
	if (conf->mem.kind == MEM_LOCAL && conf->pin.policy == PIN_NONE && nr > 1)
		record_warn(record,
			    "with --pin none no node is a worker's own: --mem local "
			    "leaves it to the system where memory comes from");
	if (conf->topo->nr_nodes > 1 && record->result->environment.numa_balancing > 0)
		record_warn(
			record,
			"NUMA balancing is on: the kernel takes page faults to see who uses "
			"pages that have no policy, and may move pages while they are "
			"measured; sysctl kernel.numa_balancing=0 stops it");
}

void where_warn_unplaced(struct record *record, const struct crew *crew, unsigned side)
{
	const struct engine_worker *worker = NULL;
	struct reason text;

	for (unsigned id = 0; id < crew->nr && !worker; id++)
		if (crew->workers[id].engine.place_err)
			worker = &crew->workers[id].engine;
	if (!worker || record->warned[side] & RECORD_UNPLACED)
		return;
	record->warned[side] |= RECORD_UNPLACED;
	reason_set(
		&text, 0,
		"%s: pages of its files could not be placed as --mem %s asks (%s: %s); "
		"they lie where the system puts them",
		record->conf->sides[side].name, mem_policy_text(&record->conf->mem),
		worker->place_call, strerror(-worker->place_err));
	record_warn(record, text.text);
}

/* "baseline, reader, -t 8" */
static void name_cell(const struct record *record, const struct result_sample *sample,
		      struct reason *name)
{
	reason_set(name, 0, "%s, %s, -t %u", record->conf->sides[sample->side].name,
		   record->conf->phases[sample->phase]->name, sample->threads);
}

static void warn_unchecked(struct record *record, const struct crew *crew, unsigned side)
{
	struct reason text;

	for (unsigned id = 0; id < crew->nr; id++) {
		if (!crew->workers[id].where.err)
			continue;
		record->warned[side] |= RECORD_UNCHECKED;
		reason_set(&text, 0,
			   "where pages lie is not checked: the kernel does not tell "
			   "(move_pages: %s)",
			   strerror(-crew->workers[id].where.err));
		record_warn(record, text.text);
		return;
	}
}

static bool is_elsewhere(const struct result_worker *worker)
{
	return worker->cpu >= 0 &&
	       ((worker->cpu_start >= 0 && worker->cpu_start != worker->cpu) ||
		(worker->cpu_end >= 0 && worker->cpu_end != worker->cpu));
}

static void warn_elsewhere(struct record *record, const struct result_sample *sample)
{
	const struct result_worker *first = NULL;
	struct reason cell, text;
	unsigned nr = 0;

	for (unsigned id = 0; id < sample->nr_workers; id++) {
		if (!is_elsewhere(&sample->workers[id]))
			continue;
		if (!nr++)
			first = &sample->workers[id];
	}
	if (!nr)
		return;
	record->warned[sample->side] |= RECORD_ELSEWHERE;
	name_cell(record, sample, &cell);
	reason_set(&text, 0,
		   "%s: worker %u was to be on CPU %d, and was on CPU %d when its loop "
		   "began and on CPU %d when it ended; %u of %u workers were elsewhere",
		   cell.text, (unsigned)(first - sample->workers), first->cpu,
		   first->cpu_start, first->cpu_end, nr, sample->nr_workers);
	record_warn(record, text.text);
}

/* "node 3" or "nodes 0-1,3"; what was asked for of worker @id. */
static void name_asked(const struct crew *crew, unsigned id, struct reason *name)
{
	const struct mem_policy *policy = &crew->conf->mem;
	int nid = policy->kind == MEM_LOCAL ?
			  local_node(crew->conf->topo, &crew->workers[id].where) :
			  crew->layout.shares[id].mem_node;
	char *list;

	if (nid >= 0) {
		reason_set(name, 0, "node %d", nid);
		return;
	}
	list = format_list(policy->nodes, policy->nr);
	reason_set(name, 0, "nodes %s", list ? list : "asked for");
	free(list);
}

/* The node that has most of the pages of worker @id that lie elsewhere; how many. */
static unsigned most_elsewhere(const struct crew *crew, unsigned id, int *nid)
{
	const struct where *where = &crew->workers[id].where;
	int local = local_node(crew->conf->topo, where);
	unsigned pages[NUMAMEM_MAX_NODES] = { 0 }, most = 0;

	for (unsigned i = 0; i < where->nr; i++) {
		int node = where->nodes[i];

		if (is_as_asked(&crew->conf->mem, &crew->layout.shares[id], local, node))
			continue;
		if (++pages[node] > most) {
			most = pages[node];
			*nid = node;
		}
	}
	return most;
}

/*
 * Pages at the ends of a share that a neighbour stores to as well, and may have been the first to.
 */
static unsigned pages_in_common(const struct crew *crew, unsigned id)
{
	const struct share *share = &crew->layout.shares[id];

	if (crew->layout.nr_files == crew->layout.nr_workers)
		return 0;
	return (share->start % PAGE_SIZE != 0) + (share->end % PAGE_SIZE != 0);
}

/* What to do about it. */
static const char *why_elsewhere(const struct crew *crew)
{
	if (crew->workers[0].engine.engine->flags & ENGINE_SHARED_ARENA &&
	    crew->layout.nr_files < crew->layout.nr_workers)
		return "a file that workers of map=uffd share lies as a whole on the node of "
		       "worker 0";
	return "is the node full? see numastat -m";
}

static void warn_shortfall(struct record *record, const struct crew *crew,
			   const struct result_sample *sample)
{
	unsigned nr = 0, worst = 0, most;
	double share, lowest = 1;
	struct reason cell, asked, text;
	int nid = 0;

	for (unsigned id = 0; id < crew->nr; id++) {
		const struct where *where = &crew->workers[id].where;
		unsigned good;

		if (!where->nr || !is_asked(&crew->conf->mem, &crew->layout.shares[id]))
			continue;
		good = count_as_asked(crew, id);
		if ((good + pages_in_common(crew, id)) * 100 >=
		    where->nr * ENOUGH_PERCENT)
			continue;
		share = (double)good / where->nr;
		nr++;
		if (share < lowest) {
			lowest = share;
			worst = id;
		}
	}
	if (!nr)
		return;
	record->warned[sample->side] |= RECORD_SHORTFALL;
	name_cell(record, sample, &cell);
	name_asked(crew, worst, &asked);
	most = most_elsewhere(crew, worst, &nid);
	reason_set(&text, 0,
		   "%s: of %u pages of worker %u (CPU %d) only %u lie on %s, where --mem "
		   "%s has them; node %d has %u; so it is with %u of %u workers (%s)",
		   cell.text, crew->workers[worst].where.nr, worst,
		   crew->workers[worst].where.cpu_end, count_as_asked(crew, worst),
		   asked.text, mem_policy_text(&crew->conf->mem), nid, most, nr, crew->nr,
		   why_elsewhere(crew));
	record_warn(record, text.text);
}

void where_warn(struct record *record, const struct crew *crew,
		const struct result_sample *sample)
{
	unsigned warned = record->warned[sample->side];

	if (sample->failure)
		return;
	if (!(warned & RECORD_UNCHECKED))
		warn_unchecked(record, crew, sample->side);
	if (!(warned & RECORD_ELSEWHERE))
		warn_elsewhere(record, sample);
	if (!(warned & RECORD_SHORTFALL))
		warn_shortfall(record, crew, sample);
}
