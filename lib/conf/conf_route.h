/* conf_route: the addresses and routes of dpdk ports as they are written in a configuration. Pure. */
#ifndef LIB_CONF_CONF_ROUTE_H
#define LIB_CONF_CONF_ROUTE_H

#include "lib/base/addr.h"

/* An address of ours, the network it is in, and where that network is. */
struct conf_route_addr {
	uint8_t ip[16];
	uint8_t prefix; /* of 128 */
	uint8_t port;	/* index in dpdk.ports */
	uint16_t vlan;	/* 0: untagged */
};

struct conf_route {
	struct cidr to;
	uint8_t via[16];
};

/* "10.0.0.1/24", "10.0.0.1/24@1" (the second port), "fd00::1/64@0.100" (VLAN 100 of the first). 0 or -EINVAL. */
CHECKED int conf_route_parse_addr(struct conf_route_addr *out, const char *text);
/* "0.0.0.0/0 via 10.0.0.254". 0 or -EINVAL. */
CHECKED int conf_route_parse(struct conf_route *out, const char *text);

#endif
