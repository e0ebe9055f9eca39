/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The result of a run: the border between measuring (bench) and showing (report). Samples
 * are the truth; cells and speed-ups are derived from them by result_derive(). The JSON
 * form is described by src/data/pagezone-result-1.schema.json.
 */
#ifndef RESULT_RESULT_H
#define RESULT_RESULT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/reason.h"

#define RESULT_SCHEMA "pagezone-result/1"

struct histogram;

struct result_lock {
	uint64_t acquisitions, contended, wait_ns;
};

/*
 * Which of the counters of a sample are there: the others mean nothing and are not in the
 * JSON. A file has a group when it has any of its keys.
 */
enum result_known {
	RESULT_FAULTS = 1 << 0, /* faults, minor_faults, major_faults, pmd_mapped_bytes */
	RESULT_LOCKS =
		1 << 1, /* pages_inserted and the locks: an in-process page cache */
	RESULT_USAGE = 1 << 2, /* switches and times of the workers' threads */
	RESULT_VMSTAT =
		1 << 3, /* real page faults: what the whole machine counted meanwhile */
	RESULT_PLACEMENT = 1 << 4, /* pages_sampled, pages_local, pages_by_node */
	RESULT_ASKED = 1 << 5,	   /* pages_as_asked: a node or nodes were asked for */
};

/* What is read of /proc/vmstat, by its names there; in the JSON they are "vmstat_NAME". */
/* clang-format off */
#define RESULT_VMSTAT_COUNTERS(X) \
	X(pgfault) X(pgmajfault) \
	X(thp_file_alloc) X(thp_file_fallback) X(thp_file_fallback_charge) X(thp_file_mapped) \
	X(numa_hit) X(numa_miss) X(numa_foreign) X(numa_interleave) X(numa_local) X(numa_other) \
	X(numa_hint_faults) X(numa_pages_migrated)
/* clang-format on */

#define RESULT_VMSTAT_INDEX(name) RESULT_VMSTAT_##name,
enum result_vmstat { RESULT_VMSTAT_COUNTERS(RESULT_VMSTAT_INDEX) RESULT_NR_VMSTAT };
extern const char *const result_vmstat_names[RESULT_NR_VMSTAT];

struct result_node_pages {
	unsigned node;
	uint64_t pages;
};

/* Sums over the workers of a sample, but for vmstat. */
struct result_counters {
	unsigned known; /* enum result_known; 0 (JSON: {}): the engine has no counters */
	uint64_t faults, minor_faults, major_faults, pages_inserted;
	uint64_t pmd_mapped_bytes; /* UINT64_MAX: unknown (JSON: null) */
	struct result_lock mmap, tree, zone, lru;
	uint64_t voluntary_switches, involuntary_switches, user_ns, system_ns;
	uint64_t vmstat[RESULT_NR_VMSTAT]; /* UINT64_MAX: not counted by this kernel (null) */
	/* Of the pages that were looked at: those on the worker's node, on nodes asked for. */
	uint64_t pages_sampled, pages_local, pages_as_asked;
	struct result_node_pages *pages_by_node; /* [nr_nodes], ascending */
	unsigned nr_nodes;
};

struct result_worker {
	int cpu, node; /* planned; -1: not pinned (JSON: null) */
	/* Seen when its loop began, ended; -1: unknown (no key). */
	int cpu_start, cpu_end;
	uint64_t start_ns, end_ns; /* since the window opened */
	uint64_t bytes;
};

/*
 * How long each of many small things took, in one sample: all of them, or, where they are more than
 * RESULT_MAX_TIMES, a histogram, which loses at most HISTOGRAM_RELATIVE_ERROR.
 */
struct result_times {
	uint64_t nr;  /* 0: the sample has none */
	uint64_t *ns; /* [nr], as measured; or NULL: there is a histogram */
	struct histogram *histogram;
	uint64_t min_ns, max_ns; /* exact */
	double mean_ns;		 /* exact but for rounding */
	double median_ns;
};

#define RESULT_MAX_TIMES 10000

/* One side × phase × thread count × round. */
struct result_sample {
	unsigned side, phase, threads,
		round; /* indexes into sides, phases; round from 0 */
	uint64_t window_ns, bytes;
	double kb_per_s; /* per thread: bytes / 1024 / seconds / threads; NAN: void */
	double total_kb_per_s;	    /* bytes / 1024 / seconds */
	double sum_of_worker_rates; /* kB/s; iozone's "Children see"; NAN: unknown */
	uint64_t unmap_ns;
	struct result_worker *workers; /* one a thread, or none: not known */
	unsigned nr_workers;
	struct result_times times; /* of truncations */
	struct result_counters counters;
	bool too_short; /* fewer than 1000 clock steps */
	char *failure;	/* why the cell is void; NULL: it is not */
};

struct result_side {
	char *name; /* "baseline", "patched", "patched2", "limit", "run" */
	char *spec;
	char *mount; /* of its files: type and options; NULL: it has none (no key) */
};

struct result_phase {
	char *name;  /* "initial-writer" */
	char *title; /* "Initial writers" */
};

/* One side × phase × thread count, over its rounds. kB/s per thread. NAN: void. */
struct result_cell {
	unsigned side, phase, threads;
	unsigned nr_samples; /* good ones */
	unsigned nr_void;    /* the others: one is enough to void the cell */
	double kb_per_s, total_kb_per_s, sum_of_worker_rates; /* medians */
	double min, max, p25, p75;			      /* of kb_per_s */
	bool is_void;
	bool too_short; /* one of its samples is */
};

/*
 * One patched side × phase × thread count: median of the ratios paired by round. They are
 * ratios of kb_per_s, patched to baseline; of samples with times, of their median times,
 * baseline to patched.
 */
struct result_speedup {
	unsigned side, phase, threads;
	unsigned nr_rounds; /* that both sides have */
	double ratio, low,
		high; /* low, high: 95 %; NAN with one round, all NAN when void */
};

/* Strings: NULL when unknown (JSON: null). */
struct result_environment {
	char *kernel, *cpu_model, *virtualisation, *governor;
	char *thp_enabled, *thp_defrag, *thp_shmem;
	char *allowed_cpus;
	unsigned nr_allowed_cpus, nr_machine_cpus, nr_nodes, nr_packages,
		nr_cores;		   /* 0: unknown */
	int numa_balancing;		   /* -1: not there */
	double load1, cpu_quota;	   /* negative / 0: unknown / none; JSON null */
	uint64_t mem_total, mem_available; /* bytes; UINT64_MAX: unknown */
	uint64_t cgroup_limit;		   /* bytes; UINT64_MAX: none */
	uint64_t clock_step_ns;		   /* 0: unknown */
	uint64_t arena_bytes;		   /* of the in-process engines */
	uint64_t arena_huge_bytes; /* of these, in huge pages; UINT64_MAX: unknown */
};

struct result_parameters {
	unsigned *threads;
	unsigned nr_threads;
	uint64_t bytes; /* per thread when @per_thread_size, else in total */
	bool per_thread_size;
	uint64_t record;
	unsigned rounds; /* asked for; with @rounds_auto: begun */
	/*
	 * --rounds auto, until intervals were narrow or the time was over. False, 0,
	 * UINT64_MAX: no keys.
	 */
	bool rounds_auto;
	double precision; /* percent of a figure that its interval's ends may be away */
	uint64_t budget;  /* seconds */
	uint64_t seed;
	char *layout, *workers, *pin, *mem; /* as asked for */
	char *pinned; /* what came of it: "spread", "none", "none (not permitted)" */
	char *per;    /* "thread" or "total": what tables print */
	bool verify; /* records were made and checked within the windows; false: no key */
	/* Of truncations; UINT64_MAX, UINT64_MAX, NULL, NULL (no keys): there were none. */
	uint64_t truncate_pages, truncate_count; /* of each; of each worker and round */
	char *truncate_state;			 /* "dirty" or "clean" */
	char *truncate_mapped;			 /* "yes" or "no" */
};

struct result {
	char *version, *command_line;
	struct result_environment environment;
	struct result_parameters parameters;
	struct result_side *sides;
	unsigned nr_sides;
	struct result_phase *phases; /* in the order they ran */
	unsigned nr_phases;
	struct result_sample *samples; /* in the order they were measured */
	unsigned nr_samples;
	struct result_cell *cells; /* by side, phase, threads: ascending */
	unsigned nr_cells;
	struct result_speedup *speedups; /* by side, phase, threads: ascending */
	unsigned nr_speedups;
	bool interrupted;
	char **warnings;
	unsigned nr_warnings;
	/* Whose speed-ups tables show as published; NULL: none. Not in the JSON. */
	struct result *reference;
};

/* Everything unknown: zeroed, but for what is -1 or UINT64_MAX then. NULL: no memory. */
struct result *result_alloc(void);
void result_free(struct result *result); /* everything below it too; NULL is fine */
/* What a sample has below it. */
void result_sample_destroy(struct result_sample *sample);

/* The arrays of a result grow only by these five, parameters.threads also by its owner. */

/* Appends a zeroed sample and returns it (valid until the next call); NULL: no memory. */
struct result_sample *result_add_sample(struct result *result, unsigned nr_workers);
/* Copy their strings. 0 or -ENOMEM. A side has no mount then; it may be set. */
int result_add_side(struct result *result, const char *name, const char *spec);
/* @title NULL: the one that pagezone's phases have; the name for others. */
int result_add_phase(struct result *result, const char *name, const char *title);
/* Adds @threads to parameters.threads, once. 0 or -ENOMEM. */
int result_add_threads(struct result *result, unsigned threads);
/*
 * A warning is data that carries advice; the same text is kept once. 1 when it is new, 0,
 * -ENOMEM.
 */
int result_warn(struct result *result, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Fills the rates of a sample from bytes, window_ns, threads and workers. NAN for a
 * failed sample or an empty window. The sum of the workers' own rates is NAN too when
 * there are no workers, or when one moved bytes in no time; idle workers add nothing to
 * it.
 */
void result_sample_rates(struct result_sample *sample);
/* It failed, or has no rate. */
bool result_sample_is_void(const struct result_sample *sample);
/*
 * @times of the @nr numbers @ns, which it takes over (free() frees them), also when it fails. 0 or
 * -ENOMEM. Frees what was there before.
 */
int result_times_set(struct result_times *times, uint64_t *ns, uint64_t nr);
/* The same from a histogram with @nr > 0, whose @min_ns, @max_ns and @mean_ns are known. */
void result_times_set_histogram(struct result_times *times, struct histogram *histogram,
				uint64_t min_ns, uint64_t max_ns, double mean_ns);
/*
 * The quantiles @fractions[@nr] in ns, within [min_ns, max_ns]; linear interpolation as
 * everywhere. NAN without times. 0 or -ENOMEM.
 */
int result_times_quantiles(const struct result_times *times, const double *fractions,
			   unsigned nr, double *ns);
void result_times_destroy(struct result_times *times);

/*
 * Computes cells and speedups anew from the samples. A void sample voids its cell. The
 * baseline is side 0; every side but 0 and "limit" has speed-ups. A cell that has no
 * sample (yet) does not exist; a speed-up exists for each cell of a patched side and is
 * NAN where the baseline's is missing or void. The order of the samples does not matter.
 * 0, -ENOMEM, or -EINVAL when a cell has a round twice.
 */
int result_derive(struct result *result);

/* Index of the phase or side of that name, or -1. */
int result_find_phase(const struct result *result, const char *name);
int result_find_side(const struct result *result, const char *name);
/* Whether parameters.threads has @threads. */
bool result_has_threads(const struct result *result, unsigned threads);

/* Whether @side is the row of --limit: shown, never compared. */
bool result_side_is_limit(const struct result *result, unsigned side);

/* Whether @side is compared with the baseline, and whether @phase has been measured. */
bool result_side_has_speedups(const struct result *result, unsigned side);
bool result_phase_has_cells(const struct result *result, unsigned phase);

/* NULL when there is none. */
const struct result_cell *result_cell(const struct result *result, unsigned side,
				      unsigned phase, unsigned threads);
const struct result_speedup *result_speedup(const struct result *result, unsigned side,
					    unsigned phase, unsigned threads);
/* The speed-up that the reference of @result has of the phase of that name; NAN: none. */
double result_published(const struct result *result, unsigned phase, unsigned threads);

/*
 * JSON in the order of its schema, one sample a line; what result_derive() made of the
 * samples is written with them. Independent of the locale. Bytes that are not UTF-8
 * become U+FFFD. 0 or -errno.
 */
int result_write_json(const struct result *result, FILE *out);
/*
 * To "@path.tmp.PID" in the same directory, fsynced, then renamed over @path; the
 * temporary file is removed on any failure. A symbolic link stays, its target is written.
 * What is not a regular file (/dev/stdout, a pipe), or is this process's standard output
 * or error, is written to directly; so is a file that exists and may be written where its
 * directory may not, or that is a mount point. 0 or -errno with @why naming the path.
 */
int result_save(const struct result *result, const char *path, struct reason *why);
/*
 * Samples are checked and rates, cells and speed-ups computed anew; a rate in the file
 * that contradicts its bytes, window and threads is an error. Keys that are not known are
 * skipped. 0; -errno with @why: one line, names the path and what is wrong (not JSON,
 * wrong schema, field).
 */
int result_load(struct result **result, const char *path, struct reason *why);

#endif
