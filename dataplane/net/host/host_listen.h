/* host_listen: listening sockets, admission of connections, and active opens.
 * Owner: the lcore.
 * Full:  no slot, or the address has its number: the connection is accepted and closed at once, counted in
 *        rejected_total and drops_total by reason. No descriptor left: the same, by way of the reserve descriptor. */
#ifndef DATAPLANE_NET_HOST_HOST_LISTEN_H
#define DATAPLANE_NET_HOST_HOST_LISTEN_H

#include "dataplane/net/host/host_state.h"

CHECKED int host_listen_open(
	struct net *net, const struct net_listener_conf *lc, struct addr *bound);
void host_listen_stop(struct net *net);

/* Accepts what waits, up to HOST_ACCEPTS_PER_TURN. */
void host_listen_event(struct host *h, unsigned index);

struct net_conn *host_listen_connect(struct net *net, const struct addr *local,
	const struct addr *to, const struct net_events *events, void *user);

#endif
