#include "dataplane/net/dpdk/tcp.h"

#include <errno.h>
#include <string.h>

#include "dataplane/net/dpdk/tcp_cc.h"
#include "dataplane/net/dpdk/tcp_conn.h"
#include "dataplane/net/dpdk/tcp_ooo.h"
#include "dataplane/net/dpdk/tcp_open.h"
#include "dataplane/net/dpdk/tcp_out.h"
#include "dataplane/net/dpdk/tcp_rtx.h"
#include "dataplane/net/dpdk/tcp_rx.h"
#include "dataplane/net/dpdk/tcp_timer.h"
#include "dataplane/net/dpdk/tcp_tx.h"
#include "dataplane/net/dpdk/tcp_wnd.h"

enum {
	PORT_FIRST = 32768,
	PORT_COUNT = 28232,
	PORT_TRIES = 512,
	REUSE_MS = 1000, /* a finished connection of ours may be followed by another after this */
	ROOM_MS = 5,
};

const char *tcp_state_name(enum tcp_state state)
{
	static const char *const names[] = {
#define TCP_STATE(id, name) name,
#include "dataplane/net/dpdk/tcp_state.def"
#undef TCP_STATE
	};
	return names[state];
}

void tcp_describe(const struct tcp_conn *c, struct tcp_report *out)
{
	*out = (struct tcp_report){.state = (enum tcp_state)c->state,
		.rtt_us = c->srtt_us,
		.cwnd = c->cwnd,
		.retrans = c->retrans};
}

void tcp_conf_default(struct tcp_conf *conf, uint32_t conns_max)
{
	*conf = (struct tcp_conf){
		.conns_max = conns_max,
		.segs_max = 65536,
		.pkts_max = 65536,
		.bufs_max = conns_max < 16384 ? 16384 : conns_max,
		.blocks_max = conns_max < 8192 ? 8192 : conns_max,
		.rx_budget = 128ull << 20,
		.mtu = 1500,
		.tx_spans_max = LIMIT_NET_TX_SPANS,
		.tx_copy_max = LIMIT_NET_TX_COPY_BYTES,
		.keepalive_ms = LIMIT_TCP_KEEPALIVE_MS,
		.time_wait_ms = LIMIT_TCP_TIME_WAIT_MS,
		.cc = TCP_CC_CUBIC,
	};
}

static int pools_init(struct tcp *t)
{
	const struct tcp_conf *conf = &t->conf;
	int err = pool_init(
		&t->conns, "tcp_conns", conf->conns_max, sizeof(struct tcp_conn), CACHE_LINE);
	if (err == 0)
		err = pool_init(
			&t->segs, "tcp_segs", conf->segs_max, sizeof(struct tcp_rtx), CACHE_LINE);
	if (err == 0)
		err = pool_init(&t->pkts, "tcp_pkts", conf->pkts_max, sizeof(struct tcp_rx), 8);
	if (err == 0)
		err = pool_init(
			&t->bufs, "tcp_bufs", conf->bufs_max, sizeof(struct tcp_buf), CACHE_LINE);
	if (err == 0)
		err = pool_init(&t->blocks, "tcp_blocks", conf->blocks_max, LIMIT_TCP_BLOCK_BYTES,
			CACHE_LINE);
	return err;
}

static void pools_fini(struct tcp *t)
{
	struct pool *pools[] = {&t->conns, &t->segs, &t->pkts, &t->bufs, &t->blocks};
	for (unsigned i = 0; i < ARRAY_LEN(pools); i++) {
		if (pools[i]->base != NULL)
			pool_fini(pools[i]);
	}
}

/* One secret for each use: what leaks from one says nothing about the others. */
static void secrets_init(struct tcp *t, struct tcp_hash_secret *flow)
{
	struct tcp_hash_secret root;
	struct tcp_hash_secret *all[] = {flow, &t->isn_secret, &t->cookie_secret, &t->port_secret};
	uint64_t more[2];
	memcpy(&root, t->conf.secret, sizeof(root));
	memcpy(more, t->conf.secret + sizeof(root), sizeof(more));
	for (uint64_t i = 0; i < ARRAY_LEN(all); i++) {
		uint64_t words[3] = {more[0], more[1], 2 * i};
		all[i]->k0 = tcp_hash_words(&root, words, 3, 2, 4);
		words[2]++;
		all[i]->k1 = tcp_hash_words(&root, words, 3, 2, 4);
	}
}

int tcp_init(struct tcp *t, const struct tcp_conf *conf)
{
	struct tcp_hash_secret flow;
	MUST(3 * conf->tx_spans_max <= UINT8_MAX);
	memset(t, 0, sizeof(*t));
	t->conf = *conf;
	t->now_ns = conf->now_ns;
	t->cc = tcp_cc_of(conf->cc);
	secrets_init(t, &flow);
	int err = pools_init(t);
	if (err == 0)
		err = tcp_flow_init(
			&t->flow, conf->conns_max, &flow, t->conns.base, sizeof(struct tcp_conn));
	if (err != 0)
		pools_fini(t);
	return err;
}

void tcp_fini(struct tcp *t)
{
	for (uint32_t i = 0; i < t->conns.touched; i++) {
		struct tcp_conn *c = pool_at(&t->conns, i);
		if (!pool_is_taken(&t->conns, i))
			continue;
		tcp_conn_end(c, TCP_END_ABORTED);
		tcp_rx_clear(c);
	}
	tcp_flow_fini(&t->flow);
	pools_fini(t);
}

void tcp_begin(struct tcp *t, uint64_t now_ns)
{
	if (now_ns > t->now_ns)
		t->now_ns = now_ns;
}

static void run_open(struct tcp *t, struct tcp_conn *c)
{
	if (t->conf.ops->on_open(t->conf.ctx, c)) {
		c->flags = (c->flags & ~(uint32_t)TCP_F_QUIET) | TCP_F_OPENED;
		return;
	}
	c->flags |= TCP_F_QUIET;
	tcp_abort(c);
}

static bool is_listening(const struct tcp_conn *c)
{
	return c->state != TCP_CLOSED && (c->flags & TCP_F_DISCARD) == 0;
}

static void run_events(struct tcp *t, struct tcp_conn *c, unsigned events)
{
	if ((events & TCP_EV_OPEN) != 0 && c->state != TCP_CLOSED)
		run_open(t, c);
	/* bytes may have come with the end of the connection: they are read first */
	bool has_bytes = is_listening(c) || (c->flags & TCP_F_DONE) != 0;
	if ((events & TCP_EV_READABLE) != 0 && has_bytes)
		t->conf.ops->on_readable(t->conf.ctx, c);
	if ((events & TCP_EV_WRITABLE) != 0 && is_listening(c) &&
		(c->flags & TCP_F_WANT_ROOM) != 0) {
		c->flags &= ~(uint32_t)TCP_F_WANT_ROOM;
		t->conf.ops->on_writable(t->conf.ctx, c);
	}
}

static void run_conn(struct tcp *t, struct tcp_conn *c)
{
	unsigned events = c->events;
	c->events = 0;
	c->flags &= ~(uint32_t)TCP_F_READY;
	if (events & TCP_EV_FREE) {
		tcp_conn_give(c);
		return;
	}
	run_events(t, c, events);
	tcp_out_push(c);
	if (tcp_conn_is_synced(c) && (c->flags & TCP_F_ACK_NOW) != 0)
		tcp_out_ack(c);
	if ((events & TCP_EV_CLOSED) == 0)
		return;
	c->flags |= TCP_F_TOLD;
	if ((c->flags & TCP_F_QUIET) == 0)
		t->conf.ops->on_closed(t->conf.ctx, c, (enum tcp_end)c->end);
	if (c->state != TCP_CLOSED)
		return;
	/* a handler above may have woken it again */
	if (c->flags & TCP_F_READY)
		c->events |= TCP_EV_FREE;
	else
		tcp_conn_give(c);
}

unsigned tcp_run(struct tcp *t)
{
	unsigned count = 0;
	while (t->ready_first != NULL) {
		struct tcp_conn *c = t->ready_first;
		t->ready_first = c->ready_next;
		if (t->ready_first == NULL)
			t->ready_last = NULL;
		run_conn(t, c);
		count++;
	}
	return count;
}

int tcp_listen(struct tcp *t, const struct addr *local, unsigned backlog, void *user)
{
	struct tcp_listener *place = NULL;
	for (unsigned i = 0; i < ARRAY_LEN(t->listeners); i++) {
		struct tcp_listener *l = &t->listeners[i];
		if (l->is_open && l->local.port == local->port &&
			memcmp(l->local.ip, local->ip, 16) == 0)
			return -EADDRINUSE;
		if (place == NULL && !l->is_open && l->half_open == 0)
			place = l;
	}
	if (place == NULL)
		return -ENOSPC;
	*place = (struct tcp_listener){
		.local = *local, .user = user, .backlog = backlog, .is_open = true};
	return 0;
}

void tcp_stop_listening(struct tcp *t)
{
	for (unsigned i = 0; i < ARRAY_LEN(t->listeners); i++)
		t->listeners[i].is_open = false;
}

/* Is this 4-tuple free, or held only by a finished connection that may be followed? */
static bool is_usable(struct tcp *t, const struct tcp_key *key, struct tcp_conn **old)
{
	*old = tcp_conn_find(t, key);
	if (*old == NULL)
		return t->conf.ops->own == NULL || t->conf.ops->own(t->conf.ctx, key);
	const struct tcp_conn *c = *old;
	return c->state == TCP_TIME_WAIT &&
	       (c->flags & (TCP_F_TS | TCP_F_TOLD)) == (TCP_F_TS | TCP_F_TOLD) &&
	       tcp_now_ms(t) - c->last_rx_ms > REUSE_MS;
}

/* RFC 6056 3.3.3: a keyed start and a counter. */
static bool pick_port(struct tcp *t, struct tcp_key *key, struct tcp_conn **old)
{
	if (key->local_port != 0)
		return is_usable(t, key, old);
	uint64_t words[5] = {0};
	memcpy(words, key, sizeof(*key));
	uint32_t start = (uint32_t)tcp_hash_words(&t->port_secret, words, 5, 2, 4);
	for (unsigned i = 0; i < PORT_TRIES; i++) {
		key->local_port = (uint16_t)(PORT_FIRST + (start + t->port_turn++) % PORT_COUNT);
		if (is_usable(t, key, old))
			return true;
	}
	return false;
}

struct tcp_conn *tcp_connect(
	struct tcp *t, const struct addr *local, const struct addr *remote, void *user)
{
	struct tcp_key key = {.local_port = local->port, .remote_port = remote->port};
	memcpy(key.local_ip, local->ip, 16);
	memcpy(key.remote_ip, remote->ip, 16);
	struct tcp_conn *old = NULL;
	if (!pick_port(t, &key, &old))
		return NULL;
	uint32_t floor = 0;
	if (old != NULL) {
		floor = old->snd_nxt + UINT16_MAX;
		t->counts[TCP_COUNT_RECYCLED]++;
		tcp_conn_forget(old);
	}
	struct tcp_conn *c = tcp_conn_take(t, &key);
	if (c == NULL)
		return NULL;
	c->user = user;
	tcp_open_active(c, old != NULL, floor);
	return c;
}

void *tcp_user(const struct tcp_conn *c)
{
	return c->user;
}

void tcp_set_user(struct tcp_conn *c, void *user)
{
	c->user = user;
}

const struct tcp_key *tcp_key(const struct tcp_conn *c)
{
	return &c->key;
}

unsigned tcp_peek(const struct tcp_conn *c, struct span *pieces, unsigned max)
{
	unsigned count = 0;
	uint32_t off = c->rx_off;
	for (const struct tcp_rx *rx = c->rx_first; rx != NULL && count < max;
		rx = rx->next, off = 0)
		pieces[count++] = (struct span){rx->data + off, rx->len - off};
	return count;
}

void tcp_consume(struct tcp_conn *c, size_t len)
{
	MUST(len <= c->unread);
	tcp_rx_consume(c, (uint32_t)len);
	if ((c->flags & TCP_F_DONE) == 0) {
		tcp_wnd_consumed(c, (uint32_t)len);
	} else if (c->unread == 0) {
		c->flags &= ~(uint32_t)TCP_F_DONE;
		tcp_conn_wake(c, TCP_EV_CLOSED);
	}
}

uint32_t tcp_unread(const struct tcp_conn *c)
{
	return c->unread;
}

bool tcp_is_eof(const struct tcp_conn *c)
{
	return (c->flags & TCP_F_FIN_RCVD) != 0 && c->unread == 0;
}

/* A refused send: on_writable is owed, when an acknowledgement or, failing that, a timer finds room. */
static bool refuse_send(struct tcp_conn *c)
{
	c->flags |= TCP_F_WANT_ROOM;
	if (c->queued == 0)
		tcp_timer_set(c, TCP_TIMER_LIFE, c->tcp->now_ns + ROOM_MS * NS_PER_MS);
	return false;
}

static bool may_send(const struct tcp_conn *c)
{
	return c->state != TCP_CLOSED && c->state != TCP_TIME_WAIT &&
	       (c->flags & TCP_F_FIN_QUEUED) == 0;
}

bool tcp_send_copy(struct tcp_conn *c, const void *data, size_t len)
{
	if (!may_send(c))
		return false;
	if (len == 0)
		return true;
	if (len > UINT32_MAX || !tcp_tx_copy(c, data, (uint32_t)len))
		return refuse_send(c);
	tcp_conn_wake(c, TCP_EV_OUTPUT);
	return true;
}

bool tcp_send_ref(
	struct tcp_conn *c, const uint8_t *data, uint32_t len, tcp_release *release, void *ctx)
{
	if (!may_send(c))
		return false;
	if (len == 0) {
		if (release != NULL)
			release(ctx);
		return true;
	}
	if (!tcp_tx_ref(c, data, len, release, ctx))
		return refuse_send(c);
	tcp_conn_wake(c, TCP_EV_OUTPUT);
	return true;
}

void tcp_flush(struct tcp_conn *c)
{
	tcp_out_push(c);
}

uint32_t tcp_unacked(const struct tcp_conn *c)
{
	return c->queued;
}

void tcp_shutdown(struct tcp_conn *c)
{
	if (!may_send(c))
		return;
	c->flags |= TCP_F_FIN_QUEUED;
	c->flags &= ~(uint32_t)TCP_F_WANT_ROOM;
	tcp_conn_wake(c, TCP_EV_OUTPUT);
}

/* The wire is done, only the reader was not: he gives up. */
static void close_done(struct tcp_conn *c)
{
	if ((c->flags & TCP_F_DONE) == 0)
		return;
	c->flags &= ~(uint32_t)TCP_F_DONE;
	tcp_rx_clear(c);
	tcp_conn_wake(c, TCP_EV_CLOSED);
}

void tcp_close(struct tcp_conn *c)
{
	if (c->state == TCP_CLOSED || c->state == TCP_TIME_WAIT) {
		close_done(c);
		return;
	}
	if (c->state == TCP_SYN_SENT) {
		tcp_conn_end(c, TCP_END_ABORTED);
		return;
	}
	tcp_shutdown(c);
	c->flags |= TCP_F_DISCARD;
	tcp_rx_clear(c);
	tcp_ooo_clear(c);
	c->rcv_copied = 0;
	if (c->state == TCP_FIN_WAIT_2)
		tcp_timer_set(
			c, TCP_TIMER_LIFE, c->tcp->now_ns + LIMIT_TCP_FIN_WAIT_MS * NS_PER_MS);
	else
		tcp_timer_clear(c, TCP_TIMER_LIFE);
	/* the window may have been closed by what was just dropped */
	c->flags |= TCP_F_ACK_NOW;
	tcp_conn_wake(c, TCP_EV_OUTPUT);
}

void tcp_abort(struct tcp_conn *c)
{
	if (c->state == TCP_CLOSED || c->state == TCP_TIME_WAIT) {
		close_done(c);
		return;
	}
	if (c->state != TCP_SYN_SENT)
		tcp_out_reset(c);
	tcp_conn_end(c, TCP_END_ABORTED);
}

void tcp_path_mtu(struct tcp *t, const struct tcp_key *key, uint32_t seq, uint16_t mtu)
{
	struct tcp_conn *c = tcp_conn_find(t, key);
	/* RFC 5927: the quoted segment must be one that is in flight, and the news credible */
	if (c == NULL || !tcp_conn_is_synced(c) || tcp_seq_lt(seq, c->snd_una) ||
		tcp_seq_ge(seq, c->snd_nxt))
		return;
	uint32_t headers = t->conf.mtu - tcp_out_mss(t, key);
	uint32_t mss = mtu > headers + LIMIT_TCP_MSS_MIN ? mtu - headers : LIMIT_TCP_MSS_MIN;
	if (mss >= c->mss)
		return;
	c->mss = (uint16_t)mss;
	t->counts[TCP_COUNT_MSS_CUTS]++;
	struct tcp_rtx *next;
	for (struct tcp_rtx *seg = c->sent.first; seg != NULL; seg = next) {
		next = seg->tnext;
		if (tcp_rtx_payload(seg) > mss)
			tcp_rtx_lose(c, seg);
	}
	tcp_conn_wake(c, TCP_EV_OUTPUT);
}
