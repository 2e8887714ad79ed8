/* Segments ahead of the stream: kept, joined, reported (RFC 2018, 2883), bounded. */
#include "dataplane/net/dpdk/tcp_ooo.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/dataplane/net/dpdk/tcp_rig.h"

struct piece {
	uint32_t seq, len;
};

struct row {
	const char *what;
	unsigned count;
	struct piece pieces[6];
	uint32_t ack;	    /* acknowledged at the end, relative */
	unsigned ooo_count; /* still waiting */
};

static void test_order(void)
{
	static const struct row rows[] = {
		{"in order", 2, {{1, 10}, {11, 10}}, 21, 0},
		{"a hole stays", 2, {{1, 10}, {21, 10}}, 11, 1},
		{"the hole is filled", 3, {{1, 10}, {21, 10}, {11, 10}}, 31, 0},
		{"backwards", 4, {{31, 10}, {21, 10}, {11, 10}, {1, 10}}, 41, 0},
		{"the same twice", 3, {{11, 10}, {11, 10}, {1, 10}}, 21, 0},
		{"overlap in front", 3, {{11, 10}, {6, 10}, {1, 5}}, 21, 0},
		{"overlap behind", 3, {{11, 10}, {16, 10}, {1, 10}}, 26, 0},
		{"one covers two", 4, {{11, 5}, {21, 5}, {6, 30}, {1, 5}}, 36, 0},
		{"one lies within another", 3, {{11, 20}, {15, 5}, {1, 10}}, 31, 0},
		{"two touch and a third lies over the seam", 4,
			{{11, 10}, {21, 10}, {16, 10}, {1, 10}}, 31, 0},
		{"the stream runs over what waits", 2, {{11, 10}, {1, 40}}, 41, 0},
		{"the stream ends within what waits", 2, {{11, 10}, {1, 15}}, 21, 0},
		{"three islands", 3, {{11, 5}, {21, 5}, {31, 5}}, 1, 3},
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct rig *r = rig_new(NULL);
		rig_to_state(r, TCP_ESTABLISHED);
		for (unsigned n = 0; n < rows[i].count; n++)
			rig_in(r, TCP_ACK, rows[i].pieces[n].seq, 1, rows[i].pieces[n].len);
		uint32_t ack = r->conn->rcv_nxt - r->irs;
		if (ack != rows[i].ack || r->conn->ooo_count != rows[i].ooo_count ||
			r->bytes_read != rows[i].ack - 1)
			CU_FAIL(rows[i].what);
		rig_free(r);
	}
}

/* Bytes come out as they went in, whatever the pieces: the rig's payload is its own sequence number. */
static void test_bytes(void)
{
	struct rig *r = rig_new(NULL);
	rig_to_state(r, TCP_ESTABLISHED);
	r->keeps_unread = true;
	rig_in(r, TCP_ACK, 700, 1, 900);
	rig_in(r, TCP_ACK, 2000, 1, 600);
	rig_in(r, TCP_ACK, 300, 1, 900);
	rig_in(r, TCP_ACK, 1500, 1, 600);
	rig_in(r, TCP_ACK, 1, 1, 400);
	CU_ASSERT_EQUAL(tcp_unread(r->conn), 2599);
	struct span pieces[16];
	unsigned count = tcp_peek(r->conn, pieces, 16);
	uint32_t at = 1, wrong = 0;
	for (unsigned i = 0; i < count; i++) {
		for (size_t n = 0; n < pieces[i].len; n++, at++)
			wrong += pieces[i].data[n] != (uint8_t)at;
	}
	CU_ASSERT_EQUAL(at, 2600);
	CU_ASSERT_EQUAL(wrong, 0);
	rig_free(r);
}

static bool has_block(const struct rig *r, unsigned out, unsigned i, uint32_t start, uint32_t end)
{
	const struct tcp_opt *opt = &r->out[out].opt;
	return i < opt->sack_count && opt->sack[i].start - r->irs == start &&
	       opt->sack[i].end - r->irs == end;
}

/* RFC 2018 4: the newest block first, then those before it; four at the most; none once they are acknowledged. */
static void test_report(void)
{
	struct rig *r = rig_new(NULL);
	rig_to_state(r, TCP_ESTABLISHED);
	rig_in(r, TCP_ACK, 11, 1, 10);
	CU_ASSERT_TRUE(has_block(r, 0, 0, 11, 21));
	rig_in(r, TCP_ACK, 31, 1, 10);
	CU_ASSERT_TRUE(has_block(r, 1, 0, 31, 41) && has_block(r, 1, 1, 11, 21));
	rig_in(r, TCP_ACK, 21, 1, 5);
	CU_ASSERT_TRUE(has_block(r, 2, 0, 11, 26) && has_block(r, 2, 1, 31, 41));
	rig_in(r, TCP_ACK, 51, 1, 5);
	rig_in(r, TCP_ACK, 61, 1, 5);
	rig_in(r, TCP_ACK, 71, 1, 5);
	CU_ASSERT_EQUAL(r->out[5].opt.sack_count, TCP_OPT_SACKS);
	CU_ASSERT_TRUE(has_block(r, 5, 0, 71, 76) && has_block(r, 5, 3, 11, 26));
	rig_clear(r);
	rig_in(r, TCP_ACK, 1, 1, 100);
	CU_ASSERT_EQUAL(r->out[0].opt.sack_count, 0);
	CU_ASSERT_TRUE(rig_is(r, 0, TCP_ACK, 1, 101, 0));
	rig_free(r);
}

/* RFC 2883: what came twice is reported once. */
static void test_dsack(void)
{
	struct rig *r = rig_new(NULL);
	rig_to_state(r, TCP_ESTABLISHED);
	rig_in(r, TCP_ACK, 1, 1, 20);
	rig_clear(r);
	rig_in(r, TCP_ACK, 1, 1, 20);
	CU_ASSERT_EQUAL(r->out_count, 1);
	CU_ASSERT_TRUE(has_block(r, 0, 0, 1, 21));
	rig_in(r, TCP_ACK, 31, 1, 10);
	CU_ASSERT_EQUAL(r->out[1].opt.sack_count, 1);
	rig_in(r, TCP_ACK, 31, 1, 10);
	CU_ASSERT_TRUE(has_block(r, 2, 0, 31, 41) && has_block(r, 2, 1, 31, 41));
	CU_ASSERT_EQUAL(r->bytes_read, 20);
	rig_free(r);
}

/* A FIN ahead is remembered: when the bytes in front of it arrive it needs not come again. */
static void test_fin_ahead(void)
{
	struct rig *r = rig_new(NULL);
	rig_to_state(r, TCP_ESTABLISHED);
	rig_in(r, TCP_ACK | TCP_FIN, 11, 1, 10);
	CU_ASSERT_TRUE(has_block(r, 0, 0, 11, 22));
	rig_in(r, TCP_ACK, 1, 1, 10);
	CU_ASSERT_EQUAL(r->conn->state, TCP_CLOSE_WAIT);
	CU_ASSERT_EQUAL(r->bytes_read, 20);
	CU_ASSERT_TRUE(tcp_is_eof(r->conn));
	rig_free(r);
}

static void small_budget(struct tcp_conf *conf)
{
	conf->rx_budget = 16 * RIG_PKT_COST;
	conf->pkts_max = 4096;
}

/* Memory for what is ahead ends before memory for what is next: the stream can always go on. */
static void test_budget(void)
{
	struct rig *r = rig_new(small_budget);
	rig_to_state(r, TCP_ESTABLISHED);
	for (uint32_t i = 1; i <= 12; i++)
		rig_in(r, TCP_ACK, 1 + i * 1000, 1, 1000);
	CU_ASSERT_EQUAL(r->tcp.drops[REASON_TCP_RX_BUDGET], 0);
	rig_in(r, TCP_ACK, 1 + 13 * 1000, 1, 1000);
	CU_ASSERT_EQUAL(r->tcp.drops[REASON_TCP_RX_BUDGET], 1);
	CU_ASSERT_EQUAL(r->conn->ooo_count, 12);
	rig_in(r, TCP_ACK, 1, 1, 1000);
	CU_ASSERT_EQUAL(r->bytes_read, 13000);
	CU_ASSERT_EQUAL(r->tcp.rx_used, 0);
	rig_free(r);
}

static const struct unit_case cases[] = {
	{"order", test_order},
	{"bytes", test_bytes},
	{"report", test_report},
	{"dsack", test_dsack},
	{"fin_ahead", test_fin_ahead},
	{"budget", test_budget},
};

UNIT_MAIN("net.dpdk.tcp_ooo", cases)
