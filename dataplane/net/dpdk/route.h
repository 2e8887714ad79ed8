/* route: our interfaces (a port, or a VLAN of it), our addresses, and where packets go.
 * Writer:  the main thread, before the lcores run; afterwards it is read only.
 * Cost:    one pass over at most LIMIT_NET_ADDRESSES + LIMIT_NET_ROUTES entries; senders keep what they found. */
#ifndef DATAPLANE_NET_DPDK_ROUTE_H
#define DATAPLANE_NET_DPDK_ROUTE_H

#include "dataplane/net/dpdk/wire.h"
#include "lib/base/addr.h"
#include "lib/base/registry.h"

#define ROUTE_NONE UINT8_MAX

struct route_iface {
	uint8_t port; /* index among the node's ports */
	uint16_t vlan;
	uint8_t mac[WIRE_MAC_BYTES];
};

struct route_addr {
	uint8_t ip[WIRE_IP_BYTES];
	uint8_t prefix; /* of 128 */
	uint8_t iface;
};

struct route_entry {
	struct cidr to;
	uint8_t via[WIRE_IP_BYTES];
	uint8_t iface;
};

struct route_table {
	struct route_iface ifaces[LIMIT_NET_IFACES];
	struct route_addr addrs[LIMIT_NET_ADDRESSES];
	struct route_entry routes[LIMIT_NET_ROUTES];
	uint8_t iface_count;
	uint8_t addr_count;
	uint8_t route_count;
};

struct route_hop {
	uint8_t iface;
	uint8_t ip[WIRE_IP_BYTES];     /* who gets the frame */
	const struct route_addr *from; /* our address there */
};

/* The interface of a port and VLAN, made when it is new. ROUTE_NONE when there are too many. */
uint8_t route_iface(
	struct route_table *t, uint8_t port, uint16_t vlan, const uint8_t mac[WIRE_MAC_BYTES]);
/* ROUTE_NONE: there is no such interface. */
uint8_t route_find_iface(const struct route_table *t, uint8_t port, uint16_t vlan);

/* 0, -ENOSPC, or -EEXIST when the address is ours already. */
CHECKED int route_add_addr(
	struct route_table *t, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES], uint8_t prefix);
/* 0, -ENOSPC, or -ENETUNREACH when `via` is in none of our networks. */
CHECKED int route_add(
	struct route_table *t, const struct cidr *to, const uint8_t via[WIRE_IP_BYTES]);

/* Ours on this interface; `iface` ROUTE_NONE: on any. NULL: not ours. */
const struct route_addr *route_local(
	const struct route_table *t, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES]);

/* The way to `to`: the longest match decides. `from` may be NULL; a link-local target needs it to tell the link.
 * False: none. */
CHECKED bool route_find(const struct route_table *t, const uint8_t *from,
	const uint8_t to[WIRE_IP_BYTES], struct route_hop *out);

/* The broadcast address of a network of ours on this interface. */
bool route_is_broadcast(
	const struct route_table *t, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES]);

#endif
