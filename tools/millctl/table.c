#include "tools/millctl/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_TEXT = 4096 };

void table_init(struct table *t, const struct table_column *columns, unsigned count)
{
	MUST(count > 0 && count <= TABLE_COLUMNS);
	*t = (struct table){.columns = columns, .column_count = count};
}

void table_fini(struct table *t)
{
	for (unsigned i = 0; i < t->rows * t->column_count + t->filled; i++)
		free(t->cells[i]);
	free(t->cells);
	*t = (struct table){0};
}

static bool make_room(struct table *t)
{
	if (t->rows < t->room)
		return true;
	unsigned room = t->room == 0 ? 16 : t->room * 2;
	char **cells = realloc(t->cells, (size_t)room * t->column_count * sizeof(*cells));
	if (cells == NULL)
		return false;
	t->cells = cells;
	t->room = room;
	return true;
}

/* Control characters would break the alignment, or the terminal. */
static void make_plain(char *text)
{
	for (char *c = text; *c != '\0'; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = ' ';
	}
}

void table_cell(struct table *t, const char *fmt, ...)
{
	char *text = NULL;
	va_list args;
	va_start(args, fmt);
	int n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0)
		text = NULL;
	if (!make_room(t)) {
		free(text);
		return;
	}
	if (text != NULL)
		make_plain(text);
	t->cells[t->rows * t->column_count + t->filled] = text;
	if (++t->filled == t->column_count) {
		t->filled = 0;
		t->rows++;
	}
}

static const char *cell_at(const struct table *t, unsigned row, unsigned column)
{
	const char *text = t->cells[row * t->column_count + column];
	return text != NULL ? text : "";
}

static void add_cell(char line[LINE_TEXT], size_t *len, const char *text, unsigned width,
	bool is_number, bool is_last)
{
	if (is_last && !is_number)
		width = 0; /* no blanks at the end of a line */
	int n = snprintf(line + *len, LINE_TEXT - *len, is_number ? "%*s%s" : "%-*s%s", (int)width,
		text, is_last ? "" : "  ");
	*len += n > 0 ? (size_t)n : 0;
	if (*len > LINE_TEXT - 1)
		*len = LINE_TEXT - 1;
}

static void print_line(FILE *out, char line[LINE_TEXT], size_t len, unsigned width)
{
	if (width > 1 && len > width) {
		line[width - 1] = '>';
		line[width] = '\0';
	}
	fprintf(out, "%s\n", line);
}

void table_print(const struct table *t, FILE *out, unsigned width)
{
	unsigned widths[TABLE_COLUMNS];
	for (unsigned c = 0; c < t->column_count; c++) {
		widths[c] = (unsigned)strlen(t->columns[c].head);
		for (unsigned r = 0; r < t->rows; r++) {
			unsigned n = (unsigned)strlen(cell_at(t, r, c));
			widths[c] = n > widths[c] ? n : widths[c];
		}
	}
	char line[LINE_TEXT];
	for (unsigned r = 0; r <= t->rows; r++) {
		size_t len = 0;
		line[0] = '\0';
		for (unsigned c = 0; c < t->column_count; c++)
			add_cell(line, &len, r == 0 ? t->columns[c].head : cell_at(t, r - 1, c),
				widths[c], t->columns[c].is_number, c == t->column_count - 1);
		print_line(out, line, len, width);
	}
}
