#include "dataplane/net/dpdk/tcp_tx.h"

#include <string.h>

/* The release of a block's bytes is giving the block back; its buffer carries the block in ctx. */
static bool is_block(const struct tcp *t, const struct tcp_buf *buf)
{
	return buf->release == NULL && buf->ctx == &t->blocks;
}

static void *block_of(const struct tcp *t, const struct tcp_buf *buf)
{
	return pool_at(&t->blocks, pool_index(&t->blocks, buf->data));
}

void tcp_buf_hold(struct tcp_buf *buf)
{
	buf->refs++;
}

void tcp_buf_drop(struct tcp *t, struct tcp_buf *buf)
{
	MUST(buf->refs > 0);
	if (--buf->refs != 0)
		return;
	if (is_block(t, buf))
		pool_give(&t->blocks, block_of(t, buf));
	else if (buf->release != NULL)
		buf->release(buf->ctx);
	pool_give(&t->bufs, buf);
}

/* References that may be queued: conf.tx_spans_max, and while the path proves to carry more, three times as many. So a
 * fast peer fills its round trip, and a slow one does not keep megabytes from their owners. */
static uint32_t spans_max(const struct tcp_conn *c)
{
	uint32_t most = c->tcp->conf.tx_spans_max;
	return c->queued / 2 < c->cwnd ? 3 * most : most;
}

bool tcp_tx_has_room(const struct tcp_conn *c)
{
	const struct tcp *t = c->tcp;
	return c->queued < LIMIT_TCP_TX_BYTES && c->tx_spans < spans_max(c) &&
	       c->tx_copied < t->conf.tx_copy_max && t->bufs.in_use < t->bufs.capacity &&
	       t->blocks.in_use < t->blocks.capacity;
}

static struct tcp_buf *buf_append(struct tcp_conn *c, const uint8_t *data, uint32_t len)
{
	struct tcp_buf *buf = pool_take(&c->tcp->bufs);
	if (buf == NULL)
		return NULL;
	*buf = (struct tcp_buf){.data = data, .len = len, .refs = 1};
	if (c->tx_last != NULL)
		c->tx_last->next = buf;
	else
		c->tx_first = buf;
	c->tx_last = buf;
	if (c->tx_cur == NULL) {
		c->tx_cur = buf;
		c->tx_cur_off = 0;
	}
	c->tx_spans++;
	c->unsent += len;
	c->queued += len;
	return buf;
}

bool tcp_tx_ref(
	struct tcp_conn *c, const uint8_t *data, uint32_t len, tcp_release *release, void *ctx)
{
	if (c->queued >= LIMIT_TCP_TX_BYTES || c->tx_spans >= spans_max(c))
		return false;
	struct tcp_buf *buf = buf_append(c, data, len);
	if (buf == NULL)
		return false;
	buf->release = release;
	buf->ctx = ctx;
	return true;
}

/* Bytes that still fit behind the last buffer, when it is a block. */
static uint32_t tail_room(const struct tcp_conn *c)
{
	const struct tcp *t = c->tcp;
	const struct tcp_buf *last = c->tx_last;
	if (last == NULL || !is_block(t, last))
		return 0;
	return LIMIT_TCP_BLOCK_BYTES - last->len;
}

static bool copy_fits(const struct tcp_conn *c, uint32_t len)
{
	const struct tcp *t = c->tcp;
	uint32_t room = tail_room(c);
	uint32_t blocks =
		len <= room ? 0 : (len - room + LIMIT_TCP_BLOCK_BYTES - 1) / LIMIT_TCP_BLOCK_BYTES;
	return len <= t->conf.tx_copy_max && c->tx_copied + len <= t->conf.tx_copy_max &&
	       c->tx_spans + blocks <= spans_max(c) && c->queued < LIMIT_TCP_TX_BYTES &&
	       t->bufs.capacity - t->bufs.in_use >= blocks &&
	       t->blocks.capacity - t->blocks.in_use >= blocks;
}

static void copy_to_tail(struct tcp_conn *c, const uint8_t *data, uint32_t len)
{
	struct tcp_buf *last = c->tx_last;
	uint8_t *block = block_of(c->tcp, last);
	memcpy(block + last->len, data, len);
	if (c->tx_cur == NULL) {
		c->tx_cur = last;
		c->tx_cur_off = last->len;
	}
	last->len += len;
	c->unsent += len;
	c->queued += len;
}

bool tcp_tx_copy(struct tcp_conn *c, const uint8_t *data, uint32_t len)
{
	if (!copy_fits(c, len))
		return false;
	c->tx_copied = (uint16_t)(c->tx_copied + len);
	uint32_t part = tail_room(c) < len ? tail_room(c) : len;
	if (part != 0)
		copy_to_tail(c, data, part);
	for (uint32_t done = part; done < len; done += part) {
		uint8_t *block = pool_take(&c->tcp->blocks);
		MUST(block != NULL);
		part = len - done < LIMIT_TCP_BLOCK_BYTES ? len - done : LIMIT_TCP_BLOCK_BYTES;
		memcpy(block, data + done, part);
		struct tcp_buf *buf = buf_append(c, block, part);
		MUST(buf != NULL);
		buf->ctx = &c->tcp->blocks;
	}
	return true;
}

uint32_t tcp_tx_pieces(struct tcp_buf *buf, uint32_t off, uint32_t len, struct tcp_seg *out)
{
	uint32_t left = len;
	out->piece_count = 0;
	while (left != 0 && out->piece_count < LIMIT_TCP_SEG_SPANS) {
		if (off == buf->len) {
			buf = buf->next;
			off = 0;
			continue;
		}
		uint32_t part = buf->len - off < left ? buf->len - off : left;
		out->pieces[out->piece_count++] = (struct tcp_piece){buf->data + off, part, buf};
		off += part;
		left -= part;
	}
	out->len = len - left;
	return out->len;
}

void tcp_tx_sent(struct tcp_conn *c, uint32_t len)
{
	MUST_HOT(len <= c->unsent);
	c->unsent -= len;
	while (len != 0) {
		uint32_t part = c->tx_cur->len - c->tx_cur_off;
		if (part > len) {
			c->tx_cur_off += len;
			return;
		}
		len -= part;
		c->tx_cur = c->tx_cur->next;
		c->tx_cur_off = 0;
	}
}

static void first_gone(struct tcp_conn *c)
{
	struct tcp_buf *buf = c->tx_first;
	c->tx_first = buf->next;
	if (c->tx_first == NULL)
		c->tx_last = NULL;
	c->tx_acked = 0;
	c->tx_spans--;
	if (is_block(c->tcp, buf))
		c->tx_copied = (uint16_t)(c->tx_copied - buf->len);
	tcp_buf_drop(c->tcp, buf);
}

void tcp_tx_acked(struct tcp_conn *c, uint32_t len)
{
	MUST_HOT(len <= c->queued - c->unsent);
	c->queued -= len;
	while (len != 0) {
		uint32_t part = c->tx_first->len - c->tx_acked;
		if (part > len) {
			c->tx_acked += len;
			return;
		}
		len -= part;
		first_gone(c);
	}
}

void tcp_tx_clear(struct tcp_conn *c)
{
	c->tx_cur = NULL;
	while (c->tx_first != NULL)
		first_gone(c);
	c->unsent = 0;
	c->queued = 0;
}
