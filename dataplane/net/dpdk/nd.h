/* nd: IPv6 neighbour discovery (RFC 4861): solicitations and advertisements, and duplicate address detection
 * (RFC 4862). Routers are configured, so their advertisements are not read. Pure. */
#ifndef DATAPLANE_NET_DPDK_ND_H
#define DATAPLANE_NET_DPDK_ND_H

#include "dataplane/net/dpdk/ip.h"

enum { ND_SOLICIT = 135, ND_ADVERTISE = 136 };
enum { ND_BYTES = 32 /* with a link address option */, ND_HOPS = 255 };
enum nd_flag { ND_SOLICITED = 0x40, ND_OVERRIDE = 0x20 };

struct nd_packet {
	uint8_t type;
	uint8_t flags; /* enum nd_flag; advertisements */
	uint8_t target[WIRE_IP_BYTES];
	uint8_t mac[WIRE_MAC_BYTES];
	bool has_mac;
};

/* What a packet asks of us; a set. */
enum nd_deed {
	ND_DEED_ANSWER = 1,   /* an advertisement to the sender is due */
	ND_DEED_LEARN = 2,    /* from: the IP source of a solicitation */
	ND_DEED_REFRESH = 4,  /* of: the target of an advertisement, when it is known already */
	ND_DEED_CONFLICT = 8, /* somebody else has our address */
};

/* False: malformed, or from outside the link (RFC 4861 7.1). The ICMPv6 checksum has been verified. */
CHECKED bool nd_parse(struct nd_packet *out, const struct ip_in *ip);
/* With its checksum, for a packet from `from` to `to`. Returns the length. */
unsigned nd_write(const struct nd_packet *p, const uint8_t from[WIRE_IP_BYTES],
	const uint8_t to[WIRE_IP_BYTES], uint8_t out[ND_BYTES]);

unsigned nd_judge(
	const struct nd_packet *p, const uint8_t our_mac[WIRE_MAC_BYTES], bool owns_target);

/* The group of those whose address ends like `ip`, and the link address of a group. */
void nd_group(uint8_t out[WIRE_IP_BYTES], const uint8_t ip[WIRE_IP_BYTES]);
void nd_group_mac(uint8_t out[WIRE_MAC_BYTES], const uint8_t group[WIRE_IP_BYTES]);
/* The link-local address made from a link address (RFC 4291, EUI-64). */
void nd_link_local(uint8_t out[WIRE_IP_BYTES], const uint8_t mac[WIRE_MAC_BYTES]);

#endif
