/* tcp_open: the handshake, passive and active, with SYN cookies when a backlog is full. */
#ifndef DATAPLANE_NET_DPDK_TCP_OPEN_H
#define DATAPLANE_NET_DPDK_TCP_OPEN_H

#include "dataplane/net/dpdk/tcp_conn.h"

struct tcp_listener *tcp_open_listener(struct tcp *t, const struct tcp_key *key);

/* A SYN to a listener; `isn_floor`: our number must lie behind it when has_floor (TIME_WAIT reuse). */
void tcp_open_syn(struct tcp *t, const struct tcp_in *in, bool has_floor, uint32_t isn_floor);
/* An acknowledgement to a listener: the connection that its cookie describes, in SYN_RCVD; NULL: none, it was
 * answered. */
struct tcp_conn *tcp_open_cookie(struct tcp *t, const struct tcp_in *in);
/* Begins an active open; c is fresh. */
void tcp_open_active(struct tcp_conn *c, bool has_floor, uint32_t isn_floor);

/* SYN_SENT: the peer's SYN, with or without an acknowledgement of ours. */
void tcp_open_synack(struct tcp_conn *c, const struct tcp_in *in);
void tcp_open_simultaneous(struct tcp_conn *c, const struct tcp_in *in);
/* SYN_RCVD: our SYN is acknowledged. */
void tcp_open_acked(struct tcp_conn *c, const struct tcp_in *in);
/* The handshake's timer went off. */
void tcp_open_again(struct tcp_conn *c);

#endif
