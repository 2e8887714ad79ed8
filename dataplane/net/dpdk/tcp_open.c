#include "dataplane/net/dpdk/tcp_open.h"

#include <string.h>

#include "dataplane/net/dpdk/tcp_ack.h"
#include "dataplane/net/dpdk/tcp_isn.h"
#include "dataplane/net/dpdk/tcp_out.h"
#include "dataplane/net/dpdk/tcp_rto.h"
#include "dataplane/net/dpdk/tcp_timer.h"
#include "dataplane/net/dpdk/tcp_wnd.h"

enum { MSS_DEFAULT = 536 };

static bool is_any(const struct addr *a)
{
	static const uint8_t v6[16];
	static const uint8_t v4[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	return memcmp(a->ip, v6, sizeof(v6)) == 0 || memcmp(a->ip, v4, sizeof(v4)) == 0;
}

struct tcp_listener *tcp_open_listener(struct tcp *t, const struct tcp_key *key)
{
	for (unsigned i = 0; i < ARRAY_LEN(t->listeners); i++) {
		struct tcp_listener *l = &t->listeners[i];
		if (l->is_open && l->local.port == key->local_port &&
			(is_any(&l->local) || memcmp(l->local.ip, key->local_ip, 16) == 0))
			return l;
	}
	return NULL;
}

/* What we may use of what the peer's SYN offers. */
static void agree(struct tcp_conn *c, const struct tcp_opt *opt)
{
	const struct tcp_conf *conf = &c->tcp->conf;
	uint16_t ours = tcp_out_mss(c->tcp, &c->key);
	uint16_t mss = (opt->flags & TCP_OPT_MSS) != 0 ? opt->mss : MSS_DEFAULT;
	if (mss < LIMIT_TCP_MSS_MIN)
		mss = LIMIT_TCP_MSS_MIN;
	c->mss = mss < ours ? mss : ours;
	c->rcv_mss = MSS_DEFAULT;
	c->flags &= ~(uint32_t)(TCP_F_TS | TCP_F_SACK | TCP_F_SCALE);
	if ((opt->flags & TCP_OPT_TS) != 0 && !conf->no_ts) {
		c->flags |= TCP_F_TS;
		c->ts_recent = opt->ts_val;
		c->ts_recent_ms = tcp_now_ms(c->tcp);
	}
	if ((opt->flags & TCP_OPT_SACK_OK) != 0 && !conf->no_sack)
		c->flags |= TCP_F_SACK;
	c->snd_scale = c->rcv_scale = 0;
	if ((opt->flags & TCP_OPT_SCALE) != 0 && !conf->no_scale) {
		c->flags |= TCP_F_SCALE;
		c->snd_scale = opt->scale;
		c->rcv_scale = TCP_WND_SCALE;
	}
}

/* rack_sent_us keeps the time of the first SYN until there is data to keep it for. */
static void syn_first(struct tcp_conn *c)
{
	c->rack_sent_us = tcp_now_us(c->tcp);
	c->probes = 1;
	tcp_out_syn(c);
	tcp_timer_set(c, TCP_TIMER_RTO, c->tcp->now_ns + tcp_rto_ns(c));
}

static void number(struct tcp_conn *c, uint32_t isn)
{
	c->snd_una = isn;
	c->snd_nxt = isn + 1;
}

static uint32_t isn_behind(const struct tcp_conn *c, bool has_floor, uint32_t floor)
{
	uint32_t isn = tcp_isn_first(c->tcp, &c->key);
	return has_floor && tcp_seq_le(isn, floor) ? floor + 1 : isn;
}

static void peer_number(struct tcp_conn *c, const struct tcp_in *in)
{
	c->rcv_nxt = in->seq + 1;
	c->ack_sent = c->rcv_nxt;
	c->rcv_edge = c->rcv_nxt + (c->rcv_buf < UINT16_MAX ? c->rcv_buf : UINT16_MAX);
	c->snd_wl1 = in->seq;
	c->snd_wnd = tcp_ack_window(c, in);
	c->snd_wnd_max = c->snd_wnd;
	c->last_rx_ms = tcp_now_ms(c->tcp);
}

/* The caps of who may connect; the connection owes a retire from here on. */
static bool is_admitted(struct tcp *t, const struct tcp_in *in)
{
	if (t->conf.ops->admit == NULL || t->conf.ops->admit(t->conf.ctx, in->key.remote_ip))
		return true;
	tcp_drop(t, REASON_IP_CAP);
	tcp_out_refuse(t, in);
	return false;
}

static struct tcp_conn *take_passive(struct tcp *t, const struct tcp_in *in, struct tcp_listener *l)
{
	if (!is_admitted(t, in))
		return NULL;
	struct tcp_conn *c = tcp_conn_take(t, &in->key);
	if (c == NULL) {
		tcp_drop(t, REASON_CONN_CAP);
		if (t->conf.ops->retire != NULL)
			t->conf.ops->retire(t->conf.ctx, in->key.remote_ip);
		return NULL;
	}
	c->flags |= TCP_F_QUIET;
	if (t->conf.ops->retire != NULL)
		c->flags |= TCP_F_ADMITTED;
	c->user = l->user;
	c->listener = (uint8_t)(l - t->listeners);
	t->counts[TCP_COUNT_PASSIVE_OPENS]++;
	return c;
}

void tcp_open_syn(struct tcp *t, const struct tcp_in *in, bool has_floor, uint32_t isn_floor)
{
	struct tcp_listener *l = tcp_open_listener(t, &in->key);
	if (l == NULL) {
		tcp_drop(t, REASON_TCP_PORT);
		tcp_out_refuse(t, in);
		return;
	}
	if (l->half_open >= l->backlog || t->conf.cookies_always) {
		t->cookie_ns = t->now_ns;
		tcp_out_cookie(t, in);
		return;
	}
	struct tcp_conn *c = take_passive(t, in, l);
	if (c == NULL)
		return;
	l->half_open++;
	c->flags |= TCP_F_HALF_OPEN;
	agree(c, &in->opt);
	number(c, isn_behind(c, has_floor, isn_floor));
	peer_number(c, in);
	tcp_conn_set_state(c, TCP_SYN_RCVD);
	syn_first(c);
}

/* Finds the peer's number for which the acknowledged cookie was made: it lies in front of the first byte, or, when a
 * keep-alive is all we hear, at it. Returns the MSS, 0: it is none of ours. */
static uint16_t cookie_check(struct tcp *t, const struct tcp_in *in, uint32_t *peer_isn)
{
	*peer_isn = in->seq - 1;
	uint16_t mss = tcp_isn_cookie_mss(t, &in->key, *peer_isn, in->ack - 1);
	if (mss == 0 && in->len == 0) {
		*peer_isn = in->seq;
		mss = tcp_isn_cookie_mss(t, &in->key, *peer_isn, in->ack - 1);
	}
	return mss;
}

/* No cookie, or none that is good. Cookies were sent of late: then it may well be a segment of a real client that has
 * overtaken the one with the cookie; a reset would end it, silence lets it send that one again. */
static void cookie_bad(struct tcp *t, const struct tcp_in *in, bool is_cookie_time)
{
	if (is_cookie_time) {
		tcp_drop(t, REASON_TCP_COOKIE);
		return;
	}
	tcp_drop(t, REASON_TCP_PORT);
	tcp_out_refuse(t, in);
}

struct tcp_conn *tcp_open_cookie(struct tcp *t, const struct tcp_in *in)
{
	struct tcp_listener *l = tcp_open_listener(t, &in->key);
	bool is_time = l != NULL && t->cookie_ns != 0 &&
		       t->now_ns - t->cookie_ns < 2 * TCP_ISN_TURN_S * NS_PER_S;
	struct tcp_in first = *in;
	uint16_t mss = is_time ? cookie_check(t, in, &first.seq) : 0;
	if (mss == 0) {
		cookie_bad(t, in, is_time);
		return NULL;
	}
	struct tcp_conn *c = take_passive(t, in, l);
	if (c == NULL)
		return NULL;
	t->counts[TCP_COUNT_COOKIES_IN]++;
	struct tcp_opt syn = {.flags = TCP_OPT_MSS, .mss = mss};
	if (in->opt.flags & TCP_OPT_TS) {
		tcp_isn_cookie_opt(in->opt.ts_ecr, &syn);
		syn.ts_val = in->opt.ts_val;
	}
	agree(c, &syn);
	number(c, in->ack - 1);
	peer_number(c, &first);
	c->rack_sent_us = tcp_now_us(t);
	c->probes = UINT8_MAX; /* nobody knows when it left: no round trip is taken from it */
	c->flags |= TCP_F_ACK_NOW;
	tcp_conn_set_state(c, TCP_SYN_RCVD);
	return c;
}

void tcp_open_active(struct tcp_conn *c, bool has_floor, uint32_t isn_floor)
{
	const struct tcp_conf *conf = &c->tcp->conf;
	c->flags |= TCP_F_ACTIVE;
	c->flags |= conf->no_ts ? 0 : TCP_F_TS;
	c->flags |= conf->no_sack ? 0 : TCP_F_SACK;
	c->flags |= conf->no_scale ? 0 : TCP_F_SCALE;
	c->rcv_scale = conf->no_scale ? 0 : TCP_WND_SCALE;
	c->mss = tcp_out_mss(c->tcp, &c->key);
	number(c, isn_behind(c, has_floor, isn_floor));
	tcp_conn_set_state(c, TCP_SYN_SENT);
	c->tcp->counts[TCP_COUNT_ACTIVE_OPENS]++;
	syn_first(c);
}

/* Both sides know both numbers. */
static void open_done(struct tcp_conn *c, const struct tcp_in *in)
{
	uint64_t rtt_us = tcp_now_us(c->tcp) - c->rack_sent_us;
	if (c->probes == 1)
		tcp_rto_sample(c, rtt_us < UINT32_MAX ? (uint32_t)rtt_us : UINT32_MAX);
	else if (c->srtt_us == 0)
		tcp_rto_init(c);
	c->probes = 0;
	c->snd_una = c->snd_nxt;
	c->snd_wl1 = in->seq;
	c->snd_wnd = tcp_ack_window(c, in);
	c->snd_wnd_max = c->snd_wnd;
	tcp_timer_clear(c, TCP_TIMER_RTO);
	tcp_conn_established(c);
}

void tcp_open_synack(struct tcp_conn *c, const struct tcp_in *in)
{
	agree(c, &in->opt);
	peer_number(c, in);
	open_done(c, in);
	c->flags |= TCP_F_ACK_NOW;
}

void tcp_open_simultaneous(struct tcp_conn *c, const struct tcp_in *in)
{
	agree(c, &in->opt);
	peer_number(c, in);
	tcp_conn_set_state(c, TCP_SYN_RCVD);
	tcp_out_syn(c);
}

void tcp_open_acked(struct tcp_conn *c, const struct tcp_in *in)
{
	if (c->flags & TCP_F_HALF_OPEN) {
		c->flags &= ~(uint32_t)TCP_F_HALF_OPEN;
		c->tcp->listeners[c->listener].half_open--;
	}
	open_done(c, in);
}

void tcp_open_again(struct tcp_conn *c)
{
	unsigned most =
		(c->flags & TCP_F_ACTIVE) != 0 ? LIMIT_TCP_SYN_TRIES : LIMIT_TCP_SYNACK_TRIES;
	if (c->probes >= most) {
		c->tcp->counts[TCP_COUNT_TIMEOUTS]++;
		tcp_conn_end(c, TCP_END_TIMEOUT);
		return;
	}
	c->probes++;
	tcp_conn_count_retrans(c);
	tcp_rto_back_off(c);
	tcp_out_syn(c);
	tcp_timer_set(c, TCP_TIMER_RTO, c->tcp->now_ns + tcp_rto_ns(c));
}
