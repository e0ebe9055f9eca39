/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test Anything Protocol for unit tests.
 *
 *	int main(void)
 *	{
 *		plan(2);			(or no plan at all: done() prints it)
 *		ok(1 + 1 == 2, "sums of %d", 1);
 *		skip("no second node", 1);	(counts one test point as skipped)
 *		return done();
 *	}
 *
 * Any thread may report: a line is written under one lock, and a failed check
 * returns false instead of jumping away. Include it from one file per test.
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
	pthread_mutex_t lock;
	int planned, run, failed; /* guarded by lock */
} tap = { .lock = PTHREAD_MUTEX_INITIALIZER };

static inline void plan(int nr)
{
	pthread_mutex_lock(&tap.lock);
	tap.planned = nr;
	printf("1..%d\n", nr);
	fflush(stdout);
	pthread_mutex_unlock(&tap.lock);
}

__attribute__((format(printf, 4, 5))) static inline bool
tap_ok(bool pass, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	pthread_mutex_lock(&tap.lock);
	printf("%s %d - ", pass ? "ok" : "not ok", ++tap.run);
	vprintf(fmt, ap);
	putchar('\n');
	if (!pass) {
		tap.failed++;
		printf("# failed at %s:%d\n", file, line);
	}
	fflush(stdout);
	pthread_mutex_unlock(&tap.lock);
	va_end(ap);
	return pass;
}

/* One test point: @cond and a printf description without a newline or a '#'. */
#define ok(cond, ...) tap_ok(!!(cond), __FILE__, __LINE__, __VA_ARGS__)

/* @nr test points that cannot be run here, and why. */
static inline void skip(const char *why, int nr)
{
	pthread_mutex_lock(&tap.lock);
	while (nr-- > 0)
		printf("ok %d # SKIP %s\n", ++tap.run, why);
	fflush(stdout);
	pthread_mutex_unlock(&tap.lock);
}

/* The whole test cannot be run here: call it before anything else. */
static inline _Noreturn void skip_all(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	exit(0);
}

/* Not again where it ran already, as in the later builds of scripts/test. Before anything else. */
static inline void slow_test(void)
{
	const char *set = getenv("PAGEZONE_SKIP_SLOW");

	if (set && *set)
		skip_all("slow, and done by an earlier build");
}

/* Nothing that follows makes sense: ends the test as failed. */
__attribute__((format(printf, 1, 2))) static inline _Noreturn void bail(const char *fmt,
									...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("Bail out! ");
	vprintf(fmt, ap);
	putchar('\n');
	fflush(stdout);
	_Exit(99);
}

/* The exit status: 0 when all planned test points ran and passed. */
static inline int done(void)
{
	int run, bad;

	pthread_mutex_lock(&tap.lock);
	run = tap.run;
	if (!tap.planned)
		printf("1..%d\n", run);
	bad = tap.failed || !run || (tap.planned && tap.planned != run);
	pthread_mutex_unlock(&tap.lock);
	return bad;
}

#endif /* TESTS_TAP_H */
