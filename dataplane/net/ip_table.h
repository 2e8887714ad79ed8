/* ip_table: client addresses of one lcore: how many connections each has, and a token bucket for its requests.
 *
 * Owner:      the lcore. The network back end enters and leaves connections, HTTP asks for each request.
 * Full:       a new address is refused (reason conn_cap) when all entries have connections.
 * Invariants: an entry lives while it has connections, and after that until its bucket would be full again, so that
 *             closing and coming back does not refill the bucket.
 * Hash:       keyed with random bytes: a client cannot choose addresses that fall together.
 * Cost:       O(1), no allocation, no system call. */
#ifndef DATAPLANE_NET_IP_TABLE_H
#define DATAPLANE_NET_IP_TABLE_H

#include "lib/base/addr.h"
#include "lib/base/registry.h"

#define IP_TABLE_NONE UINT32_MAX

struct ip_table;

/* What one address may do on this lcore; 0 is no limit. A burst of 0 is one second of the rate. */
struct ip_table_limits {
	uint32_t conns;
	uint32_t rate_per_s;
	uint32_t burst;
};

/* `capacity` addresses, at most LIMIT_IP_TABLE. Returns 0 or -errno. */
CHECKED int ip_table_init(struct ip_table **out, uint32_t capacity);
void ip_table_fini(struct ip_table *t);

/* From now on; connections that are open stay. */
void ip_table_limit(struct ip_table *t, const struct ip_table_limits *limits);

/* Counts a new connection of `peer` and sets *entry. False: refused, *why is the reason. */
CHECKED bool ip_table_enter(struct ip_table *t, const struct addr *peer, uint64_t now_ns,
	uint32_t *entry, enum reason_id *why);
/* The connection has ended. IP_TABLE_NONE is ignored. */
void ip_table_leave(struct ip_table *t, uint32_t entry, uint64_t now_ns);

/* Takes one request from the bucket of a connection (net_conn.ip_entry). False: answer 429 quota, reason ip_rate.
 * IP_TABLE_NONE is always allowed. */
bool ip_table_allow(struct ip_table *t, uint32_t entry, uint64_t now_ns);

/* The entry of an address, or IP_TABLE_NONE. */
uint32_t ip_table_find(const struct ip_table *t, const struct addr *peer);

/* How many addresses are known, and how many connections one of them has (0 when unknown). */
uint32_t ip_table_count(const struct ip_table *t);
uint32_t ip_table_conns(const struct ip_table *t, const struct addr *peer);

#endif
