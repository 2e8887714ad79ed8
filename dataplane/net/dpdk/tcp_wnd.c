#include "dataplane/net/dpdk/tcp_wnd.h"

enum { TIGHT_BYTES = 16384 };

void tcp_wnd_init(struct tcp_conn *c)
{
	c->rcv_buf = LIMIT_TCP_RX_FIRST_BYTES;
	c->rcv_copied = 0;
	c->rcv_mark_ms = tcp_now_ms(c->tcp);
	c->rcv_rtt_ms = 0;
}

/* Bytes that may lie between rcv_nxt and the edge. */
static uint32_t room(const struct tcp_conn *c)
{
	const struct tcp *t = c->tcp;
	uint32_t bytes = c->unread < c->rcv_buf ? c->rcv_buf - c->unread : 0;
	uint32_t tight = c->unread < TIGHT_BYTES ? TIGHT_BYTES - c->unread : 0;
	if (t->rx_used > t->conf.rx_budget / 4 * 3 && bytes > tight)
		bytes = tight;
	/* many small packets: memory ends before bytes do */
	if (c->rx_cost / 4 > c->rcv_buf || t->rx_used >= t->conf.rx_budget)
		bytes = 0;
	uint32_t most = (uint32_t)UINT16_MAX << c->rcv_scale;
	return bytes < most ? bytes : most;
}

/* How far the edge would move, 0 when the step is too small to be worth a word (RFC 9293 3.8.6.2.2). */
static uint32_t edge_step(const struct tcp_conn *c)
{
	uint32_t edge = c->rcv_nxt + room(c);
	if (!tcp_seq_gt(edge, c->rcv_edge))
		return 0;
	uint32_t step = edge - c->rcv_edge;
	uint32_t least = c->rcv_buf / 2 < c->mss ? c->rcv_buf / 2 : c->mss;
	return step >= least ? step : 0;
}

uint16_t tcp_wnd_offer(struct tcp_conn *c)
{
	c->rcv_edge += edge_step(c);
	/* a FIN may lie right behind the edge */
	if (tcp_seq_gt(c->rcv_nxt, c->rcv_edge))
		return 0;
	uint32_t wnd = (c->rcv_edge - c->rcv_nxt) >> c->rcv_scale;
	return wnd < UINT16_MAX ? (uint16_t)wnd : UINT16_MAX;
}

void tcp_wnd_round_trip(struct tcp_conn *c, uint32_t ts_ecr)
{
	uint32_t ms = tcp_now_ms(c->tcp) + c->ts_offset - ts_ecr;
	if (ms == 0)
		ms = 1;
	if (ms > LIMIT_TCP_RTO_MAX_MS)
		return;
	if (c->rcv_rtt_ms == 0 || ms < c->rcv_rtt_ms)
		c->rcv_rtt_ms = (uint16_t)ms;
	else
		c->rcv_rtt_ms = (uint16_t)((7u * c->rcv_rtt_ms + ms) / 8);
}

static void grow(struct tcp_conn *c)
{
	struct tcp *t = c->tcp;
	uint32_t now_ms = tcp_now_ms(t);
	uint32_t rtt_ms = c->rcv_rtt_ms != 0 ? c->rcv_rtt_ms : c->srtt_us / 1000 + 1;
	if (now_ms - c->rcv_mark_ms < rtt_ms)
		return;
	/* a window was emptied within a round trip or so: it was what held the sender back */
	bool is_busy = c->rcv_copied > c->rcv_buf / 2 && now_ms - c->rcv_mark_ms < 4 * rtt_ms + 2;
	if (is_busy && c->rcv_buf < LIMIT_TCP_RX_BYTES && (c->flags & TCP_F_SCALE) != 0 &&
		t->rx_used + 2ull * c->rcv_buf < t->conf.rx_budget / 2)
		c->rcv_buf =
			2 * c->rcv_buf < LIMIT_TCP_RX_BYTES ? 2 * c->rcv_buf : LIMIT_TCP_RX_BYTES;
	c->rcv_copied = 0;
	c->rcv_mark_ms = now_ms;
}

void tcp_wnd_consumed(struct tcp_conn *c, uint32_t len)
{
	c->rcv_copied += len;
	grow(c);
	if ((c->flags & TCP_F_FIN_RCVD) != 0 || !tcp_conn_is_synced(c) || c->state == TCP_TIME_WAIT)
		return;
	uint32_t step = edge_step(c);
	uint32_t promised = c->rcv_edge - c->rcv_nxt;
	if (step != 0 && (step >= c->rcv_buf / 4 || promised < 2u * c->mss)) {
		c->flags |= TCP_F_ACK_NOW;
		tcp_conn_wake(c, TCP_EV_OUTPUT);
	}
}
