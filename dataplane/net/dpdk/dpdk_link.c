#include "dataplane/net/dpdk/dpdk_link.h"

#include "dataplane/net/dpdk/arp.h"
#include "dataplane/net/dpdk/dpdk_tx.h"
#include "dataplane/net/dpdk/nd.h"
#include "lib/clock/clock.h"
#include "lib/log/log.h"

static void send_arp(
	struct dpdk *d, uint8_t iface, const struct arp_packet *p, const uint8_t to[WIRE_MAC_BYTES])
{
	uint8_t bytes[ARP_BYTES];
	arp_write(p, bytes);
	dpdk_count(d, LABEL_PROTOCOL_ARP, LABEL_DIR_TX);
	dpdk_tx_frame(d, iface, to, ETH_TYPE_ARP, (struct span){bytes, sizeof(bytes)},
		(struct span){NULL, 0});
}

static void send_nd(struct dpdk *d, uint8_t iface, const struct nd_packet *p,
	const uint8_t from[WIRE_IP_BYTES], const uint8_t to[WIRE_IP_BYTES],
	const uint8_t mac[WIRE_MAC_BYTES])
{
	uint8_t head[IP6_HEADER], body[ND_BYTES];
	struct ip_out ip = {.from = from, .to = to, .protocol = IP_PROTO_ICMP6, .ttl = ND_HOPS};
	ip.len = nd_write(p, from, to, body);
	ip6_write(&ip, head);
	dpdk_count(d, LABEL_PROTOCOL_ND, LABEL_DIR_TX);
	dpdk_tx_frame(d, iface, mac, ETH_TYPE_IP6, (struct span){head, sizeof(head)},
		(struct span){body, ip.len});
}

static void announce_addr(struct dpdk *d, const struct route_addr *a)
{
	const struct route_iface *iface = dpdk_iface(d, a->iface);
	if (wire_is_v4(a->ip)) {
		struct arp_packet p;
		arp_announce(&p, iface->mac, a->ip);
		send_arp(d, a->iface, &p, eth_broadcast);
		return;
	}
	static const uint8_t all_nodes[WIRE_IP_BYTES] = {0xff, 0x02, [15] = 1};
	struct nd_packet p = {.type = ND_ADVERTISE, .flags = ND_OVERRIDE, .has_mac = true};
	uint8_t mac[WIRE_MAC_BYTES];
	memcpy(p.target, a->ip, WIRE_IP_BYTES);
	memcpy(p.mac, iface->mac, WIRE_MAC_BYTES);
	nd_group_mac(mac, all_nodes);
	send_nd(d, a->iface, &p, a->ip, all_nodes, mac);
}

/* Duplicate address detection: asks from the unspecified address for our own. */
static void probe_addr(struct dpdk *d, const struct route_addr *a)
{
	static const uint8_t nobody[WIRE_IP_BYTES];
	struct nd_packet p = {.type = ND_SOLICIT};
	uint8_t group[WIRE_IP_BYTES], mac[WIRE_MAC_BYTES];
	memcpy(p.target, a->ip, WIRE_IP_BYTES);
	nd_group(group, a->ip);
	nd_group_mac(mac, group);
	send_nd(d, a->iface, &p, nobody, group, mac);
}

void dpdk_link_announce(struct dpdk *d)
{
	const struct route_table *t = &d->node->routes;
	for (unsigned i = 0; i < t->addr_count; i++) {
		if (d->announced == 0 && !wire_is_v4(t->addrs[i].ip))
			probe_addr(d, &t->addrs[i]);
		else
			announce_addr(d, &t->addrs[i]);
	}
	d->announced++;
	d->announce_ns = *d->now_ns + NS_PER_S;
}

/* Somebody else has our address. One announcement tells him; then there is quiet, so that two who both defend do not
 * shout for ever. */
static void defend(
	struct dpdk *d, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES], const uint8_t *mac)
{
	if (d->is_copy || *d->now_ns < d->conflict_ns)
		return;
	d->conflict_ns = *d->now_ns + LIMIT_CONFLICT_MS * NS_PER_MS;
	struct addr a = {.port = 0};
	char text[ADDR_TEXT];
	memcpy(a.ip, ip, WIRE_IP_BYTES);
	addr_print_ip(&a, text);
	LOG(ERROR, "address conflict: %02x:%02x:%02x:%02x:%02x:%02x also uses %s", mac[0], mac[1],
		mac[2], mac[3], mac[4], mac[5], text);
	const struct route_addr *ours = route_local(&d->node->routes, iface, ip);
	if (ours != NULL)
		announce_addr(d, ours);
}

static void answer_arp(struct dpdk *d, uint8_t iface, const struct arp_packet *in)
{
	struct arp_packet p = {.operation = ARP_REPLY};
	memcpy(p.from_mac, dpdk_iface(d, iface)->mac, WIRE_MAC_BYTES);
	memcpy(p.from_ip, in->to_ip, WIRE_IP_BYTES);
	memcpy(p.to_mac, in->from_mac, WIRE_MAC_BYTES);
	memcpy(p.to_ip, in->from_ip, WIRE_IP_BYTES);
	send_arp(d, iface, &p, in->from_mac);
}

int dpdk_link_arp(struct dpdk *d, uint8_t iface, struct span payload)
{
	const struct route_table *t = &d->node->routes;
	struct arp_packet p;
	dpdk_count(d, LABEL_PROTOCOL_ARP, LABEL_DIR_RX);
	if (!arp_parse(&p, payload))
		return REASON_ARP;
	unsigned deeds = arp_judge(&p, dpdk_iface(d, iface)->mac,
		route_local(t, iface, p.to_ip) != NULL, route_local(t, iface, p.from_ip) != NULL);
	if (deeds & ARP_DEED_CONFLICT)
		defend(d, iface, p.from_ip, p.from_mac);
	if (deeds & (ARP_DEED_LEARN | ARP_DEED_REFRESH))
		neigh_learn(&d->neigh, iface, p.from_ip, p.from_mac,
			p.operation == ARP_REPLY ? NEIGH_ANSWERED : NEIGH_HEARD,
			(deeds & ARP_DEED_LEARN) != 0, *d->now_ns);
	if ((deeds & ARP_DEED_ANSWER) && !d->is_copy)
		answer_arp(d, iface, &p);
	return 0;
}

static void answer_nd(
	struct dpdk *d, uint8_t iface, const struct nd_packet *in, const struct ip_in *ip)
{
	static const uint8_t all_nodes[WIRE_IP_BYTES] = {0xff, 0x02, [15] = 1};
	bool is_dad = wire_is_zero(ip->from, WIRE_IP_BYTES);
	struct nd_packet p = {.type = ND_ADVERTISE,
		.flags = is_dad ? ND_OVERRIDE : ND_OVERRIDE | ND_SOLICITED,
		.has_mac = true};
	uint8_t group_mac[WIRE_MAC_BYTES];
	memcpy(p.target, in->target, WIRE_IP_BYTES);
	memcpy(p.mac, dpdk_iface(d, iface)->mac, WIRE_MAC_BYTES);
	nd_group_mac(group_mac, all_nodes);
	if (is_dad) {
		send_nd(d, iface, &p, p.target, all_nodes, group_mac);
	} else if (in->has_mac) {
		send_nd(d, iface, &p, p.target, ip->from, in->mac);
	} else {
		const struct neigh_entry *e = neigh_resolve(&d->neigh, iface, ip->from, *d->now_ns);
		if (e != NULL)
			send_nd(d, iface, &p, p.target, ip->from, e->mac);
	}
}

int dpdk_link_nd(struct dpdk *d, uint8_t iface, const struct ip_in *ip)
{
	struct nd_packet p;
	dpdk_count(d, LABEL_PROTOCOL_ND, LABEL_DIR_RX);
	if (!nd_parse(&p, ip))
		return REASON_ICMP;
	unsigned deeds = nd_judge(&p, dpdk_iface(d, iface)->mac,
		route_local(&d->node->routes, iface, p.target) != NULL);
	if (deeds & ND_DEED_CONFLICT)
		defend(d, iface, p.target, p.has_mac ? p.mac : eth_broadcast);
	if (deeds & ND_DEED_LEARN)
		neigh_learn(&d->neigh, iface, ip->from, p.mac, NEIGH_HEARD, true, *d->now_ns);
	if (deeds & ND_DEED_REFRESH)
		neigh_learn(&d->neigh, iface, p.target, p.mac,
			p.flags & ND_SOLICITED ? NEIGH_ANSWERED : NEIGH_HEARD, false, *d->now_ns);
	if ((deeds & ND_DEED_ANSWER) && !d->is_copy)
		answer_nd(d, iface, &p, ip);
	return 0;
}

/* The address to ask from: one of ours in the target's network. */
static const struct route_addr *source_for(
	const struct dpdk *d, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES])
{
	const struct route_table *t = &d->node->routes;
	struct route_hop hop;
	if (route_find(t, NULL, ip, &hop) && hop.iface == iface)
		return hop.from;
	for (unsigned i = 0; i < t->addr_count; i++) {
		const struct route_addr *a = &t->addrs[i];
		if (a->iface == iface && wire_is_v4(a->ip) == wire_is_v4(ip))
			return a;
	}
	return NULL;
}

void dpdk_link_ask(void *ctx, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES], const uint8_t *mac)
{
	struct dpdk *d = ctx;
	const struct route_addr *from = source_for(d, iface, ip);
	if (from == NULL)
		return;
	const uint8_t *our_mac = dpdk_iface(d, iface)->mac;
	if (wire_is_v4(ip)) {
		struct arp_packet p = {.operation = ARP_REQUEST};
		memcpy(p.from_mac, our_mac, WIRE_MAC_BYTES);
		memcpy(p.from_ip, from->ip, WIRE_IP_BYTES);
		memcpy(p.to_ip, ip, WIRE_IP_BYTES);
		send_arp(d, iface, &p, mac != NULL ? mac : eth_broadcast);
		return;
	}
	struct nd_packet p = {.type = ND_SOLICIT, .has_mac = true};
	uint8_t group[WIRE_IP_BYTES], group_mac[WIRE_MAC_BYTES];
	memcpy(p.target, ip, WIRE_IP_BYTES);
	memcpy(p.mac, our_mac, WIRE_MAC_BYTES);
	nd_group(group, ip);
	nd_group_mac(group_mac, group);
	send_nd(d, iface, &p, from->ip, mac != NULL ? ip : group, mac != NULL ? mac : group_mac);
}
