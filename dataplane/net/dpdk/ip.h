/* ip: IPv4 and IPv6 packets, read and written with exact checksums. Pure.
 * Addresses are 16 bytes everywhere, IPv4 mapped, so that the layers above do not care which they have. */
#ifndef DATAPLANE_NET_DPDK_IP_H
#define DATAPLANE_NET_DPDK_IP_H

#include "dataplane/net/dpdk/wire.h"
#include "lib/base/registry.h"

enum {
	IP_PROTO_HOP_BY_HOP = 0,
	IP_PROTO_ICMP = 1,
	IP_PROTO_TCP = 6,
	IP_PROTO_UDP = 17,
	IP_PROTO_ROUTING = 43,
	IP_PROTO_FRAGMENT = 44,
	IP_PROTO_ICMP6 = 58,
	IP_PROTO_NONE = 59,
	IP_PROTO_OPTIONS = 60,
};
enum {
	IP4_HEADER = 20,
	IP6_HEADER = 40,
	IP6_FRAGMENT = 8, /* the header of a fragment, behind the other */
	IP_HEADER_MAX = IP6_HEADER + IP6_FRAGMENT,
	IP6_MTU_MIN = 1280,
	IP_HOPS = 64
};

struct ip_in {
	uint8_t from[WIRE_IP_BYTES];
	uint8_t to[WIRE_IP_BYTES];
	uint8_t protocol; /* of the payload, behind all extension headers */
	uint8_t ttl;
	bool is_v6;
	bool is_fragment;
	uint16_t fragment_at; /* IPv6: where its fragment header begins in the packet */
	struct span packet;   /* cut to the length the header tells: Ethernet pads short frames */
	struct span payload;  /* of the first fragment or a whole packet */
};

/* What a header says. DF is set but in fragments: the path's MTU is found, not routers kept busy. */
struct ip_out {
	const uint8_t *from;
	const uint8_t *to;
	uint8_t protocol;
	uint8_t ttl;
	uint16_t id;  /* IPv4, and fragments: the same in all of a packet */
	uint32_t len; /* of the payload, in this fragment */
	bool is_fragment;
	bool has_more;	      /* it is not the last */
	uint16_t fragment_at; /* where its payload belongs in the packet's, a multiple of 8 */
};

/* 0, or the reason to drop it: REASON_IP_HEADER, REASON_CHECKSUM, REASON_MARTIAN. `is_verified`: the port's hardware
 * has found the header's checksum right. */
CHECKED int ip4_parse(struct ip_in *out, struct span packet, bool is_verified);
CHECKED int ip6_parse(struct ip_in *out, struct span packet);

unsigned ip4_write(const struct ip_out *ip, uint8_t out[IP4_HEADER]);
/* Writes IP6_HEADER bytes, for a fragment IP_HEADER_MAX. */
unsigned ip6_write(const struct ip_out *ip, uint8_t *out);

static inline unsigned ip_write(const struct ip_out *ip, uint8_t *out)
{
	return wire_is_v4(ip->to) ? ip4_write(ip, out) : ip6_write(ip, out);
}

/* Multicast, or IPv4's broadcast. */
bool ip_is_group(const uint8_t ip[WIRE_IP_BYTES]);
/* fe80::/10. */
static inline bool ip_is_link_local(const uint8_t ip[WIRE_IP_BYTES])
{
	return ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80;
}

#endif
