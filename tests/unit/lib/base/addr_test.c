#include "lib/base/addr.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/unit.h"

static void addresses_parse_and_print(void)
{
	static const struct {
		const char *text;
		const char *printed; /* NULL: refused */
		const char *ip;
	} cases[] = {
		{"127.0.0.1:8080", "127.0.0.1:8080", "127.0.0.1"},
		{"0.0.0.0:0", "0.0.0.0:0", "0.0.0.0"},
		{"255.255.255.255:65535", "255.255.255.255:65535", "255.255.255.255"},
		{"[::1]:8080", "[::1]:8080", "::1"},
		{"[2001:DB8::1]:1", "[2001:db8::1]:1", "2001:db8::1"},
		{"[::ffff:10.0.0.1]:80", "10.0.0.1:80", "10.0.0.1"},
		{"[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535",
			"[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535",
			"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"127.0.0.1:65536", NULL, NULL},
		{"127.0.0.1:99999999999999999999", NULL, NULL},
		{"127.0.0.1:", NULL, NULL},
		{"127.0.0.1", NULL, NULL},
		{"127.0.0.1:+80", NULL, NULL},
		{"127.0.0.1: 80", NULL, NULL},
		{"127.0.0.1:80 ", NULL, NULL},
		{"127.0.0.1:0x50", NULL, NULL},
		{"127.0.0:80", NULL, NULL},
		{"256.0.0.1:80", NULL, NULL},
		{"localhost:80", NULL, NULL},
		{":80", NULL, NULL},
		{"::1:80", NULL, NULL},
		{"[::1]", NULL, NULL},
		{"[::1]80", NULL, NULL},
		{"[::1:80", NULL, NULL},
		{"[127.0.0.1]:80", NULL, NULL},
		{"[]:80", NULL, NULL},
		{"", NULL, NULL},
		{"[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:1", NULL, NULL},
	};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct addr a;
		char text[ADDR_TEXT];
		int failed = addr_parse(&a, cases[i].text);
		CU_ASSERT_EQUAL(failed, cases[i].printed != NULL ? 0 : -EINVAL);
		if (failed || cases[i].printed == NULL)
			continue;
		addr_print(&a, text);
		CU_ASSERT_STRING_EQUAL(text, cases[i].printed);
		addr_print_ip(&a, text);
		CU_ASSERT_STRING_EQUAL(text, cases[i].ip);
		CU_ASSERT_EQUAL(addr_is_v4(&a), strchr(cases[i].ip, ':') == NULL);
	}
}

static void networks_parse(void)
{
	static const struct {
		const char *text;
		int prefix; /* -1: refused */
	} cases[] = {
		{"10.0.0.0/8", 104},
		{"0.0.0.0/0", 96},
		{"10.1.2.3", 128},
		{"10.1.2.3/32", 128},
		{"10.1.2.3/33", -1},
		{"10.1.2.2/31", 127},
		{"10.1.2.3/31", -1},
		{"10.0.0.1/8", -1},
		{"::/0", 0},
		{"::1/128", 128},
		{"::1/129", -1},
		{"::1", 128},
		{"2001:db8::/32", 32},
		{"2001:db8:8000::/33", 33},
		{"2001:db8:8000::/32", -1},
		{"10.0.0.0/", -1},
		{"10.0.0.0/-1", -1},
		{"10.0.0.0/8/8", -1},
		{"/8", -1},
		{"", -1},
		{"10.0.0/8", -1},
	};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct cidr net;
		int failed = cidr_parse(&net, cases[i].text);
		CU_ASSERT_EQUAL(failed, cases[i].prefix >= 0 ? 0 : -EINVAL);
		if (!failed)
			CU_ASSERT_EQUAL(net.prefix, cases[i].prefix);
	}
}

static void networks_contain(void)
{
	static const struct {
		const char *net;
		const char *addr;
		bool contains;
	} cases[] = {
		{"127.0.0.0/8", "127.255.255.255:1", true},
		{"127.0.0.0/8", "128.0.0.0:1", false},
		{"127.0.0.0/8", "126.255.255.255:1", false},
		{"10.0.0.128/25", "10.0.0.128:1", true},
		{"10.0.0.128/25", "10.0.0.127:1", false},
		{"10.1.2.3", "10.1.2.3:9", true},
		{"10.1.2.3", "10.1.2.4:9", false},
		{"0.0.0.0/0", "1.2.3.4:1", true},
		{"0.0.0.0/0", "[::1]:1", false},
		{"::1/128", "[::1]:1", true},
		{"::1/128", "127.0.0.1:1", false},
		{"2001:db8::/33", "[2001:db8:7fff::1]:1", true},
		{"2001:db8::/33", "[2001:db8:8000::1]:1", false},
		{"::/0", "[fe80::1]:1", true},
		{"::/0", "1.2.3.4:1", true},
	};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct cidr net;
		struct addr a;
		CU_ASSERT_FATAL(cidr_parse(&net, cases[i].net) == 0);
		CU_ASSERT_FATAL(addr_parse(&a, cases[i].addr) == 0);
		CU_ASSERT_EQUAL(cidr_contains(&net, &a), cases[i].contains);
	}
}

static const struct unit_case cases[] = {
	{"addresses parse and print", addresses_parse_and_print},
	{"networks parse", networks_parse},
	{"networks contain", networks_contain},
};

UNIT_MAIN("base.addr", cases)
