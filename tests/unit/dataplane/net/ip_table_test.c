#include "dataplane/net/ip_table.h"

#include <string.h>

#include "lib/clock/clock.h"
#include "tests/unit/unit.h"

static struct addr address(uint32_t n)
{
	struct addr a = {.port = 1};
	a.ip[10] = a.ip[11] = 0xff;
	memcpy(a.ip + 12, &n, 4);
	return a;
}

static struct ip_table *table(uint32_t capacity, uint32_t conns, uint32_t rate, uint32_t burst)
{
	struct ip_table *t;
	CU_ASSERT_EQUAL_FATAL(ip_table_init(&t, capacity), 0);
	ip_table_limit(t, &(struct ip_table_limits){conns, rate, burst});
	return t;
}

/* 256 connections of one address are welcome, the next is not, and one that leaves makes room. */
static void test_conns_at_cap_and_one_past(void)
{
	struct ip_table *t = table(64, 256, 0, 0);
	struct addr a = address(1), other = address(2);
	uint32_t entry = IP_TABLE_NONE, other_entry;
	enum reason_id why;
	for (unsigned i = 0; i < 256; i++)
		CU_ASSERT_TRUE(ip_table_enter(t, &a, 0, &entry, &why));
	uint32_t refused = IP_TABLE_NONE;
	CU_ASSERT_FALSE(ip_table_enter(t, &a, 0, &refused, &why));
	CU_ASSERT_EQUAL(why, REASON_IP_CAP);
	CU_ASSERT_EQUAL(refused, IP_TABLE_NONE);
	CU_ASSERT_TRUE(ip_table_enter(t, &other, 0, &other_entry, &why));
	ip_table_leave(t, entry, 0);
	CU_ASSERT_TRUE(ip_table_enter(t, &a, 0, &entry, &why));
	CU_ASSERT_EQUAL(ip_table_conns(t, &a), 256);
	ip_table_fini(t);
}

static void test_no_limit(void)
{
	struct ip_table *t = table(4, 0, 0, 0);
	struct addr a = address(1);
	uint32_t entry;
	enum reason_id why;
	for (unsigned i = 0; i < 1000; i++)
		CU_ASSERT_TRUE(ip_table_enter(t, &a, 0, &entry, &why));
	for (unsigned i = 0; i < 1000; i++)
		CU_ASSERT_TRUE(ip_table_allow(t, entry, 0));
	CU_ASSERT_TRUE(ip_table_allow(t, IP_TABLE_NONE, 0));
	ip_table_leave(t, IP_TABLE_NONE, 0);
	ip_table_fini(t);
}

static void test_port_is_no_part_of_the_address(void)
{
	struct ip_table *t = table(4, 1, 0, 0);
	struct addr a = address(1), b = address(1);
	b.port = 2;
	uint32_t entry;
	enum reason_id why;
	CU_ASSERT_TRUE(ip_table_enter(t, &a, 0, &entry, &why));
	CU_ASSERT_FALSE(ip_table_enter(t, &b, 0, &entry, &why));
	ip_table_fini(t);
}

/* LIMIT_IP_TABLE addresses fit, one more is refused while all have connections. */
static void test_addresses_at_capacity_and_one_past(void)
{
	struct ip_table *t = table(LIMIT_IP_TABLE, 1, 0, 0);
	uint32_t entry = IP_TABLE_NONE;
	enum reason_id why;
	unsigned welcome = 0;
	for (uint32_t i = 0; i < LIMIT_IP_TABLE; i++) {
		struct addr a = address(i);
		welcome += ip_table_enter(t, &a, 0, &entry, &why);
	}
	CU_ASSERT_EQUAL(welcome, LIMIT_IP_TABLE);
	CU_ASSERT_EQUAL(ip_table_count(t), LIMIT_IP_TABLE);
	struct addr late = address(LIMIT_IP_TABLE);
	CU_ASSERT_FALSE(ip_table_enter(t, &late, 0, &entry, &why));
	CU_ASSERT_EQUAL(why, REASON_CONN_CAP);
	ip_table_leave(t, entry, 0);
	CU_ASSERT_EQUAL(ip_table_count(t), LIMIT_IP_TABLE - 1);
	CU_ASSERT_TRUE(ip_table_enter(t, &late, 0, &entry, &why));
	ip_table_fini(t);
}

/* The bucket gives its burst at once, then one request per interval. */
static void test_bucket(void)
{
	struct ip_table *t = table(4, 0, 10, 3);
	struct addr a = address(1);
	uint64_t now_ns = 5 * NS_PER_S;
	uint32_t entry;
	enum reason_id why;
	CU_ASSERT_TRUE(ip_table_enter(t, &a, now_ns, &entry, &why));
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_TRUE(ip_table_allow(t, entry, now_ns));
	CU_ASSERT_FALSE(ip_table_allow(t, entry, now_ns));
	CU_ASSERT_FALSE(ip_table_allow(t, entry, now_ns + 100 * NS_PER_MS - 1));
	CU_ASSERT_TRUE(ip_table_allow(t, entry, now_ns + 100 * NS_PER_MS));
	CU_ASSERT_FALSE(ip_table_allow(t, entry, now_ns + 100 * NS_PER_MS));
	/* A long silence fills it to the burst and not beyond. */
	now_ns += 100 * NS_PER_S;
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_TRUE(ip_table_allow(t, entry, now_ns));
	CU_ASSERT_FALSE(ip_table_allow(t, entry, now_ns));
	ip_table_fini(t);
}

static void test_burst_of_zero_is_one_second(void)
{
	struct ip_table *t = table(4, 0, 7, 0);
	struct addr a = address(1);
	uint32_t entry;
	enum reason_id why;
	CU_ASSERT_TRUE(ip_table_enter(t, &a, 1, &entry, &why));
	for (unsigned i = 0; i < 7; i++)
		CU_ASSERT_TRUE(ip_table_allow(t, entry, 1));
	CU_ASSERT_FALSE(ip_table_allow(t, entry, 1));
	ip_table_fini(t);
}

/* Hanging up and coming back does not refill the bucket; only time does. */
static void test_bucket_outlives_the_connection(void)
{
	struct ip_table *t = table(4, 0, 1, 2);
	struct addr a = address(1), b = address(2);
	uint32_t entry;
	enum reason_id why;
	CU_ASSERT_TRUE(ip_table_enter(t, &a, 0, &entry, &why));
	CU_ASSERT_TRUE(ip_table_allow(t, entry, 0));
	CU_ASSERT_TRUE(ip_table_allow(t, entry, 0));
	ip_table_leave(t, entry, 0);
	CU_ASSERT_EQUAL(ip_table_count(t), 1);
	CU_ASSERT_TRUE(ip_table_enter(t, &a, 0, &entry, &why));
	CU_ASSERT_FALSE(ip_table_allow(t, entry, 0));
	ip_table_leave(t, entry, 0);
	/* Once it is full again, the next new address sweeps it away. */
	CU_ASSERT_TRUE(ip_table_enter(t, &b, 2 * NS_PER_S, &entry, &why));
	CU_ASSERT_EQUAL(ip_table_count(t), 1);
	ip_table_fini(t);
}

/* A table full of half-filled buckets without connections still takes new addresses: the oldest gives way. */
static void test_idle_entries_give_way(void)
{
	struct ip_table *t = table(8, 0, 1, 2);
	uint32_t entry;
	enum reason_id why;
	for (uint32_t i = 0; i < 20; i++) {
		struct addr a = address(i);
		CU_ASSERT_TRUE_FATAL(ip_table_enter(t, &a, 0, &entry, &why));
		CU_ASSERT_TRUE(ip_table_allow(t, entry, 0));
		ip_table_leave(t, entry, 0);
	}
	CU_ASSERT_EQUAL(ip_table_count(t), 8);
	ip_table_fini(t);
}

static const struct unit_case cases[] = {
	{"conns_at_cap_and_one_past", test_conns_at_cap_and_one_past},
	{"no_limit", test_no_limit},
	{"port_is_no_part_of_the_address", test_port_is_no_part_of_the_address},
	{"addresses_at_capacity_and_one_past", test_addresses_at_capacity_and_one_past},
	{"bucket", test_bucket},
	{"burst_of_zero_is_one_second", test_burst_of_zero_is_one_second},
	{"bucket_outlives_the_connection", test_bucket_outlives_the_connection},
	{"idle_entries_give_way", test_idle_entries_give_way},
};

UNIT_MAIN("dataplane/net/ip_table", cases)
