/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "report/text.h"

#define MAX_PANELS   48
#define CELL_WIDTH   340 /* pixels */
#define CELL_HEIGHT  250
#define TITLE_HEIGHT 12
#define LINE_HEIGHT  14
#define MAX_LABEL    44 /* characters of a name in the legend */

/*
 * Okabe and Ito's colours, which differ for every kind of colour vision, without the yellow, which is
 * faint on white. Where there is no colour, the points and the dashes differ.
 */
static const struct {
	const char *colour;
	unsigned point, dash;
} styles[] = {
	{ "#0072B2", 7, 1 },  { "#D55E00", 4, 2 }, { "#009E73", 9, 4 },
	{ "#CC79A7", 10, 5 }, { "#E69F00", 5, 3 }, { "#56B4E9", 6, 1 },
	{ "#000000", 12, 2 },
};

/* What is drawn: a phase of all results, or the speed-ups of a side of one. */
struct panel {
	const char *phase; /* its name; NULL: speed-ups */
	const char *title;
	unsigned threads; /* of a panel of truncations; 0: throughput against threads */
	unsigned result, side; /* of speed-ups */
};

struct plot {
	const struct result *const *results;
	const char *const *names;
	unsigned nr;
	enum report_per per;
	FILE *out;
	struct panel panels[MAX_PANELS];
	unsigned nr_panels;
	unsigned nr_phases;		/* panels before those of speed-ups */
	const char *phases[MAX_PANELS]; /* that have speed-ups, by style */
	unsigned nr_speedups;
	unsigned min_threads, max_threads;
	double min_rate,
		max_rate; /* MiB/s of all cells that have no times; 0: there are none */
};

/* ---- text ---- */

/* As gnuplot takes it for nothing but text: within single quotes only those are special. */
static void put_quoted(FILE *out, const char *text, unsigned max)
{
	unsigned nr = 0;

	putc('\'', out);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		nr += (*c & 0xc0) != 0x80;
		if (nr > max) {
			fputs("...", out);
			break;
		}
		if (*c == '\'')
			fputs("''", out);
		else
			putc(*c < ' ' || *c == 0x7f ? '?' : *c, out);
	}
	putc('\'', out);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What a line is, in the legend. */
static void put_side(const struct plot *plot, unsigned r, unsigned side)
{
	const struct result_side *s = &plot->results[r]->sides[side];
	char *label;

	if (asprintf(&label, "%s: %s", plot->nr > 1 ? base_name(plot->names[r]) : s->name,
		     plot->nr > 1 ? s->name : s->spec) < 0)
		return;
	put_quoted(plot->out, label, MAX_LABEL);
	free(label);
}

static void put_number(FILE *out, double value)
{
	struct text text;

	fprintf(out, " %s", isfinite(value) ? text_exact(&text, value) : "NaN");
}

static void put_style(FILE *out, unsigned i)
{
	i %= ARRAY_SIZE(styles);
	fprintf(out, "lc rgb '%s' pt %u dt %u", styles[i].colour, styles[i].point,
		styles[i].dash);
}

/* ---- what there is ---- */

static int find_phase(const struct result *result, const char *name)
{
	for (unsigned p = 0; p < result->nr_phases; p++)
		if (!strcmp(result->phases[p].name, name))
			return (int)p;
	return -1;
}

static bool phase_has_times(const struct result *result, unsigned phase)
{
	for (unsigned i = 0; i < result->nr_samples; i++)
		if (result->samples[i].phase == phase && result->samples[i].times.nr)
			return true;
	return false;
}

static int add_panel(struct plot *plot, struct panel panel, struct reason *why)
{
	for (unsigned i = 0; i < plot->nr_panels && panel.phase; i++)
		if (plot->panels[i].phase && plot->panels[i].threads == panel.threads &&
		    !strcmp(plot->panels[i].phase, panel.phase))
			return 0;
	if (plot->nr_panels == MAX_PANELS)
		return reason_set(why, -EINVAL,
				  "more than %u diagrams: too many for a page",
				  MAX_PANELS);
	plot->panels[plot->nr_panels++] = panel;
	return 0;
}

/* In MiB/s, as shown. */
static double rate_unit(const struct plot *plot, const struct result_cell *cell)
{
	return plot->per == REPORT_PER_TOTAL ? cell->threads / 1024.0 : 1 / 1024.0;
}

/* All diagrams of throughput have one scale, so that they compare. */
static void add_rate(struct plot *plot, const struct result_cell *cell)
{
	double unit = rate_unit(plot, cell);

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
			struct panel panel = { .phase = result->phases[p].name,
					       .title = result->phases[p].title,
					       .threads = times ? cell->threads : 0 };

			if (cell->phase != p)
				continue;
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
	if (plot->nr_speedups < MAX_PANELS)
		plot->phases[plot->nr_speedups++] = name;
}

static int add_speedups(struct plot *plot, unsigned r, struct reason *why)
{
	const struct result *result = plot->results[r];
	int err = 0;

	for (unsigned side = 0; !err && side < result->nr_sides; side++) {
		bool any = false;

		for (unsigned i = 0; i < result->nr_speedups; i++) {
			const struct result_speedup *speedup = &result->speedups[i];

			if (speedup->side != side || !is_finite_speedup(speedup))
				continue;
			any = true;
			add_speedup_phase(plot, result->phases[speedup->phase].name);
		}
		if (any)
			err = add_panel(plot, (struct panel){ .result = r, .side = side },
					why);
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
		err = add_speedups(plot, r, why);
	if (!err && !plot->nr_panels)
		err = reason_set(why, -EINVAL, "there is nothing to draw: no cells");
	return err;
}

/* ---- panels ---- */

static void put_axes(const struct plot *plot)
{
	FILE *out = plot->out;

	fprintf(out, "set logscale x 2\nset xlabel 'threads'\nset xrange [%g:%g]\n",
		plot->min_threads / 1.25, plot->max_threads * 1.25);
	fputs("set xtics autofreq 2 format '%.0f'\n", out);
}

/*
 * Reads "threads value low high"; a bar without low and high is none. The @nr lines of a diagram lie a little
 * apart, so that bars do not cover each other.
 */
static void put_lines(const struct plot *plot, const char *block, unsigned style,
		      unsigned nr)
{
	double shift = exp2(fmin(0.06, 0.4 / nr) * (style - (nr - 1) / 2.0));
	FILE *out = plot->out;

	/* Bars first, as the points of errorbars wipe out what lies below. */
	fprintf(out,
		"%s using ($1*%g):2:3:4 with yerrorbars lw 1 pt 0 lc rgb '%s' notitle, "
		"%s using ($1*%g):2 with linespoints lw 1.5 ps 0.7 ",
		block, shift, styles[style % ARRAY_SIZE(styles)].colour, block, shift);
	put_style(out, style);
	fputs(" notitle", out);
}

static unsigned count_sides(const struct plot *plot)
{
	unsigned nr = 0;

	for (unsigned r = 0; r < plot->nr; r++)
		nr += plot->results[r]->nr_sides;
	return nr;
}

static bool side_has_cells(const struct result *result, unsigned side, unsigned phase)
{
	for (unsigned i = 0; i < result->nr_cells; i++)
		if (result->cells[i].side == side && result->cells[i].phase == phase &&
		    !result->cells[i].is_void)
			return true;
	return false;
}

static void put_throughput(const struct plot *plot, const struct panel *panel)
{
	unsigned style = 0, nr = 0;
	FILE *out = plot->out;

	put_axes(plot);
	fprintf(out,
		"set logscale y 10\nset ytics autofreq format '%%g'\nset yrange [%g:%g]\n"
		"set ylabel 'MiB/s %s'\n",
		plot->min_rate > 0 ? plot->min_rate / 1.3 : 1,
		plot->min_rate > 0 ? plot->max_rate * 1.3 : 10,
		plot->per == REPORT_PER_TOTAL ? "in total" : "per thread");
	for (unsigned r = 0; r < plot->nr; r++) {
		const struct result *result = plot->results[r];
		int phase = find_phase(result, panel->phase);

		for (unsigned s = 0; s < result->nr_sides; s++, style++) {
			if (phase < 0 || !side_has_cells(result, s, (unsigned)phase))
				continue;
			fprintf(out, "$d%u << EOD\n", style);
			for (unsigned i = 0; i < result->nr_cells; i++) {
				const struct result_cell *cell = &result->cells[i];
				double unit = rate_unit(plot, cell);

				if (cell->side != s || cell->phase != (unsigned)phase)
					continue;
				fprintf(out, "%u", cell->threads);
				put_number(out, cell->kb_per_s * unit);
				put_number(out, cell->p25 * unit);
				put_number(out, cell->p75 * unit);
				putc('\n', out);
			}
			fputs("EOD\n", out);
		}
	}
	fputs("plot ", out);
	style = 0;
	for (unsigned r = 0; r < plot->nr; r++) {
		const struct result *result = plot->results[r];
		int phase = find_phase(result, panel->phase);

		for (unsigned s = 0; s < result->nr_sides; s++, style++) {
			char block[16];

			if (phase < 0 || !side_has_cells(result, s, (unsigned)phase))
				continue;
			snprintf(block, sizeof(block), "$d%u", style);
			fputs(nr++ ? ", " : "", out);
			put_lines(plot, block, style, count_sides(plot));
		}
	}
	/* All void: an empty frame. */
	fputs(nr ? "\n" : "1 with lines lc rgb '#ffffff' notitle\n", out);
}

/* One line "run p1 p25 p50 p75 p95" in microseconds a sample, moved by @shift. Returns how many. */
static unsigned put_times(FILE *out, const struct result *result, unsigned side,
			  int phase, unsigned threads, double shift, double *low,
			  double *high)
{
	static const double fractions[] = { 0.01, 0.25, 0.5, 0.75, 0.95 };
	unsigned nr = 0;

	for (unsigned i = 0; i < result->nr_samples; i++) {
		const struct result_sample *sample = &result->samples[i];
		double ns[ARRAY_SIZE(fractions)];

		if (sample->side != side || (int)sample->phase != phase ||
		    sample->threads != threads || !sample->times.nr ||
		    result_sample_is_void(sample) ||
		    result_times_quantiles(&sample->times, fractions,
					   ARRAY_SIZE(fractions), ns))
			continue;
		put_number(out, sample->round + 1 + shift);
		for (unsigned f = 0; f < ARRAY_SIZE(fractions); f++)
			put_number(out, ns[f] / 1e3);
		putc('\n', out);
		*low = fmin(*low, ns[0] / 1e3);
		*high = fmax(*high, ns[4] / 1e3);
		nr++;
	}
	return nr;
}

static void put_truncations(const struct plot *plot, const struct panel *panel)
{
	unsigned sides = count_sides(plot), style = 0, nr = 0, rounds = 1;
	double low = INFINITY, high = 0, width;
	FILE *out = plot->out;

	for (unsigned r = 0; r < plot->nr; r++) {
		for (unsigned i = 0; i < plot->results[r]->nr_samples; i++)
			rounds = (unsigned)max_u64(
				rounds, plot->results[r]->samples[i].round + 1);
	}
	width = 0.8 / (sides ? sides : 1);
	for (unsigned r = 0; r < plot->nr; r++) {
		const struct result *result = plot->results[r];
		int phase = find_phase(result, panel->phase);

		for (unsigned s = 0; s < result->nr_sides; s++, style++) {
			fprintf(out, "$d%u << EOD\n", style);
			if (!put_times(out, result, s, phase, panel->threads,
				       (style + 0.5) * width - 0.4, &low, &high))
				fputs("NaN NaN NaN NaN NaN NaN\n", out);
			fputs("EOD\n", out);
		}
	}
	fputs("unset logscale\nset xlabel 'run'\nset ylabel 'microseconds a truncation'\n"
	      "set ytics autofreq format '%g'\n",
	      out);
	fprintf(out, "set xrange [0.4:%u.6]\nset xtics autofreq %u format '%%.0f'\n",
		rounds, rounds / 10 + 1);
	if (!(high > 0)) { /* all void: an empty frame */
		fputs("set yrange [0:1]\nplot 2 notitle\n", out);
		return;
	}
	/* Sides that differ by much are all to be seen. */
	if (high > 20 * low)
		fputs("set logscale y 10\nset yrange [*:*]\n", out);
	else
		fputs("set yrange [0:*]\n", out);
	fprintf(out,
		"set boxwidth %g absolute\nset style fill solid 0.3 border -1\nplot ",
		width * 0.8);
	for (style = 0; style < sides; style++) {
		const char *colour = styles[style % ARRAY_SIZE(styles)].colour;

		fprintf(out,
			"%s$d%u using 1:3:2:6:5 with candlesticks lw 1 lc rgb '%s' fs pattern %u "
			"border lc rgb '%s' notitle whiskerbars 0.5, "
			"$d%u using 1:4:4:4:4 with candlesticks lw 2 lc rgb '#000000' notitle",
			nr++ ? ", " : "", style, colour, style % 2 ? 4 : 1, colour,
			style);
	}
	fputs("\n", out);
}

static void put_speedups(const struct plot *plot, const struct panel *panel)
{
	const struct result *result = plot->results[panel->result];
	FILE *out = plot->out;

	put_axes(plot);
	fputs("unset logscale y\nset yrange [0:*]\nset ytics autofreq format '%g'\n"
	      "set ylabel 'speed-up (times)'\n",
	      out);
	for (unsigned p = 0; p < plot->nr_speedups; p++) {
		int phase = find_phase(result, plot->phases[p]);

		fprintf(out, "$d%u << EOD\n", p);
		for (unsigned i = 0; i < result->nr_speedups; i++) {
			const struct result_speedup *speedup = &result->speedups[i];

			if (speedup->side != panel->side || (int)speedup->phase != phase)
				continue;
			fprintf(out, "%u", speedup->threads);
			put_number(out, speedup->ratio);
			put_number(out, speedup->low);
			put_number(out, speedup->high);
			putc('\n', out);
		}
		fputs("NaN NaN NaN NaN\nEOD\n", out);
	}
	fputs("plot 1 with lines lw 1 lc rgb '#808080' notitle", out);
	for (unsigned p = 0; p < plot->nr_speedups; p++) {
		char block[16];

		snprintf(block, sizeof(block), "$d%u", p);
		fputs(", ", out);
		put_lines(plot, block, p, plot->nr_speedups);
	}
	putc('\n', out);
}

static void put_panel(const struct plot *plot, const struct panel *panel)
{
	FILE *out = plot->out;
	char *title = NULL;
	struct text text;
	int len;

	if (!panel->phase)
		len = asprintf(&title, "Speed-up, %s%s%s",
			       plot->nr > 1 ? base_name(plot->names[panel->result]) : "",
			       plot->nr > 1 ? ": " : "",
			       plot->results[panel->result]->sides[panel->side].name);
	else if (panel->threads)
		len = asprintf(&title, "%s, %s", panel->title,
			       text_count(&text, panel->threads, "thread"));
	else
		len = asprintf(&title, "%s", panel->title);
	fputs("set title ", out);
	put_quoted(out, len < 0 ? "" : title, MAX_LABEL);
	putc('\n', out);
	if (len >= 0)
		free(title);
	if (!panel->phase)
		put_speedups(plot, panel);
	else if (panel->threads)
		put_truncations(plot, panel);
	else
		put_throughput(plot, panel);
	fputs("unset label\n", out);
}

/* ---- the page ---- */

static const char *phase_title(const struct plot *plot, const char *name)
{
	for (unsigned r = 0; r < plot->nr; r++) {
		int phase = find_phase(plot->results[r], name);

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
			put_style(out, style);
			fputs(" title ", out);
			put_side(plot, r, s);
		}
	}
	if (plot->nr_speedups)
		fputs(", 2 with lines lc rgb '#ffffff' title 'Speed-up of:'", out);
	for (unsigned p = 0; p < plot->nr_speedups; p++) {
		fputs(", 2 with linespoints lw 1.5 ps 0.7 ", out);
		put_style(out, p);
		fputs(" title ", out);
		put_quoted(out, phase_title(plot, plot->phases[p]), MAX_LABEL);
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
		fprintf(out, "%s: ", base_name(plot->names[r]));
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
		put_quoted(out, caption.lines[i] ? caption.lines[i] : "", 1000);
		fprintf(out, " at screen %g,%g left\n", 12.0 / width,
			(bottom - 8.0 - LINE_HEIGHT * (i + 0.5)) / height);
		free(caption.lines[i]);
	}
	fprintf(out, "set multiplot layout %u,%u margins %g,%g,%g,%g spacing %g,%g\n",
		rows, columns, 66.0 / width, 1 - 14.0 / width, (bottom + 42.0) / height,
		1 - (TITLE_HEIGHT + 14.0) / height, 72.0 / width, 68.0 / height);
	for (unsigned i = 0; i < plot->nr_panels; i++)
		put_panel(plot, &plot->panels[i]);
	put_legend(plot);
	fputs("unset multiplot\n", out);
}

int report_plot(const struct result *const *results, const char *const *names,
		unsigned nr, enum report_per per, enum plot_format format, FILE *out,
		struct reason *why)
{
	struct plot *plot = calloc(1, sizeof(*plot));
	int err;

	if (!plot)
		return reason_set(why, -ENOMEM, "%s", strerror(ENOMEM));
	*plot = (struct plot){
		.results = results, .names = names, .nr = nr, .per = per, .out = out
	};
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
