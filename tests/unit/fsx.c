/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random stores, loads, holes, resizings, mappings and unmappings, held against a plain
 * model (what fsx does to file systems; guarantees K, M and N of mapping.h).
 *
 *	tests/unit/fsx [SEED]
 *
 * A seed decides everything: the page cache, the files, the number of threads and what they do.
 * There are four kinds of runs:
 *   alone     one thread, one file: the model is exact, and so is a replay;
 *   private   every thread has a file of its own: exact, the page cache is shared;
 *   disjoint  every thread has some bytes of one file, not cut at pages: exact for those bytes, while
 *             others punch holes beside them and resize the file behind all of them;
 *   overlap   all threads work on all of one file. Every stored word says where it belongs, who
 *             stored it and which store it was; a load finds one that was stored, or zero.
 *             Between epochs, when all is quiet: what nobody cut is the last store of somebody.
 * With several threads a replay repeats what each thread does, not how they meet.
 *
 * Without a seed it runs those of continuous integration, 40 x PAGEZONE_FSX_OPS operations
 * (default 25000, less where instructions are slow).
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "cache_env.h"
#include "race_point.h"

#define MAX_THREADS 8
#define NR_SEEDS    40
#define EPOCH_OPS   400 /* of each thread */
#define MAX_LOGGED  EPOCH_OPS

enum kind { ALONE, PRIVATE, DISJOINT, OVERLAP, NR_KINDS };

static const char *const kind_names[] = { "alone", "private", "disjoint", "overlap" };

/* Bytes that somebody cut out in an epoch. */
struct cut {
	uint64_t start, end;
};

struct worker {
	struct run *run;
	unsigned id;
	uint64_t random;
	pthread_t pthread;
	struct cache_thread *thread;
	struct mapping *mapping;
	struct vma *whole, *part;
	/* Exact: */
	uint64_t lo, hi; /* the bytes of the file that are this worker's */
	uint64_t size;	 /* of the file, when it is this worker's alone */
	char *model, *buffer;
	/* Overlap: */
	_Atomic uint32_t generation; /* of its last store, published before it */
	uint32_t *last;		     /* generation of its last store of each word */
	uint32_t epoch_generation;   /* when the epoch began */
	struct cut cuts[MAX_LOGGED];
	unsigned nr_cuts;
};

struct run {
	struct env env;
	uint64_t seed;
	enum kind kind;
	unsigned batch, truncate_batch, nr_threads;
	bool placed;
	uint64_t bytes;	   /* the largest size of a file */
	uint64_t min_size; /* of a shared file: it never gets smaller */
	unsigned long ops; /* of each thread */
	struct mapping *mappings[MAX_THREADS];
	unsigned nr_mappings;
	struct worker workers[MAX_THREADS];
	pthread_barrier_t barrier;
	_Atomic unsigned wrong;
	/* Overlap: what each word was when the epoch began, and whether it was cut since. */
	uint64_t *base, *now;
	char *cut;
};

__attribute__((format(printf, 2, 3))) static void fail(struct run *run, const char *fmt,
						       ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (run->wrong++ < 5)
		printf("# %s\n", text);
}

static uint64_t pick(struct worker *w, uint64_t nr)
{
	return env_random(&w->random) % nr;
}

/* Mostly near something where mistakes like to be: pages, 2 MiB, both ends. */
static uint64_t pick_offset(struct worker *w, uint64_t lo, uint64_t hi)
{
	uint64_t at = lo + pick(w, hi - lo);

	switch (pick(w, 8)) {
	case 0:
		at = align_down(at, PAGE_SIZE);
		break;
	case 1:
		at = align_down(at, PAGE_SIZE) + pick(w, 3) - 1;
		break;
	case 2:
		at = align_down(at, PMD_SIZE) + pick(w, 3 * PAGE_SIZE) - PAGE_SIZE;
		break;
	case 3:
		at = hi - 1 - pick(w, min_u64(hi - lo, 2 * PAGE_SIZE));
		break;
	default:
		break;
	}
	return at < lo || at >= hi ? lo : at;
}

static uint64_t pick_length(struct worker *w)
{
	switch (pick(w, 16)) {
	case 0:
		return 1 + pick(w, 40 * PAGE_SIZE);
	case 1:
	case 2:
		return 1 + pick(w, 3 * PAGE_SIZE);
	default:
		return 1 + pick(w, 300);
	}
}

/* min_u64() is a macro: what is picked is picked once, by a function. */
static uint64_t pick_end(struct worker *w, uint64_t at, uint64_t hi)
{
	uint64_t end = at + pick_length(w);

	return min_u64(end, hi);
}

static struct vma *pick_vma(struct worker *w, uint64_t start, uint64_t end)
{
	bool inside = start >= w->part->start && end <= w->part->end;

	return inside && pick(w, 3) == 0 ? w->part : w->whole;
}

static void remap(struct worker *w)
{
	struct vma *vma = pick(w, 2) ? w->whole : w->part;

	vma_unmap(vma, w->thread);
	vma_map(vma, w->mapping, w->thread);
}

/* Exact models. */

/* The next bytes that can be reached, or none: *@run is open then. */
static bool exact_touch(struct worker *w, struct vma *vma, uint64_t at, bool write,
			struct extent *run)
{
	uint64_t size = w->run->kind == DISJOINT ? w->run->min_size : w->size;
	int err = vma_touch_begin(vma, w->thread, at, write, run);

	if (err == -EFAULT && at >= size)
		return false;
	if (err)
		fail(w->run, "touch of byte %llu: error %d, the size is %llu",
		     (unsigned long long)at, err, (unsigned long long)size);
	else if (at >= size || run->start > at || run->end <= at)
		fail(w->run, "touch of byte %llu: [%llu, %llu), the size is %llu",
		     (unsigned long long)at, (unsigned long long)run->start,
		     (unsigned long long)run->end, (unsigned long long)size);
	if (!err && (at >= size || run->start > at || run->end <= at))
		vma_touch_end();
	else if (!err)
		return true;
	return false;
}

static void exact_access(struct worker *w, bool write)
{
	uint64_t at = pick_offset(w, w->lo, w->hi);
	uint64_t end = pick_end(w, at, w->hi);
	struct vma *vma = pick_vma(w, at, end);
	struct extent run;

	while (at < end && exact_touch(w, vma, at, write, &run)) {
		uint64_t nr = min_u64(run.end, end) - at;
		char *p = run.base + (at - run.start);

		if (write) {
			memset(p, (int)(1 + pick(w, 255)), nr);
			p[0] = (char)at;
			memcpy(w->model + (at - w->lo), p, nr);
		} else if (memcmp(p, w->model + (at - w->lo), nr)) {
			fail(w->run, "bytes [%llu, %llu) are wrong",
			     (unsigned long long)at, (unsigned long long)(at + nr));
		}
		vma_touch_end();
		at += nr;
	}
}

static void exact_cut(struct worker *w)
{
	uint64_t at = pick_offset(w, w->lo, w->hi);
	uint64_t end = pick_end(w, at, w->hi);
	bool rest = w->run->kind != DISJOINT && !pick(w, 8);

	if (rest || end > w->size)
		end = w->hi;
	memset(w->model + (at - w->lo), 0, end - at);
	mapping_truncate_range(w->mapping, at, rest ? UINT64_MAX : end, w->thread);
}

static void exact_resize(struct worker *w)
{
	struct run *run = w->run;
	uint64_t to;

	if (run->kind == DISJOINT) {
		to = run->min_size + pick(w, run->bytes - run->min_size + 1);
	} else {
		to = pick(w, 3) ? pick_offset(w, w->lo, w->hi + 1) : run->bytes;
		if (to < w->size)
			memset(w->model + to, 0, w->size - to);
		w->size = to;
	}
	if (mapping_resize(w->mapping, to, w->thread))
		fail(run, "cannot resize to %llu bytes", (unsigned long long)to);
}

static void exact_compare(struct worker *w)
{
	mapping_read(w->mapping, w->lo, w->buffer, w->hi - w->lo);
	if (memcmp(w->buffer, w->model, w->hi - w->lo))
		fail(w->run, "the file differs from the model");
}

static void exact_op(struct worker *w)
{
	uint64_t what = pick(w, 1000);

	if (what < 500)
		exact_access(w, true);
	else if (what < 900)
		exact_access(w, false);
	else if (what < 945)
		exact_cut(w);
	else if (what < 970)
		exact_resize(w);
	else
		remap(w);
}

static void exact_work(struct worker *w)
{
	struct run *run = w->run;

	for (unsigned long i = 0; i < run->ops && !run->wrong; i++) {
		exact_op(w);
		if (i % 1000 == 999)
			exact_compare(w);
		if (i % 1000 == 999 && run->kind == ALONE &&
		    !env_check(&run->env, run->mappings, run->nr_mappings))
			fail(run, "stock is wrong");
	}
	exact_compare(w);
}

/* The model of overlapping stores. A word: where it belongs, who stored it, the how manieth. */

static uint64_t word_make(uint64_t word, unsigned id, uint32_t generation)
{
	return word << 40 | (uint64_t)(id + 1) << 32 | generation;
}

static unsigned word_writer(uint64_t value)
{
	return (unsigned)(value >> 32 & 0xff) - 1;
}

static _Atomic uint64_t *word_at(const struct extent *run, uint64_t offset)
{
	return (_Atomic uint64_t *)(void *)(run->base + (offset - run->start));
}

static void overlap_check_word(struct worker *w, uint64_t word, uint64_t value)
{
	struct run *run = w->run;
	unsigned id = word_writer(value);

	if (!value)
		return;
	/* relaxed: the writer published it before the store; that may not be seen yet in theory,
	 * hence the second look after the value was read by acquire. */
	if (value >> 40 == word && id < run->nr_threads &&
	    (uint32_t)value <= atomic_load_explicit(&run->workers[id].generation,
						    memory_order_acquire))
		return;
	fail(run, "word %llu is %#llx, which nobody stored there",
	     (unsigned long long)word, (unsigned long long)value);
}

static void overlap_access(struct worker *w, bool write)
{
	uint64_t at = align_down(pick_offset(w, 0, w->run->bytes), 8);
	uint64_t end = align_up(pick_end(w, at, w->run->bytes), 8);
	struct vma *vma = pick_vma(w, at, end);
	struct extent run;

	while (at < end) {
		int err = vma_touch_begin(vma, w->thread, at, write, &run);

		if (err == -EFAULT && at >= w->run->min_size)
			return;
		if (err) {
			fail(w->run, "touch of byte %llu: error %d",
			     (unsigned long long)at, err);
			return;
		}
		for (; at < min_u64(run.end, end); at += 8) {
			uint64_t word = at / 8;

			if (write) {
				uint32_t generation = w->generation + 1;

				atomic_store_explicit(&w->generation, generation,
						      memory_order_release);
				w->last[word] = generation;
				/* release: pairs with the acquire of who loads it */
				atomic_store_explicit(word_at(&run, at),
						      word_make(word, w->id, generation),
						      memory_order_release);
			} else {
				overlap_check_word(
					w, word,
					atomic_load_explicit(word_at(&run, at),
							     memory_order_acquire));
			}
		}
		vma_touch_end();
	}
}

static void overlap_log(struct worker *w, uint64_t start, uint64_t end)
{
	w->cuts[w->nr_cuts++] = (struct cut){ start, end };
}

static void overlap_op(struct worker *w)
{
	uint64_t what = pick(w, 1000), at, end;

	if (what < 500) {
		overlap_access(w, true);
	} else if (what < 940) {
		overlap_access(w, false);
	} else if (what < 965) {
		at = align_down(pick_offset(w, 0, w->run->bytes), 8);
		end = align_up(pick_end(w, at, w->run->bytes), 8);
		/* A range that reaches the end of the file, as that is now, goes to the end. */
		overlap_log(w, at, end > w->run->min_size ? w->run->bytes : end);
		mapping_truncate_range(w->mapping, at, end, w->thread);
	} else if (what < 980) {
		at = w->run->min_size +
		     align_down(pick(w, w->run->bytes - w->run->min_size), 8);
		if (pick(w, 3) == 0)
			at = w->run->bytes;
		overlap_log(w, at, w->run->bytes);
		if (mapping_resize(w->mapping, at, w->thread))
			fail(w->run, "cannot resize");
	} else {
		remap(w);
	}
}

/* Whether a word that was stored to in this epoch, or not, may be @value now. */
static bool overlap_is_last(struct run *run, uint64_t word, uint64_t value)
{
	bool stored = false;

	for (unsigned i = 0; i < run->nr_threads; i++) {
		const struct worker *w = &run->workers[i];

		if (w->last[word] <= w->epoch_generation)
			continue;
		stored = true;
		if (value == word_make(word, i, w->last[word]))
			return true;
	}
	/* Not cut: the last store of somebody, or as it was. Cut: also zero. */
	if (run->cut[word] && !value)
		return true;
	return !stored && value == run->base[word];
}

/* All is quiet. */
static void overlap_check(struct run *run)
{
	uint64_t nr_words = run->bytes / 8;

	memset(run->cut, 0, nr_words);
	for (unsigned i = 0; i < run->nr_threads; i++)
		for (unsigned j = 0; j < run->workers[i].nr_cuts; j++) {
			const struct cut *cut = &run->workers[i].cuts[j];

			memset(run->cut + cut->start / 8, 1, (cut->end - cut->start) / 8);
		}
	mapping_read(run->mappings[0], 0, run->now, run->bytes);
	for (uint64_t word = 0; word < nr_words; word++)
		if (!overlap_is_last(run, word, run->now[word])) {
			fail(run, "word %llu was %#llx and is %#llx%s",
			     (unsigned long long)word,
			     (unsigned long long)run->base[word],
			     (unsigned long long)run->now[word],
			     run->cut[word] ? ", cut" : "");
			break;
		}
	for (uint64_t word = mapping_size(run->mappings[0]) / 8; word < nr_words; word++)
		if (run->now[word]) {
			fail(run, "word %llu beyond the end is not zero",
			     (unsigned long long)word);
			break;
		}
	memcpy(run->base, run->now, run->bytes);
	if (!env_check(&run->env, run->mappings, run->nr_mappings))
		fail(run, "stock is wrong");
	for (unsigned i = 0; i < run->nr_threads; i++) {
		run->workers[i].epoch_generation = run->workers[i].generation;
		run->workers[i].nr_cuts = 0;
	}
}

static void overlap_work(struct worker *w)
{
	struct run *run = w->run;
	unsigned long done = 0;
	bool wrong = false;

	while (done < run->ops && !wrong) {
		unsigned long stop = min_u64(run->ops, done + EPOCH_OPS);

		for (; done < stop; done++)
			overlap_op(w);
		/* What was truncated and waits in a batch would be neither in a tree nor free. */
		lru_drain(w->thread);
		pthread_barrier_wait(&run->barrier);
		if (!w->id)
			overlap_check(run);
		pthread_barrier_wait(&run->barrier);
		/* All of them see the same: nobody works between the barriers. */
		wrong = run->wrong;
		pthread_barrier_wait(&run->barrier);
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct run *run = w->run;

	if (w->id && cache_thread_alloc(&w->thread, run->env.cache, 0, 0))
		bail("no memory for a thread");
	vma_map(w->whole, w->mapping, w->thread);
	vma_map(w->part, w->mapping, w->thread);
	if (run->kind == OVERLAP)
		overlap_work(w);
	else
		exact_work(w);
	vma_unmap(w->part, w->thread);
	vma_unmap(w->whole, w->thread);
	if (w->id)
		cache_thread_free(w->thread);
	return NULL;
}

static void *must_calloc(size_t bytes)
{
	void *p = calloc(1, bytes);

	if (!p)
		bail("no memory");
	return p;
}

static void open_worker(struct run *run, unsigned id)
{
	struct worker *w = &run->workers[id];
	bool own = run->kind == ALONE || run->kind == PRIVATE;
	uint64_t from;

	*w = (struct worker){
		.run = run,
		.id = id,
		.random = run->seed * 1000003 + id * 7919 + 1,
		.thread = id ? NULL : run->env.thread,
		.mapping = run->mappings[own ? id : 0],
		.hi = run->bytes,
		.size = run->bytes,
	};
	for (unsigned i = 0; i < 8; i++)
		env_random(&w->random);
	if (run->kind == DISJOINT) {
		w->lo = run->min_size * id / run->nr_threads;
		w->hi = run->min_size * (id + 1) / run->nr_threads;
	}
	from = pick(w, run->bytes / 2);
	w->whole = env_vma(0, run->bytes);
	w->part = env_vma(from, from + 1 + pick(w, run->bytes - from));
	if (run->kind == OVERLAP) {
		w->last = must_calloc(run->bytes / 8 * sizeof(*w->last));
	} else {
		w->model = must_calloc(w->hi - w->lo);
		w->buffer = must_calloc(w->hi - w->lo);
	}
}

static void close_worker(struct worker *w)
{
	vma_free(w->whole);
	vma_free(w->part);
	free(w->model);
	free(w->buffer);
	free(w->last);
}

static void choose(struct run *run, uint64_t seed, unsigned long ops)
{
	static const unsigned batches[] = { 1, 2, 8, 16, 64, 512 };
	static const unsigned truncate_batches[] = { 1, 15, 512 };
	uint64_t random = seed * 0x9e3779b97f4a7c15u + 1;
	uint64_t pages;

	for (unsigned i = 0; i < 8; i++)
		env_random(&random);
	run->seed = seed;
	run->kind = (enum kind)(seed % NR_KINDS);
	run->batch = batches[env_random(&random) % ARRAY_SIZE(batches)];
	run->truncate_batch =
		truncate_batches[env_random(&random) % ARRAY_SIZE(truncate_batches)];
	run->nr_threads = run->kind == ALONE ? 1 : 2 + env_random(&random) % 7;
	run->placed = (run->kind == ALONE || run->kind == PRIVATE) &&
		      env_random(&random) % 3 == 0;
	pages = 20 + env_random(&random) % 50;
	if (run->batch == 512)
		pages += 500;
	run->bytes = pages * PAGE_SIZE + 8 * (env_random(&random) % 512);
	run->min_size =
		align_down(run->bytes / 2 + env_random(&random) % (run->bytes / 3), 8);
	run->ops = ops / run->nr_threads;
}

static bool run_seed(uint64_t seed, unsigned long ops)
{
	struct run *run =
		aligned_alloc(CACHELINE_SIZE, align_up(sizeof(*run), CACHELINE_SIZE));
	size_t file;

	if (!run)
		bail("no memory");
	memset(run, 0, sizeof(*run));
	choose(run, seed, ops);
	file = align_up(run->bytes, PMD_SIZE);
	run->nr_mappings = run->kind == ALONE || run->kind == PRIVATE ? run->nr_threads :
									1;
	/* The files, and for each thread a window in its hands and what waits in its lists. */
	env_open_nodes(&run->env,
		       (run->nr_mappings * file + run->nr_threads * 2 * PMD_SIZE) >> 20,
		       1, 0, run->batch, run->truncate_batch);
	for (unsigned i = 0; i < run->nr_mappings; i++) {
		run->mappings[i] = env_mapping(&run->env, run->bytes);
		if (run->placed &&
		    mapping_place(run->mappings[i], 0, i * file / PAGE_SIZE))
			bail("cannot place a file");
	}
	if (run->kind == OVERLAP) {
		run->base = must_calloc(run->bytes);
		run->now = must_calloc(run->bytes);
		run->cut = must_calloc(run->bytes / 8);
	}
	pthread_barrier_init(&run->barrier, NULL, run->nr_threads);
	for (unsigned i = 0; i < run->nr_threads; i++)
		open_worker(run, i);
	for (unsigned i = 1; i < run->nr_threads; i++)
		if (pthread_create(&run->workers[i].pthread, NULL, work,
				   &run->workers[i]))
			bail("no thread");
	work(&run->workers[0]);
	for (unsigned i = 1; i < run->nr_threads; i++)
		pthread_join(run->workers[i].pthread, NULL);
	if (!env_check(&run->env, run->mappings, run->nr_mappings))
		fail(run, "stock is wrong in the end");
	for (unsigned i = 0; i < run->nr_mappings; i++)
		mapping_free(run->mappings[i], run->env.thread);
	if (!env_check(&run->env, NULL, 0))
		fail(run, "not all frames are free in the end");
	if (run->wrong)
		printf("# seed %llu: replay with tests/unit/fsx %llu\n",
		       (unsigned long long)seed, (unsigned long long)seed);
	ok(!run->wrong,
	   "seed %llu: %s, %u threads, batch %u, truncate-batch %u, %llu bytes%s: %lu operations",
	   (unsigned long long)seed, kind_names[run->kind], run->nr_threads, run->batch,
	   run->truncate_batch, (unsigned long long)run->bytes,
	   run->placed ? ", placed" : "", run->ops * run->nr_threads);
	for (unsigned i = 0; i < run->nr_threads; i++)
		close_worker(&run->workers[i]);
	pthread_barrier_destroy(&run->barrier);
	env_close(&run->env);
	free(run->base);
	free(run->now);
	free(run->cut);
	free(run);
	return true;
}

/* Operations of a run. */
static unsigned long choose_ops(void)
{
	const char *ops = getenv("PAGEZONE_FSX_OPS");
	const char *preload = getenv("LD_PRELOAD");

	if (ops && atol(ops) > 0)
		return (unsigned long)atol(ops);
	if (preload && strstr(preload, "vgpreload"))
		return 1000;
#if defined(CACHE_RCU_TSAN) && defined(PAGEZONE_RACE_POINTS)
	return 300;
#elif defined(CACHE_RCU_TSAN)
	return 1000;
#elif defined(PAGEZONE_RACE_POINTS)
	return 2500;
#else
	return 25000;
#endif
}

int main(int argc, char **argv)
{
	unsigned long ops = choose_ops();

#ifdef PAGEZONE_RACE_POINTS
	slow_test();
#endif
	alarm(600); /* a deadlock ends as a failure */
	if (argc > 1) {
		run_seed(strtoull(argv[1], NULL, 10), ops);
		return done();
	}
	for (uint64_t seed = 1; seed <= NR_SEEDS; seed++)
		run_seed(seed, ops);
	return done();
}
