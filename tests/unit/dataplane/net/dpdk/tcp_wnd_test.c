/* The receive window: never back, no slivers, grows to 4 MiB, shrinks with memory. */
#include "dataplane/net/dpdk/tcp_wnd.h"

#include <stdlib.h>

#include "tests/unit/dataplane/net/dpdk/tcp_rig.h"

enum { SEG = 1460 };

/* Feeds one window, as it is promised now; returns the bytes. */
static uint32_t fill(struct rig *r, uint32_t from)
{
	uint32_t at = from;
	uint32_t edge = r->conn->rcv_edge;
	while (tcp_seq_le(r->irs + at + SEG, edge)) {
		r->out_count = 0;
		rig_in(r, TCP_ACK, at, 1, SEG);
		at += SEG;
	}
	return at - from;
}

/* Nobody reads: the window closes and stays closed; a read of a little does not open it, a read of more does. */
static void test_closes(void)
{
	struct rig *r = rig_new(NULL);
	rig_to_state(r, TCP_ESTABLISHED);
	r->keeps_unread = true;
	uint32_t got = fill(r, 1);
	CU_ASSERT_EQUAL(got, 65535 / SEG * SEG);
	uint32_t rest = 65535 - got;
	rig_in(r, TCP_ACK, 1 + got, 1, rest);
	rig_clear(r);
	tcp_consume(r->conn, 100);
	rig_run(r);
	CU_ASSERT_EQUAL(r->out_count, 0);
	/* a probe behind the closed window is answered and not taken */
	rig_in(r, TCP_ACK, 1 + 65535, 1, 10);
	CU_ASSERT_EQUAL(r->conn->rcv_nxt - r->irs, 1 + 65535);
	rig_clear(r);
	tcp_consume(r->conn, 20000);
	rig_run(r);
	CU_ASSERT_EQUAL(r->out_count, 1);
	CU_ASSERT_TRUE(r->out[0].wnd >= 20000 >> TCP_WND_SCALE);
	rig_free(r);
}

/* A reader that keeps up: the window doubles with the round trips, to 4 MiB and not further. */
static void test_grows(void)
{
	struct rig *r = rig_new(NULL);
	struct tcp_opt opt = rig_opt(TCP_OPT_MSS | TCP_OPT_SCALE);
	r->irs = 0;
	rig_open(r, &opt);
	uint32_t at = 1;
	uint32_t last = r->conn->rcv_buf;
	for (unsigned trip = 0; trip < 40; trip++) {
		at += fill(r, at);
		r->now_ns += 2 * NS_PER_MS;
		CU_ASSERT_TRUE(r->conn->rcv_buf >= last && r->conn->rcv_buf <= 2 * last);
		last = r->conn->rcv_buf;
		if (last == LIMIT_TCP_RX_BYTES)
			break;
	}
	CU_ASSERT_EQUAL(r->conn->rcv_buf, LIMIT_TCP_RX_BYTES);
	rig_free(r);
}

static void test_no_scale(void)
{
	struct rig *r = rig_new(NULL);
	struct tcp_opt opt = rig_opt(TCP_OPT_MSS);
	rig_open(r, &opt);
	uint32_t at = 1;
	for (unsigned trip = 0; trip < 5; trip++) {
		at += fill(r, at);
		r->now_ns += 2 * NS_PER_MS;
	}
	CU_ASSERT_EQUAL(r->conn->rcv_buf, LIMIT_TCP_RX_FIRST_BYTES);
	CU_ASSERT_TRUE(r->conn->rcv_edge - r->conn->rcv_nxt <= UINT16_MAX);
	rig_free(r);
}

static void little(struct tcp_conf *conf)
{
	conf->rx_budget = 24 * RIG_PKT_COST;
}

/* Over the budget the window stands still, nothing dies, and it opens again when the memory is back. */
static void test_budget(void)
{
	struct rig *r = rig_new(little);
	rig_to_state(r, TCP_ESTABLISHED);
	r->keeps_unread = true;
	uint32_t edge = r->conn->rcv_edge;
	for (uint32_t i = 0; i < 60; i++)
		rig_in(r, TCP_ACK, 1 + i * 1000, 1, 1000);
	CU_ASSERT_TRUE(r->tcp.rx_used <= r->conf.rx_budget + r->conf.rx_budget / 8);
	CU_ASSERT_TRUE(r->tcp.drops[REASON_TCP_RX_BUDGET] > 0);
	CU_ASSERT_EQUAL(r->conn->rcv_edge, edge);
	CU_ASSERT_EQUAL(r->closed, 0);
	uint32_t kept = tcp_unread(r->conn);
	CU_ASSERT_EQUAL(kept, 24000);
	rig_clear(r);
	tcp_consume(r->conn, kept);
	rig_in(r, TCP_ACK, 1 + kept, 1, 1000);
	CU_ASSERT_EQUAL(tcp_unread(r->conn), 1000);
	CU_ASSERT_TRUE(tcp_seq_gt(r->conn->rcv_edge, edge));
	rig_free(r);
}

/* Small segments do not keep their packets: the memory they take is their bytes. */
static void test_small(void)
{
	struct rig *r = rig_new(little);
	rig_to_state(r, TCP_ESTABLISHED);
	r->keeps_unread = true;
	for (uint32_t i = 0; i < 5000; i++) {
		r->out_count = 0;
		rig_in(r, TCP_ACK, 1 + i, 1, 1);
	}
	CU_ASSERT_EQUAL(tcp_unread(r->conn), 5000);
	CU_ASSERT_EQUAL(r->pkts_held, 0);
	CU_ASSERT_EQUAL(r->tcp.rx_used, 3 * LIMIT_TCP_BLOCK_BYTES);
	rig_in(r, TCP_ACK, 5001, 1, LIMIT_TCP_SMALL_BYTES);
	CU_ASSERT_EQUAL(r->pkts_held, 0);
	rig_in(r, TCP_ACK, 5001 + LIMIT_TCP_SMALL_BYTES, 1, LIMIT_TCP_SMALL_BYTES + 1);
	CU_ASSERT_EQUAL(r->pkts_held, 1);
	rig_free(r);
}

static const struct unit_case cases[] = {
	{"closes", test_closes},
	{"grows", test_grows},
	{"no_scale", test_no_scale},
	{"budget", test_budget},
	{"small", test_small},
};

UNIT_MAIN("net.dpdk.tcp_wnd", cases)
