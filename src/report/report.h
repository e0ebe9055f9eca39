/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A result as people and programs read it. Writers see only results. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdio.h>

#include "result/result.h"

enum report_per { REPORT_PER_THREAD, REPORT_PER_TOTAL };

/*
 * All return 0 or -errno (-EPIPE, -ENOSPC: what stdio met; -ENOMEM), flush @out, and
 * depend neither on the locale nor on the width of the terminal. They show what
 * result_derive() made, so call it first. Control characters in names (a result file may
 * come from anywhere) are printed as '?'.
 *
 * Header, tables, extremes, locks and placement, called in this order, are apart by one blank line:
 * the header ends with it, the last three, when they have something to say, begin with it.
 */

/*
 * Machine, kernel, engines, mounts of their files, sizes, pinning, rounds, huge-page
 * backing; warnings.
 */
int report_header(const struct result *result, FILE *out);
/*
 * One table a phase: threads, sides (baseline, patched...), limit, speed-up... A cell
 * that is void or was not measured is "-". Thread counts and phases without any cell are
 * left out. Below it, for sides with real page faults, what really happened: medians over
 * the rounds of a cell, but for vmstat, the sum over all good samples of the phase; at
 * the end a paragraph on how to read that. See report/happened.h.
 */
int report_tables(const struct result *result, enum report_per per, FILE *out);
/*
 * Of truncations, instead of tables: a table a thread count, with a row a run of the 1st
 * and 95th percentile of each side in microseconds, as Jan Kara's post of 2017 has them,
 * then what all runs come to: the smallest time, quartiles (medians over the runs), the
 * mean, the time and the tree_lock acquisitions of a page, the speed-up of the medians,
 * paired by run, with its interval.
 */
int report_truncations(const struct result *result, FILE *out);
/* The same for programs, one line a sample: threads,run,side,spec,... */
int report_truncations_csv(const struct result *result, FILE *out);
/*
 * The paragraph that names the minimum and maximum speed-up and where they are, with
 * their intervals from 3 rounds on; then which cells are void and why, too short for the
 * clock, or missing because of an interrupt. Nothing when there is nothing to say.
 */
int report_extremes(const struct result *result, FILE *out);
/* The same where sides are of different runs: intervals are then no range of ratios of rounds. */
int report_extremes_of_runs(const struct result *result, FILE *out);
/*
 * What workers are, how they were pinned and where their memory was to be: "thread,
 * pinned: spread, memory: local". To be freed; "" when nothing is known. NULL: no memory.
 */
char *report_workers(const struct result_parameters *parameters);
/*
 * Per event (fault, lock class) and side: how many a page of 4 KiB moved, the contended
 * share, the wait. Nothing when no side has locks: only an in-process page cache does.
 */
int report_locks(const struct result *result, FILE *out);
/*
 * Where pages and workers were found: the share of pages on their workers' nodes; on
 * those asked for, where these are others; on each node, where there are several; of
 * loops that began and ended on the planned CPU. One figure where it is the same
 * everywhere, else the least and the most of a sample. Nothing when nothing was looked
 * at.
 */
int report_placement(const struct result *result, FILE *out);
/* The lines of it, each ended; the caller frees them. NULL: no memory. */
char *report_placement_lines(const struct result *result);
/*
 * One line a cell: phase,threads,side,spec,... with a header line (RFC 4180, but for LF
 * line ends). Counters are the medians over the cell's rounds. What is unknown, and all
 * figures of a void cell, are empty.
 */
int report_csv(const struct result *result, FILE *out);

#endif
