/* Timeouts and deadlines with a fake clock through the real wheel. */
#include <stdio.h>
#include <string.h>

#include "lib/clock/clock.h"
#include "tests/unit/dataplane/http/http_rig_service.h"

static struct rig rig;
static struct rig_service service;

#define GET_HELLO "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"

static uint64_t timeouts(enum label_op op)
{
	return tally_get(rig.tally, TALLY_IO_TIMEOUTS + op);
}

/* the idle clock ends a silent connection without a word, and each answer sets it back. */
static void test_idle(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	rig_pass_ms(&rig, 59999);
	CU_ASSERT(!c->is_closed);
	CU_ASSERT_EQUAL(rig_ask(c, "GET", GET_HELLO).status, 200);
	rig_pass_ms(&rig, 59999);
	CU_ASSERT(!c->is_closed);
	rig_pass_ms(&rig, 2);
	CU_ASSERT(c->is_closed);
	CU_ASSERT_EQUAL(c->wire_read, c->wire_len);
	CU_ASSERT_EQUAL(timeouts(LABEL_OP_IDLE), 1);
	rig_fini(&rig);
}

static void dribble(struct rig_conn *c, const char *text, unsigned step_ms)
{
	for (; *text != '\0' && !c->is_closing; text++) {
		rig_give(c, text, 1);
		rig_pass_ms(&rig, step_ms);
	}
}

/* the read clock runs from the first byte, however often bytes come; it does not run while nothing has come. */
static void test_dribbled_head(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	rig_pass_ms(&rig, 30000);
	uint64_t start = rig.now_ns;
	dribble(c, "GET /hello HTTP/1.1\r\nHost: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n\r\n", 120);
	struct rig_reply reply = rig_reply(c, "GET");
	rig_check_error(&reply, 408, "timeout_read");
	CU_ASSERT_STRING_EQUAL(rig_field(&reply, "Connection"), "close");
	CU_ASSERT(c->is_closed);
	CU_ASSERT(rig.now_ns - start >= 5000 * NS_PER_MS);
	CU_ASSERT(rig.now_ns - start <= 5200 * NS_PER_MS);
	CU_ASSERT_EQUAL(timeouts(LABEL_OP_READ), 1);
	CU_ASSERT_EQUAL(rig_rejected(&rig, REASON_READ_TIMEOUT), 1);
	rig_fini(&rig);
}

static void test_read_boundary(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *quick = rig_connect(&rig), *late = rig_connect(&rig);
	rig_say(quick, "GET /hello HTTP/1.1\r\n");
	rig_say(late, "GET /hello HTTP/1.1\r\n");
	rig_pass_ms(&rig, 4999);
	CU_ASSERT_EQUAL(rig_ask(quick, "GET", "Host: a\r\n\r\n").status, 200);
	CU_ASSERT_EQUAL(late->wire_len, 0);
	rig_pass_ms(&rig, 2);
	struct rig_reply reply = rig_reply(late, "GET");
	rig_check_error(&reply, 408, "timeout_read");
	rig_fini(&rig);
}

/* X-3 for the body, in both framings; the blocks come back. */
static void test_dribbled_body(void)
{
	static const char *const heads[] = {
		"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n",
		"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n",
	};
	char body[101];
	memset(body, 'x', 100);
	body[100] = '\0';
	rig_service_start(&rig, &service);
	for (unsigned i = 0; i < 2; i++) {
		struct rig_conn *c = rig_connect(&rig);
		rig_say(c, heads[i]);
		CU_ASSERT_EQUAL(rig.blocks_out, 0);
		dribble(c, body, 100);
		struct rig_reply reply = rig_reply(c, "POST");
		rig_check_error(&reply, 408, "timeout_read");
		CU_ASSERT(c->is_closed);
		CU_ASSERT_EQUAL(rig.blocks_out, 0);
	}
	rig_fini(&rig);
}

/* The timeouts are the configuration's, also for connections that are open. */
static void test_configured(void)
{
	rig_service_start(&rig, &service);
	rig.conf.http_read_timeout_ms = 200;
	struct rig_conn *c = rig_connect(&rig);
	rig_say(c, "GET");
	rig_pass_ms(&rig, 199);
	CU_ASSERT_EQUAL(c->wire_len, 0);
	rig_pass_ms(&rig, 2);
	struct rig_reply reply = rig_reply(c, "GET");
	rig_check_error(&reply, 408, "timeout_read");
	rig_fini(&rig);
}

/* a client that takes nothing for the write timeout is cut; one that takes a little now and then is not. */
static void test_write_stalled(void)
{
	rig_service_start(&rig, &service);
	service.ref_bytes = 1 << 20;
	struct rig_conn *slow = rig_connect(&rig), *stuck = rig_connect(&rig);
	rig_open_window(slow, 100);
	rig_open_window(stuck, 100);
	rig_say(slow, "GET /ref HTTP/1.1\r\nHost: a\r\n\r\n");
	rig_say(stuck, "GET /ref HTTP/1.1\r\nHost: a\r\n\r\n");
	for (unsigned i = 0; i < 4; i++) {
		rig_pass_ms(&rig, 1200);
		rig_open_window(slow, 50);
	}
	CU_ASSERT(!stuck->is_closed);
	for (unsigned i = 0; i < 8; i++) {
		rig_pass_ms(&rig, 1200);
		rig_open_window(slow, 50);
	}
	CU_ASSERT(stuck->is_closed && stuck->end == NET_END_ABORTED);
	CU_ASSERT(!slow->is_closed);
	CU_ASSERT_EQUAL(timeouts(LABEL_OP_WRITE), 1);
	CU_ASSERT_EQUAL(rig_rejected(&rig, REASON_WRITE_TIMEOUT), 1);
	rig_open_window(slow, SIZE_MAX);
	struct rig_reply reply = rig_reply(slow, "GET");
	CU_ASSERT_EQUAL(reply.status, 200);
	CU_ASSERT(reply.body_len == service.ref_bytes &&
		  memcmp(reply.body, service.data, service.ref_bytes) == 0);
	CU_ASSERT_EQUAL(service.refs_out, 0);
	rig_pass_ms(&rig, 20000);
	CU_ASSERT(!slow->is_closed);
	rig_fini(&rig);
}

/* The write clock goes on for an answer that was queued whole, and while a refused client is being closed. */
static void test_write_after_close(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	rig_open_window(c, 0);
	rig_say(c, "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
	CU_ASSERT(c->is_closing && !c->is_closed);
	rig_pass_ms(&rig, 4999);
	CU_ASSERT(!c->is_closed);
	rig_pass_ms(&rig, 1300);
	CU_ASSERT(c->is_closed && c->end == NET_END_ABORTED);
	rig_fini(&rig);
}

/* the deadline is the service's, or what the client asks for if that is less. */
static void test_deadline_chosen(void)
{
	static const struct {
		const char *field;
		uint64_t ms;
	} cases[] = {
		{"X: y", 5000},
		{"Request-Timeout: 2", 2000},
		{"Request-Timeout: 0.25", 250},
		{"Request-Timeout: 60", 5000},
		{"Request-Timeout: 99999999999999", 5000},
		{"Deadline: 99999999999", 5000},
	};
	char request[128];
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		snprintf(request, sizeof(request), "GET /hello HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n",
			cases[i].field);
		CU_ASSERT_EQUAL(rig_ask(c, "GET", request).status, 200);
		CU_ASSERT_EQUAL(service.deadline_ns, rig.now_ns + cases[i].ms * NS_PER_MS);
	}
	snprintf(request, sizeof(request),
		"GET /hello HTTP/1.1\r\nHost: a\r\nDeadline: %llu\r\n\r\n",
		(unsigned long long)(clock_wall_ns() / NS_PER_S + 3));
	CU_ASSERT_EQUAL(rig_ask(c, "GET", request).status, 200);
	CU_ASSERT(service.deadline_ns <= rig.now_ns + 3000 * NS_PER_MS);
	CU_ASSERT(service.deadline_ns > rig.now_ns);
	rig_fini(&rig);
}

/* the deadline covers a pending job: 504, the job is canceled, its late end changes nothing. */
static void test_deadline_of_job(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	rig_say(c, "GET /job HTTP/1.1\r\nHost: a\r\nRequest-Timeout: 1\r\n\r\n");
	rig_pass_ms(&rig, 999);
	CU_ASSERT_EQUAL(c->wire_len, 0);
	rig_pass_ms(&rig, 2);
	struct rig_reply reply = rig_reply(c, "GET");
	rig_check_error(&reply, 504, "timeout");
	CU_ASSERT_EQUAL(tally_get(rig.tally, TALLY_TASKS_CANCELED + LABEL_KIND_JOB), 1);
	CU_ASSERT_EQUAL(timeouts(LABEL_OP_DEADLINE), 1);
	rig_work(&rig);
	rig_turn(&rig);
	CU_ASSERT_EQUAL(service.jobs_orphaned, 1);
	CU_ASSERT_EQUAL(rig_ask(c, "GET", GET_HELLO).status, 200);
	CU_ASSERT_EQUAL(c->wire_read, c->wire_len);
	rig_fini(&rig);
}

/* A body that is slower than the deadline, but not than the read timeout. */
static void test_deadline_of_body(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	rig_say(c, "POST /echo HTTP/1.1\r\nHost: a\r\nRequest-Timeout: 1\r\nContent-Length: "
		   "3\r\n\r\na");
	rig_pass_ms(&rig, 1001);
	struct rig_reply reply = rig_reply(c, "POST");
	rig_check_error(&reply, 504, "timeout");
	CU_ASSERT(c->is_closed);
	rig_fini(&rig);
}

/* a reload also reaches connections that wait by the old timeouts already: silent ones and half-sent heads. */
static void test_retimed(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *idle = rig_connect(&rig);
	struct rig_conn *slow = rig_connect(&rig);
	rig_say(slow, "GET /hel");
	rig.conf.http_idle_timeout_ms = 300;
	rig.conf.http_read_timeout_ms = 200;
	http_server_retime(rig.server);
	rig_pass_ms(&rig, 198);
	CU_ASSERT(!idle->is_closed);
	CU_ASSERT(!slow->is_closed);
	rig_pass_ms(&rig, 4);
	CU_ASSERT(!idle->is_closed);
	struct rig_reply reply = rig_reply(slow, "GET");
	rig_check_error(&reply, 408, "timeout_read");
	rig_pass_ms(&rig, 100);
	CU_ASSERT(idle->is_closed);
	rig_fini(&rig);
}

static const struct unit_case cases[] = {
	{"idle", test_idle},
	{"dribbled_head", test_dribbled_head},
	{"read_boundary", test_read_boundary},
	{"dribbled_body", test_dribbled_body},
	{"configured", test_configured},
	{"retimed", test_retimed},
	{"write_stalled", test_write_stalled},
	{"write_after_close", test_write_after_close},
	{"deadline_chosen", test_deadline_chosen},
	{"deadline_of_job", test_deadline_of_job},
	{"deadline_of_body", test_deadline_of_body},
};

UNIT_MAIN("http_conn_timer", cases)
