#include "dataplane/net/dpdk/tcp_rto.h"

#include "tests/unit/unit.h"

static uint64_t rto_ms(const struct tcp_conn *c)
{
	return tcp_rto_ns(c) / NS_PER_MS;
}

/* RFC 6298 2: the first sample, the next ones, and the bounds. */
static void test_sample(void)
{
	struct tcp_conn c = {.backoff = 0};
	tcp_rto_init(&c);
	CU_ASSERT_EQUAL(rto_ms(&c), LIMIT_TCP_RTO_FIRST_MS);
	tcp_rto_sample(&c, 200000);
	CU_ASSERT_EQUAL(c.srtt_us, 200000);
	CU_ASSERT_EQUAL(c.rttvar_us, 100000);
	CU_ASSERT_EQUAL(rto_ms(&c), 600);
	tcp_rto_sample(&c, 280000);
	CU_ASSERT_EQUAL(c.rttvar_us, 95000);
	CU_ASSERT_EQUAL(c.srtt_us, 210000);
	CU_ASSERT_EQUAL(rto_ms(&c), 590);
	CU_ASSERT_EQUAL(c.min_rtt_us, 200000);
	for (unsigned i = 0; i < 100; i++)
		tcp_rto_sample(&c, 100);
	CU_ASSERT_EQUAL(rto_ms(&c), LIMIT_TCP_RTO_MIN_MS);
	for (unsigned i = 0; i < 100; i++)
		tcp_rto_sample(&c, UINT32_MAX);
	CU_ASSERT_EQUAL(rto_ms(&c), LIMIT_TCP_RTO_MAX_MS);
}

/* RFC 6298 5.5: doubles, up to the ceiling; 5.7: a sample ends it. */
static void test_backoff(void)
{
	struct tcp_conn c = {.backoff = 0};
	tcp_rto_init(&c);
	tcp_rto_sample(&c, 100000);
	uint64_t expect = rto_ms(&c);
	CU_ASSERT_EQUAL(expect, 300);
	for (unsigned i = 0; i < 300; i++) {
		tcp_rto_back_off(&c);
		expect = 2 * expect < LIMIT_TCP_RTO_MAX_MS ? 2 * expect : LIMIT_TCP_RTO_MAX_MS;
		CU_ASSERT_EQUAL(rto_ms(&c), expect);
	}
	tcp_rto_sample(&c, 100000);
	CU_ASSERT_EQUAL(c.backoff, 0);
}

static const struct unit_case cases[] = {
	{"sample", test_sample},
	{"backoff", test_backoff},
};

UNIT_MAIN("net.dpdk.tcp_rto", cases)
