#include "dataplane/http/http_conn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "dataplane/http/http_text.h"
#include "lib/clock/clock.h"
#include "lib/mem/mem.h"
#include "lib/shm/seg.h"

static int reserve(struct http_server *s, uint32_t conns_max)
{
	int rc =
		pool_init(&s->conns, "http conns", conns_max, sizeof(struct http_conn), CACHE_LINE);
	if (rc == 0)
		rc = pool_init(&s->exchanges, "http exchanges", conns_max,
			sizeof(struct http_exchange), CACHE_LINE);
	if (rc == 0)
		rc = pool_init(
			&s->heads, "http heads", conns_max, LIMIT_HTTP_HEAD_BYTES, CACHE_LINE);
	return rc;
}

int http_server_init(struct http_server **out, const struct http_server_conf *c)
{
	uint64_t random;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	struct http_server *s = mem_map(sizeof(*s));
	if (s == NULL)
		return -ENOMEM;
	s->c = *c;
	TAILQ_INIT(&s->run);
	struct http_text prefix = http_text_on(s->corr_prefix, sizeof(s->corr_prefix));
	http_text_hex(&prefix, random, 16);
	HTTP_TEXT_LITERAL(&prefix, "-");
	int rc = reserve(s, c->conns_max);
	if (rc != 0) {
		http_server_fini(s);
		return rc;
	}
	*out = s;
	return 0;
}

void http_server_fini(struct http_server *s)
{
	if (s == NULL)
		return;
	pool_fini(&s->heads);
	pool_fini(&s->exchanges);
	pool_fini(&s->conns);
	mem_unmap(s, sizeof(*s));
}

const struct net_events *http_server_events(void)
{
	return &http_conn_events;
}

unsigned http_server_turn(struct http_server *s)
{
	/* Only those that wait now: one that queues itself again has had its share of this turn. */
	for (unsigned n = s->run_count; n > 0 && s->run_count > 0; n--)
		http_conn_drive(TAILQ_FIRST(&s->run));
	return s->run_count;
}

void http_server_turn_end(struct http_server *s, uint64_t spent_ns)
{
	for (unsigned route = 0; route < TALLY_SET_ROUTE; route++) {
		if (s->turn_answered[route] == 0)
			continue;
		tally_observe_many(s->c.tally, TALLY_REQUEST_LATENCY + route * HIST_CELLS, spent_ns,
			s->turn_answered[route]);
		s->turn_answered[route] = 0;
	}
}

/* The connection in a slot, or NULL. */
static struct http_conn *conn_at(const struct http_server *s, uint32_t slot)
{
	return pool_is_taken(&s->conns, slot) ? pool_at(&s->conns, slot) : NULL;
}

void http_server_retime(struct http_server *s)
{
	for (uint32_t i = 0; i < s->conns.touched; i++) {
		struct http_conn *c = conn_at(s, i);
		if (c != NULL)
			http_timer_update(c);
	}
}

/* A head that has only begun would be refused when whole: say so now, since it may never be. */
static void refuse_head(struct http_conn *c)
{
	c->x->rq.head.seen = 0;
	http_fail(&c->x->rq, ERR_DRAINING, NULL);
	http_conn_drive(c);
}

void http_server_drain(struct http_server *s)
{
	s->is_draining = true;
	for (uint32_t i = 0; i < s->conns.touched; i++) {
		struct http_conn *c = conn_at(s, i);
		if (c == NULL)
			continue;
		if (c->state == HTTP_CONN_IDLE)
			http_conn_close(c);
		else if (c->state == HTTP_CONN_HEAD)
			refuse_head(c);
	}
}

static bool is_busy(const struct http_conn *c)
{
	net_sample(c->net);
	return (c->x != NULL && c->state != HTTP_CONN_HEAD) || c->net->tx_waiting != 0;
}

uint32_t http_server_busy(const struct http_server *s)
{
	uint32_t busy = 0;
	for (uint32_t i = 0; i < s->conns.touched; i++) {
		const struct http_conn *c = conn_at(s, i);
		if (c != NULL && is_busy(c))
			busy++;
	}
	return busy;
}

uint32_t http_server_abort(struct http_server *s)
{
	uint32_t cut = 0;
	for (uint32_t i = 0; i < s->conns.touched; i++) {
		struct http_conn *c = conn_at(s, i);
		if (c == NULL)
			continue;
		if (is_busy(c))
			cut++;
		net_abort(c->net);
	}
	tally_add(s->c.tally, TALLY_TASKS_ABORTED + LABEL_KIND_REQUEST, cut);
	return cut;
}

bool http_server_is_draining(const struct http_server *s)
{
	return s->is_draining;
}

static void describe(const struct http_conn *c, uint32_t slot, uint64_t now, struct ask_conn *row)
{
	static const char *const names[] = {
		[HTTP_CONN_IDLE] = "idle",
		[HTTP_CONN_HEAD] = "head",
		[HTTP_CONN_BODY] = "body",
		[HTTP_CONN_WORK] = "work",
		[HTTP_CONN_REPLY] = "reply",
		[HTTP_CONN_CLOSING] = "closing",
	};
	memset(row, 0, sizeof(*row));
	row->id = (uint64_t)c->generation << 32 | slot;
	row->age_ms = (now - c->opened_ns) / NS_PER_MS;
	row->idle_ms = c->state == HTTP_CONN_IDLE ? (now - c->active_ns) / NS_PER_MS : 0;
	row->requests = c->requests;
	net_sample(c->net);
	row->rx_bytes = c->net->rx_bytes;
	row->tx_bytes = c->net->tx_bytes;
	static_assert(sizeof(row->peer) >= ADDR_TEXT, "an address fits");
	addr_print(&c->net->peer, row->peer);
	snprintf(row->state, sizeof(row->state), "%s", names[c->state]);
	struct net_tcp_info tcp;
	if (!net_describe(c->net, &tcp))
		return;
	row->rtt_us = tcp.rtt_us;
	row->cwnd_bytes = tcp.cwnd_bytes;
	row->retrans = tcp.retrans;
	snprintf(row->tcp, sizeof(row->tcp), "%s", tcp.state);
}

uint32_t http_server_describe(const struct http_server *s, uint32_t cursor, struct ask_conn *rows,
	uint32_t max, uint32_t *count)
{
	uint32_t n = 0;
	for (; cursor < s->conns.touched && n < max; cursor++) {
		const struct http_conn *c = conn_at(s, cursor);
		if (c != NULL)
			describe(c, cursor, http_server_now(s), &rows[n++]);
	}
	*count = n;
	return cursor < s->conns.touched ? cursor : UINT32_MAX;
}

const struct addr *http_req_peer(const struct http_req *rq)
{
	return &rq->conn->net->peer;
}

const struct conf *http_req_conf(const struct http_req *rq)
{
	return rq->server->c.conf;
}
