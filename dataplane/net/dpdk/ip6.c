#include "dataplane/net/dpdk/ip.h"

enum { EXTENSIONS_MAX = 8, EXTENSION_UNIT = 8 };

/* Unspecified is allowed: duplicate address detection asks from it. Mapped IPv4 must not come in by this door. */
static bool is_martian(const uint8_t ip[WIRE_IP_BYTES])
{
	static const uint8_t loopback[WIRE_IP_BYTES] = {[15] = 1};
	return ip[0] == 0xff || wire_is_v4(ip) || memcmp(ip, loopback, sizeof(loopback)) == 0;
}

/* A routing header that still wants to go elsewhere, or of the kind RFC 5095 forbids. */
static bool is_detour(const uint8_t *header)
{
	return header[3] != 0;
}

/* Walks over the extension headers. False: malformed or not spoken here. */
static bool skip_extensions(struct ip_in *out)
{
	const uint8_t *p = out->packet.data;
	size_t at = IP6_HEADER;
	for (unsigned i = 0; i < EXTENSIONS_MAX; i++) {
		uint8_t kind = out->protocol;
		bool is_extension = (kind == IP_PROTO_HOP_BY_HOP && i == 0) ||
				    kind == IP_PROTO_OPTIONS || kind == IP_PROTO_ROUTING ||
				    kind == IP_PROTO_FRAGMENT;
		if (!is_extension) {
			out->payload = (struct span){p + at, out->packet.len - at};
			return true;
		}
		if (out->packet.len - at < EXTENSION_UNIT)
			return false;
		size_t len = kind == IP_PROTO_FRAGMENT ? EXTENSION_UNIT
						       : ((size_t)p[at + 1] + 1) * EXTENSION_UNIT;
		if (len > out->packet.len - at || (kind == IP_PROTO_ROUTING && is_detour(p + at)))
			return false;
		out->protocol = p[at];
		if (kind == IP_PROTO_FRAGMENT) {
			out->is_fragment = true;
			out->fragment_at = (uint16_t)at;
			out->payload = (struct span){p + at + len, out->packet.len - at - len};
			return true;
		}
		at += len;
	}
	return false;
}

int ip6_parse(struct ip_in *out, struct span packet)
{
	const uint8_t *p = packet.data;
	if (packet.len < IP6_HEADER || p[0] >> 4 != 6)
		return REASON_IP_HEADER;
	size_t total = IP6_HEADER + (size_t)wire_get16(p + 4);
	if (total > packet.len)
		return REASON_IP_HEADER;
	if (is_martian(p + 8) || wire_is_v4(p + 24))
		return REASON_MARTIAN;
	memcpy(out->from, p + 8, WIRE_IP_BYTES);
	memcpy(out->to, p + 24, WIRE_IP_BYTES);
	out->protocol = p[6];
	out->ttl = p[7];
	out->is_v6 = true;
	out->is_fragment = false;
	out->fragment_at = 0;
	out->packet = (struct span){p, total};
	return skip_extensions(out) ? 0 : REASON_IP_HEADER;
}

unsigned ip6_write(const struct ip_out *ip, uint8_t *out)
{
	unsigned more = ip->is_fragment ? IP6_FRAGMENT : 0;
	wire_put32(out, 0x60000000);
	wire_put16(out + 4, (uint16_t)(more + ip->len));
	out[6] = ip->protocol;
	out[7] = ip->ttl;
	memcpy(out + 8, ip->from, WIRE_IP_BYTES);
	memcpy(out + 24, ip->to, WIRE_IP_BYTES);
	if (ip->is_fragment) {
		out[6] = IP_PROTO_FRAGMENT;
		out[IP6_HEADER] = ip->protocol;
		out[IP6_HEADER + 1] = 0;
		wire_put16(out + IP6_HEADER + 2, (uint16_t)(ip->fragment_at | ip->has_more));
		wire_put32(out + IP6_HEADER + 4, ip->id);
	}
	return IP6_HEADER + more;
}
