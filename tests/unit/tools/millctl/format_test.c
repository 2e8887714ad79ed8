#include "tools/millctl/format.h"

#include "tests/unit/unit.h"

static void bytes(void)
{
	char t[FORMAT_TEXT];
	CU_ASSERT_STRING_EQUAL(format_bytes(t, 0), "0 B");
	CU_ASSERT_STRING_EQUAL(format_bytes(t, 1023), "1023 B");
	CU_ASSERT_STRING_EQUAL(format_bytes(t, 1024), "1.0 KiB");
	CU_ASSERT_STRING_EQUAL(format_bytes(t, 268435456), "256.0 MiB");
	CU_ASSERT_STRING_EQUAL(format_bytes(t, 1.8e19), "16370904.6 TiB");
}

static void duration(void)
{
	char t[FORMAT_TEXT];
	CU_ASSERT_STRING_EQUAL(format_duration(t, 0), "0.0 s");
	CU_ASSERT_STRING_EQUAL(format_duration(t, 59999), "59.9 s");
	CU_ASSERT_STRING_EQUAL(format_duration(t, 60000), "1 m 00 s");
	CU_ASSERT_STRING_EQUAL(format_duration(t, 3599999), "59 m 59 s");
	CU_ASSERT_STRING_EQUAL(format_duration(t, 3600000), "1 h 00 m");
	CU_ASSERT_STRING_EQUAL(format_duration(t, 86400000ull * 4 + 3600000 * 5), "4 d 05 h");
}

static void count(void)
{
	char t[FORMAT_TEXT];
	CU_ASSERT_STRING_EQUAL(format_count(t, 0), "0");
	CU_ASSERT_STRING_EQUAL(format_count(t, 999), "999");
	CU_ASSERT_STRING_EQUAL(format_count(t, 1000), "1,000");
	CU_ASSERT_STRING_EQUAL(format_count(t, 1234567), "1,234,567");
	CU_ASSERT_STRING_EQUAL(format_count(t, UINT64_MAX), "18446744073709551615");
}

static void latency(void)
{
	char t[FORMAT_TEXT];
	CU_ASSERT_STRING_EQUAL(format_latency(t, 20000), "20 us");
	CU_ASSERT_STRING_EQUAL(format_latency(t, 5000000), "5 ms");
	CU_ASSERT_STRING_EQUAL(format_latency(t, 1000000000), "1 s");
}

static const struct unit_case cases[] = {
	{"bytes", bytes},
	{"duration", duration},
	{"count", count},
	{"latency", latency},
};
UNIT_MAIN("tools/millctl/format", cases)
