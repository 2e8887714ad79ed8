#include "lib/conf/conf_route.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/unit.h"

static void test_addresses(void)
{
	struct conf_route_addr a;
	CU_ASSERT_EQUAL(conf_route_parse_addr(&a, "10.0.0.2/24"), 0);
	CU_ASSERT_EQUAL(a.ip[15], 2);
	CU_ASSERT_EQUAL(a.prefix, 120);
	CU_ASSERT_EQUAL(a.port, 0);
	CU_ASSERT_EQUAL(a.vlan, 0);
	CU_ASSERT_EQUAL(conf_route_parse_addr(&a, "fd00::2/64@3.4094"), 0);
	CU_ASSERT_EQUAL(a.prefix, 64);
	CU_ASSERT_EQUAL(a.port, 3);
	CU_ASSERT_EQUAL(a.vlan, 4094);
	CU_ASSERT_EQUAL(conf_route_parse_addr(&a, "10.0.0.2/32@15"), 0);
}

static void test_wrong_addresses(void)
{
	static const char *const wrongs[] = {"", "10.0.0.2", "/24", "10.0.0.2/", "10.0.0.2/0",
		"10.0.0.2/33", "fd00::2/129", "10.0.0.2/24@", "10.0.0.2/24@16", "10.0.0.2/24@0.",
		"10.0.0.2/24@0.0", "10.0.0.2/24@0.4095", "10.0.0.2/24 ", "10.0.0.2/+24",
		"10.0.0/24", "0.0.0.0/8", "127.0.0.1/8", "224.0.0.1/24", "255.255.255.255/32",
		"::/64", "::1/128", "ff02::1/64", "10.0.0.2/24@0.100x", "host/24",
		"1111111111111111111111111111111111111111111111111111111111111111111111111111111111"
		"111/24"};
	struct conf_route_addr a;
	for (unsigned i = 0; i < ARRAY_LEN(wrongs); i++)
		CU_ASSERT_EQUAL(conf_route_parse_addr(&a, wrongs[i]), -EINVAL);
}

static void test_routes(void)
{
	static const char *const wrongs[] = {"", "0.0.0.0/0", "0.0.0.0/0 via", "0.0.0.0/0 via ",
		"via 10.0.0.1", "10.0.0.1/8 via 10.0.0.1", "0.0.0.0/0 via fd00::1",
		"::/0 via 10.0.0.1", "0.0.0.0/0 via 127.0.0.1", "0.0.0.0/0  via 10.0.0.1",
		"0.0.0.0/0 via 10.0.0.1 "};
	struct conf_route r;
	CU_ASSERT_EQUAL(conf_route_parse(&r, "0.0.0.0/0 via 10.0.0.1"), 0);
	CU_ASSERT_EQUAL(r.to.prefix, 96);
	CU_ASSERT_EQUAL(r.via[15], 1);
	CU_ASSERT_EQUAL(conf_route_parse(&r, "fd01::/32 via fd00::1"), 0);
	CU_ASSERT_EQUAL(r.to.prefix, 32);
	for (unsigned i = 0; i < ARRAY_LEN(wrongs); i++)
		CU_ASSERT_EQUAL(conf_route_parse(&r, wrongs[i]), -EINVAL);
}

static const struct unit_case cases[] = {
	{"addresses", test_addresses},
	{"wrong_addresses", test_wrong_addresses},
	{"routes", test_routes},
};

UNIT_MAIN("lib/conf/conf_route", cases)
