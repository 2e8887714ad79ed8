/* tcp_ooo: segments that arrived ahead of the stream, and the reports of them to the peer (SACK, RFC 2018, and
 * duplicates, RFC 2883).
 * Owner:      the lcore that owns the connection.
 * Invariants: sorted by sequence, no two overlap, all behind rcv_nxt; at most LIMIT_TCP_OOO_RECORDS.
 * Cost:       O(1) when segments come in order behind one gap; else a walk of the queue. */
#ifndef DATAPLANE_NET_DPDK_TCP_OOO_H
#define DATAPLANE_NET_DPDK_TCP_OOO_H

#include "dataplane/net/dpdk/tcp_conn.h"

/* Keeps what is new of a segment behind rcv_nxt; takes the packet on every path. */
void tcp_ooo_insert(struct tcp_conn *c, const struct tcp_in *in);
/* Moves what has come in order to the readable bytes and advances rcv_nxt. */
void tcp_ooo_drain(struct tcp_conn *c);
void tcp_ooo_clear(struct tcp_conn *c);

/* Bytes [start, end) came again although they were there. */
void tcp_ooo_dsack(struct tcp_conn *c, uint32_t start, uint32_t end);
/* The blocks to report, the newest first; a duplicate is reported once. */
void tcp_ooo_report(struct tcp_conn *c, struct tcp_opt *out);

#endif
