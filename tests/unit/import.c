/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What iozone printed, line by line, and what is made of it. */
#include "result/import.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

static char path[] = "/tmp/pagezone-import.XXXXXX";

/* Imports @text. 0 with a result, or what import_iozone() returned. */
static int import(const char *text, size_t len, struct result **result,
		  struct reason *why)
{
	const char *const paths[] = { path };
	FILE *out = fopen(path, "we");

	if (!out || fwrite(text, 1, len, out) != len || fclose(out))
		bail("cannot write %s", path);
	*result = NULL;
	return import_iozone(result, paths, 1, why);
}

/* The one sample of @text. */
static struct result_sample one(const char *text)
{
	static char is_void[] = "void";
	struct result_sample sample = { .kb_per_s = NAN };
	struct result *result;
	struct reason why = { "" };

	if (import(text, strlen(text), &result, &why)) {
		printf("# %s\n", why.text);
		return sample;
	}
	if (result->nr_samples == 1)
		sample = result->samples[0];
	/* No pointers into the result go out. */
	sample.failure = sample.failure ? is_void : NULL;
	result_free(result);
	return sample;
}

static void refused(const char *text, const char *words)
{
	struct result *result;
	struct reason why = { "" };
	int err = import(text, strlen(text), &result, &why);

	if (!ok(err && strstr(why.text, words) && !strchr(why.text, '\n'), "refused: %s",
		words))
		printf("# %d: %s\n", err, why.text);
	result_free(result);
}

#define CHILDREN(rate) "\tChildren see throughput for  4 readers \t= " rate " kB/sec\n"
#define PARENT(rate)   "\tParent sees throughput for  4 readers \t= " rate " kB/sec\n"

static void test_rates(void)
{
	struct result_sample sample = one(CHILDREN("4000.52") PARENT("1000.04"));

	ok(sample.threads == 4 && sample.total_kb_per_s == 1000.04 &&
		   sample.kb_per_s == 250.01,
	   "Parent sees is the total, and a fourth of it is each thread's");
	ok(sample.sum_of_worker_rates == 4000.52,
	   "Children see is the sum of worker rates");
	sample = one("> \tChildren see throughput for 4 readers = 4000,52 KB/sec\r\n"
		     "> \tParent sees throughput for 4 readers = 1000,04 KB/sec\r\n");
	ok(sample.total_kb_per_s == 1000.04 && sample.sum_of_worker_rates == 4000.52,
	   "quoted, with a decimal comma and \\r\\n");
	sample = one(CHILDREN("0.01") PARENT("0.01"));
	ok(fabs(sample.total_kb_per_s - 0.01) < 1e-9, "the smallest rate is exact");
}

static void test_void(void)
{
	ok(one(CHILDREN("0.00") PARENT("0.00")).failure, "0.00 is void");
	ok(one(CHILDREN("4000.00") PARENT("-nan")).failure, "nan is void");
	ok(one(CHILDREN("inf") PARENT("inf")).failure, "inf is void");
	ok(one(CHILDREN("4000.00")).failure, "without 'Parent sees' it is void");
	ok(one(CHILDREN("4000.00")
		       PARENT("4000.00") "\tMin throughput per process = 0.00 kB/sec\n")
		   .failure,
	   "a process that moved nothing voids the test");
	ok(one(CHILDREN("4000.00") PARENT(
		       "4000.00") "\tMin throughput per process = 4000.00 kB/sec\n")
		   .failure,
	   "as does one that iozone's minimum does not know of");
	ok(one(CHILDREN("4000.00") PARENT(
		       "4000.00") "\tChild[2] xfer count = 0.00 kB, Throughput = 0.00 kB/sec\n")
		   .failure,
	   "and one among the children's counts");
	ok(!one(CHILDREN("4000.00") PARENT(
			"4000.00") "\tMin throughput per process = 1000.00 kB/sec\n"
				   "\tMin xfer = 1024.00 kB\n")
		    .failure,
	   "all having moved something is fine");
}

static void test_refused(void)
{
	refused("", "no throughput test");
	refused("hello\n", "no throughput test");
	refused(CHILDREN("x"), "line 1: not a throughput");
	refused(CHILDREN("-5.00"), "not a throughput");
	refused(CHILDREN("1e5"), "not in kB/sec");
	refused(CHILDREN("99999999999999999999.00"), "not a throughput");
	refused("Children see throughput for 4 readers = 1.00 ops/sec\n", "without -O");
	refused("Children see throughput for 4 readers = 1.0\n", "not in kB/sec");
	refused("Children see throughput for 4 rea\n", "cut off");
	refused("Children see throughput for 0 readers = 1.00 kB/sec\n", "threads");
	refused("Children see throughput for 4097 readers = 1.00 kB/sec\n", "threads");
	refused("Children see throughput for readers = 1.00 kB/sec\n", "threads");
	refused("Children see throughput for 4 \x1b[2J = 1.00 kB/sec\n", "no test");
	refused("Children see throughput for 2s = 1.00 kB/sec\n", "names no test");
	refused(PARENT("1.00"), "'Parent sees' of a test");
	refused(CHILDREN("1.00") "Parent sees throughput for 5 readers = 1.00 kB/sec\n",
		"'Parent sees' of a test");
	refused("Each process writes a 1024 kByte file in 4 kByte records\n" CHILDREN(
			"1.00") "Each process writes a 1024 kByte file in 8 kByte records\n",
		"records of 8 kB");
}

static void test_nul(void)
{
	static const char text[] = CHILDREN("1.00") "\0" PARENT("1.00");
	struct result *result;
	struct reason why = { "" };

	ok(import(text, sizeof(text) - 1, &result, &why) == -EINVAL &&
		   strstr(why.text, "NUL"),
	   "NUL bytes are refused");
}

static void test_rounds(void)
{
	static const char text[] = "Run began: now\n" CHILDREN("2.00") PARENT(
		"2.00") "Run began: later\n" CHILDREN("4.00")
		PARENT("4.00") "iozone test complete.\nRun began: last\n" CHILDREN("6.00")
			PARENT("6.00") "iozone test complete.\n";
	struct result *result;
	struct reason why = { "" };

	if (import(text, strlen(text), &result, &why))
		bail("%s", why.text);
	ok(result->nr_samples == 3 && result->samples[2].round == 2 &&
		   result->parameters.rounds == 3,
	   "the same test in another run is a further round");
	ok(result->nr_cells == 1 && result->cells[0].total_kb_per_s == 4,
	   "and the cell their median");
	ok(result->interrupted, "a run without its end was interrupted");
	result_free(result);
}

static void test_names(void)
{
	static const char text[] =
		"Children see throughput for 1 stride readers = 1.00 kB/sec\n"
		"Children see throughput for 1 mixed workload = 1.00 kB/sec\n"
		"Children see throughput for 1 reverse readers = 1.00 kB/sec\n";
	struct result *result;
	struct reason why = { "" };

	if (import(text, strlen(text), &result, &why))
		bail("%s", why.text);
	ok(result->nr_phases == 3 && !strcmp(result->phases[0].name, "stride-reader") &&
		   !strcmp(result->phases[1].name, "mixed-workload") &&
		   !strcmp(result->phases[2].name, "reverse-reader"),
	   "tests that pagezone does not have are phases, too");
	result_free(result);
}

/* Each beginning of a log that has a figure imports; others are refused in one line. */
static void test_cut_off(void)
{
	static const char text[] =
		"Run began: now\nEach process writes a 8 kByte file in 4 "
		"kByte records\n" CHILDREN("4.00") PARENT(
			"4.00") "\tMin xfer = 4.00 kB\n\tChild[0] xfer count = 4.00 kB\n";
	size_t first =
		(size_t)(strstr(text, "4.00 kB/sec") - text) + strlen("4.00 kB/sec");
	unsigned bad = 0;

	for (size_t len = 0; len < sizeof(text); len++) {
		struct result *result;
		struct reason why = { "" };
		int err = import(text, len, &result, &why);

		bad += err ? !*why.text || strchr(why.text, '\n') : !result->nr_samples;
		bad += !err != (len >= first);
		result_free(result);
	}
	ok(!bad, "a log may end anywhere behind its first figure");
}

static void test_reference(void)
{
	const char *top = getenv("top_srcdir");
	struct result *result = NULL;
	struct reason why = { "" };
	char dir[4096];

	snprintf(dir, sizeof(dir), "%s/src/data", top ? top : ".");
	if (import_reference(&result, "thp-page-cache-2013", dir, &why))
		bail("%s", why.text);
	ok(result->nr_samples == 126 && result->nr_speedups == 63, "the table of 2013");
	result_free(result);
	result = NULL;
	if (import_reference(&result, "batched-truncation-2017", dir, &why))
		bail("%s", why.text);
	ok(result->nr_samples == 10, "the figures of 2017");
	for (unsigned i = 0; i < 2; i++) {
		static const double fractions[] = { 0.01, 0.95 };
		double ns[2];

		must(result_times_quantiles(&result->samples[i].times, fractions, 2, ns));
		ok(ns[0] == (i ? 209e3 : 248e3) && ns[1] == (i ? 219e3 : 256e3),
		   "the percentiles of its first run are the posted ones");
	}
	result_free(result);
	ok(import_reference(&result, "../data/thp-page-cache-2013", dir, &why) == -ENOENT,
	   "a name is no path");
	ok(import_reference(&result, "thp-page-cache-2013", "/nonexistent", &why) ==
			   -ENOENT &&
		   strstr(why.text, "/nonexistent/thp-page-cache-2013.csv"),
	   "a file that is not there is named");
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		bail("cannot create a file in /tmp");
	close(fd);
	test_rates();
	test_void();
	test_refused();
	test_nul();
	test_rounds();
	test_names();
	test_cut_off();
	test_reference();
	unlink(path);
	return done();
}
