#include "dataplane/net/dpdk/dpdk_conn.h"

#include "dataplane/net/dpdk/dpdk_spread.h"
#include "dataplane/net/dpdk/dpdk_tx.h"
#include "lib/clock/clock.h"

enum { LOOK_MS = LIMIT_NET_LINGER_MS, STALLS_MAX = LIMIT_NET_CLOSE_STALL_MS / LOOK_MS };

static struct dpdk *dpdk_of(const struct dpdk_conn *c)
{
	return (struct dpdk *)c->pub.net;
}

static void set_partial(struct dpdk_conn *c, bool is_partial)
{
	if (c->is_partial == is_partial)
		return;
	c->is_partial = is_partial;
	if (is_partial)
		TAILQ_INSERT_TAIL(&dpdk_of(c)->partials, c, partial);
	else
		TAILQ_REMOVE(&dpdk_of(c)->partials, c, partial);
}

static void unjoin(struct dpdk_conn *c)
{
	if (c->join != NULL)
		pool_give(&dpdk_of(c)->joins, c->join);
	c->join = NULL;
	c->join_first = c->join_len = 0;
}

static void give(struct dpdk_conn *c)
{
	struct dpdk *d = dpdk_of(c);
	set_partial(c, false);
	unjoin(c);
	wheel_disarm(d->wheel, &c->timer);
	pool_give(&d->conns, c);
}

/* No event follows: the slot waits for the engine, which still names it. */
static void finish(struct dpdk_conn *c)
{
	struct dpdk *d = dpdk_of(c);
	c->state = DPDK_CONN_DEAD;
	set_partial(c, false);
	unjoin(c);
	wheel_disarm(d->wheel, &c->timer);
	tally_shift(d->tally, TALLY_CONNS_OPEN, -1);
}

/* --- receiving */

static struct span peek(struct net_conn *conn)
{
	struct dpdk_conn *c = (struct dpdk_conn *)conn;
	struct span piece;
	if (c->state != DPDK_CONN_OPEN)
		return (struct span){NULL, 0};
	if (c->join != NULL)
		piece = (struct span){c->join + c->join_first, c->join_len};
	else if (tcp_peek(c->tcp, &piece, 1) == 0)
		piece = (struct span){NULL, 0};
	c->shown = (uint32_t)piece.len;
	/* Whether that was enough is told by what the user does next. */
	set_partial(c, piece.len < LIMIT_HTTP_HEAD_BYTES && piece.len < tcp_unread(c->tcp));
	return piece;
}

static void consume(struct net_conn *conn, size_t len)
{
	struct dpdk_conn *c = (struct dpdk_conn *)conn;
	if (c->state != DPDK_CONN_OPEN)
		return;
	if (len != 0)
		set_partial(c, false);
	c->pub.rx_bytes += len;
	if (c->join != NULL) {
		MUST(len <= c->join_len);
		c->join_first += (uint32_t)len;
		c->join_len -= (uint32_t)len;
		if (c->join_len == 0)
			unjoin(c);
	}
	tcp_consume(c->tcp, len);
}

/* Copies unread bytes behind those that are joined already, up to what a head may have. False: no room now. */
static bool join(struct dpdk_conn *c)
{
	struct span pieces[DPDK_PEEK_PIECES];
	if (c->join == NULL) {
		c->join = pool_take(&dpdk_of(c)->joins);
		if (c->join == NULL)
			return false;
	}
	memmove(c->join, c->join + c->join_first, c->join_len);
	c->join_first = 0;
	unsigned count = tcp_peek(c->tcp, pieces, DPDK_PEEK_PIECES);
	uint32_t skip = c->join_len;
	for (unsigned i = 0; i < count && c->join_len < LIMIT_NET_RX_BLOCK_BYTES; i++) {
		uint32_t len = (uint32_t)pieces[i].len;
		uint32_t known = skip < len ? skip : len;
		uint32_t part = len - known;
		skip -= known;
		if (part > LIMIT_NET_RX_BLOCK_BYTES - c->join_len)
			part = LIMIT_NET_RX_BLOCK_BYTES - c->join_len;
		memcpy(c->join + c->join_len, pieces[i].data + known, part);
		c->join_len += part;
	}
	return true;
}

static void tell_readable(struct dpdk_conn *c)
{
	c->pub.is_eof = (c->tcp->flags & TCP_F_FIN_RCVD) != 0;
	c->pub.events->on_readable(&c->pub);
}

unsigned dpdk_conn_join(struct dpdk *d)
{
	unsigned count = 0;
	struct dpdk_conn *last = TAILQ_LAST(&d->partials, dpdk_conns);
	while (!TAILQ_EMPTY(&d->partials)) {
		struct dpdk_conn *c = TAILQ_FIRST(&d->partials);
		bool is_last = c == last;
		set_partial(c, false);
		count++;
		if (join(c)) {
			tell_readable(c);
		} else {
			/* No block free: the next turn tries again. */
			set_partial(c, true);
		}
		if (is_last)
			break;
	}
	return count;
}

/* --- sending */

static bool send_copy(struct net_conn *conn, const void *data, size_t len)
{
	struct dpdk_conn *c = (struct dpdk_conn *)conn;
	if (UNLIKELY(c->state != DPDK_CONN_OPEN) || !tcp_send_copy(c->tcp, data, len))
		return false;
	c->sent += len;
	c->pub.tx_waiting += (uint32_t)len;
	return true;
}

static bool send_ref(struct net_conn *conn, const struct net_ref *take_ref)
{
	struct dpdk_conn *c = (struct dpdk_conn *)conn;
	if (UNLIKELY(c->state != DPDK_CONN_OPEN) ||
		!tcp_send_ref(
			c->tcp, take_ref->data, take_ref->len, take_ref->release, take_ref->ctx))
		return false;
	c->sent += take_ref->len;
	c->pub.tx_waiting += take_ref->len;
	return true;
}

static void flush(struct net_conn *conn)
{
	struct dpdk_conn *c = (struct dpdk_conn *)conn;
	if (c->state == DPDK_CONN_OPEN)
		tcp_flush(c->tcp);
}

static void sample(struct net_conn *conn)
{
	struct dpdk_conn *c = (struct dpdk_conn *)conn;
	if (c->state == DPDK_CONN_DEAD)
		return;
	c->pub.tx_waiting = tcp_unacked(c->tcp);
	c->pub.tx_bytes = c->sent - c->pub.tx_waiting;
}

/* --- ending */

/* Looks once a second after a close: the peer takes the rest and ends its side, or it is reset. */
static void on_look(struct wheel_timer *timer, uint64_t now_ns)
{
	struct dpdk_conn *c = CONTAINER_OF(timer, struct dpdk_conn, timer);
	uint32_t waiting = tcp_unacked(c->tcp);
	c->stalls = waiting != 0 && waiting == c->waited ? (uint8_t)(c->stalls + 1) : 0;
	c->waited = waiting;
	if ((waiting == 0 && c->has_left) || c->stalls >= STALLS_MAX) {
		tcp_abort(c->tcp);
		return;
	}
	c->has_left = waiting == 0;
	wheel_arm(dpdk_of(c)->wheel, timer, now_ns + LOOK_MS * NS_PER_MS);
}

static void close_conn(struct net_conn *conn)
{
	struct dpdk_conn *c = (struct dpdk_conn *)conn;
	if (c->state != DPDK_CONN_OPEN && c->state != DPDK_CONN_CONNECTING)
		return;
	c->state = DPDK_CONN_CLOSING;
	set_partial(c, false);
	unjoin(c);
	c->waited = tcp_unacked(c->tcp);
	wheel_arm(dpdk_of(c)->wheel, &c->timer, *dpdk_of(c)->now_ns + LOOK_MS * NS_PER_MS);
	tcp_close(c->tcp);
}

static void abort_conn(struct net_conn *conn)
{
	struct dpdk_conn *c = (struct dpdk_conn *)conn;
	if (c->state == DPDK_CONN_DEAD)
		return;
	finish(c);
	tcp_abort(c->tcp);
	c->pub.events->on_closed(conn, NET_END_ABORTED);
}

static bool describe(struct net_conn *conn, struct net_tcp_info *out)
{
	const struct dpdk_conn *c = (const struct dpdk_conn *)conn;
	struct tcp_report report;
	tcp_describe(c->tcp, &report);
	*out = (struct net_tcp_info){.state = tcp_state_name(report.state),
		.rtt_us = report.rtt_us,
		.cwnd_bytes = report.cwnd,
		.retrans = report.retrans};
	return true;
}

static const struct net_conn_ops conn_ops = {
	.peek = peek,
	.consume = consume,
	.send_copy = send_copy,
	.send_ref = send_ref,
	.flush = flush,
	.sample = sample,
	.describe = describe,
	.close = close_conn,
	.abort = abort_conn,
};

/* --- the engine's events */

static struct dpdk_conn *take(
	struct dpdk *d, struct tcp_conn *tcp, const struct net_events *events, void *user)
{
	struct dpdk_conn *c = pool_take(&d->conns);
	if (c == NULL)
		return NULL;
	*c = (struct dpdk_conn){
		.pub = {.ops = &conn_ops,
			.events = events,
			.net = &d->pub,
			.user = user,
			.ip_entry = IP_TABLE_NONE},
		.tcp = tcp,
		.timer = {.fire = on_look},
	};
	tally_shift(d->tally, TALLY_CONNS_OPEN, 1);
	return c;
}

static void name_ends(struct dpdk_conn *c)
{
	const struct tcp_key *key = tcp_key(c->tcp);
	memcpy(c->pub.peer.ip, key->remote_ip, WIRE_IP_BYTES);
	memcpy(c->pub.local.ip, key->local_ip, WIRE_IP_BYTES);
	c->pub.peer.port = key->remote_port;
	c->pub.local.port = key->local_port;
}

/* Accepted: the engine's user is the listener so far. */
static struct dpdk_conn *adopt(struct dpdk *d, struct tcp_conn *tcp)
{
	const struct net_listener_conf *lc = tcp_user(tcp);
	struct dpdk_conn *c = take(d, tcp, lc->events, lc->user);
	if (c == NULL) {
		tally_inc(d->tally, TALLY_REJECTED + REASON_CONN_CAP);
		tally_inc(d->tally, TALLY_DROPS + REASON_CONN_CAP);
		return NULL;
	}
	tcp_set_user(tcp, c);
	name_ends(c);
	if (d->ips != NULL)
		c->pub.ip_entry = ip_table_find(d->ips, &c->pub.peer);
	tally_inc(d->tally, TALLY_CONNS_ACCEPTED);
	return c;
}

static bool on_open(void *ctx, struct tcp_conn *tcp)
{
	struct dpdk *d = ctx;
	struct dpdk_conn *c = tcp->flags & TCP_F_ACTIVE ? tcp_user(tcp) : adopt(d, tcp);
	if (c == NULL)
		return false;
	/* Aborted or closed before it was open: the engine ends it by itself. */
	if (c->state == DPDK_CONN_DEAD || c->state == DPDK_CONN_CLOSING)
		return true;
	c->state = DPDK_CONN_OPEN;
	bool is_wanted = c->pub.events->on_open(&c->pub);
	if (is_wanted || c->state == DPDK_CONN_DEAD)
		return true;
	finish(c);
	give(c);
	return false;
}

static void on_readable(void *ctx, struct tcp_conn *tcp)
{
	(void)ctx;
	struct dpdk_conn *c = tcp_user(tcp);
	if (c->state != DPDK_CONN_OPEN)
		return;
	/* What is joined grows; else the user would see no more than before. */
	if (c->join != NULL && c->join_len < LIMIT_HTTP_HEAD_BYTES)
		(void)join(c);
	tell_readable(c);
}

static void on_writable(void *ctx, struct tcp_conn *tcp)
{
	(void)ctx;
	struct dpdk_conn *c = tcp_user(tcp);
	if (c->state != DPDK_CONN_OPEN)
		return;
	sample(&c->pub);
	c->pub.events->on_writable(&c->pub);
}

static enum net_end end_of(enum tcp_end end)
{
	switch (end) {
	case TCP_END_CLOSED:
		return NET_END_CLOSED;
	case TCP_END_RESET:
	case TCP_END_ABORTED:
		return NET_END_RESET;
	case TCP_END_REFUSED:
		return NET_END_REFUSED;
	case TCP_END_TIMEOUT:
		return NET_END_TIMEOUT;
	}
	return NET_END_RESET;
}

static void on_closed(void *ctx, struct tcp_conn *tcp, enum tcp_end end)
{
	(void)ctx;
	struct dpdk_conn *c = tcp_user(tcp);
	if (c->state != DPDK_CONN_DEAD) {
		finish(c);
		c->pub.events->on_closed(&c->pub, end_of(end));
	}
	give(c);
}

static bool admit(void *ctx, const uint8_t ip[WIRE_IP_BYTES])
{
	struct dpdk *d = ctx;
	struct addr peer = {.port = 0};
	uint32_t entry;
	enum reason_id why;
	memcpy(peer.ip, ip, WIRE_IP_BYTES);
	if (d->ips == NULL || ip_table_enter(d->ips, &peer, *d->now_ns, &entry, &why))
		return true;
	tally_inc(d->tally, TALLY_REJECTED + why);
	tally_inc(d->tally, TALLY_DROPS + why);
	return false;
}

static void retire(void *ctx, const uint8_t ip[WIRE_IP_BYTES])
{
	struct dpdk *d = ctx;
	struct addr peer = {.port = 0};
	memcpy(peer.ip, ip, WIRE_IP_BYTES);
	if (d->ips != NULL)
		ip_table_leave(d->ips, ip_table_find(d->ips, &peer), *d->now_ns);
}

static void pkt_release(void *ctx, void *take_pkt)
{
	(void)ctx;
	rte_pktmbuf_free(take_pkt);
}

const struct tcp_ops dpdk_conn_tcp_ops = {
	.emit = dpdk_tx_segment,
	.pkt_release = pkt_release,
	.on_open = on_open,
	.on_readable = on_readable,
	.on_writable = on_writable,
	.on_closed = on_closed,
	.admit = admit,
	.retire = retire,
	.own = dpdk_spread_owns,
};

struct net_conn *dpdk_conn_connect(struct net *net, const struct addr *from, const struct addr *to,
	const struct net_events *events, void *user)
{
	struct dpdk *d = (struct dpdk *)net;
	struct route_hop hop;
	struct addr local = {.port = 0};
	if (!route_find(&d->node->routes, from != NULL ? from->ip : NULL, to->ip, &hop))
		return NULL;
	memcpy(local.ip, hop.from->ip, WIRE_IP_BYTES);
	if (from != NULL)
		local = *from;
	if (route_local(&d->node->routes, ROUTE_NONE, local.ip) == NULL)
		return NULL;
	struct dpdk_conn *c = take(d, NULL, events, user);
	if (c == NULL)
		return NULL;
	c->tcp = tcp_connect(&d->tcp, &local, to, c);
	if (c->tcp == NULL) {
		finish(c);
		give(c);
		return NULL;
	}
	c->state = DPDK_CONN_CONNECTING;
	name_ends(c);
	return &c->pub;
}

void dpdk_conn_abort_all(struct dpdk *d)
{
	for (uint32_t i = 0; i < d->conns.touched; i++) {
		struct dpdk_conn *c = pool_at(&d->conns, i);
		if (!pool_is_taken(&d->conns, i) || c->state == DPDK_CONN_DEAD)
			continue;
		finish(c);
		tcp_abort(c->tcp);
	}
}
