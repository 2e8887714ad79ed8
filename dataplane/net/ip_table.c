#include "dataplane/net/ip_table.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "lib/clock/clock.h"
#include "lib/mem/mem.h"
#include "lib/mem/pool.h"

/* The bucket is kept as the time at which it is full again: each request moves that time on by one interval, and may
 * not move it further than `burst` intervals from now. */
struct entry {
	uint8_t ip[16];
	uint64_t full_at_ns;
	uint32_t conns;
	uint32_t chain_next;
	uint32_t idle_prev; /* in the list of entries without connections, longest idle first */
	uint32_t idle_next;
};

struct ip_table {
	struct pool entries;
	uint32_t *chains; /* by hash; chain_mask + 1 of them */
	uint32_t chain_mask;
	uint32_t idle_first;
	uint32_t idle_last;
	uint32_t conns_max;   /* 0: no limit */
	uint64_t interval_ns; /* of one request; 0: no limit */
	uint64_t burst_ns;    /* of all requests a full bucket holds */
	uint64_t secret[3];
};

static size_t chains_bytes(const struct ip_table *t)
{
	return sizeof(t->chains[0]) * ((size_t)t->chain_mask + 1);
}

int ip_table_init(struct ip_table **out, uint32_t capacity)
{
	MUST(capacity > 0 && capacity <= LIMIT_IP_TABLE);
	struct ip_table *t = mem_map(sizeof(*t));
	if (t == NULL)
		return -ENOMEM;
	*t = (struct ip_table){.idle_first = IP_TABLE_NONE, .idle_last = IP_TABLE_NONE};
	while (t->chain_mask + 1 < capacity)
		t->chain_mask = t->chain_mask * 2 + 1;
	if (getrandom(t->secret, sizeof(t->secret), 0) != sizeof(t->secret)) {
		mem_unmap(t, sizeof(*t));
		return -EIO;
	}
	t->chains = mem_map(chains_bytes(t));
	if (t->chains == NULL ||
		pool_init(&t->entries, "ip_table", capacity, sizeof(struct entry), 8) != 0) {
		ip_table_fini(t);
		return -ENOMEM;
	}
	memset(t->chains, 0xff, chains_bytes(t));
	*out = t;
	return 0;
}

void ip_table_fini(struct ip_table *t)
{
	if (t->entries.base != NULL)
		pool_fini(&t->entries);
	if (t->chains != NULL)
		mem_unmap(t->chains, chains_bytes(t));
	mem_unmap(t, sizeof(*t));
}

void ip_table_limit(struct ip_table *t, const struct ip_table_limits *limits)
{
	uint32_t burst = limits->burst != 0 ? limits->burst : limits->rate_per_s;
	t->conns_max = limits->conns;
	t->interval_ns = limits->rate_per_s != 0 ? NS_PER_S / limits->rate_per_s : 0;
	t->burst_ns = t->interval_ns * burst;
}

static struct entry *entry_at(const struct ip_table *t, uint32_t index)
{
	return pool_at(&t->entries, index);
}

static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint32_t *chain_of(const struct ip_table *t, const uint8_t ip[16])
{
	uint64_t high, low;
	memcpy(&high, ip, 8);
	memcpy(&low, ip + 8, 8);
	uint64_t h = fold(high ^ t->secret[0], low ^ t->secret[1]);
	return &t->chains[fold(h, t->secret[2] | 1) & t->chain_mask];
}

static uint32_t find(const struct ip_table *t, const uint8_t ip[16])
{
	uint32_t index = *chain_of(t, ip);
	while (index != IP_TABLE_NONE && memcmp(entry_at(t, index)->ip, ip, 16) != 0)
		index = entry_at(t, index)->chain_next;
	return index;
}

static void idle_push(struct ip_table *t, uint32_t index)
{
	struct entry *e = entry_at(t, index);
	e->idle_prev = t->idle_last;
	e->idle_next = IP_TABLE_NONE;
	if (t->idle_last != IP_TABLE_NONE)
		entry_at(t, t->idle_last)->idle_next = index;
	else
		t->idle_first = index;
	t->idle_last = index;
}

static void idle_remove(struct ip_table *t, uint32_t index)
{
	struct entry *e = entry_at(t, index);
	if (e->idle_prev != IP_TABLE_NONE)
		entry_at(t, e->idle_prev)->idle_next = e->idle_next;
	else
		t->idle_first = e->idle_next;
	if (e->idle_next != IP_TABLE_NONE)
		entry_at(t, e->idle_next)->idle_prev = e->idle_prev;
	else
		t->idle_last = e->idle_prev;
}

/* The entry is in no idle list. */
static void forget(struct ip_table *t, uint32_t index)
{
	struct entry *e = entry_at(t, index);
	uint32_t *link = chain_of(t, e->ip);
	while (*link != index)
		link = &entry_at(t, *link)->chain_next;
	*link = e->chain_next;
	pool_give(&t->entries, e);
}

/* Forgets idle entries whose buckets are full: two for each new one, so the list cannot grow for long. */
static void sweep(struct ip_table *t, uint64_t now_ns)
{
	for (unsigned i = 0; i < 2; i++) {
		uint32_t index = t->idle_first;
		if (index == IP_TABLE_NONE || entry_at(t, index)->full_at_ns > now_ns)
			return;
		idle_remove(t, index);
		forget(t, index);
	}
}

static uint32_t add(struct ip_table *t, const uint8_t ip[16], uint64_t now_ns)
{
	sweep(t, now_ns);
	if (t->entries.in_use == t->entries.capacity && t->idle_first != IP_TABLE_NONE) {
		uint32_t oldest = t->idle_first;
		idle_remove(t, oldest);
		forget(t, oldest);
	}
	struct entry *e = pool_take(&t->entries);
	if (e == NULL)
		return IP_TABLE_NONE;
	uint32_t index = pool_index(&t->entries, e);
	uint32_t *chain = chain_of(t, ip);
	*e = (struct entry){.full_at_ns = now_ns, .chain_next = *chain};
	memcpy(e->ip, ip, 16);
	*chain = index;
	idle_push(t, index);
	return index;
}

bool ip_table_enter(struct ip_table *t, const struct addr *peer, uint64_t now_ns, uint32_t *entry,
	enum reason_id *why)
{
	uint32_t index = find(t, peer->ip);
	if (index == IP_TABLE_NONE)
		index = add(t, peer->ip, now_ns);
	if (index == IP_TABLE_NONE) {
		*why = REASON_CONN_CAP;
		return false;
	}
	struct entry *e = entry_at(t, index);
	if (t->conns_max != 0 && e->conns >= t->conns_max) {
		*why = REASON_IP_CAP;
		return false;
	}
	if (e->conns++ == 0)
		idle_remove(t, index);
	*entry = index;
	return true;
}

void ip_table_leave(struct ip_table *t, uint32_t entry, uint64_t now_ns)
{
	if (entry == IP_TABLE_NONE)
		return;
	struct entry *e = entry_at(t, entry);
	MUST(pool_is_taken(&t->entries, entry) && e->conns > 0);
	if (--e->conns != 0)
		return;
	if (e->full_at_ns <= now_ns)
		forget(t, entry);
	else
		idle_push(t, entry);
}

bool ip_table_allow(struct ip_table *t, uint32_t entry, uint64_t now_ns)
{
	if (t->interval_ns == 0 || entry == IP_TABLE_NONE)
		return true;
	struct entry *e = entry_at(t, entry);
	MUST_HOT(pool_is_taken(&t->entries, entry));
	uint64_t next = (e->full_at_ns > now_ns ? e->full_at_ns : now_ns) + t->interval_ns;
	if (next - now_ns > t->burst_ns)
		return false;
	e->full_at_ns = next;
	return true;
}

uint32_t ip_table_count(const struct ip_table *t)
{
	return t->entries.in_use;
}

uint32_t ip_table_conns(const struct ip_table *t, const struct addr *peer)
{
	uint32_t index = find(t, peer->ip);
	return index != IP_TABLE_NONE ? entry_at(t, index)->conns : 0;
}

uint32_t ip_table_find(const struct ip_table *t, const struct addr *peer)
{
	return find(t, peer->ip);
}
