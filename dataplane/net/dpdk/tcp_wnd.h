/* tcp_wnd: the receive window of one connection: what is offered, when the peer is told, how it grows.
 *
 *   rcv_nxt ────── promised ────── rcv_edge ── may be promised ── rcv_nxt + rcv_buf - unread
 *
 * The right edge never moves back. rcv_buf starts at LIMIT_TCP_RX_FIRST_BYTES and doubles while the reader empties
 * it each round trip, up to LIMIT_TCP_RX_BYTES and while the engine's budget lasts; when the budget runs out the edge
 * stands still until memory comes back. */
#ifndef DATAPLANE_NET_DPDK_TCP_WND_H
#define DATAPLANE_NET_DPDK_TCP_WND_H

#include "dataplane/net/dpdk/tcp_conn.h"

enum { TCP_WND_SCALE = 7 };
static_assert((uint64_t)UINT16_MAX << TCP_WND_SCALE >= LIMIT_TCP_RX_BYTES,
	"the scale reaches the largest window");

void tcp_wnd_init(struct tcp_conn *c);
/* Moves the edge as far as it may go and returns the window as it stands in a header. */
uint16_t tcp_wnd_offer(struct tcp_conn *c);
/* The reader took `len` bytes: maybe grows, maybe asks for an acknowledgement that tells the peer. */
void tcp_wnd_consumed(struct tcp_conn *c, uint32_t len);
/* A segment in order arrived, with this echo when timestamps are in use: how long a round trip takes. */
void tcp_wnd_round_trip(struct tcp_conn *c, uint32_t ts_ecr);

#endif
