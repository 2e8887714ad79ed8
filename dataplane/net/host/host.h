/* host: the network seam on Linux sockets: epoll, non-blocking, SO_REUSEPORT, TCP_NODELAY. */
#ifndef DATAPLANE_NET_HOST_HOST_H
#define DATAPLANE_NET_HOST_HOST_H

#include "dataplane/net/net.h"

/* Reserves everything for one lcore. On failure returns -errno and fills `why`. */
CHECKED int host_open(struct net **out, const struct net_conf *conf, char *why, size_t why_size);

#endif
