#include "tools/millctl/options.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "tools/millctl/commands.h"

/* Splits `line` at blanks and parses it. */
static bool parse(struct options *o, const char *line)
{
	static char text[256];
	char *argv[16] = {"millctl"};
	int argc = 1;
	char why[256];
	strcpy(text, line);
	for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "))
		argv[argc++] = word;
	return options_parse(o, argc, argv, why, sizeof(why));
}

static void options_stand_anywhere(void)
{
	struct options o;
	unsetenv("MILLRACE_CONFIG");
	CU_ASSERT(parse(&o, "--json --config a.yaml events -n 7 --follow"));
	CU_ASSERT(o.is_json && o.count == 7 && o.given == (OPTION_COUNT | OPTION_FOLLOW));
	CU_ASSERT_STRING_EQUAL(o.config, "a.yaml");
	CU_ASSERT(parse(&o, "config check FILE --json"));
	CU_ASSERT(o.is_json && o.word_count == 3 && o.config == NULL);
	CU_ASSERT_STRING_EQUAL(o.words[2], "FILE");
}

static void refuses(void)
{
	static const char *const table[] = {"--nonsense", "status --nonsense", "events -n",
		"events -n 0", "events -n x", "events -n -1", "events --count 99999999999",
		"--config", "a b c d"};
	struct options o;
	for (unsigned i = 0; i < ARRAY_LEN(table); i++)
		CU_ASSERT_FALSE(parse(&o, table[i]));
}

static void finds_commands(void)
{
	static const struct {
		const char *line, *name, *sub;
	} table[] = {
		{"status", "status", NULL},
		{"config show", "config", "show"},
		{"config check f", "config", "check"},
		{"top -n 1", "top", NULL},
		{"drain --wait", "drain", NULL},
		{"config check --help", "config", "check"},
		{"", NULL, NULL},
		{"nonsense", NULL, NULL},
		{"config", NULL, NULL},
		{"config nonsense", NULL, NULL},
		{"config check", NULL, NULL},
		{"status extra", NULL, NULL},
		{"config show extra", NULL, NULL},
		{"status --follow", NULL, NULL},
		{"reload -n 5", NULL, NULL},
		{"top --wait", NULL, NULL},
	};
	for (unsigned i = 0; i < ARRAY_LEN(table); i++) {
		struct options o;
		char why[256] = "";
		CU_ASSERT_FATAL(parse(&o, table[i].line));
		const struct command *c = commands_find(&o, why, sizeof(why));
		if (table[i].name == NULL) {
			CU_ASSERT_PTR_NULL(c);
			CU_ASSERT(why[0] != '\0');
			continue;
		}
		CU_ASSERT_PTR_NOT_NULL_FATAL(c);
		CU_ASSERT_STRING_EQUAL(c->name, table[i].name);
		CU_ASSERT(c->sub == table[i].sub || strcmp(c->sub, table[i].sub) == 0);
	}
}

static const struct unit_case cases[] = {
	{"options_stand_anywhere", options_stand_anywhere},
	{"refuses", refuses},
	{"finds_commands", finds_commands},
};
UNIT_MAIN("tools/millctl/options", cases)
