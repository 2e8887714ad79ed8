/* CUBIC (RFC 9438). Windows here are in segments, times in seconds. */
#include <math.h>

#include "dataplane/net/dpdk/tcp_cubic.h"

#define CUBIC_C	    0.4f
#define CUBIC_BETA  0.7f
#define CUBIC_ALPHA (3.0f * (1.0f - CUBIC_BETA) / (1.0f + CUBIC_BETA))

static uint32_t now_ms(const struct tcp_conn *c)
{
	uint32_t ms = tcp_now_ms(c->tcp);
	return ms != 0 ? ms : 1;
}

static void epoch_start(struct tcp_conn *c, float cwnd)
{
	c->cc_epoch_ms = now_ms(c);
	c->cc_w_est = cwnd;
	if (cwnd < c->cc_w_max) {
		c->cc_k = cbrtf((c->cc_w_max - cwnd) / CUBIC_C);
	} else {
		c->cc_k = 0;
		c->cc_w_max = cwnd;
	}
}

static void cubic_on_ack(struct tcp_conn *c, uint32_t acked)
{
	acked = tcp_cc_slow_start(c, acked);
	if (acked == 0)
		return;
	float mss = (float)c->mss;
	float cwnd = (float)c->cwnd / mss;
	if (c->cc_epoch_ms == 0)
		epoch_start(c, cwnd);
	float t =
		(float)(now_ms(c) - c->cc_epoch_ms) / 1000.0f + (float)c->srtt_us / 1e6f - c->cc_k;
	float target = CUBIC_C * t * t * t + c->cc_w_max;
	if (target < cwnd)
		target = cwnd;
	if (target > 1.5f * cwnd)
		target = 1.5f * cwnd;
	/* the window Reno would have; its slope rises to 1 once it is past the last maximum */
	float alpha = c->cc_w_est >= c->cc_w_max ? 1.0f : CUBIC_ALPHA;
	c->cc_w_est += alpha * ((float)acked / mss) / cwnd;
	float grown = cwnd + (target - cwnd) / cwnd * ((float)acked / mss);
	if (grown < c->cc_w_est)
		grown = c->cc_w_est;
	float bytes = grown * mss;
	if (bytes > (float)c->cwnd && bytes < (float)(1u << 30))
		c->cwnd = (uint32_t)bytes;
}

static uint32_t cubic_on_loss(struct tcp_conn *c)
{
	float cwnd = (float)c->cwnd / (float)c->mss;
	/* fast convergence: somebody new wants a share */
	c->cc_w_max = cwnd < c->cc_w_max ? cwnd * (1.0f + CUBIC_BETA) / 2.0f : cwnd;
	c->cc_epoch_ms = 0;
	uint32_t flight = c->snd_nxt - c->snd_una;
	uint32_t base = flight < c->cwnd ? flight : c->cwnd;
	uint32_t left = (uint32_t)((float)base * CUBIC_BETA);
	return left > 2u * c->mss ? left : 2u * c->mss;
}

static void cubic_on_restart(struct tcp_conn *c)
{
	c->cc_epoch_ms = 0;
}

const struct tcp_cc tcp_cubic = {
	"cubic",
	cubic_on_ack,
	cubic_on_loss,
	cubic_on_restart,
};
