#include "dataplane/net/dpdk/dpdk_rx.h"

#include <rte_ethdev.h>

#include "dataplane/net/dpdk/dpdk_capture.h"
#include "dataplane/net/dpdk/dpdk_frag.h"
#include "dataplane/net/dpdk/dpdk_link.h"
#include "dataplane/net/dpdk/dpdk_spread.h"
#include "dataplane/net/dpdk/dpdk_tx.h"
#include "dataplane/net/dpdk/dpdk_udp.h"
#include "dataplane/net/dpdk/tcp_wire.h"
#include "dataplane/net/dpdk/udp.h"

enum { PREFETCH = 4, VLAN_MASK = 0xfff };

static void dispatch(struct dpdk *d, uint8_t port, struct rte_mbuf *take_m);

/* What the hardware says of checksums, when it was asked to look. */
static bool is_ip_good(const struct rte_mbuf *m)
{
	return (m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_GOOD;
}

static bool is_l4_good(const struct rte_mbuf *m)
{
	return (m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_GOOD;
}

static void input_tcp(struct dpdk *d, const struct ip_in *ip, struct rte_mbuf *take_m)
{
	struct tcp_in in;
	int why = tcp_wire_parse(&in, ip->from, ip->to, ip->payload, is_l4_good(take_m));
	if (UNLIKELY(why != 0)) {
		dpdk_drop(d, take_m, (enum reason_id)why);
		return;
	}
	in.pkt = take_m;
	in.pkt_cost = (uint32_t)sizeof(*take_m) + take_m->buf_len;
	tcp_input(&d->tcp, &in);
}

static void complain(struct dpdk *d, const struct ip_in *ip, enum icmp_error error)
{
	uint8_t message[ICMP_ERROR_MAX];
	unsigned len = icmp_write_error(message, error, ip, ip->to);
	if (len == 0)
		return;
	if (!icmp_rate_take(&d->icmp_rate, *d->now_ns)) {
		tally_inc(d->tally, TALLY_DROPS + REASON_ICMP_RATE);
		return;
	}
	(void)dpdk_tx_packet(d, ip->to, ip->from, ip->is_v6 ? IP_PROTO_ICMP6 : IP_PROTO_ICMP,
		(struct span){message, len}, (struct span){NULL, 0});
}

static void answer_echo(struct dpdk *d, uint8_t iface, const struct ip_in *ip)
{
	const uint8_t *from = ip->to;
	if (ip_is_group(ip->to)) {
		/* To a group: one of ours on that link answers. Broadcasts are not answered (RFC 1122 3.2.2.6). */
		struct route_hop hop;
		if (!ip->is_v6 || !route_find(&d->node->routes, NULL, ip->from, &hop) ||
			hop.iface != iface)
			return;
		from = hop.from->ip;
	}
	if (!icmp_rate_take(&d->icmp_rate, *d->now_ns)) {
		tally_inc(d->tally, TALLY_DROPS + REASON_ICMP_RATE);
		return;
	}
	/* The packet is freed after this: its bytes may be turned into the answer. */
	uint8_t *message = (uint8_t *)(uintptr_t)ip->payload.data;
	icmp_echo_reply(message, ip, from);
	(void)dpdk_tx_packet(d, from, ip->from, ip->protocol, ip->payload, (struct span){NULL, 0});
}

static int input_icmp(
	struct dpdk *d, uint8_t iface, const struct ip_in *ip, struct rte_mbuf *lend_m)
{
	struct icmp_in in;
	int why = icmp_parse(&in, ip);
	if (why != 0 || in.kind != ICMP_NEIGHBOUR)
		dpdk_count(d, LABEL_PROTOCOL_ICMP, LABEL_DIR_RX);
	if (why != 0)
		return why;
	bool is_for_all = in.kind == ICMP_NEIGHBOUR || in.kind == ICMP_TOO_BIG;
	if (is_for_all && d->node->lcores > 1 && !d->is_copy)
		dpdk_spread_copy(d, dpdk_iface(d, iface)->port, lend_m);
	switch (in.kind) {
	case ICMP_OTHER:
		return REASON_ICMP;
	case ICMP_ECHO:
		answer_echo(d, iface, ip);
		return 0;
	case ICMP_TOO_BIG:
		tcp_path_mtu(&d->tcp, &in.key, in.seq, in.mtu);
		return 0;
	case ICMP_NEIGHBOUR:
		return dpdk_link_nd(d, iface, ip);
	}
	return REASON_ICMP;
}

static int input_udp(struct dpdk *d, const struct ip_in *ip, bool is_verified)
{
	struct udp_in in;
	dpdk_count(d, LABEL_PROTOCOL_UDP, LABEL_DIR_RX);
	int why = udp_parse(&in, ip, is_verified);
	if (why != 0)
		return why;
	if (dpdk_udp_input(d, ip, &in))
		return 0;
	complain(d, ip, ICMP_ERROR_PORT);
	return REASON_UDP_PORT;
}

/* A whole packet to one of our addresses, or to a group. */
static void input_ip(struct dpdk *d, uint8_t iface, const struct ip_in *ip, struct rte_mbuf *take_m)
{
	bool is_group = ip_is_group(ip->to) || route_is_broadcast(&d->node->routes, iface, ip->to);
	int why;
	if (LIKELY(ip->protocol == IP_PROTO_TCP) && !is_group) {
		input_tcp(d, ip, take_m);
		return;
	}
	if (ip->protocol == IP_PROTO_UDP && !is_group) {
		why = input_udp(d, ip, is_l4_good(take_m));
	} else if (ip->protocol == IP_PROTO_ICMP || ip->protocol == IP_PROTO_ICMP6) {
		why = input_icmp(d, iface, ip, take_m);
	} else {
		if (!is_group)
			complain(d, ip, ICMP_ERROR_PROTOCOL);
		why = REASON_PROTOCOL;
	}
	if (why != 0)
		tally_inc(d->tally, TALLY_DROPS + (unsigned)why);
	rte_pktmbuf_free(take_m);
}

static int parse_ip(struct ip_in *out, uint16_t type, struct span packet, bool is_verified)
{
	return type == ETH_TYPE_IP4 ? ip4_parse(out, packet, is_verified) : ip6_parse(out, packet);
}

/* The packet begins `at` bytes into the buffer. */
static void receive_ip(
	struct dpdk *d, uint8_t iface, uint16_t type, unsigned at, struct rte_mbuf *take_m)
{
	struct ip_in ip;
	struct rte_mbuf *m = take_m;
	struct span packet = {
		rte_pktmbuf_mtod_offset(m, uint8_t *, at), rte_pktmbuf_data_len(m) - at};
	int why = parse_ip(&ip, type, packet, is_ip_good(m));
	if (LIKELY(why == 0) &&
		UNLIKELY(route_local(&d->node->routes, ROUTE_NONE, ip.to) == NULL) &&
		!ip_is_group(ip.to) && !route_is_broadcast(&d->node->routes, iface, ip.to))
		why = REASON_NOT_OURS;
	if (UNLIKELY(why != 0)) {
		dpdk_drop(d, m, (enum reason_id)why);
		return;
	}
	if (UNLIKELY(ip.is_fragment)) {
		dpdk_count(d, LABEL_PROTOCOL_FRAGMENT, LABEL_DIR_RX);
		m = dpdk_frag_add(d, &ip, at, m);
		if (m != NULL)
			dispatch(d, dpdk_iface(d, iface)->port, m);
		return;
	}
	input_ip(d, iface, &ip, m);
}

void dpdk_rx_frame(struct dpdk *d, uint8_t port, struct rte_mbuf *take_m)
{
	struct rte_mbuf *m = take_m;
	struct eth_head eth;
	if (UNLIKELY(m->nb_segs != 1) && rte_pktmbuf_linearize(m) != 0) {
		dpdk_drop(d, m, REASON_FRAME);
		return;
	}
	struct span frame = {rte_pktmbuf_mtod(m, uint8_t *), rte_pktmbuf_data_len(m)};
	if (UNLIKELY(!eth_parse(&eth, frame))) {
		dpdk_drop(d, m, REASON_FRAME);
		return;
	}
	if (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED)
		eth.vlan = m->vlan_tci & VLAN_MASK;
	uint8_t iface = route_find_iface(&d->node->routes, port, eth.vlan);
	if (UNLIKELY(iface == ROUTE_NONE) ||
		(!eth_is_group(eth.to) &&
			memcmp(eth.to, dpdk_iface(d, iface)->mac, WIRE_MAC_BYTES) != 0)) {
		dpdk_drop(d, m, REASON_NOT_OURS);
		return;
	}
	if (LIKELY(eth.type == ETH_TYPE_IP4 || eth.type == ETH_TYPE_IP6)) {
		receive_ip(d, iface, eth.type, eth.len, m);
		return;
	}
	int why = REASON_FRAME;
	if (eth.type == ETH_TYPE_ARP && d->node->lcores > 1 && !d->is_copy)
		dpdk_spread_copy(d, port, m);
	if (eth.type == ETH_TYPE_ARP)
		why = dpdk_link_arp(
			d, iface, (struct span){frame.data + eth.len, frame.len - eth.len});
	if (why != 0)
		tally_inc(d->tally, TALLY_DROPS + (unsigned)why);
	rte_pktmbuf_free(m);
}

/* To the lcore whose flow it is. */
static void dispatch(struct dpdk *d, uint8_t port, struct rte_mbuf *take_m)
{
	unsigned owner = d->node->lcores > 1 ? dpdk_spread_owner(d, port, take_m) : d->index;
	if (owner == d->index)
		dpdk_rx_frame(d, port, take_m);
	else
		dpdk_spread_give(d, owner, port, take_m);
}

static unsigned poll_port(struct dpdk *d, uint8_t port)
{
	struct rte_mbuf *pkts[LIMIT_NET_BURST];
	const struct port *p = &d->node->ports[port];
	if (d->index >= p->rx_queues)
		return 0;
	unsigned count = rte_eth_rx_burst(p->id, (uint16_t)d->index, pkts, LIMIT_NET_BURST);
	if (count == 0)
		return 0;
	if (UNLIKELY(d->tap.is_on))
		dpdk_capture_burst(d, port, pkts, count);
	uint64_t bytes = 0;
	for (unsigned i = 0; i < count && i < PREFETCH; i++)
		__builtin_prefetch(rte_pktmbuf_mtod(pkts[i], void *));
	for (unsigned i = 0; i < count; i++) {
		if (i + PREFETCH < count)
			__builtin_prefetch(rte_pktmbuf_mtod(pkts[i + PREFETCH], void *));
		bytes += pkts[i]->pkt_len;
		if (LIKELY(p->has_rss))
			dpdk_rx_frame(d, port, pkts[i]);
		else
			dispatch(d, port, pkts[i]);
	}
	tally_add(d->tally, TALLY_PACKETS + LABEL_DIR_RX, count);
	tally_add(d->tally, TALLY_BYTES + LABEL_DIR_RX, bytes);
	return count;
}

unsigned dpdk_rx_poll(struct dpdk *d)
{
	unsigned count = 0;
	for (uint8_t i = 0; i < d->node->port_count; i++) {
		if (d->is_in[i])
			count += poll_port(d, i);
	}
	if (d->node->lcores > 1)
		count += dpdk_spread_poll(d);
	return count;
}
