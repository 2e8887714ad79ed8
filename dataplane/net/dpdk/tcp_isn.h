/* tcp_isn: numbers a peer must not guess: initial sequence numbers (RFC 6528), timestamp offsets, SYN cookies.
 *
 *   cookie, 32 bits:    5 turn of 64 s | 3 index of the MSS | 24 keyed hash of key, peer's number, turn and MSS
 *   low timestamp bits: 4 the peer's window scale (15: none) | 1 SACK      (only when the peer has timestamps)
 *
 * Without timestamps a connection from a cookie has no scaling and no SACK. Pure. */
#ifndef DATAPLANE_NET_DPDK_TCP_ISN_H
#define DATAPLANE_NET_DPDK_TCP_ISN_H

#include "dataplane/net/dpdk/tcp_conn.h"

enum { TCP_ISN_TURN_S = 64 };

uint32_t tcp_isn_first(const struct tcp *t, const struct tcp_key *key);
/* The same for all ports of two addresses: a later connection between them has later timestamps. */
uint32_t tcp_isn_ts_offset(const struct tcp *t, const struct tcp_key *key);

/* The sequence number of a SYN-ACK that is its own memory. */
uint32_t tcp_isn_cookie(
	const struct tcp *t, const struct tcp_key *key, uint32_t peer_isn, uint16_t mss);
/* The peer's MSS when `cookie` was made for it in this or the last turn, else 0. */
uint16_t tcp_isn_cookie_mss(
	const struct tcp *t, const struct tcp_key *key, uint32_t peer_isn, uint32_t cookie);

/* The timestamp of that SYN-ACK, and what its echo says of the peer's SYN. */
uint32_t tcp_isn_cookie_ts(uint32_t ts_now, const struct tcp_opt *syn);
void tcp_isn_cookie_opt(uint32_t ts_ecr, struct tcp_opt *out);

#endif
