#include "dataplane/net/dpdk/dpdk_capture.h"

#include "lib/clock/clock.h"

/* The pieces of a packet in one. Returns how much of it there is. */
static uint32_t copy_packet(uint8_t *out, uint32_t room, const struct rte_mbuf *m)
{
	uint32_t len = 0;
	for (; m != NULL && len < room; m = m->next) {
		uint32_t piece = m->data_len < room - len ? m->data_len : room - len;
		memcpy(out + len, rte_pktmbuf_mtod(m, const void *), piece);
		len += piece;
	}
	return len;
}

static void capture(struct dpdk *d, unsigned port, enum capture_dir dir, const struct rte_mbuf *m,
	uint64_t wall_ns)
{
	/* The first piece has all headers: that is how packets are built, and how ports deliver them. */
	struct span head = {rte_pktmbuf_mtod(m, const uint8_t *), m->data_len};
	bool is_full;
	struct capture_record *r = capture_tap_begin(&d->tap, port, dir, head, &is_full);
	if (r == NULL) {
		if (is_full)
			tally_inc(d->tally, TALLY_QUEUE_DROPPED + QUEUE_CAPTURE);
		return;
	}
	r->time_ns = wall_ns;
	r->len = m->pkt_len;
	r->kept = copy_packet(r->data, sizeof(r->data), m);
	capture_tap_end(&d->tap);
}

void dpdk_capture_burst(
	struct dpdk *d, unsigned port, struct rte_mbuf *const *lend_pkts, unsigned count)
{
	uint64_t wall_ns = clock_wall_ns();
	for (unsigned i = 0; i < count; i++)
		capture(d, port, CAPTURE_IN, lend_pkts[i], wall_ns);
}

void dpdk_capture_sent(struct dpdk *d, unsigned port, const struct rte_mbuf *lend_m)
{
	capture(d, port, CAPTURE_OUT, lend_m, clock_wall_ns());
}
