/* the order of the layers, the files that are refused, reload, and the example that ships. */
#include "lib/conf/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static char dir[64];
static char path[128];

static void write_file(const char *text, size_t len)
{
	FILE *f = fopen(path, "w");
	CU_ASSERT_FATAL(f != NULL);
	CU_ASSERT_EQUAL(fwrite(text, 1, len, f), len);
	CU_ASSERT_EQUAL(fclose(f), 0);
}

static void make_dir(void)
{
	strcpy(dir, "/tmp/conf_test.XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/millrace.yaml", dir);
}

static void remove_dir(void)
{
	unlink(path);
	CU_ASSERT_EQUAL(rmdir(dir), 0);
}

/* One value per layer above the defaults, of each type: as YAML, as environment or flag, and as
 * printed. */
static const struct layered {
	const char *section, *key;
	const char *def;
	const char *file, *file_printed;
	const char *env, *env_printed;
	const char *flag, *flag_printed;
} layered[] = {
	{"http", "read_timeout_ms", "5000", "6000", "6000", "7000", "7000", "8000", "8000"},
	{"storage", "slab_bytes", "268435456", "1GiB", "1073741824", "2MiB", "2097152", "1024KiB",
		"1048576"},
	{"node", "amnesia", "true", "false", "false", "true", "true", "false", "false"},
	{"log", "level", "info", "error", "error", "debug", "debug", "warn", "warn"},
	{"node", "name", "\"millrace\"", "from-file", "\"from-file\"", "from_env", "\"from_env\"",
		"flag3", "\"flag3\""},
	{"net", "listen", "[\"127.0.0.1:8080\"]", "[\"[::1]:1\", 10.0.0.1:2]",
		"[\"[::1]:1\", \"10.0.0.1:2\"]", "10.0.0.3:3, 10.0.0.4:4",
		"[\"10.0.0.3:3\", \"10.0.0.4:4\"]", "[::1]:5", "[\"[::1]:5\"]"},
	{"net", "lcores", "[\"auto\"]", "[1, 2]", "[\"1\", \"2\"]", "3,4", "[\"3\", \"4\"]", "auto",
		"[\"auto\"]"},
	{"storage", "write_from", "[\"127.0.0.0/8\", \"::1/128\"]", "[]", "[]", "10.0.0.0/8",
		"[\"10.0.0.0/8\"]", "", "[]"},
};

/* Loads with the first `layers` of file, environment and flags; checks the value and its origin. */
static void check_layers(const struct layered *l, unsigned layers, const char *printed)
{
	struct conf c;
	struct conf_errors errors;
	struct conf_origin origin;
	char yaml[256], env_name[CONF_ENV_NAME], variable[192], set[192], got[512];
	const struct conf_key *key = conf_key_find(l->section, l->key);
	CU_ASSERT_PTR_NOT_NULL_FATAL(key);
	conf_key_env_name(key, env_name);
	snprintf(variable, sizeof(variable), "%s=%s", env_name, l->env);
	snprintf(set, sizeof(set), "%s.%s=%s", l->section, l->key, l->flag);
	int len = snprintf(yaml, sizeof(yaml), "# a\n%s:\n  %s: %s\n", l->section, l->key, l->file);
	write_file(yaml, (size_t)len);

	char *env[] = {"PATH=/bin", variable, "MILLRACE_CONFIG=elsewhere.yaml", NULL};
	const char *sets[] = {set};
	struct conf_input in = {
		.path = layers >= CONF_FROM_FILE ? path : NULL,
		.env = layers >= CONF_FROM_ENV ? env : NULL,
		.sets = sets,
		.set_count = layers >= CONF_FROM_FLAG,
	};
	CU_ASSERT_EQUAL(conf_load(&c, &origin, &in, &errors), 0);
	CU_ASSERT_EQUAL(errors.count, 0);
	CU_ASSERT_EQUAL(conf_print(&c, key, got, sizeof(got)), (int)strlen(printed));
	CU_ASSERT_STRING_EQUAL(got, printed);
	CU_ASSERT_EQUAL(origin.source[key - conf_keys], layers);
	if (layers == CONF_FROM_FILE)
		CU_ASSERT_EQUAL(origin.line[key - conf_keys], 3);
	for (unsigned i = 0; i < conf_key_count; i++) {
		if (&conf_keys[i] != key)
			CU_ASSERT_EQUAL(origin.source[i], CONF_FROM_DEFAULT);
	}
}

static void layers_override_in_order(void)
{
	make_dir();
	for (unsigned i = 0; i < ARRAY_LEN(layered); i++) {
		const struct layered *l = &layered[i];
		check_layers(l, CONF_FROM_DEFAULT, l->def);
		check_layers(l, CONF_FROM_FILE, l->file_printed);
		check_layers(l, CONF_FROM_ENV, l->env_printed);
		check_layers(l, CONF_FROM_FLAG, l->flag_printed);
	}
	remove_dir();
}

static void every_variable_sets_its_key(void)
{
	for (unsigned i = 0; i < conf_key_count; i++) {
		struct conf c, defaults;
		struct conf_errors errors;
		struct conf_origin origin;
		struct conf_input none = {0};
		char entry[CONF_ENV_NAME + 64], value[64];
		/* The default itself, as a variable has it. */
		snprintf(value, sizeof(value), "%s", conf_keys[i].def);
		for (char *p = value; *p && conf_keys[i].type == CONF_TYPE_LIST; p++)
			*p = *p == ' ' ? ',' : *p;
		conf_key_env_name(&conf_keys[i], entry);
		strcat(strcat(entry, "="), value);
		char *env[] = {entry, NULL};
		struct conf_input in = {.env = env};
		CU_ASSERT_EQUAL(conf_load(&c, &origin, &in, &errors), 0);
		CU_ASSERT_EQUAL(origin.source[i], CONF_FROM_ENV);
		CU_ASSERT_EQUAL(conf_load(&defaults, NULL, &none, &errors), 0);
		CU_ASSERT(conf_key_equals(&c, &defaults, &conf_keys[i]));
	}
}

static const struct refused {
	const char *variable; /* or */
	const char *set;
	const char *error;
} refused[] = {
	{"MILLRACE_HTTP_READ_TIMEOUT_MS=50", NULL,
		"environment: MILLRACE_HTTP_READ_TIMEOUT_MS: 50 is out of range; allowed: 100 to "
		"600000 ms"},
	{"MILLRACE_HTTP_READ_TIMEOUT_MS=", NULL,
		"environment: MILLRACE_HTTP_READ_TIMEOUT_MS: an empty value is not a whole decimal "
		"number; allowed: 100 to 600000 ms"},
	{"MILLRACE_HTTP_READ_TIMEOUT_MS", NULL,
		"environment: MILLRACE_HTTP_READ_TIMEOUT_MS: an empty value is not a whole decimal "
		"number; allowed: 100 to 600000 ms"},
	{"MILLRACE_HTTP_READ_TIMOUT_MS=5000", NULL,
		"environment: MILLRACE_HTTP_READ_TIMOUT_MS: no such key; did you mean "
		"MILLRACE_HTTP_READ_TIMEOUT_MS?"},
	{"MILLRACE_COLOUR=blue", NULL,
		"environment: MILLRACE_COLOUR: no such key; allowed: MILLRACE_<SECTION>_<KEY> and "
		"MILLRACE_CONFIG"},
	{"MILLRACE_CONFIGS=x", NULL,
		"environment: MILLRACE_CONFIGS: no such key; allowed: MILLRACE_<SECTION>_<KEY> and "
		"MILLRACE_CONFIG"},
	{"MILLRACE_NODE_NAME=a b", NULL,
		"environment: MILLRACE_NODE_NAME: is not a name; allowed: one or more letters, "
		"digits, - "
		"and _"},
	{"MILLRACE_NET_LISTEN=127.0.0.1:1,,127.0.0.1:2", NULL,
		"environment: MILLRACE_NET_LISTEN: an empty value is not a valid item; allowed: a "
		"list of "
		"up to 8: ADDRESS:PORT such as 127.0.0.1:8080 or [::1]:8080"},
	{NULL, "http.read_timeout_ms=600001",
		"--set: http.read_timeout_ms: 600001 is out of range; allowed: 100 to 600000 ms"},
	{NULL, "http.read_timeout=1",
		"--set: http.read_timeout: unknown key; did you mean "
		"http.read_timeout_ms?"},
	{NULL, "htp.read_timeout_ms=1", "--set: htp: unknown section; did you mean http?"},
	{NULL, "read_timeout_ms=1",
		"--set: read_timeout_ms=1 is not a setting; allowed: section.key=value"},
	{NULL, "http.read_timeout_ms",
		"--set: http.read_timeout_ms is not a setting; allowed: section.key=value"},
	{NULL, "log.level=loud",
		"--set: log.level: loud is not one of the choices; allowed: error, warn, info, "
		"debug"},
};

static void variables_and_flags_are_checked(void)
{
	for (unsigned i = 0; i < ARRAY_LEN(refused); i++) {
		struct conf c;
		struct conf_errors errors;
		char *env[] = {(char *)refused[i].variable, NULL};
		const char *sets[] = {refused[i].set};
		struct conf_input in = {
			.env = env, .sets = sets, .set_count = refused[i].set != NULL};
		CU_ASSERT_EQUAL(conf_load(&c, NULL, &in, &errors), -EINVAL);
		CU_ASSERT_EQUAL(errors.count, 1);
		CU_ASSERT_STRING_EQUAL(errors.text[0], refused[i].error);
	}
}

static void check_file_refused(const char *file, const char *error)
{
	struct conf c;
	struct conf_errors errors;
	struct conf_input in = {.path = file};
	char wanted[256];
	snprintf(wanted, sizeof(wanted), "%s: %s", file, error);
	CU_ASSERT_EQUAL(conf_load(&c, NULL, &in, &errors), -EINVAL);
	CU_ASSERT_EQUAL(errors.count, 1);
	CU_ASSERT_STRING_EQUAL(errors.text[0], wanted);
}

static void files_that_cannot_be_read_say_why(void)
{
	make_dir();
	check_file_refused(path, "cannot be read: No such file or directory");
	check_file_refused(dir, "is a directory; allowed: a plain file");
	check_file_refused("/dev/null", "is not a plain file; allowed: a plain file");
	/* Opening a FIFO that nobody writes must not hang. */
	CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
	check_file_refused(path, "is not a plain file; allowed: a plain file");
	unlink(path);
	write_file("", 0);
	if (geteuid() != 0) {
		CU_ASSERT_EQUAL(chmod(path, 0), 0);
		check_file_refused(path, "cannot be read: Permission denied");
	}
	remove_dir();
}

static void file_size_has_a_limit(void)
{
	char *text = malloc(LIMIT_CONF_FILE_BYTES + 1);
	struct conf c;
	struct conf_errors errors;
	make_dir();
	struct conf_input in = {.path = path};
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	memset(text, '\n', LIMIT_CONF_FILE_BYTES + 1);
	write_file(text, LIMIT_CONF_FILE_BYTES);
	CU_ASSERT_EQUAL(conf_load(&c, NULL, &in, &errors), 0);
	write_file(text, LIMIT_CONF_FILE_BYTES + 1);
	check_file_refused(path, "is too large; allowed: up to 262144 bytes");
	remove_dir();
	free(text);
}

static void errors_of_all_layers_are_collected_up_to_the_limit(void)
{
	struct conf c;
	struct conf_errors errors;
	char *env[] = {"MILLRACE_LOG_LEVEL=loud", NULL};
	const char *sets[2 * CONF_ERRORS_MAX];
	for (unsigned i = 0; i < ARRAY_LEN(sets); i++)
		sets[i] = "http.deadline_ms=1";
	make_dir();
	write_file("log:\n  format: xml\n", 19);
	struct conf_input in = {.path = path, .env = env, .sets = sets, .set_count = 1};
	CU_ASSERT_EQUAL(conf_load(&c, NULL, &in, &errors), -EINVAL);
	CU_ASSERT_EQUAL(errors.count, 3);
	in.set_count = CONF_ERRORS_MAX - 2;
	CU_ASSERT_EQUAL(conf_load(&c, NULL, &in, &errors), -EINVAL);
	CU_ASSERT_EQUAL(errors.count, CONF_ERRORS_MAX);
	in.set_count = ARRAY_LEN(sets);
	CU_ASSERT_EQUAL(conf_load(&c, NULL, &in, &errors), -EINVAL);
	CU_ASSERT_EQUAL(errors.count, CONF_ERRORS_MAX);
	remove_dir();
}

/* A value other than the default that each key takes. */
static void change(struct conf *c, const struct conf_key *key)
{
	char set[128];
	struct conf_errors errors;
	const char *value = "7";
	char number[32];
	switch (key->type) {
	case CONF_TYPE_NUM:
		snprintf(number, sizeof(number), "%llu",
			(unsigned long long)(strtoull(key->def, NULL, 10) == key->max ? key->min
										      : key->max));
		value = number;
		break;
	case CONF_TYPE_BOOL:
		value = strcmp(key->def, "true") == 0 ? "false" : "true";
		break;
	case CONF_TYPE_ENUM:
		value = strrchr(key->choices, '|') + 1;
		break;
	case CONF_TYPE_STR:
		value = strcmp(key->key, "run_dir") == 0  ? "/elsewhere"
			: strcmp(key->key, "listen") == 0 ? "127.0.0.1:1"
							  : "other";
		break;
	case CONF_TYPE_LIST:
		value = key->form == CONF_FORM_ENDPOINT	     ? "127.0.0.1:7"
			: key->form == CONF_FORM_CIDR	     ? "10.0.0.0/8"
			: strcmp(key->key, "addresses") == 0 ? "10.0.0.2/24"
			: strcmp(key->key, "routes") == 0    ? "0.0.0.0/0 via 10.0.0.1"
							     : "7";
		break;
	}
	snprintf(set, sizeof(set), "%s.%s=%s", key->section, key->key, value);
	const char *sets[] = {set, "limits.ip_rate=10000000"};
	struct conf_input in = {
		.sets = sets, .set_count = strcmp(key->key, "ip_burst") == 0 ? 2 : 1};
	CU_ASSERT_EQUAL(conf_load(c, NULL, &in, &errors), 0);
}

static void reload_refuses_restart_keys_by_name(void)
{
	struct conf running, next;
	struct conf_errors errors;
	struct conf_input none = {0};
	unsigned hot = 0, restart = 0;
	CU_ASSERT_EQUAL(conf_load(&running, NULL, &none, &errors), 0);
	CU_ASSERT_EQUAL(conf_check_reload(&running, &running, &errors), 0);
	for (unsigned i = 0; i < conf_key_count; i++) {
		const struct conf_key *key = &conf_keys[i];
		char name[96];
		change(&next, key);
		CU_ASSERT_FALSE(conf_key_equals(&running, &next, key));
		int rc = conf_check_reload(&running, &next, &errors);
		if (key->is_hot) {
			hot++;
			CU_ASSERT_EQUAL(rc, 0);
			CU_ASSERT_EQUAL(errors.count, 0);
			continue;
		}
		restart++;
		snprintf(name, sizeof(name), "%s.%s: needs a restart: running ", key->section,
			key->key);
		CU_ASSERT_EQUAL(rc, -EBUSY);
		CU_ASSERT_EQUAL(errors.count, 1);
		CU_ASSERT_EQUAL(strncmp(errors.text[0], name, strlen(name)), 0);
	}
	/* The families X-7 calls hot, and what needs a restart, are both there. */
	CU_ASSERT(hot > 0);
	CU_ASSERT(restart > 0);
}

static void reload_names_every_key_that_differs(void)
{
	struct conf running, next;
	struct conf_errors errors;
	struct conf_input none = {0};
	const char *sets[] = {"node.name=b", "net.backlog=5000", "log.level=debug"};
	struct conf_input in = {.sets = sets, .set_count = 3};
	CU_ASSERT_EQUAL(conf_load(&running, NULL, &none, &errors), 0);
	CU_ASSERT_EQUAL(conf_load(&next, NULL, &in, &errors), 0);
	CU_ASSERT_EQUAL(conf_check_reload(&running, &next, &errors), -EBUSY);
	CU_ASSERT_EQUAL(errors.count, 2);
	CU_ASSERT_STRING_EQUAL(errors.text[0],
		"node.name: needs a restart: running \"millrace\", asked for \"b\"");
	CU_ASSERT_STRING_EQUAL(
		errors.text[1], "net.backlog: needs a restart: running 4096, asked for 5000");
}

static void print_and_load_is_a_round_trip(void)
{
	for (unsigned i = 0; i < conf_key_count; i++) {
		struct conf before, after;
		struct conf_errors errors;
		char text[8192];
		size_t used = 0;
		const char *section = "";
		change(&before, &conf_keys[i]);
		for (unsigned k = 0; k < conf_key_count; k++) {
			const struct conf_key *key = &conf_keys[k];
			if (strcmp(section, key->section) != 0)
				used += (size_t)snprintf(
					text + used, sizeof(text) - used, "%s:\n", key->section);
			section = key->section;
			used += (size_t)snprintf(
				text + used, sizeof(text) - used, "  %s: ", key->key);
			used += (size_t)conf_print(&before, key, text + used, sizeof(text) - used);
			used += (size_t)snprintf(text + used, sizeof(text) - used, "\n");
		}
		CU_ASSERT_EQUAL(conf_load_text(&after, NULL, text, used, "text", &errors), 0);
		CU_ASSERT_EQUAL(memcmp(&before, &after, sizeof(before)), 0);
	}
}

static void the_example_has_every_key_at_its_default(void)
{
	struct conf example, defaults;
	struct conf_errors errors;
	struct conf_origin origin;
	struct conf_input none = {0}, in = {.path = MILLRACE_SOURCE "/config/millrace.yaml"};
	CU_ASSERT_EQUAL(conf_load(&example, &origin, &in, &errors), 0);
	CU_ASSERT_EQUAL(conf_load(&defaults, NULL, &none, &errors), 0);
	CU_ASSERT_EQUAL(memcmp(&example, &defaults, sizeof(example)), 0);
	for (unsigned i = 0; i < conf_key_count; i++)
		CU_ASSERT_EQUAL(origin.source[i], CONF_FROM_FILE);
}

static const struct unit_case cases[] = {
	{"layers_override_in_order", layers_override_in_order},
	{"every_variable_sets_its_key", every_variable_sets_its_key},
	{"variables_and_flags_are_checked", variables_and_flags_are_checked},
	{"files_that_cannot_be_read_say_why", files_that_cannot_be_read_say_why},
	{"file_size_has_a_limit", file_size_has_a_limit},
	{"errors_of_all_layers_are_collected_up_to_the_limit",
		errors_of_all_layers_are_collected_up_to_the_limit},
	{"reload_refuses_restart_keys_by_name", reload_refuses_restart_keys_by_name},
	{"reload_names_every_key_that_differs", reload_names_every_key_that_differs},
	{"print_and_load_is_a_round_trip", print_and_load_is_a_round_trip},
	{"the_example_has_every_key_at_its_default", the_example_has_every_key_at_its_default},
};
UNIT_MAIN("lib/conf/conf", cases)
