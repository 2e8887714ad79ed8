/* dpdk_capture: copies of packets for whoever captures a port. Call only while d->tap.is_on.
 * Sent packets are as the lcore leaves them: a checksum the port fills in is not in them yet.
 * Cost: a copy a packet, and the wall clock once a burst. */
#ifndef DATAPLANE_NET_DPDK_DPDK_CAPTURE_H
#define DATAPLANE_NET_DPDK_DPDK_CAPTURE_H

#include "dataplane/net/dpdk/dpdk_state.h"

/* What a port has just received. */
void dpdk_capture_burst(
	struct dpdk *d, unsigned port, struct rte_mbuf *const *lend_pkts, unsigned count);
/* What is about to be given to a port. */
void dpdk_capture_sent(struct dpdk *d, unsigned port, const struct rte_mbuf *lend_m);

#endif
