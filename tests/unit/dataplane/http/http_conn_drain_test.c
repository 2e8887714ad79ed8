/* Drain and abort, priority routes, per-address rates, and what `millctl conns` sees. */
#include <stdio.h>
#include <string.h>

#include "dataplane/net/ip_table.h"
#include "tests/unit/dataplane/http/http_rig_service.h"

static struct rig rig;
static struct rig_service service;

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"

static void test_drain(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *idle = rig_connect(&rig), *working = rig_connect(&rig),
			*partial = rig_connect(&rig);
	rig_say(working, GET("/job") GET("/hello"));
	rig_say(partial, "GET /hel");
	CU_ASSERT_EQUAL(http_server_busy(rig.server), 1);
	http_server_drain(rig.server);
	http_server_drain(rig.server); /* repeated is harmless */
	rig_turn(&rig);
	CU_ASSERT(http_server_is_draining(rig.server));
	CU_ASSERT(idle->is_closed && idle->wire_len == 0);
	struct rig_reply reply = rig_reply(partial, "GET");
	rig_check_error(&reply, 503, "draining");
	CU_ASSERT(partial->is_closed);
	/* New requests are refused, health is not. */
	struct rig_conn *late = rig_connect(&rig);
	rig_say(late, GET("/hello"));
	reply = rig_reply(late, "GET");
	rig_check_error(&reply, 503, "draining");
	CU_ASSERT_STRING_EQUAL(rig_field(&reply, "Connection"), "close");
	late = rig_connect(&rig);
	rig_say(late, GET("/live"));
	CU_ASSERT_EQUAL(rig_reply(late, "GET").status, 200);
	rig_turn(&rig);
	CU_ASSERT(late->is_closed);
	/* What was under way ends well. */
	CU_ASSERT_EQUAL(http_server_busy(rig.server), 1);
	rig_work(&rig);
	rig_turn(&rig);
	reply = rig_reply(working, "GET");
	CU_ASSERT_EQUAL(reply.status, 200);
	CU_ASSERT_STRING_EQUAL(rig_field(&reply, "Connection"), "close");
	CU_ASSERT(working->is_closed);
	CU_ASSERT_EQUAL(http_server_busy(rig.server), 0);
	CU_ASSERT_EQUAL(http_server_abort(rig.server), 0);
	CU_ASSERT_EQUAL(rig_rejected(&rig, REASON_DRAINING), 2);
	rig_fini(&rig);
}

/* An answer that has not left yet counts as busy; abort cuts it and tells how many there were. */
static void test_abort(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *sending = rig_connect(&rig), *working = rig_connect(&rig),
			*body = rig_connect(&rig);
	rig_open_window(sending, 0);
	rig_say(sending, GET("/hello"));
	rig_say(working, GET("/job"));
	rig_say(body, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc");
	http_server_drain(rig.server);
	rig_turn(&rig);
	CU_ASSERT_EQUAL(http_server_busy(rig.server), 3);
	CU_ASSERT_EQUAL(http_server_abort(rig.server), 3);
	CU_ASSERT_EQUAL(http_server_busy(rig.server), 0);
	CU_ASSERT_EQUAL(tally_get(rig.tally, TALLY_TASKS_ABORTED + LABEL_KIND_REQUEST), 3);
	CU_ASSERT(sending->is_closed && working->is_closed && body->is_closed);
	rig_fini(&rig);
}

/* the bucket of the client's address; health is free of it. */
static void test_rate(void)
{
	struct ip_table *ips;
	enum reason_id why;
	rig_init(&rig);
	rig_service_init(&service);
	CU_ASSERT_EQUAL_FATAL(ip_table_init(&ips, 16), 0);
	ip_table_limit(ips, &(struct ip_table_limits){.rate_per_s = 2, .burst = 3});
	rig_start(&rig,
		&(struct rig_conf){.route = rig_service_route, .route_ctx = &service, .ips = ips});
	struct rig_conn *c = rig_connect(&rig);
	CU_ASSERT_FATAL(ip_table_enter(ips, &c->pub.peer, rig.now_ns, &c->pub.ip_entry, &why));
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(rig_ask(c, "GET", GET("/hello")).status, 200);
	struct rig_reply reply = rig_ask(c, "GET", GET("/hello"));
	rig_check_error(&reply, 429, "quota");
	CU_ASSERT_EQUAL(rig_rejected(&rig, REASON_IP_RATE), 1);
	CU_ASSERT_EQUAL(rig_ask(c, "GET", GET("/live")).status, 200);
	rig_pass_ms(&rig, 501);
	CU_ASSERT_EQUAL(rig_ask(c, "GET", GET("/hello")).status, 200);
	rig_fini(&rig);
	ip_table_fini(ips);
}

static void test_describe(void)
{
	struct ask_conn rows[4];
	uint32_t count, cursor;
	rig_service_start(&rig, &service);
	struct rig_conn *conns[3];
	for (unsigned i = 0; i < 3; i++)
		conns[i] = rig_connect(&rig);
	rig_ask(conns[0], "GET", GET("/hello"));
	rig_say(conns[1], GET("/job"));
	rig_pass_ms(&rig, 1500);
	cursor = http_server_describe(rig.server, 0, rows, 2, &count);
	CU_ASSERT_EQUAL(count, 2);
	CU_ASSERT_NOT_EQUAL(cursor, UINT32_MAX);
	cursor = http_server_describe(rig.server, cursor, rows + 2, 2, &count);
	CU_ASSERT_EQUAL(count, 1);
	CU_ASSERT_EQUAL(cursor, UINT32_MAX);
	unsigned idle = 0, work = 0;
	for (unsigned i = 0; i < 3; i++) {
		idle += strcmp(rows[i].state, "idle") == 0;
		work += strcmp(rows[i].state, "work") == 0;
		CU_ASSERT_STRING_EQUAL(rows[i].peer, "127.0.0.1:40000");
		CU_ASSERT_EQUAL(rows[i].age_ms, 1500);
	}
	CU_ASSERT_EQUAL(idle, 2);
	CU_ASSERT_EQUAL(work, 1);
	CU_ASSERT_NOT_EQUAL(rows[0].id, rows[1].id);
	rig_fini(&rig);
}

static const struct unit_case cases[] = {
	{"drain", test_drain},
	{"abort", test_abort},
	{"rate", test_rate},
	{"describe", test_describe},
};

UNIT_MAIN("http_conn_drain", cases)
