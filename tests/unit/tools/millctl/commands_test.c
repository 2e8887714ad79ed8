#include "tools/millctl/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

/* The whole of a file of the source tree; the caller frees it. */
static char *read_source(const char *name)
{
	char path[1024];
	snprintf(path, sizeof(path), "%s/%s", SOURCE_ROOT, name);
	FILE *f = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	char *text = calloc(1, 65536);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT(fread(text, 1, 65535, f) > 0);
	fclose(f);
	return text;
}

static void names_all(const char *file, const char *form)
{
	char *text = read_source(file);
	for (unsigned i = 0; i < command_count; i++) {
		const struct command *c = &commands[i];
		char words[128], want[160];
		snprintf(words, sizeof(words), "%s%s%s", c->name, c->sub != NULL ? " " : "",
			c->sub != NULL ? c->sub : "");
		snprintf(want, sizeof(want), form, words);
		CU_ASSERT_PTR_NOT_NULL(strstr(text, want));
	}
	free(text);
}

static void manual_names_all(void) /* N-4 */
{
	names_all("docs/millctl.md", "`millctl %s");
}

/* Is `word` there as one of the blank-separated words a completion offers? */
static bool offers(const char *text, const char *word)
{
	size_t len = strlen(word);
	for (const char *at = text; (at = strstr(at, word)) != NULL; at += len) {
		if (strchr("\" ", at[-1]) != NULL && strchr("\" ", at[len]) != NULL)
			return true;
	}
	return false;
}

static void completion_names_all(void) /* N-4 */
{
	char *text = read_source("tools/millctl/millctl.bash-completion");
	for (unsigned i = 0; i < command_count; i++) {
		CU_ASSERT(offers(text, commands[i].name));
		CU_ASSERT(commands[i].sub == NULL || offers(text, commands[i].sub));
	}
	free(text);
}

static const struct unit_case cases[] = {
	{"manual_names_all", manual_names_all},
	{"completion_names_all", completion_names_all},
};
UNIT_MAIN("tools/millctl/commands", cases)
