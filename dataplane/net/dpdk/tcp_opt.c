#include "dataplane/net/dpdk/tcp_opt.h"

#include <string.h>

enum tcp_opt_kind {
	KIND_END = 0,
	KIND_NOP = 1,
	KIND_MSS = 2,
	KIND_SCALE = 3,
	KIND_SACK_OK = 4,
	KIND_SACK = 5,
	KIND_TS = 8,
};

static uint32_t load32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint8_t *store32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
	return p + 4;
}

static bool parse_sack(struct tcp_opt *out, const uint8_t *body, unsigned len)
{
	if (len == 0 || len % 8 != 0 || len / 8 > TCP_OPT_SACKS)
		return false;
	out->sack_count = (uint8_t)(len / 8);
	for (unsigned i = 0; i < out->sack_count; i++) {
		out->sack[i].start = load32(body + 8 * i);
		out->sack[i].end = load32(body + 8 * i + 4);
	}
	return true;
}

/* One known option; `len` is that of its body. */
static bool parse_one(struct tcp_opt *out, uint8_t kind, const uint8_t *body, unsigned len)
{
	uint8_t flag = 0;
	bool ok = true;
	switch (kind) {
	case KIND_MSS:
		flag = TCP_OPT_MSS;
		ok = len == 2;
		if (ok)
			out->mss = (uint16_t)(body[0] << 8 | body[1]);
		break;
	case KIND_SCALE:
		flag = TCP_OPT_SCALE;
		ok = len == 1;
		/* RFC 7323: a larger shift is used as 14 */
		if (ok)
			out->scale = body[0] > TCP_OPT_SCALE_MAX ? TCP_OPT_SCALE_MAX : body[0];
		break;
	case KIND_SACK_OK:
		flag = TCP_OPT_SACK_OK;
		ok = len == 0;
		break;
	case KIND_SACK:
		flag = TCP_OPT_SACK;
		ok = parse_sack(out, body, len);
		break;
	case KIND_TS:
		flag = TCP_OPT_TS;
		ok = len == 8;
		if (ok) {
			out->ts_val = load32(body);
			out->ts_ecr = load32(body + 4);
		}
		break;
	default:
		return true;
	}
	if (!ok || (out->flags & flag) != 0)
		return false;
	out->flags |= flag;
	return true;
}

bool tcp_opt_parse(struct tcp_opt *out, struct span options)
{
	memset(out, 0, sizeof(*out));
	if (options.len > TCP_OPT_BYTES)
		return false;
	size_t at = 0;
	while (at < options.len) {
		uint8_t kind = options.data[at];
		if (kind == KIND_END)
			return true;
		if (kind == KIND_NOP) {
			at++;
			continue;
		}
		if (options.len - at < 2)
			return false;
		unsigned len = options.data[at + 1];
		if (len < 2 || len > options.len - at)
			return false;
		if (!parse_one(out, kind, options.data + at + 2, len - 2))
			return false;
		at += len;
	}
	return true;
}

static unsigned fixed_size(const struct tcp_opt *opt)
{
	unsigned size = 0;
	if (opt->flags & TCP_OPT_MSS)
		size += 4;
	if (opt->flags & TCP_OPT_TS)
		size += 12;
	else if (opt->flags & TCP_OPT_SACK_OK)
		size += 4;
	if (opt->flags & TCP_OPT_SCALE)
		size += 4;
	return size;
}

/* How many blocks fit behind the rest. */
static unsigned sack_fit(const struct tcp_opt *opt, unsigned fixed)
{
	if ((opt->flags & TCP_OPT_SACK) == 0 || opt->sack_count == 0)
		return 0;
	unsigned room = (TCP_OPT_BYTES - fixed - 4) / 8;
	return opt->sack_count < room ? opt->sack_count : room;
}

unsigned tcp_opt_size(const struct tcp_opt *opt)
{
	unsigned fixed = fixed_size(opt);
	unsigned sacks = sack_fit(opt, fixed);
	return fixed + (sacks != 0 ? 4 + 8 * sacks : 0);
}

unsigned tcp_opt_write(const struct tcp_opt *opt, uint8_t out[TCP_OPT_BYTES])
{
	uint8_t *p = out;
	unsigned sacks = sack_fit(opt, fixed_size(opt));
	if (opt->flags & TCP_OPT_MSS) {
		p = store32(p, (uint32_t)KIND_MSS << 24 | 4u << 16 | opt->mss);
	}
	if (opt->flags & TCP_OPT_TS) {
		/* the two bytes in front of the timestamps are SACK permitted or padding */
		uint32_t front = (opt->flags & TCP_OPT_SACK_OK) != 0
					 ? (uint32_t)KIND_SACK_OK << 24 | 2u << 16
					 : (uint32_t)KIND_NOP << 24 | (uint32_t)KIND_NOP << 16;
		p = store32(p, front | (uint32_t)KIND_TS << 8 | 10);
		p = store32(p, opt->ts_val);
		p = store32(p, opt->ts_ecr);
	} else if (opt->flags & TCP_OPT_SACK_OK) {
		p = store32(p, (uint32_t)KIND_NOP << 24 | (uint32_t)KIND_NOP << 16 |
				       (uint32_t)KIND_SACK_OK << 8 | 2);
	}
	if (opt->flags & TCP_OPT_SCALE)
		p = store32(p, (uint32_t)KIND_NOP << 24 | (uint32_t)KIND_SCALE << 16 | 3u << 8 |
				       opt->scale);
	if (sacks != 0) {
		p = store32(p, (uint32_t)KIND_NOP << 24 | (uint32_t)KIND_NOP << 16 |
				       (uint32_t)KIND_SACK << 8 | (2 + 8 * sacks));
		for (unsigned i = 0; i < sacks; i++) {
			p = store32(p, opt->sack[i].start);
			p = store32(p, opt->sack[i].end);
		}
	}
	return (unsigned)(p - out);
}
