/* tcp_out: builds and emits the segments of a connection: data as windows allow, acknowledgements, probes, resets.
 * Owner: the lcore that owns the connection. */
#ifndef DATAPLANE_NET_DPDK_TCP_OUT_H
#define DATAPLANE_NET_DPDK_TCP_OUT_H

#include "dataplane/net/dpdk/tcp_conn.h"

/* Sends lost segments first, then new bytes, then our FIN, as far as both windows allow. */
void tcp_out_push(struct tcp_conn *c);
/* Sends what the peer's window takes, however little, when nothing is in flight. False: it takes nothing. */
CHECKED bool tcp_out_force(struct tcp_conn *c);
/* The tail loss probe: new bytes, or the last segment again. False: neither. */
CHECKED bool tcp_out_probe(struct tcp_conn *c, bool *is_retx);
/* An acknowledgement now. */
void tcp_out_ack(struct tcp_conn *c);
/* The same, at most one each LIMIT_TCP_CHALLENGE_MS (RFC 5961). */
void tcp_out_challenge(struct tcp_conn *c);
/* A segment behind the peer's window, which it must answer: keep-alive and zero window probe. */
void tcp_out_poke(struct tcp_conn *c);
/* SYN or SYN-ACK, by state. */
void tcp_out_syn(struct tcp_conn *c);
void tcp_out_reset(struct tcp_conn *c);
/* The reset that answers a segment of no connection (RFC 9293 3.5.2). */
void tcp_out_refuse(struct tcp *t, const struct tcp_in *in);
/* A SYN-ACK without a connection. */
void tcp_out_cookie(struct tcp *t, const struct tcp_in *in);

/* Our FIN is still to be sent. */
static inline bool tcp_out_owes_fin(const struct tcp_conn *c)
{
	return (c->flags & (TCP_F_FIN_QUEUED | TCP_F_FIN_SENT)) == TCP_F_FIN_QUEUED;
}

/* The MSS to announce to this peer: what the port's MTU holds behind IP and TCP headers. */
uint16_t tcp_out_mss(const struct tcp *t, const struct tcp_key *key);

#endif
