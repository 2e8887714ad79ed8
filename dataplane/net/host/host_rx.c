#include "dataplane/net/host/host_rx.h"

#include <errno.h>
#include <string.h>

#include "dataplane/net/host/host_conn.h"
#include "dataplane/net/host/host_sys.h"

struct span host_rx_peek(struct net_conn *conn)
{
	const struct host_conn *c = (const struct host_conn *)conn;
	return (struct span){c->rx != NULL ? c->rx + c->rx_first : NULL, c->rx_len};
}

void host_rx_drop(struct host_conn *c)
{
	if (c->rx != NULL)
		pool_give(&host_of(c)->blocks, c->rx);
	c->rx = NULL;
	c->rx_first = c->rx_len = 0;
}

void host_rx_consume(struct net_conn *conn, size_t len)
{
	struct host_conn *c = (struct host_conn *)conn;
	if (c->state != HOST_CONN_OPEN)
		return;
	MUST(len <= c->rx_len);
	c->rx_first += (uint32_t)len;
	c->rx_len -= (uint32_t)len;
	if (c->rx_len == 0)
		c->rx_first = 0;
	if (c->in_rx)
		return;
	if (c->rx_len == 0)
		host_rx_drop(c);
	if (c->rx_ready)
		host_conn_list(c, HOST_LIST_READY);
}

/* Room for the next read: its size, 0 when there is none now. */
static size_t reserve(struct host_conn *c)
{
	if (c->rx == NULL) {
		c->rx = pool_take(&host_of(c)->blocks);
		c->rx_first = c->rx_len = 0;
		if (c->rx == NULL) {
			host_conn_list(c, HOST_LIST_STARVED);
			return 0;
		}
	}
	/* What is unread moves to the front when the tail gets short: a head never lies in two pieces. */
	if (c->rx_first + c->rx_len > LIMIT_NET_RX_BLOCK_BYTES / 4 * 3 && c->rx_first != 0) {
		memmove(c->rx, c->rx + c->rx_first, c->rx_len);
		c->rx_first = 0;
	}
	return LIMIT_NET_RX_BLOCK_BYTES - c->rx_first - c->rx_len;
}

enum fill { FILL_NEWS, FILL_NOTHING, FILL_FAILED };

static enum fill fill(struct host_conn *c, size_t room)
{
	struct host *h = host_of(c);
	ssize_t got;
	do {
		got = host_sys_recv(c->fd, c->rx + c->rx_first + c->rx_len, room);
	} while (got < 0 && errno == EINTR);
	if (got < 0) {
		c->rx_ready = false;
		return errno == EAGAIN ? FILL_NOTHING : FILL_FAILED;
	}
	tally_inc(h->tally, TALLY_PACKETS + LABEL_DIR_RX);
	if (got == 0) {
		c->rx_ready = false;
		c->pub.is_eof = true;
		return FILL_NEWS;
	}
	tally_add(h->tally, TALLY_BYTES + LABEL_DIR_RX, (uint64_t)got);
	c->rx_len += (uint32_t)got;
	c->pub.rx_bytes += (uint64_t)got;
	/* A short read has emptied the socket; news will be a new edge. Only an announced end must still be fetched. */
	if ((size_t)got < room && !c->rx_hangup)
		c->rx_ready = false;
	return FILL_NEWS;
}

/* Runs on_readable; false when the connection is no longer open. */
static bool announce(struct host_conn *c)
{
	uint32_t generation = c->generation;
	c->in_rx = true;
	c->pub.events->on_readable(&c->pub);
	if (c->generation != generation)
		return false;
	c->in_rx = false;
	if (c->state == HOST_CONN_OPEN)
		return true;
	host_rx_drop(c);
	return false;
}

void host_rx_receive(struct host_conn *c)
{
	for (unsigned i = 0; i < HOST_READS_PER_TURN && c->rx_ready; i++) {
		size_t room = reserve(c);
		if (room == 0)
			return;
		enum fill news = fill(c, room);
		if (news == FILL_FAILED) {
			host_conn_end(c, NET_END_RESET, false, false);
			return;
		}
		if (news == FILL_NEWS && !announce(c))
			return;
	}
	if (c->rx_len == 0)
		host_rx_drop(c);
	if (c->rx_ready && c->rx_len < LIMIT_NET_RX_BLOCK_BYTES)
		host_conn_list(c, HOST_LIST_READY);
}

int host_rx_discard(struct host_conn *c)
{
	struct host *h = host_of(c);
	for (unsigned i = 0; i < HOST_READS_PER_TURN; i++) {
		ssize_t got = host_sys_recv(c->fd, h->scratch, sizeof(h->scratch));
		if (got == 0)
			return 0;
		if (got < 0 && errno == EAGAIN) {
			c->rx_ready = false;
			return 1;
		}
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got > 0)
			c->lingered += (uint32_t)got;
		if (c->lingered > LIMIT_NET_LINGER_BYTES)
			return -EMSGSIZE;
	}
	return 1;
}

void host_rx_feed(struct host *h)
{
	uint32_t blocks = h->blocks.capacity - h->blocks.in_use;
	while (blocks-- != 0 && !TAILQ_EMPTY(&h->starved))
		host_conn_list(TAILQ_FIRST(&h->starved), HOST_LIST_READY);
}
