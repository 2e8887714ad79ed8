/* what holds between keys, and the shape of names. */
#include "lib/conf/conf_rules.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/unit.h"

/* `error` NULL: the text is right. */
static const struct {
	const char *text;
	const char *error;
} rules[] = {
	{"node:\n  name: A-b_9\n", NULL},
	{"node:\n  name: a.b\n", "c.yaml:2: node.name: is not a name; allowed: one or more "
				 "letters, digits, - and _"},
	{"node:\n  name: a/b\n", "c.yaml:2: node.name: is not a name; allowed: one or more "
				 "letters, digits, - and _"},
	{"node:\n  name: \"\"\n", "c.yaml:2: node.name: is not a name; allowed: one or more "
				  "letters, digits, - and _"},
	{"node:\n  run_dir: /x\n", NULL},
	{"node:\n  run_dir: x\n",
		"c.yaml:2: node.run_dir: is not an absolute path; allowed: a path "
		"that begins with /"},
	{"node:\n  run_dir: \"\"\n",
		"c.yaml:2: node.run_dir: is not an absolute path; allowed: a path "
		"that begins with /"},
	{"exporter:\n  listen: \"\"\n", NULL},
	{"exporter:\n  listen: \"[::1]:9605\"\n", NULL},
	{"exporter:\n  listen: localhost\n",
		"c.yaml:2: exporter.listen: is not an address; allowed: ADDRESS:PORT such as "
		"127.0.0.1:9605, or nothing"},
	{"exporter:\n  listen: 127.0.0.1:8080\n",
		"c.yaml:2: exporter.listen: is also in net.listen; allowed: an address of its own"},
	{"net:\n  listen: [127.0.0.1:9605]\n",
		"default: exporter.listen: is also in net.listen; allowed: an address of its own"},
	{"net:\n  listen: []\n",
		"c.yaml:2: net.listen: is empty; allowed: at least one ADDRESS:PORT"},
	{"net:\n  lcores: []\n",
		"c.yaml:2: net.lcores: is empty; allowed: auto, or at least one CPU number"},
	{"storage:\n  write_from: []\n", NULL},
	{"limits:\n  ip_rate: 10\n  ip_burst: 1\n", NULL},
	{"limits:\n  ip_rate: 10\n", NULL},
	{"limits:\n  ip_burst: 1\n",
		"c.yaml:2: limits.ip_burst: has no limits.ip_rate to go with; allowed: 0, or set "
		"limits.ip_rate too"},
	/* The refused rate is the cause; the burst is not blamed for it. */
	{"limits:\n  ip_rate: x\n  ip_burst: 1\n",
		"c.yaml:2: limits.ip_rate: x is not a whole decimal number; allowed: 0 to 10000000 "
		"requests/s"},
};

static void rules_hold(void)
{
	for (unsigned i = 0; i < ARRAY_LEN(rules); i++) {
		struct conf c;
		struct conf_errors errors;
		int rc = conf_load_text(
			&c, NULL, rules[i].text, strlen(rules[i].text), "c.yaml", &errors);
		CU_ASSERT_EQUAL(rc, rules[i].error ? -EINVAL : 0);
		CU_ASSERT_EQUAL(errors.count, rules[i].error ? 1 : 0);
		if (rules[i].error)
			CU_ASSERT_STRING_EQUAL(errors.text[0], rules[i].error);
	}
}

static const struct unit_case cases[] = {
	{"rules_hold", rules_hold},
};
UNIT_MAIN("lib/conf/conf_rules", cases)
