/* dpdk_spread: packets that one lcore received and another must see.
 *
 *   a port without RSS (or with fewer receive queues than lcores): flows are hashed here, both directions alike
 *   every port: what all lcores must hear (ARP, neighbour discovery, path MTU) goes to each as a copy
 *
 * Producers: any lcore. Consumer: the lcore the ring belongs to.
 * Full:      the packet is dropped, reason spread_full; its sender sends it again. */
#ifndef DATAPLANE_NET_DPDK_DPDK_SPREAD_H
#define DATAPLANE_NET_DPDK_DPDK_SPREAD_H

#include "dataplane/net/dpdk/dpdk_state.h"

/* 0 or -ENOMEM. With one lcore there is nothing to open. */
CHECKED int dpdk_spread_open(struct dpdk_node *node);
void dpdk_spread_close(struct dpdk_node *node);

/* The lcore whose flow this frame belongs to: for ports without RSS, and for frames put together from fragments. Frames of
 * no flow stay where they are. */
unsigned dpdk_spread_owner(const struct dpdk *d, uint8_t port, const struct rte_mbuf *lend_m);
/* tcp_ops.own: whether the answers of a connection we open would come to this lcore. */
bool dpdk_spread_owns(void *ctx, const struct tcp_key *key);

void dpdk_spread_give(struct dpdk *d, unsigned lcore, uint8_t port, struct rte_mbuf *take_m);
/* To all others; the frame stays the caller's. */
void dpdk_spread_copy(struct dpdk *d, uint8_t port, struct rte_mbuf *lend_m);

/* Takes what others gave. Returns the number of packets. */
unsigned dpdk_spread_poll(struct dpdk *d);

#endif
