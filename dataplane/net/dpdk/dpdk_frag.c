#include "dataplane/net/dpdk/dpdk_frag.h"

#include <errno.h>

#include <rte_cycles.h>
#include <rte_ip.h>
#include <rte_ip_frag.h>

#include "dataplane/net/dpdk/tcp_wire.h"

enum { BUCKET = 4, DROP_PREFETCH = 0 };

int dpdk_frag_init(struct dpdk *d)
{
	uint64_t cycles = rte_get_tsc_hz() / 1000 * LIMIT_FRAG_MS;
	d->fragments = rte_ip_frag_table_create(
		LIMIT_FRAG_FLOWS / BUCKET, BUCKET, LIMIT_FRAG_FLOWS, cycles, (int)rte_socket_id());
	return d->fragments != NULL ? 0 : -ENOMEM;
}

void dpdk_frag_fini(struct dpdk *d)
{
	if (d->fragments != NULL)
		rte_ip_frag_table_destroy(d->fragments);
	d->fragments = NULL;
}

/* rte_ip_frag counts lengths in l2_len, l3_len and wants the packet at the start of its data. */
static struct rte_mbuf *reassemble(struct dpdk *d, struct rte_ip_frag_death_row *dead,
	const struct ip_in *ip, struct rte_mbuf *m)
{
	uint64_t now = rte_rdtsc();
	m->l2_len = 0;
	if (!ip->is_v6) {
		struct rte_ipv4_hdr *head = rte_pktmbuf_mtod(m, struct rte_ipv4_hdr *);
		m->l3_len = (uint64_t)(ip->payload.data - ip->packet.data);
		return rte_ipv4_frag_reassemble_packet(d->fragments, dead, m, now, head);
	}
	struct rte_ipv6_hdr *head = rte_pktmbuf_mtod(m, struct rte_ipv6_hdr *);
	struct rte_ipv6_fragment_ext *ext =
		rte_pktmbuf_mtod_offset(m, struct rte_ipv6_fragment_ext *, ip->fragment_at);
	m->l3_len = ip->fragment_at + sizeof(*ext);
	return rte_ipv6_frag_reassemble_packet(d->fragments, dead, m, now, head, ext);
}

/* The pieces in one buffer, which is what the layers above read. */
static struct rte_mbuf *flatten(struct dpdk *d, struct span frame_header, struct rte_mbuf *take_m)
{
	struct rte_mbuf *whole = rte_pktmbuf_alloc(d->wholes);
	uint32_t len = (uint32_t)frame_header.len + take_m->pkt_len;
	uint8_t *out = NULL;
	if (whole != NULL && len <= LIMIT_FRAG_BYTES)
		out = (uint8_t *)rte_pktmbuf_append(whole, (uint16_t)len);
	if (out == NULL) {
		rte_pktmbuf_free(whole);
		dpdk_drop(d, take_m, REASON_FRAGMENT);
		return NULL;
	}
	memcpy(out, frame_header.data, frame_header.len);
	out += frame_header.len;
	for (const struct rte_mbuf *m = take_m; m != NULL; m = m->next) {
		memcpy(out, rte_pktmbuf_mtod(m, void *), m->data_len);
		out += m->data_len;
	}
	rte_pktmbuf_free(take_m);
	return whole;
}

/* rte_ip_frag leaves the header's checksum to a port. */
static void mend_header(struct rte_mbuf *m, unsigned at, bool is_v6)
{
	uint8_t *p = rte_pktmbuf_mtod_offset(m, uint8_t *, at);
	if (is_v6)
		return;
	wire_put16(p + 10, 0);
	wire_put16(p + 10, tcp_wire_fold(tcp_wire_sum(0, (struct span){p, (p[0] & 0xfu) * 4})));
}

struct rte_mbuf *dpdk_frag_add(
	struct dpdk *d, const struct ip_in *ip, unsigned at, struct rte_mbuf *take_m)
{
	struct rte_ip_frag_death_row dead = {.cnt = 0};
	struct rte_mbuf *m = take_m;
	uint8_t header[ETH_HEADER_MAX];
	memcpy(header, rte_pktmbuf_mtod(m, uint8_t *), at);
	rte_pktmbuf_adj(m, (uint16_t)at);
	/* Ethernet's padding must not become payload. */
	rte_pktmbuf_trim(m, (uint16_t)(rte_pktmbuf_data_len(m) - ip->packet.len));
	/* Extension headers before the fragment header would stand between; nobody sends them. */
	bool is_odd = ip->is_v6 && ip->fragment_at != IP6_HEADER;
	if (is_odd) {
		dpdk_drop(d, m, REASON_FRAGMENT);
		return NULL;
	}
	m = reassemble(d, &dead, ip, m);
	tally_add(d->tally, TALLY_DROPS + REASON_FRAGMENT, dead.cnt);
	rte_ip_frag_free_death_row(&dead, DROP_PREFETCH);
	if (m == NULL)
		return NULL;
	bool is_v6 = ip->is_v6;
	m = flatten(d, (struct span){header, at}, m);
	if (m != NULL)
		mend_header(m, at, is_v6);
	return m;
}
