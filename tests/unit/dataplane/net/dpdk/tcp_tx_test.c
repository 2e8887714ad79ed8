/* What is queued to be sent: order, limits, references and who still holds them. */
#include "dataplane/net/dpdk/tcp_tx.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/dataplane/net/dpdk/tcp_rig.h"

static uint8_t bytes[1 << 20];

static void on_release(void *ctx)
{
	unsigned *count = ctx;
	++*count;
}

static struct rig *established(void)
{
	struct rig *r = rig_new(NULL);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	rig_to_state(r, TCP_ESTABLISHED);
	return r;
}

/* Copies and references leave in the order they were queued, several to a segment. */
static void test_order(void)
{
	struct rig *r = established();
	unsigned released = 0;
	CU_ASSERT_TRUE(tcp_send_copy(r->conn, bytes, 100));
	CU_ASSERT_TRUE(tcp_send_ref(r->conn, bytes + 100, 300, on_release, &released));
	CU_ASSERT_TRUE(tcp_send_copy(r->conn, bytes + 400, 50));
	CU_ASSERT_TRUE(tcp_send_copy(r->conn, bytes + 450, 50));
	CU_ASSERT_TRUE(tcp_send_ref(r->conn, bytes + 500, 2000, on_release, &released));
	rig_run(r);
	CU_ASSERT_TRUE(rig_is(r, 0, TCP_ACK, 1, 1, 1460));
	CU_ASSERT_TRUE(rig_is(r, 1, TCP_ACK, 1461, 1, 1040));
	CU_ASSERT_EQUAL(memcmp(r->out[0].data, bytes, 1460), 0);
	CU_ASSERT_EQUAL(memcmp(r->out[1].data, bytes + 1460, 1040), 0);
	CU_ASSERT_EQUAL(r->out[0].flags & TCP_PSH, 0);
	CU_ASSERT_EQUAL(r->out[1].flags & TCP_PSH, TCP_PSH);
	CU_ASSERT_EQUAL(released, 0);
	rig_in(r, TCP_ACK, 1, 400, 0);
	CU_ASSERT_EQUAL(released, 0);
	rig_in(r, TCP_ACK, 1, 401, 0);
	CU_ASSERT_EQUAL(released, 1);
	rig_in(r, TCP_ACK, 1, 2501, 0);
	CU_ASSERT_EQUAL(released, 2);
	CU_ASSERT_EQUAL(tcp_unacked(r->conn), 0);
	CU_ASSERT_EQUAL(r->tcp.bufs.in_use + r->tcp.blocks.in_use, 0);
	rig_free(r);
}

/* More pieces than a segment holds: it is cut, nothing is lost. */
static void test_pieces(void)
{
	struct rig *r = established();
	for (unsigned i = 0; i < LIMIT_TCP_SEG_SPANS + 1; i++)
		CU_ASSERT_TRUE(tcp_send_ref(r->conn, bytes + 10 * i, 10, NULL, NULL));
	rig_run(r);
	CU_ASSERT_EQUAL(r->out_count, 2);
	CU_ASSERT_TRUE(rig_is(r, 0, TCP_ACK, 1, 1, 10 * LIMIT_TCP_SEG_SPANS));
	CU_ASSERT_TRUE(rig_is(r, 1, TCP_ACK, 1 + 10 * LIMIT_TCP_SEG_SPANS, 1, 10));
	rig_free(r);
}

/* At the limits, and one past them; the room that an acknowledgement makes is told. */
static void test_limits(void)
{
	struct rig *r = established();
	unsigned released = 0;
	for (unsigned i = 0; i < LIMIT_NET_TX_SPANS; i++)
		CU_ASSERT_TRUE(tcp_send_ref(r->conn, bytes, 1460, on_release, &released));
	CU_ASSERT_FALSE(tcp_send_ref(r->conn, bytes, 1460, on_release, &released));
	CU_ASSERT_EQUAL(released, 0);
	rig_run(r);
	CU_ASSERT_EQUAL(r->writable, 0);
	rig_in(r, TCP_ACK, 1, 1461, 0);
	CU_ASSERT_EQUAL(r->writable, 1);
	CU_ASSERT_EQUAL(released, 1);
	rig_free(r);
	r = established();
	CU_ASSERT_TRUE(tcp_send_copy(r->conn, bytes, LIMIT_NET_TX_COPY_BYTES));
	CU_ASSERT_FALSE(tcp_send_copy(r->conn, bytes, 1));
	rig_free(r);
	r = established();
	CU_ASSERT_FALSE(tcp_send_copy(r->conn, bytes, LIMIT_NET_TX_COPY_BYTES + 1));
	rig_free(r);
}

/* A path that carries a lot: more may wait, up to 4 MiB. */
static void test_autotune(void)
{
	struct rig *r = established();
	r->conn->cwnd = LIMIT_TCP_TX_BYTES;
	unsigned count = 0;
	while (count < 1000 && tcp_send_ref(r->conn, bytes, LIMIT_CHUNK_BYTES, NULL, NULL))
		count++;
	CU_ASSERT_EQUAL(count, LIMIT_TCP_TX_BYTES / LIMIT_CHUNK_BYTES);
	rig_free(r);
}

static void starved(struct tcp_conf *conf)
{
	conf->bufs_max = 1;
	conf->conns_max = 4;
}

/* The pool of all connections is empty: a refused sender is told when it is not any more, though nothing of its own
 * is on the way. */
static void test_starved(void)
{
	struct rig *r = rig_new(starved);
	rig_to_state(r, TCP_ESTABLISHED);
	struct tcp_conn *first = r->conn;
	CU_ASSERT_TRUE(tcp_send_ref(first, bytes, 10, NULL, NULL));
	rig_run(r);
	uint32_t first_iss = r->iss;
	r->key.remote_port++;
	r->opened = 0;
	struct tcp_opt opt = rig_opt(TCP_OPT_MSS);
	rig_open(r, &opt);
	CU_ASSERT_FALSE(tcp_send_ref(r->conn, bytes, 10, NULL, NULL));
	rig_wait_ms(r, 100);
	CU_ASSERT_EQUAL(r->writable, 0);
	r->key.remote_port--;
	r->iss = first_iss;
	rig_in(r, TCP_ACK, 1, 11, 0);
	rig_wait_ms(r, 20);
	CU_ASSERT_EQUAL(r->writable, 1);
	CU_ASSERT_TRUE(tcp_send_ref(r->conn, bytes, 10, NULL, NULL));
	rig_free(r);
}

/* A card that still reads a buffer keeps it, though its bytes are acknowledged or its connection is gone. */
static void test_held(void)
{
	struct rig *r = established();
	unsigned released = 0;
	r->holds = true;
	CU_ASSERT_TRUE(tcp_send_ref(r->conn, bytes, 10, on_release, &released));
	rig_run(r);
	CU_ASSERT_EQUAL(r->held_count, 1);
	rig_in(r, TCP_ACK, 1, 11, 0);
	CU_ASSERT_EQUAL(released, 0);
	tcp_buf_drop(&r->tcp, r->held[--r->held_count]);
	CU_ASSERT_EQUAL(released, 1);
	CU_ASSERT_TRUE(tcp_send_ref(r->conn, bytes, 10, on_release, &released));
	rig_run(r);
	tcp_abort(r->conn);
	rig_run(r);
	CU_ASSERT_EQUAL(released, 1);
	tcp_buf_drop(&r->tcp, r->held[--r->held_count]);
	CU_ASSERT_EQUAL(released, 2);
	rig_check(r);
	rig_free(r);
}

static void no_segs(struct tcp_conf *conf)
{
	conf->segs_max = 1;
}

/* No memory for another segment: it waits, it is not lost. */
static void test_no_segs(void)
{
	struct rig *r = rig_new(no_segs);
	rig_to_state(r, TCP_ESTABLISHED);
	CU_ASSERT_TRUE(tcp_send_ref(r->conn, bytes, 2920, NULL, NULL));
	rig_run(r);
	CU_ASSERT_EQUAL(r->out_count, 1);
	rig_in(r, TCP_ACK, 1, 1461, 0);
	CU_ASSERT_EQUAL(r->out_count, 2);
	CU_ASSERT_TRUE(rig_is(r, 1, TCP_ACK, 1461, 1, 1460));
	rig_free(r);
}

static void few_segs(struct tcp_conf *conf)
{
	conf->segs_max = 8;
}

/* One connection has taken all it may; another that has nothing in flight still sends. */
static void test_reserve(void)
{
	struct rig *r = rig_new(few_segs);
	rig_to_state(r, TCP_ESTABLISHED);
	CU_ASSERT_TRUE(tcp_send_ref(r->conn, bytes, 20 * 1460, NULL, NULL));
	rig_run(r);
	CU_ASSERT_EQUAL(r->out_count, 6);
	r->key.remote_port++;
	r->opened = 0;
	struct tcp_opt opt = rig_opt(TCP_OPT_MSS);
	rig_open(r, &opt);
	CU_ASSERT_TRUE(tcp_send_ref(r->conn, bytes, 20 * 1460, NULL, NULL));
	rig_run(r);
	CU_ASSERT_EQUAL(r->out_count, 1);
	rig_free(r);
}

static const struct unit_case cases[] = {
	{"order", test_order},
	{"pieces", test_pieces},
	{"limits", test_limits},
	{"autotune", test_autotune},
	{"starved", test_starved},
	{"held", test_held},
	{"no_segs", test_no_segs},
	{"reserve", test_reserve},
};

UNIT_MAIN("net.dpdk.tcp_tx", cases)
