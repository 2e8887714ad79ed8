/* tcp_data: payload and FIN of an acceptable segment; decides when to acknowledge. */
#ifndef DATAPLANE_NET_DPDK_TCP_DATA_H
#define DATAPLANE_NET_DPDK_TCP_DATA_H

#include "dataplane/net/dpdk/tcp_conn.h"

/* Takes the packet on every path. Payload below rcv_nxt and above rcv_edge is cut off. */
void tcp_data_take(struct tcp_conn *c, const struct tcp_in *in);

#endif
