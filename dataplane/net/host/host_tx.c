#include "dataplane/net/host/host_tx.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "dataplane/net/host/host_sys.h"

static struct host_tx *hold(struct host_conn *c)
{
	if (c->tx == NULL) {
		/* There are as many queues as connections. */
		c->tx = pool_take(&host_of(c)->txs);
		MUST(c->tx != NULL);
		c->tx->first = c->tx->count = 0;
		c->tx->copy_next = c->tx->copy_used = 0;
	}
	return c->tx;
}

static struct host_span *span_at(struct host_tx *tx, uint32_t i)
{
	i += tx->first;
	return &tx->spans[i < LIMIT_NET_TX_SPANS ? i : i - LIMIT_NET_TX_SPANS];
}

static void push(struct host_conn *c, struct host_span span)
{
	*span_at(c->tx, c->tx->count++) = span;
	c->pub.tx_waiting += span.len;
}

/* Appends to the last piece when that is a copy that ends where the new one begins. */
static void push_copy(struct host_conn *c, uint32_t at, uint32_t len)
{
	struct host_tx *tx = c->tx;
	struct host_span *last = tx->count != 0 ? span_at(tx, tx->count - 1) : NULL;
	tx->copy_used += len;
	if (last != NULL && last->is_copy && last->data + last->len == tx->copy + at) {
		last->len += len;
		c->pub.tx_waiting += len;
		return;
	}
	push(c, (struct host_span){.data = tx->copy + at, .len = len, .is_copy = true});
}

bool host_tx_copy(struct host_conn *c, const void *data, size_t len)
{
	if (len == 0)
		return true;
	struct host_tx *tx = hold(c);
	/* Two pieces at the most: to the end of the ring, and from its start. */
	if (len > LIMIT_NET_TX_COPY_BYTES - tx->copy_used || tx->count + 2 > LIMIT_NET_TX_SPANS)
		return false;
	uint32_t at = tx->copy_next;
	uint32_t head = LIMIT_NET_TX_COPY_BYTES - at;
	if (head > len)
		head = (uint32_t)len;
	memcpy(tx->copy + at, data, head);
	push_copy(c, at, head);
	if (head < len) {
		memcpy(tx->copy, (const uint8_t *)data + head, len - head);
		push_copy(c, 0, (uint32_t)(len - head));
	}
	tx->copy_next = (uint32_t)((at + len) % LIMIT_NET_TX_COPY_BYTES);
	return true;
}

bool host_tx_ref(struct host_conn *c, const struct net_ref *take_ref)
{
	struct host_tx *tx = hold(c);
	if (tx->count == LIMIT_NET_TX_SPANS)
		return false;
	push(c, (struct host_span){.data = take_ref->data,
			.len = take_ref->len,
			.release = take_ref->release,
			.ctx = take_ref->ctx});
	return true;
}

static void pop(struct host_tx *tx)
{
	struct host_span span = *span_at(tx, 0);
	tx->first = tx->first + 1 < LIMIT_NET_TX_SPANS ? tx->first + 1 : 0;
	tx->count--;
	if (span.release != NULL)
		span.release(span.ctx);
}

static void let_go(struct host_conn *c)
{
	struct host_tx *tx = c->tx;
	c->tx = NULL;
	pool_give(&host_of(c)->txs, tx);
}

/* Takes `sent` bytes off the front. */
static void advance(struct host_conn *c, size_t sent)
{
	struct host_tx *tx = c->tx;
	c->pub.tx_waiting -= (uint32_t)sent;
	c->pub.tx_bytes += sent;
	while (tx->count != 0) {
		struct host_span *span = span_at(tx, 0);
		uint32_t part = sent < span->len ? (uint32_t)sent : span->len;
		span->data += part;
		span->len -= part;
		sent -= part;
		if (span->is_copy)
			tx->copy_used -= part;
		if (span->len != 0)
			return;
		pop(tx);
	}
}

static uint32_t gather(struct host_tx *tx, struct iovec iov[LIMIT_NET_TX_SPANS])
{
	for (uint32_t i = 0; i < tx->count; i++) {
		const struct host_span *span = span_at(tx, i);
		iov[i] = (struct iovec){
			.iov_base = (void *)(uintptr_t)span->data, .iov_len = span->len};
	}
	return tx->count;
}

/* A small answer is put together first: one plain send costs the kernel less than a list of pieces. */
static ssize_t send_joined(struct host_conn *c)
{
	uint8_t *out = host_of(c)->scratch;
	uint32_t len = 0;
	for (uint32_t i = 0; i < c->tx->count; i++) {
		const struct host_span *span = span_at(c->tx, i);
		memcpy(out + len, span->data, span->len);
		len += span->len;
	}
	return host_sys_send(c->fd, out, len);
}

static ssize_t send_queue(struct host_conn *c)
{
	struct host_tx *tx = c->tx;
	if (tx->count == 1)
		return host_sys_send(c->fd, span_at(tx, 0)->data, span_at(tx, 0)->len);
	if (c->pub.tx_waiting <= HOST_JOIN_BYTES)
		return send_joined(c);
	struct iovec iov[LIMIT_NET_TX_SPANS];
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = gather(tx, iov)};
	return host_sys_sendmsg(c->fd, &msg);
}

void host_tx_flush(struct host_conn *c)
{
	struct host *h = host_of(c);
	while (c->tx != NULL && c->tx->count != 0) {
		ssize_t sent = send_queue(c);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0) {
			c->tx_blocked = errno == EAGAIN;
			c->is_failed = !c->tx_blocked;
			c->end = NET_END_RESET;
			return;
		}
		tally_inc(h->tally, TALLY_PACKETS + LABEL_DIR_TX);
		tally_add(h->tally, TALLY_BYTES + LABEL_DIR_TX, (uint64_t)sent);
		c->tx_moved = true;
		/* A short write says that the socket is full, without a second call to hear it. */
		c->tx_blocked = (size_t)sent < c->pub.tx_waiting;
		advance(c, (size_t)sent);
		if (c->tx_blocked)
			return;
	}
	if (c->tx != NULL)
		let_go(c);
}

void host_tx_drop(struct host_conn *c)
{
	if (c->tx == NULL)
		return;
	while (c->tx->count != 0)
		pop(c->tx);
	c->pub.tx_waiting = 0;
	let_go(c);
}
