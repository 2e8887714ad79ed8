/* dpdk_frag: reassembly of fragments by rte_ip_frag, for one lcore.
 * Bounds: LIMIT_FRAG_FLOWS packets under way, LIMIT_FRAG_MS each, LIMIT_FRAG_BYTES the result. */
#ifndef DATAPLANE_NET_DPDK_DPDK_FRAG_H
#define DATAPLANE_NET_DPDK_DPDK_FRAG_H

#include "dataplane/net/dpdk/dpdk_state.h"

CHECKED int dpdk_frag_init(struct dpdk *d);
void dpdk_frag_fini(struct dpdk *d);

/* Adds a fragment whose packet begins `at` bytes into the buffer. Returns the whole packet in one frame
 * with the last fragment's header; NULL: not yet, or dropped. */
struct rte_mbuf *dpdk_frag_add(
	struct dpdk *d, const struct ip_in *ip, unsigned at, struct rte_mbuf *take_m);

#endif
