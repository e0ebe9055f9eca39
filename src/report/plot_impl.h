/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What plot.c, which lays out the page, and plot_panels.c, which draws its diagrams,
 * share. For nobody else.
 */
#ifndef REPORT_PLOT_IMPL_H
#define REPORT_PLOT_IMPL_H

#include <stdio.h>

#include "report/report.h"

#define PLOT_MAX_PANELS 48
#define PLOT_MAX_LABEL	44 /* characters of a name in titles and the legend */

/* What is drawn: a phase of all results, or the speed-ups of a side of @result. */
struct plot_panel {
	const char *phase; /* its name; NULL: speed-ups */
	char title[256];   /* which PLOT_MAX_LABEL characters never fill */
	unsigned threads;  /* of a panel of truncations; 0: throughput against threads */
	const struct result *result;
	unsigned side;
};

struct plot {
	const struct result *const *results;
	const char *const *names;
	unsigned nr;
	const struct result *between; /* their speed-ups over the first; NULL: none */
	enum report_per per;
	FILE *out;
	struct plot_panel panels[PLOT_MAX_PANELS];
	unsigned nr_panels;
	unsigned nr_phases;		     /* panels before those of speed-ups */
	const char *phases[PLOT_MAX_PANELS]; /* that have speed-ups, by style */
	unsigned nr_speedups;
	unsigned min_threads, max_threads;
	double min_rate,
		max_rate; /* MiB/s of all cells that have no times; 0: there are none */
};

/* @text as gnuplot takes it for nothing but text, at most @max characters of it. */
void plot_put_quoted(FILE *out, const char *text, unsigned max);
/* Colour, point and dash of line @i, as options of gnuplot's "with linespoints". */
void plot_put_style(FILE *out, unsigned i);
/* The name of file @r without its directories, but for those that tell it from another one. */
const char *plot_file_name(const struct plot *plot, unsigned r);
/* What kB/s per thread of @cell are multiplied by, to be MiB/s as shown. */
double plot_rate_unit(const struct plot *plot, const struct result_cell *cell);
/* The next diagram of the page. */
void plot_put_panel(const struct plot *plot, const struct plot_panel *panel);

#endif
