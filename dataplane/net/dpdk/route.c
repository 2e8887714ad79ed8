#include "dataplane/net/dpdk/route.h"

#include <errno.h>

#include "dataplane/net/dpdk/ip.h"

uint8_t route_find_iface(const struct route_table *t, uint8_t port, uint16_t vlan)
{
	for (uint8_t i = 0; i < t->iface_count; i++) {
		if (t->ifaces[i].port == port && t->ifaces[i].vlan == vlan)
			return i;
	}
	return ROUTE_NONE;
}

uint8_t route_iface(
	struct route_table *t, uint8_t port, uint16_t vlan, const uint8_t mac[WIRE_MAC_BYTES])
{
	uint8_t found = route_find_iface(t, port, vlan);
	if (found != ROUTE_NONE || t->iface_count == LIMIT_NET_IFACES)
		return found;
	struct route_iface *iface = &t->ifaces[t->iface_count];
	*iface = (struct route_iface){.port = port, .vlan = vlan};
	memcpy(iface->mac, mac, WIRE_MAC_BYTES);
	return t->iface_count++;
}

const struct route_addr *route_local(
	const struct route_table *t, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES])
{
	for (unsigned i = 0; i < t->addr_count; i++) {
		const struct route_addr *a = &t->addrs[i];
		if ((iface == ROUTE_NONE || a->iface == iface) &&
			memcmp(a->ip, ip, WIRE_IP_BYTES) == 0)
			return a;
	}
	return NULL;
}

int route_add_addr(
	struct route_table *t, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES], uint8_t prefix)
{
	if (route_local(t, ip_is_link_local(ip) ? iface : ROUTE_NONE, ip) != NULL)
		return -EEXIST;
	if (t->addr_count == LIMIT_NET_ADDRESSES)
		return -ENOSPC;
	struct route_addr *a = &t->addrs[t->addr_count++];
	*a = (struct route_addr){.prefix = prefix, .iface = iface};
	memcpy(a->ip, ip, WIRE_IP_BYTES);
	return 0;
}

static bool matches(
	const uint8_t net[WIRE_IP_BYTES], uint8_t prefix, const uint8_t ip[WIRE_IP_BYTES])
{
	struct cidr cidr = {.prefix = prefix};
	struct addr a = {.port = 0};
	memcpy(cidr.ip, net, WIRE_IP_BYTES);
	memcpy(a.ip, ip, WIRE_IP_BYTES);
	return cidr_contains(&cidr, &a);
}

/* Our address in the smallest of our networks that holds `ip`; NULL: none does. */
static const struct route_addr *neighbour(
	const struct route_table *t, const uint8_t ip[WIRE_IP_BYTES])
{
	const struct route_addr *best = NULL;
	for (unsigned i = 0; i < t->addr_count; i++) {
		const struct route_addr *a = &t->addrs[i];
		if (matches(a->ip, a->prefix, ip) && (best == NULL || a->prefix > best->prefix))
			best = a;
	}
	return best;
}

int route_add(struct route_table *t, const struct cidr *to, const uint8_t via[WIRE_IP_BYTES])
{
	const struct route_addr *from = neighbour(t, via);
	if (from == NULL)
		return -ENETUNREACH;
	if (t->route_count == LIMIT_NET_ROUTES)
		return -ENOSPC;
	struct route_entry *r = &t->routes[t->route_count++];
	*r = (struct route_entry){.to = *to, .iface = from->iface};
	memcpy(r->via, via, WIRE_IP_BYTES);
	return 0;
}

static bool find_link_local(const struct route_table *t, const uint8_t *from,
	const uint8_t to[WIRE_IP_BYTES], struct route_hop *out)
{
	const struct route_addr *a = from != NULL ? route_local(t, ROUTE_NONE, from) : NULL;
	if (a == NULL)
		return false;
	*out = (struct route_hop){.iface = a->iface, .from = a};
	memcpy(out->ip, to, WIRE_IP_BYTES);
	return true;
}

bool route_find(const struct route_table *t, const uint8_t *from, const uint8_t to[WIRE_IP_BYTES],
	struct route_hop *out)
{
	if (ip_is_link_local(to))
		return find_link_local(t, from, to, out);
	const struct route_addr *near = neighbour(t, to);
	const struct route_entry *far = NULL;
	for (unsigned i = 0; i < t->route_count; i++) {
		const struct route_entry *r = &t->routes[i];
		if (matches(r->to.ip, r->to.prefix, to) &&
			(far == NULL || r->to.prefix > far->to.prefix))
			far = r;
	}
	/* A mapped address matches ::/0 too, which is not its route. */
	if (far != NULL && wire_is_v4(to) != wire_is_v4(far->via))
		far = NULL;
	if (near == NULL && far == NULL)
		return false;
	bool is_near = near != NULL && (far == NULL || near->prefix >= far->to.prefix);
	const uint8_t *next = is_near ? to : far->via;
	out->from = is_near ? near : neighbour(t, far->via);
	out->iface = is_near ? near->iface : far->iface;
	memcpy(out->ip, next, WIRE_IP_BYTES);
	return out->from != NULL;
}

bool route_is_broadcast(const struct route_table *t, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES])
{
	static const uint8_t limited[4] = {255, 255, 255, 255};
	if (!wire_is_v4(ip))
		return false;
	if (memcmp(ip + 12, limited, 4) == 0)
		return true;
	for (unsigned i = 0; i < t->addr_count; i++) {
		const struct route_addr *a = &t->addrs[i];
		if (a->iface != iface || !wire_is_v4(a->ip) || a->prefix > 126 ||
			!matches(a->ip, a->prefix, ip))
			continue;
		uint32_t hosts = UINT32_MAX >> (a->prefix - 96);
		if ((wire_get32(ip + 12) & hosts) == hosts)
			return true;
	}
	return false;
}
