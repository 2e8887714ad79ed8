/* tcp_tx: the bytes of one connection that wait to be sent or acknowledged, as a list of references.
 *
 *   tx_first ── acknowledged up to tx_acked ── ... sent ... ── tx_cur, sent up to tx_cur_off ── unsent ── tx_last
 *
 * Owner:      the lcore that owns the connection.
 * Memory:     a reference is released exactly once: when its last byte is acknowledged and nobody holds it, or when
 *             the connection ends. Copied bytes lie in blocks of the engine.
 * Invariants: queued is the bytes from tx_acked to the end; unsent those from tx_cur_off.
 * Cost:       O(1), no allocation. */
#ifndef DATAPLANE_NET_DPDK_TCP_TX_H
#define DATAPLANE_NET_DPDK_TCP_TX_H

#include "dataplane/net/dpdk/tcp_conn.h"

/* Is there room for one more reference or copy? */
bool tcp_tx_has_room(const struct tcp_conn *c);
CHECKED bool tcp_tx_ref(
	struct tcp_conn *c, const uint8_t *data, uint32_t len, tcp_release *release, void *ctx);
CHECKED bool tcp_tx_copy(struct tcp_conn *c, const uint8_t *data, uint32_t len);

/* Where `len` bytes from (buf, off) lie. Returns how many of them fit into the pieces. */
uint32_t tcp_tx_pieces(struct tcp_buf *buf, uint32_t off, uint32_t len, struct tcp_seg *out);
/* `len` unsent bytes were sent. */
void tcp_tx_sent(struct tcp_conn *c, uint32_t len);
/* `len` sent bytes were acknowledged. */
void tcp_tx_acked(struct tcp_conn *c, uint32_t len);
/* The connection ended. */
void tcp_tx_clear(struct tcp_conn *c);

#endif
