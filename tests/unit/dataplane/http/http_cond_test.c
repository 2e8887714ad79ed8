#include "dataplane/http/http_cond.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"

#define PASS   HTTP_COND_PROCEED
#define NOTMOD HTTP_COND_NOT_MODIFIED
#define FAIL   HTTP_COND_FAILED

#define TAG  "\"b3:1\""
#define NONE ""

/* S-1: the conditions in the order of RFC 9110 13.2.2. */
static void conditions(void)
{
	static const struct {
		const char *method, *etag, *fields;
		enum http_cond_verdict verdict;
		bool range_applies;
	} cases[] = {
		{"GET", TAG, "", PASS, false},
		{"GET", TAG, "Range: bytes=0-1\r\n", PASS, true},
		{"HEAD", TAG, "Range: bytes=0-1\r\n", PASS, false},
		{"PUT", TAG, "Range: bytes=0-1\r\n", PASS, false},
		{"GET", TAG, "Range: bytes=0-1\r\nRange: bytes=0-2\r\n", PASS, false},
		/* If-Match: strong */
		{"GET", TAG, "If-Match: " TAG "\r\n", PASS, false},
		{"GET", TAG, "If-Match: \"x\", " TAG "\r\n", PASS, false},
		{"GET", TAG, "If-Match: \"x\"\r\nIf-Match: " TAG "\r\n", PASS, false},
		{"GET", TAG, "If-Match: \"x\"\r\n", FAIL, false},
		{"GET", TAG, "If-Match: W/" TAG "\r\n", FAIL, false},
		{"GET", "W/" TAG, "If-Match: W/" TAG "\r\n", FAIL, false},
		{"GET", TAG, "If-Match: *\r\n", PASS, false},
		{"GET", TAG, "If-Match:\r\n", FAIL, false},
		{"GET", TAG, "If-Match: b3:1\r\n", FAIL, false},
		{"PUT", NONE, "If-Match: *\r\n", FAIL, false},
		{"PUT", NONE, "If-Match: " TAG "\r\n", FAIL, false},
		{"PUT", TAG, "If-Match: " TAG "\r\n", PASS, false},
		/* If-None-Match: weak */
		{"GET", TAG, "If-None-Match: " TAG "\r\n", NOTMOD, false},
		{"HEAD", TAG, "If-None-Match: " TAG "\r\n", NOTMOD, false},
		{"GET", TAG, "If-None-Match: W/" TAG "\r\n", NOTMOD, false},
		{"GET", "W/" TAG, "If-None-Match: " TAG "\r\n", NOTMOD, false},
		{"GET", TAG, "If-None-Match: \"x\", W/\"y\"," TAG "\r\n", NOTMOD, false},
		{"GET", TAG, "If-None-Match: \"x\"\r\nif-none-match: " TAG "\r\n", NOTMOD, false},
		{"GET", TAG, "If-None-Match: \"x\"\r\n", PASS, false},
		{"GET", TAG, "If-None-Match: \"b3:12\"\r\n", PASS, false},
		{"GET", TAG, "If-None-Match: \"B3:1\"\r\n", PASS, false},
		{"GET", TAG, "If-None-Match: *\r\n", NOTMOD, false},
		{"PUT", TAG, "If-None-Match: *\r\n", FAIL, false},
		{"POST", TAG, "If-None-Match: " TAG "\r\n", FAIL, false},
		{"PUT", NONE, "If-None-Match: *\r\n", PASS, false},
		/* order */
		{"GET", TAG, "If-Match: \"x\"\r\nIf-None-Match: " TAG "\r\n", FAIL, false},
		{"GET", TAG, "If-Match: " TAG "\r\nIf-None-Match: " TAG "\r\n", NOTMOD, false},
		{"GET", TAG, "If-None-Match: " TAG "\r\nRange: bytes=0-1\r\n", NOTMOD, false},
		{"GET", TAG, "If-None-Match: \"x\"\r\nRange: bytes=0-1\r\n", PASS, true},
		/* If-Range: strong, exactly one tag; a date never matches */
		{"GET", TAG, "Range: bytes=0-1\r\nIf-Range: " TAG "\r\n", PASS, true},
		{"GET", TAG, "Range: bytes=0-1\r\nIf-Range: \"x\"\r\n", PASS, false},
		{"GET", TAG, "Range: bytes=0-1\r\nIf-Range: W/" TAG "\r\n", PASS, false},
		{"GET", "W/" TAG, "Range: bytes=0-1\r\nIf-Range: W/" TAG "\r\n", PASS, false},
		{"GET", TAG, "Range: bytes=0-1\r\nIf-Range: " TAG ", \"x\"\r\n", PASS, false},
		{"GET", TAG, "Range: bytes=0-1\r\nIf-Range: *\r\n", PASS, false},
		{"GET", TAG, "Range: bytes=0-1\r\nIf-Range: " TAG "\r\nIf-Range: " TAG "\r\n", PASS,
			false},
		{"GET", TAG, "Range: bytes=0-1\r\nIf-Range: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
			PASS, false},
		{"GET", TAG, "If-Range: " TAG "\r\n", PASS, false},
		/* there is no date to compare */
		{"GET", TAG, "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", PASS, false},
		{"GET", TAG, "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", PASS, false},
	};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		char text[512];
		struct http_parse p;
		int n = snprintf(text, sizeof text, "%s / HTTP/1.1\r\nHost: a\r\n%s\r\n",
			cases[i].method, cases[i].fields);
		http_parse_init(&p);
		CU_ASSERT_EQUAL_FATAL(
			http_parse_feed(&p, (uint8_t *)text, (size_t)n), HTTP_PARSE_DONE);
		struct span etag = {(const uint8_t *)cases[i].etag, strlen(cases[i].etag)};
		struct http_cond c = http_cond_check(&p, etag);
		if (c.verdict != cases[i].verdict || c.range_applies != cases[i].range_applies)
			printf("  vector %u: %d %d\n", i, (int)c.verdict, c.range_applies);
		CU_ASSERT_EQUAL(c.verdict, cases[i].verdict);
		CU_ASSERT_EQUAL(c.range_applies, cases[i].range_applies);
		CU_ASSERT_EQUAL(
			span_equals(c.range, SPAN_LITERAL("bytes=0-1")), cases[i].range_applies);
	}
}

static void tag_lists(void)
{
	static const struct {
		struct span list;
		bool matches;
	} cases[] = {
		{SPAN_LITERAL("\"a\""), true},
		{SPAN_LITERAL(" , \"x\" ,\t\"a\" , "), true},
		{SPAN_LITERAL("*"), true},
		{SPAN_LITERAL("\"x,\", \"a\""), true}, /* a comma within a tag */
		{SPAN_LITERAL("\"a,\""), false},
		{SPAN_LITERAL("\"a"), false},
		{SPAN_LITERAL("a\""), false},
		{SPAN_LITERAL("a"), false},
		{SPAN_LITERAL("w/\"a\""), false},
		{SPAN_LITERAL("W/ \"a\""), false},
		{SPAN_LITERAL("\"x\"\"a\""), false},
		{SPAN_LITERAL("\"x\" \"a\""), false},
		{SPAN_LITERAL("\"a\"x"), false},
		{SPAN_LITERAL("x, \"a\""), false},
		{SPAN_LITERAL("*, \"a\""), false},
		{SPAN_LITERAL("\"x y\", \"a\""), false},
		{SPAN_LITERAL("\"\""), false},
		{SPAN_LITERAL("\""), false},
		{SPAN_LITERAL("W/"), false},
		{SPAN_LITERAL("W"), false},
		{SPAN_LITERAL(""), false},
	};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct span etag = SPAN_LITERAL("\"a\"");
		CU_ASSERT_EQUAL(http_cond_list_matches(cases[i].list, etag, HTTP_COND_WEAK),
			cases[i].matches);
		CU_ASSERT_EQUAL(http_cond_list_matches(cases[i].list, etag, HTTP_COND_STRONG),
			cases[i].matches);
	}
	CU_ASSERT(
		!http_cond_list_matches(SPAN_LITERAL("*"), (struct span){NULL, 0}, HTTP_COND_WEAK));
}

static const struct unit_case cases[] = {
	{"conditions", conditions},
	{"tag lists", tag_lists},
};

UNIT_MAIN("dataplane/http/http_cond", cases)
