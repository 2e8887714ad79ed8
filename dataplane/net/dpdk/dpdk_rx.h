/* dpdk_rx: a received frame, layer by layer: to TCP, UDP, ICMP or the neighbours; everything else is dropped with its
 * reason.
 * Owner: the lcore. */
#ifndef DATAPLANE_NET_DPDK_DPDK_RX_H
#define DATAPLANE_NET_DPDK_DPDK_RX_H

#include "dataplane/net/dpdk/dpdk_state.h"

/* One burst of each port. Returns the number of packets. */
unsigned dpdk_rx_poll(struct dpdk *d);

/* One frame of a port. */
void dpdk_rx_frame(struct dpdk *d, uint8_t port, struct rte_mbuf *take_m);

#endif
