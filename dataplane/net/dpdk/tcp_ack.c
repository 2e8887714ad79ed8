#include "dataplane/net/dpdk/tcp_ack.h"

#include "dataplane/net/dpdk/tcp_loss.h"
#include "dataplane/net/dpdk/tcp_out.h"
#include "dataplane/net/dpdk/tcp_timer.h"
#include "dataplane/net/dpdk/tcp_tx.h"

uint32_t tcp_ack_window(const struct tcp_conn *c, const struct tcp_in *in)
{
	/* the window of a SYN is never scaled */
	return (uint32_t)in->wnd << ((in->flags & TCP_SYN) != 0 ? 0 : c->snd_scale);
}

/* True: the window changed. */
static bool take_window(struct tcp_conn *c, const struct tcp_in *in)
{
	if (tcp_seq_lt(in->seq, c->snd_wl1))
		return false;
	uint32_t wnd = tcp_ack_window(c, in);
	bool is_changed = wnd != c->snd_wnd;
	c->snd_wl1 = in->seq;
	c->snd_wnd = wnd;
	if (wnd > c->snd_wnd_max)
		c->snd_wnd_max = wnd;
	/* a closed window is an answer: the peer is alive however long it lasts (RFC 9293 3.8.6.1) */
	if (wnd == 0 || (c->flags & TCP_F_PERSIST) != 0)
		c->stall_ms = 0;
	return is_changed;
}

static bool is_fin_acked(const struct tcp_conn *c)
{
	return (c->flags & TCP_F_FIN_SENT) != 0 && c->snd_una == c->snd_nxt;
}

static void fin_acked(struct tcp_conn *c)
{
	switch ((enum tcp_state)c->state) {
	case TCP_FIN_WAIT_1:
		tcp_conn_set_state(c, TCP_FIN_WAIT_2);
		if (c->flags & TCP_F_DISCARD)
			tcp_timer_set(c, TCP_TIMER_LIFE,
				c->tcp->now_ns + LIMIT_TCP_FIN_WAIT_MS * NS_PER_MS);
		break;
	case TCP_CLOSING:
		tcp_conn_time_wait(c);
		break;
	case TCP_LAST_ACK:
		tcp_conn_end(c, TCP_END_CLOSED);
		break;
	case TCP_CLOSED:
	case TCP_LISTEN:
	case TCP_SYN_SENT:
	case TCP_SYN_RCVD:
	case TCP_ESTABLISHED:
	case TCP_FIN_WAIT_2:
	case TCP_CLOSE_WAIT:
	case TCP_TIME_WAIT:
	case TCP_STATE_COUNT:
		break;
	}
}

/* RFC 5681: outstanding data, no data in it, no SYN or FIN, the same acknowledgement, the same window. */
static bool is_dup(const struct tcp_conn *c, const struct tcp_in *in, bool is_wnd_changed)
{
	return in->ack == c->snd_una && in->len == 0 && (in->flags & (TCP_SYN | TCP_FIN)) == 0 &&
	       !is_wnd_changed && c->snd_nxt != c->snd_una;
}

void tcp_ack_take(struct tcp_conn *c, const struct tcp_in *in)
{
	if (tcp_seq_lt(in->ack, c->snd_una))
		return;
	struct tcp_rtx_news news = {0};
	if ((c->flags & TCP_F_TS) != 0 && (in->opt.flags & TCP_OPT_TS) != 0 &&
		in->opt.ts_ecr != 0) {
		news.has_ts = true;
		news.ts_ecr = in->opt.ts_ecr;
	}
	bool is_wnd_changed = take_window(c, in);
	news.is_dup = is_dup(c, in, is_wnd_changed);
	if (tcp_seq_gt(in->ack, c->snd_una)) {
		tcp_rtx_ack(c, in->ack, &news);
		tcp_tx_acked(c, news.payload);
	}
	if (c->flags & TCP_F_SACK)
		tcp_rtx_sack(c, &in->opt, &news);
	tcp_loss_on_ack(c, &news);
	if (is_wnd_changed && (c->flags & TCP_F_PERSIST) != 0 && c->snd_wnd != 0)
		c->backoff = 0;
	if ((c->flags & TCP_F_WANT_ROOM) != 0 && news.payload != 0 && tcp_tx_has_room(c))
		tcp_conn_wake(c, TCP_EV_WRITABLE);
	if (c->unsent != 0 || c->gone.first != NULL || tcp_out_owes_fin(c))
		tcp_conn_wake(c, TCP_EV_OUTPUT);
	if (is_fin_acked(c))
		fin_acked(c);
}
