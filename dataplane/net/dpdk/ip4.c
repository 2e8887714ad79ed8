#include "dataplane/net/dpdk/ip.h"
#include "dataplane/net/dpdk/tcp_wire.h"

enum {
	FLAG_DF = 0x4000,
	FLAG_MF = 0x2000,
	FRAGMENT_MASK = 0x3fff /* more fragments, and the offset */
};

bool ip_is_group(const uint8_t ip[WIRE_IP_BYTES])
{
	if (wire_is_v4(ip))
		return ip[12] >= 224; /* multicast, reserved, 255.255.255.255 */
	return ip[0] == 0xff;
}

/* Nobody can be answered at 0/8, 127/8 and groups. */
static bool is_martian(const uint8_t v4[4])
{
	return v4[0] == 0 || v4[0] == 127 || v4[0] >= 224;
}

int ip4_parse(struct ip_in *out, struct span packet, bool is_verified)
{
	const uint8_t *p = packet.data;
	if (packet.len < IP4_HEADER || p[0] >> 4 != 4)
		return REASON_IP_HEADER;
	unsigned header = (p[0] & 0xfu) * 4;
	unsigned total = wire_get16(p + 2);
	if (header < IP4_HEADER || total < header || total > packet.len)
		return REASON_IP_HEADER;
	if (!is_verified && tcp_wire_fold(tcp_wire_sum(0, (struct span){p, header})) != 0)
		return REASON_CHECKSUM;
	if (is_martian(p + 12))
		return REASON_MARTIAN;
	wire_map_v4(out->from, p + 12);
	wire_map_v4(out->to, p + 16);
	out->ttl = p[8];
	out->protocol = p[9];
	out->is_v6 = false;
	out->is_fragment = (wire_get16(p + 6) & FRAGMENT_MASK) != 0;
	out->fragment_at = 0;
	out->packet = (struct span){p, total};
	out->payload = (struct span){p + header, total - header};
	return 0;
}

unsigned ip4_write(const struct ip_out *ip, uint8_t out[IP4_HEADER])
{
	unsigned fragment = ip->fragment_at / 8 | (ip->has_more ? FLAG_MF : 0);
	out[0] = 0x45;
	out[1] = 0;
	wire_put16(out + 2, (uint16_t)(IP4_HEADER + ip->len));
	wire_put16(out + 4, ip->id);
	wire_put16(out + 6, (uint16_t)(ip->is_fragment ? fragment : FLAG_DF));
	out[8] = ip->ttl;
	out[9] = ip->protocol;
	wire_put16(out + 10, 0);
	memcpy(out + 12, ip->from + 12, 4);
	memcpy(out + 16, ip->to + 12, 4);
	wire_put16(out + 10, tcp_wire_fold(tcp_wire_sum(0, (struct span){out, IP4_HEADER})));
	return IP4_HEADER;
}
