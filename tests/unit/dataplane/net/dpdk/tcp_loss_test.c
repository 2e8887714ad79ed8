/* Loss: what is sent again, when, and how fast (RFC 6675, 8985, 6298, 6582, 6937, 2018, 2883). */
#include <stdlib.h>
#include <string.h>

#include "dataplane/net/dpdk/tcp_cc.h"
#include "dataplane/net/dpdk/tcp_rtx.h"
#include "tests/unit/dataplane/net/dpdk/tcp_rig.h"

enum { MSS = 1000, RTT_MS = 50 };

static const uint8_t payload[1 << 20];

/* An established connection with `segments` of MSS bytes in flight and a measured round trip. */
static struct rig *flight(uint8_t opts, unsigned segments, enum tcp_cc_kind cc)
{
	struct rig *r = rig_new(NULL);
	struct tcp_opt opt = rig_opt(opts | TCP_OPT_MSS | TCP_OPT_SCALE);
	r->tcp.cc = tcp_cc_of(cc);
	opt.mss = MSS;
	struct rig_seg *seg = calloc(1, sizeof(*seg));
	MUST(seg != NULL);
	*seg = (struct rig_seg){.flags = TCP_SYN, .opt = opt};
	rig_in_seg(r, seg);
	free(seg);
	rig_wait_ms(r, RTT_MS);
	rig_in(r, TCP_ACK, 1, 1, 0);
	CU_ASSERT_EQUAL(r->opened, 1);
	CU_ASSERT_TRUE(tcp_send_ref(r->conn, payload, segments * MSS, NULL, NULL));
	rig_clear(r);
	rig_run(r);
	return r;
}

/* The peer acknowledges `ack` segments and reports [from, to) segments; the first block is DSACK when is_dsack. */
static void sack(struct rig *r, unsigned ack, unsigned from, unsigned to)
{
	struct rig_seg *seg = calloc(1, sizeof(*seg));
	MUST(seg != NULL);
	*seg = (struct rig_seg){.flags = TCP_ACK, .seq = 1, .ack = 1 + ack * MSS};
	if (to > from) {
		seg->opt.flags = TCP_OPT_SACK;
		seg->opt.sack_count = 1;
		seg->opt.sack[0] =
			(struct tcp_range){r->iss + 1 + from * MSS, r->iss + 1 + to * MSS};
	}
	rig_in_seg(r, seg);
	free(seg);
}

static unsigned sent_at(const struct rig *r, unsigned segment)
{
	unsigned count = 0;
	for (unsigned i = 0; i < r->out_count; i++)
		count += r->out[i].len != 0 && r->out[i].seq - r->iss == 1 + segment * MSS;
	return count;
}

/* IW10: ten segments leave, the eleventh waits. */
static void test_initial_window(void)
{
	struct rig *r = flight(TCP_OPT_SACK_OK, 20, TCP_CC_CUBIC);
	CU_ASSERT_EQUAL(r->out_count, LIMIT_TCP_IW_SEGMENTS);
	CU_ASSERT_TRUE(rig_is(r, 9, TCP_ACK, 1 + 9 * MSS, 1, MSS));
	rig_free(r);
}

/* RFC 6675: three segments reported above a hole: it is sent again, and nothing else. */
static void test_fast_retransmit(void)
{
	struct rig *r = flight(TCP_OPT_SACK_OK, 10, TCP_CC_CUBIC);
	rig_clear(r);
	rig_wait_ms(r, RTT_MS);
	sack(r, 0, 1, 2);
	sack(r, 0, 1, 3);
	CU_ASSERT_EQUAL(r->out_count, 0);
	sack(r, 0, 1, 4);
	CU_ASSERT_EQUAL(sent_at(r, 0), 1);
	CU_ASSERT_EQUAL(r->out_count, 1);
	CU_ASSERT_EQUAL(r->conn->recovery, TCP_RECOVERY);
	sack(r, 0, 1, 10);
	CU_ASSERT_EQUAL(r->out_count, 1);
	sack(r, 10, 0, 0);
	CU_ASSERT_EQUAL(r->conn->recovery, TCP_OPEN);
	CU_ASSERT_EQUAL(r->conn->cwnd, r->conn->ssthresh);
	CU_ASSERT_EQUAL(r->tcp.counts[TCP_COUNT_RETRANS], 1);
	rig_free(r);
}

/* Two holes, both repaired in one round trip: SACK does not need one each. */
static void test_two_holes(void)
{
	struct rig *r = flight(TCP_OPT_SACK_OK, 10, TCP_CC_CUBIC);
	rig_clear(r);
	rig_wait_ms(r, RTT_MS);
	sack(r, 0, 1, 3);
	sack(r, 0, 4, 10);
	CU_ASSERT_EQUAL(sent_at(r, 0), 1);
	CU_ASSERT_EQUAL(sent_at(r, 3), 1);
	CU_ASSERT_EQUAL(r->out_count, 2);
	rig_free(r);
}

/* RACK: a retransmission that is lost too is found by what was sent after it, without a timeout. */
static void test_lost_again(void)
{
	struct rig *r = flight(TCP_OPT_SACK_OK, 20, TCP_CC_CUBIC);
	rig_wait_ms(r, RTT_MS);
	rig_clear(r);
	sack(r, 0, 1, 10);
	CU_ASSERT_EQUAL(sent_at(r, 0), 1);
	CU_ASSERT_TRUE(r->out_count >= 2);
	rig_wait_ms(r, RTT_MS + RTT_MS / 2);
	sack(r, 0, 1, 11);
	CU_ASSERT_EQUAL(sent_at(r, 0), 2);
	CU_ASSERT_EQUAL(r->tcp.counts[TCP_COUNT_RTOS], 0);
	rig_free(r);
}

/* RACK: a little reordering is waited for, not repaired. */
static void test_reordering(void)
{
	struct rig *r = flight(TCP_OPT_SACK_OK, 10, TCP_CC_CUBIC);
	rig_clear(r);
	rig_wait_ms(r, RTT_MS);
	sack(r, 0, 1, 2);
	CU_ASSERT_EQUAL(r->out_count, 0);
	sack(r, 2, 0, 0);
	CU_ASSERT_EQUAL(r->tcp.counts[TCP_COUNT_RETRANS], 0);
	CU_ASSERT_EQUAL(r->conn->recovery, TCP_OPEN);
	CU_ASSERT_TRUE((r->conn->flags & TCP_F_REORDER) != 0);
	rig_free(r);
}

/* RACK: one report only, and then silence: the reordering timer repairs it after a quarter of the round trip. */
static void test_reorder_timer(void)
{
	struct rig *r = flight(TCP_OPT_SACK_OK, 2, TCP_CC_CUBIC);
	rig_clear(r);
	rig_wait_ms(r, RTT_MS);
	sack(r, 0, 1, 2);
	CU_ASSERT_EQUAL(r->out_count, 0);
	rig_wait_ms(r, RTT_MS / 4 + 2);
	CU_ASSERT_EQUAL(sent_at(r, 0), 1);
	CU_ASSERT_EQUAL(r->tcp.counts[TCP_COUNT_RTOS], 0);
	rig_free(r);
}

/* TLP: the tail is lost; after two round trips the last segment goes again. */
static void test_tail_loss(void)
{
	struct rig *r = flight(TCP_OPT_SACK_OK, 10, TCP_CC_CUBIC);
	rig_clear(r);
	rig_wait_ms(r, 2 * RTT_MS);
	CU_ASSERT_EQUAL(r->out_count, 0);
	rig_wait_ms(r, 5);
	CU_ASSERT_EQUAL(r->out_count, 1);
	CU_ASSERT_EQUAL(sent_at(r, 9), 1);
	CU_ASSERT_EQUAL(r->tcp.counts[TCP_COUNT_LOSS_PROBES], 1);
	/* its report shows the holes in front of it: fast recovery instead of a timeout */
	rig_wait_ms(r, RTT_MS);
	sack(r, 7, 9, 10);
	rig_wait_ms(r, RTT_MS / 4 + 2);
	CU_ASSERT_EQUAL(sent_at(r, 7) + sent_at(r, 8), 2);
	CU_ASSERT_EQUAL(r->tcp.counts[TCP_COUNT_RTOS], 0);
	rig_free(r);
}

/* RFC 8985 7.4: a probe that repaired a loss counts as one; a DSACK says it was needless. */
static void test_probe_repairs(void)
{
	struct rig *r = flight(TCP_OPT_SACK_OK, 10, TCP_CC_CUBIC);
	rig_wait_ms(r, 2 * RTT_MS + 5);
	CU_ASSERT_EQUAL(r->tcp.counts[TCP_COUNT_LOSS_PROBES], 1);
	uint32_t before = r->conn->cwnd;
	sack(r, 10, 0, 0);
	CU_ASSERT_TRUE(tcp_send_ref(r->conn, payload, MSS, NULL, NULL));
	rig_run(r);
	sack(r, 11, 0, 0);
	CU_ASSERT_TRUE(r->conn->cwnd < before);
	rig_free(r);
	r = flight(TCP_OPT_SACK_OK, 10, TCP_CC_CUBIC);
	rig_wait_ms(r, 2 * RTT_MS + 5);
	before = r->conn->cwnd;
	sack(r, 10, 9, 10);
	CU_ASSERT_EQUAL(r->tcp.counts[TCP_COUNT_DSACKS_IN], 1);
	CU_ASSERT_TRUE(tcp_send_ref(r->conn, payload, MSS, NULL, NULL));
	rig_run(r);
	sack(r, 11, 0, 0);
	CU_ASSERT_TRUE(r->conn->cwnd >= before);
	rig_free(r);
}

/* RFC 6298: silence; everything is lost, one segment goes, and the next timeout is twice as long. */
static void test_timeout(void)
{
	struct rig *r = flight(0, 10, TCP_CC_CUBIC);
	rig_clear(r);
	rig_wait_ms(r, 190);
	CU_ASSERT_EQUAL(r->out_count, 0);
	rig_wait_ms(r, 12);
	CU_ASSERT_EQUAL(r->out_count, 1);
	CU_ASSERT_EQUAL(sent_at(r, 0), 1);
	CU_ASSERT_EQUAL(r->conn->cwnd, MSS);
	CU_ASSERT_EQUAL(r->conn->lost, 9 * MSS);
	rig_wait_ms(r, 390);
	CU_ASSERT_EQUAL(r->out_count, 1);
	rig_wait_ms(r, 20);
	CU_ASSERT_EQUAL(sent_at(r, 0), 2);
	/* slow start from one segment */
	rig_clear(r);
	sack(r, 1, 0, 0);
	CU_ASSERT_EQUAL(r->out_count, 2);
	CU_ASSERT_EQUAL(sent_at(r, 1) + sent_at(r, 2), 2);
	rig_free(r);
}

static void test_give_up(void)
{
	struct rig *r = flight(TCP_OPT_SACK_OK, 1, TCP_CC_CUBIC);
	rig_wait_ms(r, LIMIT_TCP_GIVE_UP_MS);
	CU_ASSERT_EQUAL(r->closed, 0);
	rig_wait_ms(r, LIMIT_TCP_RTO_MAX_MS + 1000);
	CU_ASSERT_EQUAL(r->closed, 1);
	CU_ASSERT_EQUAL(r->end, TCP_END_TIMEOUT);
	rig_check(r);
	rig_free(r);
}

/* RFC 6582: without SACK, three duplicates; a partial acknowledgement sends the next hole. */
static void test_newreno(void)
{
	struct rig *r = flight(0, 10, TCP_CC_NEWRENO);
	rig_clear(r);
	rig_wait_ms(r, RTT_MS);
	sack(r, 0, 0, 0);
	sack(r, 0, 0, 0);
	CU_ASSERT_EQUAL(r->out_count, 0);
	sack(r, 0, 0, 0);
	CU_ASSERT_EQUAL(sent_at(r, 0), 1);
	CU_ASSERT_EQUAL(r->out_count, 1);
	CU_ASSERT_EQUAL(r->conn->ssthresh, 5 * MSS);
	sack(r, 4, 0, 0);
	CU_ASSERT_EQUAL(sent_at(r, 4), 1);
	CU_ASSERT_EQUAL(r->conn->recovery, TCP_RECOVERY);
	sack(r, 10, 0, 0);
	CU_ASSERT_EQUAL(r->conn->recovery, TCP_OPEN);
	CU_ASSERT_EQUAL(r->tcp.counts[TCP_COUNT_RTOS], 0);
	rig_free(r);
}

/* RFC 2018 8: a report may be taken back; after a timeout nothing is thought to be there that is not acknowledged. */
static void test_renege(void)
{
	struct rig *r = flight(TCP_OPT_SACK_OK, 4, TCP_CC_CUBIC);
	sack(r, 0, 1, 4);
	sack(r, 1, 0, 0);
	rig_clear(r);
	rig_wait_ms(r, 2000);
	CU_ASSERT_TRUE(sent_at(r, 1) >= 1);
	rig_free(r);
}

/* Reports of what was never sent, upside down, or below the acknowledgement change nothing. */
static void test_false_reports(void)
{
	struct rig *r = flight(TCP_OPT_SACK_OK, 10, TCP_CC_CUBIC);
	sack(r, 2, 0, 0);
	rig_clear(r);
	sack(r, 2, 9, 12);
	sack(r, 2, 0, 1);
	struct rig_seg *seg = calloc(1, sizeof(*seg));
	MUST(seg != NULL);
	*seg = (struct rig_seg){.flags = TCP_ACK, .seq = 1, .ack = 1 + 2 * MSS};
	seg->opt = (struct tcp_opt){.flags = TCP_OPT_SACK, .sack_count = 1};
	seg->opt.sack[0] = (struct tcp_range){r->iss + 5 * MSS, r->iss + 4 * MSS};
	rig_in_seg(r, seg);
	free(seg);
	CU_ASSERT_EQUAL(tcp_rtx_reported(r->conn), 0);
	CU_ASSERT_EQUAL(r->conn->lost, 0);
	rig_free(r);
}

/* A router says that the path is narrower: what was too long goes again in pieces that fit. */
static void test_path_mtu(void)
{
	struct rig *r = flight(TCP_OPT_SACK_OK, 3, TCP_CC_CUBIC);
	rig_clear(r);
	/* a guess about a segment that is not in flight is not believed */
	tcp_path_mtu(&r->tcp, &r->key, r->iss + 1 + 3 * MSS, 540);
	CU_ASSERT_EQUAL(r->conn->mss, MSS);
	tcp_path_mtu(&r->tcp, &r->key, r->iss + 1, 540);
	CU_ASSERT_EQUAL(r->conn->mss, 500);
	rig_run(r);
	CU_ASSERT_EQUAL(r->out_count, 6);
	for (unsigned i = 0; i < r->out_count; i++)
		CU_ASSERT_TRUE(rig_is(r, i, TCP_ACK, 1 + 500 * i, 1, 500));
	rig_free(r);
}

/* RFC 5681 4.1: after an idle time the window starts anew. */
static void test_idle_restart(void)
{
	struct rig *r = flight(TCP_OPT_SACK_OK, 10, TCP_CC_CUBIC);
	r->conn->cwnd = 100 * MSS;
	sack(r, 10, 0, 0);
	rig_wait_ms(r, 5000);
	rig_clear(r);
	CU_ASSERT_TRUE(tcp_send_ref(r->conn, payload, 50 * MSS, NULL, NULL));
	rig_run(r);
	CU_ASSERT_EQUAL(r->out_count, LIMIT_TCP_IW_SEGMENTS);
	rig_free(r);
}

static const struct unit_case cases[] = {
	{"initial_window", test_initial_window},
	{"fast_retransmit", test_fast_retransmit},
	{"two_holes", test_two_holes},
	{"lost_again", test_lost_again},
	{"reordering", test_reordering},
	{"reorder_timer", test_reorder_timer},
	{"tail_loss", test_tail_loss},
	{"probe_repairs", test_probe_repairs},
	{"timeout", test_timeout},
	{"give_up", test_give_up},
	{"newreno", test_newreno},
	{"renege", test_renege},
	{"false_reports", test_false_reports},
	{"path_mtu", test_path_mtu},
	{"idle_restart", test_idle_restart},
};

UNIT_MAIN("net.dpdk.tcp_loss", cases)
