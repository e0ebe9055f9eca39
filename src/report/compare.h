/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The speed-ups of a result, with what can be said about each: significant or not, and
 * what difference would have been found. Printed and gated by the functions of this
 * header.
 */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

#include "report/gate.h"
#include "report/report.h"
#include "report/text.h"
#include "result/result.h"
#include "stats/significance.h"

/* Corrected p-values up to this are significant. */
#define COMPARE_ALPHA 0.05

/* One speed-up of the result. */
struct comparison_cell {
	unsigned side, phase, threads;
	double ratio, low, high; /* NAN: unknown */
	/* Corrected for all cells; NAN: there is no speed-up. */
	double p;	 /* that there is a difference */
	double p_slower; /* that the side is slower */
	struct significance_design design;
	/* The smallest slow-down that is found, of this cell alone: 0 … 1, or INFINITY. */
	double detectable;
	/*
	 * The logarithms of the ratios of each pair; or of a's and then b's values: for
	 * comparison_test().
	 */
	double *logs;
	char *missing; /* why there is no speed-up; NULL: there is */
};

struct comparison {
	const struct result *result;
	bool paired;
	struct comparison_cell *
		cells; /* in the order of the result's speed-ups, those missing at the end */
	unsigned nr_cells;
	unsigned nr_known; /* that have a speed-up */
	double alpha_one;  /* the level at which one cell alone is significant */
};

/*
 * Compares side 0 of @result, which is derived, with the others but a limit. @paired:
 * they are of one run, their rounds are pairs, and a speed-up is what result_derive()
 * made it. Otherwise it is the ratio of the medians, which replaces it in @result.
 * Truncations compare by their median times. 0 or -ENOMEM.
 */
int comparison_init(struct comparison *comparison, struct result *result, bool paired);
void comparison_destroy(struct comparison *comparison);

/*
 * NULL: the side is no patched one, or nothing was to be compared; @comparison may be
 * NULL for that.
 */
const struct comparison_cell *comparison_cell(const struct comparison *comparison,
					      unsigned side, unsigned phase,
					      unsigned threads);
/* @cell may be NULL: it is not. */
bool comparison_is_significant(const struct comparison_cell *cell);
/*
 * Is the logarithm of the ratio of @cell, which is not missing, around @shift?
 * Uncorrected. 0 or -ENOMEM.
 */
int comparison_test(const struct comparison_cell *cell, double shift,
		    struct significance *s);
/* What tables show of a cell: kB/s, or the median time of a truncation in us. NAN: nothing. */
double comparison_value(const struct result *result, unsigned side, unsigned phase,
			unsigned threads, enum report_per per);

/* That is a time, in us: the less the better. */
bool comparison_is_time(const struct result *result, unsigned phase);
/*
 * How the row of intervals below a side's speed-ups is called: not of 95 % where a cell
 * has too few rounds for that (see stats/stats.h). NULL: no cell has one.
 */
const char *comparison_interval_label(const struct comparison *comparison, unsigned side,
				      unsigned phase);
/* "1.21-1.46", or "-". @cell may be NULL. */
void comparison_interval(struct text *text, const struct comparison_cell *cell);

/* ---- what differs between two results ---- */

struct difference {
	const char *what; /* a member of the JSON */
	char *baseline, *other;
	bool fatal; /* what was measured is not the same */
};

struct differences {
	struct difference *list;
	unsigned nr;
};

/* Of two results as they were loaded; @side of each is compared. 0 or -ENOMEM. */
int differences_find(struct differences *differences, const struct result *baseline,
		     unsigned baseline_side, const struct result *other, unsigned side);
void differences_destroy(struct differences *differences);
/* The first that is fatal; NULL: they compare. */
const struct difference *differences_fatal(const struct differences *differences);

/* ---- gates ---- */

enum outcome_kind { OUTCOME_PASSED, OUTCOME_FAILED, OUTCOME_MISSING, OUTCOME_NOISY };

/* One cell held against one gate. */
struct outcome {
	enum outcome_kind kind;
	const char *gate; /* "--max-regression 5"; NULL: none, but the cell is missing */
	unsigned side, phase, threads;
	char *text; /* what is wrong; NULL: nothing */
};

struct outcomes {
	struct outcome *list;
	unsigned nr;
	char **gates;
	unsigned nr_gates; /* 0: only missing cells are not fine */
};

/* What a result must hold. */
struct gates {
	const struct gate *min_speedup;
	unsigned nr_min_speedup;
	double max_regression; /* percent; NAN: not asked for */
};

/*
 * "5" or "2.5", a decimal number from 0 to below 100, a percent sign may follow. 0;
 * -EINVAL with @why.
 */
int gates_parse_regression(double *percent, const char *text, struct reason *why);

/*
 * --max-regression P: a cell fails when it is significantly slower and its speed-up is
 * below 1 - P / 100. It is too noisy when the smallest slow-down that would be found in it
 * is larger than P, unless its rounds show that it is not slower by P (the same test,
 * against 1 - P / 100; each cell is to be shown by itself, so that this needs no
 * correction: Berger, "Multiparameter hypothesis testing and acceptance sampling", 1982).
 *
 * --min-speedup: the speed-up itself counts. A cell without a speed-up is missing also
 * where no gate says anything about it: what was to be measured and was not is no pass.
 * 0 or -ENOMEM.
 */
int outcomes_fill(struct outcomes *outcomes, const struct comparison *comparison,
		  const struct gates *gates);
void outcomes_destroy(struct outcomes *outcomes);
unsigned outcomes_count(const struct outcomes *outcomes, enum outcome_kind kind);
/* The cells that are not fine, one a line, failed ones first. */
void outcomes_print(const struct outcomes *outcomes, const struct comparison *comparison,
		    FILE *out);

/* ---- printing ---- */

/* A result file beside others. */
struct compared_file {
	const char *path;
	const char *side;		/* as the file has it */
	struct differences differences; /* to the first file */
};

/* All that a comparison prints. */
struct compared {
	const struct comparison *comparison;
	const struct outcomes *outcomes;
	struct compared_file *files; /* one a side; or one for all sides */
	unsigned nr_files;
	enum report_per per;
	int status; /* the exit status */
};

/*
 * The @n-th difference of all files together, and in @file which one's it is; NULL: there
 * are no more.
 */
const struct difference *compared_difference(const struct compared *compared, unsigned n,
					     unsigned *file);

/* All return 0 or -errno, as those of report/report.h. */

int report_compared(const struct compared *compared, FILE *out);
int report_compared_csv(const struct compared *compared, FILE *out);
int report_compared_json(const struct compared *compared, FILE *out);
/* To be pasted into a pull request. */
int report_compared_markdown(const struct compared *compared, FILE *out);
/* XML as CI servers read it: one testcase for each cell and gate. */
int report_compared_junit(const struct compared *compared, FILE *out);

/* Tables with the interval and a mark below each speed-up; @comparison NULL: without. */
int report_tables_compared(const struct result *result,
			   const struct comparison *comparison, enum report_per per,
			   FILE *out);
/*
 * How that was found out, and how small a difference would have been: a paragraph, to be
 * wrapped and freed, "" with nothing to say. 0; -ENOMEM.
 */
int comparison_method(const struct comparison *comparison, char **text);

/* A result as Markdown: its tables. */
int report_markdown(const struct result *result, enum report_per per, FILE *out);

#endif
