#include "dataplane/net/dpdk/neigh.h"

#include "lib/clock/clock.h"
#include "tests/unit/unit.h"

struct rig {
	struct neigh n;
	unsigned asked, probed, sent, dropped;
	void *last_sent, *first_dropped;
	uint64_t now_ns;
};

static const uint8_t mac_a[WIRE_MAC_BYTES] = {2, 0, 0, 0, 0, 0xa},
		     mac_b[WIRE_MAC_BYTES] = {2, 0, 0, 0, 0, 0xb};

static void on_ask(void *ctx, uint8_t iface, const uint8_t ip[WIRE_IP_BYTES], const uint8_t *mac)
{
	struct rig *r = ctx;
	(void)iface;
	(void)ip;
	r->asked++;
	r->probed += mac != NULL;
}

static void on_send(void *ctx, void *take_pkt, uint8_t iface, const uint8_t mac[WIRE_MAC_BYTES])
{
	struct rig *r = ctx;
	(void)iface;
	(void)mac;
	r->sent++;
	r->last_sent = take_pkt;
}

static void on_drop(void *ctx, void *take_pkt)
{
	struct rig *r = ctx;
	if (r->dropped++ == 0)
		r->first_dropped = take_pkt;
}

static const struct neigh_ops ops = {on_ask, on_send, on_drop};

static void set_up(struct rig *r, uint32_t capacity)
{
	*r = (struct rig){.now_ns = NS_PER_S};
	CU_ASSERT_EQUAL_FATAL(neigh_init(&r->n, capacity, &ops, r, 12345), 0);
}

static const uint8_t *ip(unsigned i)
{
	static uint8_t kept[WIRE_IP_BYTES];
	const uint8_t v4[4] = {10, 0, (uint8_t)(i >> 8), (uint8_t)i};
	wire_map_v4(kept, v4);
	return kept;
}

static const struct neigh_entry *resolve(struct rig *r, unsigned i)
{
	return neigh_resolve(&r->n, 0, ip(i), r->now_ns);
}

static void pass(struct rig *r, unsigned ms)
{
	for (unsigned t = 0; t < ms; t += LIMIT_NEIGH_TICK_MS) {
		r->now_ns += LIMIT_NEIGH_TICK_MS * NS_PER_MS;
		neigh_advance(&r->n, r->now_ns);
	}
}

/* One question whatever the number of packets; the answer lets them go, in order, the newest few of them. */
static void test_pending(void)
{
	struct rig r;
	int packets[LIMIT_NEIGH_PENDING + 1];
	set_up(&r, 16);
	for (unsigned i = 0; i < LIMIT_NEIGH_PENDING; i++) {
		CU_ASSERT_PTR_NULL(resolve(&r, 1));
		neigh_park(&r.n, 0, ip(1), &packets[i]);
	}
	CU_ASSERT_EQUAL(r.asked, 1);
	CU_ASSERT_EQUAL(r.dropped, 0);
	neigh_park(&r.n, 0, ip(1), &packets[LIMIT_NEIGH_PENDING]);
	CU_ASSERT_EQUAL(r.dropped, 1);
	CU_ASSERT_PTR_EQUAL(r.first_dropped, &packets[0]);
	neigh_learn(&r.n, 0, ip(1), mac_a, NEIGH_ANSWERED, false, r.now_ns);
	CU_ASSERT_EQUAL(r.sent, LIMIT_NEIGH_PENDING);
	CU_ASSERT_PTR_EQUAL(r.last_sent, &packets[LIMIT_NEIGH_PENDING]);
	const struct neigh_entry *e = resolve(&r, 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(e);
	CU_ASSERT_EQUAL(memcmp(e->mac, mac_a, WIRE_MAC_BYTES), 0);
	neigh_fini(&r.n);
}

/* Three questions a second apart, then what waits is dropped and for a second nobody is asked. */
static void test_nobody_answers(void)
{
	struct rig r;
	int packet;
	set_up(&r, 16);
	CU_ASSERT_PTR_NULL(resolve(&r, 1));
	neigh_park(&r.n, 0, ip(1), &packet);
	pass(&r, 2900);
	CU_ASSERT_EQUAL(r.asked, 3);
	CU_ASSERT_EQUAL(r.dropped, 0);
	pass(&r, 200);
	CU_ASSERT_EQUAL(r.dropped, 1);
	CU_ASSERT_PTR_NULL(resolve(&r, 1));
	neigh_park(&r.n, 0, ip(1), &packet);
	CU_ASSERT_EQUAL(r.dropped, 2);
	CU_ASSERT_EQUAL(r.asked, 3);
	pass(&r, 1100);
	CU_ASSERT_PTR_NULL(resolve(&r, 1));
	CU_ASSERT_EQUAL(r.asked, 4);
	neigh_fini(&r.n);
}

/* Fresh, then used while stale, then probed where it was, then forgotten. */
static void test_ageing(void)
{
	struct rig r;
	set_up(&r, 16);
	neigh_learn(&r.n, 0, ip(1), mac_a, NEIGH_ANSWERED, true, r.now_ns);
	pass(&r, 29900);
	CU_ASSERT_PTR_NOT_NULL(resolve(&r, 1));
	pass(&r, 200);
	CU_ASSERT_PTR_NOT_NULL(resolve(&r, 1));
	CU_ASSERT_EQUAL(r.asked, 0);
	uint32_t epoch = r.n.epoch;
	pass(&r, 5100);
	CU_ASSERT_EQUAL(r.probed, 1);
	CU_ASSERT_PTR_NOT_NULL(resolve(&r, 1));
	pass(&r, 3100);
	CU_ASSERT_EQUAL(r.probed, 3);
	CU_ASSERT_NOT_EQUAL(r.n.epoch, epoch);
	CU_ASSERT_PTR_NULL(resolve(&r, 1));
	neigh_fini(&r.n);
}

static void test_probe_is_answered(void)
{
	struct rig r;
	set_up(&r, 16);
	neigh_learn(&r.n, 0, ip(1), mac_a, NEIGH_HEARD, true, r.now_ns);
	pass(&r, 5100);
	CU_ASSERT_PTR_NOT_NULL(resolve(&r, 1));
	pass(&r, 5100);
	CU_ASSERT_EQUAL(r.probed, 1);
	uint32_t epoch = r.n.epoch;
	neigh_learn(&r.n, 0, ip(1), mac_a, NEIGH_ANSWERED, false, r.now_ns);
	pass(&r, 29000);
	CU_ASSERT_EQUAL(r.probed, 1);
	CU_ASSERT_EQUAL(r.n.epoch, epoch);
	neigh_fini(&r.n);
}

/* Who moves is found at once; who was never asked for is entered only when he talks to us. */
static void test_moves(void)
{
	struct rig r;
	set_up(&r, 16);
	neigh_learn(&r.n, 0, ip(1), mac_a, NEIGH_HEARD, false, r.now_ns);
	CU_ASSERT_EQUAL(r.n.entries.in_use, 0);
	neigh_learn(&r.n, 0, ip(1), mac_a, NEIGH_ANSWERED, true, r.now_ns);
	uint32_t epoch = r.n.epoch;
	neigh_learn(&r.n, 0, ip(1), mac_b, NEIGH_HEARD, false, r.now_ns);
	CU_ASSERT_NOT_EQUAL(r.n.epoch, epoch);
	const struct neigh_entry *e = resolve(&r, 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(e);
	CU_ASSERT_EQUAL(memcmp(e->mac, mac_b, WIRE_MAC_BYTES), 0);
	/* the same address on another link is somebody else */
	CU_ASSERT_PTR_NULL(neigh_resolve(&r.n, 1, ip(1), r.now_ns));
	neigh_fini(&r.n);
}

/* At capacity the one unused for longest goes; those being asked for stay. */
static void test_full(void)
{
	struct rig r;
	set_up(&r, 4);
	for (unsigned i = 0; i < 4; i++)
		neigh_learn(&r.n, 0, ip(i), mac_a, NEIGH_ANSWERED, true, r.now_ns);
	CU_ASSERT_PTR_NOT_NULL(resolve(&r, 0));
	neigh_learn(&r.n, 0, ip(4), mac_a, NEIGH_ANSWERED, true, r.now_ns);
	CU_ASSERT_EQUAL(r.n.entries.in_use, 4);
	CU_ASSERT_PTR_NOT_NULL(resolve(&r, 0));
	CU_ASSERT_PTR_NOT_NULL(resolve(&r, 4));
	for (unsigned i = 10; i < 14; i++)
		CU_ASSERT_PTR_NULL(resolve(&r, i));
	unsigned asked = r.asked;
	CU_ASSERT_EQUAL(asked, 4);
	CU_ASSERT_PTR_NULL(resolve(&r, 20));
	CU_ASSERT_EQUAL(r.asked, asked);
	int packet;
	neigh_park(&r.n, 0, ip(20), &packet);
	CU_ASSERT_EQUAL(r.dropped, 1);
	neigh_fini(&r.n);
}

static const struct unit_case cases[] = {
	{"pending", test_pending},
	{"nobody_answers", test_nobody_answers},
	{"ageing", test_ageing},
	{"probe_is_answered", test_probe_is_answered},
	{"moves", test_moves},
	{"full", test_full},
};

UNIT_MAIN("dataplane/net/dpdk/neigh", cases)
