/* tcp_rto: round trip time and retransmission timeout of one connection (RFC 6298). Pure. */
#ifndef DATAPLANE_NET_DPDK_TCP_RTO_H
#define DATAPLANE_NET_DPDK_TCP_RTO_H

#include "dataplane/net/dpdk/tcp_conn.h"

void tcp_rto_init(struct tcp_conn *c);
/* A round trip that is surely of one transmission (Karn). Ends the backoff. */
void tcp_rto_sample(struct tcp_conn *c, uint32_t rtt_us);
/* The timeout with its backoff. */
uint64_t tcp_rto_ns(const struct tcp_conn *c);
/* The timer went off: the next timeout is twice as long. */
void tcp_rto_back_off(struct tcp_conn *c);

#endif
