#include "dataplane/net/dpdk/udp.h"

#include "dataplane/net/dpdk/tcp_wire.h"

int udp_parse(struct udp_in *out, const struct ip_in *ip, bool is_verified)
{
	const uint8_t *p = ip->payload.data;
	if (ip->payload.len < UDP_HEADER)
		return REASON_UDP_HEADER;
	size_t len = wire_get16(p + 4);
	if (len < UDP_HEADER || len > ip->payload.len)
		return REASON_UDP_HEADER;
	bool is_summed = wire_get16(p + 6) != 0;
	if (!is_summed && ip->is_v6)
		return REASON_CHECKSUM;
	if (is_summed && !is_verified) {
		uint64_t sum = tcp_wire_pseudo(ip->from, ip->to, IP_PROTO_UDP, (uint32_t)len);
		if (tcp_wire_fold(tcp_wire_sum(sum, (struct span){p, len})) != 0)
			return REASON_CHECKSUM;
	}
	out->from_port = wire_get16(p);
	out->to_port = wire_get16(p + 2);
	out->data = (struct span){p + UDP_HEADER, len - UDP_HEADER};
	return out->from_port != 0 && out->to_port != 0 ? 0 : REASON_UDP_HEADER;
}

void udp_write(uint8_t out[UDP_HEADER], const struct addr *from, const struct addr *to,
	struct span data, bool is_offloaded)
{
	uint32_t len = (uint32_t)(UDP_HEADER + data.len);
	wire_put16(out, from->port);
	wire_put16(out + 2, to->port);
	wire_put16(out + 4, (uint16_t)len);
	wire_put16(out + 6, 0);
	uint64_t sum = tcp_wire_pseudo(from->ip, to->ip, IP_PROTO_UDP, len);
	if (is_offloaded) {
		wire_put16(out + 6, (uint16_t)~tcp_wire_fold(sum));
		return;
	}
	sum = tcp_wire_sum(sum, (struct span){out, UDP_HEADER});
	uint16_t folded = tcp_wire_fold(tcp_wire_sum(sum, data));
	/* Zero would say that there is none. */
	wire_put16(out + 6, folded != 0 ? folded : 0xffff);
}
