/* host_tx: the send queue of one connection: pieces in order, copies in a small ring of their own.
 * Owner:      the lcore.
 * Invariants: a connection holds a queue only while it is not empty; tx_waiting is the sum of its pieces;
 *             each reference taken is released exactly once.
 * Cost:       one sendmsg for a whole queue. */
#ifndef DATAPLANE_NET_HOST_HOST_TX_H
#define DATAPLANE_NET_HOST_HOST_TX_H

#include "dataplane/net/host/host_state.h"

/* False when there is no room; nothing was queued then. */
bool host_tx_copy(struct host_conn *c, const void *data, size_t len);
bool host_tx_ref(struct host_conn *c, const struct net_ref *take_ref);

/* Sends until all is gone, the socket is full (tx_blocked) or it fails (is_failed). */
void host_tx_flush(struct host_conn *c);

/* Releases what is queued, unsent. */
void host_tx_drop(struct host_conn *c);

#endif
