#include "dataplane/net/dpdk/tcp_data.h"

#include "dataplane/net/dpdk/tcp_ooo.h"
#include "dataplane/net/dpdk/tcp_out.h"
#include "dataplane/net/dpdk/tcp_rx.h"
#include "dataplane/net/dpdk/tcp_timer.h"
#include "dataplane/net/dpdk/tcp_wnd.h"

static void release(struct tcp_conn *c, const struct tcp_in *in)
{
	if (in->pkt != NULL)
		c->tcp->conf.ops->pkt_release(c->tcp->conf.ctx, in->pkt);
}

static bool is_receiving(const struct tcp_conn *c)
{
	return c->state == TCP_ESTABLISHED || c->state == TCP_FIN_WAIT_1 ||
	       c->state == TCP_FIN_WAIT_2;
}

static void ack_soon(struct tcp_conn *c)
{
	c->flags |= TCP_F_ACK_NOW;
	tcp_conn_wake(c, TCP_EV_OUTPUT);
}

/* Leaves of the segment what lies in the window and is new. */
static void trim(struct tcp_conn *c, struct tcp_in *in)
{
	if (tcp_seq_lt(in->seq, c->rcv_nxt)) {
		uint32_t old = c->rcv_nxt - in->seq;
		if (old > in->len)
			old = in->len;
		tcp_ooo_dsack(c, in->seq, in->seq + old);
		in->seq += old;
		in->data += old;
		in->len -= old;
	}
	uint32_t end = in->seq + in->len;
	if (tcp_seq_gt(end, c->rcv_edge)) {
		uint32_t over = end - c->rcv_edge;
		if (over > in->len)
			over = in->len;
		in->len -= over;
		in->flags &= (uint8_t)~TCP_FIN;
	}
	/* what lies behind a FIN is none of its stream */
	if ((c->flags & TCP_F_FIN_KNOWN) != 0 && tcp_seq_gt(in->seq + in->len, c->fin_seq))
		in->len = tcp_seq_gt(c->fin_seq, in->seq) ? c->fin_seq - in->seq : 0;
}

static void note_fin(struct tcp_conn *c, const struct tcp_in *in)
{
	uint32_t at = in->seq + in->len;
	if ((in->flags & TCP_FIN) == 0 || (c->flags & TCP_F_FIN_KNOWN) != 0)
		return;
	/* a FIN in front of bytes that are already here cannot be the end */
	if (c->ooo_last != NULL && tcp_seq_gt(c->ooo_last->seq + c->ooo_last->len, at))
		return;
	c->flags |= TCP_F_FIN_KNOWN;
	c->fin_seq = at;
}

/* RFC 9293 3.8.6.3: at least every second full segment; at once while the sender needs it to grow or to repair. */
static void ack_policy(struct tcp_conn *c, uint32_t len, bool was_gap)
{
	if (len > c->rcv_mss)
		c->rcv_mss = len < UINT16_MAX ? (uint16_t)len : UINT16_MAX;
	uint32_t bytes = c->ack_bytes + len;
	c->ack_bytes = bytes < UINT16_MAX ? (uint16_t)bytes : UINT16_MAX;
	if (c->quick_acks > 0)
		c->quick_acks--;
	if (was_gap || c->quick_acks > 0 || c->ack_bytes >= 2u * c->rcv_mss) {
		ack_soon(c);
	} else if (c->due_ns[TCP_TIMER_ACK] == 0) {
		tcp_timer_set(c, TCP_TIMER_ACK, c->tcp->now_ns + LIMIT_TCP_DELACK_MS * NS_PER_MS);
	}
}

/* Nobody reads: count what comes, and at last say so. */
static void discard(struct tcp_conn *c, const struct tcp_in *in)
{
	uint32_t len = in->len;
	release(c, in);
	c->rcv_nxt += len;
	c->rcv_copied += len;
	if (c->rcv_copied > LIMIT_NET_LINGER_BYTES) {
		tcp_out_reset(c);
		tcp_conn_end(c, TCP_END_ABORTED);
		return;
	}
	ack_soon(c);
}

static void take_in_order(struct tcp_conn *c, const struct tcp_in *in)
{
	if (c->flags & TCP_F_DISCARD) {
		discard(c, in);
		return;
	}
	uint32_t len = in->len;
	bool was_gap = c->ooo_first != NULL;
	bool is_taken = tcp_rx_append(c, in);
	if (!is_taken && was_gap) {
		/* what is ahead can come again (RFC 2018 8); what is next lets the stream go on */
		tcp_ooo_clear(c);
		is_taken = tcp_rx_append(c, in);
	}
	if (!is_taken) {
		tcp_drop(c->tcp, REASON_TCP_RX_BUDGET);
		release(c, in);
		ack_soon(c);
		return;
	}
	c->rcv_nxt += len;
	c->tcp->counts[TCP_COUNT_BYTES_IN] += len;
	if ((c->flags & TCP_F_TS) != 0 && in->opt.ts_ecr != 0)
		tcp_wnd_round_trip(c, in->opt.ts_ecr);
	if (was_gap)
		tcp_ooo_drain(c);
	tcp_conn_wake(c, TCP_EV_READABLE);
	ack_policy(c, len, was_gap);
}

static void take_ahead(struct tcp_conn *c, const struct tcp_in *in)
{
	if (c->flags & TCP_F_DISCARD)
		release(c, in);
	else
		tcp_ooo_insert(c, in);
	/* RFC 5681: at once, one for each, for the sender counts them */
	tcp_out_ack(c);
}

static void take_fin(struct tcp_conn *c)
{
	if ((c->flags & (TCP_F_FIN_KNOWN | TCP_F_FIN_RCVD)) != TCP_F_FIN_KNOWN ||
		c->fin_seq != c->rcv_nxt)
		return;
	c->flags |= TCP_F_FIN_RCVD;
	c->rcv_nxt++;
	tcp_ooo_clear(c);
	tcp_conn_wake(c, TCP_EV_READABLE);
	ack_soon(c);
	if (c->state == TCP_ESTABLISHED) {
		tcp_conn_set_state(c, TCP_CLOSE_WAIT);
	} else if (c->state == TCP_FIN_WAIT_1) {
		tcp_conn_set_state(c, TCP_CLOSING);
	} else if (c->state == TCP_FIN_WAIT_2) {
		tcp_out_ack(c);
		tcp_conn_time_wait(c);
	}
}

void tcp_data_take(struct tcp_conn *c, const struct tcp_in *in)
{
	if ((in->len == 0 && (in->flags & TCP_FIN) == 0) || !is_receiving(c)) {
		release(c, in);
		return;
	}
	struct tcp_in part = *in;
	trim(c, &part);
	note_fin(c, &part);
	if (part.len == 0) {
		release(c, in);
		/* a FIN that is ahead, bytes that did not fit: tell where we are */
		ack_soon(c);
	} else if (part.seq == c->rcv_nxt) {
		take_in_order(c, &part);
	} else {
		take_ahead(c, &part);
	}
	if (is_receiving(c))
		take_fin(c);
}
