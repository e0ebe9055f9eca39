/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/advice.h"

#include <errno.h>

#include "bench/record.h"

/* More workers than CPUs are no matter: a quota of as many CPUs as they use holds up none. */
static void look_at_quota(struct record *record, const struct placement *placements,
			  unsigned threads)
{
	double quota = record->result->environment.cpu_quota;
	unsigned used = topo_cpus_in_use(record->conf->topo, placements, threads);
	struct reason text;

	if (quota <= 0 || quota >= used)
		return;
	/* hundredths, as a locale may have a decimal comma */
	reason_set(&text, 0,
		   "the cgroup's CPU quota is %u.%02u CPUs' time (cpu.max, or "
		   "cpu.cfs_quota_us), and -t %u uses %u CPUs: workers are held up when "
		   "it is used up; raise it, or lower -t",
		   (unsigned)(quota * 100) / 100, (unsigned)(quota * 100) % 100, threads,
		   used);
	record_warn(record, text.text);
}

static bool look_at_kinds(struct record *record, const struct placement *placements,
			  unsigned threads)
{
	struct reason kinds, text;

	if (!topo_kinds_differ(record->conf->topo, placements, threads, &kinds))
		return false;
	reason_set(&text, 0,
		   "workers of -t %u run on CPUs of different kinds (%s), and a window "
		   "lasts as long as the slowest; --pin cpus:LIST keeps to one kind, see "
		   "pagezone topology",
		   threads, kinds.text);
	record_warn(record, text.text);
	return true;
}

/* On a node without memory of its own, what counts as local is another node's. */
static void look_at_nodes(struct record *record, const struct placement *placements,
			  unsigned threads)
{
	const struct topo *topo = record->conf->topo;

	for (unsigned i = 0; i < threads; i++) {
		const struct topo_node *node = NULL;
		struct reason text;

		if (placements[i].node >= 0 &&
		    placements[i].mem_node != placements[i].node)
			node = topo_find_node(topo, (unsigned)placements[i].node);
		if (!node)
			continue;
		reason_set(
			&text, 0,
			"node %u has no memory%s: to its workers that of node %d counts as "
			"local",
			node->nid, node->memory ? " that may be used (cpuset.mems)" : "",
			placements[i].mem_node);
		record_warn(record, text.text);
	}
}

int advice_on_cpus(struct record *record)
{
	const struct bench_conf *conf = record->conf;
	struct placement placements[BENCH_MAX_THREADS];
	unsigned most = 0;
	bool told = false;
	int err;

	if (conf->topo->missing)
		record_warn(record, conf->topo->missing);
	for (unsigned t = 0; t < conf->nr_threads; t++)
		most = conf->threads[t] > most ? conf->threads[t] : most;
	/* Fewer workers have the beginning of this plan. */
	err = topo_plan(conf->topo, &conf->pin, most, placements);
	if (err == -ENOMEM)
		return err;
	if (err)
		return 0; /* the driver says so */
	look_at_quota(record, placements, most);
	look_at_nodes(record, placements, most);
	for (unsigned t = 0; t < conf->nr_threads && !told; t++)
		told = look_at_kinds(record, placements, conf->threads[t]);
	return 0;
}
