#include "dataplane/http/http_chunked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

struct outcome {
	enum http_chunked_status status;
	enum err_id error;
	size_t used; /* in all */
	size_t len;
	uint8_t body[8192];
};

/* Feeds `step` bytes at a time, each in a buffer of exactly its size. */
static void decode(struct outcome *o, struct span in, size_t step)
{
	struct http_chunked c;
	http_chunked_init(&c);
	memset(o, 0, sizeof *o);
	o->status = HTTP_CHUNKED_MORE;
	while (o->used < in.len && o->status == HTTP_CHUNKED_MORE) {
		size_t n = in.len - o->used < step ? in.len - o->used : step, at = 0;
		uint8_t *copy = malloc(n);
		memcpy(copy, in.data + o->used, n);
		while (at < n && o->status == HTTP_CHUNKED_MORE) {
			size_t used;
			struct span data;
			o->status = http_chunked_feed(
				&c, (struct span){copy + at, n - at}, &used, &data);
			CU_ASSERT_FATAL(used <= n - at && data.len <= used);
			CU_ASSERT_FATAL(o->len + data.len <= sizeof o->body);
			memcpy(o->body + o->len, data.data, data.len);
			o->len += data.len;
			at += used;
		}
		o->used += at;
		free(copy);
	}
	o->error = c.error;
}

/* the same body and the same end however the bytes arrive. */
static void decode_all_ways(struct outcome *o, struct span in)
{
	decode(o, in, in.len + 1);
	for (size_t step = 1; step <= in.len; step++) {
		struct outcome other;
		decode(&other, in, step);
		CU_ASSERT_EQUAL(memcmp(o, &other, sizeof other), 0);
	}
}

static void accepted(void)
{
	static const struct {
		struct span in;
		const char *body;
		size_t rest; /* bytes of the next request */
	} cases[] = {
		{SPAN_LITERAL("0\r\n\r\n"), "", 0},
		{SPAN_LITERAL("0\r\n\r\nGET"), "", 3},
		{SPAN_LITERAL("5\r\nhello\r\n0\r\n\r\n"), "hello", 0},
		{SPAN_LITERAL("0000000000000005\r\nhello\r\n000\r\n\r\n"), "hello", 0},
		{SPAN_LITERAL("a\r\n0123456789\r\nB\r\n0123456789a\r\n0\r\n\r\n"),
			"01234567890123456789a", 0},
		{SPAN_LITERAL("2\r\n\r\n\r\n1\r\nx\r\n0\r\n\r\n"), "\r\nx", 0},
		{SPAN_LITERAL("1;a\r\nx\r\n0;b=\"c;\\\" d\"\r\n\r\n"), "x", 0},
		{SPAN_LITERAL("1; a = b\t\r\nx\r\n0\r\n\r\n"), "x", 0},
		{SPAN_LITERAL("1\r\nx\r\n0\r\nTrailer: y\r\nB:\r\n\r\nrest"), "x", 4},
	};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct outcome o;
		decode_all_ways(&o, cases[i].in);
		CU_ASSERT_EQUAL(o.status, HTTP_CHUNKED_DONE);
		CU_ASSERT_EQUAL(o.used, cases[i].in.len - cases[i].rest);
		CU_ASSERT(o.len == strlen(cases[i].body) &&
			  memcmp(o.body, cases[i].body, o.len) == 0);
		for (size_t len = 0; len < o.used; len++) {
			struct outcome prefix;
			decode(&prefix, (struct span){cases[i].in.data, len}, 4096);
			CU_ASSERT_EQUAL(prefix.status, HTTP_CHUNKED_MORE);
		}
	}
}

/* every shape that another parser might read as another size or end. */
static void refused(void)
{
	static const struct span cases[] = {
		SPAN_LITERAL("\r\n"),
		SPAN_LITERAL("\n"),
		SPAN_LITERAL("x"),
		SPAN_LITERAL("g\r\n"),
		SPAN_LITERAL(" 5\r\n"),
		SPAN_LITERAL("5 \r\n"),
		SPAN_LITERAL("5\t\r\n"),
		SPAN_LITERAL("5 ;a\r\n"),
		SPAN_LITERAL("+5\r\n"),
		SPAN_LITERAL("-5\r\n"),
		SPAN_LITERAL("0x5\r\n"),
		SPAN_LITERAL("5_0\r\n"),
		SPAN_LITERAL("5h\r\n"),
		SPAN_LITERAL("5,5\r\n"),
		SPAN_LITERAL(";a\r\n"),
		SPAN_LITERAL("5\nhello"),
		SPAN_LITERAL("5\rx"),
		SPAN_LITERAL("5\r\r\n"),
		SPAN_LITERAL("5\0\r\n"),
		SPAN_LITERAL("5;a\n"),
		SPAN_LITERAL("5;a\rx"),
		SPAN_LITERAL("5;\0\r\n"),
		SPAN_LITERAL("5;\x7f\r\n"),
		SPAN_LITERAL("5\r\nhello\n"),
		SPAN_LITERAL("5\r\nhello\r0"),
		SPAN_LITERAL("5\r\nhello0"),
		SPAN_LITERAL("5\r\nhellox\r\n"),
		SPAN_LITERAL("5\r\nhello\r\n\r\n"),
		SPAN_LITERAL("00000000000000005\r\n"), /* 17 digits */
		SPAN_LITERAL("10000000000000000\r\n"),
		SPAN_LITERAL("0\r\n\n"),
		SPAN_LITERAL("0\r\n\rx"),
		SPAN_LITERAL("0\n"),
		SPAN_LITERAL("0\r\nX: a\n"),
		SPAN_LITERAL("0\r\nX: a\r\r"),
		SPAN_LITERAL("0\r\nX : a\r\n"),
		SPAN_LITERAL("0\r\n X: a\r\n"),
		SPAN_LITERAL("0\r\nX: a\r\n b\r\n"),
		SPAN_LITERAL("0\r\n: a\r\n"),
		SPAN_LITERAL("0\r\nX\r\n"),
		SPAN_LITERAL("0\r\nX: \0\r\n"),
		SPAN_LITERAL("0\r\nGET / HTTP/1.1\r\n"),
	};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct outcome o;
		decode_all_ways(&o, cases[i]);
		if (o.status != HTTP_CHUNKED_BAD)
			printf("  vector %u: status %d\n", i, (int)o.status);
		CU_ASSERT_EQUAL(o.status, HTTP_CHUNKED_BAD);
		CU_ASSERT_EQUAL(o.error, ERR_BAD_REQUEST);
	}
}

/* The largest size is taken as announced, so that the caller's cap sees it before the bytes. */
static void announced_size(void)
{
	struct http_chunked c;
	size_t used;
	struct span data;
	http_chunked_init(&c);
	CU_ASSERT_EQUAL(http_chunked_feed(&c, SPAN_LITERAL("ffffffffffffffff\r\n"), &used, &data),
		HTTP_CHUNKED_MORE);
	CU_ASSERT_EQUAL(c.left, UINT64_MAX);
	CU_ASSERT_EQUAL(data.len, 0);
	CU_ASSERT_EQUAL(
		http_chunked_feed(&c, SPAN_LITERAL("abc"), &used, &data), HTTP_CHUNKED_MORE);
	CU_ASSERT_EQUAL(used, 3);
	CU_ASSERT_EQUAL(data.len, 3);
	CU_ASSERT_EQUAL(c.left, UINT64_MAX - 3);
	CU_ASSERT_EQUAL(
		http_chunked_feed(&c, (struct span){NULL, 0}, &used, &data), HTTP_CHUNKED_MORE);
	CU_ASSERT_EQUAL(used, 0);
}

static void extension_limit(void)
{
	for (size_t over = 0; over <= 1; over++) {
		char text[LIMIT_HTTP_CHUNK_EXT_BYTES + 64] = "1;";
		size_t ext = LIMIT_HTTP_CHUNK_EXT_BYTES + over;
		memset(text + 2, 'e', ext - 1);
		strcpy(text + 1 + ext, "\r\nx\r\n0\r\n\r\n");
		struct outcome o;
		decode(&o, (struct span){(uint8_t *)text, strlen(text)}, 4096);
		CU_ASSERT_EQUAL(o.status, over == 0 ? HTTP_CHUNKED_DONE : HTTP_CHUNKED_BAD);
		CU_ASSERT_EQUAL(o.error, over == 0 ? ERR_NONE : ERR_BAD_REQUEST);
	}
}

/* The line ends count; the empty line that ends the trailers does not. */
static void trailer_limit(void)
{
	for (size_t over = 0; over <= 1; over++) {
		for (unsigned lines = 1; lines <= 2; lines++) {
			char text[LIMIT_HTTP_TRAILER_BYTES + 64];
			size_t n = LIMIT_HTTP_TRAILER_BYTES + over;
			memcpy(text, "0\r\n", 3);
			memset(text + 3, 't', n);
			memcpy(text + 3, "x:", 2);
			if (lines == 2)
				memcpy(text + 100, "\r\ny:", 4);
			strcpy(text + 3 + n - 2, "\r\n\r\n");
			struct outcome o;
			for (size_t step = 1; step < 9000; step += 4500) {
				decode(&o, (struct span){(uint8_t *)text, strlen(text)}, step);
				CU_ASSERT_EQUAL(
					o.status, over == 0 ? HTTP_CHUNKED_DONE : HTTP_CHUNKED_BAD);
				CU_ASSERT_EQUAL(o.error, over == 0 ? ERR_NONE : ERR_HEADERS_LARGE);
			}
		}
	}
}

static void heads(void)
{
	static const struct {
		uint64_t len;
		const char *text;
	} cases[] = {
		{1, "1\r\n"},
		{15, "f\r\n"},
		{16, "10\r\n"},
		{255, "ff\r\n"},
		{256, "100\r\n"},
		{65536, "10000\r\n"},
		{0x123456789abcdef0, "123456789abcdef0\r\n"},
		{UINT64_MAX, "ffffffffffffffff\r\n"},
	};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		char out[HTTP_CHUNKED_HEAD_BYTES];
		size_t n = http_chunked_head(out, cases[i].len);
		CU_ASSERT(n == strlen(cases[i].text) && memcmp(out, cases[i].text, n) == 0);
	}
}

/* What we send, we read. */
static void round_trip(void)
{
	char text[512];
	size_t n = http_chunked_head(text, 300);
	memset(text + n, 'd', 300);
	strcpy(text + n + 300, HTTP_CHUNKED_TAIL HTTP_CHUNKED_END);
	struct outcome o;
	decode_all_ways(&o, (struct span){(uint8_t *)text, strlen(text)});
	CU_ASSERT_EQUAL(o.status, HTTP_CHUNKED_DONE);
	CU_ASSERT_EQUAL(o.len, 300);
}

static const struct unit_case cases[] = {
	{"accepted", accepted},
	{"refused", refused},
	{"announced size", announced_size},
	{"extension limit", extension_limit},
	{"trailer limit", trailer_limit},
	{"heads", heads},
	{"round trip", round_trip},
};

UNIT_MAIN("dataplane/http/http_chunked", cases)
