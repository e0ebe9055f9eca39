/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/text.h"

void table_init(struct table *table, unsigned nr_columns)
{
	*table = (struct table){ .nr_columns = nr_columns };
}

void table_destroy(struct table *table)
{
	for (unsigned i = 0; i < table->nr_rows; i++) {
		for (unsigned c = 0; c < table->nr_columns; c++)
			free(table->rows[i].cells[c]);
		free(table->rows[i].cells);
		free(table->rows[i].label);
	}
	free(table->rows);
}

void table_row(struct table *table, const char *label)
{
	struct table_row *rows, row;

	rows = reallocarray(table->rows, (size_t)table->nr_rows + 1, sizeof(*rows));
	if (!rows) {
		table->failed = true;
		return;
	}
	table->rows = rows;
	row.label = strdup(label);
	row.cells = calloc(table->nr_columns + 1, sizeof(*row.cells));
	if (!row.label || !row.cells) {
		free(row.label);
		free(row.cells);
		table->failed = true;
		return;
	}
	rows[table->nr_rows++] = row;
}

void table_cell(struct table *table, unsigned column, const char *text)
{
	char *copy;

	/* Without memory, the last row may be another one. */
	if (table->failed)
		return;
	copy = strdup(text);
	if (!copy) {
		table->failed = true;
		return;
	}
	free(table->rows[table->nr_rows - 1].cells[column]);
	table->rows[table->nr_rows - 1].cells[column] = copy;
}

static bool row_is_heading(const struct table *table, const struct table_row *row)
{
	for (unsigned c = 0; c < table->nr_columns; c++)
		if (row->cells[c])
			return false;
	return true;
}

static size_t max_size(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Where the first cells end at least. */
static size_t first_edge(const struct table *table)
{
	size_t edge = 0;

	for (unsigned i = 0; i < table->nr_rows; i++) {
		const struct table_row *row = &table->rows[i];
		size_t width = text_width(row->label);

		if (row_is_heading(table, row))
			continue;
		if (row->cells[0])
			width += 1 + text_width(row->cells[0]);
		edge = max_size(edge, width);
	}
	return edge;
}

/* What the cells of a further column take. */
static size_t column_width(const struct table *table, unsigned column)
{
	size_t width = 0;

	for (unsigned i = 0; i < table->nr_rows; i++)
		if (table->rows[i].cells[column])
			width = max_size(width,
					 1 + text_width(table->rows[i].cells[column]));
	return width;
}

/*
 * The columns of the terminal at which the cells end. The label and the first cell share
 * their room: "speed-up(times):" may fill the label's as long as its own first cell is
 * short.
 */
static void table_edges(const struct table *table, const struct table_layout *layout,
			size_t *edges)
{
	size_t edge = layout->label + layout->first;

	for (const struct table *t = table; t; t = t->above)
		edge = max_size(edge, first_edge(t));
	for (unsigned c = 0; c < table->nr_columns; c++) {
		size_t width = layout->other;

		for (const struct table *t = table; c && t; t = t->above)
			width = max_size(width, column_width(t, c));
		if (c)
			edge += width;
		edges[c] = edge;
	}
}

static void row_print(const struct table *table, const struct table_row *row,
		      const size_t *edges, FILE *out)
{
	size_t at = text_width(row->label);

	text_put(out, row->label);
	for (unsigned c = 0; c < table->nr_columns; c++) {
		size_t width;

		if (!row->cells[c] || !*row->cells[c])
			continue;
		width = text_width(row->cells[c]);
		fprintf(out, "%*s", (int)(edges[c] - width - at), "");
		text_put(out, row->cells[c]);
		at = edges[c];
	}
	putc('\n', out);
}

int table_print(const struct table *table, const struct table_layout *layout, FILE *out)
{
	size_t *edges = calloc(table->nr_columns + 1, sizeof(*edges));

	if (!edges || table->failed) {
		free(edges);
		return -ENOMEM;
	}
	table_edges(table, layout, edges);
	for (unsigned i = 0; i < table->nr_rows; i++)
		row_print(table, &table->rows[i], edges, out);
	free(edges);
	return 0;
}
