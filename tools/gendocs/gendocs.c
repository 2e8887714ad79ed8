/* gendocs: writes the tables of docs/ from the registries, or tells which are out of date. A
 * table stands between the lines <!-- gen:NAME --> and <!-- /gen -->; all else is left alone. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/base.h"
#include "tools/gendocs/gendocs_table.h"

#define FENCE_OPEN  "<!-- gen:"
#define FENCE_CLOSE "<!-- /gen -->\n"

enum { TABLES_MAX = 16, PATH_SIZE = 1024 };

struct job {
	const char *dir;
	bool is_check;
	bool has_failed;
	bool is_used[TABLES_MAX]; /* by index in gendocs_tables */
};

static char *read_whole(const char *path)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = fopen(path, "r");
	if (!f)
		return NULL;
	/* No document has a NUL: up to it is the whole file. */
	if (getdelim(&text, &size, '\0', f) < 0 && !ferror(f) && text)
		text[0] = '\0';
	fclose(f);
	return text;
}

static bool write_whole(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	if (!f)
		return false;
	bool is_written = fputs(text, f) >= 0;
	return fclose(f) == 0 && is_written;
}

static int table_find(const char *name, size_t len)
{
	for (unsigned i = 0; i < gendocs_table_count; i++) {
		if (strlen(gendocs_tables[i].name) == len &&
			memcmp(gendocs_tables[i].name, name, len) == 0)
			return (int)i;
	}
	return -1;
}

static void complain(struct job *j, const char *path, const char *what)
{
	fprintf(stderr, "%s: %s\n", path, what);
	j->has_failed = true;
}

/* Copies `text` to `out` with each table made anew. False after a complaint. */
static bool regenerate(struct job *j, const char *path, const char *text, FILE *out)
{
	for (;;) {
		const char *open = strstr(text, FENCE_OPEN);
		if (!open) {
			fputs(text, out);
			return true;
		}
		const char *name = open + strlen(FENCE_OPEN);
		size_t name_len = strcspn(name, " \n");
		int table = table_find(name, name_len);
		const char *body = strchr(name, '\n');
		const char *close = strstr(name, FENCE_CLOSE);
		if (table < 0 || !body || !close) {
			complain(j, path,
				table < 0 ? "a fence names an unknown table"
					  : "a fence is not closed by " FENCE_CLOSE);
			return false;
		}
		fwrite(text, 1, (size_t)(body + 1 - text), out);
		gendocs_tables[table].print(out);
		fputs(FENCE_CLOSE, out);
		j->is_used[table] = true;
		text = close + strlen(FENCE_CLOSE);
	}
}

static void finish(struct job *j, const char *path, const char *was, const char *is)
{
	if (strcmp(was, is) == 0)
		return;
	if (j->is_check)
		complain(j, path,
			"differs from config/*.def; `gendocs --write` brings it up to date");
	else if (!write_whole(path, is))
		complain(j, path, strerror(errno));
	else
		printf("%s: written\n", path);
}

static void process_file(struct job *j, const char *name)
{
	char path[PATH_SIZE], *made = NULL;
	size_t made_size = 0;
	snprintf(path, sizeof(path), "%s/%s", j->dir, name);
	char *text = read_whole(path);
	if (!text) {
		complain(j, path, strerror(errno));
		return;
	}
	FILE *out = open_memstream(&made, &made_size);
	MUST(out);
	bool is_made = regenerate(j, path, text, out);
	MUST(fclose(out) == 0);
	if (is_made)
		finish(j, path, text, made);
	free(made);
	free(text);
}

static int is_markdown(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');
	return dot && strcmp(dot, ".md") == 0;
}

static void process_dir(struct job *j)
{
	struct dirent **entries;
	int count = scandir(j->dir, &entries, is_markdown, alphasort);
	if (count < 0) {
		complain(j, j->dir, strerror(errno));
		return;
	}
	for (int i = 0; i < count; i++) {
		process_file(j, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	for (unsigned i = 0; i < gendocs_table_count; i++) {
		if (!j->is_used[i]) {
			char what[64];
			snprintf(what, sizeof(what), "no document has the table %s",
				gendocs_tables[i].name);
			complain(j, j->dir, what);
		}
	}
}

static const char help[] =
	"usage: gendocs --check [DIR]   exit 1 and name each document whose tables are out of "
	"date\n"
	"       gendocs --write [DIR]   bring them up to date\n"
	"       gendocs --print TABLE   one table on standard output\n"
	"DIR is docs unless given. Exit codes: 0 done, 1 out of date or failed, 2 wrong usage.\n";

static int print_one(const char *name)
{
	int table = table_find(name, strlen(name));
	if (table < 0) {
		fprintf(stderr, "gendocs: no table %s; there are:", name);
		for (unsigned i = 0; i < gendocs_table_count; i++)
			fprintf(stderr, " %s", gendocs_tables[i].name);
		fputc('\n', stderr);
		return 2;
	}
	gendocs_tables[table].print(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	MUST(gendocs_table_count <= TABLES_MAX);
	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(help, stdout);
		return 0;
	}
	if (argc == 3 && strcmp(argv[1], "--print") == 0)
		return print_one(argv[2]);
	bool is_check = argc >= 2 && strcmp(argv[1], "--check") == 0;
	bool is_write = argc >= 2 && strcmp(argv[1], "--write") == 0;
	if (argc > 3 || (!is_check && !is_write)) {
		fputs(help, stderr);
		return 2;
	}
	struct job j = {.dir = argc == 3 ? argv[2] : "docs", .is_check = is_check};
	process_dir(&j);
	return j.has_failed;
}
