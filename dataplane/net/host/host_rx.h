/* host_rx: the unread bytes of a connection, in one block of LIMIT_NET_RX_BLOCK_BYTES from the lcore's pool.
 * Owner: the lcore.
 * Full:  no block free: the connection waits in the starved list and is read when one comes back; its bytes stay in the
 *        socket. The block full: the socket is not read until something is consumed. */
#ifndef DATAPLANE_NET_HOST_HOST_RX_H
#define DATAPLANE_NET_HOST_HOST_RX_H

#include "dataplane/net/host/host_state.h"

struct span host_rx_peek(struct net_conn *conn);
void host_rx_consume(struct net_conn *conn, size_t len);

/* Reads what the socket has (a bounded number of times) and runs on_readable. May end the connection. */
void host_rx_receive(struct host_conn *c);

/* Reads and forgets. Returns 1 while the peer may send more, 0 at its end, -errno on failure or beyond
 * LIMIT_NET_LINGER_BYTES. */
CHECKED int host_rx_discard(struct host_conn *c);

/* Gives the block back, read or not. */
void host_rx_drop(struct host_conn *c);

/* Lists as ready as many starved connections as there are blocks. */
void host_rx_feed(struct host *h);

#endif
