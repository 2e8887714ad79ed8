/* the command line that names the file and the highest layer. */
#include "lib/conf/conf_flags.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

enum { ARGS_MAX = 6 };

static const struct {
	const char *args[ARGS_MAX];
	enum conf_flags_verdict verdict;
	const char *path;
	unsigned set_count;
} lines[] = {
	{{NULL}, CONF_FLAGS_GO, NULL, 0},
	{{"--config", "a.yaml"}, CONF_FLAGS_GO, "a.yaml", 0},
	{{"--config=a.yaml", "--set", "a.b=c", "--set=d.e=f"}, CONF_FLAGS_GO, "a.yaml", 2},
	{{"--help"}, CONF_FLAGS_EXIT_0, NULL, 0},
	{{"--version"}, CONF_FLAGS_EXIT_0, NULL, 0},
	{{"--config"}, CONF_FLAGS_EXIT_2, NULL, 0},
	{{"--set"}, CONF_FLAGS_EXIT_2, NULL, 0},
	{{"--colour"}, CONF_FLAGS_EXIT_2, NULL, 0},
	{{"-x"}, CONF_FLAGS_EXIT_2, NULL, 0},
	{{"a.yaml"}, CONF_FLAGS_EXIT_2, NULL, 0},
	{{"--set", "a.b=c", "a.yaml"}, CONF_FLAGS_EXIT_2, NULL, 0},
};

static enum conf_flags_verdict parse(struct conf_flags *f, const char *const *args, unsigned count)
{
	char *argv[CONF_KEYS_MAX + 4] = {"program"};
	for (unsigned i = 0; i < count; i++)
		argv[i + 1] = (char *)args[i];
	return conf_flags_parse(f, (int)count + 1, argv, "program", "a test");
}

static void lines_are_understood_or_refused(void)
{
	unsetenv("MILLRACE_CONFIG");
	for (unsigned i = 0; i < ARRAY_LEN(lines); i++) {
		struct conf_flags f;
		unsigned count = 0;
		while (count < ARGS_MAX && lines[i].args[count])
			count++;
		CU_ASSERT_EQUAL(parse(&f, lines[i].args, count), lines[i].verdict);
		if (lines[i].verdict != CONF_FLAGS_GO)
			continue;
		CU_ASSERT_EQUAL(f.input.set_count, lines[i].set_count);
		CU_ASSERT_PTR_EQUAL(f.input.sets, f.sets);
		/* CUnit's macros are blocks: an else needs braces. */
		if (lines[i].path) {
			CU_ASSERT_STRING_EQUAL(f.input.path, lines[i].path);
		} else {
			CU_ASSERT_PTR_NULL(f.input.path);
		}
	}
}

static void the_variable_names_the_file_unless_a_flag_does(void)
{
	struct conf_flags f;
	const char *args[] = {"--config", "flag.yaml"};
	CU_ASSERT_EQUAL(setenv("MILLRACE_CONFIG", "variable.yaml", 1), 0);
	CU_ASSERT_EQUAL(parse(&f, args, 0), CONF_FLAGS_GO);
	CU_ASSERT_STRING_EQUAL(f.input.path, "variable.yaml");
	CU_ASSERT_EQUAL(parse(&f, args, 2), CONF_FLAGS_GO);
	CU_ASSERT_STRING_EQUAL(f.input.path, "flag.yaml");
	unsetenv("MILLRACE_CONFIG");
}

static void sets_have_a_limit(void)
{
	struct conf_flags f;
	const char *args[CONF_KEYS_MAX + 1];
	for (unsigned i = 0; i < ARRAY_LEN(args); i++)
		args[i] = "--set=log.level=info";
	CU_ASSERT_EQUAL(parse(&f, args, CONF_KEYS_MAX), CONF_FLAGS_GO);
	CU_ASSERT_EQUAL(f.input.set_count, CONF_KEYS_MAX);
	CU_ASSERT_EQUAL(parse(&f, args, CONF_KEYS_MAX + 1), CONF_FLAGS_EXIT_2);
}

static const struct unit_case cases[] = {
	{"lines_are_understood_or_refused", lines_are_understood_or_refused},
	{"the_variable_names_the_file_unless_a_flag_does",
		the_variable_names_the_file_unless_a_flag_does},
	{"sets_have_a_limit", sets_have_a_limit},
};
UNIT_MAIN("lib/conf/conf_flags", cases)
