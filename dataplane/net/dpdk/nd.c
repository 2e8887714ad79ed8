#include "dataplane/net/dpdk/nd.h"

#include "dataplane/net/dpdk/eth.h"
#include "dataplane/net/dpdk/tcp_wire.h"

enum { FIXED = 24, OPTION_SOURCE = 1, OPTION_TARGET = 2, OPTION_UNIT = 8 };

/* Finds the link address. False: an option has no length, or does not fit. */
static bool read_options(struct nd_packet *out, struct span options)
{
	uint8_t wanted = out->type == ND_SOLICIT ? OPTION_SOURCE : OPTION_TARGET;
	const uint8_t *p = options.data;
	size_t left = options.len;
	out->has_mac = false;
	while (left != 0) {
		if (left < OPTION_UNIT || p[1] == 0)
			return false;
		size_t len = (size_t)p[1] * OPTION_UNIT;
		if (len > left)
			return false;
		if (p[0] == wanted && p[1] == 1) {
			memcpy(out->mac, p + 2, WIRE_MAC_BYTES);
			out->has_mac = true;
		}
		p += len;
		left -= len;
	}
	return true;
}

bool nd_parse(struct nd_packet *out, const struct ip_in *ip)
{
	const uint8_t *p = ip->payload.data;
	if (ip->payload.len < FIXED || ip->ttl != ND_HOPS || p[1] != 0)
		return false;
	out->type = p[0];
	out->flags = p[4] & (ND_SOLICITED | ND_OVERRIDE);
	memcpy(out->target, p + 8, WIRE_IP_BYTES);
	if (ip_is_group(out->target) || wire_is_v4(out->target))
		return false;
	if (!read_options(out, (struct span){p + FIXED, ip->payload.len - FIXED}))
		return false;
	if (out->has_mac && eth_is_group(out->mac))
		return false;
	bool is_dad = wire_is_zero(ip->from, WIRE_IP_BYTES);
	if (out->type == ND_SOLICIT)
		return !is_dad || (!out->has_mac && ip_is_group(ip->to));
	return out->type == ND_ADVERTISE && !is_dad &&
	       !(ip_is_group(ip->to) && (out->flags & ND_SOLICITED));
}

unsigned nd_write(const struct nd_packet *p, const uint8_t from[WIRE_IP_BYTES],
	const uint8_t to[WIRE_IP_BYTES], uint8_t out[ND_BYTES])
{
	unsigned len = p->has_mac ? ND_BYTES : FIXED;
	memset(out, 0, len);
	out[0] = p->type;
	out[4] = p->flags;
	memcpy(out + 8, p->target, WIRE_IP_BYTES);
	if (p->has_mac) {
		out[FIXED] = p->type == ND_SOLICIT ? OPTION_SOURCE : OPTION_TARGET;
		out[FIXED + 1] = 1;
		memcpy(out + FIXED + 2, p->mac, WIRE_MAC_BYTES);
	}
	uint64_t sum = tcp_wire_pseudo(from, to, IP_PROTO_ICMP6, len);
	wire_put16(out + 2, tcp_wire_fold(tcp_wire_sum(sum, (struct span){out, len})));
	return len;
}

unsigned nd_judge(
	const struct nd_packet *p, const uint8_t our_mac[WIRE_MAC_BYTES], bool owns_target)
{
	bool is_us = p->has_mac && memcmp(p->mac, our_mac, WIRE_MAC_BYTES) == 0;
	if (is_us)
		return 0;
	if (p->type == ND_ADVERTISE) {
		if (owns_target)
			return ND_DEED_CONFLICT;
		return p->has_mac ? ND_DEED_REFRESH : 0;
	}
	if (!owns_target)
		return 0;
	return ND_DEED_ANSWER | (p->has_mac ? ND_DEED_LEARN : 0u);
}

void nd_group(uint8_t out[WIRE_IP_BYTES], const uint8_t ip[WIRE_IP_BYTES])
{
	static const uint8_t prefix[13] = {0xff, 0x02, [11] = 1, [12] = 0xff};
	memcpy(out, prefix, sizeof(prefix));
	memcpy(out + 13, ip + 13, 3);
}

void nd_group_mac(uint8_t out[WIRE_MAC_BYTES], const uint8_t group[WIRE_IP_BYTES])
{
	out[0] = out[1] = 0x33;
	memcpy(out + 2, group + 12, 4);
}

void nd_link_local(uint8_t out[WIRE_IP_BYTES], const uint8_t mac[WIRE_MAC_BYTES])
{
	const uint8_t made[WIRE_IP_BYTES] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, mac[0] ^ 2, mac[1],
		mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
	memcpy(out, made, sizeof(made));
}
