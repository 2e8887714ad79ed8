#include "dataplane/http/http_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

/* What a parse came to, with copies: independent of buffers. */
struct outcome {
	enum http_parse_status status;
	struct http_parse p;
};

static bool slices_equal(const struct http_parse *a, const struct http_parse *b)
{
	if (memcmp(&a->method_text, &b->method_text, sizeof a->method_text) != 0 ||
		memcmp(&a->target, &b->target, sizeof a->target) != 0 ||
		memcmp(&a->path_query, &b->path_query, sizeof a->path_query) != 0 ||
		memcmp(&a->host, &b->host, sizeof a->host) != 0)
		return false;
	return memcmp(a->fields, b->fields, a->field_count * sizeof a->fields[0]) == 0;
}

static bool outcomes_equal(const struct outcome *x, const struct outcome *y)
{
	const struct http_parse *a = &x->p, *b = &y->p;
	if (x->status != y->status || a->error != b->error || a->detail != b->detail ||
		a->field_count != b->field_count || a->method != b->method)
		return false;
	if (x->status == HTTP_PARSE_BAD)
		return slices_equal(a, b);
	return a->head_bytes == b->head_bytes && a->minor_version == b->minor_version &&
	       a->form == b->form && a->body == b->body && a->keep_alive == b->keep_alive &&
	       a->expect_continue == b->expect_continue && a->seen == b->seen &&
	       a->repeated == b->repeated && a->content_length == b->content_length &&
	       slices_equal(a, b);
}

/* Shows the first `len` bytes in a buffer of exactly that size, so that a sanitizer sees a read
 * past the end, and at another address each time, as the header allows. */
static enum http_parse_status feed_copy(struct http_parse *p, const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len != 0 ? len : 1);
	CU_ASSERT_FATAL(copy != NULL);
	memcpy(copy, data, len);
	enum http_parse_status status = http_parse_feed(p, copy, len);
	p->base = data;
	free(copy);
	return status;
}

static struct outcome parse_whole(struct span in)
{
	struct outcome o;
	http_parse_init(&o.p);
	o.status = feed_copy(&o.p, in.data, in.len);
	return o;
}

static struct outcome parse_split(struct span in, size_t at)
{
	struct outcome o;
	http_parse_init(&o.p);
	o.status = feed_copy(&o.p, in.data, at);
	if (o.status == HTTP_PARSE_MORE)
		o.status = feed_copy(&o.p, in.data, in.len);
	return o;
}

static struct outcome parse_bytewise(struct span in, size_t step)
{
	struct outcome o;
	http_parse_init(&o.p);
	o.status = HTTP_PARSE_MORE;
	for (size_t len = 0; len <= in.len && o.status == HTTP_PARSE_MORE; len += step)
		o.status = feed_copy(&o.p, in.data, len);
	if (o.status == HTTP_PARSE_MORE)
		o.status = feed_copy(&o.p, in.data, in.len);
	return o;
}

/* X-19: the result is the same however the bytes arrive. */
static struct outcome parse_all_ways(struct span in)
{
	struct outcome whole = parse_whole(in);
	struct outcome bytewise = parse_bytewise(in, in.len > 4000 ? 97 : 1);
	CU_ASSERT(outcomes_equal(&whole, &bytewise));
	for (size_t at = 0; at <= in.len; at += in.len > 4000 ? 131 : 1) {
		struct outcome split = parse_split(in, at);
		CU_ASSERT(outcomes_equal(&whole, &split));
	}
	return whole;
}

static bool slice_is(const struct http_parse *p, struct http_parse_slice s, const char *text)
{
	struct span span = http_parse_span(p, s);
	return span.len == strlen(text) && memcmp(span.data, text, span.len) == 0;
}

#define REQ(text)     SPAN_LITERAL(text)
#define H	      "Host: a\r\n"
#define GET(fields)   SPAN_LITERAL("GET / HTTP/1.1\r\n" fields "\r\n")
#define GETH(fields)  SPAN_LITERAL("GET / HTTP/1.1\r\n" H fields "\r\n")
#define POSTH(fields) SPAN_LITERAL("POST / HTTP/1.1\r\n" H fields "\r\n")
#define OLD(fields)   SPAN_LITERAL("GET / HTTP/1.0\r\n" fields "\r\n")

static const struct good {
	struct span in;
	enum http_parse_method method;
	const char *target, *path_query, *host;
	enum http_parse_body body;
	uint64_t length;
	bool keep_alive, expect_continue;
	unsigned fields;
} goods[] = {
	{GET(H), HTTP_METHOD_GET, "/", "/", "a", 0, 0, true, false, 1},
	{REQ("\r\nGET / HTTP/1.1\r\n" H "\r\n"), HTTP_METHOD_GET, "/", "/", "a", 0, 0, true, false,
		1},
	{REQ("HEAD /o/b3:12 HTTP/1.1\r\n" H "\r\n"), HTTP_METHOD_HEAD, "/o/b3:12", "/o/b3:12", "a",
		0, 0, true, false, 1},
	{REQ("PUT /x HTTP/1.1\r\n" H "\r\n"), HTTP_METHOD_PUT, "/x", "/x", "a", 0, 0, true, false,
		1},
	{REQ("DELETE /x HTTP/1.1\r\n" H "\r\n"), HTTP_METHOD_DELETE, "/x", "/x", "a", 0, 0, true,
		false, 1},
	{REQ("PATCH /x HTTP/1.1\r\n" H "\r\n"), HTTP_METHOD_PATCH, "/x", "/x", "a", 0, 0, true,
		false, 1},
	{REQ("OPTIONS /x HTTP/1.1\r\n" H "\r\n"), HTTP_METHOD_OPTIONS, "/x", "/x", "a", 0, 0, true,
		false, 1},
	{REQ("OPTIONS * HTTP/1.1\r\n" H "\r\n"), HTTP_METHOD_OPTIONS, "*", "", "a", 0, 0, true,
		false, 1},
	{REQ("BREW / HTTP/1.1\r\n" H "\r\n"), HTTP_METHOD_OTHER, "/", "/", "a", 0, 0, true, false,
		1},
	{REQ("get / HTTP/1.1\r\n" H "\r\n"), HTTP_METHOD_OTHER, "/", "/", "a", 0, 0, true, false,
		1},
	{REQ("GE / HTTP/1.1\r\n" H "\r\n"), HTTP_METHOD_OTHER, "/", "/", "a", 0, 0, true, false, 1},
	{REQ("GETS / HTTP/1.1\r\n" H "\r\n"), HTTP_METHOD_OTHER, "/", "/", "a", 0, 0, true, false,
		1},
	{REQ("!#$%&'*+-.^_`|~09 / HTTP/1.1\r\n" H "\r\n"), HTTP_METHOD_OTHER, "/", "/", "a", 0, 0,
		true, false, 1},
	/* targets */
	{REQ("GET /a/b;c=1,2:@!$&'()*+~-._?x=/?y HTTP/1.1\r\n" H "\r\n"), HTTP_METHOD_GET,
		"/a/b;c=1,2:@!$&'()*+~-._?x=/?y", "/a/b;c=1,2:@!$&'()*+~-._?x=/?y", "a", 0, 0, true,
		false, 1},
	{REQ("GET http://example.org/p?q HTTP/1.1\r\n" H "\r\n"), HTTP_METHOD_GET,
		"http://example.org/p?q", "/p?q", "example.org", 0, 0, true, false, 1},
	{REQ("GET HTTPS://[::1]:80 HTTP/1.1\r\n" H "\r\n"), HTTP_METHOD_GET, "HTTPS://[::1]:80", "",
		"[::1]:80", 0, 0, true, false, 1},
	{REQ("GET http://h?q HTTP/1.1\r\n" H "\r\n"), HTTP_METHOD_GET, "http://h?q", "?q", "h", 0,
		0, true, false, 1},
	{REQ("GET http://h:/ HTTP/1.0\r\n\r\n"), HTTP_METHOD_GET, "http://h:/", "/", "h:", 0, 0,
		false, false, 0},
	/* Host */
	{GET("Host:a\r\n"), HTTP_METHOD_GET, "/", "/", "a", 0, 0, true, false, 1},
	{GET("hOsT:  a.b-c_d~%41:65535  \r\n"), HTTP_METHOD_GET, "/", "/", "a.b-c_d~%41:65535", 0,
		0, true, false, 1},
	{GET("Host: [2001:db8::1]:8080\r\n"), HTTP_METHOD_GET, "/", "/", "[2001:db8::1]:8080", 0, 0,
		true, false, 1},
	/* bodies */
	{POSTH("Content-Length: 5\r\n"), HTTP_METHOD_POST, "/", "/", "a", HTTP_PARSE_BODY_LENGTH, 5,
		true, false, 2},
	{POSTH("content-length:  0005  \r\n"), HTTP_METHOD_POST, "/", "/", "a",
		HTTP_PARSE_BODY_LENGTH, 5, true, false, 2},
	{POSTH("Content-Length: 0\r\n"), HTTP_METHOD_POST, "/", "/", "a", HTTP_PARSE_BODY_NONE, 0,
		true, false, 2},
	{POSTH("Content-Length: 18446744073709551615\r\n"), HTTP_METHOD_POST, "/", "/", "a",
		HTTP_PARSE_BODY_LENGTH, UINT64_MAX, true, false, 2},
	{POSTH("Transfer-Encoding: chunked\r\n"), HTTP_METHOD_POST, "/", "/", "a",
		HTTP_PARSE_BODY_CHUNKED, 0, true, false, 2},
	{POSTH("tRANSFER-eNCODING:CHUNKED\r\n"), HTTP_METHOD_POST, "/", "/", "a",
		HTTP_PARSE_BODY_CHUNKED, 0, true, false, 2},
	{GETH("Content-Length: 1\r\n"), HTTP_METHOD_GET, "/", "/", "a", HTTP_PARSE_BODY_LENGTH, 1,
		true, false, 2},
	/* connection */
	{GETH("Connection: close\r\n"), HTTP_METHOD_GET, "/", "/", "a", 0, 0, false, false, 2},
	{GETH("Connection: keep-alive\r\n"), HTTP_METHOD_GET, "/", "/", "a", 0, 0, true, false, 2},
	{GETH("Connection: x , ,CLOSE\r\n"), HTTP_METHOD_GET, "/", "/", "a", 0, 0, false, false, 2},
	{GETH("Connection: x\r\nConnection: close\r\n"), HTTP_METHOD_GET, "/", "/", "a", 0, 0,
		false, false, 3},
	{GETH("Connection: closed, close-not\r\n"), HTTP_METHOD_GET, "/", "/", "a", 0, 0, true,
		false, 2},
	{OLD(""), HTTP_METHOD_GET, "/", "/", "", 0, 0, false, false, 0},
	{OLD(H), HTTP_METHOD_GET, "/", "/", "a", 0, 0, false, false, 1},
	{OLD("Connection: Keep-Alive\r\n"), HTTP_METHOD_GET, "/", "/", "", 0, 0, true, false, 1},
	{OLD("Connection: keep-alive, close\r\n"), HTTP_METHOD_GET, "/", "/", "", 0, 0, false,
		false, 1},
	/* expectations */
	{POSTH("Expect: 100-Continue\r\nContent-Length: 2\r\n"), HTTP_METHOD_POST, "/", "/", "a",
		HTTP_PARSE_BODY_LENGTH, 2, true, true, 3},
	{POSTH("Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n"), HTTP_METHOD_POST, "/",
		"/", "a", HTTP_PARSE_BODY_CHUNKED, 0, true, true, 3},
	{POSTH("Expect: 100-continue\r\n"), HTTP_METHOD_POST, "/", "/", "a", 0, 0, true, false, 2},
	{POSTH("Expect: something\r\nContent-Length: 2\r\n"), HTTP_METHOD_POST, "/", "/", "a",
		HTTP_PARSE_BODY_LENGTH, 2, true, false, 3},
	{REQ("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"),
		HTTP_METHOD_POST, "/", "/", "", HTTP_PARSE_BODY_LENGTH, 2, false, false, 2},
	/* values: empty, tabs inside, obs-text, long enough for the wide scan */
	{GETH("X:\r\nY: \t \r\nZ: a\tb \x80\xff c\r\n"), HTTP_METHOD_GET, "/", "/", "a", 0, 0, true,
		false, 4},
	{GETH("X: 0123456789abcdef0123456789abcdef\t0123456789abcdef0123456789abcdef\r\n"),
		HTTP_METHOD_GET, "/", "/", "a", 0, 0, true, false, 2},
};

static void accepted(void)
{
	for (unsigned i = 0; i < ARRAY_LEN(goods); i++) {
		const struct good *g = &goods[i];
		struct outcome o = parse_all_ways(g->in);
		CU_ASSERT_EQUAL_FATAL(o.status, HTTP_PARSE_DONE);
		CU_ASSERT_EQUAL(o.p.error, ERR_NONE);
		CU_ASSERT_EQUAL(o.p.head_bytes, g->in.len);
		CU_ASSERT_EQUAL(o.p.method, g->method);
		CU_ASSERT(slice_is(&o.p, o.p.target, g->target));
		CU_ASSERT(slice_is(&o.p, o.p.path_query, g->path_query));
		CU_ASSERT(slice_is(&o.p, o.p.host, g->host));
		CU_ASSERT_EQUAL(o.p.body, g->body);
		CU_ASSERT_EQUAL(o.p.content_length, g->length);
		CU_ASSERT_EQUAL(o.p.keep_alive, g->keep_alive);
		CU_ASSERT_EQUAL(o.p.expect_continue, g->expect_continue);
		CU_ASSERT_EQUAL(o.p.field_count, g->fields);
	}
}

/* X-19: each is refused, and never waited for. The request ends where the fault is known. */
static const struct refused {
	struct span in;
	enum err_id error;
} refuseds[] = {
	/* line ends */
	{REQ("GET / HTTP/1.1\n"), ERR_BAD_REQUEST},
	{REQ("GET / HTTP/1.1\r\r"), ERR_BAD_REQUEST},
	{REQ("GET / HTTP/1.1\rH"), ERR_BAD_REQUEST},
	{REQ("GET / HTTP/1.1\r\nHost: a\n"), ERR_BAD_REQUEST},
	{REQ("GET / HTTP/1.1\r\nHost: a\rX"), ERR_BAD_REQUEST},
	{REQ("GET / HTTP/1.1\r\nHost: a\r\r\n"), ERR_BAD_REQUEST},
	{REQ("GET / HTTP/1.1\r\nHost: a\r\n\n"), ERR_BAD_REQUEST},
	{REQ("GET / HTTP/1.1\r\nHost: a\r\n\rX"), ERR_BAD_REQUEST},
	{REQ("GET / HTTP/1.1\r\n" H "X: a\nY: b\r\n"), ERR_BAD_REQUEST},
	{REQ("GET / HTTP/1.1\r\n" H "X: a\rY: b\r\n"), ERR_BAD_REQUEST},
	/* before the request line: one empty line and no more */
	{REQ("\n"), ERR_BAD_REQUEST},
	{REQ("\rG"), ERR_BAD_REQUEST},
	{REQ("\r\n\r"), ERR_BAD_REQUEST},
	{REQ(" "), ERR_BAD_REQUEST},
	{REQ("\0"), ERR_BAD_REQUEST},
	{REQ("\x16\x03\x01"), ERR_BAD_REQUEST}, /* TLS on a plain port */
	/* request line */
	{REQ("GET\t"), ERR_BAD_REQUEST},
	{REQ("G\x80"), ERR_BAD_REQUEST},
	{REQ("GET:"), ERR_BAD_REQUEST},
	{REQ("GET  "), ERR_BAD_REQUEST},
	{REQ("GET /\r"), ERR_BAD_REQUEST},
	{REQ("GET /\t"), ERR_BAD_REQUEST},
	{REQ("GET /a#"), ERR_BAD_REQUEST},
	{REQ("GET /\x80"), ERR_BAD_REQUEST},
	{REQ("GET /\0"), ERR_BAD_REQUEST},
	{REQ("GET /\x7f"), ERR_BAD_REQUEST},
	{REQ("GET /a\\"), ERR_BAD_REQUEST},
	{REQ("GET /a["), ERR_BAD_REQUEST},
	{REQ("GET /a\""), ERR_BAD_REQUEST},
	{REQ("GET /0123456789abcdef0123456789{"), ERR_BAD_REQUEST},
	{REQ("GET / HTTP/1.1 "), ERR_BAD_REQUEST},
	{REQ("GET /  HTTP/1.1"), ERR_BAD_REQUEST},
	{REQ("GET / x HTTP/1."), ERR_BAD_REQUEST},
	{REQ("GET / http/1.1"), ERR_BAD_REQUEST},
	{REQ("GET / HTTP/1,1"), ERR_BAD_REQUEST},
	{REQ("GET / HTTP/11."), ERR_BAD_REQUEST},
	{REQ("GET / HTTP/1.x"), ERR_BAD_REQUEST},
	{REQ("GET / HTTP/+1.1"), ERR_BAD_REQUEST},
	{REQ("GET / HTTP/1.10"), ERR_BAD_REQUEST},
	{REQ("GET / HTTP/0.9"), ERR_VERSION},
	{REQ("GET / HTTP/1.2"), ERR_VERSION},
	{REQ("GET / HTTP/2.0"), ERR_VERSION},
	{REQ("PRI * HTTP/2.0"), ERR_VERSION},
	/* forms of the target */
	{REQ("CONNECT "), ERR_NOT_IMPLEMENTED},
	{REQ("GET * HTTP/1.1\r\n"), ERR_BAD_REQUEST},
	{REQ("OPTIONS ** HTTP/1.1\r\n"), ERR_BAD_REQUEST},
	{REQ("GET a HTTP/1.1\r\n"), ERR_BAD_REQUEST},
	{REQ("GET example.org:80 HTTP/1.1\r\n"), ERR_BAD_REQUEST},
	{REQ("GET ftp://h/ HTTP/1.1\r\n"), ERR_BAD_REQUEST},
	{REQ("GET http:/h/ HTTP/1.1\r\n"), ERR_BAD_REQUEST},
	{REQ("GET http:// HTTP/1.1\r\n"), ERR_BAD_REQUEST},
	{REQ("GET http:///p HTTP/1.1\r\n"), ERR_BAD_REQUEST},
	{REQ("GET http://u@h/ HTTP/1.1\r\n"), ERR_BAD_REQUEST},
	{REQ("GET http://u:p@h/ HTTP/1.1\r\n"), ERR_BAD_REQUEST},
	{REQ("GET http://h:99999/ HTTP/1.1\r\n"), ERR_BAD_REQUEST},
	{REQ("GET http://h/[ HTTP/1.1\r\n"), ERR_BAD_REQUEST},
	{REQ("GET http://[::1/ HTTP/1.1\r\n"), ERR_BAD_REQUEST},
	/* field lines */
	{GETH(" X: folded\r\n"), ERR_BAD_REQUEST},
	{GETH("X: a\r\n b\r\n"), ERR_BAD_REQUEST},
	{GETH("X: a\r\n\tb\r\n"), ERR_BAD_REQUEST},
	{GET(" Host: a\r\n"), ERR_BAD_REQUEST},
	{GET("Host : a\r\n"), ERR_BAD_REQUEST},
	{GET("Host\t: a\r\n"), ERR_BAD_REQUEST},
	{GETH("Content-Length : 5\r\n"), ERR_BAD_REQUEST},
	{GETH(": a\r\n"), ERR_BAD_REQUEST},
	{GETH("X\r\n"), ERR_BAD_REQUEST},
	{GETH("X(: a\r\n"), ERR_BAD_REQUEST},
	{GETH("X\0: a\r\n"), ERR_BAD_REQUEST},
	{GETH("\xc3\x9c: a\r\n"), ERR_BAD_REQUEST},
	{GETH("X: a\0b\r\n"), ERR_BAD_REQUEST},
	{GETH("X: a\x01"
	      "b\r\n"),
		ERR_BAD_REQUEST},
	{GETH("X: a\x7f"
	      "b\r\n"),
		ERR_BAD_REQUEST},
	{GETH("X: 0123456789abcdef0123456789abcdef\x0b\r\n"), ERR_BAD_REQUEST},
	/* Host */
	{GET(""), ERR_BAD_REQUEST},
	{GET("Hostt: a\r\n"), ERR_BAD_REQUEST},
	{GET("Host:\r\n"), ERR_BAD_REQUEST},
	{GET("Host: \r\n"), ERR_BAD_REQUEST},
	{GET(H H), ERR_BAD_REQUEST},
	{GET("Host: a\r\nhost: b\r\n"), ERR_BAD_REQUEST},
	{OLD(H H), ERR_BAD_REQUEST},
	{GET("Host: a, b\r\n"), ERR_BAD_REQUEST},
	{GET("Host: a b\r\n"), ERR_BAD_REQUEST},
	{GET("Host: a/b\r\n"), ERR_BAD_REQUEST},
	{GET("Host: u@a\r\n"), ERR_BAD_REQUEST},
	{GET("Host: a:b\r\n"), ERR_BAD_REQUEST},
	{GET("Host: a:65536\r\n"), ERR_BAD_REQUEST},
	{GET("Host: a:000080\r\n"), ERR_BAD_REQUEST},
	{GET("Host: a:80:80\r\n"), ERR_BAD_REQUEST},
	{GET("Host: :80\r\n"), ERR_BAD_REQUEST},
	{GET("Host: [::1\r\n"), ERR_BAD_REQUEST},
	{GET("Host: [::1]x\r\n"), ERR_BAD_REQUEST},
	{GET("Host: [a.b]\r\n"), ERR_BAD_REQUEST},
	{GET("Host: []\r\n"), ERR_BAD_REQUEST},
	{GET("Host: a%4\r\n"), ERR_BAD_REQUEST},
	{GET("Host: a%zz\r\n"), ERR_BAD_REQUEST},
	{GET("Host: \xff\r\n"), ERR_BAD_REQUEST},
	{REQ("GET http://a/ HTTP/1.1\r\n\r\n"), ERR_BAD_REQUEST}, /* absolute form needs it too */
	/* Content-Length */
	{POSTH("Content-Length: 5\r\nContent-Length: 5\r\n"), ERR_BAD_REQUEST},
	{POSTH("Content-Length: 5\r\nContent-Length: 6\r\n"), ERR_BAD_REQUEST},
	{POSTH("Content-Length: 5\r\ncontent-length: 0\r\n"), ERR_BAD_REQUEST},
	{POSTH("Content-Length: 5, 5\r\n"), ERR_BAD_REQUEST},
	{POSTH("Content-Length: 5,\r\n"), ERR_BAD_REQUEST},
	{POSTH("Content-Length:\r\n"), ERR_BAD_REQUEST},
	{POSTH("Content-Length: +5\r\n"), ERR_BAD_REQUEST},
	{POSTH("Content-Length: -5\r\n"), ERR_BAD_REQUEST},
	{POSTH("Content-Length: 5 5\r\n"), ERR_BAD_REQUEST},
	{POSTH("Content-Length: 0x5\r\n"), ERR_BAD_REQUEST},
	{POSTH("Content-Length: 5;x\r\n"), ERR_BAD_REQUEST},
	{POSTH("Content-Length: 5.0\r\n"), ERR_BAD_REQUEST},
	{POSTH("Content-Length: \"5\"\r\n"), ERR_BAD_REQUEST},
	{POSTH("Content-Length: 18446744073709551616\r\n"), ERR_BAD_REQUEST},
	{POSTH("Content-Length: 99999999999999999999999\r\n"), ERR_BAD_REQUEST},
	/* Transfer-Encoding */
	{POSTH("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), ERR_BAD_REQUEST},
	{POSTH("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), ERR_BAD_REQUEST},
	{POSTH("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n"), ERR_BAD_REQUEST},
	{POSTH("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), ERR_BAD_REQUEST},
	{POSTH("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"), ERR_BAD_REQUEST},
	{POSTH("Transfer-Encoding : chunked\r\n"), ERR_BAD_REQUEST},
	{POSTH("Transfer-Encoding: chunked\r\nTransfer-Encodingx: y\r\n"), ERR_BAD_REQUEST},
	{POSTH("Transfer-Encoding: chunked\t\r\n"), ERR_BAD_REQUEST},
	{POSTH("Transfer-Encoding:\tchunked\r\n"), ERR_BAD_REQUEST},
	{POSTH("Content-Length: 5\t\r\n"), ERR_BAD_REQUEST},
	{POSTH("Content-Length: \t5\r\n"), ERR_BAD_REQUEST},
	{GET("Host:\ta\r\n"), ERR_BAD_REQUEST},
	{POSTH("Transfer-Encoding\t: chunked\r\n"), ERR_BAD_REQUEST},
	{POSTH("X: x\r\n Transfer-Encoding: chunked\r\n"), ERR_BAD_REQUEST},
	{POSTH("X: x\nTransfer-Encoding: chunked\r\n"), ERR_BAD_REQUEST},
	{POSTH("Transfer-Encoding: \x0b"
	       "chunked\r\n"),
		ERR_BAD_REQUEST},
	{POSTH("Transfer-Encoding: chunked\0\r\n"), ERR_BAD_REQUEST},
	{POSTH("Transfer-Encoding: gzip, chunked\r\n"), ERR_NOT_IMPLEMENTED},
	{POSTH("Transfer-Encoding: chunked, gzip\r\n"), ERR_NOT_IMPLEMENTED},
	{POSTH("Transfer-Encoding: chunked, chunked\r\n"), ERR_NOT_IMPLEMENTED},
	{POSTH("Transfer-Encoding: chunked,\r\n"), ERR_NOT_IMPLEMENTED},
	{POSTH("Transfer-Encoding: ,chunked\r\n"), ERR_NOT_IMPLEMENTED},
	{POSTH("Transfer-Encoding: identity\r\n"), ERR_NOT_IMPLEMENTED},
	{POSTH("Transfer-Encoding: xchunked\r\n"), ERR_NOT_IMPLEMENTED},
	{POSTH("Transfer-Encoding: chunkedx\r\n"), ERR_NOT_IMPLEMENTED},
	{POSTH("Transfer-Encoding: chunked;x=1\r\n"), ERR_NOT_IMPLEMENTED},
	{POSTH("Transfer-Encoding: \"chunked\"\r\n"), ERR_NOT_IMPLEMENTED},
	{POSTH("Transfer-Encoding: 'chunked'\r\n"), ERR_NOT_IMPLEMENTED},
	{POSTH("Transfer-Encoding:\r\n"), ERR_NOT_IMPLEMENTED},
	{REQ("POST / HTTP/1.0\r\n" H "Transfer-Encoding: chunked\r\n"), ERR_BAD_REQUEST},
};

static void refused(void)
{
	for (unsigned i = 0; i < ARRAY_LEN(refuseds); i++) {
		struct outcome o = parse_all_ways(refuseds[i].in);
		if (o.status != HTTP_PARSE_BAD || o.p.error != refuseds[i].error)
			printf("  vector %u: status %d, error %u\n", i, (int)o.status, o.p.error);
		CU_ASSERT_EQUAL(o.status, HTTP_PARSE_BAD);
		CU_ASSERT_EQUAL(o.p.error, refuseds[i].error);
	}
}

/* Every proper prefix of a good head is MORE: nothing is decided too early. */
static void prefixes_wait(void)
{
	for (unsigned i = 0; i < ARRAY_LEN(goods); i++) {
		for (size_t len = 0; len < goods[i].in.len; len++) {
			struct outcome o = parse_whole((struct span){goods[i].in.data, len});
			CU_ASSERT_EQUAL(o.status, HTTP_PARSE_MORE);
		}
	}
}

/* Every byte that is neither allowed nor a separator is refused, in each place. */
static void every_byte_in_every_place(void)
{
	static const char targets[] = "!$%&'()*+,-./:;=?@_~";
	for (unsigned b = 0; b < 256; b++) {
		char text[96];
		bool is_alnum =
			(b >= '0' && b <= '9') || (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z');
		bool is_target = is_alnum || (b != 0 && strchr(targets, (int)b) != NULL);
		bool is_name = is_alnum || (b != 0 && strchr("!#$%&'*+-.^_`|~", (int)b) != NULL);
		bool is_value = (b >= 0x20 && b != 0x7f) || b == '\t';
		for (unsigned pad = 0; pad < 2; pad++) { /* short and wide scans */
			const char *fill = pad != 0 ? "aaaaaaaaaaaaaaaaaaaaaaaa" : "";
			int n = snprintf(text, sizeof text,
				"GET /%s%cx HTTP/1.1\r\nHost: a\r\n\r\n", fill, '@');
			*strchr(text, '@') = (char)b;
			struct outcome o = parse_whole((struct span){(uint8_t *)text, (size_t)n});
			CU_ASSERT_EQUAL(o.status == HTTP_PARSE_DONE, is_target);
			n = snprintf(text, sizeof text,
				"GET / HTTP/1.1\r\nHost: a\r\nX%s%cY: 1\r\n\r\n", fill, '@');
			*strchr(text, '@') = (char)b;
			o = parse_whole((struct span){(uint8_t *)text, (size_t)n});
			CU_ASSERT_EQUAL(o.status == HTTP_PARSE_DONE, is_name || b == ':');
			n = snprintf(text, sizeof text,
				"GET / HTTP/1.1\r\nHost: a\r\nX: %s%cY\r\n\r\n", fill, '@');
			*strchr(text, '@') = (char)b;
			o = parse_whole((struct span){(uint8_t *)text, (size_t)n});
			CU_ASSERT_EQUAL(o.status == HTTP_PARSE_DONE, is_value);
		}
	}
}

/* A head of exactly `len` bytes: a long field fills it up. */
static uint8_t *head_of(size_t len)
{
	static const char front[] = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
	uint8_t *b = malloc(len);
	CU_ASSERT_FATAL(b != NULL);
	memset(b, 'x', len);
	memcpy(b, front, sizeof front - 1);
	memcpy(b + len - 4, "\r\n\r\n", 4);
	return b;
}

static void head_limit(void)
{
	uint8_t *at = head_of(LIMIT_HTTP_HEAD_BYTES), *over = head_of(LIMIT_HTTP_HEAD_BYTES + 1);
	struct outcome o = parse_all_ways((struct span){at, LIMIT_HTTP_HEAD_BYTES});
	CU_ASSERT_EQUAL(o.status, HTTP_PARSE_DONE);
	CU_ASSERT_EQUAL(o.p.head_bytes, LIMIT_HTTP_HEAD_BYTES);
	o = parse_all_ways((struct span){over, LIMIT_HTTP_HEAD_BYTES + 1});
	CU_ASSERT_EQUAL(o.status, HTTP_PARSE_BAD);
	CU_ASSERT_EQUAL(o.p.error, ERR_HEADERS_LARGE);
	/* Known as soon as the limit is full and the head is not. */
	o = parse_whole((struct span){over, LIMIT_HTTP_HEAD_BYTES});
	CU_ASSERT_EQUAL(o.p.error, ERR_HEADERS_LARGE);
	o = parse_whole((struct span){over, LIMIT_HTTP_HEAD_BYTES - 1});
	CU_ASSERT_EQUAL(o.status, HTTP_PARSE_MORE);
	/* A method without an end falls under the same limit. */
	memset(over, 'G', LIMIT_HTTP_HEAD_BYTES);
	o = parse_whole((struct span){over, LIMIT_HTTP_HEAD_BYTES});
	CU_ASSERT_EQUAL(o.p.error, ERR_HEADERS_LARGE);
	free(at);
	free(over);
}

static struct outcome parse_fields(unsigned count, const char *tail)
{
	char text[2048] = "GET / HTTP/1.1\r\nHost: a\r\n";
	size_t len = strlen(text);
	for (unsigned i = 1; i < count; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "a%u: %u\r\n", i, i);
	len += (size_t)snprintf(text + len, sizeof text - len, "%s", tail);
	struct outcome o = parse_all_ways((struct span){(const uint8_t *)text, len});
	if (o.status == HTTP_PARSE_DONE && count > 1) {
		char name[16];
		snprintf(name, sizeof name, "a%u", count - 1);
		CU_ASSERT(slice_is(&o.p, o.p.fields[count - 1].name, name));
		CU_ASSERT(slice_is(&o.p, o.p.fields[count - 1].value, name + 1));
	}
	return o;
}

static void field_limit(void)
{
	struct outcome o = parse_fields(LIMIT_HTTP_FIELDS, "\r\n");
	CU_ASSERT_EQUAL(o.status, HTTP_PARSE_DONE);
	CU_ASSERT_EQUAL(o.p.field_count, LIMIT_HTTP_FIELDS);
	o = parse_fields(LIMIT_HTTP_FIELDS, "b");
	CU_ASSERT_EQUAL(o.status, HTTP_PARSE_BAD);
	CU_ASSERT_EQUAL(o.p.error, ERR_HEADERS_LARGE);
	CU_ASSERT_EQUAL(o.p.field_count, LIMIT_HTTP_FIELDS);
}

static void target_limit(void)
{
	static const char front[] = "GET ", back[] = " HTTP/1.1\r\nHost: a\r\n\r\n";
	size_t max = sizeof front - 1 + LIMIT_HTTP_TARGET_BYTES + 1 + sizeof back - 1;
	uint8_t *b = malloc(max);
	for (size_t over = 0; over <= 1; over++) {
		size_t n = LIMIT_HTTP_TARGET_BYTES + over, len = sizeof front - 1 + n;
		memcpy(b, front, sizeof front - 1);
		memset(b + sizeof front - 1, '/', n);
		memcpy(b + len, back, sizeof back - 1);
		struct outcome o = parse_all_ways((struct span){b, len + sizeof back - 1});
		CU_ASSERT_EQUAL(o.status, over == 0 ? HTTP_PARSE_DONE : HTTP_PARSE_BAD);
		CU_ASSERT_EQUAL(o.p.error, over == 0 ? ERR_NONE : ERR_TARGET_LONG);
		/* Known at the first byte too many. */
		o = parse_whole((struct span){b, len});
		CU_ASSERT_EQUAL(o.status, over == 0 ? HTTP_PARSE_MORE : HTTP_PARSE_BAD);
	}
	memcpy(b, "GET http://[", 12);
	memset(b + 12, '[', LIMIT_HTTP_TARGET_BYTES);
	struct outcome o = parse_all_ways((struct span){b, 4 + LIMIT_HTTP_TARGET_BYTES + 1});
	CU_ASSERT_EQUAL(o.p.error, ERR_TARGET_LONG);
	free(b);
}

/* Bytes behind the head belong to the body or to the next request. */
static void bytes_after_the_head(void)
{
	struct span two = REQ("GET /1 HTTP/1.1\r\n" H "\r\nGET /2 HTTP/1.1\r\n" H "\r\n\n\0\xff");
	struct http_parse p;
	http_parse_init(&p);
	CU_ASSERT_EQUAL(http_parse_feed(&p, two.data, two.len), HTTP_PARSE_DONE);
	CU_ASSERT(slice_is(&p, p.target, "/1"));
	size_t first = p.head_bytes;
	http_parse_init(&p);
	CU_ASSERT_EQUAL(http_parse_feed(&p, two.data + first, two.len - first), HTTP_PARSE_DONE);
	CU_ASSERT(slice_is(&p, p.target, "/2"));
	CU_ASSERT_EQUAL(first + p.head_bytes + 3, two.len);
}

static void lookup(void)
{
	struct outcome o = parse_whole(GETH("Range: bytes=0-1\r\nIf-Match: \"a\"\r\nX-A: 1\r\n"
					    "if-match: \"b\"\r\nx-a: 2\r\nX-Corr-ID: c\r\n"));
	struct span v;
	unsigned at = 0;
	CU_ASSERT_EQUAL(http_parse_get(&o.p, HTTP_FIELD_RANGE, &v), 1);
	CU_ASSERT(span_equals(v, SPAN_LITERAL("bytes=0-1")));
	CU_ASSERT_EQUAL(http_parse_get(&o.p, HTTP_FIELD_IF_MATCH, &v), 2);
	CU_ASSERT(span_equals(v, SPAN_LITERAL("\"a\"")));
	CU_ASSERT_EQUAL(http_parse_get(&o.p, HTTP_FIELD_IF_RANGE, &v), 0);
	CU_ASSERT(v.data == NULL && v.len == 0);
	CU_ASSERT_EQUAL(http_parse_get(&o.p, HTTP_FIELD_X_CORR_ID, &v), 1);
	CU_ASSERT(http_parse_find(&o.p, SPAN_LITERAL("x-A"), &at, &v));
	CU_ASSERT(span_equals(v, SPAN_LITERAL("1")));
	CU_ASSERT(http_parse_find(&o.p, SPAN_LITERAL("x-A"), &at, &v));
	CU_ASSERT(span_equals(v, SPAN_LITERAL("2")));
	CU_ASSERT(!http_parse_find(&o.p, SPAN_LITERAL("x-A"), &at, &v));
}

static void method_names(void)
{
	CU_ASSERT_STRING_EQUAL(http_parse_method_name(HTTP_METHOD_GET), "GET");
	CU_ASSERT_STRING_EQUAL(http_parse_method_name(HTTP_METHOD_OTHER), "other");
}

static const struct unit_case cases[] = {
	{"accepted", accepted},
	{"refused", refused},
	{"prefixes wait", prefixes_wait},
	{"every byte in every place", every_byte_in_every_place},
	{"head limit", head_limit},
	{"field limit", field_limit},
	{"target limit", target_limit},
	{"bytes after the head", bytes_after_the_head},
	{"lookup", lookup},
	{"method names", method_names},
};

UNIT_MAIN("dataplane/http/http_parse", cases)
