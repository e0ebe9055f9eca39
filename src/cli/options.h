/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options that the measuring commands share. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/bench.h"
#include "report/report.h"

#define DEFAULT_TOTAL ((uint64_t)512 << 20)
#define QUICK_TOTAL   ((uint64_t)128 << 20)
#define MIN_BYTES_PER_WORKER \
	((uint64_t)2 << 20) /* where the default total would give less */
#define DEFAULT_RECORD 4096
#define DEFAULT_ROUNDS 3
#define DEFAULT_SEED   1
/*
 * Of --rounds auto: what a speed-up is worth quoting with, in percent; and what a CI job
 * can wait for, in s.
 */
#define DEFAULT_PRECISION 2
#define DEFAULT_BUDGET	  600

enum output_format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON, FORMAT_MARKDOWN };

struct options {
	unsigned *threads; /* NULL: not given */
	size_t nr_threads;
	uint64_t size;	/* -s; 0: not given */
	uint64_t total; /* -S; 0: not given */
	uint64_t record;
	const struct phase *phases[NR_PHASES];
	size_t nr_phases;
	unsigned rounds; /* 0: not given */
	bool rounds_auto;
	double precision; /* percent; 0: not given */
	uint64_t budget;  /* s; 0: not given */
	bool quick, shared, quiet, limit, processes, verify;
	struct pin pin;
	struct mem_policy mem;
	uint64_t seed;
	enum report_per per;
	enum output_format format;
	const char *output; /* -o; NULL: none */
};

/* Their input is a struct options. */
extern const struct argp common_argp;	/* of speedup and run */
extern const struct argp truncate_argp; /* of truncate: some of the same */

/* The index of @arg in @words (NULL-terminated), or the end of the process. */
unsigned options_choose(const char *option, const char *arg, const char *const words[]);
/* The argument of --per, or the end of the process. */
enum report_per options_per(const char *arg);
/* A whole number from @min to @max, or the end of the process. */
uint64_t options_number(const char *option, const char *arg, uint64_t min, uint64_t max);

/* The argument of @option, which counts rounds: a number or "auto". */
void options_rounds(struct options *options, const char *option, const char *arg);

/*
 * --pin @arg, in place of what @pin had; and what it names against @topo. Or the end of
 * the process.
 */
void options_pin(struct pin *pin, const char *arg);
void options_check_pin(const struct pin *pin, const struct topo *topo);
/* The same of --mem; what it names is resolved. */
void options_mem(struct mem_policy *policy, const char *arg);
void options_resolve_mem(struct mem_policy *policy, const struct pin *pin,
			 const struct topo *topo);

void options_init(struct options *options);
/* Without -t: 1, 2, 4 … up to @max. */
void options_default_threads(struct options *options, unsigned max);
/*
 * After parsing: what was not given gets its default, on @topo. Ends the process on what does not
 * go together.
 */
void options_complete(struct options *options, const struct topo *topo);
void options_destroy(struct options *options);

#endif
