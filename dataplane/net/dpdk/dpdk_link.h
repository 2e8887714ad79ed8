/* dpdk_link: ARP and neighbour discovery of one lcore: answering, learning, asking, announcing, and defending our
 * addresses (RFC 5227, RFC 4862).
 * Owner: the lcore. Announcements and answers come from the lcore that hears the question; every lcore learns. */
#ifndef DATAPLANE_NET_DPDK_DPDK_LINK_H
#define DATAPLANE_NET_DPDK_DPDK_LINK_H

#include "dataplane/net/dpdk/dpdk_state.h"

/* 0, or the reason to drop the packet. */
CHECKED int dpdk_link_arp(struct dpdk *d, uint8_t iface, struct span payload);
CHECKED int dpdk_link_nd(struct dpdk *d, uint8_t iface, const struct ip_in *ip);

/* neigh_ops.ask. */
void dpdk_link_ask(void *ctx, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES], const uint8_t *mac);

/* Tells everybody where our addresses are, a few times after a start or the return of a port. */
void dpdk_link_announce(struct dpdk *d);

#endif
