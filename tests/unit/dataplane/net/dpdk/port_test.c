#include "dataplane/net/dpdk/port.h"

#include <string.h>

#include "tests/unit/unit.h"

/* A card reads by DMA what the slab is not mapped for, so the kinds must be told apart. */
static void test_is_pci(void)
{
	static const struct {
		const char *device;
		bool is_pci;
	} rows[] = {
		{"0000:3b:00.0", true},
		{"3b:00.1", true},
		{"0000:3b:00.0,some=option", true},
		{"net_memif0,role=server,socket=/run/a:b.sock", false},
		{"net_af_packet0,iface=eth0", false},
		{"net_tap0", false},
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++)
		CU_ASSERT_EQUAL(port_is_pci(rows[i].device), rows[i].is_pci);
}

static void test_split(void)
{
	char name[16];
	const char *args;
	CU_ASSERT_EQUAL(port_split_device("net_tap0,iface=x", name, sizeof(name), &args), 0);
	CU_ASSERT_STRING_EQUAL(name, "net_tap0");
	CU_ASSERT_STRING_EQUAL(args, "iface=x");
	CU_ASSERT_EQUAL(port_split_device("0000:3b:00.0", name, sizeof(name), &args), 0);
	CU_ASSERT_STRING_EQUAL(args, "");
	CU_ASSERT_NOT_EQUAL(port_split_device(",iface=x", name, sizeof(name), &args), 0);
	CU_ASSERT_EQUAL(port_split_device("123456789012345", name, sizeof(name), &args), 0);
	CU_ASSERT_NOT_EQUAL(port_split_device("1234567890123456", name, sizeof(name), &args), 0);
}

static const struct unit_case cases[] = {
	{"is_pci", test_is_pci},
	{"split", test_split},
};

UNIT_MAIN("dataplane/net/dpdk/port", cases)
