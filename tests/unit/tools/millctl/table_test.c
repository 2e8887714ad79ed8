#include "tools/millctl/table.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static const struct table_column columns[] = {{"NAME", false}, {"N", true}, {"TEXT", false}};

static void fill(struct table *t)
{
	table_init(t, columns, ARRAY_LEN(columns));
	table_cell(t, "a");
	table_cell(t, "%d", 12345);
	table_cell(t, "short");
	table_cell(t, "longer");
	table_cell(t, "%d", 7);
	table_cell(t, "a\nb\tc\033[31m");
}

/* What the table prints, in memory of the caller. */
static char *printed(const struct table *t, unsigned width)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	table_print(t, f, width);
	fclose(f);
	return text;
}

static void aligns(void)
{
	struct table t;
	fill(&t);
	char *text = printed(&t, 0);
	/* Control characters are blanks: nothing can break the lines or the terminal. */
	CU_ASSERT_STRING_EQUAL(text, "NAME        N  TEXT\n"
				     "a       12345  short\n"
				     "longer      7  a b c [31m\n");
	free(text);
	table_fini(&t);
}

static void cuts_at_the_width(void)
{
	struct table t;
	fill(&t);
	char *text = printed(&t, 20);
	CU_ASSERT_STRING_EQUAL(text, "NAME        N  TEXT\n"
				     "a       12345  short\n"
				     "longer      7  a b >\n");
	free(text);
	text = printed(&t, 19);
	CU_ASSERT_STRING_EQUAL(text, "NAME        N  TEXT\n"
				     "a       12345  sho>\n"
				     "longer      7  a b>\n");
	free(text);
	table_fini(&t);
}

static void many_rows_and_none(void)
{
	struct table t;
	table_init(&t, columns, ARRAY_LEN(columns));
	char *text = printed(&t, 0);
	CU_ASSERT_STRING_EQUAL(text, "NAME  N  TEXT\n");
	free(text);
	for (int i = 0; i < 3000; i++)
		table_cell(&t, "%d", i);
	table_cell(&t, "a row that was begun");
	CU_ASSERT_EQUAL(t.rows, 1000);
	text = printed(&t, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n2997  2998  2999\n"));
	free(text);
	table_fini(&t);
}

static const struct unit_case cases[] = {
	{"aligns", aligns},
	{"cuts_at_the_width", cuts_at_the_width},
	{"many_rows_and_none", many_rows_and_none},
};
UNIT_MAIN("tools/millctl/table", cases)
