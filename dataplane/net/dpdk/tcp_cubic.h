/* tcp_cubic: CUBIC congestion control (RFC 9438), the default. See tcp_cc.h. */
#ifndef DATAPLANE_NET_DPDK_TCP_CUBIC_H
#define DATAPLANE_NET_DPDK_TCP_CUBIC_H

#include "dataplane/net/dpdk/tcp_cc.h"

extern const struct tcp_cc tcp_cubic;

#endif
