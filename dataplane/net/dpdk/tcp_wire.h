/* tcp_wire: TCP segments as bytes, with the checksum over the pseudo header of IPv4 or IPv6. Pure. */
#ifndef DATAPLANE_NET_DPDK_TCP_WIRE_H
#define DATAPLANE_NET_DPDK_TCP_WIRE_H

#include "dataplane/net/dpdk/tcp.h"

enum { TCP_WIRE_HEADER = 20, TCP_WIRE_HEADER_MAX = TCP_WIRE_HEADER + TCP_OPT_BYTES };

/* The Internet checksum's running sum over more bytes. Only the last piece of a sum may have an odd length. */
uint64_t tcp_wire_sum(uint64_t sum, struct span bytes);
/* The finished 16 bits, as they stand in a header. */
uint16_t tcp_wire_fold(uint64_t sum);
/* The sum of the pseudo header. Mapped addresses on both sides mean IPv4. */
uint64_t tcp_wire_pseudo(
	const uint8_t from[16], const uint8_t to[16], uint8_t protocol, uint32_t len);

/* Reads a segment that came from key's remote to its local address; ports, header, options and payload are filled
 * in, pkt is not. 0, or the reason to drop it: REASON_CHECKSUM, REASON_TCP_HEADER. `is_verified`: the port's hardware
 * has found the checksum right. */
CHECKED int tcp_wire_parse(struct tcp_in *out, const uint8_t from[16], const uint8_t to[16],
	struct span segment, bool is_verified);

/* Writes header and options with checksum zero. Returns their length. */
unsigned tcp_wire_header(const struct tcp_seg *seg, uint8_t out[TCP_WIRE_HEADER_MAX]);

/* The checksum of a whole segment whose header was written by tcp_wire_header. */
uint16_t tcp_wire_checksum(const struct tcp_seg *seg, struct span header);

/* Header, options and payload in one piece, checksum included. Returns the length, 0 when `room` is too small. */
size_t tcp_wire_build(const struct tcp_seg *seg, uint8_t *out, size_t room);

#endif
