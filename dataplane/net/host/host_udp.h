/* host_udp: datagram sockets of one lcore.
 * Owner: the lcore.
 * Full:  a datagram that cannot be sent at once, or is longer than HOST_DATAGRAM_BYTES on receipt, is dropped. */
#ifndef DATAPLANE_NET_HOST_HOST_UDP_H
#define DATAPLANE_NET_HOST_HOST_UDP_H

#include "dataplane/net/host/host_state.h"

struct net_udp *host_udp_open(
	struct net *net, const struct addr *local, net_datagram *on_datagram, void *user);
bool host_udp_send(struct net_udp *udp, const struct addr *to, struct span data);
const struct addr *host_udp_local(const struct net_udp *udp);

/* Receives one batch. */
void host_udp_event(struct host *h, unsigned index);
void host_udp_close(struct host *h);

#endif
