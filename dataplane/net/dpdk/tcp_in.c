/* Segment arrival (RFC 9293 3.10.7, RFC 5961). tcp_state.def says which handler a segment meets. */
#include "dataplane/net/dpdk/tcp_ack.h"
#include "dataplane/net/dpdk/tcp_data.h"
#include "dataplane/net/dpdk/tcp_ooo.h"
#include "dataplane/net/dpdk/tcp_open.h"
#include "dataplane/net/dpdk/tcp_out.h"
#include "dataplane/net/dpdk/tcp_timer.h"

enum in_kind { KIND_SYN, KIND_SYNACK, KIND_ACK, KIND_RST, KIND_BARE, KIND_COUNT };

/* c is NULL in CLOSED and LISTEN. True: the packet was taken. */
typedef bool in_handler(struct tcp *t, struct tcp_conn *c, const struct tcp_in *in);

enum {
	PAWS_IDLE_MS = 24 * 24 * 3600 * 1000
}; /* RFC 7323 5.5: after 24 days a timestamp says nothing */

static uint32_t seq_len(const struct tcp_in *in)
{
	return in->len + ((in->flags & TCP_SYN) != 0) + ((in->flags & TCP_FIN) != 0);
}

static bool stray(struct tcp *t, struct tcp_conn *c, const struct tcp_in *in)
{
	(void)c;
	tcp_drop(t, REASON_TCP_PORT);
	tcp_out_refuse(t, in);
	return false;
}

static bool listen_syn(struct tcp *t, struct tcp_conn *c, const struct tcp_in *in)
{
	(void)c;
	tcp_open_syn(t, in, false, 0);
	return false;
}

/* Is the timestamp one of this connection, and not older than the last? (RFC 7323) */
static bool is_paws_ok(struct tcp_conn *c, const struct tcp_in *in)
{
	if ((c->flags & TCP_F_TS) == 0)
		return true;
	if ((in->opt.flags & TCP_OPT_TS) == 0)
		return false;
	if (tcp_seq_ge(in->opt.ts_val, c->ts_recent))
		return true;
	return tcp_now_ms(c->tcp) - c->ts_recent_ms > PAWS_IDLE_MS;
}

/* RFC 9293 3.10.7.4: does any of it lie in the window? */
static bool is_in_window(const struct tcp_conn *c, const struct tcp_in *in)
{
	uint32_t len = seq_len(in);
	/* what lies at rcv_nxt is heard for its acknowledgement even when the window is closed */
	bool starts_in = tcp_seq_ge(in->seq, c->rcv_nxt) &&
			 (tcp_seq_lt(in->seq, c->rcv_edge) || in->seq == c->rcv_nxt ||
				 (len == 0 && in->seq == c->rcv_edge));
	if (starts_in || len == 0)
		return starts_in;
	uint32_t last = in->seq + len - 1;
	return tcp_seq_lt(in->seq, c->rcv_nxt) && tcp_seq_ge(last, c->rcv_nxt);
}

/* An unacceptable segment is answered, so that a peer that has lost track finds back. */
static void out_of_window(struct tcp_conn *c, const struct tcp_in *in)
{
	tcp_drop(c->tcp, REASON_TCP_WINDOW);
	if (in->len == 0 && (in->flags & TCP_FIN) == 0) {
		tcp_out_challenge(c);
		return;
	}
	c->tcp->counts[TCP_COUNT_DUPS_IN]++;
	if (in->len != 0 && tcp_seq_le(in->seq + in->len, c->rcv_nxt))
		tcp_ooo_dsack(c, in->seq, in->seq + in->len);
	tcp_out_ack(c);
}

static void note_ts(struct tcp_conn *c, const struct tcp_in *in)
{
	if ((c->flags & TCP_F_TS) == 0 || (in->opt.flags & TCP_OPT_TS) == 0)
		return;
	if (tcp_seq_le(in->seq, c->ack_sent)) {
		c->ts_recent = in->opt.ts_val;
		c->ts_recent_ms = tcp_now_ms(c->tcp);
	}
}

/* The checks every segment of a synchronized connection passes before it may change anything. */
static bool is_acceptable(struct tcp_conn *c, const struct tcp_in *in)
{
	if (!is_paws_ok(c, in)) {
		tcp_drop(c->tcp, REASON_TCP_PAWS);
		if (seq_len(in) != 0)
			tcp_out_challenge(c);
		return false;
	}
	if (!is_in_window(c, in)) {
		out_of_window(c, in);
		return false;
	}
	return true;
}

/* RFC 5961 5: an acknowledgement far behind or ahead is a guess, not a peer. */
static bool is_ack_ok(struct tcp_conn *c, const struct tcp_in *in)
{
	if (tcp_seq_le(in->ack, c->snd_nxt) && tcp_seq_ge(in->ack, c->snd_una - c->snd_wnd_max))
		return true;
	tcp_drop(c->tcp, REASON_TCP_ACK);
	tcp_out_challenge(c);
	return false;
}

/* Acknowledgement and payload of a segment that was found acceptable. */
static bool take(struct tcp_conn *c, const struct tcp_in *in)
{
	note_ts(c, in);
	c->last_rx_ms = tcp_now_ms(c->tcp);
	c->probes = 0;
	tcp_ack_take(c, in);
	if (c->state == TCP_CLOSED || c->state == TCP_TIME_WAIT)
		return false;
	tcp_data_take(c, in);
	return true;
}

static bool synced(struct tcp *t, struct tcp_conn *c, const struct tcp_in *in)
{
	(void)t;
	if (!is_acceptable(c, in) || !is_ack_ok(c, in))
		return false;
	return take(c, in);
}

static bool listen_ack(struct tcp *t, struct tcp_conn *c, const struct tcp_in *in)
{
	c = tcp_open_cookie(t, in);
	if (c == NULL)
		return false;
	tcp_open_acked(c, in);
	return take(c, in);
}

static bool syn_sent_syn(struct tcp *t, struct tcp_conn *c, const struct tcp_in *in)
{
	(void)t;
	tcp_open_simultaneous(c, in);
	return false;
}

static bool syn_sent_synack(struct tcp *t, struct tcp_conn *c, const struct tcp_in *in)
{
	if (in->ack != c->snd_nxt) {
		tcp_drop(t, REASON_TCP_ACK);
		tcp_out_refuse(t, in);
		return false;
	}
	tcp_open_synack(c, in);
	return false;
}

/* No SYN in it: an old connection of the peer, which a reset ends. */
static bool syn_sent_ack(struct tcp *t, struct tcp_conn *c, const struct tcp_in *in)
{
	tcp_drop(t, REASON_TCP_STATE);
	if (in->ack != c->snd_nxt)
		tcp_out_refuse(t, in);
	return false;
}

static bool syn_sent_rst(struct tcp *t, struct tcp_conn *c, const struct tcp_in *in)
{
	if ((in->flags & TCP_ACK) == 0 || in->ack != c->snd_nxt) {
		tcp_drop(t, REASON_TCP_STATE);
		return false;
	}
	t->counts[TCP_COUNT_RESETS_IN]++;
	tcp_conn_end(c, TCP_END_REFUSED);
	return false;
}

/* The same SYN again: our answer was lost. Another one: RFC 5961 4. */
static bool syn_rcvd_syn(struct tcp *t, struct tcp_conn *c, const struct tcp_in *in)
{
	(void)t;
	if (in->seq == c->rcv_nxt - 1)
		tcp_out_syn(c);
	else
		tcp_out_challenge(c);
	return false;
}

static bool syn_rcvd_synack(struct tcp *t, struct tcp_conn *c, const struct tcp_in *in)
{
	/* both sides opened at once: the acknowledgement counts, its SYN is known */
	if (in->seq != c->rcv_nxt - 1 || in->ack != c->snd_nxt) {
		tcp_drop(t, REASON_TCP_WINDOW);
		tcp_out_challenge(c);
		return false;
	}
	tcp_open_acked(c, in);
	c->flags |= TCP_F_ACK_NOW;
	return false;
}

static bool syn_rcvd_ack(struct tcp *t, struct tcp_conn *c, const struct tcp_in *in)
{
	if (!is_acceptable(c, in))
		return false;
	if (in->ack != c->snd_nxt) {
		tcp_drop(t, REASON_TCP_ACK);
		tcp_out_refuse(t, in);
		return false;
	}
	tcp_open_acked(c, in);
	return take(c, in);
}

/* RFC 5961 3: only a reset at exactly rcv_nxt resets; one in the window is asked back. */
static bool reset(struct tcp *t, struct tcp_conn *c, const struct tcp_in *in)
{
	if (in->seq == c->rcv_nxt) {
		t->counts[TCP_COUNT_RESETS_IN]++;
		bool is_refusal = c->state == TCP_SYN_RCVD && (c->flags & TCP_F_ACTIVE) != 0;
		tcp_conn_end(c, is_refusal ? TCP_END_REFUSED : TCP_END_RESET);
		return false;
	}
	tcp_drop(t, REASON_TCP_WINDOW);
	if (tcp_seq_gt(in->seq, c->rcv_nxt) && tcp_seq_lt(in->seq, c->rcv_edge))
		tcp_out_challenge(c);
	return false;
}

/* RFC 5961 4: a SYN into a living connection, wherever it lies. */
static bool challenge(struct tcp *t, struct tcp_conn *c, const struct tcp_in *in)
{
	(void)in;
	tcp_drop(t, REASON_TCP_STATE);
	tcp_out_challenge(c);
	return false;
}

/* A new connection may take the place of a finished one when it is surely newer: by timestamp (RFC 6191), or by
 * sequence number (RFC 1122). */
static bool time_wait_syn(struct tcp *t, struct tcp_conn *c, const struct tcp_in *in)
{
	bool has_ts = (c->flags & TCP_F_TS) != 0 && (in->opt.flags & TCP_OPT_TS) != 0;
	bool is_newer =
		has_ts ? tcp_seq_gt(in->opt.ts_val, c->ts_recent) ||
				 (in->opt.ts_val == c->ts_recent && tcp_seq_gt(in->seq, c->rcv_nxt))
		       : tcp_seq_gt(in->seq, c->rcv_nxt);
	if (!is_newer) {
		tcp_drop(t, REASON_TCP_STATE);
		tcp_out_challenge(c);
		return false;
	}
	uint32_t floor = c->snd_nxt + UINT16_MAX;
	t->counts[TCP_COUNT_RECYCLED]++;
	tcp_conn_forget(c);
	tcp_open_syn(t, in, true, floor);
	return false;
}

static bool time_wait_ack(struct tcp *t, struct tcp_conn *c, const struct tcp_in *in)
{
	if (!is_paws_ok(c, in)) {
		tcp_drop(t, REASON_TCP_PAWS);
		return false;
	}
	/* the peer's FIN again: our last acknowledgement was lost, the wait starts anew */
	if ((in->flags & TCP_FIN) != 0 && in->seq + in->len + 1 == c->rcv_nxt) {
		tcp_timer_set(c, TCP_TIMER_LIFE, t->now_ns + t->conf.time_wait_ms * NS_PER_MS);
		tcp_out_ack(c);
		return false;
	}
	tcp_drop(t, REASON_TCP_STATE);
	if (in->len != 0 || (in->flags & TCP_FIN) != 0 || in->seq != c->rcv_nxt)
		tcp_out_challenge(c);
	return false;
}

static in_handler *const handlers[TCP_STATE_COUNT][KIND_COUNT] = {
#define TCP_EDGE(state, kind, handler) [TCP_##state][KIND_##kind] = handler,
#include "dataplane/net/dpdk/tcp_state.def"
#undef TCP_EDGE
};

static enum in_kind kind_of(const struct tcp_in *in)
{
	if (in->flags & TCP_RST)
		return KIND_RST;
	/* a SYN ends nothing and asks for nothing urgent: with FIN it is a probe of scanners */
	if ((in->flags & (TCP_SYN | TCP_FIN)) == (TCP_SYN | TCP_FIN))
		return KIND_BARE;
	if (in->flags & TCP_SYN)
		return (in->flags & TCP_ACK) != 0 ? KIND_SYNACK : KIND_SYN;
	return (in->flags & TCP_ACK) != 0 ? KIND_ACK : KIND_BARE;
}

void tcp_input(struct tcp *t, const struct tcp_in *in)
{
	t->counts[TCP_COUNT_SEGS_IN]++;
	struct tcp_conn *c = tcp_conn_find(t, &in->key);
	enum tcp_state state = TCP_CLOSED;
	if (c != NULL)
		state = (enum tcp_state)c->state;
	else if (tcp_open_listener(t, &in->key) != NULL)
		state = TCP_LISTEN;
	in_handler *handler = handlers[state][kind_of(in)];
	bool is_taken = false;
	if (handler != NULL)
		is_taken = handler(t, c, in);
	else
		tcp_drop(t, REASON_TCP_STATE);
	if (!is_taken && in->pkt != NULL)
		t->conf.ops->pkt_release(t->conf.ctx, in->pkt);
}
