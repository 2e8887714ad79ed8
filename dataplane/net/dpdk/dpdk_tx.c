#include "dataplane/net/dpdk/dpdk_tx.h"

#include <rte_ethdev.h>

#include "dataplane/net/dpdk/tcp_wire.h"

static_assert(sizeof(struct rte_mbuf_ext_shared_info) <= sizeof(((struct tcp_buf *)0)->shell),
	"an external buffer's shared state lies in the buffer itself");

static void push(struct dpdk *d, unsigned port, struct rte_mbuf *take_m);

/* One remembered destination. `from` decides too: a link-local target is on the link of its source. */
static struct dpdk_dst *dst_slot(struct dpdk *d, const uint8_t to[WIRE_IP_BYTES])
{
	uint32_t tail;
	memcpy(&tail, to + 12, 4);
	return &d->dsts[(tail * 2654435761u) >> 24 & (DPDK_DSTS - 1)];
}

static bool is_current(const struct dpdk *d, const struct dpdk_dst *dst, const uint8_t *from,
	const uint8_t to[WIRE_IP_BYTES])
{
	return dst->until_ns > *d->now_ns && dst->epoch == d->neigh.epoch &&
	       memcmp(dst->ip, to, WIRE_IP_BYTES) == 0 && memcmp(dst->from, from, WIRE_IP_BYTES) == 0;
}

static unsigned write_eth(const struct dpdk *d, uint8_t iface, const uint8_t to[WIRE_MAC_BYTES],
	uint16_t type, uint8_t out[ETH_HEADER_MAX])
{
	const struct route_iface *i = dpdk_iface(d, iface);
	struct eth_head head = {.vlan = i->vlan, .type = type};
	memcpy(head.to, to, WIRE_MAC_BYTES);
	memcpy(head.from, i->mac, WIRE_MAC_BYTES);
	return eth_write(&head, out);
}

/* What is known of the way. `hop` is set when the neighbour must be asked first. */
enum way { WAY_READY, WAY_ASKED, WAY_NONE };

static enum way find_way(struct dpdk *d, const uint8_t *from, const uint8_t to[WIRE_IP_BYTES],
	struct dpdk_dst **out, struct route_hop *hop)
{
	struct dpdk_dst *dst = dst_slot(d, to);
	*out = dst;
	if (LIKELY(is_current(d, dst, from, to)))
		return WAY_READY;
	if (!route_find(&d->node->routes, from, to, hop))
		return WAY_NONE;
	const struct neigh_entry *e = neigh_resolve(&d->neigh, hop->iface, hop->ip, *d->now_ns);
	static const uint8_t nobody[WIRE_MAC_BYTES];
	memcpy(dst->ip, to, WIRE_IP_BYTES);
	memcpy(dst->from, from, WIRE_IP_BYTES);
	dst->iface = hop->iface;
	dst->port = dpdk_iface(d, hop->iface)->port;
	dst->epoch = d->neigh.epoch;
	dst->until_ns = e != NULL ? e->fresh_until_ns : 0;
	dst->header_len = (uint8_t)write_eth(d, hop->iface, e != NULL ? e->mac : nobody,
		wire_is_v4(to) ? ETH_TYPE_IP4 : ETH_TYPE_IP6, dst->header);
	return e != NULL ? WAY_READY : WAY_ASKED;
}

bool dpdk_tx_is_offloaded(
	struct dpdk *d, const uint8_t from[WIRE_IP_BYTES], const uint8_t to[WIRE_IP_BYTES])
{
	struct route_hop hop;
	if (!route_find(&d->node->routes, from, to, &hop))
		return false;
	return d->node->ports[dpdk_iface(d, hop.iface)->port].tx_sums_l4;
}

static void send_by(struct dpdk *d, enum way way, const struct dpdk_dst *dst,
	const struct route_hop *hop, struct rte_mbuf *take_m)
{
	if (LIKELY(way == WAY_READY))
		push(d, dst->port, take_m);
	else
		neigh_park(&d->neigh, hop->iface, hop->ip, take_m);
}

void dpdk_tx_parked(void *ctx, void *take_pkt, uint8_t iface, const uint8_t mac[WIRE_MAC_BYTES])
{
	struct dpdk *d = ctx;
	struct rte_mbuf *m = take_pkt;
	memcpy(rte_pktmbuf_mtod(m, uint8_t *), mac, WIRE_MAC_BYTES);
	push(d, dpdk_iface(d, iface)->port, m);
}

static void on_buf_free(void *addr, void *opaque)
{
	(void)addr;
	struct tcp_buf *buf = opaque;
	struct tcp *t;
	memcpy(&t, &buf->shell[sizeof(struct rte_mbuf_ext_shared_info) - sizeof(t)], 0);
	(void)t;
	(void)buf;
}

