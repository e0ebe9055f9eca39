/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/measure.h"

#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bits.h"
#include "bench/truncate.h"
#include "cli/auto.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/progress.h"

/* The number of the signal that asks for the end. The one thing a signal handler may write. */
static volatile sig_atomic_t stop_signal;

static void on_signal(int signal)
{
	stop_signal = signal;
}

/* SA_RESETHAND: whoever asks a second time is not kept waiting. */
static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };
	struct sigaction old;

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		/* nohup and background jobs of a shell without job control ignore some: so do we */
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler == SIG_IGN)
			continue;
		sigaction(signals[i], &action, NULL);
	}
}

void measurement_init(struct measurement *m, int argc, char **argv)
{
	options_init(&m->options);
	gate_options_init(&m->gates);
	m->command_line = command_line_join(argc, argv);
	if (!m->command_line)
		fail(EXIT_CANNOT, "out of memory");
}

void measurement_add_side(struct measurement *m, const char *name, const char *spec)
{
	struct bench_side *side = &m->sides[m->nr_sides];
	struct reason why;

	if (m->nr_sides == BENCH_MAX_SIDES)
		fail(EXIT_USAGE, "more than %d sides in one run", BENCH_MAX_SIDES);
	if (engine_parse(&side->engine, spec, &why))
		fail(EXIT_USAGE, "%s", why.text);
	side->name = strdup(name);
	if (!side->name)
		fail(EXIT_CANNOT, "out of memory");
	m->nr_sides++;
}

static void take_baseline(struct measurement_sides *sides, const char *arg)
{
	if (sides->baseline)
		fail(EXIT_USAGE,
		     "--baseline %s: there is one baseline; more --patched "
		     "sides are fine",
		     arg);
	sides->baseline = arg;
}

static void take_patched(struct measurement_sides *sides, const char *arg)
{
	if (sides->nr_patched == BENCH_MAX_SIDES - 2)
		fail(EXIT_USAGE, "--patched %s: more than %d patched sides", arg,
		     BENCH_MAX_SIDES - 2);
	sides->patched[sides->nr_patched++] = arg;
}

void measurement_add_sides(struct measurement *m, struct measurement_sides *sides,
			   const char *baseline, const char *patched)
{
	if (!sides->nr_patched)
		sides->patched[sides->nr_patched++] = patched;
	measurement_add_side(m, "baseline", sides->baseline ? sides->baseline : baseline);
	for (unsigned i = 0; i < sides->nr_patched; i++) {
		char name[24] = "patched";

		if (i)
			snprintf(name, sizeof(name), "patched%u", i + 1);
		measurement_add_side(m, name, sides->patched[i]);
	}
}

error_t measurement_option(struct measurement *m, struct measurement_sides *sides,
			   int key, const char *arg)
{
	switch (key) {
	case KEY_BASELINE:
		take_baseline(sides, arg);
		return 0;
	case KEY_PATCHED:
		take_patched(sides, arg);
		return 0;
	case KEY_MIN_SPEEDUP:
		gate_options_min_speedup(&m->gates, arg);
		return 0;
	case KEY_REFERENCE:
		reference_take(&m->reference, arg);
		return 0;
	case KEY_MAX_REGRESSION:
		gate_options_max_regression(&m->gates, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void measurement_destroy(struct measurement *m)
{
	for (unsigned i = 0; i < m->nr_sides; i++) {
		free((char *)m->sides[i].name);
		engine_destroy(&m->sides[i].engine);
	}
	gate_options_destroy(&m->gates);
	free(m->command_line);
	options_destroy(&m->options);
}

/* A name that cannot be written is better known now than after an hour. */
static void check_output(const char *path)
{
	struct stat st;
	char *copy, *dir;

	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode))
			fail(EXIT_CANNOT, "-o %s: is a directory", path);
		if (access(path, W_OK))
			fail(EXIT_CANNOT, "-o %s: cannot be written: %s", path,
			     strerror(errno));
		if (!S_ISREG(st.st_mode))
			return;
	}
	copy = strdup(path);
	if (!copy)
		fail(EXIT_CANNOT, "out of memory");
	dir = dirname(copy);
	if (access(dir, W_OK | X_OK))
		fail(EXIT_CANNOT, "-o %s: the directory %s cannot be written: %s", path,
		     dir, strerror(errno));
	free(copy);
}

/* ---- what the driver calls back ---- */

struct context {
	struct measurement *m;
	struct result *result;
	struct auto_rounds rounds;
};

static void on_progress(void *arg, const struct bench_progress *progress)
{
	struct context *context = arg;

	progress_show(progress, context->rounds.on ? &context->rounds : NULL);
}

static void on_warn(void *arg, const char *text)
{
	struct context *context = arg;

	if (!context->m->options.quiet)
		say("warning: %s", text);
}

static void on_failed(void *arg, const char *text)
{
	(void)arg;
	say("%s", text);
}

/* 0 or EXIT_CANNOT. */
static int save(const struct measurement *m, const struct result *result)
{
	struct reason why;

	if (!m->options.output || !result_save(result, m->options.output, &why))
		return 0;
	say("-o %s", why.text);
	return EXIT_CANNOT;
}

/* --rounds auto. When the time is over first, the result tells what is missing. */
static bool goes_on(struct context *context, unsigned rounds)
{
	char *text;
	bool more = auto_goes_on(&context->rounds, context->result, rounds, &text);

	if (text && result_warn(context->result, "%s", text) == 1)
		on_warn(context, text);
	free(text);
	return more;
}

/* A crash later loses nothing that was measured. A failure to save is told at the end. */
static bool on_round_done(void *arg, unsigned rounds)
{
	struct context *context = arg;
	const char *output = context->m->options.output;
	bool is_auto = context->rounds.on;

	if (is_auto)
		auto_count_rounds(context->result);
	if ((!output && !is_auto) || result_derive(context->result))
		return true;
	if (output)
		result_save(context->result, output, NULL);
	return !is_auto || goes_on(context, rounds);
}

/* ---- the result ---- */

static int set_text(char **to, const char *from)
{
	*to = strdup(from);
	return *to ? 0 : -ENOMEM;
}

static int fill_truncation(struct result_parameters *p, const struct measurement *m)
{
	p->per_thread_size = true;
	p->bytes = m->pages * PAGE_SIZE;
	p->record = 0;
	p->truncate_pages = m->pages;
	p->truncate_count = m->truncation.count;
	if (set_text(&p->truncate_state, m->truncation.dirty ? "dirty" : "clean") ||
	    set_text(&p->truncate_mapped, m->truncation.mapped ? "yes" : "no"))
		return -ENOMEM;
	return 0;
}

static int fill_parameters(struct result_parameters *p, const struct measurement *m)
{
	const struct options *options = &m->options;

	p->threads = malloc(options->nr_threads * sizeof(*p->threads));
	if (!p->threads)
		return -ENOMEM;
	memcpy(p->threads, options->threads, options->nr_threads * sizeof(*p->threads));
	p->nr_threads = (unsigned)options->nr_threads;
	p->per_thread_size = options->size;
	p->bytes = options->size ? options->size : options->total;
	p->record = options->record;
	p->rounds = options->rounds;
	if (options->rounds_auto) {
		p->rounds = 0;
		p->rounds_auto = true;
		p->precision = options->precision;
		p->budget = options->budget;
	}
	p->seed = options->seed;
	p->verify = options->verify;
	if (set_text(&p->layout, options->shared ? "shared" : "private") ||
	    set_text(&p->workers, options->processes ? "process" : "thread") ||
	    set_text(&p->pin, pin_text(&options->pin)) ||
	    set_text(&p->mem, mem_policy_text(&options->mem)) ||
	    set_text(&p->pinned, pin_text(&options->pin)) ||
	    set_text(&p->per, options->per == REPORT_PER_TOTAL ? "total" : "thread"))
		return -ENOMEM;
	return m->truncates ? fill_truncation(p, m) : 0;
}

static struct result *new_result(const struct measurement *m, const struct topo *topo)
{
	struct result *result = result_alloc();

	if (!result || set_text(&result->version, PACKAGE_VERSION) ||
	    set_text(&result->command_line, m->command_line) ||
	    environment_fill(&result->environment, topo) ||
	    fill_parameters(&result->parameters, m))
		fail(EXIT_CANNOT, "out of memory");
	result->reference = m->reference; /* which is the result's from now on */
	return result;
}

static int print_tables(const struct measurement *m, const struct result *result)
{
	int err = report_header(result, stdout);

	if (!err && m->truncates)
		err = report_truncations(result, stdout);
	else if (!err)
		err = report_tables(result, m->options.per, stdout);
	if (!err)
		err = report_extremes(result, stdout);
	if (!err && !m->truncates)
		err = report_locks(result, stdout);
	if (!err)
		err = report_placement(result, stdout);
	return err;
}

static int print_result(const struct measurement *m, const struct result *result)
{
	int err;

	switch (m->options.format) {
	case FORMAT_JSON:
		err = result_write_json(result, stdout);
		break;
	case FORMAT_CSV:
		err = m->truncates ? report_truncations_csv(result, stdout) :
				     report_csv(result, stdout);
		break;
	case FORMAT_MARKDOWN:
		err = report_markdown(result, m->options.per, stdout);
		break;
	default:
		err = print_tables(m, result);
	}
	return printed(err);
}

static unsigned count_void(const struct result *result)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < result->nr_cells; i++)
		nr += result->cells[i].is_void;
	return nr;
}

/* Everything that is said and written once the samples are there. Returns the exit status. */
static int conclude(const struct measurement *m, struct result *result, int err,
		    const struct reason *why)
{
	int status = EXIT_DONE, gate;

	progress_wipe();
	result->interrupted = err == -EINTR;
	if (result->parameters.rounds_auto)
		auto_count_rounds(result);
	if (result_derive(result)) {
		say("out of memory");
		return EXIT_CANNOT;
	}
	if (err && err != -EINTR) {
		say("%s", why->text);
		status = EXIT_CANNOT;
	}
	if (save(m, result))
		status = EXIT_CANNOT;
	if ((result->nr_samples || m->options.format == FORMAT_JSON) &&
	    print_result(m, result))
		status = EXIT_CANNOT;
	if (err == -EINTR)
		return EXIT_SIGNAL + stop_signal;
	gate = gate_options_hold(&m->gates, result);
	if (count_void(result)) {
		say("%u of %u cells have no figure", count_void(result),
		    result->nr_cells);
		/* What failed is known to have failed, whatever the others are. */
		if (gate != EXIT_GATE)
			gate = EXIT_CANNOT;
	}
	return status ? status : gate;
}

static struct bench_conf bench_conf(struct measurement *m, const struct topo *topo,
				    struct context *context)
{
	const struct options *options = &m->options;

	static const struct phase *const truncate[] = { &phase_truncate };
	struct bench_conf conf = {
		.topo = topo,
		.sides = m->sides,
		.nr_sides = m->nr_sides,
		.threads = options->threads,
		.nr_threads = (unsigned)options->nr_threads,
		.phases = options->phases,
		.nr_phases = options->nr_phases,
		.bytes = options->size ? options->size : options->total,
		.per_worker = options->size,
		.record = options->record,
		.rounds = options->rounds,
		.open_ended = options->rounds_auto,
		.shared = options->shared,
		.processes = options->processes,
		.pin = options->pin,
		.mem = options->mem,
		.seed = options->seed,
		.verify = options->verify,
		.stop = &stop_signal,
		.progress = on_progress,
		.warn = on_warn,
		.failed = on_failed,
		.round_done = on_round_done,
		.arg = context,
	};

	if (!m->truncates)
		return conf;
	conf.phases = truncate;
	conf.nr_phases = 1;
	conf.bytes = m->pages * PAGE_SIZE;
	conf.per_worker = true;
	conf.record = PAGE_SIZE;
	conf.truncation = &m->truncation;
	return conf;
}

int measurement_run(struct measurement *m)
{
	struct context context = { .m = m };
	struct reason why = { "" };
	struct bench_conf conf;
	struct topo *topo;
	int err, status;

	/* Beyond ulimit -f there is an error to report, EFBIG, instead. */
	signal(SIGXFSZ, SIG_IGN);
	if (m->options.output)
		check_output(m->options.output);
	if (topo_load(&topo, NULL, &why))
		fail(EXIT_CANNOT, "%s", why.text);
	options_complete(&m->options, topo);
	conf = bench_conf(m, topo, &context);
	err = bench_open(&conf, &why);
	if (!err)
		err = bench_check(&conf, &why);
	if (err)
		fail(err == -EINVAL ? EXIT_USAGE : EXIT_CANNOT, "%s", why.text);
	context.result = new_result(m, topo);
	if (bench_describe(&conf, context.result))
		fail(EXIT_CANNOT, "out of memory");
	gate_options_check(&m->gates, context.result);
	reference_check(context.result);

	catch_signals();
	progress_start(m->options.quiet);
	auto_start(&context.rounds, m->truncates ? "run" : "round", &m->options,
		   &m->gates);
	err = m->truncates ? truncate_run(&conf, context.result, &why) :
			     bench_run(&conf, context.result, &why);
	status = conclude(m, context.result, err, &why);
	if (err == -EINTR) {
		/*
		 * Workers still run: neither what they use nor what exit() would undo is
		 * touched.
		 */
		fflush(NULL);
		_exit(status);
	}
	bench_close(&conf);
	result_free(context.result);
	topo_free(topo);
	return status;
}
