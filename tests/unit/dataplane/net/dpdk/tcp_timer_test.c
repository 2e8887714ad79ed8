/* The clock: delayed acknowledgements, closed windows, keep-alive, TIME_WAIT, FIN_WAIT_2. */
#include "dataplane/net/dpdk/tcp_timer.h"

#include <stdlib.h>

#include "tests/unit/dataplane/net/dpdk/tcp_rig.h"

static void slow_acks(struct rig *r)
{
	rig_to_state(r, TCP_ESTABLISHED);
	r->conn->quick_acks = 0;
}

/* RFC 9293 3.8.6.3: a lone segment waits, the second full one does not. */
static void test_delayed_ack(void)
{
	struct rig *r = rig_new(NULL);
	slow_acks(r);
	rig_in(r, TCP_ACK, 1, 1, 1460);
	CU_ASSERT_EQUAL(r->out_count, 0);
	rig_wait_ms(r, LIMIT_TCP_DELACK_MS - 1);
	CU_ASSERT_EQUAL(r->out_count, 0);
	rig_wait_ms(r, 2);
	CU_ASSERT_TRUE(rig_is(r, 0, TCP_ACK, 1, 1461, 0));
	CU_ASSERT_EQUAL(r->out_count, 1);
	rig_in(r, TCP_ACK, 1461, 1, 1460);
	rig_in(r, TCP_ACK, 2921, 1, 1460);
	CU_ASSERT_EQUAL(r->out_count, 2);
	CU_ASSERT_TRUE(rig_is(r, 1, TCP_ACK, 1, 4381, 0));
	rig_wait_ms(r, 1000);
	CU_ASSERT_EQUAL(r->out_count, 2);
	rig_free(r);
}

/* An answer carries the acknowledgement; none is left to send. */
static void test_piggyback(void)
{
	struct rig *r = rig_new(NULL);
	slow_acks(r);
	rig_in(r, TCP_ACK, 1, 1, 100);
	CU_ASSERT_TRUE(tcp_send_copy(r->conn, "answer", 6));
	rig_run(r);
	CU_ASSERT_TRUE(rig_is(r, 0, TCP_ACK, 1, 101, 6));
	rig_in(r, TCP_ACK, 101, 7, 0);
	rig_wait_ms(r, 1000);
	CU_ASSERT_EQUAL(r->out_count, 1);
	rig_free(r);
}

static void window(struct rig *r, uint32_t ack, uint32_t wnd)
{
	struct rig_seg *seg = calloc(1, sizeof(*seg));
	MUST(seg != NULL);
	*seg = (struct rig_seg){.flags = TCP_ACK, .seq = 1, .ack = ack, .wnd = wnd + 1};
	rig_in_seg(r, seg);
	free(seg);
}

/* RFC 9293 3.8.6.1: a closed window is probed, less and less often, as long as the peer answers. */
static void test_zero_window(void)
{
	struct rig *r = rig_new(NULL);
	rig_open(r, NULL);
	window(r, 1, 0);
	CU_ASSERT_TRUE(tcp_send_copy(r->conn, "0123456789", 10));
	rig_run(r);
	CU_ASSERT_EQUAL(r->out_count, 0);
	unsigned gap_ms = LIMIT_TCP_RTO_MIN_MS;
	for (unsigned i = 0; i < 12; i++) {
		rig_clear(r);
		rig_wait_ms(r, gap_ms + 2);
		CU_ASSERT_EQUAL(r->out_count, 1);
		CU_ASSERT_TRUE(rig_is(r, 0, TCP_ACK, 0, 1, 0));
		window(r, 1, 0);
		gap_ms = 2 * gap_ms < LIMIT_TCP_RTO_MAX_MS ? 2 * gap_ms : LIMIT_TCP_RTO_MAX_MS;
	}
	CU_ASSERT_EQUAL(r->closed, 0);
	rig_clear(r);
	window(r, 1, 5000);
	CU_ASSERT_TRUE(rig_is(r, 0, TCP_ACK, 1, 1, 10));
	rig_free(r);
}

/* A window too small for a segment is not used for slivers at once (RFC 9293 3.8.6.2.1), but it is in the end. */
static void test_sliver(void)
{
	static const uint8_t bytes[3000];
	struct rig *r = rig_new(NULL);
	rig_open(r, NULL);
	window(r, 1, 10);
	CU_ASSERT_TRUE(tcp_send_ref(r->conn, bytes, sizeof(bytes), NULL, NULL));
	rig_run(r);
	CU_ASSERT_EQUAL(r->out_count, 0);
	rig_wait_ms(r, LIMIT_TCP_RTO_MIN_MS + 5);
	CU_ASSERT_TRUE(rig_is(r, 0, TCP_ACK, 1, 1, 10));
	rig_free(r);
}

/* A peer that is gone behind a closed window ends the connection too. */
static void test_zero_window_dead(void)
{
	struct rig *r = rig_new(NULL);
	rig_open(r, NULL);
	window(r, 1, 0);
	CU_ASSERT_TRUE(tcp_send_copy(r->conn, "x", 1));
	rig_run(r);
	rig_wait_ms(r, LIMIT_TCP_GIVE_UP_MS + 2 * LIMIT_TCP_RTO_MAX_MS);
	CU_ASSERT_EQUAL(r->end, TCP_END_TIMEOUT);
	rig_check(r);
	rig_free(r);
}

static void keepalive(struct tcp_conf *conf)
{
	conf->keepalive_ms = LIMIT_TCP_KEEPALIVE_MS;
}

/* keep-alive after 60 s; a peer that answers lives on, one that does not is gone after the last probe. */
static void test_keepalive(void)
{
	struct rig *r = rig_new(keepalive);
	rig_to_state(r, TCP_ESTABLISHED);
	rig_wait_ms(r, LIMIT_TCP_KEEPALIVE_MS - 1);
	CU_ASSERT_EQUAL(r->out_count, 0);
	rig_wait_ms(r, 2);
	CU_ASSERT_EQUAL(r->out_count, 1);
	CU_ASSERT_TRUE(rig_is(r, 0, TCP_ACK, 0, 1, 0));
	rig_in(r, TCP_ACK, 1, 1, 0);
	rig_wait_ms(r, LIMIT_TCP_KEEPALIVE_MS - 5);
	CU_ASSERT_EQUAL(r->out_count, 1);
	rig_clear(r);
	rig_wait_ms(r, LIMIT_TCP_KEEPALIVE_PROBES * LIMIT_TCP_KEEPALIVE_GAP_MS);
	CU_ASSERT_EQUAL(r->out_count, LIMIT_TCP_KEEPALIVE_PROBES);
	CU_ASSERT_EQUAL(r->closed, 0);
	rig_wait_ms(r, LIMIT_TCP_KEEPALIVE_GAP_MS);
	CU_ASSERT_EQUAL(r->end, TCP_END_TIMEOUT);
	rig_check(r);
	rig_free(r);
}

static void test_time_wait(void)
{
	struct rig *r = rig_new(NULL);
	rig_to_state(r, TCP_TIME_WAIT);
	CU_ASSERT_EQUAL(r->end, TCP_END_CLOSED);
	rig_wait_ms(r, LIMIT_TCP_TIME_WAIT_MS - 1);
	CU_ASSERT_EQUAL(r->tcp.conns.in_use, 1);
	/* the peer's FIN again starts it anew */
	rig_in(r, TCP_FIN | TCP_ACK, 1, 2, 0);
	rig_wait_ms(r, LIMIT_TCP_TIME_WAIT_MS - 1);
	CU_ASSERT_EQUAL(r->tcp.conns.in_use, 1);
	rig_wait_ms(r, 2);
	CU_ASSERT_EQUAL(r->closed, 1);
	rig_check(r);
	rig_free(r);
}

/* tcp_close: the peer has a minute to end its side. */
static void test_fin_wait_2(void)
{
	struct rig *r = rig_new(NULL);
	rig_to_state(r, TCP_ESTABLISHED);
	tcp_close(r->conn);
	rig_run(r);
	rig_in(r, TCP_ACK, 1, 2, 0);
	rig_wait_ms(r, LIMIT_TCP_FIN_WAIT_MS - 1);
	CU_ASSERT_EQUAL(r->closed, 0);
	rig_clear(r);
	rig_wait_ms(r, 2);
	CU_ASSERT_EQUAL(r->closed, 1);
	CU_ASSERT_TRUE(rig_is(r, 0, TCP_RST | TCP_ACK, 2, 1, 0));
	rig_check(r);
	rig_free(r);
}

/* A clock that jumps fires everything that is due, once. */
static void test_jump(void)
{
	struct rig *r = rig_new(keepalive);
	rig_to_state(r, TCP_ESTABLISHED);
	CU_ASSERT_TRUE(tcp_send_copy(r->conn, "x", 1));
	rig_run(r);
	rig_clear(r);
	r->now_ns += 3600 * NS_PER_S;
	wheel_advance(&r->wheel, r->now_ns);
	rig_run(r);
	CU_ASSERT_EQUAL(r->out_count, 1);
	CU_ASSERT_TRUE(rig_is(r, 0, TCP_ACK, 1, 1, 1));
	rig_in(r, TCP_ACK, 1, 2, 0);
	CU_ASSERT_EQUAL(tcp_unacked(r->conn), 0);
	rig_free(r);
}

static const struct unit_case cases[] = {
	{"delayed_ack", test_delayed_ack},
	{"piggyback", test_piggyback},
	{"zero_window", test_zero_window},
	{"sliver", test_sliver},
	{"zero_window_dead", test_zero_window_dead},
	{"keepalive", test_keepalive},
	{"time_wait", test_time_wait},
	{"fin_wait_2", test_fin_wait_2},
	{"jump", test_jump},
};

UNIT_MAIN("net.dpdk.tcp_timer", cases)
