/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/parse.h"
#include "cli/cli.h"
#include "report/compare.h"
#include "report/precision.h"

enum {
	KEY_QUICK = 256,
	KEY_LAYOUT,
	KEY_WORKERS,
	KEY_PIN,
	KEY_MEM,
	KEY_SEED,
	KEY_PER,
	KEY_LIMIT,
	KEY_VERIFY,
	KEY_PRECISION,
	KEY_BUDGET,
};

#define MAX_BUDGET (1000 * 3600)

/*
 * What all of them have. With words as long as these as their argument argp loses count
 * of columns.
 */
#define WHERE_OPTIONS                                                                    \
	{ NULL, 0, NULL, 0, "Where workers run:", 2 },                                   \
		{ "pin",                                                                 \
		  KEY_PIN,                                                               \
		  "POLICY",                                                              \
		  0,                                                                     \
		  PIN_SYNTAX ": nodes, then cores, then siblings; the other way "        \
			     "round; the nodes or CPUs of a list such as 0-3,8; or not " \
			     "at all (default spread)",                                  \
		  2 },                                                                   \
	{                                                                                \
		"mem", KEY_MEM, "POLICY", 0,                                             \
			MEM_SYNTAX ": pages from the worker's own node; the "            \
				   "next node; all nodes in turn; the nodes of a list "  \
				   "such as 0-1,3; or where the system puts them "       \
				   "(default local)",                                    \
			2                                                                \
	}

#define AUTO_OPTIONS(option)                                                         \
	{ "precision",                                                               \
	  KEY_PRECISION,                                                             \
	  "PERCENT",                                                                 \
	  0,                                                                         \
	  "With " option                                                             \
	  " auto: how far an interval may reach from its figure (default "           \
	  "2%)",                                                                     \
	  1 },                                                                       \
	{                                                                            \
		"budget", KEY_BUDGET, "TIME", 0,                                     \
			"With " option                                               \
			" auto: how long that may take: 90s, 10m, 1h (default 10m)", \
			1                                                            \
	}

#define OUTPUT_OPTIONS(round)                                                             \
	{ "format",                                                                       \
	  'f',                                                                            \
	  "table|csv|json|markdown",                                                      \
	  0,                                                                              \
	  "Of standard output (default table)",                                           \
	  3 },                                                                            \
		{ "output", 'o', "FILE", 0, "Save the result as JSON, after each " round, \
		  3 },                                                                    \
	{                                                                                 \
		"quiet", 'q', NULL, 0, "No progress line and no warnings", 3              \
	}

static const struct argp_option common_options[] = {
	{ NULL, 0, NULL, 0, "What is measured:", 1 },
	{ "threads", 't', "LIST", 0,
	  "Thread counts: 1,2,4 or 1-8 or 1..256, which doubles "
	  "(default 1..256)",
	  1 },
	{ "size", 's', "SIZE", 0, "Bytes of each thread's file", 1 },
	{ "total", 'S', "SIZE", 0,
	  "Bytes of all files together, split over the threads (default "
	  "512m, at least 2m a thread)",
	  1 },
	{ "record", 'r', "SIZE", 0, "Bytes copied at once (default 4k)", 1 },
	{ "phases", 'i', "LIST", 0,
	  "Phases by name, or by iozone's numbers 0 to 3 (default all "
	  "seven)",
	  1 },
	{ "rounds", 'R', "N|auto", 0,
	  "Rounds over all cells; figures are medians (default 3); auto goes on until they "
	  "are precise",
	  1 },
	AUTO_OPTIONS("--rounds"),
	{ "quick", KEY_QUICK, NULL, 0,
	  "128m in total, threads 1, 2, 4 … up to twice the CPUs, one "
	  "round, each unless given",
	  1 },
	{ "layout", KEY_LAYOUT, "private|shared", 0,
	  "A file a worker, or one file for all "
	  "(default private)",
	  1 },
	{ "limit", KEY_LIMIT, NULL, 0,
	  "Measure the memory engine too, as a row of the tables", 1 },
	{ "verify", KEY_VERIFY, NULL, 0,
	  "Check every record that is loaded, and all files at the end; figures include "
	  "that",
	  1 },
	{ "seed", KEY_SEED, "N", 0, "Of the random phases (default 1)", 1 },
	WHERE_OPTIONS,
	{ "workers", KEY_WORKERS, "thread|process", 0,
	  "What a worker is (default thread); processes do not share mmap_lock, and go with "
	  "kernel and tmpfs",
	  2 },
	{ NULL, 0, NULL, 0, "Output:", 3 },
	{ "per", KEY_PER, "thread|total", 0, "What tables show (default thread)", 3 },
	OUTPUT_OPTIONS("round"),
	{ 0 },
};

/* Those of them that truncate has. */
static const struct argp_option truncate_options[] = {
	{ "threads", 't', "LIST", 0,
	  "Thread counts: 1,2,4 or 1-8 or 1..256, which doubles (default 1)", 1 },
	{ "layout", KEY_LAYOUT, "private|shared", 0,
	  "A file a worker, or one file for all, each with a range of it "
	  "(default private)",
	  1 },
	AUTO_OPTIONS("--runs"),
	{ "seed", KEY_SEED, "N", 0,
	  "Kept in the result (default 1); nothing in truncations is random", 1 },
	WHERE_OPTIONS,
	{ NULL, 0, NULL, 0, "Output:", 3 },
	OUTPUT_OPTIONS("run"),
	{ 0 },
};

unsigned options_choose(const char *option, const char *arg, const char *const words[])
{
	char all[128] = "";

	for (unsigned i = 0; words[i]; i++) {
		size_t len = strlen(all);

		if (!strcmp(words[i], arg))
			return i;
		snprintf(&all[len], sizeof(all) - len, "%s%s", i ? " or " : "", words[i]);
	}
	fail(EXIT_USAGE, "%s %s: it can %sbe %s", option, arg, words[1] ? "" : "only ",
	     all);
}

enum report_per options_per(const char *arg)
{
	static const char *const pers[] = { "thread", "total", NULL };

	return (enum report_per)options_choose("--per", arg, pers);
}

static uint64_t size_argument(const char *option, const char *arg)
{
	uint64_t bytes;
	int err = parse_size(arg, &bytes);

	if (err == -ERANGE)
		fail(EXIT_USAGE, "%s %s: larger than 64 bits can count", option, arg);
	if (err)
		fail(EXIT_USAGE,
		     "%s %s: not a size; a size is a whole number with k m g t, "
		     "KiB MiB GiB TiB (binary) or kB MB GB TB (decimal), or bytes",
		     option, arg);
	if (!bytes)
		fail(EXIT_USAGE, "%s %s: nothing can be measured with no bytes", option,
		     arg);
	return bytes;
}

uint64_t options_number(const char *option, const char *arg, uint64_t min, uint64_t max)
{
	uint64_t n;

	if (parse_uint(arg, min, max, &n))
		fail(EXIT_USAGE, "%s %s: not a whole number from %llu to %llu", option,
		     arg, (unsigned long long)min, (unsigned long long)max);
	return n;
}

static void threads_argument(struct options *options, const char *arg)
{
	unsigned *list;
	size_t nr;
	int err = parse_threads(arg, &list, &nr);

	if (err == -ENOMEM)
		fail(EXIT_CANNOT, "out of memory");
	if (err == -ERANGE)
		fail(EXIT_USAGE, "-t %s: thread counts are from 1 to %u", arg,
		     PARSE_MAX_THREADS);
	if (err)
		fail(EXIT_USAGE,
		     "-t %s: not a list of thread counts (1,2,4 or 1-8 or 1..256)", arg);
	free(options->threads);
	options->threads = list;
	options->nr_threads = nr;
}

static void phases_argument(struct options *options, const char *arg)
{
	struct reason why;

	if (phase_parse_list(arg, options->phases, &options->nr_phases, &why))
		fail(EXIT_USAGE, "-i %s: %s", arg, why.text);
}

void options_rounds(struct options *options, const char *option, const char *arg)
{
	uint64_t rounds;

	options->rounds_auto = !strcmp(arg, "auto");
	options->rounds = PRECISION_MAX_ROUNDS;
	if (options->rounds_auto)
		return;
	if (parse_uint(arg, 1, PRECISION_MAX_ROUNDS, &rounds))
		fail(EXIT_USAGE, "%s %s: neither a whole number from 1 to %d nor auto",
		     option, arg, PRECISION_MAX_ROUNDS);
	options->rounds = (unsigned)rounds;
}

static void precision_argument(struct options *options, const char *arg)
{
	if (gates_parse_regression(&options->precision, arg, NULL) ||
	    !(options->precision > 0))
		fail(EXIT_USAGE,
		     "--precision %s: not a percentage above 0 and below 100, such as 2%%",
		     arg);
}

static void budget_argument(struct options *options, const char *arg)
{
	if (parse_duration(arg, &options->budget) || !options->budget ||
	    options->budget > MAX_BUDGET)
		fail(EXIT_USAGE,
		     "--budget %s: not a time of at most 1000h; a time is a whole number "
		     "with s, m or h, such as 90s or 10m",
		     arg);
}

void options_pin(struct pin *pin, const char *arg)
{
	struct reason why;
	int err;

	pin_destroy(pin);
	err = pin_parse(pin, arg, &why);
	if (err)
		fail(err == -ENOMEM ? EXIT_CANNOT : EXIT_USAGE, "--pin %s: %s", arg,
		     why.text);
}

void options_check_pin(const struct pin *pin, const struct topo *topo)
{
	struct reason why;

	if (pin_check(pin, topo, &why))
		fail(EXIT_USAGE, "--pin %s: %s", pin_text(pin), why.text);
}

void options_mem(struct mem_policy *policy, const char *arg)
{
	struct reason why;
	int err;

	mem_policy_destroy(policy);
	err = mem_policy_parse(policy, arg, &why);
	if (err)
		fail(err == -ENOMEM ? EXIT_CANNOT : EXIT_USAGE, "--mem %s: %s", arg,
		     why.text);
}

void options_resolve_mem(struct mem_policy *policy, const struct pin *pin,
			 const struct topo *topo)
{
	struct reason why;
	int err = mem_policy_resolve(policy, topo, &why);

	if (err)
		fail(err == -ENOMEM ? EXIT_CANNOT : EXIT_USAGE, "--mem %s: %s",
		     mem_policy_text(policy), why.text);
	if (policy->kind == MEM_REMOTE && pin->policy == PIN_NONE)
		fail(EXIT_USAGE,
		     "--mem remote: with --pin none workers have no node that "
		     "another one is remote from");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const layouts[] = { "private", "shared", NULL };
	static const char *const workers[] = { "thread", "process", NULL };
	static const char *const formats[] = { "table", "csv", "json", "markdown", NULL };
	struct options *options = state->input;

	switch (key) {
	case 't':
		threads_argument(options, arg);
		return 0;
	case 's':
		options->size = size_argument("-s", arg);
		return 0;
	case 'S':
		options->total = size_argument("-S", arg);
		return 0;
	case 'r':
		options->record = size_argument("-r", arg);
		return 0;
	case 'i':
		phases_argument(options, arg);
		return 0;
	case 'R':
		options_rounds(options, "-R", arg);
		return 0;
	case KEY_PRECISION:
		precision_argument(options, arg);
		return 0;
	case KEY_BUDGET:
		budget_argument(options, arg);
		return 0;
	case KEY_QUICK:
		options->quick = true;
		return 0;
	case KEY_LAYOUT:
		options->shared = options_choose("--layout", arg, layouts);
		return 0;
	case KEY_LIMIT:
		options->limit = true;
		return 0;
	case KEY_VERIFY:
		options->verify = true;
		return 0;
	case KEY_SEED:
		options->seed = options_number("--seed", arg, 0, INT64_MAX);
		return 0;
	case KEY_WORKERS:
		options->processes = options_choose("--workers", arg, workers);
		return 0;
	case KEY_PIN:
		options_pin(&options->pin, arg);
		return 0;
	case KEY_MEM:
		options_mem(&options->mem, arg);
		return 0;
	case KEY_PER:
		options->per = options_per(arg);
		return 0;
	case 'f':
		options->format = (enum output_format)options_choose("-f", arg, formats);
		return 0;
	case 'o':
		if (!*arg)
			fail(EXIT_USAGE, "-o: the name of the file is empty");
		options->output = arg;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		fail(EXIT_USAGE, "unexpected argument '%s'", arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp common_argp = { .options = common_options, .parser = parse };
const struct argp truncate_argp = { .options = truncate_options, .parser = parse };

void options_init(struct options *options)
{
	*options = (struct options){
		.record = DEFAULT_RECORD,
		.seed = DEFAULT_SEED,
	};
	for (size_t i = 0; i < NR_PHASES; i++)
		options->phases[options->nr_phases++] = &phases[i];
}

/* 1, 2, 4 … up to @max. */
static void double_threads(struct options *options, unsigned max)
{
	unsigned n = 0;

	options->threads = malloc(16 * sizeof(*options->threads));
	if (!options->threads)
		fail(EXIT_CANNOT, "out of memory");
	for (unsigned t = 1; t <= max; t *= 2)
		options->threads[n++] = t;
	options->nr_threads = n;
}

void options_default_threads(struct options *options, unsigned max)
{
	if (!options->threads)
		double_threads(options, max);
}

void options_complete(struct options *options, const struct topo *topo)
{
	unsigned most = 0;

	if (options->size && options->total)
		fail(EXIT_USAGE,
		     "-s is for each thread and -S for all together: give one of them");
	if (!options->rounds_auto && (options->precision > 0 || options->budget))
		fail(EXIT_USAGE,
		     "%s is for --rounds auto (truncate: --runs auto), which goes on until "
		     "all is precise",
		     options->budget ? "--budget" : "--precision");
	if (!(options->precision > 0))
		options->precision = DEFAULT_PRECISION;
	if (!options->budget)
		options->budget = DEFAULT_BUDGET;
	options_check_pin(&options->pin, topo);
	options_resolve_mem(&options->mem, &options->pin, topo);
	if (!options->threads)
		double_threads(options, options->quick ?
						(unsigned)min_u64(2 * topo->nr_cpus,
								  BENCH_MAX_THREADS) :
						BENCH_MAX_THREADS);
	if (!options->rounds)
		options->rounds = options->quick ? 1 : DEFAULT_ROUNDS;
	for (size_t i = 0; i < options->nr_threads; i++)
		most = (unsigned)max_u64(most, options->threads[i]);
	if (!options->size && !options->total)
		options->total = max_u64(options->quick ? QUICK_TOTAL : DEFAULT_TOTAL,
					 most * MIN_BYTES_PER_WORKER);
}

void options_destroy(struct options *options)
{
	free(options->threads);
	pin_destroy(&options->pin);
	mem_policy_destroy(&options->mem);
}
