#include "dataplane/net/dpdk/ip.h"

#include "tests/unit/unit.h"

static void v4(uint8_t out[WIRE_IP_BYTES], uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
	const uint8_t ip[4] = {a, b, c, d};
	wire_map_v4(out, ip);
}

static size_t make4(uint8_t *out, uint8_t first_of_source, uint32_t payload)
{
	uint8_t from[WIRE_IP_BYTES], to[WIRE_IP_BYTES];
	v4(from, first_of_source, 0, 0, 1);
	v4(to, 10, 0, 0, 2);
	struct ip_out ip = {.from = from,
		.to = to,
		.protocol = IP_PROTO_TCP,
		.ttl = 64,
		.id = 7,
		.len = payload};
	return ip4_write(&ip, out) + payload;
}

static const uint8_t peer6[WIRE_IP_BYTES] = {0xfd, [15] = 1},
		     ours6[WIRE_IP_BYTES] = {0xfd, [15] = 2};

static size_t make6(uint8_t *out, uint8_t protocol, uint32_t payload)
{
	struct ip_out ip = {
		.from = peer6, .to = ours6, .protocol = protocol, .ttl = 64, .len = payload};
	return ip6_write(&ip, out) + payload;
}

/* A header whose sum is known from elsewhere. */
static void test_v4_checksum_is_known(void)
{
	static const uint8_t known[IP4_HEADER] = {0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xb8,
		0x61, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7};
	uint8_t bytes[IP4_HEADER], from[WIRE_IP_BYTES], to[WIRE_IP_BYTES];
	v4(from, 192, 168, 0, 1);
	v4(to, 192, 168, 0, 199);
	struct ip_out ip = {.from = from,
		.to = to,
		.protocol = IP_PROTO_UDP,
		.ttl = 64,
		.len = 0x73 - IP4_HEADER};
	ip4_write(&ip, bytes);
	CU_ASSERT_EQUAL(memcmp(bytes, known, sizeof(known)), 0);
	ip.len = 0;
	ip4_write(&ip, bytes);
	struct ip_in in;
	CU_ASSERT_EQUAL(ip4_parse(&in, (struct span){bytes, sizeof(bytes)}, false), 0);
	bytes[10] ^= 1;
	CU_ASSERT_EQUAL(
		ip4_parse(&in, (struct span){bytes, sizeof(bytes)}, false), REASON_CHECKSUM);
	CU_ASSERT_EQUAL(ip4_parse(&in, (struct span){bytes, sizeof(bytes)}, true), 0);
}

static void test_v4_lengths(void)
{
	uint8_t bytes[64] = {0};
	struct ip_in in;
	size_t len = make4(bytes, 10, 11);
	CU_ASSERT_EQUAL(ip4_parse(&in, (struct span){bytes, len}, false), 0);
	CU_ASSERT_EQUAL(in.payload.len, 11);
	CU_ASSERT_EQUAL(in.protocol, IP_PROTO_TCP);
	CU_ASSERT_TRUE(wire_is_v4(in.from));
	/* Ethernet's padding is not payload. */
	CU_ASSERT_EQUAL(ip4_parse(&in, (struct span){bytes, sizeof(bytes)}, false), 0);
	CU_ASSERT_EQUAL(in.payload.len, 11);
	for (size_t cut = 0; cut < len; cut++)
		CU_ASSERT_EQUAL(ip4_parse(&in, (struct span){bytes, cut}, false), REASON_IP_HEADER);
	bytes[0] = 0x44;
	CU_ASSERT_EQUAL(ip4_parse(&in, (struct span){bytes, len}, true), REASON_IP_HEADER);
	bytes[0] = 0x65;
	CU_ASSERT_EQUAL(ip4_parse(&in, (struct span){bytes, len}, true), REASON_IP_HEADER);
}

static void test_v4_martians_and_fragments(void)
{
	static const uint8_t bad[] = {0, 127, 224, 255};
	uint8_t bytes[64];
	struct ip_in in;
	for (unsigned i = 0; i < ARRAY_LEN(bad); i++) {
		size_t len = make4(bytes, bad[i], 0);
		CU_ASSERT_EQUAL(ip4_parse(&in, (struct span){bytes, len}, false), REASON_MARTIAN);
	}
	size_t len = make4(bytes, 223, 0);
	CU_ASSERT_EQUAL(ip4_parse(&in, (struct span){bytes, len}, false), 0);
	CU_ASSERT_FALSE(in.is_fragment);
	wire_put16(bytes + 6, 0x2000);
	CU_ASSERT_EQUAL(ip4_parse(&in, (struct span){bytes, len}, true), 0);
	CU_ASSERT_TRUE(in.is_fragment);
	wire_put16(bytes + 6, 0x0001);
	CU_ASSERT_EQUAL(ip4_parse(&in, (struct span){bytes, len}, true), 0);
	CU_ASSERT_TRUE(in.is_fragment);
}

static void test_v6_lengths(void)
{
	uint8_t bytes[80] = {0};
	struct ip_in in;
	size_t len = make6(bytes, IP_PROTO_TCP, 20);
	CU_ASSERT_EQUAL(ip6_parse(&in, (struct span){bytes, sizeof(bytes)}), 0);
	CU_ASSERT_EQUAL(in.payload.len, 20);
	CU_ASSERT_EQUAL(in.protocol, IP_PROTO_TCP);
	for (size_t cut = 0; cut < len; cut++)
		CU_ASSERT_EQUAL(ip6_parse(&in, (struct span){bytes, cut}), REASON_IP_HEADER);
}

/* Each extension header is walked over; one that is cut, or a ninth, is not. */
static void test_v6_extensions(void)
{
	uint8_t bytes[256] = {0};
	struct ip_in in;
	size_t len = make6(bytes, IP_PROTO_HOP_BY_HOP, 8 + 16 + 20);
	bytes[40] = IP_PROTO_OPTIONS;
	bytes[48] = IP_PROTO_UDP;
	bytes[49] = 1;
	CU_ASSERT_EQUAL(ip6_parse(&in, (struct span){bytes, len}), 0);
	CU_ASSERT_EQUAL(in.protocol, IP_PROTO_UDP);
	CU_ASSERT_EQUAL(in.payload.len, 20);
	bytes[49] = 200;
	CU_ASSERT_EQUAL(ip6_parse(&in, (struct span){bytes, len}), REASON_IP_HEADER);

	for (unsigned count = 7; count <= 8; count++) {
		len = make6(bytes, IP_PROTO_OPTIONS, count * 8);
		for (unsigned i = 0; i < count; i++) {
			memset(bytes + 40 + i * 8, 0, 8);
			bytes[40 + i * 8] = i + 1 == count ? IP_PROTO_TCP : IP_PROTO_OPTIONS;
		}
		CU_ASSERT_EQUAL(ip6_parse(&in, (struct span){bytes, len}),
			count == 7 ? 0 : REASON_IP_HEADER);
	}

	/* Hop-by-hop options stand first or nowhere: elsewhere they are a protocol nobody speaks. */
	len = make6(bytes, IP_PROTO_OPTIONS, 24);
	memset(bytes + 40, 0, 24);
	bytes[40] = IP_PROTO_HOP_BY_HOP;
	CU_ASSERT_EQUAL(ip6_parse(&in, (struct span){bytes, len}), 0);
	CU_ASSERT_EQUAL(in.protocol, IP_PROTO_HOP_BY_HOP);
}

static void test_v6_detours_and_fragments(void)
{
	uint8_t bytes[128] = {0};
	struct ip_in in;
	size_t len = make6(bytes, IP_PROTO_ROUTING, 16);
	bytes[40] = IP_PROTO_TCP;
	CU_ASSERT_EQUAL(ip6_parse(&in, (struct span){bytes, len}), 0);
	bytes[43] = 1;
	CU_ASSERT_EQUAL(ip6_parse(&in, (struct span){bytes, len}), REASON_IP_HEADER);
	len = make6(bytes, IP_PROTO_FRAGMENT, 16);
	memset(bytes + 40, 0, 16);
	bytes[40] = IP_PROTO_UDP;
	CU_ASSERT_EQUAL(ip6_parse(&in, (struct span){bytes, len}), 0);
	CU_ASSERT_TRUE(in.is_fragment);
	CU_ASSERT_EQUAL(in.fragment_at, 40);
	/* A mapped source would pass for an IPv4 neighbour. */
	uint8_t mapped[WIRE_IP_BYTES];
	v4(mapped, 10, 0, 0, 9);
	memcpy(bytes + 8, mapped, WIRE_IP_BYTES);
	CU_ASSERT_EQUAL(ip6_parse(&in, (struct span){bytes, len}), REASON_MARTIAN);
}

/* What is written as a fragment is read as one: its place, whether more follow, whose it is. */
static void test_fragments_are_written(void)
{
	uint8_t bytes[IP_HEADER_MAX + 16] = {0}, from[WIRE_IP_BYTES], to[WIRE_IP_BYTES];
	struct ip_in in;
	v4(from, 10, 0, 0, 1);
	v4(to, 10, 0, 0, 2);
	struct ip_out ip = {.from = from,
		.to = to,
		.protocol = IP_PROTO_ICMP,
		.ttl = 64,
		.id = 0x1234,
		.len = 16};
	ip.is_fragment = ip.has_more = true;
	CU_ASSERT_EQUAL(ip_write(&ip, bytes), IP4_HEADER);
	CU_ASSERT_EQUAL(wire_get16(bytes + 6), 0x2000);
	CU_ASSERT_EQUAL(ip4_parse(&in, (struct span){bytes, IP4_HEADER + 16}, false), 0);
	CU_ASSERT_TRUE(in.is_fragment);
	ip.fragment_at = 65528;
	ip.has_more = false;
	ip_write(&ip, bytes);
	CU_ASSERT_EQUAL(wire_get16(bytes + 6), 0x1fff);
	ip.from = peer6;
	ip.to = ours6;
	ip.protocol = IP_PROTO_ICMP6;
	CU_ASSERT_EQUAL(ip_write(&ip, bytes), IP6_HEADER + IP6_FRAGMENT);
	CU_ASSERT_EQUAL(wire_get16(bytes + 4), IP6_FRAGMENT + 16);
	CU_ASSERT_EQUAL(wire_get16(bytes + 42), 65528);
	CU_ASSERT_EQUAL(wire_get32(bytes + 44), 0x1234);
	ip.has_more = true;
	ip_write(&ip, bytes);
	CU_ASSERT_EQUAL(wire_get16(bytes + 42), 65529);
	CU_ASSERT_EQUAL(ip6_parse(&in, (struct span){bytes, IP_HEADER_MAX + 16}), 0);
	CU_ASSERT_TRUE(in.is_fragment);
	CU_ASSERT_EQUAL(in.fragment_at, IP6_HEADER);
	CU_ASSERT_EQUAL(in.protocol, IP_PROTO_ICMP6);
}

static const struct unit_case cases[] = {
	{"v4_checksum_is_known", test_v4_checksum_is_known},
	{"v4_lengths", test_v4_lengths},
	{"v4_martians_and_fragments", test_v4_martians_and_fragments},
	{"v6_lengths", test_v6_lengths},
	{"v6_extensions", test_v6_extensions},
	{"v6_detours_and_fragments", test_v6_detours_and_fragments},
	{"fragments_are_written", test_fragments_are_written},
};

UNIT_MAIN("dataplane/net/dpdk/ip", cases)
