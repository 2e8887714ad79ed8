/* tcp_hash: SipHash with a secret, for flow lookup, initial sequence numbers and SYN cookies. A peer that does not
 * know the secret can neither pile its connections into one bucket nor guess a number.
 * Why not libsodium's crypto_shorthash: it is SipHash-2-4 behind a call; the lookup of every segment wants the
 * lighter 1-3 rounds, inlined. Pure. */
#ifndef DATAPLANE_NET_DPDK_TCP_HASH_H
#define DATAPLANE_NET_DPDK_TCP_HASH_H

#include <string.h>

#include "lib/base/base.h"

struct tcp_hash_secret {
	uint64_t k0, k1;
};

static inline uint64_t tcp_hash_rotl(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static inline void tcp_hash_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = tcp_hash_rotl(v[1], 13) ^ v[0];
	v[0] = tcp_hash_rotl(v[0], 32);
	v[2] += v[3];
	v[3] = tcp_hash_rotl(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = tcp_hash_rotl(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = tcp_hash_rotl(v[1], 17) ^ v[2];
	v[2] = tcp_hash_rotl(v[2], 32);
}

/* Hashes whole 64-bit words: the callers' inputs have fixed sizes, so no padding is needed to tell lengths apart. */
static inline uint64_t tcp_hash_words(const struct tcp_hash_secret *secret, const uint64_t *words,
	unsigned count, unsigned rounds, unsigned final_rounds)
{
	uint64_t v[4] = {
		secret->k0 ^ 0x736f6d6570736575ull,
		secret->k1 ^ 0x646f72616e646f6dull,
		secret->k0 ^ 0x6c7967656e657261ull,
		secret->k1 ^ 0x7465646279746573ull,
	};
	for (unsigned i = 0; i < count; i++) {
		v[3] ^= words[i];
		for (unsigned r = 0; r < rounds; r++)
			tcp_hash_round(v);
		v[0] ^= words[i];
	}
	uint64_t last = (uint64_t)count << 59;
	v[3] ^= last;
	for (unsigned r = 0; r < rounds; r++)
		tcp_hash_round(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	for (unsigned r = 0; r < final_rounds; r++)
		tcp_hash_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
