/* tcp_flow: finds the connection of a segment by its 4-tuple.
 *
 *   bucket (one cache line): 10 tags of 16 bits | 10 slot numbers of 32 bits
 *
 * A key has two buckets and goes into the emptier one, at most half of all places are ever used: a full pair does
 * not happen by chance, and not by intent either, for the hash has a secret.
 * Owner:  one lcore.
 * Cost:   O(1): two lines at the most and the connection itself; about 26 bytes a connection. */
#ifndef DATAPLANE_NET_DPDK_TCP_FLOW_H
#define DATAPLANE_NET_DPDK_TCP_FLOW_H

#include "dataplane/net/dpdk/tcp.h"
#include "dataplane/net/dpdk/tcp_hash.h"

enum { TCP_FLOW_WAYS = 10 };
#define TCP_FLOW_NONE UINT32_MAX

struct tcp_flow_bucket {
	alignas(CACHE_LINE) uint16_t tags[TCP_FLOW_WAYS]; /* 0: free */
	uint32_t slots[TCP_FLOW_WAYS];
};
static_assert(sizeof(struct tcp_flow_bucket) == CACHE_LINE, "one line a bucket");

struct tcp_flow {
	struct tcp_flow_bucket *buckets;
	uint32_t mask;
	uint32_t count;
	struct tcp_hash_secret secret;
	/* the objects that slot numbers mean; each begins with its struct tcp_key */
	const uint8_t *objects;
	uint32_t object_bytes;
};

/* For at most `capacity` keys. 0 or -ENOMEM. */
CHECKED int tcp_flow_init(struct tcp_flow *f, uint32_t capacity,
	const struct tcp_hash_secret *secret, const void *objects, uint32_t object_bytes);
void tcp_flow_fini(struct tcp_flow *f);

/* The slot, or TCP_FLOW_NONE. */
uint32_t tcp_flow_find(const struct tcp_flow *f, const struct tcp_key *key);
/* Adds the key of object `slot`, which must not be there yet. False: both buckets are full. */
CHECKED bool tcp_flow_add(struct tcp_flow *f, uint32_t slot);
/* Removes the key of object `slot`, which must be there. */
void tcp_flow_remove(struct tcp_flow *f, uint32_t slot);

#endif
