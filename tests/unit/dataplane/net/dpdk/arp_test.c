#include "dataplane/net/dpdk/arp.h"

#include "dataplane/net/dpdk/eth.h"
#include "tests/unit/unit.h"

static const uint8_t our_mac[WIRE_MAC_BYTES] = {2, 0, 0, 0, 0, 1},
		     peer_mac[WIRE_MAC_BYTES] = {2, 0, 0, 0, 0, 2};

static void ip(uint8_t out[WIRE_IP_BYTES], uint8_t last)
{
	const uint8_t v4[4] = {10, 0, 0, last};
	wire_map_v4(out, v4);
}

static struct arp_packet make(uint16_t operation, uint8_t from, uint8_t to)
{
	struct arp_packet p = {.operation = operation};
	memcpy(p.from_mac, peer_mac, WIRE_MAC_BYTES);
	ip(p.from_ip, from);
	ip(p.to_ip, to);
	return p;
}

static void test_write_is_read(void)
{
	uint8_t bytes[ARP_BYTES + 1] = {0};
	struct arp_packet p = make(ARP_REQUEST, 1, 2), back;
	arp_write(&p, bytes);
	CU_ASSERT_TRUE(arp_parse(&back, (struct span){bytes, sizeof(bytes)}));
	CU_ASSERT_EQUAL(memcmp(&p, &back, sizeof(p)), 0);
	for (size_t len = 0; len < ARP_BYTES; len++)
		CU_ASSERT_FALSE(arp_parse(&back, (struct span){bytes, len}));
}

static void test_refuses_what_is_not_ours_to_read(void)
{
	static const struct {
		unsigned at;
		uint8_t value;
	} wrongs[] = {{1, 6}, {2, 0x86}, {4, 8}, {5, 16}, {7, 3}, {7, 0}, {8, 3}};
	struct arp_packet back;
	for (unsigned i = 0; i < ARRAY_LEN(wrongs); i++) {
		uint8_t bytes[ARP_BYTES];
		struct arp_packet p = make(ARP_REPLY, 1, 2);
		arp_write(&p, bytes);
		bytes[wrongs[i].at] = wrongs[i].value;
		CU_ASSERT_FALSE(arp_parse(&back, (struct span){bytes, sizeof(bytes)}));
	}
}

static void test_judge(void)
{
	static const struct {
		uint16_t operation;
		uint8_t from;
		bool owns_target, owns_sender, is_us;
		unsigned deeds;
	} rows[] = {
		{ARP_REQUEST, 1, true, false, false, ARP_DEED_ANSWER | ARP_DEED_LEARN},
		{ARP_REQUEST, 1, false, false, false, ARP_DEED_REFRESH},
		{ARP_REPLY, 1, true, false, false, ARP_DEED_LEARN},
		{ARP_REPLY, 1, false, false, false, ARP_DEED_REFRESH},
		/* somebody else has our address (RFC 5227) */
		{ARP_REQUEST, 2, false, true, false, ARP_DEED_CONFLICT},
		{ARP_REPLY, 2, true, true, false, ARP_DEED_CONFLICT},
		/* our own, come back around a loop */
		{ARP_REQUEST, 2, true, true, true, 0},
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct arp_packet p = make(rows[i].operation, rows[i].from, 2);
		if (rows[i].is_us)
			memcpy(p.from_mac, our_mac, WIRE_MAC_BYTES);
		CU_ASSERT_EQUAL(arp_judge(&p, our_mac, rows[i].owns_target, rows[i].owns_sender),
			rows[i].deeds);
	}
}

/* A probe asks from no address: it is answered, and teaches nothing. */
static void test_probe(void)
{
	struct arp_packet p = make(ARP_REQUEST, 1, 2);
	memset(p.from_ip + 12, 0, 4);
	CU_ASSERT_EQUAL(arp_judge(&p, our_mac, true, false), ARP_DEED_ANSWER);
	CU_ASSERT_EQUAL(arp_judge(&p, our_mac, false, false), 0);
}

static void test_announce(void)
{
	struct arp_packet p;
	uint8_t ours[WIRE_IP_BYTES];
	ip(ours, 2);
	arp_announce(&p, our_mac, ours);
	CU_ASSERT_EQUAL(p.operation, ARP_REQUEST);
	CU_ASSERT_EQUAL(memcmp(p.from_ip, ours, WIRE_IP_BYTES), 0);
	CU_ASSERT_EQUAL(memcmp(p.to_ip, ours, WIRE_IP_BYTES), 0);
	CU_ASSERT_EQUAL(arp_judge(&p, peer_mac, false, false), ARP_DEED_REFRESH);
}

static const struct unit_case cases[] = {
	{"write_is_read", test_write_is_read},
	{"refuses_what_is_not_ours_to_read", test_refuses_what_is_not_ours_to_read},
	{"judge", test_judge},
	{"probe", test_probe},
	{"announce", test_announce},
};

UNIT_MAIN("dataplane/net/dpdk/arp", cases)
