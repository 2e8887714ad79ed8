/* wire: numbers in network byte order, and IPv4 addresses in their mapped form. Pure. */
#ifndef DATAPLANE_NET_DPDK_WIRE_H
#define DATAPLANE_NET_DPDK_WIRE_H

#include <string.h>

#include "lib/base/base.h"

enum { WIRE_IP_BYTES = 16, WIRE_MAC_BYTES = 6 };

static inline uint16_t wire_get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t wire_get32(const uint8_t *p)
{
	return (uint32_t)wire_get16(p) << 16 | wire_get16(p + 2);
}

static inline void wire_put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline void wire_put32(uint8_t *p, uint32_t v)
{
	wire_put16(p, (uint16_t)(v >> 16));
	wire_put16(p + 2, (uint16_t)v);
}

static inline bool wire_is_v4(const uint8_t ip[WIRE_IP_BYTES])
{
	static const uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	return memcmp(ip, prefix, sizeof(prefix)) == 0;
}

static inline void wire_map_v4(uint8_t out[WIRE_IP_BYTES], const uint8_t v4[4])
{
	memset(out, 0, 10);
	out[10] = out[11] = 0xff;
	memcpy(out + 12, v4, 4);
}

static inline bool wire_is_zero(const uint8_t *p, size_t len)
{
	uint8_t any = 0;
	for (size_t i = 0; i < len; i++)
		any |= p[i];
	return any == 0;
}

#endif
