#include "dataplane/net/dpdk/tcp_wire.h"

#include <string.h>

#include "tests/unit/unit.h"

/* A SYN from 10.0.0.1:40000 to 10.0.0.2:80 with MSS 1460; the checksum is from another implementation (RFC 1071). */
static const uint8_t syn[24] = {0x9c, 0x40, 0x00, 0x50, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
	0x00, 0x60, 0x02, 0xff, 0xff, 0xe7, 0x92, 0x00, 0x00, 0x02, 0x04, 0x05, 0xb4};
static const uint8_t ip1[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
static const uint8_t ip2[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 2};
static const uint8_t ip6[16] = {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

static void test_parse(void)
{
	struct tcp_in in = {0};
	CU_ASSERT_EQUAL(tcp_wire_parse(&in, ip1, ip2, (struct span){syn, sizeof(syn)}, false), 0);
	CU_ASSERT_EQUAL(in.key.remote_port, 40000);
	CU_ASSERT_EQUAL(in.key.local_port, 80);
	CU_ASSERT_EQUAL(in.seq, 1);
	CU_ASSERT_EQUAL(in.flags, TCP_SYN);
	CU_ASSERT_EQUAL(in.wnd, 0xffff);
	CU_ASSERT_EQUAL(in.opt.mss, 1460);
	CU_ASSERT_EQUAL(in.len, 0);
}

/* Every single wrong bit is found, and every cut is refused. */
static void test_damage(void)
{
	uint8_t bytes[sizeof(syn)];
	struct tcp_in in;
	for (unsigned bit = 0; bit < 8 * sizeof(syn); bit++) {
		memcpy(bytes, syn, sizeof(syn));
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		CU_ASSERT_NOT_EQUAL(
			tcp_wire_parse(&in, ip1, ip2, (struct span){bytes, sizeof(bytes)}, false),
			0);
	}
	for (unsigned len = 0; len < sizeof(syn); len++)
		CU_ASSERT_NOT_EQUAL(
			tcp_wire_parse(&in, ip1, ip2, (struct span){syn, len}, true), 0);
	/* a header shorter than 20 bytes, and one longer than the segment */
	memcpy(bytes, syn, sizeof(syn));
	bytes[12] = 4 << 4;
	CU_ASSERT_EQUAL(tcp_wire_parse(&in, ip1, ip2, (struct span){bytes, sizeof(bytes)}, true),
		REASON_TCP_HEADER);
	bytes[12] = 7 << 4;
	CU_ASSERT_EQUAL(tcp_wire_parse(&in, ip1, ip2, (struct span){bytes, sizeof(bytes)}, true),
		REASON_TCP_HEADER);
	CU_ASSERT_EQUAL(tcp_wire_parse(&in, ip2, ip2, (struct span){syn, sizeof(syn)}, false),
		REASON_CHECKSUM);
	CU_ASSERT_EQUAL(tcp_wire_parse(&in, ip2, ip2, (struct span){syn, sizeof(syn)}, true), 0);
	/* port 0 names nobody */
	memcpy(bytes, syn, sizeof(syn));
	bytes[2] = bytes[3] = 0;
	CU_ASSERT_EQUAL(tcp_wire_parse(&in, ip1, ip2, (struct span){bytes, sizeof(bytes)}, true),
		REASON_TCP_HEADER);
}

/* Payload in pieces of any length, odd ones too, sums as if it lay in one. */
static void test_pieces(void)
{
	uint8_t payload[301];
	uint8_t wire[512];
	for (unsigned i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 37 + 11);
	struct tcp_key key = {.local_port = 80, .remote_port = 1234};
	for (unsigned family = 0; family < 2; family++) {
		memcpy(key.local_ip, family ? ip6 : ip1, 16);
		memcpy(key.remote_ip, family ? ip6 : ip2, 16);
		for (uint32_t cut = 1; cut < 100; cut++) {
			struct tcp_seg seg = {.key = &key,
				.seq = 7,
				.ack = 9,
				.wnd = 100,
				.flags = TCP_ACK,
				.len = sizeof(payload),
				.piece_count = 3};
			seg.pieces[0] = (struct tcp_piece){payload, cut, NULL};
			seg.pieces[1] = (struct tcp_piece){payload + cut, 2 * cut + 1, NULL};
			seg.pieces[2] = (struct tcp_piece){payload + 3 * cut + 1,
				(uint32_t)sizeof(payload) - 3 * cut - 1, NULL};
			size_t len = tcp_wire_build(&seg, wire, sizeof(wire));
			CU_ASSERT_EQUAL(len, 20 + sizeof(payload));
			struct tcp_in in;
			CU_ASSERT_EQUAL(tcp_wire_parse(&in, key.local_ip, key.remote_ip,
						(struct span){wire, len}, false),
				0);
			CU_ASSERT_TRUE(
				in.len == sizeof(payload) && memcmp(in.data, payload, in.len) == 0);
			CU_ASSERT_EQUAL(tcp_wire_build(&seg, wire, len - 1), 0);
		}
	}
}

static const struct unit_case cases[] = {
	{"parse", test_parse},
	{"damage", test_damage},
	{"pieces", test_pieces},
};

UNIT_MAIN("net.dpdk.tcp_wire", cases)
