#include "dataplane/net/dpdk/tcp_cc.h"

#include "dataplane/net/dpdk/tcp_cubic.h"

const struct tcp_cc *tcp_cc_of(enum tcp_cc_kind kind)
{
	switch (kind) {
	case TCP_CC_CUBIC:
		return &tcp_cubic;
	case TCP_CC_NEWRENO:
		return &tcp_cc_newreno;
	}
	return &tcp_cubic;
}

uint32_t tcp_cc_initial(const struct tcp_conn *c)
{
	uint32_t ten = LIMIT_TCP_IW_SEGMENTS * (uint32_t)c->mss;
	uint32_t floor = 2u * c->mss > 14600 ? 2u * c->mss : 14600;
	return ten < floor ? ten : floor;
}

void tcp_cc_init(struct tcp_conn *c)
{
	c->cwnd = tcp_cc_initial(c);
	c->ssthresh = UINT32_MAX;
	c->cc_w_max = 0;
	c->cc_k = 0;
	c->cc_w_est = 0;
	c->cc_epoch_ms = 0;
}

uint32_t tcp_cc_slow_start(struct tcp_conn *c, uint32_t acked)
{
	if (c->cwnd >= c->ssthresh)
		return acked;
	uint32_t room = c->ssthresh - c->cwnd;
	uint32_t step = acked < room ? acked : room;
	c->cwnd += step;
	return acked - step;
}

static void newreno_on_ack(struct tcp_conn *c, uint32_t acked)
{
	acked = tcp_cc_slow_start(c, acked);
	if (acked == 0)
		return;
	/* one segment a round trip: mss * acked / cwnd, the rest kept for the next time */
	c->cc_w_est += (float)acked;
	if (c->cc_w_est >= (float)c->cwnd) {
		c->cc_w_est -= (float)c->cwnd;
		c->cwnd += c->mss;
	}
}

static uint32_t newreno_on_loss(struct tcp_conn *c)
{
	uint32_t half = (c->snd_nxt - c->snd_una) / 2;
	if (half > c->cwnd / 2)
		half = c->cwnd / 2;
	c->cc_w_est = 0;
	return half > 2u * c->mss ? half : 2u * c->mss;
}

static void newreno_on_restart(struct tcp_conn *c)
{
	c->cc_w_est = 0;
}

const struct tcp_cc tcp_cc_newreno = {
	"newreno",
	newreno_on_ack,
	newreno_on_loss,
	newreno_on_restart,
};
