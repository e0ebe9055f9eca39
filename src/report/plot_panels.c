/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/plot_impl.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/format.h"
#include "report/text.h"

/*
 * Okabe and Ito's colours, which differ for every kind of colour vision, without the
 * yellow, which is faint on white. Where there is no colour, the points and the dashes
 * differ; from the eighth line on, which are rarely there, the points do.
 */
static const struct {
	const char *colour;
	unsigned point, dash, second_point;
} styles[] = {
	{ "#0072B2", 7, 1, 1 },	  { "#D55E00", 4, 2, 2 }, { "#009E73", 9, 4, 3 },
	{ "#CC79A7", 10, 5, 11 }, { "#E69F00", 5, 3, 8 }, { "#56B4E9", 6, 1, 13 },
	{ "#000000", 12, 2, 14 },
};

/*
 * Within single quotes only those are special to gnuplot. In an SVG, other bytes than
 * UTF-8 are an error.
 */
void plot_put_quoted(FILE *out, const char *text, unsigned max)
{
	size_t len;

	putc('\'', out);
	for (unsigned nr = 0; *text; nr++, text += len) {
		size_t control = format_control(text);

		if (nr == max) {
			fputs("...", out);
			break;
		}
		len = control ? control : format_utf8(text);
		if (control || !len)
			putc('?', out);
		else
			fwrite(text, 1, len, out);
		if (*text == '\'')
			putc('\'', out);
		if (!len)
			len = 1;
	}
	putc('\'', out);
}

static const char *last_part(const char *path, const char *end)
{
	while (end > path && end[-1] != '/')
		end--;
	return end;
}

static bool ends_with(const char *path, const char *end)
{
	size_t len = strlen(path), nr = strlen(end);

	return len >= nr && !strcmp(path + len - nr, end) &&
	       (len == nr || path[len - nr - 1] == '/');
}

const char *plot_file_name(const struct plot *plot, unsigned r)
{
	const char *path = plot->names[r], *name = last_part(path, path + strlen(path));

	for (unsigned i = 0; i < plot->nr; i++)
		while (i != r && name > path && ends_with(plot->names[i], name))
			name = last_part(path, name - 1);
	return name;
}

static void put_number(FILE *out, double value)
{
	struct text text;

	fprintf(out, " %s", isfinite(value) ? text_exact(&text, value) : "NaN");
}

void plot_put_style(FILE *out, unsigned i)
{
	bool second = i / ARRAY_SIZE(styles) % 2;

	i %= ARRAY_SIZE(styles);
	fprintf(out, "lc rgb '%s' pt %u dt %u", styles[i].colour,
		second ? styles[i].second_point : styles[i].point, styles[i].dash);
}

double plot_rate_unit(const struct plot *plot, const struct result_cell *cell)
{
	return plot->per == REPORT_PER_TOTAL ? cell->threads / 1024.0 : 1 / 1024.0;
}

/* The smallest thread count of a cell that is at least @least. UINT_MAX: there is none. */
static unsigned next_threads(const struct plot *plot, double least)
{
	unsigned next = UINT_MAX;

	for (unsigned r = 0; r < plot->nr; r++) {
		const struct result *result = plot->results[r];

		for (unsigned i = 0; i < result->nr_cells; i++)
			if (result->cells[i].threads >= least &&
			    result->cells[i].threads < next)
				next = result->cells[i].threads;
	}
	return next;
}

/* By itself gnuplot numbers powers of 2 only. */
static bool only_powers_of_2(const struct plot *plot)
{
	for (unsigned t = 0; (t = next_threads(plot, t + 1.0)) != UINT_MAX;)
		if (t & (t - 1))
			return false;
	return true;
}

static void put_axes(const struct plot *plot)
{
	double low = plot->min_threads / 1.25, high = plot->max_threads * 1.25;
	/* Twelve numbers have room beside each other. */
	double apart = pow(high / low, 1.0 / 12);
	const char *before = "set xtics (";
	FILE *out = plot->out;

	fprintf(out, "set logscale x 2\nset xlabel 'threads'\nset xrange [%g:%g]\n", low,
		high);
	fputs("set xtics autofreq 2 format '%.0f'\n", out);
	if (only_powers_of_2(plot))
		return;
	for (double t = 0; (t = next_threads(plot, t)) < UINT_MAX; t *= apart) {
		fprintf(out, "%s%.0f", before, t);
		before = ", ";
	}
	fputs(")\n", out);
}

/*
 * Reads "threads value low high"; a bar without low and high is none. The @nr lines of a
 * diagram lie a little apart, so that bars do not cover each other.
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
	plot_put_style(out, style);
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

/* 1, 2 or 5 times a power of 10: the smallest of at least @value, which is above 0. */
static double round_step(double value)
{
	double unit = pow(10, floor(log10(value)));

	return unit * (value <= unit	 ? 1 :
		       value <= 2 * unit ? 2 :
		       value <= 5 * unit ? 5 :
					   10);
}

/*
 * A logarithmic axis of rates. By itself gnuplot has powers of 10 only, of which there
 * may be one, or none, between @low and @high.
 */
static void put_rate_axis(FILE *out, double low, double high)
{
	double tic = round_step(low),
	       step = high < 5 * low ? round_step((high - low) / 5) : 0;
	const char *comma = "";

	fprintf(out,
		"set logscale y 10\nset yrange [%g:%g]\nset ytics autofreq format '%%g'\n",
		low, high);
	if (high > 100 * low)
		return;
	fputs("set ytics (", out);
	if (step > 0)
		tic = ceil(low / step) * step;
	for (; tic <= high; comma = ", ") {
		fprintf(out, "%s%g", comma, tic);
		tic = step > 0 ? tic + step : round_step(tic * 1.5);
	}
	fputs(")\n", out);
}

static void put_throughput(const struct plot *plot, const struct plot_panel *panel)
{
	unsigned style = 0, nr = 0;
	FILE *out = plot->out;

	put_axes(plot);
	put_rate_axis(out, plot->min_rate > 0 ? plot->min_rate / 1.3 : 1,
		      plot->min_rate > 0 ? plot->max_rate * 1.3 : 10);
	fprintf(out, "set ylabel 'MiB/s %s'\n",
		plot->per == REPORT_PER_TOTAL ? "in total" : "per thread");
	for (unsigned r = 0; r < plot->nr; r++) {
		const struct result *result = plot->results[r];
		int phase = result_find_phase(result, panel->phase);

		for (unsigned s = 0; s < result->nr_sides; s++, style++) {
			if (phase < 0 || !side_has_cells(result, s, (unsigned)phase))
				continue;
			fprintf(out, "$d%u << EOD\n", style);
			for (unsigned i = 0; i < result->nr_cells; i++) {
				const struct result_cell *cell = &result->cells[i];
				double unit = plot_rate_unit(plot, cell);

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
		int phase = result_find_phase(result, panel->phase);

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

static void put_truncations(const struct plot *plot, const struct plot_panel *panel)
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
		int phase = result_find_phase(result, panel->phase);

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

static void put_speedups(const struct plot *plot, const struct plot_panel *panel)
{
	const struct result *result = panel->result;
	FILE *out = plot->out;

	put_axes(plot);
	fputs("unset logscale y\nset yrange [0:*]\nset ytics autofreq format '%g'\n"
	      "set ylabel 'speed-up (times)'\n",
	      out);
	for (unsigned p = 0; p < plot->nr_speedups; p++) {
		int phase = result_find_phase(result, plot->phases[p]);

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

void plot_put_panel(const struct plot *plot, const struct plot_panel *panel)
{
	FILE *out = plot->out;

	fputs("set title ", out);
	plot_put_quoted(out, panel->title, PLOT_MAX_LABEL);
	putc('\n', out);
	if (!panel->phase)
		put_speedups(plot, panel);
	else if (panel->threads)
		put_truncations(plot, panel);
	else
		put_throughput(plot, panel);
	fputs("unset label\n", out);
}
