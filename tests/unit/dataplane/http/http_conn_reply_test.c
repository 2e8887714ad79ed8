/* Sending: pieces, room, chunks, failures; jobs; drain. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/dataplane/http/http_rig_service.h"

static struct rig rig;
static struct rig_service service;

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"

static void expect_refs(const struct rig_reply *reply)
{
	CU_ASSERT_EQUAL(reply->status, 200);
	CU_ASSERT_EQUAL(reply->body_len, service.ref_bytes);
	CU_ASSERT(reply->body_len == service.ref_bytes &&
		  memcmp(reply->body, service.data, service.ref_bytes) == 0);
}

/* Bodies of every awkward length, of known and unknown length. */
static void test_pieces(void)
{
	static const uint32_t lengths[] = {0, 1, 65535, 65536, 65537, 1 << 20};
	static const uint32_t pieces[] = {1000, LIMIT_CHUNK_BYTES};
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	unsigned asked = 0;
	for (unsigned i = 0; i < ARRAY_LEN(lengths); i++) {
		for (unsigned j = 0; j < ARRAY_LEN(pieces); j++) {
			service.ref_bytes = lengths[i];
			service.ref_piece = pieces[j];
			struct rig_reply reply = rig_ask(c, "GET", GET("/ref"));
			expect_refs(&reply);
			CU_ASSERT(!reply.is_chunked);
			reply = rig_ask(c, "GET", GET("/stream"));
			expect_refs(&reply);
			CU_ASSERT(reply.is_chunked);
			asked += 2;
			CU_ASSERT_EQUAL(service.finished, asked);
		}
	}
	CU_ASSERT_EQUAL(service.refs_out, 0);
	rig_fini(&rig);
}

/* Backpressure: the window opens by odd little amounts; what waits stays bounded; the next answers follow in order. */
static void test_backpressure(void)
{
	rig_service_start(&rig, &service);
	service.ref_bytes = 200000;
	service.ref_piece = 1500;
	struct rig_conn *c = rig_connect(&rig);
	rig_open_window(c, 0);
	rig_say(c, GET("/ref") GET("/stream") GET("/ref") GET("/hello"));
	CU_ASSERT(service.refs_out <= LIMIT_NET_TX_SPANS + 1);
	size_t step = 1;
	for (size_t had = c->wire_len; c->wire_len < 600000 || had != c->wire_len;
		step = step * 3 % 7001 + 1) {
		had = c->wire_len;
		rig_open_window(c, step);
		CU_ASSERT_FATAL(service.refs_out <= LIMIT_NET_TX_SPANS + 1);
	}
	rig_open_window(c, SIZE_MAX);
	for (unsigned i = 0; i < 3; i++) {
		struct rig_reply reply = rig_reply(c, "GET");
		expect_refs(&reply);
	}
	CU_ASSERT_EQUAL(rig_reply(c, "GET").status, 200);
	CU_ASSERT_EQUAL(service.refs_out, 0);
	CU_ASSERT_EQUAL(service.finished, 3);
	rig_fini(&rig);
}

/* Small answers without room: the head waits and is not lost. */
static void test_heads_wait(void)
{
	char all[4096] = "";
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	rig_open_window(c, 0);
	for (unsigned i = 0; i < 30; i++)
		strcat(all, GET("/hello"));
	rig_say(c, all);
	rig_turn(&rig);
	CU_ASSERT(service.handled < 30);
	rig_open_window(c, SIZE_MAX);
	rig_turn(&rig);
	for (unsigned i = 0; i < 30; i++)
		CU_ASSERT_EQUAL(rig_reply(c, "GET").status, 200);
	rig_fini(&rig);
}

/* `next` fails with the head out: the connection is cut, never padded. */
static void test_cut(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	rig_say(c, GET("/cut"));
	CU_ASSERT(c->is_closed && c->end == NET_END_ABORTED);
	CU_ASSERT_EQUAL(service.refs_out, 0);
	CU_ASSERT_EQUAL(service.finished, 1);
	rig_fini(&rig);
}

/* The client vanishes while an answer is being sent: every reference is released, once. */
static void test_gone_while_sending(void)
{
	rig_service_start(&rig, &service);
	service.ref_bytes = 1 << 20;
	service.ref_piece = 5000;
	struct rig_conn *c = rig_connect(&rig);
	rig_open_window(c, 20000);
	rig_say(c, GET("/ref"));
	CU_ASSERT(service.refs_out > 0);
	rig_reset(c);
	CU_ASSERT_EQUAL(service.refs_out, 0);
	CU_ASSERT_EQUAL(service.finished, 1);
	rig_fini(&rig);
}

/* The client vanishes while a job is under way: the job is canceled and finds nobody. */
static void test_gone_while_pending(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	rig_say(c, "POST /job HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde");
	CU_ASSERT_EQUAL(rig.blocks_out, 1);
	rig_reset(c);
	CU_ASSERT_EQUAL(rig.blocks_out, 0);
	CU_ASSERT_EQUAL(tally_get(rig.tally, TALLY_TASKS_CANCELED + LABEL_KIND_JOB), 1);
	rig_work(&rig);
	rig_turn(&rig);
	CU_ASSERT_EQUAL(service.jobs_orphaned, 1);
	CU_ASSERT_EQUAL(rig.jobs.pool.in_use, 0);
	rig_fini(&rig);
}

static void test_job_error(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	service.job_err = ERR_INTEGRITY;
	struct rig_reply reply = rig_ask(c, "GET", GET("/job"));
	rig_check_error(&reply, 502, "integrity");
	service.job_err = ERR_NONE;
	CU_ASSERT_EQUAL(rig_ask(c, "GET", GET("/job")).status, 200);
	rig_fini(&rig);
}

/* 512 wait in the work queue; the next one gets 429 at once, and none of the 512 is lost. */
static void test_busy(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *waiting[QUEUE_CAPACITY_STORAGE_WORK];
	for (unsigned i = 0; i < QUEUE_CAPACITY_STORAGE_WORK; i++) {
		waiting[i] = rig_connect(&rig);
		rig_say(waiting[i], GET("/job"));
		CU_ASSERT_EQUAL(waiting[i]->wire_len, 0);
	}
	struct rig_conn *c = rig_connect(&rig);
	rig_say(c, GET("/job"));
	struct rig_reply reply = rig_reply(c, "GET");
	rig_check_error(&reply, 429, "busy");
	CU_ASSERT_EQUAL(tally_get(rig.tally, TALLY_BUSY_REJECTIONS + LABEL_ROUTE_OBJECT), 1);
	CU_ASSERT_EQUAL(tally_get(rig.tally, TALLY_QUEUE_DROPPED + QUEUE_STORAGE_WORK), 1);
	CU_ASSERT_EQUAL(rig_rejected(&rig, REASON_BUSY), 1);
	CU_ASSERT_EQUAL(rig_work(&rig), QUEUE_CAPACITY_STORAGE_WORK);
	rig_turn(&rig);
	for (unsigned i = 0; i < QUEUE_CAPACITY_STORAGE_WORK; i++)
		CU_ASSERT_EQUAL(rig_reply(waiting[i], "GET").status, 200);
	CU_ASSERT_EQUAL(rig_ask(c, "GET", GET("/job")).status, 200);
	rig_fini(&rig);
}

/* the gauge of requests under way, and the histogram. */
static void test_metrics(void)
{
	unsigned gauge = TALLY_INFLIGHT_REQUESTS + LABEL_ROUTE_OBJECT;
	unsigned hist = TALLY_REQUEST_LATENCY + LABEL_ROUTE_OBJECT * HIST_CELLS;
	uint64_t observed = 0;
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	rig_say(c, GET("/job"));
	CU_ASSERT_EQUAL(tally_get(rig.tally, gauge), 1);
	rig_pass_ms(&rig, 20);
	rig_work(&rig);
	rig_turn(&rig);
	CU_ASSERT_EQUAL(tally_get(rig.tally, gauge), 0);
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		observed += tally_get(rig.tally, hist + i);
	CU_ASSERT_EQUAL(observed, 1);
	CU_ASSERT_EQUAL(tally_get(rig.tally, hist + HIST_BUCKETS), 20000000);
	rig_fini(&rig);
}

/* what is answered within one turn takes as long as the turn, by one reading of the clock. */
static void test_latency_of_a_turn(void)
{
	unsigned hist = TALLY_REQUEST_LATENCY + LABEL_ROUTE_OBJECT * HIST_CELLS;
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	for (unsigned i = 0; i < 3; i++)
		rig_say(c, GET("/echo"));
	CU_ASSERT_EQUAL(tally_get(rig.tally, hist + HIST_BUCKETS), 0);
	http_server_turn_end(rig.server, 15000);
	CU_ASSERT_EQUAL(tally_get(rig.tally, hist), 0);
	CU_ASSERT_EQUAL(tally_get(rig.tally, hist + 1), 3);
	CU_ASSERT_EQUAL(tally_get(rig.tally, hist + HIST_BUCKETS), 45000);
	http_server_turn_end(rig.server, 15000);
	CU_ASSERT_EQUAL(tally_get(rig.tally, hist + HIST_BUCKETS), 45000);
	rig_fini(&rig);
}

static const struct unit_case cases[] = {
	{"pieces", test_pieces},
	{"backpressure", test_backpressure},
	{"heads_wait", test_heads_wait},
	{"cut", test_cut},
	{"gone_while_sending", test_gone_while_sending},
	{"gone_while_pending", test_gone_while_pending},
	{"job_error", test_job_error},
	{"busy", test_busy},
	{"metrics", test_metrics},
	{"latency_of_a_turn", test_latency_of_a_turn},
};

UNIT_MAIN("http_conn_reply", cases)
