/* every shape of a wrong file, with the line it names. */
#include "lib/conf/conf_yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

/* `text` gives exactly these errors, in this order. */
static const struct shape {
	const char *text;
	const char *errors[4];
} shapes[] = {
	/* unknown names */
	{"http:\n  read_timout_ms: 1\n",
		{"c.yaml:2: http.read_timout_ms: unknown key; did you mean http.read_timeout_ms?"}},
	{"drain:\n  timeout: 1\n", {"c.yaml:2: drain.timeout: unknown key; allowed: deadline_ms"}},
	{"node:\n  backlog: 5000\n",
		{"c.yaml:2: node.backlog: unknown key; did you mean net.backlog?"}},
	{"log:\n  level: info\nlogs:\n  level: info\n",
		{"c.yaml:3: logs: unknown section; did you mean log?"}},
	{"<<:\n  level: info\n",
		{"c.yaml:1: <<: unknown section; allowed: node, net, dpdk, http, limits, "
		 "storage, drain, amnesia, exporter, log"}},
	{"log:\n  \"le\\nvel\": info\n",
		{"c.yaml:2: log.le?vel: unknown key; did you mean log.level?"}},
	/* given twice */
	{"log:\n  level: info\n  level: warn\n",
		{"c.yaml:3: log.level: is given twice, first on line 2; allowed: once"}},
	{"log:\n  level: info\n\nlog:\n  format: text\n",
		{"c.yaml:4: log: is given twice, first on line 1; allowed: once"}},
	/* numbers */
	{"http:\n  read_timeout_ms: 50\n",
		{"c.yaml:2: http.read_timeout_ms: 50 is out of range; allowed: 100 to 600000 ms"}},
	{"http:\n  read_timeout_ms: 99999999999999999999999\n",
		{"c.yaml:2: http.read_timeout_ms: 99999999999999999999999 is out of range; "
		 "allowed: 100 to 600000 ms"}},
	{"http:\n  read_timeout_ms: 0x1000\n",
		{"c.yaml:2: http.read_timeout_ms: 0x1000 is not a whole decimal number; "
		 "allowed: 100 to 600000 ms"}},
	{"http:\n  read_timeout_ms: 01000\n",
		{"c.yaml:2: http.read_timeout_ms: 01000 is not a whole decimal number; "
		 "allowed: 100 to 600000 ms"}},
	{"http:\n  read_timeout_ms: +1000\n",
		{"c.yaml:2: http.read_timeout_ms: +1000 is not a whole decimal number; "
		 "allowed: 100 to 600000 ms"}},
	{"http:\n  read_timeout_ms: -1\n",
		{"c.yaml:2: http.read_timeout_ms: -1 is not a whole decimal number; "
		 "allowed: 100 to 600000 ms"}},
	{"http:\n  read_timeout_ms: 1e3\n",
		{"c.yaml:2: http.read_timeout_ms: 1e3 is not a whole decimal number; "
		 "allowed: 100 to 600000 ms"}},
	{"http:\n  read_timeout_ms: 1_000\n",
		{"c.yaml:2: http.read_timeout_ms: 1_000 is not a whole decimal number; "
		 "allowed: 100 to 600000 ms"}},
	{"http:\n  read_timeout_ms: 1KiB\n",
		{"c.yaml:2: http.read_timeout_ms: 1KiB is not a whole decimal number; "
		 "allowed: 100 to 600000 ms"}},
	{"http:\n  read_timeout_ms: \"5000\"\n",
		{"c.yaml:2: http.read_timeout_ms: is quoted text; allowed: 100 to 600000 ms"}},
	{"http:\n  read_timeout_ms:\n",
		{"c.yaml:2: http.read_timeout_ms: has no value; allowed: 100 to 600000 ms"}},
	{"http:\n  read_timeout_ms: ~\n",
		{"c.yaml:2: http.read_timeout_ms: has no value; allowed: 100 to 600000 ms"}},
	{"http:\n  read_timeout_ms: [1000]\n", {"c.yaml:2: http.read_timeout_ms: is a list, not "
						"one value; allowed: 100 to 600000 ms"}},
	{"http:\n  read_timeout_ms:\n    ms: {a: [b]}\n  deadline_ms: 9\n",
		{"c.yaml:3: http.read_timeout_ms: is a mapping, not a value; allowed: 100 to "
		 "600000 ms",
			"c.yaml:4: http.deadline_ms: 9 is out of range; allowed: 10 to 600000 ms"}},
	{"storage:\n  slab_bytes: 1TiB\n", {"c.yaml:2: storage.slab_bytes: 1TiB is not a whole "
					    "decimal number; allowed: 1048576 "
					    "to 1099511627776 bytes, also with KiB, MiB or GiB"}},
	{"storage:\n  slab_bytes: KiB\n", {"c.yaml:2: storage.slab_bytes: KiB is not a whole "
					   "decimal number; allowed: 1048576 "
					   "to 1099511627776 bytes, also with KiB, MiB or GiB"}},
	{"storage:\n  slab_bytes: 17179869184GiB\n",
		{"c.yaml:2: storage.slab_bytes: 17179869184GiB is out of range; allowed: 1048576 "
		 "to 1099511627776 bytes, also with KiB, MiB or GiB"}},
	/* truth, choices, text */
	{"node:\n  amnesia: yes\n",
		{"c.yaml:2: node.amnesia: yes is not a truth value; allowed: true or false"}},
	{"node:\n  amnesia: True\n",
		{"c.yaml:2: node.amnesia: True is not a truth value; allowed: true or false"}},
	{"node:\n  amnesia: 'true'\n",
		{"c.yaml:2: node.amnesia: is quoted text; allowed: true or false"}},
	{"net:\n  backend: dpkd\n", {"c.yaml:2: net.backend: dpkd is not one of the choices; "
				     "allowed: host, dpdk, fstack"}},
	{"net:\n  backend: host|dpdk\n",
		{"c.yaml:2: net.backend: host|dpdk is not one of the choices; allowed: host, dpdk, "
		 "fstack"}},
	{"net:\n  backend: \"\"\n", {"c.yaml:2: net.backend: an empty value is not one of the "
				     "choices; allowed: host, dpdk, "
				     "fstack"}},
	{"node:\n  name: aaaaaaaaaabbbbbbbbbbccccccccccddd\n",
		{"c.yaml:2: node.name: aaaaaaaaaabbbbbbbbbbccccccccccddd is too long; allowed: "
		 "text of "
		 "up to 32 printable ASCII characters"}},
	{"node:\n  run_dir: /\303\274\n", {"c.yaml:2: node.run_dir: /?? has a character that is "
					   "not printable ASCII; allowed: text "
					   "of up to 64 printable ASCII characters"}},
	{"node:\n  run_dir: \"/a\\0b\"\n", {"c.yaml:2: node.run_dir: /a?b has a character that is "
					    "not printable ASCII; allowed: text "
					    "of up to 64 printable ASCII characters"}},
	{"node:\n  name: [a]\n",
		{"c.yaml:2: node.name: is a list, not one value; allowed: text of up "
		 "to 32 printable ASCII characters"}},
	/* lists */
	{"net:\n  listen: 127.0.0.1:80\n", {"c.yaml:2: net.listen: is not a list; allowed: a list "
					    "of up to 8: ADDRESS:PORT such as "
					    "127.0.0.1:8080 or [::1]:8080"}},
	{"net:\n  listen:\n    - 127.0.0.1:80\n    - localhost:80\n    - 127.0.0.1:99999\n",
		{"c.yaml:4: net.listen: localhost:80 is not a valid item; allowed: a list of up to "
		 "8: "
		 "ADDRESS:PORT such as 127.0.0.1:8080 or [::1]:8080",
			"c.yaml:5: net.listen: 127.0.0.1:99999 is not a valid item; allowed: a "
			"list of "
			"up to 8: ADDRESS:PORT such as 127.0.0.1:8080 or [::1]:8080"}},
	{"net:\n  listen: [\"127.0.0.1:80\", \"[::ffff:127.0.0.1]:80\"]\n",
		{"c.yaml:2: net.listen: [::ffff:127.0.0.1]:80 clashes with an earlier item; "
		 "allowed: a "
		 "list of up to 8: ADDRESS:PORT such as 127.0.0.1:8080 or [::1]:8080"}},
	{"net:\n  listen: [[a], {b: c}]\n  backlog: 1\n",
		{"c.yaml:2: net.listen: is a list, not one value; allowed: a list of up to 8: "
		 "ADDRESS:PORT such as 127.0.0.1:8080 or [::1]:8080",
			"c.yaml:2: net.listen: is a mapping, not a value; allowed: a list of up to "
			"8: "
			"ADDRESS:PORT such as 127.0.0.1:8080 or [::1]:8080",
			"c.yaml:3: net.backlog: 1 is out of range; allowed: 4096 to 65535 "
			"connections",
			"c.yaml:2: net.listen: is empty; allowed: at least one ADDRESS:PORT"}},
	{"net:\n  lcores: [1, auto]\n", {"c.yaml:2: net.lcores: auto clashes with an earlier item; "
					 "allowed: a list of up to 16: "
					 "auto alone, or CPU numbers, each once"}},
	{"net:\n  lcores: [auto, 1]\n", {"c.yaml:2: net.lcores: 1 clashes with an earlier item; "
					 "allowed: a list of up to 16: "
					 "auto alone, or CPU numbers, each once"}},
	{"net:\n  lcores: [3, 4, 3]\n", {"c.yaml:2: net.lcores: 3 clashes with an earlier item; "
					 "allowed: a list of up to 16: "
					 "auto alone, or CPU numbers, each once"}},
	{"net:\n  lcores: [1023, 1024]\n", {"c.yaml:2: net.lcores: 1024 is not a valid item; "
					    "allowed: a list of up to 16: auto "
					    "alone, or CPU numbers, each once"}},
	{"net:\n  lcores: [01]\n  backlog: 5000\n",
		{"c.yaml:2: net.lcores: 01 is not a valid item; allowed: a list of up to 16: auto "
		 "alone, "
		 "or CPU numbers, each once",
			"c.yaml:2: net.lcores: is empty; allowed: auto, or at least one CPU "
			"number"}},
	{"net:\n  lcores: [100000000]\n", {"c.yaml:2: net.lcores: 100000000 is too long; allowed: "
					   "a list of up to 16: auto alone, "
					   "or CPU numbers, each once",
						  "c.yaml:2: net.lcores: is empty; allowed: auto, "
						  "or at least one CPU number"}},
	{"storage:\n  write_from: [10.0.0.1/8]\n", {"c.yaml:2: storage.write_from: 10.0.0.1/8 is "
						    "not a valid item; allowed: a list of up to "
						    "16: networks such as 10.0.0.0/8 or ::1/128"}},
	{"storage:\n  write_from: [10.0.0.0/8, ~]\n",
		{"c.yaml:2: storage.write_from: has no value; allowed: a list of up to 16: "
		 "networks such "
		 "as 10.0.0.0/8 or ::1/128"}},
	/* the shape of the file */
	{"- a\n- b\n",
		{"c.yaml:1: a configuration is made of sections; allowed: `section:` and its "
		 "keys below it"}},
	{"\nhello\n", {"c.yaml:2: a configuration is made of sections; allowed: `section:` and its "
		       "keys below it"}},
	{"http: 5\n",
		{"c.yaml:1: http: is a section; allowed: its keys, each on a line of its own, "
		 "indented"}},
	{"log:\n  level: info\n---\nlog:\n  level: warn\n",
		{"c.yaml:3: a second document begins here; allowed: one"}},
	{"log:\n  level: &a info\n", {"c.yaml:2: log.level: anchors, aliases and tags are not "
				      "allowed here; allowed: error, "
				      "warn, info, debug"}},
	{"log:\n  level: !!str info\n", {"c.yaml:2: log.level: anchors, aliases and tags are not "
					 "allowed here; allowed: error, "
					 "warn, info, debug"}},
	{"log:\n  level: *a\n", {"c.yaml:2: log.level: anchors, aliases and tags are not allowed "
				 "here; allowed: error, "
				 "warn, info, debug"}},
	{"storage:\n  write_from: &a []\n",
		{"c.yaml:2: storage.write_from: anchors, aliases and tags are not allowed here; "
		 "allowed: "
		 "a list of up to 16: networks such as 10.0.0.0/8 or ::1/128"}},
	{"log: &a\n  level: info\n",
		{"c.yaml:1: log: is a section; allowed: its keys, each on a line "
		 "of its own, indented"}},
	{"&a log:\n  level: info\n",
		{"c.yaml:1: anchors, aliases and tags are not allowed; write the "
		 "section itself"}},
	{"log:\n  ? [a, b]\n  : info\n  format: xml\n",
		{"c.yaml:2: the name of a key is a word",
			"c.yaml:4: log.format: xml is not one of the choices; allowed: auto, json, "
			"text"}},
	{"? {a: b}\n: {c: d}\nlog:\n  level: x\n",
		{"c.yaml:1: the name of a section is a word",
			"c.yaml:4: log.level: x is not one of the choices; allowed: error, warn, "
			"info, "
			"debug"}},
	/* not YAML, not UTF-8 */
	{"log:\n\tlevel: info\n",
		{"c.yaml:2: not YAML: found character that cannot start any token "
		 "(column 1)"}},
	{"log:\n  level: x\n  format: @json\n", {"c.yaml:2: log.level: x is not one of the "
						 "choices; allowed: error, warn, info, debug",
							"c.yaml:3: not YAML: found character that "
							"cannot start any token (column 11)"}},
	{"log:\n  level: info\n  format: \377\n",
		{"c.yaml:3: not UTF-8 text: invalid leading UTF-8 octet"}},
	{"log:\n  level: \001\n", {"c.yaml:2: not UTF-8 text: control characters are not allowed"}},
	{"\377\376l\n", {"c.yaml:1: not UTF-8 text: invalid leading UTF-8 octet"}},
};

static void each_wrong_shape_is_named(void)
{
	for (unsigned i = 0; i < ARRAY_LEN(shapes); i++) {
		const struct shape *s = &shapes[i];
		struct conf c;
		struct conf_errors errors;
		int rc = conf_load_text(&c, NULL, s->text, strlen(s->text), "c.yaml", &errors);
		unsigned wanted = 0;
		while (wanted < ARRAY_LEN(s->errors) && s->errors[wanted])
			wanted++;
		CU_ASSERT_EQUAL(rc, -EINVAL);
		CU_ASSERT_EQUAL(errors.count, wanted);
		for (unsigned e = 0; e < errors.count; e++) {
			bool is_same = e < wanted && strcmp(errors.text[e], s->errors[e]) == 0;
			if (!is_same)
				printf("case %u\n got  %s\n want %s\n", i, errors.text[e],
					e < wanted ? s->errors[e] : "nothing");
			CU_ASSERT(is_same);
		}
	}
}

/* Right, and what it makes of log.level. */
static const struct {
	const char *text;
	const char *level;
} right[] = {
	{"", "info"},
	{"# nothing but a comment\n", "info"},
	{"---\n", "info"},
	{"---\nlog:\n  level: warn\n...\n", "warn"},
	{"log:\n", "info"},
	{"log: ~\n", "info"},
	{"log: {}\n", "info"},
	{"{log: {level: debug}}", "debug"},
	{"log:\n  level: 'error'   # \303\274ber\n", "error"},
	{"\357\273\277log:\n  level: error\n", "error"},
	{"log:\r\n  level: error\r\n", "error"},
	{"\"log\":\n  \"level\": \"error\"\n", "error"},
};

static void right_files_are_read(void)
{
	const struct conf_key *level = conf_key_find("log", "level");
	for (unsigned i = 0; i < ARRAY_LEN(right); i++) {
		struct conf c;
		struct conf_errors errors;
		char got[16];
		CU_ASSERT_EQUAL(conf_load_text(&c, NULL, right[i].text, strlen(right[i].text),
					"c.yaml", &errors),
			0);
		conf_print(&c, level, got, sizeof(got));
		CU_ASSERT_STRING_EQUAL(got, right[i].level);
	}
}

/* A path longer than an error line keeps its end, and the line keeps its cause. */
static void long_paths_leave_room_for_the_cause(void)
{
	struct conf c;
	struct conf_errors errors;
	char path[1024];
	static const char text[] = "http:\n  read_timeout_ms: 50\n";
	static const char end[] =
		"/end.yaml:2: http.read_timeout_ms: 50 is out of range; allowed: 100 "
		"to 600000 ms";
	memset(path, 'd', sizeof(path));
	strcpy(path + sizeof(path) - 20, "/end.yaml");
	CU_ASSERT_EQUAL(conf_load_text(&c, NULL, text, sizeof(text) - 1, path, &errors), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors.text[0], end));
	CU_ASSERT_EQUAL(strncmp(errors.text[0], "...d", 4), 0);
}

/* Nesting costs neither stack nor much time: past the limit nothing more is read. */
static void check_nesting(unsigned depth, bool is_read_on)
{
	static const char start[] = "log:\n  level: ";
	struct conf c;
	struct conf_errors errors;
	size_t size = sizeof(start) + 2 * depth + 64, len;
	char *text = malloc(size);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	strcpy(text, start);
	len = strlen(text);
	memset(text + len, '[', depth);
	memset(text + len + depth, ']', depth);
	len += 2 * depth;
	len += (size_t)snprintf(text + len, size - len, "\n  format: xml\n");
	CU_ASSERT_EQUAL(conf_load_text(&c, NULL, text, len, "c.yaml", &errors), -EINVAL);
	CU_ASSERT_EQUAL(errors.count, 2);
	CU_ASSERT_STRING_EQUAL(errors.text[0], "c.yaml:2: log.level: is a list, not one value; "
					       "allowed: error, warn, info, debug");
	CU_ASSERT_STRING_EQUAL(errors.text[1], is_read_on
						       ? "c.yaml:3: log.format: xml is not one of "
							 "the choices; allowed: auto, json, "
							 "text"
						       : "c.yaml:2: nested deeper than 32 levels");
	free(text);
}

static void deep_nesting_is_refused(void)
{
	check_nesting(32, true);
	check_nesting(33, false);
	check_nesting(100000, false);
}

static const struct unit_case cases[] = {
	{"each_wrong_shape_is_named", each_wrong_shape_is_named},
	{"right_files_are_read", right_files_are_read},
	{"long_paths_leave_room_for_the_cause", long_paths_leave_room_for_the_cause},
	{"deep_nesting_is_refused", deep_nesting_is_refused},
};
UNIT_MAIN("lib/conf/conf_yaml", cases)
