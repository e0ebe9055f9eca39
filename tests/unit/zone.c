/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frame allocator: buddies, per-thread lists, fallback to other zones. Frames are
 * never touched, so their addresses are made up.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cache/zone.h"
#include "tap.h"

#define MAX_ZONES 4
#define FAKE_BASE ((char *)0x100000000000)

struct setup {
	struct zone zones[MAX_ZONES];
	unsigned nr_zones;
	struct pcp pcp;
	struct lock_stats stats;
};

static struct setup *setup_open(unsigned nr_zones, size_t mib, int nid)
{
	struct setup *s = aligned_alloc(CACHELINE_SIZE, sizeof(*s));

	if (!s)
		bail("no memory");
	memset(s, 0, sizeof(*s));
	for (unsigned i = 0; i < nr_zones; i++) {
		struct arena_region region = {
			.nid = 10 * i,
			.base = FAKE_BASE + i * (1ULL << 40),
			.bytes = mib << 20,
		};

		if (zone_init(&s->zones[i], (uint16_t)i, &region))
			bail("no memory for a zone");
	}
	s->nr_zones = nr_zones;
	pcp_init(&s->pcp, s->zones, nr_zones, nid, &s->stats);
	return s;
}

static void setup_close(struct setup *s)
{
	for (unsigned i = 0; i < s->nr_zones; i++)
		zone_destroy(&s->zones[i]);
	free(s);
}

static bool all_whole(const struct zone *zone)
{
	for (unsigned order = 0; order < ZONE_MAX_ORDER; order++)
		if (zone->nr_free[order])
			return false;
	return zone->nr_free[ZONE_MAX_ORDER] == zone->nr_frames >> ZONE_MAX_ORDER &&
	       zone->nr_free_pages == zone->nr_frames;
}

static void test_batchsize(void)
{
	static const struct {
		size_t mib;
		unsigned batch;
	} cases[] = { { 2, 1 },	   { 32, 1 },	{ 64, 3 },   { 128, 7 },
		      { 256, 15 }, { 512, 31 }, { 1024, 31 } };

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct setup *s = setup_open(1, cases[i].mib, 0);

		ok(s->zones[0].pcp_batch == cases[i].batch, "%zu MiB: batch %u is %u",
		   cases[i].mib, s->zones[0].pcp_batch, cases[i].batch);
		setup_close(s);
	}
}

static void test_orders(void)
{
	for (unsigned order = 0; order < ZONE_NR_ORDERS; order++) {
		struct setup *s = setup_open(1, 4, 0);
		size_t nr = s->zones[0].nr_frames >> order;
		struct folio **all = calloc(nr + 1, sizeof(*all));
		unsigned char *taken = calloc(s->zones[0].nr_frames, 1);
		bool good = all && taken;

		for (size_t i = 0; good && i < nr; i++) {
			size_t frame;

			all[i] = pcp_alloc(&s->pcp, order);
			if (!all[i]) {
				good = false;
				break;
			}
			frame = zone_frame(&s->zones[0], all[i]);
			good = !(frame & ((1UL << order) - 1)) && all[i]->order == order;
			for (size_t j = 0; j < 1UL << order; j++)
				good &= !taken[frame + j]++;
		}
		ok(good, "order %u: %zu aligned, disjoint blocks", order, nr);
		ok(!pcp_alloc(&s->pcp, order), "order %u: then none", order);
		ok(!pcp_alloc(&s->pcp, 0), "order %u: nor a page", order);
		/* Every second first: nothing can be joined until the others come. */
		for (size_t i = 0; good && i < nr; i += 2)
			pcp_free(&s->pcp, all[i]);
		pcp_drain(&s->pcp);
		if (order < ZONE_MAX_ORDER)
			ok(s->zones[0].nr_free[order] == nr / 2 &&
				   s->zones[0].nr_free_pages == s->zones[0].nr_frames / 2,
			   "order %u: every second block free, none joined", order);
		for (size_t i = 1; good && i < nr; i += 2)
			pcp_free(&s->pcp, all[i]);
		pcp_drain(&s->pcp);
		ok(all_whole(&s->zones[0]), "order %u: all joined again", order);
		free(all);
		free(taken);
		setup_close(s);
	}
}

static void test_bulk(void)
{
	struct setup *s = setup_open(1, 512, 0);
	struct folio *folios[64];
	bool ascending = true;

	for (unsigned i = 0; i < 31; i++)
		folios[i] = pcp_alloc(&s->pcp, 0);
	ok(s->stats.acquisitions == 1, "31 pages take the zone lock once (%llu)",
	   (unsigned long long)s->stats.acquisitions);
	for (unsigned i = 1; i < 31; i++)
		ascending &= folios[i] == folios[i - 1] + 1;
	ok(ascending, "and come in ascending order");
	folios[31] = pcp_alloc(&s->pcp, 0);
	ok(s->stats.acquisitions == 2, "the 32nd takes it again");
	ok(s->pcp.nr_pages == 30, "30 pages are in stock (%u)", s->pcp.nr_pages);
	pcp_free(&s->pcp, folios[31]);
	ok(s->stats.acquisitions == 2 && s->pcp.nr_pages == 31, "a free fills the list");
	ok(pcp_alloc(&s->pcp, 0) == folios[31], "the page freed last is the next");
	for (unsigned i = 0; i < 2; i++)
		pcp_free(&s->pcp, folios[i]);
	ok(s->stats.acquisitions == 3 && s->pcp.nr_pages == 0,
	   "one too many drains the list under one lock hold");
	folios[0] = pcp_alloc(&s->pcp, 2);
	ok(s->pcp.nr_pages == 6 * 4, "order 2 is refilled by 7 blocks");
	folios[1] = pcp_alloc(&s->pcp, 4);
	ok(s->pcp.nr_pages == 6 * 4, "order 4 finds no room in the lists");
	s->stats.acquisitions = 0;
	folios[2] = pcp_alloc(&s->pcp, 5);
	pcp_free(&s->pcp, folios[2]);
	ok(s->stats.acquisitions == 2 && s->pcp.nr_pages == 24,
	   "order 5 goes past the lists");
	setup_close(s);
}

static void test_drain_on_failure(void)
{
	struct setup *s = setup_open(1, 2, 0);
	struct folio *page;

	s->zones[0].pcp_batch = PCP_MAX_PAGES;
	page = pcp_alloc(&s->pcp, 0);
	pcp_free(&s->pcp, page);
	ok(s->pcp.nr_pages == 31, "31 of 512 pages are on the list");
	ok(!!pcp_alloc(&s->pcp, 9), "yet all 512 can be had in one piece");
	ok(s->pcp.nr_pages == 0, "the list was drained for it");
	setup_close(s);
}

static void test_fallback(void)
{
	static const unsigned expected[] = { 1, 2, 0, 3 };
	struct setup *s = setup_open(4, 2, 10);
	struct folio *folios[4];
	bool good = true;

	for (unsigned i = 0; i < 4; i++) {
		folios[i] = pcp_alloc(&s->pcp, 9);
		good &= folios[i] && folios[i]->zone == expected[i];
	}
	ok(good, "the preferred zone, then the nearest, by index");
	ok(!pcp_alloc(&s->pcp, 9) && !pcp_alloc(&s->pcp, 0), "then nothing");
	for (unsigned i = 0; i < 4; i++)
		pcp_free(&s->pcp, folios[i]);
	good = true;
	for (unsigned i = 0; i < 4; i++)
		good &= all_whole(&s->zones[i]);
	ok(good, "each goes back to its own zone");
	pcp_init(&s->pcp, s->zones, 4, -1, &s->stats);
	ok(s->pcp.zone == &s->zones[0], "no node: the first zone");
	pcp_init(&s->pcp, s->zones, 4, 7, &s->stats);
	ok(s->pcp.zone == &s->zones[0], "a node without a zone: the first zone");
	setup_close(s);
}

/* Random allocations and frees by two threads' lists on two zones, against a map of owners. */
static void test_random(void)
{
	enum { LIVE = 600, ROUNDS = 60000 };
	struct setup *s = setup_open(2, 4, 0);
	size_t frames = s->zones[0].nr_frames;
	unsigned char *owned = calloc(2 * frames, 1);
	struct folio *live[LIVE] = { NULL };
	struct pcp pcps[2];
	uint64_t seed = 20240607;
	unsigned failures = 0;
	bool good = true;

	s->zones[0].pcp_batch = s->zones[1].pcp_batch = PCP_MAX_PAGES;
	pcp_init(&pcps[0], s->zones, 2, 0, &s->stats);
	pcp_init(&pcps[1], s->zones, 2, 10, &s->stats);
	for (unsigned i = 0; good && i < ROUNDS; i++) {
		unsigned slot, order;
		struct pcp *pcp;
		size_t at;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		slot = seed % LIVE;
		pcp = &pcps[seed >> 20 & 1];
		order = (seed >> 30 & 7) < 6 ? seed >> 40 & 3 :
					       (unsigned)(seed >> 40) % 10;
		if (live[slot]) {
			at = live[slot]->zone * frames +
			     zone_frame(&s->zones[live[slot]->zone], live[slot]);
			memset(&owned[at], 0, 1UL << live[slot]->order);
			pcp_free(pcp, live[slot]);
			live[slot] = NULL;
			continue;
		}
		live[slot] = pcp_alloc(pcp, order);
		if (!live[slot]) {
			failures++;
			continue;
		}
		at = live[slot]->zone * frames +
		     zone_frame(&s->zones[live[slot]->zone], live[slot]);
		good &= live[slot]->order == order && !(at & ((1UL << order) - 1));
		for (size_t j = 0; j < 1UL << order; j++)
			good &= !owned[at + j];
		memset(&owned[at], 1, 1UL << order);
		good &= pcps[0].nr_pages <= PCP_MAX_PAGES &&
			pcps[1].nr_pages <= PCP_MAX_PAGES;
	}
	ok(good, "no frame is ever given out twice");
	ok(failures > 0, "the zones ran dry %u times", failures);
	for (unsigned i = 0; i < LIVE; i++)
		if (live[i])
			pcp_free(&pcps[i & 1], live[i]);
	pcp_drain(&pcps[0]);
	pcp_drain(&pcps[1]);
	ok(all_whole(&s->zones[0]) && all_whole(&s->zones[1]),
	   "all pages are back and joined");
	free(owned);
	setup_close(s);
}

static void free_placed(struct setup *s, struct folio *folio)
{
	folio_init(folio, FOLIO_PLACED, 0);
	pcp_free(&s->pcp, folio);
}

static struct folio *take(struct setup *s, size_t frame, unsigned order)
{
	return zone_take(&s->zones[0], frame, order, &s->stats);
}

/* Each order at each place of a 2 MiB block, out of a whole one. */
static void test_take(void)
{
	struct setup *s = setup_open(1, 4, 0);
	struct zone *zone = &s->zones[0];

	for (unsigned order = 0; order < ZONE_NR_ORDERS; order++) {
		bool exact = true, refused = true, whole = true, counted = true;

		for (size_t frame = 0; frame < PMD_NR; frame += 1UL << order) {
			struct folio *folio = take(s, frame, order);

			exact &= folio == &zone->memmap[frame] && folio->order == order;
			counted &= zone->nr_free_pages ==
				   zone->nr_frames - (1UL << order);
			for (size_t i = 0; i < 1UL << order; i++)
				refused &= !take(s, frame + i, 0);
			free_placed(s, folio);
			whole &= all_whole(zone) && !s->pcp.nr_pages;
		}
		ok(exact && counted, "order %u: the frames that were asked for", order);
		ok(refused, "order %u: once taken they are refused", order);
		ok(whole, "order %u: they go back to the zone and are joined", order);
	}
	setup_close(s);
}

/* A block that is free in part: as much as begins there. */
static void test_take_part(void)
{
	struct setup *s = setup_open(1, 4, 0);
	struct folio *hole = take(s, 512 + 300, 0), *parts[2];

	ok(hole && !take(s, 512 + 300, 2), "no block that begins with a taken frame");
	parts[0] = take(s, 512, ZONE_MAX_ORDER);
	ok(parts[0] && parts[0]->order == 8,
	   "512 frames with one taken: the 256 before it, in one piece");
	parts[1] = take(s, 512 + 256, 8);
	ok(parts[1] && parts[1]->order == 5, "256 with one taken: the 32 before it");
	free_placed(s, parts[1]);
	free_placed(s, hole);
	free_placed(s, parts[0]);
	ok(all_whole(&s->zones[0]), "all whole again");
	setup_close(s);
}

/* Taken and given back at random, with others that do not care which frames they get. */
static void test_take_random(void)
{
	struct setup *s = setup_open(1, 8, 0);
	struct zone *zone = &s->zones[0];
	struct folio **held = calloc(zone->nr_frames, sizeof(*held));
	struct folio *any[64] = { 0 };
	uint64_t seed = 99;
	bool good = true;

	if (!held)
		bail("no memory");
	for (unsigned n = 0; n < 40000; n++) {
		size_t frame, slot;
		unsigned order;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		order = seed % ZONE_NR_ORDERS;
		frame = (seed >> 8) % zone->nr_frames & ~((1UL << order) - 1);
		slot = (seed >> 32) % ARRAY_SIZE(any);
		if (held[frame]) {
			free_placed(s, held[frame]);
			held[frame] = NULL;
		} else if (seed >> 50 & 1) {
			held[frame] = take(s, frame, order);
			good &= !held[frame] || (held[frame] == &zone->memmap[frame] &&
						 held[frame]->order <= order);
		} else if (any[slot]) {
			pcp_free(&s->pcp, any[slot]);
			any[slot] = NULL;
		} else {
			any[slot] = pcp_alloc(&s->pcp, order % 4);
			if (any[slot])
				folio_init(any[slot], 0, 0);
		}
	}
	for (size_t i = 0; i < zone->nr_frames; i++)
		if (held[i])
			free_placed(s, held[i]);
	for (size_t i = 0; i < ARRAY_SIZE(any); i++)
		if (any[i])
			pcp_free(&s->pcp, any[i]);
	pcp_drain(&s->pcp);
	ok(good, "random: every block taken is the one that was asked for");
	ok(all_whole(zone), "random: all whole in the end");
	free(held);
	setup_close(s);
}

int main(void)
{
	test_batchsize();
	test_orders();
	test_bulk();
	test_drain_on_failure();
	test_fallback();
	test_random();
	test_take();
	test_take_part();
	test_take_random();
	return done();
}
