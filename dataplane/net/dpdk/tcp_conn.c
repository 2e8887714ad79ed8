#include "dataplane/net/dpdk/tcp_conn.h"

#include <string.h>

#include "dataplane/net/dpdk/tcp_cc.h"
#include "dataplane/net/dpdk/tcp_isn.h"
#include "dataplane/net/dpdk/tcp_loss.h"
#include "dataplane/net/dpdk/tcp_ooo.h"
#include "dataplane/net/dpdk/tcp_rto.h"
#include "dataplane/net/dpdk/tcp_rx.h"
#include "dataplane/net/dpdk/tcp_timer.h"
#include "dataplane/net/dpdk/tcp_tx.h"
#include "dataplane/net/dpdk/tcp_wnd.h"

enum { RECYCLE_TRIES = 8 };

struct tcp_conn *tcp_conn_find(struct tcp *t, const struct tcp_key *key)
{
	uint32_t slot = tcp_flow_find(&t->flow, key);
	return slot != TCP_FLOW_NONE ? pool_at(&t->conns, slot) : NULL;
}

/* The pool is empty: the oldest connection in TIME_WAIT that nobody needs gives its place. */
static void recycle(struct tcp *t)
{
	struct tcp_conn *c = t->wait_first;
	for (unsigned i = 0; i < RECYCLE_TRIES && c != NULL; i++, c = c->wait_next) {
		if ((c->flags & (TCP_F_TOLD | TCP_F_READY)) == TCP_F_TOLD) {
			t->counts[TCP_COUNT_RECYCLED]++;
			tcp_conn_forget(c);
			return;
		}
	}
}

struct tcp_conn *tcp_conn_take(struct tcp *t, const struct tcp_key *key)
{
	if (t->conns.in_use == t->conns.capacity)
		recycle(t);
	struct tcp_conn *c = pool_take(&t->conns);
	if (c == NULL)
		return NULL;
	memset(c, 0, sizeof(*c));
	c->tcp = t;
	c->key = *key;
	if (!tcp_flow_add(&t->flow, pool_index(&t->conns, c))) {
		pool_give(&t->conns, c);
		return NULL;
	}
	c->flags = TCP_F_IN_FLOW;
	c->ts_offset = tcp_isn_ts_offset(t, key);
	tcp_timer_init(c);
	tcp_rto_init(c);
	tcp_wnd_init(c);
	return c;
}

void tcp_conn_set_state(struct tcp_conn *c, enum tcp_state state)
{
	c->state = (uint8_t)state;
}

void tcp_conn_wake(struct tcp_conn *c, unsigned events)
{
	struct tcp *t = c->tcp;
	c->events |= (uint8_t)events;
	if (c->flags & TCP_F_READY)
		return;
	c->flags |= TCP_F_READY;
	c->ready_next = NULL;
	if (t->ready_last != NULL)
		t->ready_last->ready_next = c;
	else
		t->ready_first = c;
	t->ready_last = c;
}

void tcp_conn_established(struct tcp_conn *c)
{
	tcp_conn_set_state(c, TCP_ESTABLISHED);
	tcp_cc_init(c);
	tcp_loss_init(c);
	c->quick_acks = LIMIT_TCP_QUICK_ACKS;
	c->last_tx_ms = c->last_rx_ms = tcp_now_ms(c->tcp);
	c->tcp->counts[TCP_COUNT_ESTABLISHED]++;
	tcp_timer_keepalive(c);
	tcp_conn_wake(c, TCP_EV_OPEN | TCP_EV_OUTPUT);
}

/* What a connection holds on the way out and ahead of the stream. */
static void let_go(struct tcp_conn *c)
{
	struct tcp *t = c->tcp;
	tcp_rtx_clear(c);
	tcp_tx_clear(c);
	tcp_ooo_clear(c);
	if (c->flags & TCP_F_HALF_OPEN)
		t->listeners[c->listener].half_open--;
	if (c->flags & TCP_F_ADMITTED)
		t->conf.ops->retire(t->conf.ctx, c->key.remote_ip);
	c->flags &= ~(uint32_t)(TCP_F_HALF_OPEN | TCP_F_ADMITTED);
}

static void leave_flow(struct tcp_conn *c)
{
	if (c->flags & TCP_F_IN_FLOW)
		tcp_flow_remove(&c->tcp->flow, pool_index(&c->tcp->conns, c));
	c->flags &= ~(uint32_t)TCP_F_IN_FLOW;
}

/* on_closed, now or when the reader is done. */
static void owe_closed(struct tcp_conn *c)
{
	bool is_read = c->unread == 0 || (c->flags & (TCP_F_DISCARD | TCP_F_QUIET)) != 0;
	if (c->end == TCP_END_CLOSED && !is_read) {
		c->flags |= TCP_F_DONE;
		return;
	}
	tcp_rx_clear(c);
	tcp_conn_wake(c, TCP_EV_CLOSED);
}

void tcp_conn_end(struct tcp_conn *c, enum tcp_end end)
{
	if (c->state == TCP_CLOSED)
		return;
	if (!tcp_conn_is_synced(c))
		c->tcp->counts[TCP_COUNT_OPEN_FAILS]++;
	tcp_conn_set_state(c, TCP_CLOSED);
	tcp_timer_stop_all(c);
	leave_flow(c);
	let_go(c);
	c->end = (uint8_t)end;
	owe_closed(c);
}

void tcp_conn_time_wait(struct tcp_conn *c)
{
	struct tcp *t = c->tcp;
	tcp_conn_set_state(c, TCP_TIME_WAIT);
	t->counts[TCP_COUNT_TIME_WAITS]++;
	let_go(c);
	tcp_timer_clear(c, TCP_TIMER_RTO);
	tcp_timer_clear(c, TCP_TIMER_EARLY);
	tcp_timer_clear(c, TCP_TIMER_ACK);
	tcp_timer_set(c, TCP_TIMER_LIFE, t->now_ns + t->conf.time_wait_ms * NS_PER_MS);
	c->wait_next = NULL;
	c->wait_prev = t->wait_last;
	if (t->wait_last != NULL)
		t->wait_last->wait_next = c;
	else
		t->wait_first = c;
	t->wait_last = c;
	c->end = TCP_END_CLOSED;
	owe_closed(c);
}

void tcp_conn_forget(struct tcp_conn *c)
{
	struct tcp *t = c->tcp;
	MUST_HOT(c->state == TCP_TIME_WAIT);
	if (c->wait_prev != NULL)
		c->wait_prev->wait_next = c->wait_next;
	else
		t->wait_first = c->wait_next;
	if (c->wait_next != NULL)
		c->wait_next->wait_prev = c->wait_prev;
	else
		t->wait_last = c->wait_prev;
	tcp_conn_set_state(c, TCP_CLOSED);
	tcp_timer_stop_all(c);
	leave_flow(c);
	/* the user who was not told yet still names it: tcp_run gives it back afterwards */
	if ((c->flags & TCP_F_TOLD) == 0)
		return;
	if (c->flags & TCP_F_READY)
		c->events |= TCP_EV_FREE;
	else
		tcp_conn_give(c);
}

void tcp_conn_give(struct tcp_conn *c)
{
	MUST_HOT(c->state == TCP_CLOSED && c->rtx.first == NULL && c->tx_first == NULL);
	pool_give(&c->tcp->conns, c);
}
