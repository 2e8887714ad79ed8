#include "dataplane/node/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"

static cpu_set_t set_of(const int *cpus, unsigned count)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	for (unsigned i = 0; i < count; i++)
		CPU_SET(cpus[i], &set);
	return set;
}

static void name(struct conf *conf, const char *item)
{
	snprintf(conf->net_lcores.items[conf->net_lcores.count++],
		sizeof(conf->net_lcores.items[0]), "%s", item);
}

static void test_auto_is_the_last(void)
{
	struct conf conf = {0};
	struct cpus cpus;
	char why[128];
	cpu_set_t allowed = set_of((const int[]){2, 5, 11}, 3);
	name(&conf, "auto");
	CU_ASSERT_EQUAL(cpus_pick(&cpus, &conf, &allowed, why, sizeof(why)), 0);
	CU_ASSERT_EQUAL(cpus.count, 1);
	CU_ASSERT_EQUAL(cpus.cpu[0], 11);
}

static void test_named(void)
{
	struct conf conf = {0};
	struct cpus cpus;
	char why[128], map[64];
	cpu_set_t allowed = set_of((const int[]){0, 1, 3}, 3);
	name(&conf, "3");
	name(&conf, "0");
	CU_ASSERT_EQUAL(cpus_pick(&cpus, &conf, &allowed, why, sizeof(why)), 0);
	CU_ASSERT_EQUAL(cpus_print_map(&cpus, &allowed, map, sizeof(map)), 0);
	CU_ASSERT_STRING_EQUAL(map, "0@(0,1,3),1@3,2@0");
	/* Exactly enough room, and one byte less. */
	size_t size = strlen(map) + 1;
	CU_ASSERT_EQUAL(cpus_print_map(&cpus, &allowed, map, size), 0);
	for (size_t less = 1; less < size; less++)
		CU_ASSERT_EQUAL(cpus_print_map(&cpus, &allowed, map, less), -ENOSPC);
}

static void test_refused(void)
{
	static const char *const lists[][2] = {
		{"1", NULL}, {"2", "2"}, {"auto", "2"}, {"1024", NULL}, {NULL, NULL}};
	static const char *const words[] = {"CPU 1", "twice", "twice", "CPU 1024", "at least one"};
	cpu_set_t allowed = set_of((const int[]){0, 2}, 2);
	for (unsigned i = 0; i < ARRAY_LEN(lists); i++) {
		struct conf conf = {0};
		struct cpus cpus;
		char why[128] = "";
		for (unsigned n = 0; n < 2 && lists[i][n] != NULL; n++)
			name(&conf, lists[i][n]);
		CU_ASSERT_EQUAL(cpus_pick(&cpus, &conf, &allowed, why, sizeof(why)), -EINVAL);
		CU_ASSERT_PTR_NOT_NULL(strstr(why, words[i]));
	}
}

static void test_allowed(void)
{
	cpu_set_t allowed;
	CU_ASSERT_EQUAL(cpus_allowed(&allowed), 0);
	CU_ASSERT_TRUE(CPU_COUNT(&allowed) > 0);
}

static const struct unit_case cases[] = {
	{"auto_is_the_last", test_auto_is_the_last},
	{"named", test_named},
	{"refused", test_refused},
	{"allowed", test_allowed},
};

UNIT_MAIN("dataplane/node/cpus", cases)
