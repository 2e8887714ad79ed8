/* icmp: ICMP and ICMPv6 but for neighbour discovery: echo, errors about our packets, and errors we send. Pure. */
#ifndef DATAPLANE_NET_DPDK_ICMP_H
#define DATAPLANE_NET_DPDK_ICMP_H

#include "dataplane/net/dpdk/ip.h"
#include "dataplane/net/dpdk/tcp.h"

enum icmp_kind {
	ICMP_OTHER,
	ICMP_ECHO,
	ICMP_TOO_BIG,	/* `mtu` and `quote` are set */
	ICMP_NEIGHBOUR, /* nd_parse knows more */
};

struct icmp_in {
	enum icmp_kind kind;
	uint16_t mtu; /* what the path carries */
	/* The TCP segment of ours that did not fit. */
	struct tcp_key key;
	uint32_t seq;
};

enum icmp_error { ICMP_ERROR_PORT /* nobody there */, ICMP_ERROR_PROTOCOL };

enum {
	ICMP_HEADER = 8,
	ICMP_QUOTE4 = 548, /* the whole error stays within 576 bytes */
	ICMP_ERROR_MAX = IP6_MTU_MIN - IP6_HEADER,
};

/* 0, or REASON_CHECKSUM or REASON_ICMP. An error whose quote is not a TCP segment is ICMP_OTHER. */
CHECKED int icmp_parse(struct icmp_in *out, const struct ip_in *ip);

/* Turns the message of an echo request into its answer in place. The checksum changes with the type; ICMPv6's covers
 * the addresses too, whose swap does not change the sum, but for a multicast target: then `from` differs. */
void icmp_echo_reply(uint8_t *message, const struct ip_in *ip, const uint8_t from[WIRE_IP_BYTES]);

/* Writes an error about `ip`, to be sent from `from`. Returns its length, 0 when none may be sent (RFC 1122 3.2.2,
 * RFC 4443 2.4). */
unsigned icmp_write_error(uint8_t out[ICMP_ERROR_MAX], enum icmp_error error,
	const struct ip_in *ip, const uint8_t from[WIRE_IP_BYTES]);

/* How many answers may leave: LIMIT_ICMP_PER_S a second, as many at once. */
struct icmp_rate {
	uint64_t full_at_ns;
};
CHECKED bool icmp_rate_take(struct icmp_rate *rate, uint64_t now_ns);

#endif
