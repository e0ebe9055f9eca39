/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/budget.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/format.h"
#include "bench/layout.h"
#include "sys/arena.h"
#include "sys/meminfo.h"

/* A stack's touched pages, thread descriptors, allocator slack: measured, rounded up. */
#define WORKER_RSS (64 * 1024)
/* The same, page tables, and what a process writes to of what it inherited. */
#define PROCESS_RSS (512 * 1024)
/* The program itself with its libraries, and the result. */
#define PROGRAM_RSS (32 << 20)

static size_t *plan_bytes(struct arena_plan *plan, unsigned nid)
{
	for (unsigned i = 0; i < plan->nr; i++)
		if (plan->nids[i] == nid)
			return &plan->bytes[i];
	return NULL;
}

static int plan_add_node(struct arena_plan *plan, unsigned nid)
{
	unsigned *nids = realloc(plan->nids, (plan->nr + 1) * sizeof(*nids));
	size_t *bytes;

	if (!nids)
		return -ENOMEM;
	plan->nids = nids;
	bytes = realloc(plan->bytes, (plan->nr + 1) * sizeof(*bytes));
	if (!bytes)
		return -ENOMEM;
	plan->bytes = bytes;
	nids[plan->nr] = nid;
	bytes[plan->nr++] = 0;
	return 0;
}

/* A worker without a node of its own draws on the arena's one unbound region. */
static unsigned share_nid(const struct share *share)
{
	return share->mem_node < 0 ? ARENA_ANY_NODE : (unsigned)share->mem_node;
}

int arena_plan_add(struct arena_plan *plan, const struct bench_conf *conf,
		   const struct engine_setup *setup)
{
	size_t *side_bytes = NULL;
	int err = 0;

	for (unsigned i = 0; i < setup->nr_workers && !err; i++)
		if (!plan_bytes(plan, share_nid(&setup->shares[i])))
			err = plan_add_node(plan, share_nid(&setup->shares[i]));
	if (err)
		return err;
	side_bytes = calloc(plan->nr, sizeof(*side_bytes));
	if (!side_bytes)
		return -ENOMEM;
	for (unsigned s = 0; s < conf->nr_sides; s++) {
		const struct engine *engine = &conf->sides[s].engine;

		if (!(engine->flags & ENGINE_NEEDS_ARENA))
			continue;
		memset(side_bytes, 0, plan->nr * sizeof(*side_bytes));
		for (unsigned i = 0; i < setup->nr_workers; i++) {
			size_t *bytes = plan_bytes(plan, share_nid(&setup->shares[i]));

			side_bytes[bytes - plan->bytes] +=
				engine->ops->arena_need(engine, setup, i);
		}
		for (unsigned n = 0; n < plan->nr; n++)
			plan->bytes[n] = max_u64(plan->bytes[n],
						 align_up(side_bytes[n], PMD_SIZE));
	}
	free(side_bytes);
	return 0;
}

size_t arena_plan_bytes(const struct arena_plan *plan)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < plan->nr; i++)
		bytes += plan->bytes[i];
	return bytes;
}

void arena_plan_destroy(struct arena_plan *plan)
{
	free(plan->nids);
	free(plan->bytes);
	memset(plan, 0, sizeof(*plan));
}

bool bench_wants_shared_arena(const struct bench_conf *conf)
{
	for (unsigned s = 0; s < conf->nr_sides; s++)
		if (conf->sides[s].engine.flags & ENGINE_SHARED_ARENA)
			return true;
	return false;
}

bool bench_has_random_phase(const struct bench_conf *conf)
{
	for (size_t i = 0; i < conf->nr_phases; i++)
		if (conf->phases[i]->order == ORDER_RANDOM)
			return true;
	return false;
}

size_t worker_private_bytes(const struct bench_conf *conf, const struct share *share)
{
	uint64_t bytes = share->end - share->start;
	uint64_t buffer = align_up(min_u64(conf->record, bytes), CACHELINE_SIZE);
	uint64_t nr_records = div_round_up(bytes, conf->record);

	return 2 * buffer +
	       (bench_has_random_phase(conf) ? nr_records * sizeof(uint32_t) : 0);
}

/* Bytes that the sides of @conf, which take turns, take at one thread count. */
static int sides_bytes(const struct bench_conf *conf, const struct layout *layout,
		       size_t *bytes)
{
	struct engine_setup setup = layout_setup(layout, conf->processes);
	struct arena_plan plan = { 0 };
	size_t overhead = 0;
	int err = arena_plan_add(&plan, conf, &setup);

	*bytes = arena_plan_bytes(&plan);
	arena_plan_destroy(&plan);
	for (unsigned s = 0; s < conf->nr_sides; s++) {
		const struct engine *engine = &conf->sides[s].engine;

		if (engine->ops->overhead)
			overhead =
				max_u64(overhead, engine->ops->overhead(engine, &setup));
	}
	*bytes += overhead;
	for (unsigned i = 0; i < layout->nr_workers; i++)
		*bytes += worker_private_bytes(conf, &layout->shares[i]) +
			  (conf->processes ? PROCESS_RSS : WORKER_RSS);
	return err;
}

/* Bytes that the whole set-up takes at one thread count. */
static int setup_bytes(const struct bench_conf *conf, const struct layout *layout,
		       size_t *bytes)
{
	int err = 0;

	if (!conf->truncation) {
		err = sides_bytes(conf, layout, bytes);
		*bytes += PROGRAM_RSS;
		return err;
	}
	*bytes = PROGRAM_RSS;
	for (unsigned s = 0; s < conf->nr_sides && !err; s++) {
		struct bench_conf one = *conf;
		size_t side_bytes;

		one.sides = &conf->sides[s];
		one.nr_sides = 1;
		err = sides_bytes(&one, layout, &side_bytes);
		*bytes += side_bytes + layout->nr_workers * conf->truncation->count * 2 *
					       sizeof(uint64_t);
	}
	return err;
}

static int refuse(struct reason *why, const struct bench_conf *conf, unsigned threads,
		  size_t need, uint64_t left, const char *limit)
{
	return reason_set(why, -ENOMEM,
			  "%u thread%s need%s %s of memory, but %s leaves %s; lower %s%s",
			  threads, threads == 1 ? "" : "s", threads == 1 ? "s" : "",
			  format_size(need).text, limit, format_size(left).text,
			  conf->truncation ? "--pages, --count" :
			  conf->per_worker ? "-s (--size)" :
					     "-S (--total)",
			  conf->per_worker ? " or -t (--threads)" : "");
}

static int check_limits(const struct bench_conf *conf, unsigned threads, size_t need,
			const struct meminfo *info, struct reason *why)
{
	uint64_t left;
	char limit[400];

	if (need > info->available)
		return refuse(why, conf, threads, need, info->available,
			      "the machine (MemAvailable)");
	if (need > info->cgroup_left) {
		snprintf(limit, sizeof(limit), "the memory cgroup %.350s",
			 info->cgroup_path);
		return refuse(why, conf, threads, need, info->cgroup_left, limit);
	}
	/* No other node helps out, and the kernel would kill. The program itself is not bound. */
	if (conf->mem.kind == MEM_BIND) {
		left = meminfo_nodes_available(conf->mem.nodes, conf->mem.nr, "");
		snprintf(limit, sizeof(limit), "--mem %.300s",
			 mem_policy_text(&conf->mem));
		if (need - PROGRAM_RSS > left)
			return refuse(why, conf, threads, need - PROGRAM_RSS, left,
				      limit);
	}
	if (need > info->rlimit_as)
		return refuse(why, conf, threads, need, info->rlimit_as,
			      "the address space limit (ulimit -v)");
	return 0;
}

static bool too_many_records(const struct bench_conf *conf, const struct layout *layout)
{
	const struct share *share = &layout->shares[0]; /* no other is larger */

	return bench_has_random_phase(conf) &&
	       div_round_up(share->end - share->start, conf->record) > UINT32_MAX;
}

int bench_check(const struct bench_conf *conf, struct reason *why)
{
	struct meminfo info;

	meminfo_read(&info, "");
	for (unsigned t = 0; t < conf->nr_threads; t++) {
		struct layout layout;
		size_t need;
		int err = layout_init(&layout, conf->threads[t], conf->bytes,
				      conf->per_worker, conf->record, conf->shared);

		if (err == -EOVERFLOW)
			return refuse(why, conf, conf->threads[t], INT64_MAX,
				      info.available, "the machine (MemAvailable)");
		if (err)
			return reason_set(why, err, "out of memory");
		if (setup_bytes(conf, &layout, &need))
			err = reason_set(why, -ENOMEM, "out of memory");
		else
			err = check_limits(conf, conf->threads[t], need, &info, why);
		if (!err && too_many_records(conf, &layout))
			err = reason_set(
				why, -EINVAL,
				"random phases take at most 2^32 records a worker; "
				"raise -r (--record) or leave them out with -i");
		layout_destroy(&layout);
		if (err)
			return err;
	}
	return 0;
}
