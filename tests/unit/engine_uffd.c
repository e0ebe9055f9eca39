/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache:map=uffd: the memory that workers touch is the page cache's own, and each of
 * their faults is one of the page cache, no more and no less.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bits.h"
#include "engine/engine.h"
#include "sys/arena.h"
#include "sys/sigbus.h"
#include "tap.h"

#define MAX_WORKERS 4
#define RECORD	    100 /* bytes: crosses pages, and ends anywhere in them */

struct crew {
	struct engine engine;
	struct arena arena;
	struct engine_setup setup;
	struct share shares[MAX_WORKERS];
	uint64_t file_bytes[MAX_WORKERS];
	pthread_barrier_t barrier;
};

/* What one worker did in a phase. */
struct job {
	struct crew *crew;
	pthread_t thread;
	struct engine_worker worker;
	bool write, verify;
	unsigned version; /* what is stored or expected */
	int err;
	unsigned long wrong;
	struct cache_counters counters[2]; /* of a new file, then of a resident one */
};

static char pattern(uint64_t offset, unsigned version)
{
	return (char)(offset * 2654435761u >> 9 ^ version * 97);
}

/* Through the engine as the driver's loop does it: a call for each run, copies within it. */
static int walk(void *arg)
{
	struct job *job = arg;
	const struct share *share = job->worker.share;
	struct extent run = { 0 };
	char record[RECORD];

	for (uint64_t at = share->start; at < share->end; at += RECORD) {
		uint64_t end = min_u64(at + RECORD, share->end);

		for (uint64_t i = at; i < end; i++)
			record[i - at] = pattern(i, job->version);
		for (uint64_t i = at, part; i < end; i += part) {
			char *memory;

			if (i < run.start || i >= run.end) {
				int err = job->crew->engine.ops->fault(&job->worker, i,
								       job->write, &run);

				if (err)
					return err;
			}
			part = min_u64(end, run.end) - i;
			memory = run.base + (i - run.start);
			if (job->write)
				memcpy(memory, &record[i - at], part);
			else
				job->wrong += !!memcmp(memory, &record[i - at], part);
		}
	}
	return 0;
}

static int phase(struct job *job, bool write, unsigned version,
		 struct cache_counters *counters)
{
	const struct engine_ops *ops = job->crew->engine.ops;
	struct sigbus_guard guard = { .resolve = ops->resolve, .arg = &job->worker };
	struct engine_counters all;
	struct reason why;
	int err;

	pthread_barrier_wait(&job->crew->barrier);
	err = ops->map(&job->worker, &why);
	if (err)
		return err;
	job->write = write;
	job->version = version;
	ops->reset_counters(&job->worker);
	pthread_barrier_wait(&job->crew->barrier);
	err = sigbus_run(&guard, walk, job);
	ops->counters(&job->worker, &all);
	pthread_barrier_wait(&job->crew->barrier);
	ops->unmap(&job->worker);
	pthread_barrier_wait(&job->crew->barrier);
	if (counters)
		*counters = all.cache;
	return err;
}

static void *run_job(void *arg)
{
	struct job *job = arg;
	const struct engine_ops *ops = job->crew->engine.ops;
	struct reason why;

	job->err = ops->worker_start(&job->worker, &why);
	for (unsigned pass = 0; pass < 2 && !job->err; pass++) {
		job->err = ops->empty(&job->worker, &why);
		if (!job->err)
			job->err = phase(job, true, pass, &job->counters[0]);
		if (!job->err)
			job->err = phase(job, false, pass, &job->counters[1]);
	}
	if (!job->err)
		job->err = phase(job, true, 7, NULL);
	if (!job->err)
		job->err = phase(job, false, 7, NULL);
	ops->worker_stop(&job->worker);
	return NULL;
}

static void crew_open(struct crew *crew, const char *spec, unsigned nr, uint64_t bytes,
		      bool shared)
{
	const unsigned nid = 0;
	struct reason why;
	size_t need = 0;

	memset(crew, 0, sizeof(*crew));
	if (engine_parse(&crew->engine, spec, &why))
		bail("%s", why.text);
	for (unsigned i = 0; i < nr; i++) {
		struct share *share = &crew->shares[i];

		*share = (struct share){ .file = shared ? 0 : i,
					 .start = shared ? bytes * i / nr : 0,
					 .end = shared ? bytes * (i + 1) / nr : bytes,
					 .mem_node = 0,
					 .first = !shared || !i };
		crew->file_bytes[share->file] = bytes;
	}
	crew->setup = (struct engine_setup){ .arena = &crew->arena,
					     .nr_workers = nr,
					     .shares = crew->shares,
					     .nr_files = shared ? 1 : nr,
					     .file_bytes = crew->file_bytes };
	for (unsigned i = 0; i < nr; i++)
		need += crew->engine.ops->arena_need(&crew->engine, &crew->setup, i);
	crew->arena.shared = true;
	if (arena_resize(&crew->arena, &nid, &need, 1, &why) ||
	    crew->engine.ops->start(&crew->engine, &crew->setup, &why))
		bail("%s", why.text);
	pthread_barrier_init(&crew->barrier, NULL, nr);
}

static void crew_close(struct crew *crew)
{
	crew->engine.ops->stop(&crew->engine);
	arena_destroy(&crew->arena);
	engine_destroy(&crew->engine);
	pthread_barrier_destroy(&crew->barrier);
}

/* All passes by @nr workers; the sums of what they counted. True: all bytes were right. */
static bool run(const char *spec, unsigned nr, uint64_t bytes, bool shared,
		struct cache_counters sums[2])
{
	struct job jobs[MAX_WORKERS];
	struct crew crew;
	bool good = true;

	memset(sums, 0, 2 * sizeof(*sums));
	crew_open(&crew, spec, nr, bytes, shared);
	for (unsigned i = 0; i < nr; i++) {
		jobs[i] = (struct job){ .crew = &crew,
					.worker = { .engine = &crew.engine,
						    .id = i,
						    .share = &crew.shares[i] } };
		if (pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i]))
			bail("no thread");
	}
	for (unsigned i = 0; i < nr; i++) {
		pthread_join(jobs[i].thread, NULL);
		if (jobs[i].err)
			bail("worker %u: %s", i, strerror(-jobs[i].err));
		good &= !jobs[i].wrong;
		for (int p = 0; p < 2; p++) {
			sums[p].faults += jobs[i].counters[p].faults;
			sums[p].minor_faults += jobs[i].counters[p].minor_faults;
			sums[p].pages_inserted += jobs[i].counters[p].pages_inserted;
			sums[p].pmd_mapped_bytes += jobs[i].counters[p].pmd_mapped_bytes;
			sums[p].tree.acquisitions +=
				jobs[i].counters[p].tree.acquisitions;
			sums[p].mmap.acquisitions +=
				jobs[i].counters[p].mmap.acquisitions;
		}
	}
	crew_close(&crew);
	return good;
}

static void test_one(unsigned batch, uint64_t bytes)
{
	uint64_t pages = div_round_up(bytes, PAGE_SIZE);
	uint64_t windows = div_round_up(pages, batch);
	struct cache_counters real[2], soft[2];
	char spec[64];
	bool good;

	snprintf(spec, sizeof(spec), "cache:batch=%u,map=uffd", batch);
	good = run(spec, 1, bytes, false, real);
	snprintf(spec, sizeof(spec), "cache:batch=%u,map=soft", batch);
	ok(good && run(spec, 1, bytes, false, soft),
	   "batch %u, %llu bytes: what is stored is loaded", batch,
	   (unsigned long long)bytes);
	ok(real[0].faults == windows && real[1].faults == windows,
	   "batch %u, %llu bytes: a fault a batch, new or resident (%llu, %llu)", batch,
	   (unsigned long long)bytes, (unsigned long long)real[0].faults,
	   (unsigned long long)real[1].faults);
	ok(real[0].pages_inserted == pages && !real[1].pages_inserted &&
		   !real[0].minor_faults && real[1].minor_faults == windows,
	   "batch %u, %llu bytes: each page is inserted once", batch,
	   (unsigned long long)bytes);
	ok(real[0].tree.acquisitions == soft[0].tree.acquisitions &&
		   real[1].tree.acquisitions == soft[1].tree.acquisitions &&
		   real[0].mmap.acquisitions == soft[0].mmap.acquisitions &&
		   real[1].mmap.acquisitions == soft[1].mmap.acquisitions,
	   "batch %u, %llu bytes: as many locks as with soft faults", batch,
	   (unsigned long long)bytes);
	ok(!real[0].pmd_mapped_bytes && !real[1].pmd_mapped_bytes,
	   "batch %u, %llu bytes: real page tables have no huge entries", batch,
	   (unsigned long long)bytes);
}

static void test_many(unsigned batch, bool shared, uint64_t bytes)
{
	uint64_t pages = div_round_up(bytes, PAGE_SIZE) * (shared ? 1 : MAX_WORKERS);
	struct cache_counters sums[2];
	char spec[64];

	snprintf(spec, sizeof(spec), "cache:batch=%u,map=uffd", batch);
	ok(run(spec, MAX_WORKERS, bytes, shared, sums),
	   "batch %u, %u workers, %s: what is stored is loaded", batch, MAX_WORKERS,
	   shared ? "one file" : "files of their own");
	ok(sums[0].pages_inserted == pages && !sums[1].pages_inserted,
	   "batch %u, %u workers, %s: each page is inserted once", batch, MAX_WORKERS,
	   shared ? "one file" : "files of their own");
}

static int store_elsewhere(void *arg)
{
	*(volatile char *)arg = 1;
	return 0;
}

/* A SIGBUS that has nothing to do with the file ends the loop and is told. */
static void test_stranger(void)
{
	int fd = memfd_create("empty", MFD_CLOEXEC);
	char *empty = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct crew crew;
	struct engine_worker worker = { .engine = &crew.engine, .share = crew.shares };
	struct sigbus_guard guard = { .arg = &worker };
	struct reason why = { "" };
	int err;

	crew_open(&crew, "cache:batch=1,map=uffd", 1, PMD_SIZE, false);
	if (empty == MAP_FAILED || crew.engine.ops->worker_start(&worker, &why) ||
	    crew.engine.ops->map(&worker, &why))
		bail("%s", why.text);
	guard.resolve = crew.engine.ops->resolve;
	err = sigbus_run(&guard, store_elsewhere, empty);
	ok(err == -EFAULT && guard.address == (uintptr_t)empty,
	   "a fault of other memory is not resolved");
	crew.engine.ops->explain(&worker, err, &guard, &why);
	ok(strstr(why.text, "SIGBUS"), "and is told (%s)", why.text);
	crew.engine.ops->unmap(&worker);
	crew.engine.ops->worker_stop(&worker);
	crew_close(&crew);
	munmap(empty, PAGE_SIZE);
	close(fd);
}

/* Frames that the arena cannot have: the reason, not a crash. */
static void test_no_room(void)
{
	const unsigned nid = 0;
	size_t bytes = PMD_SIZE;
	uint64_t file_bytes = 2 * PMD_SIZE;
	struct arena arena = { .shared = true };
	struct share share = { .end = file_bytes, .first = true };
	struct engine_setup setup = { .arena = &arena,
				      .nr_workers = 1,
				      .shares = &share,
				      .nr_files = 1,
				      .file_bytes = &file_bytes };
	struct reason why = { "" };
	struct engine engine;

	if (engine_parse(&engine, "cache:batch=512,map=uffd", &why) ||
	    arena_resize(&arena, &nid, &bytes, 1, &why))
		bail("%s", why.text);
	ok(engine.ops->start(&engine, &setup, &why) == -ENOMEM && *why.text,
	   "an arena that is too small is refused (%s)", why.text);
	arena_destroy(&arena);
	engine_destroy(&engine);
}

int main(void)
{
	struct engine engine;
	struct reason why;

	if (engine_parse(&engine, "cache:batch=1,map=uffd", &why))
		bail("%s", why.text);
	if (engine.ops->open(&engine, NULL, 0, &why))
		skip_all(why.text);
	ok(engine.flags & ENGINE_REAL_FAULTS && engine.flags & ENGINE_SHARED_ARENA &&
		   engine.conf.cache.uffd,
	   "map=uffd: faults are real, the arena is shared");
	engine_destroy(&engine);

	test_one(1, 8 * PMD_SIZE);
	test_one(512, 8 * PMD_SIZE);
	test_one(1, 5 * PAGE_SIZE + 77);
	test_one(16, PMD_SIZE + 300 * PAGE_SIZE + 1);
	test_one(512, PMD_SIZE + 300 * PAGE_SIZE + 1);
	test_many(1, false, PMD_SIZE + 5 * PAGE_SIZE);
	test_many(512, false, 3 * PMD_SIZE);
	test_many(1, true, 2 * PMD_SIZE + 12345);
	test_many(16, true, 2 * PMD_SIZE + 12345);
	test_many(512, true, 4 * PMD_SIZE + 12345);
	test_stranger();
	test_no_room();
	return done();
}
