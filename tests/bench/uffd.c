/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who should resolve real faults into the page cache: the thread that faulted, in its
 * SIGBUS handler, or another one that reads messages from the userfaultfd, be it one for
 * each worker or one for all? Workers store a word to each page of a file of their own,
 * which is new at first and then resident, with batch=1 and batch=512; the three ways
 * take turns.
 *
 *	tests/bench/uffd [ROUNDS [MIB]]
 *
 * Prints ns per page, from the start of all workers to the end of the last, over all
 * pages, and the CPU time that all threads took for a page, which other load of the
 * machine disturbs less: the median of the rounds with the least and the most. Behind
 * each how many times that of SIGBUS it is, as the median of the ratios of each round.
 * Workers are bound to a CPU each, in turn; handlers are not.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/clock.h"
#include "cache/cache.h"
#include "sys/arena.h"
#include "sys/sigbus.h"
#include "sys/uffd.h"

#define MAX_WORKERS 16
#define MAX_ROUNDS  100
#define MESSAGES    16 /* read at once */

enum delivery { BY_SIGBUS, HANDLER_EACH, HANDLER_FOR_ALL, NR_DELIVERIES };
enum figure { ELAPSED, CPU_TIME, NR_FIGURES };
enum phase { PHASE_NEW, PHASE_RESIDENT, NR_PHASES };

static const char *const delivery_names[NR_DELIVERIES] = { "SIGBUS", "handler each",
							   "one handler" };
static const char *const phase_names[NR_PHASES] = { "new", "resident" };
static const unsigned worker_counts[] = { 1, 2, 16 };
static const unsigned batches[] = { 1, 512 };

struct worker {
	struct run *run;
	unsigned id;
	pthread_t thread;
	struct cache_thread *cache_thread;
	struct mapping *file;
	struct vma *vma;
	char *base; /* of the mapped file */
	uint64_t memory_offset;
	struct handler *handler; /* NULL: by SIGBUS */
	int fd;
	uint64_t end_ns[NR_PHASES];
};

struct handler {
	struct run *run;
	pthread_t thread;
	int fd, stop_fd;
};

/* One delivery, one batch, one number of workers. */
struct run {
	struct page_cache *cache;
	enum delivery delivery;
	unsigned nr, batch;
	size_t share; /* bytes of each worker */
	int memory_fd;
	pthread_barrier_t phases; /* all of them */
	pthread_barrier_t all;	  /* main and handlers too */
	pthread_barrier_t ends;	  /* main too */
	uint64_t start_ns[NR_PHASES], cpu_ns[NR_PHASES];
	struct worker workers[MAX_WORKERS];
	struct handler handlers[MAX_WORKERS];
};

static double times[ARRAY_SIZE(worker_counts)][ARRAY_SIZE(batches)][NR_PHASES]
		   [NR_DELIVERIES][NR_FIGURES][MAX_ROUNDS];

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "bench-uffd: %s\n", what);
	exit(3);
}

/* Of all threads. */
static uint64_t cpu_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* As the engine does (engine_cache_uffd.c). */
static bool resolve(struct worker *worker, struct cache_thread *thread, uintptr_t address)
{
	uint64_t batch = worker->run->batch * PAGE_SIZE;
	uint64_t offset = align_down(address - (uintptr_t)worker->base, PAGE_SIZE);
	uint64_t at = align_down(offset, batch), end = at + batch, run_end;
	struct extent extent;

	if (offset >= worker->run->share ||
	    vma_touch(worker->vma, thread, offset, true, &extent))
		return false;
	while (vma_next_run(worker->vma, at, end, &at, &run_end)) {
		if (uffd_continue(worker->fd, worker->base + at, run_end - at))
			return false;
		at = run_end;
	}
	return true;
}

static bool resolve_own(void *arg, uintptr_t address)
{
	struct worker *worker = arg;

	return resolve(worker, worker->cache_thread, address);
}

static void handle(struct handler *handler, struct cache_thread *thread)
{
	struct uffd_msg messages[MESSAGES];
	ssize_t len = read(handler->fd, messages, sizeof(messages));

	for (ssize_t i = 0; i < len / (ssize_t)sizeof(*messages); i++) {
		uintptr_t address = messages[i].arg.pagefault.address;
		struct run *run = handler->run;
		bool found = false;

		for (unsigned w = 0; w < run->nr && !found; w++)
			found = address - (uintptr_t)run->workers[w].base < run->share &&
				resolve(&run->workers[w], thread, address);
		if (!found)
			die("a fault was not resolved");
	}
}

static void *handler_main(void *arg)
{
	struct handler *handler = arg;
	struct pollfd fds[2] = { { .fd = handler->fd, .events = POLLIN },
				 { .fd = handler->stop_fd, .events = POLLIN } };
	struct cache_thread *thread;

	if (cache_thread_alloc(&thread, handler->run->cache, -1, -1))
		die("no memory");
	pthread_barrier_wait(&handler->run->all);
	for (;;) {
		if (poll(fds, 2, -1) < 0)
			die("poll");
		if (fds[1].revents)
			break;
		handle(handler, thread);
	}
	cache_thread_free(thread);
	return NULL;
}

static int touch_all(void *arg)
{
	struct worker *worker = arg;

	for (size_t at = 0; at < worker->run->share; at += PAGE_SIZE)
		*(volatile uint64_t *)(void *)(worker->base + at) = at;
	return 0;
}

static void map(struct worker *worker)
{
	struct run *run = worker->run;

	if (mmap(worker->base, run->share, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 run->memory_fd, (off_t)worker->memory_offset) == MAP_FAILED)
		die("mmap");
	if (uffd_register(worker->fd, worker->base, run->share,
			  UFFDIO_REGISTER_MODE_MINOR))
		die("cannot register");
	vma_map(worker->vma, worker->file, worker->cache_thread);
}

/* In one step: no other mapping gets in between. */
static void unmap(struct worker *worker)
{
	if (mmap(worker->base, worker->run->share, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		die("mmap");
}

static void bind_to_cpu(unsigned id)
{
	cpu_set_t allowed, one;
	int nr;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	nr = (int)id % CPU_COUNT(&allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed) || nr--)
			continue;
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	struct run *run = worker->run;
	struct sigbus_guard guard = { .resolve = worker->handler ? NULL : resolve_own,
				      .arg = worker };

	bind_to_cpu(worker->id);
	if (cache_thread_alloc(&worker->cache_thread, run->cache, -1, -1))
		die("no memory");
	pthread_barrier_wait(&run->all);
	for (int phase = 0; phase < NR_PHASES; phase++) {
		map(worker);
		pthread_barrier_wait(&run->phases);
		if (!worker->id)
			run->cpu_ns[phase] = cpu_now_ns();
		if (!worker->id)
			run->start_ns[phase] = clock_now_ns();
		if (sigbus_run(&guard, touch_all, worker))
			die("a fault was not resolved");
		worker->end_ns[phase] = clock_now_ns();
		pthread_barrier_wait(&run->phases);
		if (!worker->id)
			run->cpu_ns[phase] = cpu_now_ns() - run->cpu_ns[phase];
		unmap(worker);
		vma_unmap(worker->vma, worker->cache_thread);
	}
	pthread_barrier_wait(&run->ends); /* handlers are to end, ... */
	pthread_barrier_wait(&run->ends); /* ... and have given up their references */
	mapping_free(worker->file, worker->cache_thread);
	cache_thread_free(worker->cache_thread);
	return NULL;
}

static void prepare_worker(struct run *run, unsigned id, char *range)
{
	struct worker *worker = &run->workers[id];
	struct reason why;

	*worker = (struct worker){ .run = run,
				   .id = id,
				   .base = range + id * (run->share + PMD_SIZE),
				   .memory_offset = id * run->share };
	if (mapping_alloc(&worker->file, run->cache, run->share) ||
	    mapping_place(worker->file, 0, worker->memory_offset / PAGE_SIZE) ||
	    vma_alloc(&worker->vma, 0, run->share, -1))
		die("no memory");
	if (run->delivery == BY_SIGBUS) {
		worker->fd =
			uffd_open(UFFD_FEATURE_SIGBUS | UFFD_FEATURE_MINOR_SHMEM, &why);
	} else {
		worker->handler = &run->handlers[run->delivery == HANDLER_EACH ? id : 0];
		worker->fd = run->delivery == HANDLER_FOR_ALL && id ?
				     run->workers[0].fd :
				     uffd_open(UFFD_FEATURE_MINOR_SHMEM, &why);
		worker->handler->fd = worker->fd;
		worker->handler->run = run;
	}
	if (worker->fd < 0)
		die(why.text);
}

static void run_threads(struct run *run, unsigned nr_handlers)
{
	const uint64_t one = 1;

	pthread_barrier_init(&run->phases, NULL, run->nr);
	pthread_barrier_init(&run->all, NULL, run->nr + nr_handlers + 1);
	pthread_barrier_init(&run->ends, NULL, run->nr + 1);
	for (unsigned i = 0; i < nr_handlers; i++) {
		run->handlers[i].stop_fd = eventfd(0, EFD_CLOEXEC);
		if (run->handlers[i].stop_fd < 0 ||
		    pthread_create(&run->handlers[i].thread, NULL, handler_main,
				   &run->handlers[i]))
			die("no handler");
	}
	for (unsigned i = 0; i < run->nr; i++)
		if (pthread_create(&run->workers[i].thread, NULL, worker_main,
				   &run->workers[i]))
			die("no worker");
	pthread_barrier_wait(&run->all);
	pthread_barrier_wait(&run->ends);
	for (unsigned i = 0; i < nr_handlers; i++) {
		if (write(run->handlers[i].stop_fd, &one, sizeof(one)) != sizeof(one))
			die("cannot stop a handler");
		pthread_join(run->handlers[i].thread, NULL);
		close(run->handlers[i].stop_fd);
	}
	pthread_barrier_wait(&run->ends);
	for (unsigned i = 0; i < run->nr; i++)
		pthread_join(run->workers[i].thread, NULL);
	pthread_barrier_destroy(&run->phases);
	pthread_barrier_destroy(&run->all);
	pthread_barrier_destroy(&run->ends);
}

/* ns per page, to @ns. */
static void measure(struct arena *arena, char *range, enum delivery delivery, unsigned nr,
		    unsigned batch, size_t bytes, double ns[NR_PHASES][NR_FIGURES])
{
	static struct run run;
	struct page_cache_conf conf = {
		.batch = batch,
		.truncate_batch = 15,
		.arena = arena,
		.nr_threads = 2 * nr,
		.trapped = true,
	};
	unsigned nr_fds = delivery == HANDLER_FOR_ALL ? 1 : nr;
	struct reason why;

	run = (struct run){ .delivery = delivery,
			    .nr = nr,
			    .batch = batch,
			    .share = align_down(bytes / nr, PMD_SIZE),
			    .memory_fd = arena->regions[0].fd };
	if (page_cache_alloc(&run.cache, &conf, &why))
		die(why.text);
	for (unsigned i = 0; i < nr; i++)
		prepare_worker(&run, i, range);
	run_threads(&run, delivery == BY_SIGBUS ? 0 : nr_fds);
	for (int phase = 0; phase < NR_PHASES; phase++) {
		double pages = (double)(nr * run.share / PAGE_SIZE);
		uint64_t end = 0;

		for (unsigned i = 0; i < nr; i++)
			end = max_u64(end, run.workers[i].end_ns[phase]);
		ns[phase][ELAPSED] = (double)(end - run.start_ns[phase]) / pages;
		ns[phase][CPU_TIME] = (double)run.cpu_ns[phase] / pages;
	}
	for (unsigned i = 0; i < nr; i++) {
		vma_free(run.workers[i].vma);
		if (i < nr_fds)
			close(run.workers[i].fd);
	}
	page_cache_free(run.cache);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *values, unsigned nr, double *least, double *most)
{
	double sorted[MAX_ROUNDS];

	memcpy(sorted, values, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), compare);
	*least = sorted[0];
	*most = sorted[nr - 1];
	return (sorted[(nr - 1) / 2] + sorted[nr / 2]) / 2;
}

/* "median (least-most) ratio (least-most)" */
static void print_figure(const double *ns, const double *by_sigbus, unsigned nr)
{
	double ratios[MAX_ROUNDS], mid, least, most;
	char text[64];

	mid = median(ns, nr, &least, &most);
	snprintf(text, sizeof(text), "%.0f (%.0f-%.0f)", mid, least, most);
	printf(" %-20s", text);
	for (unsigned r = 0; r < nr; r++)
		ratios[r] = ns[r] / by_sigbus[r];
	mid = median(ratios, nr, &least, &most);
	snprintf(text, sizeof(text), "%.2f (%.2f-%.2f)", mid, least, most);
	printf(" %-17s", text);
}

static void print(unsigned rounds)
{
	printf("%-3s %-5s %-8s %-12s %-20s %-17s %-20s %s\n", "thr", "batch", "pages",
	       "resolved by", "ns per page", "of SIGBUS", "CPU ns per page", "of SIGBUS");
	for (size_t w = 0; w < ARRAY_SIZE(worker_counts); w++)
		for (size_t b = 0; b < ARRAY_SIZE(batches); b++)
			for (int p = 0; p < NR_PHASES; p++)
				for (int d = 0; d < NR_DELIVERIES; d++) {
					printf("%-3u %-5u %-8s %-12s", worker_counts[w],
					       batches[b], phase_names[p],
					       delivery_names[d]);
					for (int f = 0; f < NR_FIGURES; f++)
						print_figure(times[w][b][p][d][f],
							     times[w][b][p][BY_SIGBUS][f],
							     rounds);
					printf("\n");
				}
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 7;
	size_t bytes = (size_t)(argc > 2 ? atoi(argv[2]) : 64) << 20;
	struct arena arena = { .shared = true };
	const unsigned nid = 0;
	struct reason why;
	char *range;

	if (!rounds || rounds > MAX_ROUNDS || bytes < MAX_WORKERS * PMD_SIZE)
		die("usage: uffd [ROUNDS [MIB]], at least 32 MiB");
	if (sigbus_install(&why) || arena_resize(&arena, &nid, &bytes, 1, &why))
		die(why.text);
	/* Ranges of workers lie 2 MiB apart, so that they share no page table. */
	range = mmap(NULL, bytes + (MAX_WORKERS + 1) * PMD_SIZE, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (range == MAP_FAILED)
		die("no address space");
	range += -(uintptr_t)range & (PMD_SIZE - 1);
	for (unsigned r = 0; r < rounds; r++)
		for (size_t w = 0; w < ARRAY_SIZE(worker_counts); w++)
			for (size_t b = 0; b < ARRAY_SIZE(batches); b++)
				for (int i = 0; i < NR_DELIVERIES; i++) {
					int d = r & 1 ? NR_DELIVERIES - 1 - i : i;
					double ns[NR_PHASES][NR_FIGURES];

					measure(&arena, range, d, worker_counts[w],
						batches[b], bytes, ns);
					for (int p = 0; p < NR_PHASES; p++)
						for (int f = 0; f < NR_FIGURES; f++)
							times[w][b][p][d][f][r] =
								ns[p][f];
				}
	print(rounds);
	arena_destroy(&arena);
	return 0;
}
