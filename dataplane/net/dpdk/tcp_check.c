#include "dataplane/net/dpdk/tcp_check.h"

#include "dataplane/net/dpdk/tcp_out.h"
#include "dataplane/net/dpdk/tcp_rtx.h"

static uint32_t list_bytes(const struct tcp_rtx_list *list)
{
	uint32_t bytes = 0;
	for (const struct tcp_rtx *seg = list->first; seg != NULL; seg = seg->tnext)
		bytes += seg->len;
	return bytes;
}

static const char *check_rtx(const struct tcp_conn *c)
{
	uint32_t at = c->snd_una;
	uint32_t reported = 0;
	for (const struct tcp_rtx *seg = c->rtx.first; seg != NULL; seg = seg->next) {
		if (seg->seq != at || seg->len == 0)
			return "segments follow each other from snd_una";
		if (seg->next == NULL && seg != c->rtx.last)
			return "the last segment is the last";
		if (seg->flags & TCP_RTX_SACKED)
			reported += seg->len;
		at += seg->len;
	}
	if (at != c->snd_nxt)
		return "segments reach snd_nxt";
	if (list_bytes(&c->sent) != c->flight)
		return "flight is the bytes in flight";
	if (list_bytes(&c->gone) != c->lost)
		return "lost is the bytes lost";
	if (reported != tcp_rtx_reported(c))
		return "in flight, lost and reported are all";
	return NULL;
}

static const char *check_tx(const struct tcp_conn *c)
{
	uint64_t bytes = 0;
	unsigned spans = 0;
	for (const struct tcp_buf *buf = c->tx_first; buf != NULL; buf = buf->next, spans++)
		bytes += buf->len;
	if (bytes - c->tx_acked != c->queued || spans != c->tx_spans)
		return "queued is the bytes of the buffers";
	bool has_fin = (c->flags & TCP_F_FIN_SENT) != 0 && c->snd_una != c->snd_nxt;
	if (tcp_conn_is_synced(c) && c->queued - c->unsent + has_fin != c->snd_nxt - c->snd_una)
		return "what was sent and not acknowledged is queued";
	return NULL;
}

static const char *check_rx(const struct tcp_conn *c)
{
	uint32_t bytes = 0, cost = 0, count = 0;
	for (const struct tcp_rx *rx = c->rx_first; rx != NULL; rx = rx->next) {
		bytes += rx->len;
		cost += rx->cost;
	}
	if (bytes - c->rx_off != c->unread)
		return "unread is the bytes to read";
	uint32_t end = c->rcv_nxt;
	for (const struct tcp_rx *rx = c->ooo_first; rx != NULL; rx = rx->next, count++) {
		if (rx == c->ooo_first ? tcp_seq_le(rx->seq, end) : tcp_seq_lt(rx->seq, end))
			return "segments ahead are sorted and do not overlap";
		end = rx->seq + rx->len;
		cost += rx->cost;
	}
	if (count != c->ooo_count)
		return "ooo_count counts the segments ahead";
	return cost == c->rx_cost ? NULL : "rx_cost is what received segments cost";
}

/* Nothing may wait for something that never comes. */
static const char *check_timers(const struct tcp_conn *c)
{
	for (unsigned i = 0; i < TCP_TIMER_COUNT; i++) {
		if (c->due_ns[i] == 0)
			continue;
		if (!wheel_is_armed(&c->timer))
			return "a timer that is set is armed";
		if ((c->timer.due_tick - 1) * NS_PER_MS >= c->due_ns[i] &&
			c->timer.due_tick > c->tcp->conf.wheel->tick + 1)
			return "the armed timer is not later than one that is set";
	}
	bool is_opening = c->state == TCP_SYN_SENT || c->state == TCP_SYN_RCVD;
	bool is_waiting = tcp_conn_is_synced(c) && c->state != TCP_TIME_WAIT &&
			  (c->snd_una != c->snd_nxt || c->unsent != 0 || tcp_out_owes_fin(c));
	if ((is_opening || is_waiting) && c->due_ns[TCP_TIMER_RTO] == 0)
		return "what waits for the peer has a timer";
	if (c->state == TCP_TIME_WAIT && c->due_ns[TCP_TIMER_LIFE] == 0)
		return "TIME_WAIT ends";
	if (c->state == TCP_FIN_WAIT_2 && (c->flags & TCP_F_DISCARD) != 0 &&
		c->due_ns[TCP_TIMER_LIFE] == 0)
		return "FIN_WAIT_2 of a closed connection ends";
	if (c->ack_bytes != 0 && tcp_conn_is_synced(c) && c->due_ns[TCP_TIMER_ACK] == 0)
		return "what was received is acknowledged, now or soon";
	return NULL;
}

const char *tcp_check_conn(const struct tcp_conn *c)
{
	const char *wrong =
		tcp_conn_is_synced(c) && c->state != TCP_TIME_WAIT ? check_rtx(c) : NULL;
	if (wrong == NULL && c->state != TCP_TIME_WAIT)
		wrong = check_tx(c);
	if (wrong == NULL)
		wrong = check_rx(c);
	if (wrong == NULL && c->state != TCP_CLOSED)
		wrong = check_timers(c);
	return wrong;
}

const char *tcp_check_engine(const struct tcp *t)
{
	uint64_t rx_used = 0;
	uint32_t in_flow = 0, bufs = 0, segs = 0;
	if (t->ready_first != NULL)
		return "nothing is ready after tcp_run";
	for (uint32_t i = 0; i < t->conns.touched; i++) {
		if (!pool_is_taken(&t->conns, i))
			continue;
		const struct tcp_conn *c = pool_at(&t->conns, i);
		const char *wrong = tcp_check_conn(c);
		if (wrong != NULL)
			return wrong;
		rx_used += c->rx_cost;
		in_flow += (c->flags & TCP_F_IN_FLOW) != 0;
		bufs += c->tx_spans;
		for (const struct tcp_rtx *seg = c->rtx.first; seg != NULL; seg = seg->next)
			segs++;
	}
	if (rx_used != t->rx_used)
		return "rx_used is the sum of all connections";
	if (in_flow != t->flow.count)
		return "the flow table holds the connections";
	if (segs != t->segs.in_use)
		return "no segment record is lost";
	/* buffers may outlive their connection while a shell holds them */
	return bufs <= t->bufs.in_use ? NULL : "buffers are in use";
}
