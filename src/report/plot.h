/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures of results: as a script for gnuplot (5.4), which draws them. */
#ifndef REPORT_PLOT_H
#define REPORT_PLOT_H

#include <stdio.h>

#include "report/report.h"
#include "base/reason.h"

enum plot_format { PLOT_SVG, PLOT_PNG };

/*
 * Writes the script that draws @results[@nr], whose files are @names, to gnuplot's
 * standard output: the throughput of each phase against threads (medians, bars from the
 * lower to the upper quartile), truncations as boxes (quartiles, whiskers from p1 to p95,
 * the median), the speed-ups of each side (bars: 95 %), those of @between, whose sides
 * stand for the files (NULL: none), and machines and commands below. All names are
 * quoted, so that they are only ever text.
 *
 * 0; -EINVAL with @why when there is nothing to draw, or more than fits on a page; -errno of @out.
 */
int report_plot(const struct result *const *results, const char *const *names,
		unsigned nr, const struct result *between, enum report_per per,
		enum plot_format format, FILE *out, struct reason *why);

#endif
