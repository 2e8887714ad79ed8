/* eth: Ethernet II headers, with one VLAN tag at the most. Pure. */
#ifndef DATAPLANE_NET_DPDK_ETH_H
#define DATAPLANE_NET_DPDK_ETH_H

#include "dataplane/net/dpdk/wire.h"

enum { ETH_HEADER = 14, ETH_VLAN = 4, ETH_HEADER_MAX = ETH_HEADER + ETH_VLAN };
enum {
	ETH_TYPE_IP4 = 0x0800,
	ETH_TYPE_ARP = 0x0806,
	ETH_TYPE_VLAN = 0x8100,
	ETH_TYPE_IP6 = 0x86dd,
};

struct eth_head {
	uint8_t to[WIRE_MAC_BYTES];
	uint8_t from[WIRE_MAC_BYTES];
	uint16_t vlan; /* 0: none; a priority tag counts as none */
	uint16_t type;
	uint16_t len; /* of the header */
};

extern const uint8_t eth_broadcast[WIRE_MAC_BYTES];

/* False: shorter than a header, or tagged twice. */
CHECKED bool eth_parse(struct eth_head *out, struct span frame);
/* Writes `to`, `from`, `vlan` (unless 0) and `type`. Returns the length. */
unsigned eth_write(const struct eth_head *head, uint8_t out[ETH_HEADER_MAX]);

static inline bool eth_is_group(const uint8_t mac[WIRE_MAC_BYTES])
{
	return (mac[0] & 1) != 0;
}

#endif
