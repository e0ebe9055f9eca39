/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where workers and pages are, on a machine of five nodes: pages are addresses that
 * nobody touches, and move_pages() and getcpu() answer for the machine.
 */
#include "bench/where.h"

#include <errno.h>
#include <string.h>

#include "base/bits.h"
#include "bench/crew.h"
#include "bench/record.h"
#include "tap.h"

#define NR 4

/* Where page number @page of a share lies; negative: it is not mapped. */
static int (*node_of_page)(uint64_t page);
static int move_err, nr_asked;
static unsigned here_cpu, here_node;
static bool unmapped; /* no page is mapped */
static char base[64 * PAGE_SIZE];
static bool real; /* addresses are in @base */
static uint64_t seen[WHERE_MAX_PAGES];

/* Used: link-time optimisation does not see who. */
__attribute__((used)) long __wrap_move_pages(int pid, unsigned long nr, void **pages,
					     const int *nodes, int *status, int flags);
__attribute__((used)) int __wrap_getcpu(unsigned *cpu, unsigned *node);

long __wrap_move_pages(int pid, unsigned long nr, void **pages, const int *nodes,
		       int *status, int flags)
{
	(void)pid;
	(void)flags;
	nr_asked++;
	if (nodes)
		bail("pages would be moved");
	if (move_err) {
		errno = move_err;
		return -1;
	}
	for (unsigned long i = 0; i < nr; i++) {
		uintptr_t at = (uintptr_t)pages[i] - (real ? (uintptr_t)base : 0);

		seen[i] = at / PAGE_SIZE - !real;
		status[i] = node_of_page(seen[i]);
	}
	return 0;
}

int __wrap_getcpu(unsigned *cpu, unsigned *node)
{
	*cpu = here_cpu;
	*node = here_node;
	return 0;
}

/* Page 0 is at 4096, as NULL says that it is not mapped. */
static void *page_at(struct engine_worker *worker, uint64_t offset)
{
	(void)worker;
	if (unmapped)
		return NULL;
	return real ? base + offset : (void *)(uintptr_t)(offset + PAGE_SIZE);
}

static const struct engine_ops ops = { .name = "made-up", .page = page_at };
static struct engine engine = { .ops = &ops };

/* ---- in the worker ---- */

static int on_node_0(uint64_t page)
{
	(void)page;
	return 0;
}

static unsigned by_pages = 1, by_nodes = 1;

static int interleaved(uint64_t page)
{
	return (int)(page / by_pages % by_nodes);
}

static int missing(uint64_t page)
{
	return page % 2 ? -ENOENT : 3;
}

static int missing_at_first(uint64_t page)
{
	return page % 2 && nr_asked == 1 ? -ENOENT : 3;
}

/* A share of @bytes from @start on. */
static struct where look(uint64_t start, uint64_t bytes, unsigned id)
{
	struct share share = { .start = start, .end = start + bytes };
	struct engine_worker worker = { .engine = &engine, .share = &share, .id = id };
	struct where where;

	nr_asked = 0;
	memset(seen, 0, sizeof(seen));
	where_start(&where);
	where_end(&where);
	where_look(&where, &worker);
	return where;
}

static void chosen_pages(void)
{
	static const unsigned nodes[] = { 2, 3, 4, 5, 7, 8 }, widths[] = { 1, 2, 512 };
	struct where where;
	bool good = true;

	node_of_page = on_node_0;
	where = look(0, 10 * PAGE_SIZE, 0);
	for (unsigned i = 0; i < 10; i++)
		good = good && seen[i] == i;
	ok(good && where.nr == 10, "of few pages each is looked at once");
	where = look(PAGE_SIZE / 2, PAGE_SIZE, 0);
	ok(where.nr == 2, "a share may begin and end within a page");
	ok(!look(PAGE_SIZE, 0, 0).nr && !nr_asked, "of no share nothing is asked");
	where = look(0, (uint64_t)1 << 30, 5);
	good = where.nr == WHERE_MAX_PAGES;
	for (unsigned i = 0; i < where.nr; i++)
		good = good && seen[i] / 256 == i;
	ok(good, "of many, one of each equal part");

	node_of_page = interleaved;
	for (size_t n = 0; n < ARRAY_SIZE(nodes); n++) {
		unsigned most = 0, least = UINT32_MAX, counts[8] = { 0 }, sum = 0;

		/* 16, 17, … 128 MiB, of 8 workers, in turns of a page, of 8 KiB, of 2 MiB. */
		good = true;
		for (size_t w = 0; w < ARRAY_SIZE(widths); w++) {
			by_nodes = nodes[n];
			by_pages = widths[w];
			for (uint64_t mib = 16; mib <= 128; mib += w < 2 ? 7 : 16) {
				memset(counts, 0, sizeof(counts));
				most = sum = 0;
				least = UINT32_MAX;
				for (unsigned id = 0; id < 8; id++) {
					where = look(0, mib << 20, id);
					for (unsigned i = 0; i < where.nr; i++)
						counts[where.nodes[i]]++;
					sum += where.nr;
				}
				for (unsigned k = 0; k < nodes[n]; k++) {
					most = max_u64(most, counts[k]);
					least = min_u64(least, counts[k]);
				}
				/* Of huge pages, as even as so few are. */
				good = good && most - least <= (w < 2 ? sum / 50 :
									sum / (mib / 2) +
										sum / 50);
			}
		}
		ok(good, "pages that lie on %u nodes in turn are seen so", nodes[n]);
	}
}

static void what_is_not_there(void)
{
	struct where where;

	real = true;
	node_of_page = missing_at_first;
	where = look(0, sizeof(base), 0);
	ok(where.nr == 64 && nr_asked == 2,
	   "pages that are not there are touched and asked for again");
	node_of_page = missing;
	where = look(0, sizeof(base), 0);
	ok(where.nr == 32 && where.nodes[31] == 3 && nr_asked == 2,
	   "those that are still missing are left out");
	real = false;
	unmapped = true;
	where = look(0, 8 * PAGE_SIZE, 0);
	ok(!where.nr && !where.err, "what is not mapped has no page");
	unmapped = false;
	move_err = EPERM;
	where = look(0, 8 * PAGE_SIZE, 0);
	ok(!where.nr && where.err == -EPERM && nr_asked == 1,
	   "why the kernel would not tell");
	move_err = 0;
	here_cpu = 6;
	here_node = 3;
	where = look(0, 0, 0);
	ok(where.cpu_start == 6 && where.cpu_end == 6 && where.node == 3,
	   "the worker's CPU and node");
}

/* ---- from workers to a sample ---- */

/* Four nodes, of which 1 has no memory and is near to 2. Worker i is on CPU i, of node i. */
static struct topo_node nodes[] = {
	{ .nid = 0, .memory = 1 << 30, .allowed = true },
	{ .nid = 1, .memory = 0, .allowed = true },
	{ .nid = 2, .memory = 1 << 30, .allowed = true },
	{ .nid = 3, .memory = 1 << 30, .allowed = true },
};
static unsigned distances[] = { 10, 21, 21, 21, 21, 10, 15, 21,
				21, 15, 10, 21, 21, 21, 21, 10 };
static const struct topo topo = { .nodes = nodes,
				  .nr_nodes = NR,
				  .distances = distances };
static const struct phase reader = { .name = "reader" };
static const struct phase *const run_phases[] = { &reader };
static struct bench_side sides[] = { { .name = "baseline" }, { .name = "patched" } };
static struct bench_conf conf = { .topo = &topo,
				  .sides = sides,
				  .nr_sides = 2,
				  .phases = run_phases,
				  .nr_phases = 1 };
static struct share shares[NR];
static struct bench_worker workers[NR];
static struct crew crew = { .conf = &conf, .nr = NR, .workers = workers };

/* All 100 pages of worker i on node @at[i]. */
static void set_up(const char *mem, const int at[NR])
{
	static const int own[NR] = { 0, 2, 2, 3 };
	struct reason why = { "" };

	mem_policy_destroy(&conf.mem);
	if (mem_policy_parse(&conf.mem, mem, &why) ||
	    mem_policy_resolve(&conf.mem, &topo, &why))
		bail("%s: %s", mem, why.text);
	crew.layout.shares = shares;
	for (int i = 0; i < NR; i++) {
		workers[i].engine.engine = &engine;
		shares[i].mem_node = mem_policy_node(&conf.mem, &topo, own[i]);
		workers[i].where = (struct where){
			.cpu_start = i, .cpu_end = i, .node = i, .nr = 100
		};
		for (unsigned p = 0; p < 100; p++)
			workers[i].where.nodes[p] = (int16_t)at[i];
	}
}

static struct result *result;
static struct record record;

static void begin(void)
{
	result_free(result);
	result = result_alloc();
	record = (struct record){ .conf = &conf, .result = result };
}

/* A further sample of side @side, whose worker i is planned on CPU i; and what is told. */
static struct result_sample *collect(unsigned side)
{
	struct result_sample *sample = result_add_sample(result, NR);

	sample->side = side;
	sample->threads = NR;
	for (int i = 0; i < NR; i++)
		sample->workers[i].cpu = i;
	if (where_collect(sample, &crew))
		bail("out of memory");
	where_warn(&record, &crew, sample);
	return sample;
}

static bool told(const char *text)
{
	for (unsigned i = 0; i < result->nr_warnings; i++)
		if (strstr(result->warnings[i], text))
			return true;
	return false;
}

static void counting(void)
{
	static const int local[] = { 0, 2, 2, 3 }, next[] = { 2, 3, 3, 0 };
	struct result_sample *sample;
	const struct result_counters *c;

	begin();
	set_up("local", local);
	sample = collect(0);
	c = &sample->counters;
	ok(c->known == (RESULT_PLACEMENT | RESULT_ASKED) && c->pages_sampled == 400 &&
		   c->pages_local == 400 && c->pages_as_asked == 400,
	   "local: of a node without memory the nearest is");
	ok(c->nr_nodes == 3 && c->pages_by_node[1].node == 2 &&
		   c->pages_by_node[1].pages == 200,
	   "pages are counted by node, nodes without any left out");
	ok(sample->workers[3].cpu_start == 3 && sample->workers[3].cpu_end == 3,
	   "CPUs are the workers'");
	set_up("remote", next);
	c = &collect(0)->counters;
	ok(!c->pages_local && c->pages_as_asked == 400, "remote: nothing is local");
	set_up("remote", (const int[NR]){ 2, 3, 2, 0 });
	c = &collect(0)->counters;
	ok(c->pages_local == 100 && c->pages_as_asked == 300,
	   "remote: what is local is not as asked");
	set_up("bind:2-3", next);
	c = &collect(0)->counters;
	ok(c->pages_local == 0 && c->pages_as_asked == 300, "bind: any node of the list");
	begin();
	set_up("interleave", next);
	c = &collect(0)->counters;
	ok(c->pages_as_asked == 400 && !result->nr_warnings, "interleave: any node");
	set_up("none", local);
	c = &collect(0)->counters;
	ok(c->known == RESULT_PLACEMENT && c->pages_local == 400,
	   "none: nothing was asked for");
	for (int i = 0; i < NR; i++)
		workers[i].where.nr = 0;
	sample = collect(0);
	ok(!sample->counters.known && !sample->counters.pages_by_node &&
		   !result->nr_warnings,
	   "no pages: no figures");
}

/* One file, whose pages are of two workers where their shares meet. */
static void shared_file(void)
{
	static const int local[] = { 0, 2, 2, 3 };

	begin();
	set_up("local", local);
	crew.layout.nr_workers = NR;
	crew.layout.nr_files = 1;
	shares[1].start = PAGE_SIZE / 2;
	shares[1].end = 100 * PAGE_SIZE - 1;
	workers[1].where.nodes[0] = 0;
	workers[1].where.nodes[98] = workers[1].where.nodes[99] = 3;
	collect(0);
	ok(!result->nr_warnings,
	   "pages that a neighbour has touched first: no shortfall");
	workers[1].where.nodes[97] = 3;
	collect(0);
	ok(told("of 100 pages of worker 1 (CPU 1) only 96") && told("is the node full?"),
	   "more are one");
	crew.layout.nr_files = NR;
	workers[1].where.nodes[97] = 2;
	collect(1);
	ok(told("patched, reader, -t 4: of 100 pages of worker 1 (CPU 1) only 97"),
	   "in a file of one's own so few are, too");

	begin();
	set_up("local", (const int[NR]){ 0, 0, 0, 0 });
	crew.layout.nr_files = 1;
	engine.flags = ENGINE_SHARED_ARENA;
	collect(0);
	ok(told("with 3 of 4 workers (a file that workers of map=uffd share") &&
		   !told("full"),
	   "a file of map=uffd has one node: the node need not be full");
	engine.flags = 0;
	crew.layout.nr_files = NR;
}

static void warnings(void)
{
	static const int local[] = { 0, 2, 2, 3 };

	begin();
	set_up("local", local);
	workers[2].where.nodes[0] = 3;
	collect(0);
	ok(!result->nr_warnings, "99 %% is enough");
	workers[2].where.nodes[1] = workers[2].where.nodes[2] = 0;
	workers[2].where.nodes[3] = 0;
	workers[0].where.nodes[1] = workers[0].where.nodes[2] = 3;
	collect(0);
	ok(told("baseline, reader, -t 4: of 100 pages of worker 2 (CPU 2) only 96 lie on "
		"node 2, where --mem local has them; node 0 has 3; so it is with 2 of 4 "
		"workers"),
	   "less is told, with the worst worker: %s",
	   result->nr_warnings ? result->warnings[0] : "");
	workers[2].where.nodes[4] = 0;
	collect(0);
	ok(result->nr_warnings == 1, "once");
	collect(1);
	ok(result->nr_warnings == 2 && told("patched, reader"), "for each side");

	begin();
	set_up("bind:0,2", local);
	collect(0);
	ok(told("on nodes 0,2, where --mem bind:0,2 has them; node 3 has 100"),
	   "what a list asked for");

	begin();
	set_up("local", local);
	workers[1].where.cpu_end = 7;
	collect(0);
	ok(told("baseline, reader, -t 4: worker 1 was to be on CPU 1, and was on CPU 1 "
		"when its loop began and on CPU 7 when it ended; 1 of 4 workers"),
	   "a worker that was elsewhere: %s",
	   result->nr_warnings ? result->warnings[0] : "");
	ok(result->nr_warnings == 1, "and nothing else");

	begin();
	set_up("local", local);
	for (int i = 0; i < NR; i++)
		workers[i].where.nr = 0;
	workers[3].where.err = -ENOSYS;
	collect(0);
	collect(1);
	ok(result->nr_warnings == 1 && told("move_pages: Function not implemented"),
	   "what could not be checked, once");

	begin();
	workers[3].engine.place_err = -EPERM;
	workers[3].engine.place_call = "mbind";
	where_warn_unplaced(&record, &crew, 1);
	where_warn_unplaced(&record, &crew, 1);
	ok(result->nr_warnings == 1 &&
		   told("patched: pages of its files could not be placed as --mem local "
			"asks (mbind: Operation not permitted)"),
	   "what could not be placed, once");
}

static void advice(void)
{
	struct topo one = topo;

	one.nr_nodes = 1;
	set_up("remote", (const int[NR]){ 0 });
	begin();
	where_advise(&record);
	ok(!result->nr_warnings, "several nodes, no balancing: no advice");
	result->environment.numa_balancing = 1;
	where_advise(&record);
	ok(result->nr_warnings == 1 && told("NUMA balancing is on"), "balancing is told");
	begin();
	result->environment.numa_balancing = 1;
	conf.topo = &one;
	where_advise(&record);
	ok(result->nr_warnings == 1 && told("there is one node: --mem remote is local"),
	   "of one node nothing but that it is one");
	begin();
	conf.topo = &topo;
	nodes[2].allowed = nodes[3].allowed = false;
	where_advise(&record);
	ok(told("there is one node whose memory may be used"), "or that may be used");
	nodes[2].allowed = nodes[3].allowed = true;
	begin();
	set_up("local", (const int[NR]){ 0 });
	where_advise(&record);
	ok(!result->nr_warnings, "local: no advice");
	conf.pin.policy = PIN_NONE;
	where_advise(&record);
	ok(result->nr_warnings == 1 && told("with --pin none no node is a worker's own"),
	   "but that who is not pinned has no own node");
	set_up("none", (const int[NR]){ 0 });
	begin();
	where_advise(&record);
	ok(!result->nr_warnings, "nor wants one with --mem none");
}

int main(void)
{
	chosen_pages();
	what_is_not_there();
	counting();
	warnings();
	shared_file();
	advice();
	mem_policy_destroy(&conf.mem);
	result_free(result);
	return done();
}
