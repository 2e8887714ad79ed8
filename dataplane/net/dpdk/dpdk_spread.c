#include "dataplane/net/dpdk/dpdk_spread.h"

#include <errno.h>
#include <stdio.h>

#include <rte_ring.h>
#include <rte_thash.h>

#include "dataplane/net/dpdk/dpdk_rx.h"

enum { NAME_BYTES = 64, COPY_FLAG = 0x100, PORT_MASK = 0xff, PORTS_BYTES = 4 };

int dpdk_spread_open(struct dpdk_node *node)
{
	port_rss_key(node->rss_key);
	for (unsigned i = 0; node->lcores > 1 && i < node->lcores; i++) {
		char name[NAME_BYTES];
		snprintf(name, sizeof(name), "spread%u-%lx", i, (unsigned long)(uintptr_t)node);
		node->spread[i] = rte_ring_create(name, QUEUE_CAPACITY_SPREAD, SOCKET_ID_ANY,
			RING_F_SC_DEQ | RING_F_EXACT_SZ);
		if (node->spread[i] == NULL)
			return -ENOMEM;
	}
	return 0;
}

void dpdk_spread_close(struct dpdk_node *node)
{
	for (unsigned i = 0; i < node->lcores; i++) {
		void *m;
		while (node->spread[i] != NULL && rte_ring_dequeue(node->spread[i], &m) == 0)
			rte_pktmbuf_free(m);
		rte_ring_free(node->spread[i]);
	}
}

/* One end of a flow. */
static uint64_t mix_end(const uint8_t ip[WIRE_IP_BYTES], uint16_t port)
{
	uint64_t high, low;
	memcpy(&high, ip, 8);
	memcpy(&low, ip + 8, 8);
	uint64_t h = (high ^ low ^ port) * 0x9e3779b97f4a7c15ull;
	return (h ^ h >> 29) * 0xbf58476d1ce4e5b9ull;
}

/* Symmetric: the sum does not care which end is first. */
static unsigned lcore_of(const struct dpdk *d, const struct tcp_key *key)
{
	uint64_t h =
		mix_end(key->local_ip, key->local_port) + mix_end(key->remote_ip, key->remote_port);
	return (unsigned)((h ^ h >> 32) % d->node->lcores);
}

/* What the port's hardware computes: Toeplitz over addresses and ports, then the table, which repeats the queues. */
static unsigned queue_of(const struct dpdk *d, const struct port *port, const struct tcp_key *key)
{
	uint32_t tuple[9];
	unsigned at = 0;
	bool is_v4 = wire_is_v4(key->remote_ip);
	for (unsigned i = is_v4 ? 12 : 0; i < WIRE_IP_BYTES; i += 4)
		tuple[at++] = wire_get32(key->remote_ip + i);
	for (unsigned i = is_v4 ? 12 : 0; i < WIRE_IP_BYTES; i += 4)
		tuple[at++] = wire_get32(key->local_ip + i);
	tuple[at++] = (uint32_t)key->remote_port << 16 | key->local_port;
	uint32_t hash = rte_softrss(tuple, at, d->node->rss_key);
	return hash % port->reta_size % d->node->lcores;
}

static unsigned place(const struct dpdk *d, const struct port *port, const struct tcp_key *key)
{
	return port->has_rss ? queue_of(d, port, key) : lcore_of(d, key);
}

unsigned dpdk_spread_owner(const struct dpdk *d, uint8_t port, const struct rte_mbuf *m)
{
	struct eth_head eth;
	struct ip_in ip;
	struct span frame = {rte_pktmbuf_mtod(m, uint8_t *), rte_pktmbuf_data_len(m)};
	if (!eth_parse(&eth, frame))
		return d->index;
	struct span packet = {frame.data + eth.len, frame.len - eth.len};
	int why = eth.type == ETH_TYPE_IP4   ? ip4_parse(&ip, packet, true)
		  : eth.type == ETH_TYPE_IP6 ? ip6_parse(&ip, packet)
					     : REASON_FRAME;
	if (why != 0)
		return d->index;
	struct tcp_key key = {.local_port = 0};
	memcpy(key.local_ip, ip.to, WIRE_IP_BYTES);
	memcpy(key.remote_ip, ip.from, WIRE_IP_BYTES);
	bool has_ports = (ip.protocol == IP_PROTO_TCP || ip.protocol == IP_PROTO_UDP) &&
			 !ip.is_fragment && ip.payload.len >= PORTS_BYTES;
	if (has_ports) {
		key.remote_port = wire_get16(ip.payload.data);
		key.local_port = wire_get16(ip.payload.data + 2);
	} else if (!ip.is_fragment) {
		return d->index;
	}
	return place(d, &d->node->ports[port], &key);
}

bool dpdk_spread_owns(void *ctx, const struct tcp_key *key)
{
	struct dpdk *d = ctx;
	struct route_hop hop;
	if (d->node->lcores == 1 ||
		!route_find(&d->node->routes, key->local_ip, key->remote_ip, &hop))
		return true;
	const struct port *port = &d->node->ports[dpdk_iface(d, hop.iface)->port];
	return place(d, port, key) == d->index;
}

void dpdk_spread_give(struct dpdk *d, unsigned lcore, uint8_t port, struct rte_mbuf *take_m)
{
	take_m->hash.usr = port;
	if (rte_ring_enqueue(d->node->spread[lcore], take_m) != 0)
		dpdk_drop(d, take_m, REASON_SPREAD_FULL);
}

void dpdk_spread_copy(struct dpdk *d, uint8_t port, struct rte_mbuf *lend_m)
{
	for (unsigned i = 0; i < d->node->lcores; i++) {
		if (i == d->index)
			continue;
		struct rte_mbuf *copy = rte_pktmbuf_copy(lend_m, d->pool, 0, UINT32_MAX);
		if (copy == NULL) {
			tally_inc(d->tally, TALLY_DROPS + REASON_NO_BUFFER);
			return;
		}
		copy->hash.usr = port | COPY_FLAG;
		if (rte_ring_enqueue(d->node->spread[i], copy) != 0)
			dpdk_drop(d, copy, REASON_SPREAD_FULL);
	}
}

unsigned dpdk_spread_poll(struct dpdk *d)
{
	void *pkts[LIMIT_NET_BURST];
	unsigned count =
		rte_ring_dequeue_burst(d->node->spread[d->index], pkts, LIMIT_NET_BURST, NULL);
	for (unsigned i = 0; i < count; i++) {
		struct rte_mbuf *m = pkts[i];
		d->is_copy = (m->hash.usr & COPY_FLAG) != 0;
		dpdk_rx_frame(d, (uint8_t)(m->hash.usr & PORT_MASK), m);
	}
	d->is_copy = false;
	return count;
}
