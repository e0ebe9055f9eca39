/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/progress.h"

#include <math.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

/* A screen needs no more, and the line must cost nothing. */
#define MIN_INTERVAL_NS 200000000u

static struct {
	bool enabled, standing;
	uint64_t start_ns, last_ns;
} line;

void progress_start(bool quiet)
{
	line.enabled = !quiet && isatty(STDERR_FILENO);
	line.standing = false;
	line.start_ns = clock_now_ns();
	line.last_ns = 0;
}

static int terminal_columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return 80;
	return size.ws_col;
}

static void show_line(const char *text)
{
	/* One column stays free: a full line would wrap and could not be wiped. */
	fprintf(stderr, "\r%.*s\033[K", terminal_columns() - 1, text);
	fflush(stderr);
	line.standing = true;
}

/*
 * "84 s of 600 s, widest interval 3.4 %, wanted 2 %", as nobody knows how many rounds
 * there will be.
 */
static void put_goal(char *text, size_t size, double elapsed,
		     const struct auto_rounds *goal)
{
	double budget = (double)goal->budget_ns / 1e9, wanted = goal->wanted.width * 100;

	if (isfinite(goal->widest))
		snprintf(text, size,
			 "%.0f s of %.0f s, widest interval %.1f %%, wanted %.3g %%",
			 elapsed, budget, goal->widest * 100, wanted);
	else
		snprintf(text, size, "%.0f s of %.0f s, no interval yet", elapsed,
			 budget);
}

void progress_show(const struct bench_progress *progress, const struct auto_rounds *goal)
{
	uint64_t now_ns = clock_now_ns();
	double elapsed = (double)(now_ns - line.start_ns) / 1e9;
	char text[256], left[32] = "", so_far[128];

	if (!line.enabled || now_ns - line.last_ns < MIN_INTERVAL_NS)
		return;
	line.last_ns = now_ns;
	if (goal) {
		put_goal(so_far, sizeof(so_far), elapsed, goal);
		snprintf(text, sizeof(text), "%s: round %u, %u thread%s, %s, %s", so_far,
			 progress->round + 1, progress->threads,
			 progress->threads == 1 ? "" : "s", progress->side,
			 progress->phase);
		show_line(text);
		return;
	}
	/* The time left is what the bytes behind us took, for the bytes before us. */
	if (progress->fraction > 0.01)
		snprintf(left, sizeof(left), ", %.0f s left",
			 elapsed / progress->fraction * (1 - progress->fraction));
	snprintf(text, sizeof(text), "%3.0f %%%s: round %u of %u, %u thread%s, %s, %s",
		 progress->fraction * 100, left, progress->round + 1, progress->rounds,
		 progress->threads, progress->threads == 1 ? "" : "s", progress->side,
		 progress->phase);
	show_line(text);
}

void progress_wipe(void)
{
	if (!line.standing)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	line.standing = false;
}
