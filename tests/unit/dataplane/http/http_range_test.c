#include "dataplane/http/http_range.h"

#include "tests/unit/unit.h"

#define NONE  HTTP_RANGE_NONE
#define OK    HTTP_RANGE_OK
#define OUT   HTTP_RANGE_UNSATISFIABLE
#define MULTI HTTP_RANGE_MULTI

/* S-1: single, suffix and open-ended ranges; what is malformed is ignored (RFC 9110 14.2). */
static void ranges(void)
{
	static const struct {
		struct span value;
		uint64_t length;
		enum http_range_kind kind;
		uint64_t first, last;
	} cases[] = {
		{{NULL, 0}, 10, NONE, 0, 0},
		{SPAN_LITERAL("bytes=0-0"), 10, OK, 0, 0},
		{SPAN_LITERAL("bytes=0-9"), 10, OK, 0, 9},
		{SPAN_LITERAL("bytes=0-10"), 10, OK, 0, 9},
		{SPAN_LITERAL("bytes=9-9"), 10, OK, 9, 9},
		{SPAN_LITERAL("bytes=9-"), 10, OK, 9, 9},
		{SPAN_LITERAL("bytes=10-"), 10, OUT, 0, 0},
		{SPAN_LITERAL("bytes=10-10"), 10, OUT, 0, 0},
		{SPAN_LITERAL("bytes=0-"), 10, OK, 0, 9},
		{SPAN_LITERAL("bytes=-1"), 10, OK, 9, 9},
		{SPAN_LITERAL("bytes=-10"), 10, OK, 0, 9},
		{SPAN_LITERAL("bytes=-11"), 10, OK, 0, 9},
		{SPAN_LITERAL("bytes=-0"), 10, OUT, 0, 0},
		{SPAN_LITERAL("bytes=0-0"), 0, OUT, 0, 0},
		{SPAN_LITERAL("bytes=0-"), 0, OUT, 0, 0},
		{SPAN_LITERAL("bytes=-5"), 0, NONE, 0, 0},
		{SPAN_LITERAL("bytes=-0"), 0, OUT, 0, 0},
		{SPAN_LITERAL("BYTES=1-2"), 10, OK, 1, 2},
		{SPAN_LITERAL("bytes= 1-2 "), 10, OK, 1, 2},
		{SPAN_LITERAL("bytes=,1-2,,"), 10, OK, 1, 2},
		{SPAN_LITERAL("bytes=007-08"), 10, OK, 7, 8},
		/* numbers beyond 64 bits are simply large */
		{SPAN_LITERAL("bytes=0-99999999999999999999999"), 10, OK, 0, 9},
		{SPAN_LITERAL("bytes=99999999999999999999999-"), 10, OUT, 0, 0},
		{SPAN_LITERAL("bytes=99999999999999999999998-99999999999999999999999"), 10, OUT, 0,
			0},
		{SPAN_LITERAL("bytes=-99999999999999999999999"), 10, OK, 0, 9},
		{SPAN_LITERAL("bytes=18446744073709551614-18446744073709551615"), UINT64_MAX, OK,
			UINT64_MAX - 1, UINT64_MAX - 1},
		/* more than one */
		{SPAN_LITERAL("bytes=0-0,2-3"), 10, MULTI, 0, 0},
		{SPAN_LITERAL("bytes=0-0, -1"), 10, MULTI, 0, 0},
		{SPAN_LITERAL("bytes=20-30,40-"), 10, MULTI, 0, 0},
		/* malformed or another unit: ignored */
		{SPAN_LITERAL(""), 10, NONE, 0, 0},
		{SPAN_LITERAL("bytes"), 10, NONE, 0, 0},
		{SPAN_LITERAL("bytes="), 10, NONE, 0, 0},
		{SPAN_LITERAL("bytes=,"), 10, NONE, 0, 0},
		{SPAN_LITERAL("bytes=-"), 10, NONE, 0, 0},
		{SPAN_LITERAL("bytes=5"), 10, NONE, 0, 0},
		{SPAN_LITERAL("bytes=2-1"), 10, NONE, 0, 0},
		{SPAN_LITERAL("bytes=a-b"), 10, NONE, 0, 0},
		{SPAN_LITERAL("bytes=0x1-2"), 10, NONE, 0, 0},
		{SPAN_LITERAL("bytes=1 -2"), 10, NONE, 0, 0},
		{SPAN_LITERAL("bytes=1- 2"), 10, NONE, 0, 0},
		{SPAN_LITERAL("bytes=--1"), 10, NONE, 0, 0},
		{SPAN_LITERAL("bytes=1--2"), 10, NONE, 0, 0},
		{SPAN_LITERAL("bytes=+1-2"), 10, NONE, 0, 0},
		{SPAN_LITERAL("bytes=1-2;3"), 10, NONE, 0, 0},
		{SPAN_LITERAL("bytes=0-1,x"), 10, NONE, 0, 0},
		{SPAN_LITERAL("bytes =0-1"), 10, NONE, 0, 0},
		{SPAN_LITERAL("byte=0-1"), 10, NONE, 0, 0},
		{SPAN_LITERAL("items=0-1"), 10, NONE, 0, 0},
	};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct http_range r = {77, 77};
		CU_ASSERT_EQUAL(
			http_range_parse(cases[i].value, cases[i].length, &r), cases[i].kind);
		if (cases[i].kind == OK) {
			CU_ASSERT_EQUAL(r.first, cases[i].first);
			CU_ASSERT_EQUAL(r.last, cases[i].last);
		}
	}
}

static const struct unit_case cases[] = {
	{"ranges", ranges},
};

UNIT_MAIN("dataplane/http/http_range", cases)
