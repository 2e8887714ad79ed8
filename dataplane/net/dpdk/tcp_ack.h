/* tcp_ack: what an acceptable segment acknowledges: bytes, our FIN, the peer's window, SACK blocks. */
#ifndef DATAPLANE_NET_DPDK_TCP_ACK_H
#define DATAPLANE_NET_DPDK_TCP_ACK_H

#include "dataplane/net/dpdk/tcp_conn.h"

/* Takes the acknowledgement of `in` into a synchronized connection; snd_una <= ack <= snd_nxt or ack is old. */
void tcp_ack_take(struct tcp_conn *c, const struct tcp_in *in);
/* The peer's window, scaled. */
uint32_t tcp_ack_window(const struct tcp_conn *c, const struct tcp_in *in);

#endif
