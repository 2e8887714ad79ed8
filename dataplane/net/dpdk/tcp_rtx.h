/* tcp_rtx: the segments of one connection that wait for an acknowledgement: the scoreboard of RFC 6675.
 *
 *   by sequence:  rtx.first ─ ... ─ rtx.last       all of them, snd_una up to snd_nxt (SYNs are not kept here)
 *   by time sent: sent.first ─ ... ─ sent.last     in flight; `flight` bytes
 *   to repeat:    gone.first ─ ... ─ gone.last     lost; `lost` bytes
 *   the rest has been reported by the peer (SACK)
 *
 * Owner:      the lcore that owns the connection.
 * Invariants: flight + lost + reported = snd_nxt - snd_una.
 * Cost:       O(1) a segment, a walk of the queue for each SACK block; no allocation. */
#ifndef DATAPLANE_NET_DPDK_TCP_RTX_H
#define DATAPLANE_NET_DPDK_TCP_RTX_H

#include "dataplane/net/dpdk/tcp_conn.h"

/* What one acknowledgement told. */
struct tcp_rtx_news {
	uint32_t acked; /* bytes below the new snd_una */
	uint32_t
		delivered; /* bytes that the peer was not known to have before, reported ones included */
	uint32_t payload; /* of acked, without FIN */
	uint32_t rtt_us;  /* of the newest segment sent once; 0: none */
	uint32_t ts_ecr;  /* the echoed timestamp, when has_ts */
	uint32_t fack;	  /* the highest byte delivered, when has_fack */
	bool has_fack;
	bool has_ts;
	bool has_dsack;
	bool is_dup; /* nothing but a repeated acknowledgement */
};

/* Appends a segment that is being sent now. NULL: no memory. */
struct tcp_rtx *tcp_rtx_push(
	struct tcp_conn *c, struct tcp_buf *buf, uint32_t off, uint32_t len, uint8_t flags);
/* Everything below `ack` is done. */
void tcp_rtx_ack(struct tcp_conn *c, uint32_t ack, struct tcp_rtx_news *news);
/* The peer has these too. */
void tcp_rtx_sack(struct tcp_conn *c, const struct tcp_opt *opt, struct tcp_rtx_news *news);
/* In flight -> lost. */
void tcp_rtx_lose(struct tcp_conn *c, struct tcp_rtx *seg);
/* Everything that was not reported is lost (a timeout); reports are forgotten when the peer took them back. */
void tcp_rtx_lose_all(struct tcp_conn *c);
/* Lost or in flight -> in flight, sent now. */
void tcp_rtx_resent(struct tcp_conn *c, struct tcp_rtx *seg);
/* Cuts seg so that it holds at most `len` bytes of sequence. False: no memory for the rest. */
CHECKED bool tcp_rtx_cut(struct tcp_conn *c, struct tcp_rtx *seg, uint32_t len);
void tcp_rtx_clear(struct tcp_conn *c);

static inline uint32_t tcp_rtx_payload(const struct tcp_rtx *seg)
{
	return seg->len - ((seg->flags & TCP_RTX_FIN) != 0);
}

/* Bytes that are thought to be on the way. */
static inline uint32_t tcp_rtx_flight(const struct tcp_conn *c)
{
	return c->flight > c->dups ? c->flight - c->dups : 0;
}

/* Bytes the peer has reported. */
static inline uint32_t tcp_rtx_reported(const struct tcp_conn *c)
{
	return c->snd_nxt - c->snd_una - c->flight - c->lost;
}

#endif
