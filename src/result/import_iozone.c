/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads iozone's throughput mode. The format is that of iozone 3.489's iozone.c: of each test
 *
 *	Children see throughput for  2 initial writers	=  502935.03 kB/sec
 *	Parent sees throughput for  2 initial writers	=   36119.84 kB/sec
 *	Min throughput per process			=  502935.03 kB/sec
 *	Min xfer					=    1024.00 kB
 *	Child[0] xfer count = 0.00 kB, Throughput = 0.00 kB/sec		(with -C)
 *
 * The file may come from anywhere, as a result may.
 */
#include "result/import.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "result/fields.h"

#define MAX_FILE_BYTES ((size_t)64 << 20)
#define MAX_TESTS      32   /* kinds of tests: iozone has 15 */
#define MAX_LINE       4096 /* what is longer is no line of iozone */
#define MAX_RATE       1e12 /* kB/s */
#define MAX_KB	       (UINT64_MAX >> 20)
/* Rates have two decimals: within 100 s they are a whole number of bytes. */
#define WINDOW_NS ((uint64_t)100000000000)

/* The names of the phases of pagezone; others are named after iozone's. */
static const struct {
	const char *test, *phase;
} phases[] = {
	{ "initial writers", "initial-writer" },
	{ "rewriters", "rewriter" },
	{ "readers", "reader" },
	{ "re-readers", "re-reader" },
	{ "reverse readers", "reverse-reader" },
	{ "random readers", "random-reader" },
	{ "random writers", "random-writer" },
};

/* What iozone says of one test. Rates in kB/s; NAN: not said. */
struct test {
	bool open; /* between "Children see" and the next test */
	char name[40];
	unsigned threads;
	double children, parent, min;
	bool idle; /* a process is said to have moved nothing */
};

/* Of one test at one number of processes. */
struct seen {
	unsigned rounds; /* samples so far */
	unsigned run;	 /* that had the last one */
};

struct importer {
	struct result *result;
	struct place place;
	unsigned line;
	struct test test;
	bool began, complete;		/* the run that the line is in */
	uint64_t run_kb, run_record_kb; /* of it; 0: not said */
	uint64_t kb, record_kb;		/* of the runs so far; UINT64_MAX: they differ */
	uint64_t total_kb;		/* the same, of all threads together */
	char *command;			/* of the first run */
	bool commands_differ;
	unsigned run;	   /* which one the line is in, over all files */
	struct seen *seen; /* [MAX_TESTS][FIELD_MAX_THREADS + 1] */
};

__attribute__((format(printf, 2, 3))) static int line_error(struct importer *in,
							    const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return place_error(&in->place, -EINVAL, "line %u: %s", in->line, text);
}

/* A decimal number at *@at, and moves there; a comma may be the point. NAN for nan and inf, which
 * iozone prints of tests that took no time. -EINVAL: no number. */
static int scan_rate(const char **at, double *rate)
{
	const char *c = *at + strspn(*at, " \t"), *word = c + (*c == '-');
	double value = 0, unit = 1;
	bool point = false, digits = false;

	if (!strncmp(word, "nan", 3) || !strncmp(word, "inf", 3)) {
		*rate = NAN;
		*at = word + 3;
		return 0;
	}
	for (; isdigit((unsigned char)*c) || ((*c == '.' || *c == ',') && !point); c++) {
		if (!isdigit((unsigned char)*c)) {
			point = true;
			continue;
		}
		digits = true;
		value = value * 10 + (*c - '0');
		unit *= point ? 10 : 1;
	}
	if (!digits || unit > 1e9 || value / unit > MAX_RATE)
		return -EINVAL;
	*rate = value / unit;
	*at = c;
	return 0;
}

static int scan_number(const char **at, uint64_t max, uint64_t *number)
{
	const char *c = *at + strspn(*at, " \t");
	uint64_t value = 0;

	if (!isdigit((unsigned char)*c))
		return -EINVAL;
	for (; isdigit((unsigned char)*c); c++) {
		value = value * 10 + (uint64_t)(*c - '0');
		if (value > max)
			return -ERANGE;
	}
	*number = value;
	*at = c;
	return 0;
}

/* The rate behind the "=" of @at, with its unit. */
static int scan_result(struct importer *in, const char *at, double *rate)
{
	double scanned;

	at = strchr(at, '=');
	if (!at)
		return line_error(in, "cut off");
	at++;
	if (scan_rate(&at, &scanned))
		return line_error(in, "not a throughput");
	at += strspn(at, " \t");
	if (!strncmp(at, "ops", 3))
		return line_error(in, "in operations, not kB: run iozone without -O");
	if (strncmp(at, "kB/sec", 6) != 0 && strncmp(at, "KB/sec", 6) != 0)
		return line_error(in, "not in kB/sec");
	*rate = scanned;
	return 0;
}

/* "  2 initial writers 	=": threads and name. */
static int scan_test(struct importer *in, const char *at, unsigned *threads,
		     char name[static 40])
{
	uint64_t nr;
	size_t len;

	if (scan_number(&at, FIELD_MAX_THREADS, &nr) || !nr)
		return line_error(in, "threads are not a number from 1 to %u",
				  FIELD_MAX_THREADS);
	at += strspn(at, " \t");
	len = strcspn(at, "=");
	while (len && isblank((unsigned char)at[len - 1]))
		len--;
	/* An "s" is a plural without a name. */
	if (!len || len >= 40 || (len == 1 && *at == 's'))
		return line_error(in, "names no test");
	for (size_t i = 0; i < len; i++)
		if (!isalpha((unsigned char)at[i]) && at[i] != ' ' && at[i] != '-')
			return line_error(in, "names no test");
	snprintf(name, 40, "%.*s", (int)len, at);
	*threads = (unsigned)nr;
	return 0;
}

/* "stride readers" becomes "stride-reader". */
static void phase_name(const char *test, char name[static 40])
{
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(phases); i++) {
		if (!strcmp(test, phases[i].test)) {
			strcpy(name, phases[i].phase);
			return;
		}
	}
	strcpy(name, test);
	len = strlen(name);
	if (name[len - 1] == 's')
		name[len - 1] = '\0';
	for (char *c = name; *c; c++)
		if (*c == ' ')
			*c = '-';
}

static int find_phase(struct importer *in, const char *test, unsigned *phase)
{
	struct result *result = in->result;
	char name[40];
	int found;

	phase_name(test, name);
	found = result_find_phase(result, name);
	*phase = found < 0 ? result->nr_phases : (unsigned)found;
	if (found >= 0)
		return 0;
	if (result->nr_phases == MAX_TESTS)
		return line_error(in, "more than %u kinds of tests", MAX_TESTS);
	return result_add_phase(result, name, NULL);
}

/* Why there is no figure, or NULL. */
static const char *test_failure(const struct test *test)
{
	if (isnan(test->children) || isnan(test->parent))
		return "iozone printed no 'Parent sees' or no number";
	if (test->idle || test->min <= 0 || test->parent <= 0 || test->children <= 0 ||
	    test->min * test->threads > test->children * 1.001)
		return "iozone: a process moved nothing (0.00): it failed, or did not "
		       "run before others had ended";
	return NULL;
}

/* What all runs have in common, and what not. */
static void merge(uint64_t *all, uint64_t one)
{
	if (one)
		*all = *all && *all != one ? UINT64_MAX : one;
}

/* The test is over: its sample. */
static int close_test(struct importer *in)
{
	struct test *test = &in->test;
	const char *failure = test_failure(test);
	struct result_sample *sample;
	struct seen *seen;
	unsigned phase;
	int err;

	if (!test->open)
		return 0;
	test->open = false;
	err = find_phase(in, test->name, &phase);
	if (!err)
		err = result_add_threads(in->result, test->threads);
	if (err)
		return err;
	seen = &in->seen[phase * (FIELD_MAX_THREADS + 1) + test->threads];
	/* Seen with -B and all tests: children go on as if they were the parent. */
	if (in->began && seen->rounds && seen->run == in->run)
		failure = "iozone printed this test more than once in one run: which is "
			  "the right one cannot be told";
	seen->run = in->run;
	sample = result_add_sample(in->result, 0);
	if (!sample)
		return -ENOMEM;
	sample->phase = phase;
	sample->threads = test->threads;
	sample->round = seen->rounds++;
	merge(&in->kb, in->run_kb);
	merge(&in->total_kb, in->run_kb * test->threads);
	if (failure) {
		sample->failure = strdup(failure);
		if (!sample->failure)
			return -ENOMEM;
	} else {
		sample->window_ns = WINDOW_NS;
		sample->bytes = (uint64_t)llround(test->parent * 100 * 1024);
	}
	result_sample_rates(sample);
	if (!failure)
		sample->sum_of_worker_rates = test->children;
	return 0;
}

static int open_test(struct importer *in, const char *at)
{
	int err = close_test(in);

	if (err)
		return err;
	in->test = (struct test){ .parent = NAN, .min = NAN };
	err = scan_test(in, at, &in->test.threads, in->test.name);
	if (!err)
		err = scan_result(in, at, &in->test.children);
	in->test.open = !err;
	return err;
}

static int parent_sees(struct importer *in, const char *at)
{
	char name[40];
	unsigned threads;
	int err = scan_test(in, at, &threads, name);

	if (err)
		return err;
	if (!in->test.open || threads != in->test.threads ||
	    strcmp(name, in->test.name) != 0)
		return line_error(in, "'Parent sees' of a test that 'Children see' does "
				      "not name before");
	return scan_result(in, at, &in->test.parent);
}

/* Lines below a test: whether a process moved nothing. */
static int test_detail(struct importer *in, const char *at)
{
	double value;

	if (!in->test.open)
		return 0;
	if (!strncmp(at, "Min throughput per", 18))
		return scan_result(in, at, &in->test.min);
	if (!strncmp(at, "Min xfer", 8) || !strncmp(at, "Child[", 6)) {
		at = strchr(at, '=');
		if (!at)
			return 0;
		at++;
		in->test.idle |= !scan_rate(&at, &value) && value == 0;
	}
	return 0;
}

/* A further run of iozone begins. */
static int begin_run(struct importer *in)
{
	int err = close_test(in);

	in->result->interrupted |= in->began && !in->complete;
	in->began = true;
	in->run++;
	in->complete = false;
	in->run_kb = in->run_record_kb = 0;
	return err;
}

static int command_line(struct importer *in, const char *at)
{
	at += strspn(at, " \t");
	if (in->command) {
		in->commands_differ |= strcmp(at, in->command) != 0;
		return 0;
	}
	in->command = strdup(at);
	return in->command ? 0 : -ENOMEM;
}

static int set_record(struct importer *in, uint64_t kb)
{
	if (!kb || in->record_kb == kb)
		return 0;
	if (in->record_kb)
		return line_error(in,
				  "records of %" PRIu64 " kB, and of %" PRIu64
				  " kB before: import them into two files",
				  kb, in->record_kb);
	in->record_kb = kb;
	return 0;
}

/* "Each process writes a 1024 kByte file in 4 kByte records" */
static int file_size(struct importer *in, const char *at)
{
	uint64_t kb, record;
	int err = close_test(in);

	at = strstr(at, "writes a ");
	if (err || !at)
		return err;
	at += strlen("writes a ");
	if (scan_number(&at, MAX_KB, &kb) || strncasecmp(at, " kByte file", 11) != 0)
		return 0;
	in->run_kb = kb;
	at = strstr(at, " in ");
	if (!at)
		return 0;
	at += strlen(" in ");
	return scan_number(&at, MAX_KB, &record) ? 0 : set_record(in, record);
}

/* The part of @line behind @words, or NULL. */
static const char *behind(const char *line, const char *words)
{
	const char *at = strstr(line, words);

	return at ? at + strlen(words) : NULL;
}

static int read_line(struct importer *in, const char *line)
{
	const char *text = line + strspn(line, " \t"), *at;

	at = behind(line, "Children see throughput for ");
	if (at)
		return open_test(in, at);
	at = behind(line, "Parent sees throughput for ");
	if (at)
		return parent_sees(in, at);
	if (!strncmp(text, "Run began:", 10))
		return begin_run(in);
	at = behind(line, "Command line used:");
	if (at)
		return command_line(in, at);
	if (!strncmp(text, "Each ", 5))
		return file_size(in, text);
	if (!strncmp(text, "iozone test complete", 20)) {
		in->complete = true;
		return close_test(in);
	}
	if (!strncmp(text, "iozone: interrupted", 19)) {
		in->result->interrupted = true;
		return close_test(in);
	}
	return test_detail(in, text);
}

/* All of @file, which ends with a NUL. */
static int read_all(struct importer *in, FILE *file, char **text, size_t *len)
{
	size_t size = 1 << 16, nr;
	char *grown;

	*text = malloc(size + 1);
	*len = 0;
	errno = 0;
	while (*text && (nr = fread(*text + *len, 1, size - *len, file)) > 0) {
		*len += nr;
		if (*len > MAX_FILE_BYTES)
			return place_error(&in->place, -EFBIG, "larger than %zu bytes",
					   MAX_FILE_BYTES);
		if (*len < size)
			continue;
		size *= 2;
		grown = realloc(*text, size + 1);
		if (!grown)
			return -ENOMEM;
		*text = grown;
	}
	if (!*text)
		return -ENOMEM;
	if (ferror(file))
		return place_error(&in->place, errno ? -errno : -EIO, "%s",
				   strerror(errno ? errno : EIO));
	(*text)[*len] = '\0';
	return 0;
}

static int read_lines(struct importer *in, char *text)
{
	int err = 0;

	in->line = 0;
	in->began = in->complete = false;
	for (char *line; !err && (line = strsep(&text, "\n"));) {
		size_t len = strlen(line);

		in->line++;
		while (len && line[len - 1] == '\r')
			line[--len] = '\0';
		if (len <= MAX_LINE)
			err = read_line(in, line);
		/* iozone was killed, or its disk full, with half a line in its buffer. */
		if (err == -EINVAL && !text) {
			in->result->interrupted = true;
			err = 0;
		}
	}
	in->result->interrupted |= in->began && !in->complete;
	return err ? err : close_test(in);
}

static int read_file(struct importer *in, const char *path)
{
	unsigned before = in->result->nr_samples;
	char *text = NULL;
	FILE *file;
	size_t len;
	int err;

	in->place.path = path;
	err = place_open(&in->place, &file);
	if (err)
		return err;
	err = read_all(in, file, &text, &len);
	fclose(file);
	if (!err && memchr(text, '\0', len))
		err = place_error(&in->place, -EINVAL,
				  "not text of one byte a character: it has NUL bytes");
	if (!err)
		err = read_lines(in, text);
	free(text);
	if (!err && in->result->nr_samples == before)
		err = place_error(&in->place, -EINVAL,
				  "no throughput test of iozone is in it "
				  "(iozone -t N prints them)");
	return err;
}

static int set_parameters(struct importer *in)
{
	struct result_parameters *parameters = &in->result->parameters;

	for (unsigned i = 0; i < in->result->nr_samples; i++)
		if (in->result->samples[i].round >= parameters->rounds)
			parameters->rounds = in->result->samples[i].round + 1;
	parameters->record = in->record_kb << 10;
	parameters->per_thread_size = in->kb != UINT64_MAX;
	if (parameters->per_thread_size)
		parameters->bytes = in->kb << 10;
	else if (in->total_kb < MAX_KB)
		parameters->bytes = in->total_kb << 10;
	parameters->layout = strdup("private");
	parameters->per = strdup("thread");
	return parameters->layout && parameters->per ? 0 : -ENOMEM;
}

static int set_notes(struct importer *in)
{
	struct result *result = in->result;
	int err;

	err = result_warn(
		result,
		"imported from iozone: throughput is 'Parent sees' divided by the threads; "
		"sum_of_worker_rates is 'Children see', which adds the rate of each process "
		"over its own time and is no throughput; bytes and window_ns are made from "
		"the rate (100 s), as iozone prints no times");
	if (err >= 0)
		err = result_warn(
			result,
			"without its option -x, iozone stops a test when the first "
			"process has moved its file, and counts what the others had moved "
			"until then");
	if (err >= 0 && in->commands_differ)
		err = result_warn(result, "these are runs of several command lines; the "
					  "side has the first one");
	if (err >= 0 && in->kb == UINT64_MAX && in->total_kb == UINT64_MAX)
		err = result_warn(result, "these are runs with files of several sizes");
	return err < 0 ? err : 0;
}

static int finish(struct importer *in)
{
	int err = result_add_side(in->result, "run",
				  in->command && *in->command ? in->command : "iozone");

	if (!err)
		err = set_parameters(in);
	if (!err)
		err = set_notes(in);
	return err ? err : result_derive(in->result);
}

int import_iozone(struct result **result, const char *const *paths, unsigned nr,
		  struct reason *why)
{
	struct importer in = { .result = result_alloc(), .place = { .why = why } };
	int err = 0;

	in.seen = calloc((size_t)MAX_TESTS * (FIELD_MAX_THREADS + 1), sizeof(*in.seen));
	if (!in.result || !in.seen)
		err = -ENOMEM;
	for (unsigned i = 0; !err && i < nr; i++)
		err = read_file(&in, paths[i]);
	if (!err)
		err = finish(&in);
	if (err == -ENOMEM)
		reason_set(why, err, "%s", strerror(ENOMEM));
	free(in.seen);
	free(in.command);
	if (err)
		result_free(in.result);
	else
		*result = in.result;
	return err;
}
