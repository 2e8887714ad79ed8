#include "dataplane/net/dpdk/tcp_isn.h"

#include "tests/unit/dataplane/net/dpdk/tcp_rig.h"

/* RFC 6528: for one 4-tuple the numbers grow with a clock of 4 us; for another they lie elsewhere. */
static void test_isn(void)
{
	struct rig *r = rig_new(NULL);
	struct tcp_key other = r->key;
	other.remote_port++;
	uint32_t first = tcp_isn_first(&r->tcp, &r->key);
	CU_ASSERT_NOT_EQUAL(first, tcp_isn_first(&r->tcp, &other));
	tcp_begin(&r->tcp, r->now_ns + NS_PER_S);
	CU_ASSERT_EQUAL(tcp_isn_first(&r->tcp, &r->key) - first, 250000);
	CU_ASSERT_EQUAL(tcp_isn_ts_offset(&r->tcp, &r->key), tcp_isn_ts_offset(&r->tcp, &other));
	rig_free(r);
}

static void test_cookie(void)
{
	static const uint16_t mss[][2] = {{100, 128}, {128, 128}, {535, 128}, {536, 536},
		{1459, 1440}, {1460, 1460}, {8959, 1460}, {8960, 8960}, {65535, 8960}};
	struct rig *r = rig_new(NULL);
	struct tcp *t = &r->tcp;
	for (unsigned i = 0; i < ARRAY_LEN(mss); i++) {
		uint32_t cookie = tcp_isn_cookie(t, &r->key, 1000, mss[i][0]);
		CU_ASSERT_EQUAL(tcp_isn_cookie_mss(t, &r->key, 1000, cookie), mss[i][1]);
		CU_ASSERT_EQUAL(tcp_isn_cookie_mss(t, &r->key, 1001, cookie), 0);
		for (unsigned bit = 0; bit < 32; bit++)
			CU_ASSERT_EQUAL(
				tcp_isn_cookie_mss(t, &r->key, 1000, cookie ^ 1u << bit), 0);
	}
	struct tcp_key other = r->key;
	other.remote_port++;
	uint32_t cookie = tcp_isn_cookie(t, &r->key, 1, 1460);
	CU_ASSERT_EQUAL(tcp_isn_cookie_mss(t, &other, 1, cookie), 0);
	rig_free(r);
}

/* Good in its own turn and the next, no longer. */
static void test_cookie_age(void)
{
	struct rig *r = rig_new(NULL);
	struct tcp *t = &r->tcp;
	uint64_t turn_ns = TCP_ISN_TURN_S * NS_PER_S;
	uint64_t start_ns = (r->now_ns / turn_ns + 1) * turn_ns;
	tcp_begin(t, start_ns);
	uint32_t cookie = tcp_isn_cookie(t, &r->key, 1, 1460);
	tcp_begin(t, start_ns + 2 * turn_ns - 1);
	CU_ASSERT_EQUAL(tcp_isn_cookie_mss(t, &r->key, 1, cookie), 1460);
	tcp_begin(t, start_ns + 2 * turn_ns);
	CU_ASSERT_EQUAL(tcp_isn_cookie_mss(t, &r->key, 1, cookie), 0);
	rig_free(r);
}

static void test_cookie_ts(void)
{
	for (uint32_t now = 0; now < 200; now++) {
		for (uint8_t scale = 0; scale <= TCP_OPT_SCALE_MAX; scale++) {
			struct tcp_opt syn = {.flags = TCP_OPT_TS | TCP_OPT_SCALE | TCP_OPT_SACK_OK,
				.scale = scale};
			struct tcp_opt out = {0};
			uint32_t ts = tcp_isn_cookie_ts(now, &syn);
			CU_ASSERT_TRUE(tcp_seq_le(ts, now));
			tcp_isn_cookie_opt(ts, &out);
			CU_ASSERT_TRUE(out.flags == syn.flags && out.scale == scale);
		}
	}
	struct tcp_opt bare = {.flags = TCP_OPT_TS}, out = {0};
	tcp_isn_cookie_opt(tcp_isn_cookie_ts(77, &bare), &out);
	CU_ASSERT_EQUAL(out.flags, TCP_OPT_TS);
}

static const struct unit_case cases[] = {
	{"isn", test_isn},
	{"cookie", test_cookie},
	{"cookie_age", test_cookie_age},
	{"cookie_ts", test_cookie_ts},
};

UNIT_MAIN("net.dpdk.tcp_isn", cases)
