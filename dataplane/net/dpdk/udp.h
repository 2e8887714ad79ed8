/* udp: UDP headers with their checksum. Pure. */
#ifndef DATAPLANE_NET_DPDK_UDP_H
#define DATAPLANE_NET_DPDK_UDP_H

#include "dataplane/net/dpdk/ip.h"
#include "lib/base/addr.h"

enum { UDP_HEADER = 8 };

struct udp_in {
	uint16_t from_port;
	uint16_t to_port;
	struct span data;
};

/* 0, or REASON_UDP_HEADER or REASON_CHECKSUM. IPv4 may do without a checksum, IPv6 may not (RFC 8200 8.1).
 * `is_verified`: the port's hardware has found it right. */
CHECKED int udp_parse(struct udp_in *out, const struct ip_in *ip, bool is_verified);

/* Writes the header of `data`, with the checksum unless the port will fill it in (then it holds the sum of the pseudo
 * header). */
void udp_write(uint8_t out[UDP_HEADER], const struct addr *from, const struct addr *to,
	struct span data, bool is_offloaded);

#endif
