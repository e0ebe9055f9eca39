/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/progress.h"

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

void progress_show(const struct bench_progress *progress)
{
	uint64_t now_ns = clock_now_ns();
	double elapsed = (double)(now_ns - line.start_ns) / 1e9;
	char text[256], left[32] = "";

	if (!line.enabled || now_ns - line.last_ns < MIN_INTERVAL_NS)
		return;
	line.last_ns = now_ns;
	/* The time left is what the bytes behind us took, for the bytes before us. */
	if (progress->fraction > 0.01)
		snprintf(left, sizeof(left), ", %.0f s left",
			 elapsed / progress->fraction * (1 - progress->fraction));
	snprintf(text, sizeof(text), "%3.0f %%%s: round %u of %u, %u threads, %s, %s",
		 progress->fraction * 100, left, progress->round + 1, progress->rounds,
		 progress->threads, progress->side, progress->phase);
	/* One column stays free: a full line would wrap and could not be wiped. */
	fprintf(stderr, "\r%.*s\033[K", terminal_columns() - 1, text);
	fflush(stderr);
	line.standing = true;
}

void progress_wipe(void)
{
	if (!line.standing)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	line.standing = false;
}
