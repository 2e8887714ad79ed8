/* tcp_rx: the received bytes of one connection that are in order and wait to be read.
 * Owner:   the lcore that owns the connection.
 * Memory:  a segment longer than LIMIT_TCP_SMALL_BYTES keeps its packet, a shorter one is copied into a block and
 *          its packet goes back at once: a packet buffer is never held for a few bytes. What packets cost is counted
 *          in the engine's rx_used against rx_budget. Three quarters of it may be used by segments that are ahead of
 *          their stream, all of it by those in order, and one eighth more by connections that hold nothing else:
 *          so memory is always left for the segment that lets a stream go on.
 * Cost:    O(1), no allocation. */
#ifndef DATAPLANE_NET_DPDK_TCP_RX_H
#define DATAPLANE_NET_DPDK_TCP_RX_H

#include "dataplane/net/dpdk/tcp_conn.h"

/* Appends in->len bytes. False: no memory, nothing was taken. True: the packet is taken. */
CHECKED bool tcp_rx_append(struct tcp_conn *c, const struct tcp_in *in);
/* Appends a record that was kept ahead of the stream; its memory is already counted. */
void tcp_rx_adopt(struct tcp_conn *c, struct tcp_rx *take_rx);
/* A record for the packet of `in`, which is ahead of the stream; counted. NULL: no memory. */
struct tcp_rx *tcp_rx_keep(struct tcp_conn *c, const struct tcp_in *in);
void tcp_rx_release(struct tcp_conn *c, struct tcp_rx *take_rx);
/* Drops the first `len` unread bytes. */
void tcp_rx_consume(struct tcp_conn *c, uint32_t len);
void tcp_rx_clear(struct tcp_conn *c);

#endif
