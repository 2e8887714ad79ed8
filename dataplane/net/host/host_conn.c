#include "dataplane/net/host/host_conn.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dataplane/net/host/host_info.h"
#include "dataplane/net/host/host_rx.h"
#include "dataplane/net/host/host_tx.h"
#include "lib/clock/clock.h"

void host_conn_list(struct host_conn *c, enum host_list list)
{
	struct host *h = host_of(c);
	if (c->list == list)
		return;
	if (c->list == HOST_LIST_READY) {
		TAILQ_REMOVE(&h->ready, c, link);
		h->ready_count--;
	} else if (c->list == HOST_LIST_STARVED) {
		TAILQ_REMOVE(&h->starved, c, link);
	}
	c->list = list;
	if (list == HOST_LIST_READY) {
		TAILQ_INSERT_TAIL(&h->ready, c, link);
		h->ready_count++;
	} else if (list == HOST_LIST_STARVED) {
		TAILQ_INSERT_TAIL(&h->starved, c, link);
	}
}

void host_conn_end(struct host_conn *c, enum net_end end, bool with_reset, bool is_silent)
{
	struct host *h = host_of(c);
	if (with_reset) {
		struct linger now = {.l_onoff = 1, .l_linger = 0};
		/* Best effort: without it the peer sees an orderly end instead. */
		(void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	}
	close(c->fd);
	c->fd = -1;
	c->state = HOST_CONN_FREE;
	c->generation++;
	wheel_disarm(h->wheel, &c->timer);
	host_conn_list(c, HOST_LIST_NONE);
	host_tx_drop(c);
	host_rx_drop(c);
	if (h->ips != NULL)
		ip_table_leave(h->ips, c->pub.ip_entry, *h->now_ns);
	if (!is_silent)
		c->pub.events->on_closed(&c->pub, end);
	pool_give(&h->conns, c);
	tally_set(h->tally, TALLY_CONNS_OPEN, h->conns.in_use);
}

/* The two waits of a close: for the peer to take the rest, then for its own end. */
static void on_timer(struct wheel_timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct host_conn *c = CONTAINER_OF(timer, struct host_conn, timer);
	host_conn_end(c, NET_END_RESET, true, false);
}

static void arm(struct host_conn *c, uint64_t wait_ms)
{
	struct host *h = host_of(c);
	wheel_arm(h->wheel, &c->timer, *h->now_ns + wait_ms * NS_PER_MS);
}

static void service_linger(struct host_conn *c)
{
	if (!c->rx_ready)
		return;
	int rc = host_rx_discard(c);
	if (rc < 0)
		host_conn_end(c, NET_END_RESET, true, false);
	else if (rc == 0)
		host_conn_end(c, NET_END_CLOSED, false, false);
	else if (c->rx_ready)
		host_conn_list(c, HOST_LIST_READY);
}

static void service_closing(struct host_conn *c)
{
	if (c->tx != NULL && !c->tx_blocked) {
		c->tx_moved = false;
		host_tx_flush(c);
		if (c->tx_moved)
			arm(c, LIMIT_NET_CLOSE_STALL_MS);
	}
	if (c->is_failed) {
		host_conn_end(c, (enum net_end)c->end, false, false);
		return;
	}
	if (c->tx != NULL)
		return;
	if (c->pub.is_eof) {
		host_conn_end(c, NET_END_CLOSED, false, false);
		return;
	}
	if (shutdown(c->fd, SHUT_WR) != 0) {
		host_conn_end(c, NET_END_RESET, false, false);
		return;
	}
	c->state = HOST_CONN_LINGER;
	arm(c, LIMIT_NET_LINGER_MS);
	service_linger(c);
}

static enum net_end end_of_error(int error)
{
	if (error == ECONNREFUSED)
		return NET_END_REFUSED;
	return error == ETIMEDOUT ? NET_END_TIMEOUT : NET_END_RESET;
}

/* Returns false when the connection is gone. */
static bool service_connecting(struct host_conn *c)
{
	if (c->is_failed) {
		host_conn_end(c, (enum net_end)c->end, false, false);
		return false;
	}
	if (c->tx_blocked)
		return true;
	int error = 0;
	socklen_t len = sizeof(error);
	if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		error = errno;
	if (error != 0) {
		host_conn_end(c, end_of_error(error), false, false);
		return false;
	}
	uint32_t generation = c->generation;
	c->state = HOST_CONN_OPEN;
	bool wanted = c->pub.events->on_open(&c->pub);
	if (c->generation != generation)
		return false;
	if (!wanted)
		host_conn_end(c, NET_END_ABORTED, true, true);
	return wanted;
}

static void service_open(struct host_conn *c)
{
	uint32_t generation = c->generation;
	if (c->tx != NULL && !c->tx_blocked)
		host_tx_flush(c);
	if (c->is_failed) {
		host_conn_end(c, (enum net_end)c->end, false, false);
		return;
	}
	if (c->tx_wanted && c->tx_moved) {
		c->tx_wanted = false;
		c->pub.events->on_writable(&c->pub);
		if (c->generation != generation)
			return;
	}
	if (c->rx_ready && c->state == HOST_CONN_OPEN)
		host_rx_receive(c);
}

void host_conn_service(struct host_conn *c)
{
	switch ((enum host_conn_state)c->state) {
	case HOST_CONN_FREE:
		break;
	case HOST_CONN_CONNECTING:
		if (service_connecting(c) && c->state == HOST_CONN_OPEN)
			service_open(c);
		break;
	case HOST_CONN_OPEN:
		service_open(c);
		break;
	case HOST_CONN_CLOSING:
		service_closing(c);
		break;
	case HOST_CONN_LINGER:
		service_linger(c);
		break;
	}
}

void host_conn_event(struct host *h, uint64_t key, uint32_t events)
{
	struct host_conn *c = pool_at(&h->conns, (uint32_t)key);
	if (c->generation != (uint32_t)(key >> 32) || c->state == HOST_CONN_FREE)
		return;
	if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		c->rx_ready = true;
	if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		c->rx_hangup = true;
	if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
		c->tx_blocked = false;
	host_conn_service(c);
}

/* No room, or no place to send to any more: on_writable comes when that changes. */
static bool want_room(struct host_conn *c)
{
	c->tx_wanted = true;
	c->tx_moved = false;
	if (c->state == HOST_CONN_OPEN)
		host_conn_list(c, HOST_LIST_READY);
	return false;
}

static bool send_copy(struct net_conn *conn, const void *data, size_t len)
{
	struct host_conn *c = (struct host_conn *)conn;
	MUST(len <= LIMIT_NET_TX_COPY_BYTES);
	if (LIKELY(c->state == HOST_CONN_OPEN) && LIKELY(host_tx_copy(c, data, len)))
		return true;
	return want_room(c);
}

static bool send_ref(struct net_conn *conn, const struct net_ref *take_ref)
{
	struct host_conn *c = (struct host_conn *)conn;
	if (LIKELY(c->state == HOST_CONN_OPEN) && LIKELY(host_tx_ref(c, take_ref)))
		return true;
	return want_room(c);
}

static void flush(struct net_conn *conn)
{
	struct host_conn *c = (struct host_conn *)conn;
	if (c->state != HOST_CONN_OPEN || c->tx == NULL || c->tx_blocked || c->is_failed)
		return;
	host_tx_flush(c);
	if (c->is_failed || (c->tx_wanted && c->tx_moved))
		host_conn_list(c, HOST_LIST_READY);
}

static void close_conn(struct net_conn *conn)
{
	struct host_conn *c = (struct host_conn *)conn;
	if (c->state == HOST_CONN_CONNECTING) {
		c->is_failed = true;
		c->end = NET_END_CLOSED;
	} else if (c->state == HOST_CONN_OPEN) {
		/* From here on the flushing is the net's own; the next turn does it and sends the end with it. */
		c->state = HOST_CONN_CLOSING;
		if (!c->in_rx)
			host_rx_drop(c);
		arm(c, LIMIT_NET_CLOSE_STALL_MS);
	} else {
		return;
	}
	host_conn_list(c, HOST_LIST_READY);
}

static void abort_conn(struct net_conn *conn)
{
	struct host_conn *c = (struct host_conn *)conn;
	if (c->state != HOST_CONN_FREE)
		host_conn_end(c, NET_END_ABORTED, true, false);
}

static const struct net_conn_ops conn_ops = {
	.peek = host_rx_peek,
	.consume = host_rx_consume,
	.send_copy = send_copy,
	.send_ref = send_ref,
	.flush = flush,
	.describe = host_info_describe,
	.close = close_conn,
	.abort = abort_conn,
};

struct host_conn *host_conn_start(struct host *h, const struct host_conn_start *start)
{
	struct host_conn *c = pool_take(&h->conns);
	if (c == NULL)
		return NULL;
	*c = (struct host_conn){
		.pub = {.ops = &conn_ops,
			.events = start->events,
			.net = &h->pub,
			.user = start->user,
			.peer = start->peer,
			.local = start->local,
			.ip_entry = start->ip_entry},
		.fd = start->take_fd,
		.generation = c->generation,
		.state = (uint8_t)start->state,
		.tx_blocked = start->state == HOST_CONN_CONNECTING,
		.timer = {.fire = on_timer},
	};
	/* Registered once for both directions: with edges, what nobody waits for costs nothing. */
	struct epoll_event ev = {
		.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
		.data.u64 = (uint64_t)c->generation << 32 | pool_index(&h->conns, c),
	};
	if (epoll_ctl(h->epoll_fd, EPOLL_CTL_ADD, c->fd, &ev) != 0) {
		c->state = HOST_CONN_FREE;
		c->generation++;
		pool_give(&h->conns, c);
		return NULL;
	}
	tally_set(h->tally, TALLY_CONNS_OPEN, h->conns.in_use);
	return c;
}
