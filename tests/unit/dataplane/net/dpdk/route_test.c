#include "dataplane/net/dpdk/route.h"

#include <errno.h>

#include "lib/conf/conf_route.h"
#include "tests/unit/unit.h"

static const uint8_t mac[WIRE_MAC_BYTES] = {2, 0, 0, 0, 0, 1};

static void add(struct route_table *t, const char *text)
{
	struct conf_route_addr a;
	CU_ASSERT_EQUAL_FATAL(conf_route_parse_addr(&a, text), 0);
	uint8_t iface = route_iface(t, a.port, a.vlan, mac);
	CU_ASSERT_NOT_EQUAL_FATAL(iface, ROUTE_NONE);
	CU_ASSERT_EQUAL(route_add_addr(t, iface, a.ip, a.prefix), 0);
}

static int via(struct route_table *t, const char *text)
{
	struct conf_route r;
	CU_ASSERT_EQUAL_FATAL(conf_route_parse(&r, text), 0);
	return route_add(t, &r.to, r.via);
}

static const uint8_t *ip(const char *text)
{
	static uint8_t kept[8][WIRE_IP_BYTES];
	static unsigned turn;
	struct cidr c;
	CU_ASSERT_EQUAL_FATAL(cidr_parse(&c, text), 0);
	memcpy(kept[turn % 8], c.ip, WIRE_IP_BYTES);
	return kept[turn++ % 8];
}

static void make(struct route_table *t)
{
	*t = (struct route_table){.iface_count = 0};
	add(t, "10.0.0.2/24");
	add(t, "10.0.0.3/24");
	add(t, "10.1.0.2/16@1");
	add(t, "10.2.0.2/24@0.100");
	add(t, "fd00::2/64");
	add(t, "fe80::2/64");
	CU_ASSERT_EQUAL(via(t, "0.0.0.0/0 via 10.0.0.1"), 0);
	CU_ASSERT_EQUAL(via(t, "10.9.0.0/16 via 10.1.0.1"), 0);
	CU_ASSERT_EQUAL(via(t, "::/0 via fd00::1"), 0);
}

static void test_longest_match(void)
{
	static const struct {
		const char *to, *next, *from;
		uint8_t iface;
	} rows[] = {
		{"10.0.0.77", "10.0.0.77", "10.0.0.2", 0},
		{"10.1.200.1", "10.1.200.1", "10.1.0.2", 1},
		{"10.2.0.9", "10.2.0.9", "10.2.0.2", 2},
		{"10.9.1.1", "10.1.0.1", "10.1.0.2", 1},
		{"192.0.2.1", "10.0.0.1", "10.0.0.2", 0},
		{"fd00::9", "fd00::9", "fd00::2", 0},
		{"2001:db8::1", "fd00::1", "fd00::2", 0},
	};
	struct route_table t;
	make(&t);
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct route_hop hop;
		CU_ASSERT_TRUE_FATAL(route_find(&t, NULL, ip(rows[i].to), &hop));
		CU_ASSERT_EQUAL(memcmp(hop.ip, ip(rows[i].next), WIRE_IP_BYTES), 0);
		CU_ASSERT_EQUAL(memcmp(hop.from->ip, ip(rows[i].from), WIRE_IP_BYTES), 0);
		CU_ASSERT_EQUAL(hop.iface, rows[i].iface);
	}
}

/* A link-local address is on the link of whoever asks from there. */
static void test_link_local(void)
{
	struct route_table t;
	struct route_hop hop;
	make(&t);
	CU_ASSERT_FALSE(route_find(&t, NULL, ip("fe80::77"), &hop));
	CU_ASSERT_TRUE(route_find(&t, ip("fe80::2"), ip("fe80::77"), &hop));
	CU_ASSERT_EQUAL(hop.iface, 0);
}

static void test_no_way(void)
{
	struct route_table t = {.iface_count = 0};
	struct route_hop hop;
	CU_ASSERT_FALSE(route_find(&t, NULL, ip("10.0.0.1"), &hop));
	add(&t, "10.0.0.2/24");
	CU_ASSERT_FALSE(route_find(&t, NULL, ip("10.0.1.1"), &hop));
	CU_ASSERT_FALSE(route_find(&t, NULL, ip("fd00::1"), &hop));
	CU_ASSERT_EQUAL(via(&t, "0.0.0.0/0 via 10.0.1.1"), -ENETUNREACH);
}

static void test_local_and_broadcast(void)
{
	struct route_table t;
	make(&t);
	CU_ASSERT_PTR_NOT_NULL(route_local(&t, ROUTE_NONE, ip("10.0.0.3")));
	CU_ASSERT_PTR_NOT_NULL(route_local(&t, 0, ip("10.0.0.3")));
	CU_ASSERT_PTR_NULL(route_local(&t, 1, ip("10.0.0.3")));
	CU_ASSERT_PTR_NULL(route_local(&t, ROUTE_NONE, ip("10.0.0.4")));
	CU_ASSERT_TRUE(route_is_broadcast(&t, 0, ip("10.0.0.255")));
	CU_ASSERT_TRUE(route_is_broadcast(&t, 1, ip("10.1.255.255")));
	CU_ASSERT_FALSE(route_is_broadcast(&t, 0, ip("10.1.255.255")));
	CU_ASSERT_FALSE(route_is_broadcast(&t, 0, ip("10.0.0.254")));
	CU_ASSERT_TRUE(route_is_broadcast(&t, 0, ip("255.255.255.255")));
	CU_ASSERT_EQUAL(route_find_iface(&t, 0, 100), 2);
	CU_ASSERT_EQUAL(route_find_iface(&t, 0, 101), ROUTE_NONE);
}

static void test_limits(void)
{
	struct route_table t = {.iface_count = 0};
	uint8_t a[WIRE_IP_BYTES] = {[10] = 0xff, 0xff, 10, 0, 0, 0};
	uint8_t iface = route_iface(&t, 0, 0, mac);
	for (unsigned i = 0; i < LIMIT_NET_ADDRESSES; i++) {
		a[15] = (uint8_t)(i + 1);
		CU_ASSERT_EQUAL(route_add_addr(&t, iface, a, 120), 0);
	}
	CU_ASSERT_EQUAL(route_add_addr(&t, iface, a, 120), -EEXIST);
	a[15] = 200;
	CU_ASSERT_EQUAL(route_add_addr(&t, iface, a, 120), -ENOSPC);
	for (unsigned i = 0; i < LIMIT_NET_ROUTES; i++)
		CU_ASSERT_EQUAL(via(&t, "0.0.0.0/0 via 10.0.0.250"), 0);
	CU_ASSERT_EQUAL(via(&t, "0.0.0.0/0 via 10.0.0.250"), -ENOSPC);
	for (unsigned i = 1; i < LIMIT_NET_IFACES; i++)
		CU_ASSERT_EQUAL(route_iface(&t, 0, (uint16_t)i, mac), i);
	CU_ASSERT_EQUAL(route_iface(&t, 0, 3, mac), 3);
	CU_ASSERT_EQUAL(route_iface(&t, 0, 4000, mac), ROUTE_NONE);
}

static const struct unit_case cases[] = {
	{"longest_match", test_longest_match},
	{"link_local", test_link_local},
	{"no_way", test_no_way},
	{"local_and_broadcast", test_local_and_broadcast},
	{"limits", test_limits},
};

UNIT_MAIN("dataplane/net/dpdk/route", cases)
