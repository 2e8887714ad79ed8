#include "dataplane/net/dpdk/tcp_wire.h"

#include <string.h>

enum { PROTOCOL_TCP = 6, AT_CHECKSUM = 16 };

static uint16_t load16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t load32(const uint8_t *p)
{
	return (uint32_t)load16(p) << 16 | load16(p + 2);
}

static void store16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void store32(uint8_t *p, uint32_t v)
{
	store16(p, (uint16_t)(v >> 16));
	store16(p + 2, (uint16_t)v);
}

/* Sums in the machine's byte order, 32 bits at a time: the one's complement sum does not care, the fold swaps. */
uint64_t tcp_wire_sum(uint64_t sum, struct span bytes)
{
	const uint8_t *p = bytes.data;
	size_t len = bytes.len;
	for (; len >= 16; p += 16, len -= 16) {
		uint32_t w[4];
		memcpy(w, p, sizeof(w));
		sum += (uint64_t)w[0] + w[1] + w[2] + w[3];
	}
	for (; len >= 2; p += 2, len -= 2) {
		uint16_t w;
		memcpy(&w, p, sizeof(w));
		sum += w;
	}
	if (len != 0) {
		uint8_t last[2] = {*p, 0};
		uint16_t w;
		memcpy(&w, last, sizeof(w));
		sum += w;
	}
	return sum;
}

uint16_t tcp_wire_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	uint16_t folded = (uint16_t)~sum;
	uint8_t wire[2];
	memcpy(wire, &folded, sizeof(wire));
	return load16(wire);
}

static bool is_mapped(const uint8_t ip[16])
{
	static const uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	return memcmp(ip, prefix, sizeof(prefix)) == 0;
}

uint64_t tcp_wire_pseudo(
	const uint8_t from[16], const uint8_t to[16], uint8_t protocol, uint32_t len)
{
	uint8_t tail[8] = {0};
	store32(tail, len);
	tail[7] = protocol;
	uint64_t sum = tcp_wire_sum(0, (struct span){tail, sizeof(tail)});
	if (is_mapped(from) && is_mapped(to)) {
		sum = tcp_wire_sum(sum, (struct span){from + 12, 4});
		return tcp_wire_sum(sum, (struct span){to + 12, 4});
	}
	sum = tcp_wire_sum(sum, (struct span){from, 16});
	return tcp_wire_sum(sum, (struct span){to, 16});
}

int tcp_wire_parse(struct tcp_in *out, const uint8_t from[16], const uint8_t to[16],
	struct span segment, bool is_verified)
{
	const uint8_t *p = segment.data;
	if (segment.len < TCP_WIRE_HEADER || segment.len > UINT16_MAX)
		return REASON_TCP_HEADER;
	unsigned header = (unsigned)(p[12] >> 4) * 4;
	if (header < TCP_WIRE_HEADER || header > segment.len)
		return REASON_TCP_HEADER;
	if (!is_verified) {
		uint64_t sum = tcp_wire_pseudo(from, to, PROTOCOL_TCP, (uint32_t)segment.len);
		if (tcp_wire_fold(tcp_wire_sum(sum, segment)) != 0)
			return REASON_CHECKSUM;
	}
	memcpy(out->key.local_ip, to, 16);
	memcpy(out->key.remote_ip, from, 16);
	out->key.remote_port = load16(p);
	out->key.local_port = load16(p + 2);
	out->seq = load32(p + 4);
	out->ack = load32(p + 8);
	out->flags = p[13] & (TCP_FIN | TCP_SYN | TCP_RST | TCP_PSH | TCP_ACK | TCP_URG);
	out->wnd = load16(p + 14);
	out->data = p + header;
	out->len = (uint32_t)(segment.len - header);
	if (out->key.remote_port == 0 || out->key.local_port == 0)
		return REASON_TCP_HEADER;
	struct span options = {p + TCP_WIRE_HEADER, header - TCP_WIRE_HEADER};
	return tcp_opt_parse(&out->opt, options) ? 0 : REASON_TCP_HEADER;
}

unsigned tcp_wire_header(const struct tcp_seg *seg, uint8_t out[TCP_WIRE_HEADER_MAX])
{
	unsigned len = TCP_WIRE_HEADER + seg->opts_len;
	store16(out, seg->key->local_port);
	store16(out + 2, seg->key->remote_port);
	store32(out + 4, seg->seq);
	store32(out + 8, seg->ack);
	out[12] = (uint8_t)(len / 4 << 4);
	out[13] = seg->flags;
	store16(out + 14, seg->wnd);
	store32(out + AT_CHECKSUM, 0);
	memcpy(out + TCP_WIRE_HEADER, seg->opts, seg->opts_len);
	return len;
}

uint16_t tcp_wire_checksum(const struct tcp_seg *seg, struct span header)
{
	uint64_t sum = tcp_wire_pseudo(seg->key->local_ip, seg->key->remote_ip, PROTOCOL_TCP,
		(uint32_t)header.len + seg->len);
	sum = tcp_wire_sum(sum, header);
	bool is_odd = false;
	for (unsigned i = 0; i < seg->piece_count; i++) {
		struct span piece = {seg->pieces[i].data, seg->pieces[i].len};
		uint64_t part = tcp_wire_sum(0, piece);
		/* a piece that starts at an odd offset adds its bytes swapped (RFC 1071) */
		if (is_odd) {
			part = (part & 0xffffffff) + (part >> 32);
			part = (part & 0xffffffff) + (part >> 32);
			part <<= 8;
		}
		sum += part;
		is_odd ^= (piece.len & 1) != 0;
	}
	return tcp_wire_fold(sum);
}

size_t tcp_wire_build(const struct tcp_seg *seg, uint8_t *out, size_t room)
{
	if (room < TCP_WIRE_HEADER + (size_t)seg->opts_len + seg->len)
		return 0;
	size_t header = tcp_wire_header(seg, out);
	store16(out + AT_CHECKSUM, tcp_wire_checksum(seg, (struct span){out, header}));
	uint8_t *p = out + header;
	for (unsigned i = 0; i < seg->piece_count; i++) {
		memcpy(p, seg->pieces[i].data, seg->pieces[i].len);
		p += seg->pieces[i].len;
	}
	return (size_t)(p - out);
}
