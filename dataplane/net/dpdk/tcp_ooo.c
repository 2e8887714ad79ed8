#include "dataplane/net/dpdk/tcp_ooo.h"

#include "dataplane/net/dpdk/tcp_rx.h"

static uint32_t end_of(const struct tcp_rx *rx)
{
	return rx->seq + rx->len;
}

/* The block of the newest segment goes first; those it touches melt into it. */
static void sack_add(struct tcp_conn *c, uint32_t start, uint32_t end)
{
	struct tcp_range merged = {start, end};
	unsigned kept = 0;
	for (unsigned i = 0; i < c->sack_count; i++) {
		struct tcp_range r = c->sack[i];
		if (tcp_seq_gt(r.start, merged.end) || tcp_seq_lt(r.end, merged.start)) {
			c->sack[kept++] = r;
			continue;
		}
		if (tcp_seq_lt(r.start, merged.start))
			merged.start = r.start;
		merged.end = tcp_seq_max(merged.end, r.end);
	}
	if (kept == TCP_OPT_SACKS)
		kept--;
	for (unsigned i = kept; i > 0; i--)
		c->sack[i] = c->sack[i - 1];
	c->sack[0] = merged;
	c->sack_count = (uint8_t)(kept + 1);
}

static void sack_trim(struct tcp_conn *c)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < c->sack_count; i++) {
		if (tcp_seq_gt(c->sack[i].start, c->rcv_nxt))
			c->sack[kept++] = c->sack[i];
	}
	c->sack_count = (uint8_t)kept;
}

/* The last record that begins at or before seq; NULL: none. */
static struct tcp_rx *before(struct tcp_conn *c, uint32_t seq)
{
	if (c->ooo_last != NULL && tcp_seq_le(c->ooo_last->seq, seq))
		return c->ooo_last;
	struct tcp_rx *found = NULL;
	for (struct tcp_rx *rx = c->ooo_first; rx != NULL && tcp_seq_le(rx->seq, seq);
		rx = rx->next)
		found = rx;
	return found;
}

static void drop(struct tcp_conn *c, const struct tcp_in *in, enum reason_id reason)
{
	struct tcp *t = c->tcp;
	tcp_drop(t, reason);
	if (in->pkt != NULL)
		t->conf.ops->pkt_release(t->conf.ctx, in->pkt);
}

/* Links rx behind prev and removes the records that it covers; a last one that it overlaps cuts it. */
static void link_behind(struct tcp_conn *c, struct tcp_rx *prev, struct tcp_rx *rx)
{
	struct tcp_rx **link = prev != NULL ? &prev->next : &c->ooo_first;
	struct tcp_rx *next = *link;
	while (next != NULL && tcp_seq_le(end_of(next), end_of(rx))) {
		struct tcp_rx *covered = next;
		next = next->next;
		c->ooo_count--;
		tcp_rx_release(c, covered);
	}
	if (next != NULL && tcp_seq_gt(end_of(rx), next->seq))
		rx->len = next->seq - rx->seq;
	rx->next = next;
	*link = rx;
	if (next == NULL)
		c->ooo_last = rx;
	c->ooo_count++;
}

/* Nothing of it is new: it lies in prev, or in prev and the one right behind it. */
static bool is_known(const struct tcp_rx *prev, const struct tcp_in *in)
{
	uint32_t end = in->seq + in->len;
	if (prev == NULL || tcp_seq_lt(end_of(prev), in->seq))
		return false;
	const struct tcp_rx *next = prev->next;
	return tcp_seq_ge(end_of(prev), end) ||
	       (next != NULL && next->seq == end_of(prev) && tcp_seq_ge(end_of(next), end));
}

static void known_again(struct tcp_conn *c, const struct tcp_in *in)
{
	tcp_ooo_dsack(c, in->seq, in->seq + in->len);
	c->tcp->counts[TCP_COUNT_DUPS_IN]++;
	if (in->pkt != NULL)
		c->tcp->conf.ops->pkt_release(c->tcp->conf.ctx, in->pkt);
}

void tcp_ooo_insert(struct tcp_conn *c, const struct tcp_in *in)
{
	struct tcp_in part = *in;
	struct tcp_rx *prev = before(c, part.seq);
	if (is_known(prev, in)) {
		known_again(c, in);
		return;
	}
	/* small segments cost a whole packet here: a peer that sends only those gets less room */
	if (c->ooo_count >= LIMIT_TCP_OOO_RECORDS || c->rx_cost / 4 > c->rcv_buf) {
		drop(c, in, REASON_TCP_OOO_FULL);
		return;
	}
	if (prev != NULL && tcp_seq_gt(end_of(prev), part.seq)) {
		uint32_t cut = end_of(prev) - part.seq;
		part.seq += cut;
		part.data += cut;
		part.len -= cut;
	}
	struct tcp_rx *rx = tcp_rx_keep(c, &part);
	if (rx == NULL) {
		drop(c, in, REASON_TCP_RX_BUDGET);
		return;
	}
	link_behind(c, prev, rx);
	c->tcp->counts[TCP_COUNT_OOO_IN]++;
	/* a FIN is remembered by the caller, so it is reported with the bytes in front of it */
	bool has_fin = (in->flags & TCP_FIN) != 0 && end_of(rx) == in->seq + in->len;
	sack_add(c, rx->seq, end_of(rx) + has_fin);
}

void tcp_ooo_drain(struct tcp_conn *c)
{
	while (c->ooo_first != NULL && tcp_seq_le(c->ooo_first->seq, c->rcv_nxt)) {
		struct tcp_rx *rx = c->ooo_first;
		c->ooo_first = rx->next;
		if (c->ooo_first == NULL)
			c->ooo_last = NULL;
		c->ooo_count--;
		uint32_t old = c->rcv_nxt - rx->seq;
		if (old >= rx->len) {
			tcp_rx_release(c, rx);
			continue;
		}
		rx->seq += old;
		rx->data += old;
		rx->len -= old;
		c->rcv_nxt += rx->len;
		c->tcp->counts[TCP_COUNT_BYTES_IN] += rx->len;
		tcp_rx_adopt(c, rx);
	}
	sack_trim(c);
}

void tcp_ooo_clear(struct tcp_conn *c)
{
	while (c->ooo_first != NULL) {
		struct tcp_rx *rx = c->ooo_first;
		c->ooo_first = rx->next;
		tcp_rx_release(c, rx);
	}
	c->ooo_last = NULL;
	c->ooo_count = 0;
	c->sack_count = 0;
}

void tcp_ooo_dsack(struct tcp_conn *c, uint32_t start, uint32_t end)
{
	if ((c->flags & TCP_F_SACK) == 0 || start == end)
		return;
	c->dsack = (struct tcp_range){start, end};
	c->flags |= TCP_F_DSACK;
}

void tcp_ooo_report(struct tcp_conn *c, struct tcp_opt *out)
{
	if ((c->flags & TCP_F_SACK) == 0)
		return;
	unsigned count = 0;
	if (c->flags & TCP_F_DSACK) {
		out->sack[count++] = c->dsack;
		c->flags &= ~(uint32_t)TCP_F_DSACK;
	}
	for (unsigned i = 0; i < c->sack_count && count < TCP_OPT_SACKS; i++)
		out->sack[count++] = c->sack[i];
	if (count == 0)
		return;
	out->flags |= TCP_OPT_SACK;
	out->sack_count = (uint8_t)count;
}
