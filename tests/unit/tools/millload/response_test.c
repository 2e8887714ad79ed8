#include "tools/millload/response.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/registry.h"
#include "tests/unit/unit.h"

static struct span span_of(const char *text)
{
	return (struct span){(const uint8_t *)text, strlen(text)};
}

static void reads_whole_answers(void)
{
	static const struct {
		const char *text;
		bool is_head;
		uint16_t status;
		uint64_t length;
		bool is_last;
	} table[] = {
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false, 200, 5, false},
		{"HTTP/1.1 200\r\ncontent-length:0\r\n\r\n", false, 200, 0, false},
		{"HTTP/1.1 404 Not Found\r\nX: y\r\nCONTENT-LENGTH: \t2 \r\n\r\nno", false, 404, 2,
			false},
		{"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", false, 200,
			1, true},
		{"HTTP/1.1 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx", false,
			200, 1, false},
		{"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", false, 200, 1, true},
		{"HTTP/1.1 204 No Content\r\n\r\n", false, 204, 0, false},
		{"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", false, 304, 0, false},
		{"HTTP/1.1 200 OK\r\nContent-Length: 1024\r\n\r\n", true, 200, 0, false},
		{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx",
			false, 201, 1, false},
		{"HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Type: "
		 "text/plain\r\nTrailer: x\r\nContent-Length: 3\r\n\r\nabc",
			false, 200, 3, false},
	};
	for (unsigned i = 0; i < ARRAY_LEN(table); i++) {
		struct response r;
		size_t used;
		struct span in = span_of(table[i].text);
		response_init(&r);
		CU_ASSERT_EQUAL(response_feed(&r, in, table[i].is_head, &used), RESPONSE_DONE);
		CU_ASSERT_EQUAL(used, in.len);
		CU_ASSERT_EQUAL(r.status, table[i].status);
		CU_ASSERT_EQUAL(r.length, table[i].length);
		CU_ASSERT_EQUAL(r.piece.len, table[i].length);
		CU_ASSERT_EQUAL(r.is_last, table[i].is_last);
	}
}

static void refuses(void)
{
	static const struct {
		const char *text;
		enum failure fault;
	} table[] = {
		{"HTTP/2 200 OK\r\nContent-Length: 0\r\n\r\n", FAILURE_MALFORMED},
		{"HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n", FAILURE_MALFORMED},
		{"http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", FAILURE_MALFORMED},
		{"HTTP/1.1  200 OK\r\nContent-Length: 0\r\n\r\n", FAILURE_MALFORMED},
		{"HTTP/1.1 20x OK\r\nContent-Length: 0\r\n\r\n", FAILURE_MALFORMED},
		{"HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n", FAILURE_MALFORMED},
		{"HTTP/1.1 600 OK\r\nContent-Length: 0\r\n\r\n", FAILURE_MALFORMED},
		{"HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n", FAILURE_MALFORMED},
		{"HTTP/1.1 20\r\n\r\n", FAILURE_MALFORMED},
		{"\r\n\r\n", FAILURE_MALFORMED},
		{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
			FAILURE_MALFORMED},
		{"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", FAILURE_MALFORMED},
		{"HTTP/1.1 200 OK\r\nContent-Length: 1,1\r\n\r\n", FAILURE_MALFORMED},
		{"HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n", FAILURE_MALFORMED},
		{"HTTP/1.1 200 OK\r\nContent-Length: 1234567890123456\r\n\r\n", FAILURE_MALFORMED},
		{"HTTP/1.1 200 OK\r\nNo colon\r\n\r\n", FAILURE_MALFORMED},
		{"HTTP/1.1 200 OK\r\n: no name\r\n\r\n", FAILURE_MALFORMED},
		{"HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n", FAILURE_MALFORMED},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", FAILURE_CHUNKED},
		{"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n", FAILURE_UNFRAMED},
	};
	for (unsigned i = 0; i < ARRAY_LEN(table); i++) {
		struct response r;
		size_t used;
		response_init(&r);
		CU_ASSERT_EQUAL(
			response_feed(&r, span_of(table[i].text), false, &used), RESPONSE_BAD);
		CU_ASSERT_EQUAL(r.fault, table[i].fault);
	}
}

/* The longest length that is read, and one digit more (above). */
static void length_limit(void)
{
	struct response r;
	size_t used;
	response_init(&r);
	struct span in = span_of("HTTP/1.1 200 OK\r\nContent-Length: 123456789012345\r\n\r\nab");
	CU_ASSERT_EQUAL(response_feed(&r, in, false, &used), RESPONSE_MORE);
	CU_ASSERT_EQUAL(r.length, 123456789012345ull);
	CU_ASSERT_EQUAL(r.at, 2);
}

/* Wherever the bytes are cut, the same answers come out. */
static void cuts_do_not_matter(void)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
				   "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"
				   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nyo";
	for (size_t cut = 0; cut < sizeof(text); cut++) {
		const size_t arrived[] = {cut, sizeof(text) - 1};
		struct response r;
		response_init(&r);
		char bodies[16] = "";
		unsigned done = 0, sum = 0;
		size_t at = 0;
		for (unsigned i = 0; i < ARRAY_LEN(arrived); i++) {
			size_t used = 1;
			while (at < arrived[i] && used != 0) {
				struct span in = {(const uint8_t *)text + at, arrived[i] - at};
				enum response_verdict v = response_feed(&r, in, false, &used);
				CU_ASSERT_NOT_EQUAL_FATAL(v, RESPONSE_BAD);
				strncat(bodies, (const char *)r.piece.data, r.piece.len);
				at += used;
				done += v == RESPONSE_DONE;
				sum += v == RESPONSE_DONE ? r.status : 0;
			}
		}
		CU_ASSERT_EQUAL(at, sizeof(text) - 1);
		CU_ASSERT_EQUAL(done, 3);
		CU_ASSERT_EQUAL(sum, 804);
		CU_ASSERT_STRING_EQUAL(bodies, "helloyo");
	}
}

/* A part of a head takes nothing and asks for more, for each length of the part. */
static void heads_wait_until_whole(void)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	for (size_t len = 0; len < sizeof(text) - 1; len++) {
		struct response r;
		size_t used = 99;
		response_init(&r);
		struct span in = {(const uint8_t *)text, len};
		CU_ASSERT_EQUAL(response_feed(&r, in, false, &used), RESPONSE_MORE);
		CU_ASSERT_EQUAL(used, 0);
	}
}

static void head_limit(void)
{
	char *text = malloc(LIMIT_HTTP_HEAD_BYTES);
	struct response r;
	size_t used;
	memset(text, 'a', LIMIT_HTTP_HEAD_BYTES);
	memcpy(text, "HTTP/1.1 200 OK\r\n", 17);
	response_init(&r);
	struct span in = {(const uint8_t *)text, LIMIT_HTTP_HEAD_BYTES - 1};
	CU_ASSERT_EQUAL(response_feed(&r, in, false, &used), RESPONSE_MORE);
	in.len++;
	CU_ASSERT_EQUAL(response_feed(&r, in, false, &used), RESPONSE_BAD);
	CU_ASSERT_EQUAL(r.fault, FAILURE_MALFORMED);
	free(text);
}

static const struct unit_case cases[] = {
	{"reads_whole_answers", reads_whole_answers},
	{"refuses", refuses},
	{"length_limit", length_limit},
	{"cuts_do_not_matter", cuts_do_not_matter},
	{"heads_wait_until_whole", heads_wait_until_whole},
	{"head_limit", head_limit},
};
UNIT_MAIN("tools/millload/response", cases)
