/* host_info: what the kernel tells about the TCP of one connection (TCP_INFO).
 * Cost: one system call; for questions of people only. */
#ifndef DATAPLANE_NET_HOST_HOST_INFO_H
#define DATAPLANE_NET_HOST_HOST_INFO_H

#include "dataplane/net/net.h"

/* False when the kernel does not say. */
bool host_info_describe(struct net_conn *conn, struct net_tcp_info *out);

#endif
