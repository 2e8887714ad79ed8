/* dpdk_conn: connections of the engine as the seam shows them: joined heads, byte counts, orderly ends.
 * Owner:      the lcore.
 * Invariants: on_closed is the last event of a connection and comes exactly once, except when on_open refused it; a
 *             slot goes back when the engine has let go too.
 * Join:       a peek shows the first packet's bytes where they lie. A user who leaves them lying, because he needs more
 *             than that to understand them, finds them joined with what follows at the next on_readable. */
#ifndef DATAPLANE_NET_DPDK_DPDK_CONN_H
#define DATAPLANE_NET_DPDK_DPDK_CONN_H

#include "dataplane/net/dpdk/dpdk_state.h"

extern const struct tcp_ops dpdk_conn_tcp_ops;

struct net_conn *dpdk_conn_connect(struct net *net, const struct addr *from, const struct addr *to,
	const struct net_events *events, void *user);

/* Runs on_readable again for those whose last look was too short. Returns how many there were. */
unsigned dpdk_conn_join(struct dpdk *d);

/* Resets all, without events. */
void dpdk_conn_abort_all(struct dpdk *d);

#endif
