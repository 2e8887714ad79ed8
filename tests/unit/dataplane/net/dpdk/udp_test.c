#include "dataplane/net/dpdk/udp.h"

#include "tests/unit/unit.h"

static const struct addr from = {{[10] = 0xff, 0xff, 10, 0, 0, 1}, 1000},
			 to = {{[10] = 0xff, 0xff, 10, 0, 0, 2}, 53};

static struct ip_in make(uint8_t *bytes, size_t data)
{
	struct ip_in ip = {.protocol = IP_PROTO_UDP, .payload = {bytes, UDP_HEADER + data}};
	memcpy(ip.from, from.ip, WIRE_IP_BYTES);
	memcpy(ip.to, to.ip, WIRE_IP_BYTES);
	for (size_t i = 0; i < data; i++)
		bytes[UDP_HEADER + i] = (uint8_t)(i * 7);
	udp_write(bytes, &from, &to, (struct span){bytes + UDP_HEADER, data}, false);
	return ip;
}

static void test_write_is_read(void)
{
	for (size_t data = 0; data < 5; data++) {
		uint8_t bytes[32];
		struct udp_in in;
		struct ip_in ip = make(bytes, data);
		CU_ASSERT_EQUAL(udp_parse(&in, &ip, false), 0);
		CU_ASSERT_EQUAL(in.from_port, 1000);
		CU_ASSERT_EQUAL(in.to_port, 53);
		CU_ASSERT_EQUAL(in.data.len, data);
		bytes[4] ^= 1;
		CU_ASSERT_EQUAL(udp_parse(&in, &ip, false), REASON_UDP_HEADER);
		bytes[4] ^= 1;
		bytes[7] ^= 1;
		CU_ASSERT_EQUAL(udp_parse(&in, &ip, false), REASON_CHECKSUM);
		CU_ASSERT_EQUAL(udp_parse(&in, &ip, true), 0);
	}
}

/* IPv4 may leave the checksum out, IPv6 may not. */
static void test_no_checksum(void)
{
	uint8_t bytes[32];
	struct udp_in in;
	struct ip_in ip = make(bytes, 4);
	wire_put16(bytes + 6, 0);
	CU_ASSERT_EQUAL(udp_parse(&in, &ip, false), 0);
	ip.is_v6 = true;
	CU_ASSERT_EQUAL(udp_parse(&in, &ip, true), REASON_CHECKSUM);
}

static void test_lengths(void)
{
	uint8_t bytes[32] = {0};
	struct udp_in in;
	struct ip_in ip = make(bytes, 4);
	/* padding behind the datagram is not part of it */
	ip.payload.len += 6;
	CU_ASSERT_EQUAL(udp_parse(&in, &ip, false), 0);
	CU_ASSERT_EQUAL(in.data.len, 4);
	ip.payload.len = UDP_HEADER + 3;
	CU_ASSERT_EQUAL(udp_parse(&in, &ip, false), REASON_UDP_HEADER);
	ip.payload.len = UDP_HEADER - 1;
	CU_ASSERT_EQUAL(udp_parse(&in, &ip, false), REASON_UDP_HEADER);
	ip.payload.len = UDP_HEADER + 4;
	wire_put16(bytes + 4, UDP_HEADER - 1);
	CU_ASSERT_EQUAL(udp_parse(&in, &ip, true), REASON_UDP_HEADER);
}

static const struct unit_case cases[] = {
	{"write_is_read", test_write_is_read},
	{"no_checksum", test_no_checksum},
	{"lengths", test_lengths},
};

UNIT_MAIN("dataplane/net/dpdk/udp", cases)
