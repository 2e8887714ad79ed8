#include "dataplane/net/dpdk/eth.h"

#include "tests/unit/unit.h"

static const uint8_t plain[] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00, 0xaa};
static const uint8_t tagged[] = {
	2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0x00, 0x60, 0x64, 0x86, 0xdd};
static const uint8_t twice[] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0x00, 0, 1, 0x81, 0x00};

static void test_plain(void)
{
	struct eth_head h;
	CU_ASSERT_TRUE(eth_parse(&h, (struct span){plain, sizeof(plain)}));
	CU_ASSERT_EQUAL(h.type, ETH_TYPE_IP4);
	CU_ASSERT_EQUAL(h.vlan, 0);
	CU_ASSERT_EQUAL(h.len, ETH_HEADER);
	CU_ASSERT_EQUAL(h.to[5], 1);
	CU_ASSERT_EQUAL(h.from[5], 2);
}

/* Priority bits are no part of the VLAN's number. */
static void test_tagged(void)
{
	struct eth_head h;
	CU_ASSERT_TRUE(eth_parse(&h, (struct span){tagged, sizeof(tagged)}));
	CU_ASSERT_EQUAL(h.type, ETH_TYPE_IP6);
	CU_ASSERT_EQUAL(h.vlan, 100);
	CU_ASSERT_EQUAL(h.len, ETH_HEADER_MAX);
	CU_ASSERT_FALSE(eth_parse(&h, (struct span){twice, sizeof(twice)}));
}

static void test_cut_anywhere(void)
{
	struct eth_head h;
	for (size_t len = 0; len < ETH_HEADER; len++)
		CU_ASSERT_FALSE(eth_parse(&h, (struct span){plain, len}));
	CU_ASSERT_TRUE(eth_parse(&h, (struct span){plain, ETH_HEADER}));
	for (size_t len = 0; len < ETH_HEADER_MAX; len++)
		CU_ASSERT_FALSE(eth_parse(&h, (struct span){tagged, len}));
}

static void test_write_is_read(void)
{
	uint8_t out[ETH_HEADER_MAX];
	struct eth_head h, back;
	CU_ASSERT_TRUE(eth_parse(&h, (struct span){tagged, sizeof(tagged)}));
	CU_ASSERT_EQUAL(eth_write(&h, out), ETH_HEADER_MAX);
	CU_ASSERT_TRUE(eth_parse(&back, (struct span){out, sizeof(out)}));
	CU_ASSERT_EQUAL(back.vlan, 100);
	CU_ASSERT_EQUAL(back.type, ETH_TYPE_IP6);
	h.vlan = 0;
	CU_ASSERT_EQUAL(eth_write(&h, out), ETH_HEADER);
	CU_ASSERT_TRUE(eth_is_group(eth_broadcast));
	CU_ASSERT_FALSE(eth_is_group(h.to));
}

static const struct unit_case cases[] = {
	{"plain", test_plain},
	{"tagged", test_tagged},
	{"cut_anywhere", test_cut_anywhere},
	{"write_is_read", test_write_is_read},
};

UNIT_MAIN("dataplane/net/dpdk/eth", cases)
