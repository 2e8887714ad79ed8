/* dpdk_tx: packets on their way out: headers, checksums, next hop, queue.
 * Owner: the lcore.
 * Full:  a queue that takes nothing more leaves up to DPDK_TX_WAITING packets waiting; beyond that they are dropped,
 *        reason tx_full. No buffer: dropped, reason no_buffer. TCP sends again what is lost.
 * Copy:  payload above DPDK_TX_COPY_MAX leaves as an external buffer where the port can take chains of buffers, else it
 *        is copied behind the headers. */
#ifndef DATAPLANE_NET_DPDK_DPDK_TX_H
#define DATAPLANE_NET_DPDK_DPDK_TX_H

#include "dataplane/net/dpdk/dpdk_state.h"

enum { DPDK_TX_COPY_MAX = 256 };

/* tcp_ops.emit. */
void dpdk_tx_segment(void *ctx, const struct tcp_seg *lend_seg);

/* A packet of `protocol` from one address to another, its payload (with checksum) in up to two pieces. Above the MTU
 * only a payload in one piece that is not UDP leaves, in fragments. */
bool dpdk_tx_packet(struct dpdk *d, const uint8_t from[WIRE_IP_BYTES],
	const uint8_t to[WIRE_IP_BYTES], uint8_t protocol, struct span head, struct span data);

/* A frame to a known link address: ARP and neighbour discovery. */
void dpdk_tx_frame(struct dpdk *d, uint8_t iface, const uint8_t to[WIRE_MAC_BYTES], uint16_t type,
	struct span head, struct span data);

/* neigh_ops.send: a parked packet, whose frame lacks its destination. */
void dpdk_tx_parked(void *ctx, void *take_pkt, uint8_t iface, const uint8_t mac[WIRE_MAC_BYTES]);

/* Gives the ports what waits. */
void dpdk_tx_flush(struct dpdk *d);
/* Drops what waits for a port that is gone. */
void dpdk_tx_abandon(struct dpdk *d, unsigned port);

/* Whether the port of the route to `to` fills in checksums of the payload's protocol. */
bool dpdk_tx_is_offloaded(
	struct dpdk *d, const uint8_t from[WIRE_IP_BYTES], const uint8_t to[WIRE_IP_BYTES]);

#endif
