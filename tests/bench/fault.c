/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a fault costs: one thread copies 4 KiB records to and from a mapping in the seven
 * phases, with batch=1, batch=512 and on plain memory, interleaved.
 *
 *	tests/bench/fault [ROUNDS [MIB [BATCH]]]
 *
 * Prints ns per record: the lower quartile over all stretches of 512 records in all rounds, which a
 * busy machine disturbs less than a median of whole phases.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/clock.h"
#include "cache/cache.h"
#include "sys/arena.h"

#define RECORD	((size_t)4096)
#define STRETCH 512 /* records */

enum phase {
	INITIAL,
	REWRITE,
	READ,
	REREAD,
	REVERSE,
	RANDOM_READ,
	RANDOM_WRITE,
	NR_PHASES
};
enum side { MEMORY, SINGLE, BATCHED, NR_SIDES };

static const char *const phase_names[NR_PHASES] = {
	"initial-writer", "rewriter",	   "reader",	    "re-reader",
	"reverse-reader", "random-reader", "random-writer",
};

struct times {
	float *ns; /* per record, one a stretch */
	size_t nr;
};

struct bench {
	struct arena arena;
	size_t bytes;
	unsigned batch;
	uint32_t *permutation;
	char *record;
	struct times times[NR_SIDES][NR_PHASES], zero;
	struct cache_counters counters[NR_SIDES][NR_PHASES];
	double unmap_ns[NR_SIDES][NR_PHASES];
};

/* How one side answers a touch. */
struct toucher {
	int (*touch)(struct bench *b, struct toucher *toucher, uint64_t offset,
		     bool write, struct extent *run);
	struct vma *vma;
	struct cache_thread *thread;
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "bench-fault: %s\n", what);
	exit(3);
}

static uint64_t record_offset(const struct bench *b, enum phase phase, size_t i)
{
	size_t nr = b->bytes / RECORD;

	if (phase == REVERSE)
		return (nr - 1 - i) * RECORD;
	if (phase == RANDOM_READ || phase == RANDOM_WRITE)
		return (uint64_t)b->permutation[i] * RECORD;
	return i * RECORD;
}

/* Not a constant: the driver's is none, and compilers copy a constant size in another way. */
static volatile size_t record_bytes = RECORD;

static inline void copy(char *memory, char *record, size_t bytes, bool write)
{
	if (write)
		memcpy(memory, record, bytes);
	else
		memcpy(record, memory, bytes);
	__asm__ volatile("" ::"r"(record) : "memory");
}

static bool is_write(enum phase phase)
{
	return phase == INITIAL || phase == REWRITE || phase == RANDOM_WRITE;
}

static void add(struct times *times, uint64_t start)
{
	times->ns[times->nr++] = (float)(clock_now_ns() - start) / STRETCH;
}

/* The one side without a page cache: 2 MiB at a time, as batch=512 gives them. */
static int memory_touch(struct bench *b, struct toucher *toucher, uint64_t offset,
			bool write, struct extent *run)
{
	(void)toucher;
	(void)write;
	run->start = align_down(offset, PMD_SIZE);
	run->end = run->start + PMD_SIZE;
	run->base = (char *)b->arena.regions[0].base + run->start;
	return 0;
}

static int cache_touch(struct bench *b, struct toucher *toucher, uint64_t offset,
		       bool write, struct extent *run)
{
	(void)b;
	return vma_touch(toucher->vma, toucher->thread, offset, write, run);
}

/* As the driver does: a call for each contiguous run, the same code for all sides. */
static void walk(struct bench *b, struct toucher *toucher, enum phase phase,
		 struct times *times)
{
	bool write = is_write(phase);
	size_t bytes = record_bytes, nr = b->bytes / RECORD;
	struct extent run = { 0 };

	for (size_t i = 0; i < nr; i += STRETCH) {
		uint64_t start = clock_now_ns();

		for (size_t k = i; k < i + STRETCH; k++) {
			uint64_t offset = record_offset(b, phase, k);

			if (offset - run.start >= run.end - run.start)
				if (toucher->touch(b, toucher, offset, write, &run))
					die("a fault failed");
			copy(run.base + (offset - run.start), b->record, bytes, write);
		}
		add(times, start);
	}
}

static int memory_touch_zeroing(struct bench *b, struct toucher *toucher, uint64_t offset,
				bool write, struct extent *run)
{
	memory_touch(b, toucher, offset, write, run);
	memset(run->base, 0, PMD_SIZE);
	return 0;
}

static void memory_round(struct bench *b)
{
	struct toucher toucher = { .touch = memory_touch_zeroing };

	for (size_t at = 0; at < b->bytes; at += PMD_SIZE) {
		uint64_t start = clock_now_ns();

		memset((char *)b->arena.regions[0].base + at, 0, PMD_SIZE);
		add(&b->zero, start);
	}
	for (int phase = INITIAL; phase < NR_PHASES; phase++) {
		walk(b, &toucher, phase, &b->times[MEMORY][phase]);
		toucher.touch = memory_touch;
	}
}

static void cache_round(struct bench *b, enum side side)
{
	struct page_cache_conf conf = {
		.batch = side == SINGLE ? 1 : b->batch,
		.truncate_batch = 1,
		.arena = &b->arena,
		.nr_threads = 1,
	};
	struct page_cache *cache = NULL;
	struct cache_thread *thread;
	struct mapping *mapping;
	struct toucher toucher = { .touch = cache_touch };
	struct reason why;
	struct vma *vma;

	if (page_cache_alloc(&cache, &conf, &why))
		die(why.text);
	if (cache_thread_alloc(&thread, cache, -1, -1) ||
	    mapping_alloc(&mapping, cache, b->bytes) || vma_alloc(&vma, 0, b->bytes, -1))
		die("no memory");
	toucher.vma = vma;
	toucher.thread = thread;
	for (int phase = INITIAL; phase < NR_PHASES; phase++) {
		uint64_t start;

		memset(cache_thread_counters(thread), 0, sizeof(struct cache_counters));
		vma_map(vma, mapping, thread);
		walk(b, &toucher, phase, &b->times[side][phase]);
		b->counters[side][phase] = *cache_thread_counters(thread);
		start = clock_now_ns();
		vma_unmap(vma, thread);
		b->unmap_ns[side][phase] = (double)(clock_now_ns() - start);
	}
	if (page_cache_check(cache, &mapping, 1, &why))
		die(why.text);
	vma_free(vma);
	mapping_free(mapping, thread);
	cache_thread_free(thread);
	page_cache_free(cache);
}

static int compare_floats(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static double quartile(struct times *times)
{
	qsort(times->ns, times->nr, sizeof(*times->ns), compare_floats);
	return (double)times->ns[times->nr / 4];
}

static void permute(struct bench *b)
{
	size_t nr = b->bytes / RECORD;
	uint64_t seed = 88172645463325252ULL;

	for (size_t i = 0; i < nr; i++)
		b->permutation[i] = (uint32_t)i;
	for (size_t i = nr - 1; i > 0; i--) {
		uint32_t swap = b->permutation[i];
		size_t j;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		j = seed % (i + 1);
		b->permutation[i] = b->permutation[j];
		b->permutation[j] = swap;
	}
}

static void print(struct bench *b, unsigned rounds)
{
	printf("%zu MiB, %u rounds, ns per 4 KiB record; zeroing alone %.0f\n",
	       b->bytes >> 20, rounds, quartile(&b->zero));
	printf("%-15s %8s %8s %8s %10s %10s %9s %9s\n", "", "memory", "batch=1",
	       "batched", "of memory", "of batch=1", "faults=1", "faults");
	for (int phase = INITIAL; phase < NR_PHASES; phase++) {
		double memory = quartile(&b->times[MEMORY][phase]);
		double single = quartile(&b->times[SINGLE][phase]);
		double batched = quartile(&b->times[BATCHED][phase]);

		printf("%-15s %8.0f %8.0f %8.0f %10.2f %10.2f %9llu %9llu  unmap %.1f %.1f\n",
		       phase_names[phase], memory, single, batched, memory / batched,
		       single / batched,
		       (unsigned long long)b->counters[SINGLE][phase].faults,
		       (unsigned long long)b->counters[BATCHED][phase].faults,
		       b->unmap_ns[SINGLE][phase] / (double)(b->bytes / RECORD),
		       b->unmap_ns[BATCHED][phase] / (double)(b->bytes / RECORD));
	}
	printf("memory, initial-writer: zeroing 2 MiB, then copying; batched reaches %.2f of it "
	       "(at least 0.85 wanted)\n",
	       quartile(&b->times[MEMORY][INITIAL]) /
		       quartile(&b->times[BATCHED][INITIAL]));
}

static float *new_times(const struct bench *b, unsigned rounds)
{
	float *ns = malloc(b->bytes / RECORD / STRETCH * rounds * sizeof(*ns));

	if (!ns)
		die("no memory");
	return ns;
}

int main(int argc, char **argv)
{
	static struct bench b;
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 7;
	unsigned nid = 0;
	struct reason why;
	size_t arena;

	b.bytes = (size_t)(argc > 2 ? atoi(argv[2]) : 512) << 20;
	b.batch = argc > 3 ? (unsigned)atoi(argv[3]) : 512;
	if (!rounds || b.bytes < STRETCH * RECORD || b.bytes % (STRETCH * RECORD))
		die("usage: fault [ROUNDS [MIB [BATCH]]], an even number of MiB");
	arena = b.bytes + (2 << 20);
	if (arena_resize(&b.arena, &nid, &arena, 1, &why))
		die(why.text);
	b.permutation = malloc(b.bytes / RECORD * sizeof(*b.permutation));
	b.record = arena_private_alloc(RECORD, -1);
	if (!b.permutation || !b.record)
		die("no memory");
	permute(&b);
	b.zero.ns = new_times(&b, rounds);
	for (int side = 0; side < NR_SIDES; side++)
		for (int phase = 0; phase < NR_PHASES; phase++)
			b.times[side][phase].ns = new_times(&b, rounds);
	for (unsigned round = 0; round < rounds; round++)
		for (int i = 0; i < NR_SIDES; i++) {
			int side = round & 1 ? NR_SIDES - 1 - i : i;

			if (side == MEMORY)
				memory_round(&b);
			else
				cache_round(&b, side);
		}
	print(&b, rounds);
	for (int side = 0; side < NR_SIDES; side++)
		for (int phase = 0; phase < NR_PHASES; phase++)
			free(b.times[side][phase].ns);
	free(b.zero.ns);
	free(b.permutation);
	arena_private_free(b.record, RECORD);
	arena_destroy(&b.arena);
	return 0;
}
