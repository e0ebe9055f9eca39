/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One model of a table: rows of a label and cells, all strings. What a cell says is
 * settled before it gets here; how a table looks is the printer's business.
 */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

struct table_row {
	char *label;
	char **cells; /* [nr_columns]; NULL: empty */
};

struct table {
	unsigned nr_columns; /* of cells */
	struct table_row *rows;
	unsigned nr_rows;
	bool failed; /* no memory at some point: nothing is printed */
	/* Printed before; this one's columns, as many, are no narrower. NULL: none. */
	const struct table *above;
};

/* Smallest widths of the label, the first cell and the further ones. */
struct table_layout {
	unsigned label, first, other;
};

void table_init(struct table *table, unsigned nr_columns);
void table_destroy(struct table *table);

/* Appends a row. Failing, here and in table_cell(), is remembered until table_print(). */
void table_row(struct table *table, const char *label);
/* Sets a cell of the last row. */
void table_cell(struct table *table, unsigned column, const char *text);

/*
 * Plain text: labels on the left, cells right-aligned, no blanks at the end of a line. A
 * column grows with its content; there is at least one blank before each cell. A row
 * without cells is a heading, which may be longer than a label has room. 0 or -ENOMEM;
 * errors of @out are the caller's to see.
 */
int table_print(const struct table *table, const struct table_layout *layout, FILE *out);

#endif
