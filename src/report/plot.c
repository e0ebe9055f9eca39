/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "report/plot_impl.h"
#include "report/text.h"

#define CELL_WIDTH   340 /* pixels */
#define CELL_HEIGHT  250
#define TITLE_HEIGHT 12
#define LINE_HEIGHT  14

/* ---- what there is ---- */

static bool phase_has_times(const struct result *result, unsigned phase)
{
	for (unsigned i = 0; i < result->nr_samples; i++)
		if (result->samples[i].phase == phase && result->samples[i].times.nr)
			return true;
	return false;
}

static int add_panel(struct plot *plot, struct plot_panel panel, struct reason *why)
{
	for (unsigned i = 0; i < plot->nr_panels && panel.phase; i++)
		if (plot->panels[i].phase && plot->panels[i].threads == panel.threads &&
		    !strcmp(plot->panels[i].phase, panel.phase))
			return 0;
	if (plot->nr_panels == PLOT_MAX_PANELS)
		return reason_set(why, -EINVAL,
				  "more than %u diagrams: too many for a page",
				  PLOT_MAX_PANELS);
	plot->panels[plot->nr_panels++] = panel;
	return 0;
}

/* All diagrams of throughput have one scale, so that they compare. */
static void add_rate(struct plot *plot, const struct result_cell *cell)
{
	double unit = plot_rate_unit(plot, cell);

	if (cell->is_void || !(cell->p25 > 0))
		return;
	if (!(plot->min_rate > 0) || cell->p25 * unit < plot->min_rate)
		plot->min_rate = cell->p25 * unit;
	if (cell->p75 * unit > plot->max_rate)
		plot->max_rate = cell->p75 * unit;
}

static int add_cells(struct plot *plot, unsigned r, struct reason *why)
{
	const struct result *result = plot->results[r];
	int err = 0;

	for (unsigned p = 0; !err && p < result->nr_phases; p++) {
		bool times = phase_has_times(result, p);

		for (unsigned i = 0; !err && i < result->nr_cells; i++) {
			const struct result_cell *cell = &result->cells[i];
			struct plot_panel panel = { .phase = result->phases[p].name };
			struct text text;

			if (cell->phase != p)
				continue;
			panel.threads = times ? cell->threads : 0;
			snprintf(panel.title, sizeof(panel.title), "%s%s%s",
				 result->phases[p].title, times ? ", " : "",
				 times ? text_count(&text, cell->threads, "thread") : "");
			err = add_panel(plot, panel, why);
			if (!times)
				add_rate(plot, cell);
			if (!plot->max_threads || cell->threads < plot->min_threads)
				plot->min_threads = cell->threads;
			if (cell->threads > plot->max_threads)
				plot->max_threads = cell->threads;
		}
	}
	return err;
}

static bool is_finite_speedup(const struct result_speedup *speedup)
{
	return isfinite(speedup->ratio);
}

static void add_speedup_phase(struct plot *plot, const char *name)
{
	for (unsigned i = 0; i < plot->nr_speedups; i++)
		if (!strcmp(plot->phases[i], name))
			return;
	if (plot->nr_speedups < PLOT_MAX_PANELS)
		plot->phases[plot->nr_speedups++] = name;
}

/* Of @result: the sides of file @r, or files over the first one. */
static int add_speedups(struct plot *plot, const struct result *result, unsigned r,
			struct reason *why)
{
	int err = 0;

	for (unsigned side = 0; !err && side < result->nr_sides; side++) {
		struct plot_panel panel = { .result = result, .side = side };
		bool any = false;

		for (unsigned i = 0; i < result->nr_speedups; i++) {
			const struct result_speedup *speedup = &result->speedups[i];

			if (speedup->side != side || !is_finite_speedup(speedup))
				continue;
			any = true;
			add_speedup_phase(plot, result->phases[speedup->phase].name);
		}
		if (result == plot->between)
			snprintf(panel.title, sizeof(panel.title), "Speed-up, %s over %s",
				 plot_file_name(plot, side), plot_file_name(plot, 0));
		else
			snprintf(panel.title, sizeof(panel.title), "Speed-up, %s%s%s",
				 plot->nr > 1 ? plot_file_name(plot, r) : "",
				 plot->nr > 1 ? ": " : "", result->sides[side].name);
		if (any)
			err = add_panel(plot, panel, why);
	}
	return err;
}

static int add_panels(struct plot *plot, struct reason *why)
{
	int err = 0;

	for (unsigned r = 0; !err && r < plot->nr; r++)
		err = add_cells(plot, r, why);
	plot->nr_phases = plot->nr_panels;
	for (unsigned r = 0; !err && r < plot->nr; r++)
		err = add_speedups(plot, plot->results[r], r, why);
	if (!err && plot->between)
		err = add_speedups(plot, plot->between, 0, why);
	if (!err && !plot->nr_panels)
		err = reason_set(why, -EINVAL, "there is nothing to draw: no cells");
	return err;
}

/* ---- the page ---- */

/* What a line is, in the legend. */
static void put_side(const struct plot *plot, unsigned r, unsigned side)
{
	const struct result_side *s = &plot->results[r]->sides[side];
	char *label;

	if (asprintf(&label, "%s: %s", plot->nr > 1 ? plot_file_name(plot, r) : s->name,
		     plot->nr > 1 ? s->name : s->spec) < 0)
		return;
	plot_put_quoted(plot->out, label, PLOT_MAX_LABEL);
	free(label);
}

static const char *phase_title(const struct plot *plot, const char *name)
{
	for (unsigned r = 0; r < plot->nr; r++) {
		int phase = result_find_phase(plot->results[r], name);

		if (phase >= 0)
			return plot->results[r]->phases[phase].title;
	}
	return name;
}

/* A cell without a frame. What it plots lies outside of its range. */
static void put_legend(const struct plot *plot)
{
	unsigned style = 0;
	FILE *out = plot->out;

	fputs("unset title\nunset xlabel\nunset ylabel\nunset tics\nunset border\nunset grid\n"
	      "unset logscale\nset xrange [0:1]\nset yrange [0:1]\n"
	      "set key at graph -0.12,1.05 left top Left reverse samplen 3 "
	      "spacing 1 vertical maxcols 1\nplot ",
	      out);
	fputs("2 with lines lc rgb '#ffffff' title 'Sides:'", out);
	for (unsigned r = 0; r < plot->nr; r++) {
		for (unsigned s = 0; s < plot->results[r]->nr_sides; s++, style++) {
			fputs(", 2 with linespoints lw 1.5 ps 0.7 ", out);
			plot_put_style(out, style);
			fputs(" title ", out);
			put_side(plot, r, s);
		}
	}
	if (plot->nr_speedups)
		fputs(", 2 with lines lc rgb '#ffffff' title 'Speed-up of:'", out);
	for (unsigned p = 0; p < plot->nr_speedups; p++) {
		fputs(", 2 with linespoints lw 1.5 ps 0.7 ", out);
		plot_put_style(out, p);
		fputs(" title ", out);
		plot_put_quoted(out, phase_title(plot, plot->phases[p]), PLOT_MAX_LABEL);
	}
	putc('\n', out);
}

/* The lines below the diagrams. */
struct caption {
	char *lines[64];
	unsigned nr;
	size_t width; /* characters a line */
};

static void caption_line(struct caption *caption, const char *text)
{
	size_t len = strlen(text), at;

	while (len && caption->nr < ARRAY_SIZE(caption->lines)) {
		at = len;
		if (len > caption->width) {
			at = caption->width;
			while (at && text[at] != ' ')
				at--;
			if (!at)
				at = caption->width;
			while (at && ((unsigned char)text[at] & 0xc0) == 0x80)
				at--;
		}
		caption->lines[caption->nr++] = strndup(text, at);
		text += at;
		while (*text == ' ')
			text++;
		len = strlen(text);
	}
}

static void caption_result(struct caption *caption, const struct plot *plot, unsigned r)
{
	const struct result *result = plot->results[r];
	const struct result_environment *env = &result->environment;
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return;
	if (plot->nr > 1)
		fprintf(out, "%s: ", plot_file_name(plot, r));
	fputs(result->command_line ? result->command_line : "(unknown command)", out);
	if (env->cpu_model)
		fprintf(out, "; %s", env->cpu_model);
	if (env->nr_allowed_cpus)
		fprintf(out, ", %u CPU%s", env->nr_allowed_cpus,
			env->nr_allowed_cpus > 1 ? "s" : "");
	if (env->nr_nodes)
		fprintf(out, ", %u NUMA node%s", env->nr_nodes,
			env->nr_nodes > 1 ? "s" : "");
	if (env->virtualisation)
		fprintf(out, ", %s", env->virtualisation);
	if (env->kernel)
		fprintf(out, "; %s", env->kernel);
	if (!fclose(out))
		caption_line(caption, line);
	free(line);
	/* Of what was imported, the machine stands in the note. */
	for (unsigned i = 0; i < result->nr_warnings && !env->cpu_model; i++)
		caption_line(caption, result->warnings[i]);
	if (result->interrupted)
		caption_line(caption, "This run was interrupted.");
}

static bool any_panel(const struct plot *plot, bool truncations)
{
	for (unsigned i = 0; i < plot->nr_phases; i++)
		if (!plot->panels[i].threads == !truncations)
			return true;
	return false;
}

static void put_page(const struct plot *plot, enum plot_format format)
{
	unsigned cells = plot->nr_panels + 1; /* and the legend */
	unsigned columns = cells == 2 || cells == 4 ? 2 : cells <= 9 ? 3 : 4;
	unsigned rows = (cells + columns - 1) / columns;
	unsigned width = columns * CELL_WIDTH, height, bottom;
	struct caption caption = { .width = width / 6 };
	FILE *out = plot->out;

	if (any_panel(plot, false))
		caption_line(&caption,
			     "Throughput: median of the rounds, bars from the lower to "
			     "the upper quartile.");
	if (any_panel(plot, true))
		caption_line(
			&caption,
			"Boxes: quartiles and median of the times of a run, whiskers "
			"from the 1st to the 95th percentile; the sides from left to right.");
	if (plot->nr_speedups)
		caption_line(
			&caption,
			plot->between ?
				"Speed-up: median of the rounds, between files the "
				"ratio of the medians; bars: 95 % interval (range of fewer "
				"than 5 rounds)." :
				"Speed-up: median of the rounds, bars: 95 % interval (range of fewer "
				"than 5 rounds).");
	for (unsigned r = 0; r < plot->nr; r++)
		caption_result(&caption, plot, r);
	bottom = caption.nr * LINE_HEIGHT + 12;
	height = rows * CELL_HEIGHT + TITLE_HEIGHT + bottom;

	fputs("set encoding utf8\nset decimalsign '.'\n", out);
	if (format == PLOT_SVG)
		fprintf(out,
			"set terminal svg noenhanced size %u,%u font 'Helvetica,11' "
			"background '#ffffff' name 'pagezone'\n",
			width, height);
	else
		fprintf(out,
			"set terminal pngcairo noenhanced size %u,%u font 'Sans,8' "
			"background '#ffffff'\n",
			width, height);
	fputs("set datafile missing 'NaN'\nset border 3\nset tics nomirror scale 0.5\n"
	      "set grid ytics back lc rgb '#d0d0d0' lw 1 dt 1, lc rgb '#d0d0d0' lw 1 dt 1\nunset key\n"
	      "set xlabel offset 0,0.5\nset ylabel offset 0,0\nset title offset 0,-0.5\n",
	      out);
	for (unsigned i = 0; i < caption.nr; i++) {
		fputs("set label ", out);
		plot_put_quoted(out, caption.lines[i] ? caption.lines[i] : "", 1000);
		fprintf(out, " at screen %g,%g left\n", 12.0 / width,
			(bottom - 8.0 - LINE_HEIGHT * (i + 0.5)) / height);
		free(caption.lines[i]);
	}
	fprintf(out, "set multiplot layout %u,%u margins %g,%g,%g,%g spacing %g,%g\n",
		rows, columns, 66.0 / width, 1 - 14.0 / width, (bottom + 42.0) / height,
		1 - (TITLE_HEIGHT + 14.0) / height, 72.0 / width, 68.0 / height);
	for (unsigned i = 0; i < plot->nr_panels; i++)
		plot_put_panel(plot, &plot->panels[i]);
	put_legend(plot);
	fputs("unset multiplot\n", out);
}

int report_plot(const struct result *const *results, const char *const *names,
		unsigned nr, const struct result *between, enum report_per per,
		enum plot_format format, FILE *out, struct reason *why)
{
	struct plot *plot = calloc(1, sizeof(*plot));
	int err;

	if (!plot)
		return reason_set(why, -ENOMEM, "%s", strerror(ENOMEM));
	*plot = (struct plot){ .results = results,
			       .names = names,
			       .nr = nr,
			       .between = between,
			       .per = per,
			       .out = out };
	err = add_panels(plot, why);
	if (!err) {
		errno = 0;
		put_page(plot, format);
		err = text_finish(out);
		if (err)
			reason_set(why, err, "the script for gnuplot: %s",
				   strerror(-err));
	}
	free(plot);
	return err;
}
