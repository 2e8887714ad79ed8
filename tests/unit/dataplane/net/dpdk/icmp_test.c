#include "dataplane/net/dpdk/icmp.h"

#include "dataplane/net/dpdk/tcp_wire.h"
#include "lib/clock/clock.h"
#include "tests/unit/unit.h"

static const uint8_t peer6[WIRE_IP_BYTES] = {0xfd, [15] = 1},
		     ours6[WIRE_IP_BYTES] = {0xfd, [15] = 2};
static uint8_t peer4[WIRE_IP_BYTES] = {[10] = 0xff, 0xff, 10, 0, 0, 1};
static uint8_t ours4[WIRE_IP_BYTES] = {[10] = 0xff, 0xff, 10, 0, 0, 2};

static uint64_t pseudo(const struct ip_in *ip, size_t len)
{
	return ip->is_v6 ? tcp_wire_pseudo(ip->from, ip->to, IP_PROTO_ICMP6, (uint32_t)len) : 0;
}

static void make(struct ip_in *ip, bool is_v6, uint8_t *message, size_t len)
{
	*ip = (struct ip_in){.is_v6 = is_v6,
		.protocol = is_v6 ? IP_PROTO_ICMP6 : IP_PROTO_ICMP,
		.ttl = 64,
		.payload = {message, len},
		.packet = {message, len}};
	memcpy(ip->from, is_v6 ? peer6 : peer4, WIRE_IP_BYTES);
	memcpy(ip->to, is_v6 ? ours6 : ours4, WIRE_IP_BYTES);
	wire_put16(message + 2, 0);
	wire_put16(message + 2, tcp_wire_fold(tcp_wire_sum(pseudo(ip, len), ip->payload)));
}

static void test_echo(void)
{
	for (unsigned v6 = 0; v6 < 2; v6++) {
		uint8_t message[41] = {v6 ? 128 : 8, 0, 0, 0, 1, 2, 3, 4, 'm', 'i', 'l', 'l'};
		struct ip_in ip;
		struct icmp_in in;
		make(&ip, v6, message, sizeof(message));
		CU_ASSERT_EQUAL(icmp_parse(&in, &ip), 0);
		CU_ASSERT_EQUAL(in.kind, ICMP_ECHO);
		icmp_echo_reply(message, &ip, ip.to);
		CU_ASSERT_EQUAL(message[0], v6 ? 129 : 0);
		CU_ASSERT_EQUAL(message[8], 'm');
		CU_ASSERT_EQUAL(
			tcp_wire_fold(tcp_wire_sum(pseudo(&ip, sizeof(message)), ip.payload)), 0);
		message[9] ^= 1;
		CU_ASSERT_EQUAL(icmp_parse(&in, &ip), REASON_CHECKSUM);
		ip.payload.len = ICMP_HEADER - 1;
		CU_ASSERT_EQUAL(icmp_parse(&in, &ip), REASON_ICMP);
	}
}

/* The quoted segment tells whose path it is. */
static void test_too_big(void)
{
	uint8_t message[ICMP_HEADER + IP4_HEADER + 8] = {3, 4, 0, 0, 0, 0, 1400 >> 8, 1400 & 0xff};
	struct ip_out quoted = {
		.from = ours4, .to = peer4, .protocol = IP_PROTO_TCP, .ttl = 1, .len = 1480};
	struct ip_in ip;
	struct icmp_in in;
	ip4_write(&quoted, message + ICMP_HEADER);
	wire_put16(message + 28, 80);
	wire_put16(message + 30, 40000);
	wire_put32(message + 32, 0x01020304);
	make(&ip, false, message, sizeof(message));
	CU_ASSERT_EQUAL(icmp_parse(&in, &ip), 0);
	CU_ASSERT_EQUAL(in.kind, ICMP_TOO_BIG);
	CU_ASSERT_EQUAL(in.mtu, 1400);
	CU_ASSERT_EQUAL(in.key.local_port, 80);
	CU_ASSERT_EQUAL(in.key.remote_port, 40000);
	CU_ASSERT_EQUAL(in.seq, 0x01020304);
	CU_ASSERT_EQUAL(memcmp(in.key.local_ip, ours4, WIRE_IP_BYTES), 0);
	/* an old router says nothing of the size */
	wire_put16(message + 6, 0);
	make(&ip, false, message, sizeof(message));
	CU_ASSERT_EQUAL(icmp_parse(&in, &ip), 0);
	CU_ASSERT_EQUAL(in.mtu, 576);
	/* below what IPv4 carries at all, 68: one below and at it */
	wire_put16(message + 6, 67);
	make(&ip, false, message, sizeof(message));
	CU_ASSERT_EQUAL(icmp_parse(&in, &ip), 0);
	CU_ASSERT_EQUAL(in.kind, ICMP_OTHER);
	wire_put16(message + 6, 68);
	make(&ip, false, message, sizeof(message));
	CU_ASSERT_EQUAL(icmp_parse(&in, &ip), 0);
	CU_ASSERT_EQUAL(in.mtu, 68);
	/* a quote that ends before the sequence number is of no use */
	make(&ip, false, message, sizeof(message) - 1);
	CU_ASSERT_EQUAL(icmp_parse(&in, &ip), 0);
	CU_ASSERT_EQUAL(in.kind, ICMP_OTHER);
}

static void test_too_big_v6(void)
{
	uint8_t message[ICMP_HEADER + IP6_HEADER + 8] = {2};
	struct ip_out quoted = {
		.from = ours6, .to = peer6, .protocol = IP_PROTO_TCP, .ttl = 1, .len = 1400};
	struct ip_in ip;
	struct icmp_in in;
	ip6_write(&quoted, message + ICMP_HEADER);
	wire_put32(message + 4, 1300);
	make(&ip, true, message, sizeof(message));
	CU_ASSERT_EQUAL(icmp_parse(&in, &ip), 0);
	CU_ASSERT_EQUAL(in.kind, ICMP_TOO_BIG);
	CU_ASSERT_EQUAL(in.mtu, 1300);
	wire_put32(message + 4, 600);
	make(&ip, true, message, sizeof(message));
	CU_ASSERT_EQUAL(icmp_parse(&in, &ip), 0);
	CU_ASSERT_EQUAL(in.mtu, IP6_MTU_MIN);
}

static void test_errors_we_send(void)
{
	uint8_t out[ICMP_ERROR_MAX], packet[1500] = {0};
	struct ip_in ip = {.protocol = IP_PROTO_UDP, .packet = {packet, sizeof(packet)}};
	memcpy(ip.from, peer4, WIRE_IP_BYTES);
	memcpy(ip.to, ours4, WIRE_IP_BYTES);
	unsigned len = icmp_write_error(out, ICMP_ERROR_PORT, &ip, ours4);
	CU_ASSERT_EQUAL(len, ICMP_HEADER + ICMP_QUOTE4);
	CU_ASSERT_EQUAL(len + IP4_HEADER, 576);
	CU_ASSERT_EQUAL(out[0], 3);
	CU_ASSERT_EQUAL(out[1], 3);
	CU_ASSERT_EQUAL(tcp_wire_fold(tcp_wire_sum(0, (struct span){out, len})), 0);
	ip.is_v6 = true;
	memcpy(ip.from, peer6, WIRE_IP_BYTES);
	memcpy(ip.to, ours6, WIRE_IP_BYTES);
	CU_ASSERT_EQUAL(icmp_write_error(out, ICMP_ERROR_PORT, &ip, ours6), ICMP_ERROR_MAX);
	/* never about an error, a group or a fragment */
	ip.is_fragment = true;
	CU_ASSERT_EQUAL(icmp_write_error(out, ICMP_ERROR_PORT, &ip, ours6), 0);
	ip.is_fragment = false;
	ip.to[0] = 0xff;
	CU_ASSERT_EQUAL(icmp_write_error(out, ICMP_ERROR_PORT, &ip, ours6), 0);
	memcpy(ip.to, ours6, WIRE_IP_BYTES);
	ip.protocol = IP_PROTO_ICMP6;
	ip.payload = (struct span){packet, 8};
	CU_ASSERT_EQUAL(icmp_write_error(out, ICMP_ERROR_PROTOCOL, &ip, ours6), 0);
}

static void test_rate(void)
{
	struct icmp_rate rate = {0};
	uint64_t now_ns = 5 * NS_PER_S;
	for (unsigned i = 0; i < LIMIT_ICMP_PER_S; i++)
		CU_ASSERT_TRUE(icmp_rate_take(&rate, now_ns));
	CU_ASSERT_FALSE(icmp_rate_take(&rate, now_ns));
	now_ns += NS_PER_S / LIMIT_ICMP_PER_S;
	CU_ASSERT_TRUE(icmp_rate_take(&rate, now_ns));
	CU_ASSERT_FALSE(icmp_rate_take(&rate, now_ns));
}

static const struct unit_case cases[] = {
	{"echo", test_echo},
	{"too_big", test_too_big},
	{"too_big_v6", test_too_big_v6},
	{"errors_we_send", test_errors_we_send},
	{"rate", test_rate},
};

UNIT_MAIN("dataplane/net/dpdk/icmp", cases)
