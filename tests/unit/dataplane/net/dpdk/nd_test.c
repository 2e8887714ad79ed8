#include "dataplane/net/dpdk/nd.h"

#include "dataplane/net/dpdk/tcp_wire.h"
#include "tests/unit/unit.h"

static const uint8_t our_mac[WIRE_MAC_BYTES] = {2, 0, 0, 0, 0, 1},
		     peer_mac[WIRE_MAC_BYTES] = {2, 0, 0, 0, 0, 2};
static const uint8_t peer[WIRE_IP_BYTES] = {0xfe, 0x80, [15] = 9},
		     ours[WIRE_IP_BYTES] = {0xfd, [13] = 1, 2, 3};
static const uint8_t nobody[WIRE_IP_BYTES];

struct message {
	uint8_t bytes[64];
	struct ip_in ip;
};

static void make(
	struct message *m, const struct nd_packet *p, const uint8_t *from, const uint8_t *to)
{
	unsigned len = nd_write(p, from, to, m->bytes);
	m->ip = (struct ip_in){.protocol = IP_PROTO_ICMP6,
		.ttl = ND_HOPS,
		.is_v6 = true,
		.payload = {m->bytes, len}};
	memcpy(m->ip.from, from, WIRE_IP_BYTES);
	memcpy(m->ip.to, to, WIRE_IP_BYTES);
}

static struct nd_packet solicit(bool has_mac)
{
	struct nd_packet p = {.type = ND_SOLICIT, .has_mac = has_mac};
	memcpy(p.target, ours, WIRE_IP_BYTES);
	memcpy(p.mac, peer_mac, WIRE_MAC_BYTES);
	return p;
}

static void test_write_is_read(void)
{
	struct message m;
	struct nd_packet p = solicit(true), back;
	make(&m, &p, peer, ours);
	CU_ASSERT_TRUE(nd_parse(&back, &m.ip));
	CU_ASSERT_EQUAL(back.type, ND_SOLICIT);
	CU_ASSERT_TRUE(back.has_mac);
	CU_ASSERT_EQUAL(memcmp(back.mac, peer_mac, WIRE_MAC_BYTES), 0);
	CU_ASSERT_EQUAL(memcmp(back.target, ours, WIRE_IP_BYTES), 0);
	uint64_t sum = tcp_wire_pseudo(peer, ours, IP_PROTO_ICMP6, (uint32_t)m.ip.payload.len);
	CU_ASSERT_EQUAL(tcp_wire_fold(tcp_wire_sum(sum, m.ip.payload)), 0);
}

/* RFC 4861 7.1: what came through a router is not of this link, and every option has a length. */
static void test_validation(void)
{
	struct message m;
	struct nd_packet p = solicit(true), back;
	make(&m, &p, peer, ours);
	m.ip.ttl = ND_HOPS - 1;
	CU_ASSERT_FALSE(nd_parse(&back, &m.ip));
	m.ip.ttl = ND_HOPS;
	m.bytes[1] = 1;
	CU_ASSERT_FALSE(nd_parse(&back, &m.ip));
	m.bytes[1] = 0;
	m.bytes[25] = 0;
	CU_ASSERT_FALSE(nd_parse(&back, &m.ip));
	m.bytes[25] = 2;
	CU_ASSERT_FALSE(nd_parse(&back, &m.ip));
	m.bytes[25] = 1;
	CU_ASSERT_TRUE(nd_parse(&back, &m.ip));
	for (size_t len = 0; len < ND_BYTES; len++) {
		m.ip.payload.len = len;
		CU_ASSERT_EQUAL(nd_parse(&back, &m.ip), len == 24);
	}
}

/* Duplicate address detection asks from nowhere, to a group, and does not tell its link address. */
static void test_dad(void)
{
	struct message m;
	uint8_t group[WIRE_IP_BYTES];
	struct nd_packet p = solicit(false), back;
	nd_group(group, ours);
	make(&m, &p, nobody, group);
	CU_ASSERT_TRUE(nd_parse(&back, &m.ip));
	CU_ASSERT_EQUAL(nd_judge(&back, our_mac, true), ND_DEED_ANSWER);
	make(&m, &p, nobody, ours);
	CU_ASSERT_FALSE(nd_parse(&back, &m.ip));
	p.has_mac = true;
	make(&m, &p, nobody, group);
	CU_ASSERT_FALSE(nd_parse(&back, &m.ip));
}

static void test_judge(void)
{
	struct nd_packet p = solicit(true);
	CU_ASSERT_EQUAL(nd_judge(&p, our_mac, true), ND_DEED_ANSWER | ND_DEED_LEARN);
	CU_ASSERT_EQUAL(nd_judge(&p, our_mac, false), 0);
	p.type = ND_ADVERTISE;
	CU_ASSERT_EQUAL(nd_judge(&p, our_mac, false), ND_DEED_REFRESH);
	CU_ASSERT_EQUAL(nd_judge(&p, our_mac, true), ND_DEED_CONFLICT);
	memcpy(p.mac, our_mac, WIRE_MAC_BYTES);
	CU_ASSERT_EQUAL(nd_judge(&p, our_mac, true), 0);
}

static void test_groups(void)
{
	static const uint8_t group[WIRE_IP_BYTES] = {0xff, 2, [11] = 1, 0xff, 1, 2, 3};
	static const uint8_t group_mac[WIRE_MAC_BYTES] = {0x33, 0x33, 0xff, 1, 2, 3};
	static const uint8_t local[WIRE_IP_BYTES] = {0xfe, 0x80, [11] = 0xff, 0xfe, 0, 0, 1};
	uint8_t ip[WIRE_IP_BYTES], mac[WIRE_MAC_BYTES];
	nd_group(ip, ours);
	CU_ASSERT_EQUAL(memcmp(ip, group, sizeof(ip)), 0);
	nd_group_mac(mac, ip);
	CU_ASSERT_EQUAL(memcmp(mac, group_mac, sizeof(mac)), 0);
	nd_link_local(ip, our_mac);
	CU_ASSERT_EQUAL(memcmp(ip, local, sizeof(ip)), 0);
	CU_ASSERT_TRUE(ip_is_link_local(ip));
}

static const struct unit_case cases[] = {
	{"write_is_read", test_write_is_read},
	{"validation", test_validation},
	{"dad", test_dad},
	{"judge", test_judge},
	{"groups", test_groups},
};

UNIT_MAIN("dataplane/net/dpdk/nd", cases)
