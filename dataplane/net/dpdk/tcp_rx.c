#include "dataplane/net/dpdk/tcp_rx.h"

#include <string.h>

static bool is_affordable(const struct tcp_conn *c, uint32_t cost)
{
	const struct tcp *t = c->tcp;
	uint64_t most = t->conf.rx_budget;
	if (c->rx_first == NULL)
		most += most / 8;
	return t->rx_used + cost <= most;
}

static struct tcp_rx *keep(struct tcp_conn *c, const struct tcp_in *in)
{
	struct tcp *t = c->tcp;
	struct tcp_rx *rx = pool_take(&t->pkts);
	if (rx == NULL)
		return NULL;
	*rx = (struct tcp_rx){.data = in->data,
		.pkt = in->pkt,
		.seq = in->seq,
		.len = in->len,
		.cost = in->pkt_cost};
	t->rx_used += rx->cost;
	c->rx_cost += rx->cost;
	return rx;
}

struct tcp_rx *tcp_rx_keep(struct tcp_conn *c, const struct tcp_in *in)
{
	const struct tcp *t = c->tcp;
	if (t->rx_used + in->pkt_cost > t->conf.rx_budget / 4 * 3 ||
		t->pkts.in_use >= t->pkts.capacity / 4 * 3)
		return NULL;
	return keep(c, in);
}

void tcp_rx_release(struct tcp_conn *c, struct tcp_rx *take_rx)
{
	struct tcp *t = c->tcp;
	t->rx_used -= take_rx->cost;
	c->rx_cost -= take_rx->cost;
	if (take_rx->is_block)
		pool_give(&t->blocks, take_rx->pkt);
	else if (take_rx->pkt != NULL)
		t->conf.ops->pkt_release(t->conf.ctx, take_rx->pkt);
	pool_give(&t->pkts, take_rx);
}

void tcp_rx_adopt(struct tcp_conn *c, struct tcp_rx *take_rx)
{
	take_rx->next = NULL;
	if (c->rx_last != NULL) {
		c->rx_last->next = take_rx;
	} else {
		c->rx_first = take_rx;
		c->rx_off = 0;
	}
	c->rx_last = take_rx;
	c->unread += take_rx->len;
}

static struct tcp_rx *block_open(struct tcp_conn *c)
{
	struct tcp *t = c->tcp;
	if (!is_affordable(c, LIMIT_TCP_BLOCK_BYTES))
		return NULL;
	void *block = pool_take(&t->blocks);
	if (block == NULL)
		return NULL;
	struct tcp_rx *rx = pool_take(&t->pkts);
	if (rx == NULL) {
		pool_give(&t->blocks, block);
		return NULL;
	}
	*rx = (struct tcp_rx){
		.data = block, .pkt = block, .cost = LIMIT_TCP_BLOCK_BYTES, .is_block = true};
	t->rx_used += rx->cost;
	c->rx_cost += rx->cost;
	tcp_rx_adopt(c, rx);
	return rx;
}

/* Small segments: bytes behind bytes. */
static bool append_copy(struct tcp_conn *c, const struct tcp_in *in)
{
	struct tcp *t = c->tcp;
	struct tcp_rx *rx = c->rx_last;
	if (rx == NULL || !rx->is_block || LIMIT_TCP_BLOCK_BYTES - rx->len < in->len) {
		rx = block_open(c);
		if (rx == NULL)
			return false;
	}
	memcpy((uint8_t *)rx->pkt + rx->len, in->data, in->len);
	rx->len += in->len;
	c->unread += in->len;
	if (in->pkt != NULL)
		t->conf.ops->pkt_release(t->conf.ctx, in->pkt);
	return true;
}

bool tcp_rx_append(struct tcp_conn *c, const struct tcp_in *in)
{
	if (in->len <= LIMIT_TCP_SMALL_BYTES && append_copy(c, in))
		return true;
	struct tcp_rx *rx = is_affordable(c, in->pkt_cost) ? keep(c, in) : NULL;
	if (rx == NULL)
		return false;
	tcp_rx_adopt(c, rx);
	return true;
}

void tcp_rx_consume(struct tcp_conn *c, uint32_t len)
{
	MUST(len <= c->unread);
	c->unread -= len;
	while (len != 0) {
		struct tcp_rx *rx = c->rx_first;
		uint32_t part = rx->len - c->rx_off;
		if (part > len) {
			c->rx_off += len;
			return;
		}
		len -= part;
		c->rx_first = rx->next;
		if (c->rx_first == NULL)
			c->rx_last = NULL;
		c->rx_off = 0;
		tcp_rx_release(c, rx);
	}
}

void tcp_rx_clear(struct tcp_conn *c)
{
	tcp_rx_consume(c, c->unread);
}
