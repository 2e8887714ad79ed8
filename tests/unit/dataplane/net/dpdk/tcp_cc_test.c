#include "dataplane/net/dpdk/tcp_cc.h"

#include "tests/unit/unit.h"

enum { MSS = 1000 };

static struct tcp engine;

static void fresh(struct tcp_conn *c, enum tcp_cc_kind kind)
{
	engine = (struct tcp){.cc = tcp_cc_of(kind), .now_ns = 1000 * NS_PER_S};
	*c = (struct tcp_conn){.tcp = &engine, .mss = MSS, .srtt_us = 100000};
	tcp_cc_init(c);
}

/* One round trip: everything in the window is acknowledged, a segment at a time. */
static void round_trip(struct tcp_conn *c)
{
	uint32_t segments = c->cwnd / MSS;
	for (uint32_t i = 0; i < segments; i++) {
		engine.now_ns += 100 * NS_PER_MS / segments;
		engine.cc->on_ack(c, MSS);
	}
}

/* RFC 6928: ten segments, but not more than 14600 bytes when they are long. */
static void test_initial(void)
{
	static const uint32_t rows[][2] = {
		{536, 5360}, {1000, 10000}, {1460, 14600}, {1461, 14600}, {8960, 17920}};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct tcp_conn c = {.mss = (uint16_t)rows[i][0]};
		CU_ASSERT_EQUAL(tcp_cc_initial(&c), rows[i][1]);
	}
}

static void test_newreno(void)
{
	struct tcp_conn c;
	fresh(&c, TCP_CC_NEWRENO);
	CU_ASSERT_EQUAL(c.cwnd, 10 * MSS);
	round_trip(&c);
	CU_ASSERT_EQUAL(c.cwnd, 20 * MSS);
	c.snd_nxt = c.snd_una + 20 * MSS;
	c.ssthresh = engine.cc->on_loss(&c);
	CU_ASSERT_EQUAL(c.ssthresh, 10 * MSS);
	c.cwnd = c.ssthresh;
	round_trip(&c);
	CU_ASSERT_EQUAL(c.cwnd, 11 * MSS);
	/* never below two segments */
	c.cwnd = 2 * MSS;
	CU_ASSERT_EQUAL(engine.cc->on_loss(&c), 2 * MSS);
}

/* RFC 9438: 0.7 of the window is left; growth is flat near the old maximum and steep beyond it. */
static void test_cubic(void)
{
	struct tcp_conn c;
	fresh(&c, TCP_CC_CUBIC);
	c.cwnd = 100 * MSS;
	c.snd_nxt = c.snd_una + 100 * MSS;
	c.ssthresh = engine.cc->on_loss(&c);
	CU_ASSERT_TRUE(c.ssthresh >= 69 * MSS && c.ssthresh <= 70 * MSS);
	c.cwnd = c.ssthresh;
	/* K is the cube root of 30 / 0.4: 4.2 s, 42 round trips */
	unsigned trips = 0;
	uint32_t before_max = 0;
	while (c.cwnd < 99 * MSS && trips < 100) {
		before_max = c.cwnd;
		round_trip(&c);
		trips++;
	}
	CU_ASSERT_TRUE(trips >= 20 && trips <= 45);
	CU_ASSERT_TRUE(c.cwnd - before_max < 2 * MSS);
	while (trips++ < 80)
		round_trip(&c);
	CU_ASSERT_TRUE(c.cwnd > 115 * MSS);
	/* fast convergence: a smaller window than last time remembers even less */
	c.cwnd = 50 * MSS;
	c.cc_w_max = 100;
	engine.cc->on_loss(&c);
	CU_ASSERT_TRUE(c.cc_w_max > 42.0f && c.cc_w_max < 43.0f);
}

static const struct unit_case cases[] = {
	{"initial", test_initial},
	{"newreno", test_newreno},
	{"cubic", test_cubic},
};

UNIT_MAIN("net.dpdk.tcp_cc", cases)
