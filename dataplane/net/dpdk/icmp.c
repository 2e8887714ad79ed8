#include "dataplane/net/dpdk/icmp.h"

#include "dataplane/net/dpdk/nd.h"
#include "dataplane/net/dpdk/tcp_wire.h"
#include "lib/clock/clock.h"

enum {
	V4_ECHO_REPLY = 0,
	V4_UNREACHABLE = 3,
	V4_ECHO = 8,
	V4_CODE_PROTOCOL = 2,
	V4_CODE_PORT = 3,
	V4_CODE_TOO_BIG = 4,
	V6_UNREACHABLE = 1,
	V6_TOO_BIG = 2,
	V6_PARAMETER = 4,
	V6_ECHO = 128,
	V6_ECHO_REPLY = 129,
	V6_CODE_PORT = 4,
	V6_CODE_NEXT_HEADER = 1,
	V6_ERRORS_END = 128, /* types below it are errors */
	TCP_PORTS_SEQ = 8,
	MTU_MIN = 68,
};

static bool is_checksum_right(const struct ip_in *ip)
{
	uint64_t sum = ip->is_v6 ? tcp_wire_pseudo(ip->from, ip->to, IP_PROTO_ICMP6,
					   (uint32_t)ip->payload.len)
				 : 0;
	return tcp_wire_fold(tcp_wire_sum(sum, ip->payload)) == 0;
}

/* The quoted packet is one of ours, cut short: its header may not be parsed as a whole packet's. */
static bool read_quote(struct icmp_in *out, bool is_v6, struct span quote)
{
	const uint8_t *p = quote.data;
	size_t header = IP6_HEADER;
	uint8_t protocol;
	if (quote.len < (is_v6 ? IP6_HEADER : IP4_HEADER) || p[0] >> 4 != (is_v6 ? 6 : 4))
		return false;
	if (is_v6) {
		memcpy(out->key.local_ip, p + 8, WIRE_IP_BYTES);
		memcpy(out->key.remote_ip, p + 24, WIRE_IP_BYTES);
		protocol = p[6];
	} else {
		header = (p[0] & 0xfu) * 4;
		wire_map_v4(out->key.local_ip, p + 12);
		wire_map_v4(out->key.remote_ip, p + 16);
		protocol = p[9];
	}
	if (protocol != IP_PROTO_TCP || header < IP4_HEADER || quote.len < header + TCP_PORTS_SEQ)
		return false;
	p += header;
	out->key.local_port = wire_get16(p);
	out->key.remote_port = wire_get16(p + 2);
	out->seq = wire_get32(p + 4);
	return true;
}

static enum icmp_kind read_too_big(struct icmp_in *out, const struct ip_in *ip)
{
	const uint8_t *p = ip->payload.data;
	struct span quote = {p + ICMP_HEADER, ip->payload.len - ICMP_HEADER};
	uint32_t mtu = ip->is_v6 ? wire_get32(p + 4) : wire_get16(p + 6);
	/* Routers before RFC 1191 say nothing: take a step that fits nearly every path. */
	if (!ip->is_v6 && mtu == 0)
		mtu = 576;
	if (ip->is_v6 && mtu < IP6_MTU_MIN)
		mtu = IP6_MTU_MIN;
	if (mtu < MTU_MIN || mtu > UINT16_MAX || !read_quote(out, ip->is_v6, quote))
		return ICMP_OTHER;
	out->mtu = (uint16_t)mtu;
	return ICMP_TOO_BIG;
}

static enum icmp_kind kind_of(struct icmp_in *out, const struct ip_in *ip)
{
	uint8_t type = ip->payload.data[0], code = ip->payload.data[1];
	if (!ip->is_v6) {
		if (type == V4_ECHO)
			return ICMP_ECHO;
		return type == V4_UNREACHABLE && code == V4_CODE_TOO_BIG ? read_too_big(out, ip)
									 : ICMP_OTHER;
	}
	if (type == V6_ECHO)
		return ICMP_ECHO;
	if (type == V6_TOO_BIG)
		return read_too_big(out, ip);
	return type == ND_SOLICIT || type == ND_ADVERTISE ? ICMP_NEIGHBOUR : ICMP_OTHER;
}

int icmp_parse(struct icmp_in *out, const struct ip_in *ip)
{
	if (ip->payload.len < ICMP_HEADER || ip->is_v6 != (ip->protocol == IP_PROTO_ICMP6))
		return REASON_ICMP;
	if (!is_checksum_right(ip))
		return REASON_CHECKSUM;
	out->kind = kind_of(out, ip);
	return 0;
}

void icmp_echo_reply(uint8_t *message, const struct ip_in *ip, const uint8_t from[WIRE_IP_BYTES])
{
	message[0] = ip->is_v6 ? V6_ECHO_REPLY : V4_ECHO_REPLY;
	wire_put16(message + 2, 0);
	uint64_t sum = ip->is_v6 ? tcp_wire_pseudo(from, ip->from, IP_PROTO_ICMP6,
					   (uint32_t)ip->payload.len)
				 : 0;
	struct span all = {message, ip->payload.len};
	wire_put16(message + 2, tcp_wire_fold(tcp_wire_sum(sum, all)));
}

/* Never about an error, a group or a fragment other than the first. */
static bool may_complain(const struct ip_in *ip)
{
	if (ip->is_fragment || ip_is_group(ip->to) || wire_is_zero(ip->from, WIRE_IP_BYTES))
		return false;
	if (ip->protocol == IP_PROTO_ICMP)
		return false;
	return ip->protocol != IP_PROTO_ICMP6 ||
	       (ip->payload.len != 0 && ip->payload.data[0] >= V6_ERRORS_END);
}

unsigned icmp_write_error(uint8_t out[ICMP_ERROR_MAX], enum icmp_error error,
	const struct ip_in *ip, const uint8_t from[WIRE_IP_BYTES])
{
	if (!may_complain(ip))
		return 0;
	bool is_port = error == ICMP_ERROR_PORT;
	size_t room = ip->is_v6 ? ICMP_ERROR_MAX - ICMP_HEADER : ICMP_QUOTE4;
	size_t quote = ip->packet.len < room ? ip->packet.len : room;
	unsigned len = (unsigned)(ICMP_HEADER + quote);
	memset(out, 0, ICMP_HEADER);
	if (ip->is_v6) {
		out[0] = is_port ? V6_UNREACHABLE : V6_PARAMETER;
		out[1] = is_port ? V6_CODE_PORT : V6_CODE_NEXT_HEADER;
		if (!is_port)
			wire_put32(out + 4, 6); /* the next-header field */
	} else {
		out[0] = V4_UNREACHABLE;
		out[1] = is_port ? V4_CODE_PORT : V4_CODE_PROTOCOL;
	}
	memcpy(out + ICMP_HEADER, ip->packet.data, quote);
	uint64_t sum = ip->is_v6 ? tcp_wire_pseudo(from, ip->from, IP_PROTO_ICMP6, len) : 0;
	wire_put16(out + 2, tcp_wire_fold(tcp_wire_sum(sum, (struct span){out, len})));
	return len;
}

bool icmp_rate_take(struct icmp_rate *rate, uint64_t now_ns)
{
	uint64_t interval = NS_PER_S / LIMIT_ICMP_PER_S;
	uint64_t base = rate->full_at_ns > now_ns ? rate->full_at_ns : now_ns;
	if (base + interval > now_ns + NS_PER_S)
		return false;
	rate->full_at_ns = base + interval;
	return true;
}
