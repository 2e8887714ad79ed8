/* neigh: the link addresses of those on our links, for ARP and neighbour discovery alike.
 *
 *             resolve           answer             30 s              used            5 s             3 tries
 *   (none) ----------> ASKING ----------> FRESH ----------> (stale) ------> FRESH* ------> PROBING ----------> (none)
 *                        | 3 tries                                      (delay)
 *                        v
 *                      FAILED (kept for a second, so that senders do not ask again with each packet)
 *
 * Owner:   one lcore; every lcore has its own and hears every answer.
 * Full:    the entry that was not used for longest makes room; entries under way are kept.
 * Pending: packets for an address that is being asked wait, at most LIMIT_NEIGH_PENDING each; the oldest is dropped.
 * Memory:  reserved in neigh_init. Cost: O(1); neigh_advance walks only entries under way. */
#ifndef DATAPLANE_NET_DPDK_NEIGH_H
#define DATAPLANE_NET_DPDK_NEIGH_H

#include "dataplane/net/dpdk/wire.h"
#include "lib/base/registry.h"
#include "lib/mem/pool.h"

enum neigh_state { NEIGH_ASKING, NEIGH_FAILED, NEIGH_FRESH, NEIGH_DELAY, NEIGH_PROBING };

/* How sure news are. */
enum neigh_news {
	NEIGH_HEARD,	/* from a request or announcement: enter, do not confirm */
	NEIGH_ANSWERED, /* an answer to a question of ours: confirm */
};

struct neigh_entry {
	uint8_t ip[WIRE_IP_BYTES];
	uint8_t mac[WIRE_MAC_BYTES];
	uint8_t iface;
	uint8_t state; /* enum neigh_state */
	uint8_t tries;
	uint8_t pending_count;
	uint32_t chain_next;
	uint32_t prev, next; /* by use, or among those under way */
	uint64_t fresh_until_ns;
	uint64_t due_ns; /* under way: the next step */
	void *pending[LIMIT_NEIGH_PENDING];
};

struct neigh_list {
	uint32_t first, last;
};

struct neigh_ops {
	/* Asks for the address; `mac` NULL: everybody, else the one who had it. */
	void (*ask)(void *ctx, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES], const uint8_t *mac);
	void (*send)(void *ctx, void *take_pkt, uint8_t iface, const uint8_t mac[WIRE_MAC_BYTES]);
	void (*drop)(void *ctx, void *take_pkt);
};

struct neigh {
	const struct neigh_ops *ops;
	void *ctx;
	struct pool entries;
	uint32_t *chains; /* by hash */
	uint32_t chain_mask;
	uint64_t secret;
	uint32_t epoch; /* grows when something that neigh_resolve said may no longer hold */
	struct neigh_list used;	     /* settled entries, longest unused first */
	struct neigh_list under_way; /* ASKING, FAILED, DELAY, PROBING */
};

/* 0 or -ENOMEM. */
CHECKED int neigh_init(struct neigh *n, uint32_t capacity, const struct neigh_ops *ops, void *ctx,
	uint64_t secret);
/* Drops what waits. */
void neigh_fini(struct neigh *n);

/* The entry with a link address to use until fresh_until_ns or a change of epoch, whichever is first; NULL: none is
 * known, and it is being asked for. */
const struct neigh_entry *neigh_resolve(
	struct neigh *n, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES], uint64_t now_ns);
/* After neigh_resolve found none: the packet waits for the answer, or is dropped. */
void neigh_park(struct neigh *n, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES], void *take_pkt);

/* `ip` is at `mac`. Packets that waited for it leave. `may_enter`: also when nothing is known of it yet. */
void neigh_learn(struct neigh *n, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES],
	const uint8_t mac[WIRE_MAC_BYTES], enum neigh_news news, bool may_enter, uint64_t now_ns);

/* Asks again, probes, gives up. Call it every LIMIT_NEIGH_TICK_MS. */
void neigh_advance(struct neigh *n, uint64_t now_ns);

#endif
