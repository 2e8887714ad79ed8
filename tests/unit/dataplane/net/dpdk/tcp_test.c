/* The life of connections as their user sees it: events, half-close, close, abort, reuse, cost. */
#include "dataplane/net/dpdk/tcp.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/dataplane/net/dpdk/tcp_rig.h"

/* Half-close, ours first: we still read. */
static void test_half_close(void)
{
	struct rig *r = rig_new(NULL);
	rig_to_state(r, TCP_ESTABLISHED);
	CU_ASSERT_TRUE(tcp_send_copy(r->conn, "request", 7));
	tcp_shutdown(r->conn);
	rig_run(r);
	CU_ASSERT_TRUE(rig_is(r, 0, TCP_ACK | TCP_FIN, 1, 1, 7));
	CU_ASSERT_FALSE(tcp_send_copy(r->conn, "more", 4));
	rig_in(r, TCP_ACK, 1, 9, 100);
	CU_ASSERT_EQUAL(r->bytes_read, 100);
	CU_ASSERT_EQUAL(r->closed, 0);
	rig_in(r, TCP_ACK | TCP_FIN, 101, 9, 50);
	CU_ASSERT_EQUAL(r->bytes_read, 150);
	CU_ASSERT_EQUAL(r->closed, 1);
	CU_ASSERT_EQUAL(r->end, TCP_END_CLOSED);
	rig_free(r);
}

/* Half-close, the peer's first: we still send. */
static void test_peer_half_close(void)
{
	struct rig *r = rig_new(NULL);
	rig_to_state(r, TCP_CLOSE_WAIT);
	CU_ASSERT_TRUE(tcp_is_eof(r->conn));
	CU_ASSERT_TRUE(tcp_send_copy(r->conn, "answer", 6));
	rig_run(r);
	CU_ASSERT_TRUE(rig_is(r, 0, TCP_ACK, 1, 2, 6));
	tcp_shutdown(r->conn);
	rig_run(r);
	CU_ASSERT_TRUE(rig_is(r, 1, TCP_ACK | TCP_FIN, 7, 2, 0));
	rig_in(r, TCP_ACK, 2, 8, 0);
	CU_ASSERT_EQUAL(r->end, TCP_END_CLOSED);
	rig_check(r);
	rig_free(r);
}

/* What came with the end can still be read; on_closed waits for the reader. */
static void test_read_after_end(void)
{
	struct rig *r = rig_new(NULL);
	rig_to_state(r, TCP_FIN_WAIT_2);
	r->keeps_unread = true;
	rig_in(r, TCP_ACK | TCP_FIN, 1, 2, 1000);
	CU_ASSERT_EQUAL(r->readable, 1);
	CU_ASSERT_EQUAL(r->closed, 0);
	CU_ASSERT_EQUAL(tcp_unread(r->conn), 1000);
	rig_wait_ms(r, LIMIT_TCP_TIME_WAIT_MS + 10);
	CU_ASSERT_EQUAL(tcp_unread(r->conn), 1000);
	tcp_consume(r->conn, 999);
	rig_run(r);
	CU_ASSERT_EQUAL(r->closed, 0);
	tcp_consume(r->conn, 1);
	CU_ASSERT_TRUE(tcp_is_eof(r->conn));
	rig_run(r);
	CU_ASSERT_EQUAL(r->closed, 1);
	rig_check(r);
	rig_free(r);
}

/* tcp_close: what was read is gone, what comes is acknowledged and dropped, but not for ever. */
static void test_close_lingers(void)
{
	struct rig *r = rig_new(NULL);
	rig_to_state(r, TCP_ESTABLISHED);
	r->keeps_unread = true;
	rig_in(r, TCP_ACK, 1, 1, 1000);
	unsigned readable = r->readable;
	tcp_close(r->conn);
	rig_run(r);
	CU_ASSERT_EQUAL(r->tcp.rx_used, 0);
	uint32_t at = 1001;
	for (; at + 10000 <= LIMIT_NET_LINGER_BYTES; at += 10000) {
		r->out_count = 0;
		rig_in(r, TCP_ACK, at, 2, 10000);
		CU_ASSERT_EQUAL(r->closed, 0);
	}
	for (unsigned i = 0; i < 2; i++, at += 10000)
		rig_in(r, TCP_ACK, at, 2, 10000);
	CU_ASSERT_EQUAL(r->closed, 1);
	CU_ASSERT_EQUAL(r->end, TCP_END_ABORTED);
	CU_ASSERT_EQUAL(r->readable, readable);
	rig_check(r);
	rig_free(r);
}

static void test_abort(void)
{
	static const struct {
		enum tcp_state state;
		unsigned resets;
	} rows[] = {{TCP_SYN_SENT, 0}, {TCP_ESTABLISHED, 1}, {TCP_FIN_WAIT_1, 1},
		{TCP_FIN_WAIT_2, 1}, {TCP_CLOSE_WAIT, 1}, {TCP_CLOSING, 1}, {TCP_LAST_ACK, 1}};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct rig *r = rig_new(NULL);
		rig_to_state(r, rows[i].state);
		tcp_abort(r->conn);
		rig_run(r);
		CU_ASSERT_EQUAL(r->out_count, rows[i].resets);
		CU_ASSERT_EQUAL(r->closed, 1);
		CU_ASSERT_EQUAL(r->end, TCP_END_ABORTED);
		rig_check(r);
		rig_free(r);
	}
}

/* A reset takes everything with it, in every state; the user hears of it once. */
static void test_reset(void)
{
	struct rig *r = rig_new(NULL);
	rig_to_state(r, TCP_ESTABLISHED);
	r->keeps_unread = true;
	CU_ASSERT_TRUE(tcp_send_copy(r->conn, "lost", 4));
	rig_in(r, TCP_ACK, 1, 1, 1000);
	rig_in(r, TCP_ACK, 3001, 1, 1000);
	rig_in(r, TCP_RST, 1001, 0, 0);
	CU_ASSERT_EQUAL(r->closed, 1);
	CU_ASSERT_EQUAL(r->end, TCP_END_RESET);
	CU_ASSERT_EQUAL(r->pkts_held, 0);
	rig_check(r);
	rig_free(r);
}

/* A burst: one acknowledgement for all of it. */
static void test_burst(void)
{
	struct rig *r = rig_new(NULL);
	rig_to_state(r, TCP_ESTABLISHED);
	struct rig_seg *seg = calloc(1, sizeof(*seg));
	MUST(seg != NULL);
	for (uint32_t i = 0; i < 8; i++) {
		*seg = (struct rig_seg){
			.flags = TCP_ACK, .seq = 1 + 1000 * i, .ack = 1, .len = 1000};
		rig_feed(r, seg);
	}
	CU_ASSERT_EQUAL(r->out_count, 0);
	rig_run(r);
	CU_ASSERT_EQUAL(r->out_count, 1);
	CU_ASSERT_TRUE(rig_is(r, 0, TCP_ACK, 1, 8001, 0));
	CU_ASSERT_EQUAL(r->readable, 1);
	free(seg);
	rig_free(r);
}

static void two(struct tcp_conf *conf)
{
	conf->conns_max = 2;
}

/* All slots taken, one by a connection in TIME_WAIT: it makes room. */
static void test_recycle(void)
{
	struct rig *r = rig_new(two);
	rig_to_state(r, TCP_TIME_WAIT);
	for (uint16_t i = 1; i <= 2; i++) {
		r->key.remote_port = (uint16_t)(RIG_PEER_PORT + i);
		rig_in(r, TCP_SYN, 0, 0, 0);
	}
	CU_ASSERT_EQUAL(r->tcp.conns.in_use, 2);
	CU_ASSERT_EQUAL(r->tcp.counts[TCP_COUNT_RECYCLED], 1);
	CU_ASSERT_EQUAL(r->tcp.drops[REASON_CONN_CAP], 0);
	rig_free(r);
}

static void test_listen(void)
{
	struct rig *r = rig_new(NULL);
	struct addr a = {.port = 1000};
	for (unsigned i = 1; i < LIMIT_LISTENERS; i++) {
		CU_ASSERT_EQUAL(tcp_listen(&r->tcp, &a, 16, NULL), 0);
		CU_ASSERT_NOT_EQUAL(tcp_listen(&r->tcp, &a, 16, NULL), 0);
		a.port++;
	}
	CU_ASSERT_NOT_EQUAL(tcp_listen(&r->tcp, &a, 16, NULL), 0);
	/* an address of zeros takes all */
	r->key.local_port = 1000;
	rig_in(r, TCP_SYN, 0, 0, 0);
	CU_ASSERT_EQUAL(r->out[0].flags, TCP_SYN | TCP_ACK);
	tcp_stop_listening(&r->tcp);
	rig_clear(r);
	r->key.remote_port++;
	rig_in(r, TCP_SYN, 0, 0, 0);
	CU_ASSERT_EQUAL(r->out[0].flags, TCP_RST | TCP_ACK);
	rig_free(r);
}

static void million(struct tcp_conf *conf)
{
	tcp_conf_default(conf, 1000000);
	conf->no_ts = true;
	conf->keepalive_ms = 0;
}

/* A million idle connections: at most 1.5 KiB each, table and all. */
static void test_million(void)
{
	struct rig *r = rig_new(million);
	struct tcp *t = &r->tcp;
	for (uint32_t i = 0; i < 1000000; i++) {
		struct tcp_in in = {.key = r->key, .flags = TCP_SYN, .wnd = 65535};
		memcpy(in.key.remote_ip + 12, &i, 4);
		in.key.remote_port = 5000;
		tcp_input(t, &in);
		in.flags = TCP_ACK;
		in.seq = 1;
		in.ack = r->iss + 1;
		tcp_input(t, &in);
		tcp_run(t);
		r->out_count = 0;
	}
	CU_ASSERT_EQUAL(r->opened, 1000000);
	CU_ASSERT_EQUAL(t->conns.in_use, 1000000);
	uint64_t cost = (uint64_t)t->conns.touched * (t->conns.object_bytes + sizeof(uint32_t)) +
			((uint64_t)t->flow.mask + 1) * sizeof(struct tcp_flow_bucket);
	CU_ASSERT_TRUE(cost / 1000000 <= 1536);
	CU_ASSERT_EQUAL(t->segs.in_use + t->bufs.in_use + t->blocks.in_use + t->pkts.in_use, 0);
	rig_free(r);
}

static const struct unit_case cases[] = {
	{"half_close", test_half_close},
	{"peer_half_close", test_peer_half_close},
	{"read_after_end", test_read_after_end},
	{"close_lingers", test_close_lingers},
	{"abort", test_abort},
	{"reset", test_reset},
	{"burst", test_burst},
	{"recycle", test_recycle},
	{"listen", test_listen},
	{"million", test_million},
};

UNIT_MAIN("net.dpdk.tcp", cases)
