#include "dataplane/net/dpdk/dpdk_tx.h"

#include <rte_ethdev.h>

#include "dataplane/net/dpdk/dpdk_capture.h"
#include "dataplane/net/dpdk/tcp_wire.h"
#include "dataplane/net/dpdk/udp.h"

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
	       memcmp(dst->ip, to, WIRE_IP_BYTES) == 0 &&
	       memcmp(dst->from, from, WIRE_IP_BYTES) == 0;
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

static void on_shell_free(void *addr, void *opaque)
{
	(void)addr;
	struct dpdk_shell *shell = opaque;
	tcp_buf_drop(shell->tcp, shell->buf);
}

/* Headers and copied payload of one packet: `room` bytes behind the frame's header. NULL: no buffer. */
static struct rte_mbuf *new_head(
	struct dpdk *d, const struct dpdk_dst *dst, unsigned room, uint8_t **out)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(d->pool);
	if (UNLIKELY(m == NULL)) {
		tally_inc(d->tally, TALLY_DROPS + REASON_NO_BUFFER);
		return NULL;
	}
	uint8_t *p = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(dst->header_len + room));
	if (UNLIKELY(p == NULL)) {
		dpdk_drop(d, m, REASON_NO_BUFFER);
		return NULL;
	}
	memcpy(p, dst->header, dst->header_len);
	*out = p + dst->header_len;
	return m;
}

/* Hangs the pieces behind the head without copying them. False: no buffer. */
static bool chain_pieces(struct dpdk *d, struct rte_mbuf *head, const struct tcp_seg *seg)
{
	struct rte_mbuf *last = head;
	for (unsigned i = 0; i < seg->piece_count; i++) {
		const struct tcp_piece *piece = &seg->pieces[i];
		struct rte_mbuf *m = rte_pktmbuf_alloc(d->shells);
		if (UNLIKELY(m == NULL))
			return false;
		struct dpdk_shell *shell = rte_mbuf_to_priv(m);
		*shell = (struct dpdk_shell){.tcp = &d->tcp, .buf = piece->buf};
		shell->shared.free_cb = on_shell_free;
		shell->shared.fcb_opaque = shell;
		shell->shared.refcnt = 1;
		tcp_buf_hold(piece->buf);
		void *data = (void *)(uintptr_t)piece->data;
		rte_pktmbuf_attach_extbuf(
			m, data, (rte_iova_t)(uintptr_t)data, (uint16_t)piece->len, &shell->shared);
		m->data_off = 0;
		m->data_len = (uint16_t)piece->len;
		last->next = m;
		last = m;
		head->nb_segs++;
		head->pkt_len += piece->len;
	}
	return true;
}

static void copy_pieces(const struct tcp_seg *seg, uint8_t *out)
{
	for (unsigned i = 0; i < seg->piece_count; i++) {
		memcpy(out, seg->pieces[i].data, seg->pieces[i].len);
		out += seg->pieces[i].len;
	}
}

static void ask_for_sums(struct rte_mbuf *m, const struct port *port, bool is_v4, unsigned l2,
	unsigned l3, unsigned l4, uint64_t l4_flag)
{
	m->l2_len = l2;
	m->l3_len = l3;
	/* Hardware finds the end of the header by itself; software drivers want to be told. */
	m->l4_len = l4;
	m->ol_flags |= is_v4 ? RTE_MBUF_F_TX_IPV4 : RTE_MBUF_F_TX_IPV6;
	if (is_v4 && port->tx_sums_ip)
		m->ol_flags |= RTE_MBUF_F_TX_IP_CKSUM;
	m->ol_flags |= l4_flag;
}

/* The IP header. A port that sums wants a zero there. */
static unsigned write_ip(
	struct dpdk *d, const struct port *port, const struct ip_out *ip, uint8_t *out)
{
	unsigned len = ip_write(ip, out);
	d->ip_id++;
	if (port->tx_sums_ip && len == IP4_HEADER)
		wire_put16(out + 10, 0);
	return len;
}

void dpdk_tx_segment(void *ctx, const struct tcp_seg *seg)
{
	struct dpdk *d = ctx;
	struct dpdk_dst *dst;
	struct route_hop hop;
	enum way way = find_way(d, seg->key->local_ip, seg->key->remote_ip, &dst, &hop);
	if (UNLIKELY(way == WAY_NONE)) {
		tally_inc(d->tally, TALLY_DROPS + REASON_ROUTE);
		return;
	}
	const struct port *port = &d->node->ports[dst->port];
	bool is_v4 = wire_is_v4(seg->key->remote_ip);
	unsigned ip_len = is_v4 ? IP4_HEADER : IP6_HEADER;
	unsigned tcp_len = TCP_WIRE_HEADER + seg->opts_len;
	bool is_copied =
		seg->len <= DPDK_TX_COPY_MAX || !port->takes_chains || port->keeps_pointers;
	uint8_t *p;
	struct rte_mbuf *m = new_head(d, dst, ip_len + tcp_len + (is_copied ? seg->len : 0), &p);
	if (UNLIKELY(m == NULL))
		return;
	struct ip_out ip = {.from = seg->key->local_ip,
		.to = seg->key->remote_ip,
		.protocol = IP_PROTO_TCP,
		.ttl = IP_HOPS,
		.id = d->ip_id,
		.len = tcp_len + seg->len};
	p += write_ip(d, port, &ip, p);
	tcp_wire_header(seg, p);
	uint16_t sum;
	if (port->tx_sums_l4) {
		sum = (uint16_t)~tcp_wire_fold(
			tcp_wire_pseudo(ip.from, ip.to, IP_PROTO_TCP, ip.len));
		ask_for_sums(
			m, port, is_v4, dst->header_len, ip_len, tcp_len, RTE_MBUF_F_TX_TCP_CKSUM);
	} else {
		sum = tcp_wire_checksum(seg, (struct span){p, tcp_len});
	}
	wire_put16(p + 16, sum);
	if (is_copied) {
		copy_pieces(seg, p + tcp_len);
	} else if (UNLIKELY(!chain_pieces(d, m, seg))) {
		dpdk_drop(d, m, REASON_NO_BUFFER);
		return;
	}
	send_by(d, way, dst, &hop, m);
}

/* Sends what `ip` says, its payload in two pieces. */
static bool send_packet(struct dpdk *d, const struct ip_out *ip, struct span head, struct span data)
{
	struct dpdk_dst *dst;
	struct route_hop hop;
	bool is_v4 = wire_is_v4(ip->to), is_udp = ip->protocol == IP_PROTO_UDP;
	enum way way = find_way(d, ip->from, ip->to, &dst, &hop);
	if (way == WAY_NONE) {
		tally_inc(d->tally, TALLY_DROPS + REASON_ROUTE);
		return false;
	}
	const struct port *port = &d->node->ports[dst->port];
	uint8_t header[IP_HEADER_MAX], *p;
	unsigned ip_len = write_ip(d, port, ip, header);
	struct rte_mbuf *m = new_head(d, dst, ip_len + ip->len, &p);
	if (m == NULL)
		return false;
	memcpy(p, header, ip_len);
	memcpy(p + ip_len, head.data, head.len);
	if (data.len != 0)
		memcpy(p + ip_len + head.len, data.data, data.len);
	if (port->tx_sums_ip || (is_udp && port->tx_sums_l4))
		ask_for_sums(m, port, is_v4, dst->header_len, ip_len, is_udp ? UDP_HEADER : 0,
			is_udp && port->tx_sums_l4 ? RTE_MBUF_F_TX_UDP_CKSUM : 0);
	dpdk_count(d, is_udp ? LABEL_PROTOCOL_UDP : LABEL_PROTOCOL_ICMP, LABEL_DIR_TX);
	send_by(d, way, dst, &hop, m);
	return true;
}

/* A payload above the MTU: the answer to an echo of many fragments (RFC 1122 3.2.2.6 wants all of it back). */
static bool send_fragments(struct dpdk *d, struct ip_out *ip, struct span payload)
{
	unsigned headers = wire_is_v4(ip->to) ? IP4_HEADER : IP6_HEADER + IP6_FRAGMENT;
	size_t room = (d->node->mtu - headers) / 8 * 8;
	ip->is_fragment = true;
	for (size_t at = 0; at < payload.len; at += room) {
		ip->has_more = payload.len - at > room;
		ip->fragment_at = (uint16_t)at;
		ip->len = (uint32_t)(ip->has_more ? room : payload.len - at);
		if (!send_packet(d, ip, (struct span){payload.data + at, ip->len},
			    (struct span){NULL, 0}))
			return false;
	}
	return true;
}

bool dpdk_tx_packet(struct dpdk *d, const uint8_t from[WIRE_IP_BYTES],
	const uint8_t to[WIRE_IP_BYTES], uint8_t protocol, struct span head, struct span data)
{
	size_t len = head.len + data.len;
	struct ip_out ip = {.from = from,
		.to = to,
		.protocol = protocol,
		.ttl = IP_HOPS,
		.id = d->ip_id,
		.len = (uint32_t)len};
	if (len + (wire_is_v4(to) ? IP4_HEADER : IP6_HEADER) <= d->node->mtu)
		return send_packet(d, &ip, head, data);
	return protocol != IP_PROTO_UDP && data.len == 0 && send_fragments(d, &ip, head);
}

void dpdk_tx_frame(struct dpdk *d, uint8_t iface, const uint8_t to[WIRE_MAC_BYTES], uint16_t type,
	struct span head, struct span data)
{
	struct dpdk_dst dst = {.iface = iface, .port = dpdk_iface(d, iface)->port};
	dst.header_len = (uint8_t)write_eth(d, iface, to, type, dst.header);
	uint8_t *p;
	struct rte_mbuf *m = new_head(d, &dst, (unsigned)(head.len + data.len), &p);
	if (m == NULL)
		return;
	memcpy(p, head.data, head.len);
	if (data.len != 0)
		memcpy(p + head.len, data.data, data.len);
	push(d, dst.port, m);
}

static void flush_port(struct dpdk *d, unsigned port)
{
	struct dpdk_tx *tx = &d->tx[port];
	struct port *p = &d->node->ports[port];
	uint16_t queue = (uint16_t)(d->index % p->tx_queues);
	bool is_shared = p->tx_queues < d->node->lcores;
	if (is_shared && rte_spinlock_trylock(&p->tx_locks[queue]) == 0)
		return;
	uint16_t sent = rte_eth_tx_burst(p->id, queue, tx->pkts, (uint16_t)tx->count);
	if (is_shared)
		rte_spinlock_unlock(&p->tx_locks[queue]);
	tally_add(d->tally, TALLY_PACKETS + LABEL_DIR_TX, sent);
	tx->count -= sent;
	if (UNLIKELY(tx->count != 0) && sent != 0)
		memmove(tx->pkts, tx->pkts + sent, sizeof(tx->pkts[0]) * tx->count);
}

static void push(struct dpdk *d, unsigned port, struct rte_mbuf *take_m)
{
	struct dpdk_tx *tx = &d->tx[port];
	if (UNLIKELY(!d->is_in[port])) {
		dpdk_drop(d, take_m, REASON_PORT_DOWN);
		return;
	}
	tally_add(d->tally, TALLY_BYTES + LABEL_DIR_TX, take_m->pkt_len);
	if (UNLIKELY(tx->count == DPDK_TX_WAITING)) {
		dpdk_drop(d, take_m, REASON_TX_FULL);
		return;
	}
	if (UNLIKELY(d->tap.is_on))
		dpdk_capture_sent(d, port, take_m);
	tx->pkts[tx->count++] = take_m;
	if (tx->count % LIMIT_NET_BURST == 0)
		flush_port(d, port);
}

void dpdk_tx_flush(struct dpdk *d)
{
	for (unsigned i = 0; i < d->node->port_count; i++) {
		if (d->tx[i].count != 0 && d->is_in[i])
			flush_port(d, i);
	}
}

void dpdk_tx_abandon(struct dpdk *d, unsigned port)
{
	struct dpdk_tx *tx = &d->tx[port];
	for (unsigned i = 0; i < tx->count; i++)
		dpdk_drop(d, tx->pkts[i], REASON_PORT_DOWN);
	tx->count = 0;
}
