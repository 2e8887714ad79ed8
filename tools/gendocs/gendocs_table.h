/* gendocs_table: the registries of config/ as Markdown tables. */
#ifndef TOOLS_GENDOCS_GENDOCS_TABLE_H
#define TOOLS_GENDOCS_GENDOCS_TABLE_H

#include <stdio.h>

struct gendocs_table {
	const char *name; /* as in the fence: <!-- gen:NAME --> */
	void (*print)(FILE *out);
};
extern const struct gendocs_table gendocs_tables[];
extern const unsigned gendocs_table_count;

#endif
