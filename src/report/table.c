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

static size_t max_size(size_t a, size_t b)
{
	return a > b ? a : b;
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

	for (unsigned i = 0; i < table->nr_rows; i++) {
		const struct table_row *row = &table->rows[i];
		size_t width = text_width(row->label);

		if (table->nr_columns && row->cells[0])
			width += 1 + text_width(row->cells[0]);
		edge = max_size(edge, width);
	}
	for (unsigned c = 0; c < table->nr_columns; c++) {
		size_t width = layout->other;

		if (c) {
			for (unsigned i = 0; i < table->nr_rows; i++)
				if (table->rows[i].cells[c])
					width = max_size(
						width,
						1 + text_width(table->rows[i].cells[c]));
			edge += width;
		}
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
