#include "dataplane/net/dpdk/tcp_rtx.h"

#include "dataplane/net/dpdk/tcp_loss.h"

static void list_add(struct tcp_rtx_list *list, struct tcp_rtx *seg)
{
	seg->tnext = NULL;
	seg->tprev = list->last;
	if (list->last != NULL)
		list->last->tnext = seg;
	else
		list->first = seg;
	list->last = seg;
}

static void list_remove(struct tcp_rtx_list *list, struct tcp_rtx *seg)
{
	if (seg->tprev != NULL)
		seg->tprev->tnext = seg->tnext;
	else
		list->first = seg->tnext;
	if (seg->tnext != NULL)
		seg->tnext->tprev = seg->tprev;
	else
		list->last = seg->tprev;
}

static bool is_lost(const struct tcp_rtx *seg)
{
	return (seg->flags & TCP_RTX_LOST) != 0;
}

/* Takes seg out of the list it is in and out of that list's bytes. */
static void leave(struct tcp_conn *c, struct tcp_rtx *seg)
{
	if (seg->flags & TCP_RTX_SACKED)
		return;
	list_remove(is_lost(seg) ? &c->gone : &c->sent, seg);
	*(is_lost(seg) ? &c->lost : &c->flight) -= seg->len;
}

struct tcp_rtx *tcp_rtx_push(
	struct tcp_conn *c, struct tcp_buf *buf, uint32_t off, uint32_t len, uint8_t flags)
{
	struct pool *segs = &c->tcp->segs;
	/* the last eighth is for connections that have nothing in flight: none starves beside one that has a lot */
	if (c->rtx.first != NULL && segs->in_use + segs->capacity / 8 + 1 >= segs->capacity)
		return NULL;
	struct tcp_rtx *seg = pool_take(segs);
	if (seg == NULL)
		return NULL;
	*seg = (struct tcp_rtx){.prev = c->rtx.last,
		.buf = buf,
		.off = off,
		.seq = c->snd_nxt,
		.len = len,
		.flags = flags,
		.tries = 1,
		.sent_us = tcp_now_us(c->tcp)};
	if (c->rtx.last != NULL)
		c->rtx.last->next = seg;
	else
		c->rtx.first = seg;
	c->rtx.last = seg;
	list_add(&c->sent, seg);
	c->flight += len;
	c->snd_nxt += len;
	return seg;
}

/* Moves to the buffer its first byte lies in: those in front are about to be released. */
static void settle(struct tcp_rtx *seg)
{
	if (tcp_rtx_payload(seg) == 0) {
		seg->buf = NULL;
		return;
	}
	while (seg->off >= seg->buf->len) {
		seg->off -= seg->buf->len;
		seg->buf = seg->buf->next;
	}
}

/* The first `len` bytes of seg are done. */
static void trim_front(struct tcp_conn *c, struct tcp_rtx *seg, uint32_t len)
{
	if ((seg->flags & TCP_RTX_SACKED) == 0)
		*(is_lost(seg) ? &c->lost : &c->flight) -= len;
	seg->seq += len;
	seg->len -= len;
	seg->off += len;
	settle(seg);
}

static void pop_front(struct tcp_conn *c, struct tcp_rtx *seg)
{
	leave(c, seg);
	c->rtx.first = seg->next;
	if (seg->next != NULL)
		seg->next->prev = NULL;
	else
		c->rtx.last = NULL;
	pool_give(&c->tcp->segs, seg);
}

void tcp_rtx_ack(struct tcp_conn *c, uint32_t ack, struct tcp_rtx_news *news)
{
	news->acked = ack - c->snd_una;
	news->payload = news->acked;
	struct tcp_rtx *seg = c->rtx.first;
	while (seg != NULL && tcp_seq_lt(seg->seq, ack)) {
		if (tcp_seq_gt(seg->seq + seg->len, ack)) {
			if ((seg->flags & TCP_RTX_SACKED) == 0)
				news->delivered += ack - seg->seq;
			trim_front(c, seg, ack - seg->seq);
			break;
		}
		if ((seg->flags & TCP_RTX_SACKED) == 0)
			tcp_loss_delivered(c, seg, news);
		if (seg->flags & TCP_RTX_FIN)
			news->payload--;
		struct tcp_rtx *next = seg->next;
		pop_front(c, seg);
		seg = next;
	}
	c->snd_una = ack;
}

static void sack_block(struct tcp_conn *c, struct tcp_range block, struct tcp_rtx_news *news)
{
	/* the newest report is mostly near the end: walk back from there */
	struct tcp_rtx *seg = c->rtx.last;
	while (seg != NULL && tcp_seq_gt(seg->seq + seg->len, block.end))
		seg = seg->prev;
	for (; seg != NULL && tcp_seq_ge(seg->seq, block.start); seg = seg->prev) {
		if (seg->flags & TCP_RTX_SACKED)
			continue;
		leave(c, seg);
		tcp_loss_delivered(c, seg, news);
		seg->flags = (uint8_t)((seg->flags & ~TCP_RTX_LOST) | TCP_RTX_SACKED);
	}
}

/* RFC 2883: the first block reports a duplicate when it lies below the acknowledgement or inside the second block. */
static bool is_dsack(const struct tcp_conn *c, const struct tcp_opt *opt)
{
	struct tcp_range first = opt->sack[0];
	if (tcp_seq_le(first.end, c->snd_una))
		return true;
	return opt->sack_count > 1 && tcp_seq_ge(first.start, opt->sack[1].start) &&
	       tcp_seq_le(first.end, opt->sack[1].end);
}

void tcp_rtx_sack(struct tcp_conn *c, const struct tcp_opt *opt, struct tcp_rtx_news *news)
{
	if (opt->sack_count == 0)
		return;
	if (is_dsack(c, opt)) {
		news->has_dsack = true;
		c->tcp->counts[TCP_COUNT_DSACKS_IN]++;
	}
	for (unsigned i = 0; i < opt->sack_count; i++) {
		struct tcp_range r = opt->sack[i];
		/* only what is possible: behind snd_una, not behind snd_nxt, not empty */
		if (tcp_seq_ge(r.start, r.end) || tcp_seq_gt(r.end, c->snd_nxt) ||
			tcp_seq_lt(r.start, c->snd_una) ||
			r.end - r.start > c->snd_nxt - c->snd_una)
			continue;
		sack_block(c, r, news);
	}
}

void tcp_rtx_lose(struct tcp_conn *c, struct tcp_rtx *seg)
{
	MUST_HOT((seg->flags & (TCP_RTX_LOST | TCP_RTX_SACKED)) == 0);
	leave(c, seg);
	seg->flags |= TCP_RTX_LOST;
	list_add(&c->gone, seg);
	c->lost += seg->len;
}

void tcp_rtx_lose_all(struct tcp_conn *c)
{
	/* RFC 2018: what was reported may be dropped again; the peer has done so if it reports the very next byte */
	bool is_reneged = c->rtx.first != NULL && (c->rtx.first->flags & TCP_RTX_SACKED) != 0;
	c->gone = (struct tcp_rtx_list){NULL, NULL};
	c->sent = (struct tcp_rtx_list){NULL, NULL};
	c->flight = 0;
	c->lost = 0;
	c->dups = 0;
	for (struct tcp_rtx *seg = c->rtx.first; seg != NULL; seg = seg->next) {
		if ((seg->flags & TCP_RTX_SACKED) != 0 && !is_reneged)
			continue;
		seg->flags = (uint8_t)((seg->flags & ~TCP_RTX_SACKED) | TCP_RTX_LOST);
		list_add(&c->gone, seg);
		c->lost += seg->len;
	}
}

void tcp_rtx_resent(struct tcp_conn *c, struct tcp_rtx *seg)
{
	leave(c, seg);
	seg->flags = (uint8_t)((seg->flags & ~TCP_RTX_LOST) | TCP_RTX_RETX);
	if (seg->tries < UINT8_MAX)
		seg->tries++;
	seg->sent_us = tcp_now_us(c->tcp);
	list_add(&c->sent, seg);
	c->flight += seg->len;
}

bool tcp_rtx_cut(struct tcp_conn *c, struct tcp_rtx *seg, uint32_t len)
{
	MUST_HOT(len > 0 && (seg->flags & TCP_RTX_SACKED) == 0);
	if (len >= seg->len)
		return true;
	struct tcp_rtx *rest = pool_take(&c->tcp->segs);
	if (rest == NULL)
		return false;
	*rest = *seg;
	rest->seq += len;
	rest->len -= len;
	rest->off += len;
	settle(rest);
	seg->len = len;
	seg->flags &= (uint8_t)~TCP_RTX_FIN;
	rest->prev = seg;
	seg->next = rest;
	if (rest->next != NULL)
		rest->next->prev = rest;
	else
		c->rtx.last = rest;
	rest->tprev = seg;
	seg->tnext = rest;
	if (rest->tnext != NULL)
		rest->tnext->tprev = rest;
	else
		(is_lost(seg) ? &c->gone : &c->sent)->last = rest;
	return true;
}

void tcp_rtx_clear(struct tcp_conn *c)
{
	while (c->rtx.first != NULL)
		pop_front(c, c->rtx.first);
	c->dups = 0;
}
