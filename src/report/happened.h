/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What really happened: the rows below a phase's table, for sides with real page faults. */
#ifndef REPORT_HAPPENED_H
#define REPORT_HAPPENED_H

#include <stdbool.h>
#include <stdio.h>

#include "report/table.h"
#include "result/result.h"

/*
 * A blank line, then for each side that has good samples with RESULT_VMSTAT in @phase:
 * faults, what is mapped by PMD entries, CPU time and context switches, in columns below
 * those of @above, which has one for each of @threads; then what the whole machine
 * counted. Nothing when there is no such side; else @any becomes true. 0 or -ENOMEM.
 */
int report_happened_phase(const struct result *result, unsigned phase,
			  const unsigned *threads, const struct table *above,
			  const struct table_layout *layout, FILE *out, bool *any);

/* A blank line and how to read those rows. */
void report_happened_legend(FILE *out);

#endif
