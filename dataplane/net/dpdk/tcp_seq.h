/* tcp_seq: sequence numbers compare modulo 2^32 (RFC 9293 3.4). Pure. */
#ifndef DATAPLANE_NET_DPDK_TCP_SEQ_H
#define DATAPLANE_NET_DPDK_TCP_SEQ_H

#include "lib/base/base.h"

static inline bool tcp_seq_lt(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

static inline bool tcp_seq_le(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) <= 0;
}

static inline bool tcp_seq_gt(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

static inline bool tcp_seq_ge(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) >= 0;
}

static inline uint32_t tcp_seq_max(uint32_t a, uint32_t b)
{
	return tcp_seq_ge(a, b) ? a : b;
}

#endif
