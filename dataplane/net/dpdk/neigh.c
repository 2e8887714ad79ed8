#include "dataplane/net/dpdk/neigh.h"

#include <errno.h>

#include "lib/clock/clock.h"
#include "lib/mem/mem.h"

enum { TRIES = 3, ASK_MS = 1000, FRESH_MS = 30000, DELAY_MS = 5000 };

static struct neigh_entry *at(const struct neigh *n, uint32_t index)
{
	return pool_at(&n->entries, index);
}

static size_t chains_bytes(const struct neigh *n)
{
	return sizeof(n->chains[0]) * ((size_t)n->chain_mask + 1);
}

int neigh_init(
	struct neigh *n, uint32_t capacity, const struct neigh_ops *ops, void *ctx, uint64_t secret)
{
	*n = (struct neigh){.ops = ops,
		.ctx = ctx,
		.secret = secret | 1,
		.used = {POOL_NONE, POOL_NONE},
		.under_way = {POOL_NONE, POOL_NONE}};
	while (n->chain_mask + 1 < capacity)
		n->chain_mask = n->chain_mask * 2 + 1;
	n->chains = mem_map(chains_bytes(n));
	if (n->chains == NULL)
		return -ENOMEM;
	memset(n->chains, 0xff, chains_bytes(n));
	int rc = pool_init(&n->entries, "neigh", capacity, sizeof(struct neigh_entry), CACHE_LINE);
	if (rc != 0)
		mem_unmap(n->chains, chains_bytes(n));
	return rc;
}

static uint32_t *chain_of(const struct neigh *n, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES])
{
	uint64_t high, low;
	memcpy(&high, ip, 8);
	memcpy(&low, ip + 8, 8);
	unsigned __int128 product =
		(unsigned __int128)(high ^ n->secret ^ iface) * (low ^ n->secret);
	uint64_t h = (uint64_t)product ^ (uint64_t)(product >> 64);
	return &n->chains[(h * n->secret) >> 32 & n->chain_mask];
}

static struct neigh_entry *find(
	const struct neigh *n, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES])
{
	for (uint32_t i = *chain_of(n, iface, ip); i != POOL_NONE; i = at(n, i)->chain_next) {
		struct neigh_entry *e = at(n, i);
		if (e->iface == iface && memcmp(e->ip, ip, WIRE_IP_BYTES) == 0)
			return e;
	}
	return NULL;
}

static struct neigh_list *list_of(struct neigh *n, const struct neigh_entry *e)
{
	return e->state == NEIGH_FRESH ? &n->used : &n->under_way;
}

static void unlink_entry(struct neigh *n, struct neigh_entry *e)
{
	struct neigh_list *list = list_of(n, e);
	*(e->prev != POOL_NONE ? &at(n, e->prev)->next : &list->first) = e->next;
	*(e->next != POOL_NONE ? &at(n, e->next)->prev : &list->last) = e->prev;
}

static void link_entry(struct neigh *n, struct neigh_entry *e)
{
	struct neigh_list *list = list_of(n, e);
	uint32_t index = pool_index(&n->entries, e);
	e->prev = list->last;
	e->next = POOL_NONE;
	*(list->last != POOL_NONE ? &at(n, list->last)->next : &list->first) = index;
	list->last = index;
}

static void set_state(
	struct neigh *n, struct neigh_entry *e, enum neigh_state state, uint64_t due_ns)
{
	unlink_entry(n, e);
	e->state = (uint8_t)state;
	e->due_ns = due_ns;
	link_entry(n, e);
}

static void drop_pending(struct neigh *n, struct neigh_entry *e)
{
	for (unsigned i = 0; i < e->pending_count; i++)
		n->ops->drop(n->ctx, e->pending[i]);
	e->pending_count = 0;
}

static void forget(struct neigh *n, struct neigh_entry *e)
{
	uint32_t index = pool_index(&n->entries, e);
	uint32_t *link = chain_of(n, e->iface, e->ip);
	while (*link != index)
		link = &at(n, *link)->chain_next;
	*link = e->chain_next;
	drop_pending(n, e);
	unlink_entry(n, e);
	pool_give(&n->entries, e);
	n->epoch++;
}

void neigh_fini(struct neigh *n)
{
	while (n->under_way.first != POOL_NONE)
		forget(n, at(n, n->under_way.first));
	pool_fini(&n->entries);
	mem_unmap(n->chains, chains_bytes(n));
}

static struct neigh_entry *enter(
	struct neigh *n, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES], enum neigh_state state)
{
	if (n->entries.in_use == n->entries.capacity && n->used.first != POOL_NONE)
		forget(n, at(n, n->used.first));
	struct neigh_entry *e = pool_take(&n->entries);
	if (e == NULL)
		return NULL;
	uint32_t *chain = chain_of(n, iface, ip);
	*e = (struct neigh_entry){.iface = iface, .state = (uint8_t)state, .chain_next = *chain};
	memcpy(e->ip, ip, WIRE_IP_BYTES);
	*chain = pool_index(&n->entries, e);
	link_entry(n, e);
	return e;
}

static void ask(struct neigh *n, struct neigh_entry *e, uint64_t now_ns)
{
	e->tries++;
	e->due_ns = now_ns + ASK_MS * NS_PER_MS;
	n->ops->ask(n->ctx, e->iface, e->ip, e->state == NEIGH_PROBING ? e->mac : NULL);
}

const struct neigh_entry *neigh_resolve(
	struct neigh *n, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES], uint64_t now_ns)
{
	struct neigh_entry *e = find(n, iface, ip);
	if (e == NULL) {
		e = enter(n, iface, ip, NEIGH_ASKING);
		if (e != NULL)
			ask(n, e, now_ns);
		return NULL;
	}
	switch ((enum neigh_state)e->state) {
	case NEIGH_ASKING:
	case NEIGH_FAILED:
		return NULL;
	case NEIGH_FRESH:
		/* Stale but likely right: use it, and look whether the peer shows up by itself before asking. */
		if (now_ns >= e->fresh_until_ns) {
			e->fresh_until_ns = now_ns + DELAY_MS * NS_PER_MS;
			set_state(n, e, NEIGH_DELAY, e->fresh_until_ns);
			return e;
		}
		unlink_entry(n, e);
		link_entry(n, e);
		return e;
	case NEIGH_DELAY:
	case NEIGH_PROBING:
		return e;
	}
	return NULL;
}

void neigh_park(struct neigh *n, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES], void *take_pkt)
{
	struct neigh_entry *e = find(n, iface, ip);
	if (e == NULL || e->state != NEIGH_ASKING) {
		n->ops->drop(n->ctx, take_pkt);
		return;
	}
	if (e->pending_count == LIMIT_NEIGH_PENDING) {
		n->ops->drop(n->ctx, e->pending[0]);
		memmove(e->pending, e->pending + 1, sizeof(e->pending[0]) * --e->pending_count);
	}
	e->pending[e->pending_count++] = take_pkt;
}

static void send_pending(struct neigh *n, struct neigh_entry *e)
{
	unsigned count = e->pending_count;
	e->pending_count = 0;
	for (unsigned i = 0; i < count; i++)
		n->ops->send(n->ctx, e->pending[i], e->iface, e->mac);
}

void neigh_learn(struct neigh *n, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES],
	const uint8_t mac[WIRE_MAC_BYTES], enum neigh_news news, bool may_enter, uint64_t now_ns)
{
	struct neigh_entry *e = find(n, iface, ip);
	if (e == NULL && may_enter)
		e = enter(n, iface, ip, NEIGH_ASKING);
	if (e == NULL)
		return;
	bool was_known = e->state != NEIGH_ASKING && e->state != NEIGH_FAILED;
	bool is_same = was_known && memcmp(e->mac, mac, WIRE_MAC_BYTES) == 0;
	if (was_known && !is_same)
		n->epoch++;
	memcpy(e->mac, mac, WIRE_MAC_BYTES);
	/* Hearing of it says where it is, not that it hears us: it is fresh, but only for the delay. */
	if (news == NEIGH_ANSWERED || !is_same) {
		e->tries = 0;
		e->fresh_until_ns =
			now_ns + (news == NEIGH_ANSWERED ? FRESH_MS : DELAY_MS) * NS_PER_MS;
		set_state(n, e, NEIGH_FRESH, 0);
	}
	send_pending(n, e);
}

static void step(struct neigh *n, struct neigh_entry *e, uint64_t now_ns)
{
	switch ((enum neigh_state)e->state) {
	case NEIGH_ASKING:
		if (e->tries < TRIES) {
			ask(n, e, now_ns);
			return;
		}
		drop_pending(n, e);
		set_state(n, e, NEIGH_FAILED, now_ns + ASK_MS * NS_PER_MS);
		return;
	case NEIGH_DELAY:
		set_state(n, e, NEIGH_PROBING, now_ns);
		e->tries = 0;
		ask(n, e, now_ns);
		return;
	case NEIGH_PROBING:
		if (e->tries < TRIES) {
			ask(n, e, now_ns);
			return;
		}
		forget(n, e);
		return;
	case NEIGH_FAILED:
		forget(n, e);
		return;
	case NEIGH_FRESH:
		return;
	}
}

void neigh_advance(struct neigh *n, uint64_t now_ns)
{
	uint32_t next;
	for (uint32_t i = n->under_way.first; i != POOL_NONE; i = next) {
		struct neigh_entry *e = at(n, i);
		next = e->next;
		if (now_ns >= e->due_ns)
			step(n, e, now_ns);
	}
}
