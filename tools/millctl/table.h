/* table: rows of text under a heading, columns aligned, for a person to read.
 * Memory: grows with its rows; the caller bounds them. A cell that cannot be kept is shown empty. */
#ifndef TOOLS_MILLCTL_TABLE_H
#define TOOLS_MILLCTL_TABLE_H

#include <stdio.h>

#include "lib/base/base.h"

enum { TABLE_COLUMNS = 12 };

/* How a column is set; numbers to the right. */
struct table_column {
	const char *head;
	bool is_number;
};

struct table {
	const struct table_column *columns;
	unsigned column_count;
	unsigned rows;
	unsigned room;
	unsigned filled; /* cells of the row that is being filled */
	char **cells;	 /* row-major */
};

void table_init(struct table *t, const struct table_column *columns, unsigned count);
void table_fini(struct table *t);

/* Adds the next cell; after the last column a new row begins. */
void table_cell(struct table *t, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* `width`: what a line may be long (a terminal's columns); longer lines are cut and end in `>`.
 * 0: any length. */
void table_print(const struct table *t, FILE *out, unsigned width);

#endif
