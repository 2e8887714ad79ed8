/* Requests of every shape through the real state machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/dataplane/http/http_rig_service.h"

static struct rig rig;
static struct rig_service service;

#define GET_HELLO "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"

static void expect_body(const struct rig_reply *reply, const char *text)
{
	CU_ASSERT_EQUAL(reply->status, 200);
	CU_ASSERT_EQUAL(reply->body_len, strlen(text));
	CU_ASSERT(
		reply->body_len == strlen(text) && memcmp(reply->body, text, reply->body_len) == 0);
}

/* every answer says what it must. */
static void test_fields(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	struct rig_reply reply =
		rig_ask(c, "GET", "GET /hello/a%20b?x=1 HTTP/1.1\r\nHost: a\r\n\r\n");
	expect_body(&reply, "hello");
	CU_ASSERT_STRING_EQUAL(service.path, "/hello/a b");
	CU_ASSERT_STRING_EQUAL(service.below, "/a b");
	CU_ASSERT_STRING_EQUAL(service.query, "x=1");
	const char *date = rig_field(&reply, "Date");
	CU_ASSERT(date != NULL && strlen(date) == 29 && strcmp(date + 26, "GMT") == 0);
	CU_ASSERT_STRING_EQUAL(rig_field(&reply, "Content-Type"), "text/plain");
	CU_ASSERT_STRING_EQUAL(rig_field(&reply, "Referrer-Policy"), "no-referrer");
	CU_ASSERT_STRING_EQUAL(rig_field(&reply, "X-Content-Type-Options"), "nosniff");
	CU_ASSERT_PTR_NULL(rig_field(&reply, "Connection"));
	CU_ASSERT_EQUAL(tally_get(rig.tally, tally_http_cell(LABEL_ROUTE_OBJECT, LABEL_METHOD_GET,
						     LABEL_STATUS_200)),
		1);
	rig_fini(&rig);
}

/* a valid X-Corr-ID is echoed, another is replaced; generated ones are valid and never the same. */
static void test_corr_id(void)
{
	static const struct {
		const char *sent;
		bool is_kept;
	} cases[] = {
		{"abc-DEF_0.9", true},
		{"0123456789012345678901234567890123456789012345678901234567890123", true},
		{"01234567890123456789012345678901234567890123456789012345678901234", false},
		{"with space", false},
		{"quote\"", false},
		{"", false},
	};
	char request[256], last[128] = "";
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		snprintf(request, sizeof(request),
			"GET /hello HTTP/1.1\r\nHost: a\r\nX-Corr-ID: %s\r\n\r\n", cases[i].sent);
		struct rig_reply reply = rig_ask(c, "GET", request);
		const char *got = rig_field(&reply, "X-Corr-ID");
		CU_ASSERT_FATAL(got != NULL);
		CU_ASSERT_EQUAL(strcmp(got, cases[i].sent) == 0, cases[i].is_kept);
		CU_ASSERT(http_field_corr_id_is_valid(
			(struct span){(const uint8_t *)got, strlen(got)}));
		CU_ASSERT_STRING_NOT_EQUAL(got, last);
		snprintf(last, sizeof(last), "%s", got);
	}
	rig_fini(&rig);
}

static void check_split(const char *text, size_t cut, const char *body)
{
	struct rig_conn *c = rig_connect(&rig);
	rig_give(c, text, cut);
	rig_give(c, text + cut, strlen(text) - cut);
	struct rig_reply reply = rig_reply(c, "POST");
	expect_body(&reply, body);
	struct rig_reply after = rig_ask(c, "GET", GET_HELLO);
	expect_body(&after, "hello");
	rig_reset(c);
}

/* split at every byte. */
static void test_split(void)
{
	static const char with_length[] =
		"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nsome body";
	static const char chunked[] =
		"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
		"4;x=y\r\nsome\r\n05\r\n body\r\n0\r\nTrailer: t\r\n\r\n";
	rig_service_start(&rig, &service);
	for (size_t cut = 0; cut < sizeof(with_length); cut++)
		check_split(with_length, cut, "some body");
	for (size_t cut = 0; cut < sizeof(chunked); cut++)
		check_split(chunked, cut, "some body");
	struct rig_conn *c = rig_connect(&rig);
	for (size_t i = 0; i < sizeof(chunked) - 1; i++)
		rig_give(c, chunked + i, 1);
	struct rig_reply reply = rig_reply(c, "POST");
	expect_body(&reply, "some body");
	rig_fini(&rig);
}

/* 100 pipelined requests of mixed kinds come back in order; the burst limit leaves the rest to the next turns. */
static void test_pipelined(void)
{
	char all[20000] = "", want[8];
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	for (unsigned i = 0; i < 100; i++)
		sprintf(all + strlen(all),
			"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n%03u", i);
	rig_say(c, all);
	CU_ASSERT_EQUAL(service.handled, LIMIT_HTTP_PIPELINE_BURST);
	CU_ASSERT(http_server_turn(rig.server) == 1);
	CU_ASSERT_EQUAL(service.handled, 2 * LIMIT_HTTP_PIPELINE_BURST);
	rig_turn(&rig);
	rig_turn(&rig);
	CU_ASSERT_EQUAL(http_server_turn(rig.server), 0);
	for (unsigned i = 0; i < 100; i++) {
		struct rig_reply reply = rig_reply(c, "POST");
		snprintf(want, sizeof(want), "%03u", i);
		expect_body(&reply, want);
	}
	CU_ASSERT_EQUAL(c->wire_read, c->wire_len);
	rig_fini(&rig);
}

/* Answers of one turn leave in one flush, and one client's burst does not hold up another. */
static void test_fair(void)
{
	char all[4000] = "";
	rig_service_start(&rig, &service);
	struct rig_conn *greedy = rig_connect(&rig), *modest = rig_connect(&rig);
	for (unsigned i = 0; i < 40; i++)
		strcat(all, GET_HELLO);
	rig_say(greedy, all);
	CU_ASSERT_EQUAL(service.handled, LIMIT_HTTP_PIPELINE_BURST);
	struct rig_reply reply = rig_ask(modest, "GET", GET_HELLO);
	expect_body(&reply, "hello");
	CU_ASSERT_EQUAL(modest->flushes, 1);
	rig_turn(&rig);
	CU_ASSERT_EQUAL(service.handled, 41);
	rig_fini(&rig);
}

/* A pipelined request behind a pending one waits for it. */
static void test_order_behind_job(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	rig_say(c, "GET /job HTTP/1.1\r\nHost: a\r\n\r\n" GET_HELLO);
	rig_turn(&rig);
	CU_ASSERT_EQUAL(c->wire_len, 0);
	rig_work(&rig);
	rig_turn(&rig);
	struct rig_reply first = rig_reply(c, "GET");
	expect_body(&first, "done");
	struct rig_reply second = rig_reply(c, "GET");
	expect_body(&second, "hello");
	rig_fini(&rig);
}

struct error_case {
	const char *request;
	int status;
	const char *code;
	bool is_closed;
};

/* each refusal has its status and the JSON body; what leaves the framing in doubt closes. */
static void test_errors(void)
{
	static const struct error_case cases[] = {
		{"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n", 404, "not_found", false},
		{"POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", 404,
			"not_found", true},
		{"DELETE /hello HTTP/1.1\r\nHost: a\r\n\r\n", 405, "method_not_allowed", false},
		{"BREW /hello HTTP/1.1\r\nHost: a\r\n\r\n", 501, "not_implemented", false},
		{"GET /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", 400, "bad_request",
			true},
		{"GET /hello HTTP/1.1\r\n\r\n", 400, "bad_request", true},
		{"GET /%2e%2e/x HTTP/1.1\r\nHost: a\r\n\r\n", 400, "bad_request", true},
		{"GET /a%00b HTTP/1.1\r\nHost: a\r\n\r\n", 400, "bad_request", true},
		{"GET /hello HTTP/1.1\nHost: a\n\n", 400, "bad_request", true},
		{"GET /hello HTTP/2.0\r\nHost: a\r\n\r\n", 505, "http_version", true},
		{"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: "
		 "chunked\r\n\r\n0\r\n\r\n",
			400, "bad_request", true},
		{"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400,
			"bad_request", true},
		{"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Encoding: br\r\nContent-Length: "
		 "4\r\n\r\n",
			415, "unsupported_coding", true},
		{"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip, "
		 "gzip\r\nContent-Length: 4\r\n\r\n",
			415, "unsupported_coding", true},
		{"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Encoding: "
		 "gzip\r\n"
		 "Content-Length: 4\r\n\r\n",
			415, "unsupported_coding", true},
		{"POST /deny HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n", 403, "forbidden",
			true},
		{"POST /deny HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", 403, "forbidden",
			false},
		{"POST /echo HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nContent-Length: 4\r\n\r\n", 400,
			"bad_request", true},
		{"GET /hello HTTP/1.1\r\nHost: a\r\nRequest-Timeout: soon\r\n\r\n", 400,
			"bad_request", false},
		{"GET /hello HTTP/1.1\r\nHost: a\r\nRequest-Timeout: 0\r\n\r\n", 504, "timeout",
			false},
		{"GET /hello HTTP/1.1\r\nHost: a\r\nDeadline: 1000\r\n\r\n", 504, "timeout", false},
		{"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 404, "not_found", false},
	};
	rig_service_start(&rig, &service);
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig_conn *c = rig_connect(&rig);
		struct rig_reply reply = rig_ask(c, "GET", cases[i].request);
		if (reply.status != cases[i].status)
			printf("case %u: %d instead of %d\n", i, reply.status, cases[i].status);
		rig_check_error(&reply, cases[i].status, cases[i].code);
		const char *connection = rig_field(&reply, "Connection");
		CU_ASSERT_EQUAL(
			connection != NULL && strcmp(connection, "close") == 0, cases[i].is_closed);
		CU_ASSERT_EQUAL(c->is_closing, cases[i].is_closed);
		if (cases[i].status == 405)
			CU_ASSERT_STRING_EQUAL(rig_field(&reply, "Allow"), "GET, HEAD");
	}
	CU_ASSERT_EQUAL(service.handled, 0);
	CU_ASSERT(rig_rejected(&rig, REASON_MALFORMED) > 5);
	CU_ASSERT_EQUAL(rig_rejected(&rig, REASON_CODING), 3);
	CU_ASSERT_EQUAL(rig_rejected(&rig, REASON_FORBIDDEN), 2);
	CU_ASSERT_EQUAL(rig_rejected(&rig, REASON_DEADLINE), 2);
	CU_ASSERT_EQUAL(rig_rejected(&rig, REASON_NO_ROUTE), 5);
	rig_fini(&rig);
}

/* The limits of the head reach the client as 414 and 431. */
static void test_head_limits(void)
{
	static char big[LIMIT_HTTP_HEAD_BYTES + 100];
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	strcpy(big, "GET /");
	memset(big + 5, 'a', LIMIT_HTTP_TARGET_BYTES);
	strcpy(big + 5 + LIMIT_HTTP_TARGET_BYTES, " HTTP/1.1\r\nHost: a\r\n\r\n");
	struct rig_reply reply = rig_ask(c, "GET", big);
	rig_check_error(&reply, 414, "target_too_long");
	c = rig_connect(&rig);
	strcpy(big, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
	memset(big + strlen(big), 'a', LIMIT_HTTP_HEAD_BYTES - strlen(big));
	strcpy(big + LIMIT_HTTP_HEAD_BYTES, "\r\n\r\n");
	reply = rig_ask(c, "GET", big);
	rig_check_error(&reply, 431, "headers_too_large");
	rig_turn(&rig);
	CU_ASSERT(c->is_closed);
	CU_ASSERT_EQUAL(rig_rejected(&rig, REASON_HEADER_LIMIT), 2);
	rig_fini(&rig);
}

/* The detail of an error is JSON, whatever is in it. */
static void test_detail_is_escaped(void)
{
	rig_service_start(&rig, &service);
	struct rig_reply reply = rig_ask(rig_connect(&rig), "POST",
		"POST /deny HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
	rig_check_error(&reply, 403, "forbidden");
	CU_ASSERT(memmem(reply.body, reply.body_len, "a \\\"quoted\\\" \\\\ reason\\u000a", 26) !=
		  NULL);
	rig_fini(&rig);
}

static void say_length(struct rig_conn *c, size_t length)
{
	char head[128];
	snprintf(head, sizeof(head),
		"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n", length);
	rig_say(c, head);
}

static void give_filled(struct rig_conn *c, size_t length)
{
	uint8_t *data = malloc(length);
	MUST(data != NULL);
	memset(data, 1, length);
	rig_give(c, data, length);
	free(data);
}

/* exactly the cap is taken, one more is refused before the body is read. */
static void test_cap_length(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	say_length(c, LIMIT_BODY_BYTES);
	CU_ASSERT_EQUAL(c->wire_len, 0);
	give_filled(c, LIMIT_BODY_BYTES);
	struct rig_reply reply = rig_reply(c, "POST");
	expect_body(&reply, "1048576 1048576");
	CU_ASSERT_EQUAL(rig.blocks_out, 0);
	say_length(c, LIMIT_BODY_BYTES + 1);
	reply = rig_reply(c, "POST");
	rig_check_error(&reply, 413, "body_cap");
	CU_ASSERT(c->is_closing);
	c = rig_connect(&rig);
	rig_say(c, "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: "
		   "1048577\r\n\r\n");
	reply = rig_reply(c, "POST");
	rig_check_error(&reply, 413, "body_cap"); /* and no 100 before it */
	CU_ASSERT_EQUAL(rig_rejected(&rig, REASON_BODY_CAP), 2);
	rig_fini(&rig);
}

static void say_chunk(struct rig_conn *c, size_t length)
{
	char size[32];
	snprintf(size, sizeof(size), "%zx\r\n", length);
	rig_say(c, size);
	give_filled(c, length);
	rig_say(c, "\r\n");
}

#define CHUNKED "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

/* the same while reading. */
static void test_cap_chunked(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	rig_say(c, CHUNKED);
	say_chunk(c, LIMIT_BODY_BYTES - 5);
	say_chunk(c, 5);
	rig_say(c, "0\r\n\r\n");
	struct rig_reply reply = rig_reply(c, "POST");
	expect_body(&reply, "1048576 1048576");
	rig_say(c, CHUNKED);
	say_chunk(c, LIMIT_BODY_BYTES - 5);
	rig_say(c, "6\r\n"); /* announced is enough */
	reply = rig_reply(c, "POST");
	rig_check_error(&reply, 413, "body_cap");
	CU_ASSERT_EQUAL(rig.blocks_out, 0);
	c = rig_connect(&rig);
	rig_say(c, CHUNKED "ffffffffffffffff\r\nx");
	reply = rig_reply(c, "POST");
	rig_check_error(&reply, 413, "body_cap");
	rig_fini(&rig);
}

/* The cap is the configuration's, read anew for each request. */
static void test_cap_configured(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	rig.conf.http_body_max_bytes = 10;
	struct rig_reply reply = rig_ask(c, "POST",
		"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789");
	expect_body(&reply, "0123456789");
	say_length(c, 11);
	reply = rig_reply(c, "POST");
	rig_check_error(&reply, 413, "body_cap");
	rig_fini(&rig);
}

/* 100 Continue once the head is accepted, unless the body is there already. */
static void test_continue(void)
{
	static const char head[] = "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: "
				   "100-continue\r\nContent-Length: 2\r\n\r\n";
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	rig_say(c, head);
	CU_ASSERT_STRING_EQUAL(c->wire, "HTTP/1.1 100 Continue\r\n\r\n");
	struct rig_reply reply = rig_reply(c, "POST");
	CU_ASSERT_EQUAL(reply.status, 100);
	rig_say(c, "ok");
	reply = rig_reply(c, "POST");
	expect_body(&reply, "ok");
	char all[256];
	snprintf(all, sizeof(all), "%sok", head);
	reply = rig_ask(c, "POST", all);
	expect_body(&reply, "ok");
	rig_say(c, "POST /deny HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: "
		   "2\r\n\r\n");
	reply = rig_reply(c, "POST");
	rig_check_error(&reply, 403, "forbidden");
	rig_fini(&rig);
}

/* HEAD: the head of a GET, and not a byte more. */
static void test_head(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	static const char *const paths[] = {"/hello", "/ref", "/stream", "/nothing"};
	char request[128];
	for (unsigned i = 0; i < ARRAY_LEN(paths); i++) {
		snprintf(request, sizeof(request), "HEAD %s HTTP/1.1\r\nHost: a\r\n\r\n", paths[i]);
		struct rig_reply reply = rig_ask(c, "HEAD", request);
		CU_ASSERT_EQUAL(reply.status, i == 3 ? 404 : 200);
		if (i < 2)
			CU_ASSERT_STRING_EQUAL(
				rig_field(&reply, "Content-Length"), i == 0 ? "5" : "100000");
		CU_ASSERT_EQUAL(c->wire_read, c->wire_len);
	}
	CU_ASSERT_EQUAL(service.refs_given, 0);
	CU_ASSERT_EQUAL(service.finished, 2);
	rig_fini(&rig);
}

static void test_http_1_0(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	struct rig_reply reply =
		rig_ask(c, "GET", "GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
	expect_body(&reply, "hello");
	CU_ASSERT_STRING_EQUAL(rig_field(&reply, "Connection"), "keep-alive");
	reply = rig_ask(c, "GET", "GET /hello HTTP/1.0\r\n\r\n");
	expect_body(&reply, "hello");
	CU_ASSERT_STRING_EQUAL(rig_field(&reply, "Connection"), "close");
	CU_ASSERT(c->is_closing);
	/* A body of unknown length ends with the connection. */
	c = rig_connect(&rig);
	reply = rig_ask(c, "GET", "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
	CU_ASSERT_EQUAL(reply.status, 200);
	CU_ASSERT(!reply.is_chunked);
	CU_ASSERT_EQUAL(reply.body_len, service.ref_bytes);
	CU_ASSERT(c->is_closing);
	rig_fini(&rig);
}

static void test_connection_close(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	struct rig_reply reply = rig_ask(
		c, "GET", "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" GET_HELLO);
	expect_body(&reply, "hello");
	CU_ASSERT_STRING_EQUAL(rig_field(&reply, "Connection"), "close");
	rig_turn(&rig);
	CU_ASSERT(c->is_closed && c->end == NET_END_CLOSED);
	CU_ASSERT_EQUAL(service.handled, 1);
	rig_fini(&rig);
}

/* A client that has ended its side still gets its answers. */
static void test_half_closed(void)
{
	rig_service_start(&rig, &service);
	struct rig_conn *c = rig_connect(&rig);
	rig_say(c, GET_HELLO "GET /job HTTP/1.1\r\nHost: a\r\n\r\n" GET_HELLO);
	rig_eof(c);
	rig_turn(&rig);
	CU_ASSERT(!c->is_closing);
	rig_work(&rig);
	rig_turn(&rig);
	static const char *const bodies[] = {"hello", "done", "hello"};
	for (unsigned i = 0; i < 3; i++) {
		struct rig_reply reply = rig_reply(c, "GET");
		expect_body(&reply, bodies[i]);
	}
	CU_ASSERT(c->is_closed);
	rig_fini(&rig);
}

/* Ending inside a request is an error of the client's; ending between two is not. */
static void test_truncated(void)
{
	static const char *const starts[] = {"GET /he",
		"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab",
		"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"};
	rig_service_start(&rig, &service);
	for (unsigned i = 0; i < ARRAY_LEN(starts); i++) {
		struct rig_conn *c = rig_connect(&rig);
		rig_say(c, starts[i]);
		rig_eof(c);
		struct rig_reply reply = rig_reply(c, "GET");
		rig_check_error(&reply, 400, "bad_request");
	}
	struct rig_conn *c = rig_connect(&rig);
	rig_eof(c);
	rig_turn(&rig);
	CU_ASSERT(c->is_closed);
	CU_ASSERT_EQUAL(c->wire_len, 0);
	rig_fini(&rig);
}

/* No block left for the body: the store's error, and everything is given back. */
static void test_blocks_run_out(void)
{
	rig_service_start(&rig, &service);
	rig.blocks_left = 2;
	struct rig_conn *c = rig_connect(&rig);
	say_length(c, 2 * LIMIT_CHUNK_BYTES);
	give_filled(c, 2 * LIMIT_CHUNK_BYTES);
	struct rig_reply reply = rig_reply(c, "POST");
	CU_ASSERT_EQUAL(reply.status, 200);
	say_length(c, 2 * LIMIT_CHUNK_BYTES + 1);
	give_filled(c, 2 * LIMIT_CHUNK_BYTES + 1);
	reply = rig_reply(c, "POST");
	rig_check_error(&reply, 507, "storage_full");
	CU_ASSERT_EQUAL(rig.blocks_out, 0);
	CU_ASSERT_EQUAL(rig_rejected(&rig, REASON_STORAGE_FULL), 1);
	rig_fini(&rig);
}

/* all slots taken. */
static void test_conn_cap(void)
{
	rig_init(&rig);
	rig_service_init(&service);
	rig_start(&rig, &(struct rig_conf){
				.route = rig_service_route, .route_ctx = &service, .conns_max = 2});
	CU_ASSERT_PTR_NOT_NULL(rig_connect(&rig));
	struct rig_conn *c = rig_connect(&rig);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	CU_ASSERT_PTR_NULL(rig_connect(&rig));
	CU_ASSERT_EQUAL(rig_rejected(&rig, REASON_CONN_CAP), 1);
	rig_reset(c);
	CU_ASSERT_PTR_NOT_NULL(rig_connect(&rig));
	rig_fini(&rig);
}

static const struct unit_case cases[] = {
	{"fields", test_fields},
	{"corr_id", test_corr_id},
	{"split", test_split},
	{"pipelined", test_pipelined},
	{"fair", test_fair},
	{"order_behind_job", test_order_behind_job},
	{"errors", test_errors},
	{"head_limits", test_head_limits},
	{"detail_is_escaped", test_detail_is_escaped},
	{"cap_length", test_cap_length},
	{"cap_chunked", test_cap_chunked},
	{"cap_configured", test_cap_configured},
	{"continue", test_continue},
	{"head", test_head},
	{"http_1_0", test_http_1_0},
	{"connection_close", test_connection_close},
	{"half_closed", test_half_closed},
	{"truncated", test_truncated},
	{"blocks_run_out", test_blocks_run_out},
	{"conn_cap", test_conn_cap},
};

UNIT_MAIN("http_conn_request", cases)
