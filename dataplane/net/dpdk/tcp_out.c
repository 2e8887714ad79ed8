#include "dataplane/net/dpdk/tcp_out.h"

#include <string.h>

#include "dataplane/net/dpdk/tcp_cc.h"
#include "dataplane/net/dpdk/tcp_isn.h"
#include "dataplane/net/dpdk/tcp_loss.h"
#include "dataplane/net/dpdk/tcp_ooo.h"
#include "dataplane/net/dpdk/tcp_rto.h"
#include "dataplane/net/dpdk/tcp_timer.h"
#include "dataplane/net/dpdk/tcp_tx.h"
#include "dataplane/net/dpdk/tcp_wnd.h"

enum { HEADERS_V4 = 40, HEADERS_V6 = 60 };

uint16_t tcp_out_mss(const struct tcp *t, const struct tcp_key *key)
{
	struct addr remote = {.port = 0};
	memcpy(remote.ip, key->remote_ip, sizeof(remote.ip));
	return (uint16_t)(t->conf.mtu - (addr_is_v4(&remote) ? HEADERS_V4 : HEADERS_V6));
}

static void emit(struct tcp *t, struct tcp_seg *seg, const struct tcp_opt *opt)
{
	seg->opts_len = (uint8_t)tcp_opt_write(opt, seg->opts);
	t->counts[TCP_COUNT_SEGS_OUT]++;
	t->conf.ops->emit(t->conf.ctx, seg);
}

static uint32_t ts_now(const struct tcp_conn *c)
{
	return tcp_now_ms(c->tcp) + c->ts_offset;
}

/* Every segment of a synchronized connection: acknowledges, tells the window, reports. */
static void emit_synced(struct tcp_conn *c, struct tcp_seg *seg)
{
	struct tcp_opt opt = {0};
	if (c->flags & TCP_F_TS) {
		opt.flags |= TCP_OPT_TS;
		opt.ts_val = ts_now(c);
		opt.ts_ecr = c->ts_recent;
	}
	tcp_ooo_report(c, &opt);
	seg->key = &c->key;
	seg->ack = c->rcv_nxt;
	seg->flags |= TCP_ACK;
	seg->wnd = tcp_wnd_offer(c);
	c->ack_sent = c->rcv_nxt;
	c->ack_bytes = 0;
	c->flags &= ~(uint32_t)TCP_F_ACK_NOW;
	tcp_timer_clear(c, TCP_TIMER_ACK);
	emit(c->tcp, seg, &opt);
}

/* What options take of the next segment. */
static uint32_t payload_max(const struct tcp_conn *c)
{
	struct tcp_opt opt = {.flags = (c->flags & TCP_F_TS) != 0 ? TCP_OPT_TS : 0};
	if (c->flags & TCP_F_SACK) {
		opt.sack_count = (uint8_t)(c->sack_count + ((c->flags & TCP_F_DSACK) != 0));
		opt.flags |= TCP_OPT_SACK;
	}
	uint32_t size = tcp_opt_size(&opt);
	return c->mss > size + 1 ? c->mss - size : 1;
}

static uint32_t wnd_left(const struct tcp_conn *c)
{
	uint32_t edge = c->snd_una + c->snd_wnd;
	return tcp_seq_gt(edge, c->snd_nxt) ? edge - c->snd_nxt : 0;
}

static void fin_sent(struct tcp_conn *c)
{
	c->flags |= TCP_F_FIN_SENT;
	if (c->state == TCP_ESTABLISHED)
		tcp_conn_set_state(c, TCP_FIN_WAIT_1);
	else if (c->state == TCP_CLOSE_WAIT)
		tcp_conn_set_state(c, TCP_LAST_ACK);
}

/* Emits the bytes of rtx, at most `most` of them, for the first time or again. */
static void emit_rtx(struct tcp_conn *c, const struct tcp_rtx *rtx, uint32_t most)
{
	struct tcp_seg seg;
	seg.seq = rtx->seq;
	seg.flags = 0;
	seg.len = 0;
	seg.piece_count = 0;
	uint32_t payload = tcp_rtx_payload(rtx);
	if (payload != 0)
		tcp_tx_pieces(rtx->buf, rtx->off, payload < most ? payload : most, &seg);
	bool is_whole = seg.len == payload;
	if (is_whole && (rtx->flags & TCP_RTX_FIN) != 0)
		seg.flags |= TCP_FIN;
	if (payload != 0 && is_whole && rtx->next == NULL && c->unsent == 0)
		seg.flags |= TCP_PSH;
	c->last_tx_ms = tcp_now_ms(c->tcp);
	emit_synced(c, &seg);
}

/* Sends `len` unsent bytes, at most, as one segment. False: no memory. */
static bool send_new(struct tcp_conn *c, uint32_t len, bool has_fin)
{
	struct tcp_seg fit;
	uint32_t payload = len != 0 ? tcp_tx_pieces(c->tx_cur, c->tx_cur_off, len, &fit) : 0;
	has_fin = has_fin && payload == len;
	struct tcp_rtx *rtx = tcp_rtx_push(c, len != 0 ? c->tx_cur : NULL, c->tx_cur_off,
		payload + has_fin, has_fin ? TCP_RTX_FIN : 0);
	if (rtx == NULL)
		return false;
	tcp_tx_sent(c, payload);
	c->tcp->counts[TCP_COUNT_BYTES_OUT] += payload;
	c->prr_out += payload;
	if (has_fin)
		fin_sent(c);
	if (c->flags & TCP_F_PERSIST) {
		c->flags &= ~(uint32_t)TCP_F_PERSIST;
		c->backoff = 0;
		tcp_timer_clear(c, TCP_TIMER_RTO);
	}
	emit_rtx(c, rtx, UINT32_MAX);
	tcp_loss_on_sent(c, true);
	return true;
}

static void send_again(struct tcp_conn *c, struct tcp_rtx *rtx)
{
	/* the path may have become narrower, or the options longer; without memory to cut it, only its head goes */
	uint32_t fit = payload_max(c);
	if (tcp_rtx_payload(rtx) > fit && !tcp_rtx_cut(c, rtx, fit))
		tcp_drop(c->tcp, REASON_BUSY);
	tcp_rtx_resent(c, rtx);
	c->prr_out += rtx->len;
	tcp_conn_count_retrans(c);
	if (rtx == c->rtx.first)
		tcp_timer_set(c, TCP_TIMER_RTO, c->tcp->now_ns + tcp_rto_ns(c));
	emit_rtx(c, rtx, fit);
	tcp_loss_on_sent(c, false);
}

enum push_stop { PUSH_MORE, PUSH_EMPTY, PUSH_CWND, PUSH_WND };

static bool cwnd_takes(const struct tcp_conn *c, uint32_t len)
{
	uint32_t flight = tcp_rtx_flight(c);
	return flight == 0 || flight + len <= c->cwnd;
}

/* One segment, or why not. */
static enum push_stop push_one(struct tcp_conn *c)
{
	struct tcp_rtx *lost = c->gone.first;
	if (lost != NULL) {
		uint32_t fit = payload_max(c);
		if (!cwnd_takes(c, lost->len < fit ? lost->len : fit))
			return PUSH_CWND;
		send_again(c, lost);
		return PUSH_MORE;
	}
	bool owes_fin = tcp_out_owes_fin(c);
	if (c->unsent == 0 && !owes_fin)
		return PUSH_EMPTY;
	uint32_t wnd = wnd_left(c);
	uint32_t want = payload_max(c);
	if (want > c->unsent)
		want = c->unsent;
	uint32_t len = want < wnd ? want : wnd;
	/* a sender of slivers helps nobody (RFC 9293 3.8.6.2.1); a forced one follows if the window stays small */
	if (len < want && (len == 0 || len < c->snd_wnd_max / 2))
		return PUSH_WND;
	bool has_fin = owes_fin && len == c->unsent && wnd > len;
	if (len + has_fin == 0)
		return PUSH_WND;
	if (!cwnd_takes(c, len + has_fin))
		return PUSH_CWND;
	return send_new(c, len, has_fin) ? PUSH_MORE : PUSH_WND;
}

/* Nothing is in flight that would bring an acknowledgement, yet something waits: a timer must look after it. */
static void persist_update(struct tcp_conn *c)
{
	bool is_waiting = c->snd_una == c->snd_nxt && (c->unsent != 0 || tcp_out_owes_fin(c));
	if (is_waiting) {
		c->flags |= TCP_F_PERSIST;
		if (c->due_ns[TCP_TIMER_RTO] == 0)
			tcp_timer_set(c, TCP_TIMER_RTO, c->tcp->now_ns + tcp_rto_ns(c));
	} else if (c->flags & TCP_F_PERSIST) {
		c->flags &= ~(uint32_t)TCP_F_PERSIST;
		if (c->snd_una == c->snd_nxt)
			tcp_timer_clear(c, TCP_TIMER_RTO);
	}
}

/* RFC 5681 4.1: after an idle time the window says nothing about the path. */
static void idle_restart(struct tcp_conn *c)
{
	if (c->snd_una != c->snd_nxt || c->unsent == 0)
		return;
	uint32_t idle_ms = tcp_now_ms(c->tcp) - c->last_tx_ms;
	uint32_t initial = tcp_cc_initial(c);
	if (idle_ms > c->rto_us / 1000 && c->cwnd > initial) {
		c->cwnd = initial;
		c->tcp->cc->on_restart(c);
	}
}

void tcp_out_push(struct tcp_conn *c)
{
	if (!tcp_conn_is_synced(c) || c->state == TCP_TIME_WAIT)
		return;
	idle_restart(c);
	enum push_stop stop;
	do {
		stop = push_one(c);
	} while (stop == PUSH_MORE);
	uint32_t flight = tcp_rtx_flight(c);
	bool is_full =
		stop == PUSH_CWND || (c->cwnd < c->ssthresh ? 2ull * flight > c->cwnd
							    : flight + 3ull * c->mss > c->cwnd);
	if (is_full)
		c->flags |= TCP_F_CWND_FULL;
	else
		c->flags &= ~(uint32_t)TCP_F_CWND_FULL;
	persist_update(c);
}

bool tcp_out_force(struct tcp_conn *c)
{
	uint32_t wnd = wnd_left(c);
	uint32_t len = payload_max(c);
	if (len > c->unsent)
		len = c->unsent;
	if (len > wnd)
		len = wnd;
	bool has_fin = tcp_out_owes_fin(c) && len == c->unsent && wnd > len;
	return len + has_fin != 0 && send_new(c, len, has_fin);
}

bool tcp_out_probe(struct tcp_conn *c, bool *is_retx)
{
	*is_retx = false;
	if (c->unsent != 0 && wnd_left(c) >= payload_max(c) && tcp_out_force(c))
		return true;
	struct tcp_rtx *last = c->rtx.last;
	if (last == NULL || (last->flags & TCP_RTX_SACKED) != 0)
		return false;
	*is_retx = true;
	send_again(c, last);
	return true;
}

void tcp_out_ack(struct tcp_conn *c)
{
	struct tcp_seg seg;
	seg.seq = c->snd_nxt;
	seg.flags = 0;
	seg.len = 0;
	seg.piece_count = 0;
	emit_synced(c, &seg);
}

void tcp_out_challenge(struct tcp_conn *c)
{
	uint32_t now_ms = tcp_now_ms(c->tcp);
	if (c->challenge_ms != 0 && now_ms - c->challenge_ms < LIMIT_TCP_CHALLENGE_MS)
		return;
	c->challenge_ms = now_ms != 0 ? now_ms : 1;
	c->tcp->counts[TCP_COUNT_CHALLENGES]++;
	tcp_out_ack(c);
}

void tcp_out_poke(struct tcp_conn *c)
{
	struct tcp_seg seg;
	seg.seq = c->snd_una - 1;
	seg.flags = 0;
	seg.len = 0;
	seg.piece_count = 0;
	emit_synced(c, &seg);
}

void tcp_out_syn(struct tcp_conn *c)
{
	struct tcp *t = c->tcp;
	bool is_answer = c->state == TCP_SYN_RCVD;
	struct tcp_opt opt = {.flags = TCP_OPT_MSS, .mss = tcp_out_mss(t, &c->key)};
	if (c->flags & TCP_F_TS) {
		opt.flags |= TCP_OPT_TS;
		opt.ts_val = ts_now(c);
		opt.ts_ecr = is_answer ? c->ts_recent : 0;
	}
	if (c->flags & TCP_F_SACK)
		opt.flags |= TCP_OPT_SACK_OK;
	if (c->flags & TCP_F_SCALE) {
		opt.flags |= TCP_OPT_SCALE;
		opt.scale = c->rcv_scale;
	}
	struct tcp_seg seg = {.key = &c->key, .seq = c->snd_una, .flags = TCP_SYN};
	seg.wnd = c->rcv_buf < UINT16_MAX ? (uint16_t)c->rcv_buf : UINT16_MAX;
	if (is_answer) {
		seg.flags |= TCP_ACK;
		seg.ack = c->rcv_nxt;
		c->ack_sent = c->rcv_nxt;
		c->rcv_edge = c->rcv_nxt + seg.wnd;
	}
	emit(t, &seg, &opt);
}

void tcp_out_reset(struct tcp_conn *c)
{
	struct tcp_seg seg = {
		.key = &c->key, .seq = c->snd_nxt, .ack = c->rcv_nxt, .flags = TCP_RST | TCP_ACK};
	struct tcp_opt opt = {0};
	c->tcp->counts[TCP_COUNT_RESETS_OUT]++;
	emit(c->tcp, &seg, &opt);
}

void tcp_out_refuse(struct tcp *t, const struct tcp_in *in)
{
	struct tcp_seg seg = {.key = &in->key, .flags = TCP_RST};
	struct tcp_opt opt = {0};
	if (in->flags & TCP_RST)
		return;
	if (in->flags & TCP_ACK) {
		seg.seq = in->ack;
	} else {
		seg.flags |= TCP_ACK;
		seg.ack = in->seq + in->len + ((in->flags & TCP_SYN) != 0) +
			  ((in->flags & TCP_FIN) != 0);
	}
	t->counts[TCP_COUNT_RESETS_OUT]++;
	emit(t, &seg, &opt);
}

void tcp_out_cookie(struct tcp *t, const struct tcp_in *in)
{
	uint16_t our_mss = tcp_out_mss(t, &in->key);
	uint16_t mss = (in->opt.flags & TCP_OPT_MSS) != 0 ? in->opt.mss : 536;
	struct tcp_opt opt = {.flags = TCP_OPT_MSS, .mss = our_mss};
	if ((in->opt.flags & TCP_OPT_TS) != 0 && !t->conf.no_ts) {
		opt.flags |= (in->opt.flags & (TCP_OPT_SCALE | TCP_OPT_SACK_OK)) | TCP_OPT_TS;
		if (t->conf.no_sack)
			opt.flags &= (uint8_t)~TCP_OPT_SACK_OK;
		if (t->conf.no_scale)
			opt.flags &= (uint8_t)~TCP_OPT_SCALE;
		struct tcp_opt agreed = in->opt;
		agreed.flags = opt.flags;
		opt.scale = TCP_WND_SCALE;
		opt.ts_val =
			tcp_isn_cookie_ts(tcp_now_ms(t) + tcp_isn_ts_offset(t, &in->key), &agreed);
		opt.ts_ecr = in->opt.ts_val;
	}
	struct tcp_seg seg = {.key = &in->key,
		.seq = tcp_isn_cookie(t, &in->key, in->seq, mss < our_mss ? mss : our_mss),
		.ack = in->seq + 1,
		.wnd = UINT16_MAX,
		.flags = TCP_SYN | TCP_ACK};
	t->counts[TCP_COUNT_COOKIES_OUT]++;
	emit(t, &seg, &opt);
}
