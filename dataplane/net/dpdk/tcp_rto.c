#include "dataplane/net/dpdk/tcp_rto.h"

enum { RTO_MIN_US = LIMIT_TCP_RTO_MIN_MS * 1000, RTO_MAX_US = LIMIT_TCP_RTO_MAX_MS * 1000 };

void tcp_rto_init(struct tcp_conn *c)
{
	c->srtt_us = 0;
	c->rttvar_us = 0;
	c->min_rtt_us = UINT32_MAX;
	c->rto_us = LIMIT_TCP_RTO_FIRST_MS * 1000;
	c->backoff = 0;
}

void tcp_rto_sample(struct tcp_conn *c, uint32_t rtt_us)
{
	if (rtt_us == 0)
		rtt_us = 1;
	if (rtt_us > RTO_MAX_US)
		rtt_us = RTO_MAX_US;
	if (rtt_us < c->min_rtt_us)
		c->min_rtt_us = rtt_us;
	if (c->srtt_us == 0) {
		c->srtt_us = rtt_us;
		c->rttvar_us = rtt_us / 2;
	} else {
		uint32_t error = rtt_us > c->srtt_us ? rtt_us - c->srtt_us : c->srtt_us - rtt_us;
		c->rttvar_us = (uint32_t)((3ull * c->rttvar_us + error) / 4);
		c->srtt_us = (uint32_t)((7ull * c->srtt_us + rtt_us) / 8);
		if (c->srtt_us == 0)
			c->srtt_us = 1;
	}
	uint64_t rto = c->srtt_us + 4ull * c->rttvar_us;
	/* the clock of the timers is one millisecond: RFC 6298's G */
	if (4ull * c->rttvar_us < 1000)
		rto = c->srtt_us + 1000ull;
	c->rto_us = rto < RTO_MIN_US ? RTO_MIN_US : rto > RTO_MAX_US ? RTO_MAX_US : (uint32_t)rto;
	c->backoff = 0;
}

uint64_t tcp_rto_ns(const struct tcp_conn *c)
{
	uint64_t us = (uint64_t)c->rto_us << (c->backoff < 16 ? c->backoff : 16);
	return (us > RTO_MAX_US ? RTO_MAX_US : us) * NS_PER_US;
}

void tcp_rto_back_off(struct tcp_conn *c)
{
	if (c->backoff < UINT8_MAX)
		c->backoff++;
}
