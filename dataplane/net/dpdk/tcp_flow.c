#include "dataplane/net/dpdk/tcp_flow.h"

#include <errno.h>

#include "lib/mem/mem.h"

struct place {
	uint32_t bucket[2];
	uint16_t tag;
};

static struct place place_of(const struct tcp_flow *f, const struct tcp_key *key)
{
	uint64_t words[5] = {0};
	memcpy(words, key, sizeof(*key));
	uint64_t h = tcp_hash_words(&f->secret, words, 5, 1, 3);
	struct place p = {.tag = (uint16_t)(h >> 48)};
	if (p.tag == 0)
		p.tag = 1;
	p.bucket[0] = (uint32_t)h & f->mask;
	p.bucket[1] = (uint32_t)(h >> 24) & f->mask;
	return p;
}

static const struct tcp_key *key_of(const struct tcp_flow *f, uint32_t slot)
{
	return (const struct tcp_key *)(const void *)(f->objects + (size_t)slot * f->object_bytes);
}

int tcp_flow_init(struct tcp_flow *f, uint32_t capacity, const struct tcp_hash_secret *secret,
	const void *objects, uint32_t object_bytes)
{
	uint32_t buckets = 2;
	while ((uint64_t)buckets * TCP_FLOW_WAYS < 2ull * capacity)
		buckets *= 2;
	f->buckets = mem_map((size_t)buckets * sizeof(f->buckets[0]));
	if (f->buckets == NULL)
		return -ENOMEM;
	f->mask = buckets - 1;
	f->count = 0;
	f->secret = *secret;
	f->objects = objects;
	f->object_bytes = object_bytes;
	return 0;
}

void tcp_flow_fini(struct tcp_flow *f)
{
	mem_unmap(f->buckets, ((size_t)f->mask + 1) * sizeof(f->buckets[0]));
	f->buckets = NULL;
}

uint32_t tcp_flow_find(const struct tcp_flow *f, const struct tcp_key *key)
{
	struct place p = place_of(f, key);
	for (unsigned b = 0; b < 2; b++) {
		const struct tcp_flow_bucket *bucket = &f->buckets[p.bucket[b]];
		for (unsigned i = 0; i < TCP_FLOW_WAYS; i++) {
			if (bucket->tags[i] == p.tag &&
				memcmp(key_of(f, bucket->slots[i]), key, sizeof(*key)) == 0)
				return bucket->slots[i];
		}
	}
	return TCP_FLOW_NONE;
}

static unsigned free_ways(const struct tcp_flow_bucket *bucket, unsigned *first)
{
	unsigned count = 0;
	for (unsigned i = TCP_FLOW_WAYS; i-- > 0;) {
		if (bucket->tags[i] == 0) {
			count++;
			*first = i;
		}
	}
	return count;
}

bool tcp_flow_add(struct tcp_flow *f, uint32_t slot)
{
	struct place p = place_of(f, key_of(f, slot));
	unsigned way[2] = {0, 0};
	unsigned free0 = free_ways(&f->buckets[p.bucket[0]], &way[0]);
	unsigned free1 = free_ways(&f->buckets[p.bucket[1]], &way[1]);
	if (free0 == 0 && free1 == 0)
		return false;
	unsigned b = free0 >= free1 ? 0 : 1;
	struct tcp_flow_bucket *bucket = &f->buckets[p.bucket[b]];
	bucket->tags[way[b]] = p.tag;
	bucket->slots[way[b]] = slot;
	f->count++;
	return true;
}

void tcp_flow_remove(struct tcp_flow *f, uint32_t slot)
{
	struct place p = place_of(f, key_of(f, slot));
	for (unsigned b = 0; b < 2; b++) {
		struct tcp_flow_bucket *bucket = &f->buckets[p.bucket[b]];
		for (unsigned i = 0; i < TCP_FLOW_WAYS; i++) {
			if (bucket->tags[i] == p.tag && bucket->slots[i] == slot) {
				bucket->tags[i] = 0;
				f->count--;
				return;
			}
		}
	}
	MUST(!"the key of a connection is in the table");
}
