#include "tools/millload/backend_dpdk.h"

#include <string.h>

#include "lib/conf/conf.h"
#include "tests/unit/unit.h"

static struct options o;
static struct conf conf;
static char why[256];

static int parse(char **argv)
{
	int argc = 0;
	while (argv[argc] != NULL)
		argc++;
	CU_ASSERT_FATAL(options_parse(&o, argc, argv, why, sizeof(why)));
	return backend_dpdk_conf(&conf, &o, why, sizeof(why));
}

/* A device has commas, which would part the items of a list. */
static void says_what_a_node_would(void)
{
	char *argv[] = {"millload", "--backend", "dpdk", "--vdev", "net_memif0,role=client,id=1",
		"--address", "10.0.0.2-10.0.0.3/24", "--gateway", "10.0.0.1", "--mtu", "9000",
		"--mbufs", "8192", "http://192.0.2.1/", NULL};
	CU_ASSERT_EQUAL_FATAL(parse(argv), 0);
	CU_ASSERT_EQUAL(conf.net_backend, CONF_BACKEND_DPDK);
	CU_ASSERT_EQUAL(conf.dpdk_ports.count, 1);
	CU_ASSERT_STRING_EQUAL(conf.dpdk_ports.items[0], "net_memif0,role=client,id=1");
	CU_ASSERT_EQUAL(conf.dpdk_addresses.count, 2);
	CU_ASSERT_STRING_EQUAL(conf.dpdk_addresses.items[1], "10.0.0.3/24");
	CU_ASSERT_STRING_EQUAL(conf.dpdk_routes.items[0], "0.0.0.0/0 via 10.0.0.1");
	CU_ASSERT(conf.dpdk_mtu == 9000 && conf.dpdk_mbufs == 8192);
}

static void ipv6_has_its_own_default(void)
{
	char *argv[] = {"millload", "--backend", "dpdk", "--vdev", "x", "--address", "fd00::2/64",
		"--gateway", "fd00::1", "http://[2001:db8::1]/", NULL};
	CU_ASSERT_EQUAL_FATAL(parse(argv), 0);
	CU_ASSERT_STRING_EQUAL(conf.dpdk_routes.items[0], "::/0 via fd00::1");
}

/* The longest device, and one byte more. */
static void device_limit(void)
{
	char device[sizeof(conf.dpdk_ports.items[0]) + 1];
	char *argv[] = {"millload", "--backend", "dpdk", "--vdev", device, "--address",
		"10.0.0.2/24", "http://10.0.0.1/", NULL};
	memset(device, 'x', sizeof(device));
	device[sizeof(device) - 2] = '\0';
	CU_ASSERT_EQUAL(parse(argv), 0);
	device[sizeof(device) - 2] = 'x';
	device[sizeof(device) - 1] = '\0';
	CU_ASSERT_NOT_EQUAL(parse(argv), 0);
	CU_ASSERT_STRING_EQUAL(why, "--vdev is too long");
}

static const struct unit_case cases[] = {
	{"says_what_a_node_would", says_what_a_node_would},
	{"ipv6_has_its_own_default", ipv6_has_its_own_default},
	{"device_limit", device_limit},
};
UNIT_MAIN("tools/millload/backend_dpdk", cases)
