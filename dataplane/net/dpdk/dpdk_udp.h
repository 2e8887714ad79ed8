/* dpdk_udp: datagram sockets of one lcore.
 * Owner: the lcore.
 * Full:  a datagram that does not fit the MTU, or finds no buffer or route, is dropped. */
#ifndef DATAPLANE_NET_DPDK_DPDK_UDP_H
#define DATAPLANE_NET_DPDK_DPDK_UDP_H

#include "dataplane/net/dpdk/dpdk_state.h"
#include "dataplane/net/dpdk/udp.h"

struct net_udp *dpdk_udp_open(
	struct net *net, const struct addr *local, net_datagram *on_datagram, void *user);
bool dpdk_udp_send(struct net_udp *udp, const struct addr *to, struct span data);
const struct addr *dpdk_udp_local(const struct net_udp *udp);

/* Gives a datagram to its socket. False: there is none. */
CHECKED bool dpdk_udp_input(struct dpdk *d, const struct ip_in *ip, const struct udp_in *in);

#endif
