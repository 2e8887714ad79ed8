#include "dataplane/net/dpdk/tcp_loss.h"

#include "dataplane/net/dpdk/tcp_cc.h"
#include "dataplane/net/dpdk/tcp_out.h"
#include "dataplane/net/dpdk/tcp_rto.h"
#include "dataplane/net/dpdk/tcp_timer.h"

enum {
	DUP_THRESH = 3,
	PEER_DELACK_US =
		200000, /* the longest a peer may keep a lone acknowledgement back: RFC 8985 WCDelAckT */
	TICKS_US = 2000, /* two ticks of the wheel */
	REO_KEEP = 16,	 /* recoveries that a widened reordering window lasts */
	CWND_MAX = 1 << 30,
	MSS_CUT_AFTER = 3, /* timeouts in a row after which the path is thought to be narrower */
	MSS_CUT_FLOOR = 512,
};

void tcp_loss_init(struct tcp_conn *c)
{
	c->recovery = TCP_OPEN;
	c->rack_sent_us = 0;
	c->rack_end = c->rack_fack = c->snd_una;
	c->rack_rtt_us = 0;
	c->recover = c->snd_una - 1;
	c->reo_mult = 1;
	c->reo_left = 0;
	c->dup_acks = 0;
	c->stall_ms = 0;
}

/* Was it the retransmission that arrived, or the original, late? */
static bool is_ambiguous(const struct tcp_conn *c, const struct tcp_rtx *seg,
	const struct tcp_rtx_news *news, uint32_t rtt_us)
{
	if ((seg->flags & TCP_RTX_RETX) == 0)
		return false;
	if (news->has_ts &&
		tcp_seq_lt(news->ts_ecr, (uint32_t)(seg->sent_us / 1000) + c->ts_offset))
		return true;
	return rtt_us < c->min_rtt_us;
}

void tcp_loss_delivered(struct tcp_conn *c, const struct tcp_rtx *seg, struct tcp_rtx_news *news)
{
	uint64_t us = tcp_now_us(c->tcp) - seg->sent_us;
	uint32_t rtt_us = us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
	uint32_t end = seg->seq + seg->len;
	news->delivered += seg->len;
	if ((seg->flags & TCP_RTX_RETX) == 0) {
		if (news->rtt_us == 0 || rtt_us < news->rtt_us)
			news->rtt_us = rtt_us != 0 ? rtt_us : 1;
		/* below what was known to have arrived before this acknowledgement */
		if (tcp_seq_lt(end, c->rack_fack))
			c->flags |= TCP_F_REORDER;
	}
	if (!news->has_fack || tcp_seq_gt(end, news->fack))
		news->fack = end;
	news->has_fack = true;
	if (is_ambiguous(c, seg, news, rtt_us))
		return;
	if (seg->sent_us > c->rack_sent_us ||
		(seg->sent_us == c->rack_sent_us && tcp_seq_gt(end, c->rack_end))) {
		c->rack_sent_us = seg->sent_us;
		c->rack_end = end;
		c->rack_rtt_us = rtt_us;
	}
}

static uint32_t reorder_window_us(const struct tcp_conn *c)
{
	bool has_thresh = tcp_rtx_reported(c) > (DUP_THRESH - 1) * (uint32_t)c->mss;
	if ((c->flags & TCP_F_REORDER) == 0 && (c->recovery != TCP_OPEN || has_thresh))
		return 0;
	if (c->min_rtt_us == UINT32_MAX)
		return 0;
	uint64_t us = (uint64_t)c->reo_mult * (c->min_rtt_us / 4);
	return us < c->srtt_us ? (uint32_t)us : c->srtt_us;
}

/* Marks what is lost; what may be soon gets a timer. */
static void rack_detect(struct tcp_conn *c)
{
	uint64_t now_us = tcp_now_us(c->tcp);
	uint64_t wait_us = 0;
	uint64_t window_us = (uint64_t)c->rack_rtt_us + reorder_window_us(c);
	struct tcp_rtx *next;
	for (struct tcp_rtx *seg = c->sent.first; seg != NULL; seg = next) {
		next = seg->tnext;
		if (seg->sent_us > c->rack_sent_us)
			break;
		if (seg->sent_us == c->rack_sent_us && tcp_seq_ge(seg->seq + seg->len, c->rack_end))
			continue;
		if (seg->sent_us + window_us <= now_us) {
			tcp_rtx_lose(c, seg);
			continue;
		}
		wait_us = seg->sent_us + window_us - now_us;
	}
	if (wait_us != 0) {
		c->flags |= TCP_F_REO_TIMER;
		tcp_timer_set(c, TCP_TIMER_EARLY, c->tcp->now_ns + wait_us * NS_PER_US);
	} else if (c->flags & TCP_F_REO_TIMER) {
		c->flags &= ~(uint32_t)TCP_F_REO_TIMER;
		tcp_timer_clear(c, TCP_TIMER_EARLY);
	}
}

/* RFC 6582 for peers without SACK. */
static void reno_detect(struct tcp_conn *c, const struct tcp_rtx_news *news)
{
	if (news->is_dup) {
		if (c->dup_acks < UINT8_MAX)
			c->dup_acks++;
		if (c->recovery != TCP_LOSS && c->dups + 2u * c->mss <= c->flight)
			c->dups += c->mss;
		if (c->dup_acks >= DUP_THRESH && c->recovery == TCP_OPEN && c->lost == 0 &&
			tcp_seq_gt(c->snd_una, c->recover) && c->rtx.first != NULL)
			tcp_rtx_lose(c, c->rtx.first);
		return;
	}
	if (news->acked == 0)
		return;
	c->dup_acks = 0;
	if (c->recovery == TCP_OPEN) {
		c->dups = 0;
		return;
	}
	/* the acknowledgement fills one hole; the rest of it are segments that the duplicates spoke of */
	uint32_t eaten = news->acked > c->mss ? news->acked - c->mss : 0;
	c->dups -= eaten < c->dups ? eaten : c->dups;
	if (c->dups > c->flight)
		c->dups = c->flight;
	struct tcp_rtx *first = c->rtx.first;
	if (c->recovery == TCP_RECOVERY && first != NULL && tcp_seq_lt(c->snd_una, c->recover) &&
		(first->flags & (TCP_RTX_LOST | TCP_RTX_RETX)) == 0)
		tcp_rtx_lose(c, first);
}

static void recovery_enter(struct tcp_conn *c)
{
	c->tcp->counts[TCP_COUNT_RECOVERIES]++;
	c->ssthresh = c->tcp->cc->on_loss(c);
	c->recovery = TCP_RECOVERY;
	c->recover = c->snd_nxt;
	c->prr_delivered = c->prr_out = 0;
	c->prr_flight = c->snd_nxt - c->snd_una;
	c->flags &= ~(uint32_t)TCP_F_TLP_OUT;
}

static void recovery_leave(struct tcp_conn *c)
{
	if (c->recovery == TCP_RECOVERY)
		c->cwnd = c->ssthresh > c->mss ? c->ssthresh : c->mss;
	c->recovery = TCP_OPEN;
	c->dups = 0;
	c->dup_acks = 0;
	if (c->reo_left != 0 && --c->reo_left == 0)
		c->reo_mult = 1;
}

/* RFC 6937: the window while recovering. */
static void prr_update(struct tcp_conn *c, const struct tcp_rtx_news *news)
{
	uint32_t delivered = news->delivered;
	if (news->is_dup && (c->flags & TCP_F_SACK) == 0)
		delivered = c->mss;
	c->prr_delivered += delivered;
	uint32_t pipe = tcp_rtx_flight(c);
	int64_t send;
	if (pipe > c->ssthresh) {
		uint64_t share = (uint64_t)c->prr_delivered * c->ssthresh + c->prr_flight - 1;
		send = (int64_t)(share / c->prr_flight) - c->prr_out;
	} else {
		int64_t limit = (int64_t)c->prr_delivered - c->prr_out;
		if (limit < delivered)
			limit = delivered;
		/* the repair works: slow start back to the threshold */
		if (news->acked != 0)
			limit += c->mss;
		send = (int64_t)c->ssthresh - pipe;
		if (send > limit)
			send = limit;
	}
	/* the first repair leaves at once; without SACK so does that of each hole (RFC 6582) */
	bool is_hole = (c->flags & TCP_F_SACK) == 0 && news->acked != 0 && c->lost != 0;
	if ((c->prr_out == 0 || is_hole) && send < c->mss)
		send = c->mss;
	c->cwnd = pipe + (send > 0 ? (uint32_t)send : 0);
}

/* RFC 8985 7.4: did the probe repair a loss? Then the loss counts. */
static void probe_answered(struct tcp_conn *c, const struct tcp_rtx_news *news)
{
	if ((c->flags & TCP_F_TLP_OUT) == 0 || tcp_seq_lt(c->snd_una, c->tlp_end))
		return;
	bool is_needless = (c->flags & TCP_F_TLP_RETX) == 0 || news->has_dsack ||
			   (news->acked == 0 && news->delivered == 0);
	if (!is_needless && !tcp_seq_gt(c->snd_una, c->tlp_end))
		return;
	c->flags &= ~(uint32_t)TCP_F_TLP_OUT;
	if (is_needless || c->recovery != TCP_OPEN)
		return;
	c->ssthresh = c->tcp->cc->on_loss(c);
	if (c->cwnd > c->ssthresh)
		c->cwnd = c->ssthresh;
}

static void rtt_update(struct tcp_conn *c, const struct tcp_rtx_news *news)
{
	if (news->rtt_us != 0) {
		tcp_rto_sample(c, news->rtt_us);
	} else if (news->acked != 0 && news->has_ts) {
		uint32_t ms = tcp_now_ms(c->tcp) + c->ts_offset - news->ts_ecr;
		if (ms < LIMIT_TCP_RTO_MAX_MS)
			tcp_rto_sample(c, ms * 1000 + 500);
	}
}

static void timers_update(struct tcp_conn *c, bool is_progress)
{
	if (c->snd_una == c->snd_nxt) {
		tcp_timer_clear(c, TCP_TIMER_RTO);
		tcp_timer_clear(c, TCP_TIMER_EARLY);
		c->flags &= ~(uint32_t)TCP_F_REO_TIMER;
		return;
	}
	if (is_progress || c->due_ns[TCP_TIMER_RTO] == 0)
		tcp_timer_set(c, TCP_TIMER_RTO, c->tcp->now_ns + tcp_rto_ns(c));
	if (c->flags & TCP_F_REO_TIMER)
		return;
	/* without SACK the answer to a probe says nothing */
	if (c->recovery != TCP_OPEN || (c->flags & (TCP_F_TLP_OUT | TCP_F_SACK)) != TCP_F_SACK ||
		tcp_rtx_reported(c) != 0 || c->lost != 0) {
		tcp_timer_clear(c, TCP_TIMER_EARLY);
		return;
	}
	uint64_t us =
		c->srtt_us != 0 ? 2ull * c->srtt_us + TICKS_US : LIMIT_TCP_RTO_FIRST_MS * 1000ull;
	if (c->rtx.first == c->rtx.last)
		us += PEER_DELACK_US;
	uint64_t due_ns = c->tcp->now_ns + us * NS_PER_US;
	if (due_ns < c->due_ns[TCP_TIMER_RTO])
		tcp_timer_set(c, TCP_TIMER_EARLY, due_ns);
	else
		tcp_timer_clear(c, TCP_TIMER_EARLY);
}

void tcp_loss_on_ack(struct tcp_conn *c, const struct tcp_rtx_news *news)
{
	rtt_update(c, news);
	if (news->has_fack)
		c->rack_fack = tcp_seq_max(c->rack_fack, news->fack);
	if (news->acked != 0)
		c->stall_ms = 0;
	if (news->has_dsack && c->reo_mult < REO_KEEP) {
		c->reo_mult++;
		c->reo_left = REO_KEEP;
	}
	probe_answered(c, news);
	bool was_recovering = c->recovery == TCP_RECOVERY;
	if (c->recovery != TCP_OPEN && tcp_seq_ge(c->snd_una, c->recover))
		recovery_leave(c);
	if (c->flags & TCP_F_SACK)
		rack_detect(c);
	else
		reno_detect(c, news);
	if (c->recovery == TCP_OPEN && c->lost != 0)
		recovery_enter(c);
	if (c->recovery == TCP_RECOVERY)
		prr_update(c, news);
	else if (news->acked != 0 && !was_recovering && (c->flags & TCP_F_CWND_FULL) != 0 &&
		 c->cwnd < CWND_MAX)
		c->tcp->cc->on_ack(c, news->acked);
	timers_update(c, news->acked != 0);
}

void tcp_loss_on_sent(struct tcp_conn *c, bool is_new)
{
	if (is_new)
		timers_update(c, false);
	else if (c->due_ns[TCP_TIMER_RTO] == 0)
		tcp_timer_set(c, TCP_TIMER_RTO, c->tcp->now_ns + tcp_rto_ns(c));
}

/* A path that swallows long segments and tells nobody: try shorter ones. */
static void suspect_path(struct tcp_conn *c)
{
	if (c->backoff < MSS_CUT_AFTER || c->mss <= MSS_CUT_FLOOR)
		return;
	c->mss = c->mss / 2 > MSS_CUT_FLOOR ? c->mss / 2 : MSS_CUT_FLOOR;
	c->tcp->counts[TCP_COUNT_MSS_CUTS]++;
}

void tcp_loss_on_rto(struct tcp_conn *c)
{
	struct tcp *t = c->tcp;
	t->counts[TCP_COUNT_RTOS]++;
	if (c->recovery != TCP_LOSS)
		c->ssthresh = t->cc->on_loss(c);
	t->cc->on_restart(c);
	tcp_rtx_lose_all(c);
	c->recovery = TCP_LOSS;
	c->recover = c->snd_nxt;
	c->cwnd = c->mss;
	c->dup_acks = 0;
	c->flags &= ~(uint32_t)(TCP_F_TLP_OUT | TCP_F_REO_TIMER);
	tcp_timer_clear(c, TCP_TIMER_EARLY);
	tcp_rto_back_off(c);
	suspect_path(c);
	tcp_timer_set(c, TCP_TIMER_RTO, t->now_ns + tcp_rto_ns(c));
	tcp_out_push(c);
}

void tcp_loss_on_early(struct tcp_conn *c)
{
	if (c->flags & TCP_F_REO_TIMER) {
		c->flags &= ~(uint32_t)TCP_F_REO_TIMER;
		rack_detect(c);
		if (c->recovery == TCP_OPEN && c->lost != 0)
			recovery_enter(c);
		if (c->recovery == TCP_RECOVERY && c->prr_out == 0)
			c->cwnd = tcp_rtx_flight(c) + c->mss;
		tcp_out_push(c);
		return;
	}
	if (c->snd_una == c->snd_nxt || c->recovery != TCP_OPEN || tcp_rtx_reported(c) != 0)
		return;
	bool is_retx = false;
	if (!tcp_out_probe(c, &is_retx))
		return;
	c->tcp->counts[TCP_COUNT_LOSS_PROBES]++;
	c->tlp_end = c->snd_nxt;
	c->flags = (c->flags & ~(uint32_t)TCP_F_TLP_RETX) | TCP_F_TLP_OUT |
		   (is_retx ? (uint32_t)TCP_F_TLP_RETX : 0);
	tcp_timer_clear(c, TCP_TIMER_EARLY);
	tcp_timer_set(c, TCP_TIMER_RTO, c->tcp->now_ns + tcp_rto_ns(c));
}
