#include "dataplane/http/http_date.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/unit/unit.h"

static const struct {
	uint64_t unix_s;
	const char *text;
} dates[] = {
	{0, "Thu, 01 Jan 1970 00:00:00 GMT"},
	{784111777, "Sun, 06 Nov 1994 08:49:37 GMT"},
	{951782400, "Tue, 29 Feb 2000 00:00:00 GMT"},
	{951868799, "Tue, 29 Feb 2000 23:59:59 GMT"},
	{951868800, "Wed, 01 Mar 2000 00:00:00 GMT"},
	{4107542400, "Mon, 01 Mar 2100 00:00:00 GMT"},
	{253402300799, "Fri, 31 Dec 9999 23:59:59 GMT"},
};

static void known_dates(void)
{
	for (unsigned i = 0; i < ARRAY_LEN(dates); i++) {
		char out[HTTP_DATE_BYTES];
		uint64_t back = 1;
		http_date_print(dates[i].unix_s, out);
		CU_ASSERT_EQUAL(memcmp(out, dates[i].text, HTTP_DATE_BYTES), 0);
		struct span text = {(const uint8_t *)dates[i].text, HTTP_DATE_BYTES};
		CU_ASSERT_EQUAL(http_date_parse(text, &back), 0);
		CU_ASSERT_EQUAL(back, dates[i].unix_s);
	}
	char out[HTTP_DATE_BYTES];
	http_date_print(253402300800, out);
	CU_ASSERT_EQUAL(memcmp(out, "Fri, 31 Dec 9999 23:59:59 GMT", HTTP_DATE_BYTES), 0);
}

/* Every day of four centuries, against the C library. */
static void as_the_c_library(void)
{
	for (uint64_t day = 0; day < 400 * 366; day++) {
		time_t t = (time_t)(day * 86400 + day % 86400);
		struct tm tm;
		char want[64], out[HTTP_DATE_BYTES];
		uint64_t back = 0;
		gmtime_r(&t, &tm);
		strftime(want, sizeof want, "%a, %d %b %Y %H:%M:%S GMT", &tm);
		http_date_print((uint64_t)t, out);
		CU_ASSERT_EQUAL(memcmp(out, want, HTTP_DATE_BYTES), 0);
		CU_ASSERT_EQUAL(
			http_date_parse((struct span){(uint8_t *)out, HTTP_DATE_BYTES}, &back), 0);
		CU_ASSERT_EQUAL(back, (uint64_t)t);
	}
}

static void refused(void)
{
	static const struct span cases[] = {
		SPAN_LITERAL(""),
		SPAN_LITERAL("Sun, 06 Nov 1994 08:49:37 GM"),
		SPAN_LITERAL("Sun, 06 Nov 1994 08:49:37 GMTx"),
		SPAN_LITERAL("Mon, 06 Nov 1994 08:49:37 GMT"),
		SPAN_LITERAL("sun, 06 Nov 1994 08:49:37 GMT"),
		SPAN_LITERAL("Sun, 06 nov 1994 08:49:37 GMT"),
		SPAN_LITERAL("Sun, 06 Nov 1994 08:49:37 UTC"),
		SPAN_LITERAL("Sun; 06 Nov 1994 08:49:37 GMT"),
		SPAN_LITERAL("Sun, 06-Nov-1994 08:49:37 GMT"),
		SPAN_LITERAL("Sun, 6  Nov 1994 08:49:37 GMT"),
		SPAN_LITERAL("Sun, 00 Nov 1994 08:49:37 GMT"),
		SPAN_LITERAL("Fri, 31 Nov 1994 08:49:37 GMT"),
		SPAN_LITERAL("Sun, 29 Feb 2100 00:00:00 GMT"),
		SPAN_LITERAL("Sun, 06 Nov 1994 24:49:37 GMT"),
		SPAN_LITERAL("Sun, 06 Nov 1994 08:60:37 GMT"),
		SPAN_LITERAL("Sun, 06 Nov 1994 08:49:60 GMT"),
		SPAN_LITERAL("Sun, 06 Nov 1994 08:4::37 GMT"),
		SPAN_LITERAL("Wed, 31 Dec 1969 23:59:59 GMT"),
		SPAN_LITERAL("Sunday, 06-Nov-94 08:49:37 GMT"),
		SPAN_LITERAL("Sun Nov  6 08:49:37 1994 xxxx"),
	};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t t;
		CU_ASSERT_EQUAL(http_date_parse(cases[i], &t), -EINVAL);
	}
}

static const struct unit_case cases[] = {
	{"known dates", known_dates},
	{"as the C library", as_the_c_library},
	{"refused", refused},
};

UNIT_MAIN("dataplane/http/http_date", cases)
