#include "dataplane/net/dpdk/tcp_isn.h"

static const uint16_t cookie_mss[8] = {128, 536, 1220, 1300, 1380, 1440, 1460, 8960};

static uint64_t hash_key(
	const struct tcp_hash_secret *secret, const struct tcp_key *key, uint64_t more)
{
	uint64_t words[6] = {0};
	memcpy(words, key, sizeof(*key));
	words[5] = more;
	return tcp_hash_words(secret, words, 6, 2, 4);
}

uint32_t tcp_isn_first(const struct tcp *t, const struct tcp_key *key)
{
	/* RFC 6528: a clock of 4 us and a keyed hash of the 4-tuple */
	return (uint32_t)(tcp_now_us(t) / 4) + (uint32_t)hash_key(&t->isn_secret, key, 0);
}

uint32_t tcp_isn_ts_offset(const struct tcp *t, const struct tcp_key *key)
{
	struct tcp_key hosts = *key;
	hosts.local_port = hosts.remote_port = 0;
	return (uint32_t)hash_key(&t->isn_secret, &hosts, 1);
}

static uint32_t turn_now(const struct tcp *t)
{
	return (uint32_t)(t->now_ns / (TCP_ISN_TURN_S * NS_PER_S));
}

static uint32_t cookie_make(const struct tcp *t, const struct tcp_key *key, uint32_t peer_isn,
	uint32_t turn, unsigned index)
{
	uint64_t more = (uint64_t)peer_isn << 32 | turn << 3 | index;
	uint32_t mac = (uint32_t)hash_key(&t->cookie_secret, key, more) & 0xffffff;
	return (turn & 31) << 27 | index << 24 | mac;
}

uint32_t tcp_isn_cookie(
	const struct tcp *t, const struct tcp_key *key, uint32_t peer_isn, uint16_t mss)
{
	unsigned index = ARRAY_LEN(cookie_mss) - 1;
	while (index > 0 && cookie_mss[index] > mss)
		index--;
	return cookie_make(t, key, peer_isn, turn_now(t), index);
}

uint16_t tcp_isn_cookie_mss(
	const struct tcp *t, const struct tcp_key *key, uint32_t peer_isn, uint32_t cookie)
{
	unsigned index = cookie >> 24 & 7;
	for (uint32_t back = 0; back < 2; back++) {
		if (cookie_make(t, key, peer_isn, turn_now(t) - back, index) == cookie)
			return cookie_mss[index];
	}
	return 0;
}

enum { BITS = 31, BITS_SCALE = 15, BITS_SACK = 16 };

uint32_t tcp_isn_cookie_ts(uint32_t ts_now, const struct tcp_opt *syn)
{
	uint32_t bits = (syn->flags & TCP_OPT_SCALE) != 0 ? syn->scale : BITS_SCALE;
	if (syn->flags & TCP_OPT_SACK_OK)
		bits |= BITS_SACK;
	uint32_t ts = (ts_now & ~(uint32_t)BITS) | bits;
	/* never ahead of the clock: later segments of the connection must not look older */
	return tcp_seq_gt(ts, ts_now) ? ts - (BITS + 1) : ts;
}

void tcp_isn_cookie_opt(uint32_t ts_ecr, struct tcp_opt *out)
{
	out->flags |= TCP_OPT_TS;
	if ((ts_ecr & BITS_SCALE) != BITS_SCALE) {
		out->flags |= TCP_OPT_SCALE;
		out->scale = ts_ecr & BITS_SCALE;
	}
	if (ts_ecr & BITS_SACK)
		out->flags |= TCP_OPT_SACK_OK;
}
