#include "tools/millload/sources.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/unit.h"

static struct sources s;

static const char *text_of(uint32_t i)
{
	static char text[ADDR_TEXT];
	addr_print_ip(&s.at[i], text);
	return text;
}

static void ranges(void)
{
	s.count = 0;
	CU_ASSERT_EQUAL(sources_add(&s, "10.0.0.254-10.0.1.1,192.0.2.7"), 0);
	CU_ASSERT_EQUAL(s.count, 5);
	CU_ASSERT_STRING_EQUAL(text_of(0), "10.0.0.254");
	CU_ASSERT_STRING_EQUAL(text_of(2), "10.0.1.0");
	CU_ASSERT_STRING_EQUAL(text_of(3), "10.0.1.1");
	CU_ASSERT_STRING_EQUAL(text_of(4), "192.0.2.7");
	s.count = 0;
	CU_ASSERT_EQUAL(sources_add(&s, "fd00::ffff-fd00::1:0"), 0);
	CU_ASSERT_EQUAL(s.count, 2);
	CU_ASSERT_STRING_EQUAL(text_of(1), "fd00::1:0");
}

static void refuses(void)
{
	static const char *const table[] = {"", ",", "10.0.0.1,", "10.0.0.1-", "-10.0.0.1",
		"10.0.0.2-10.0.0.1", "10.0.0.1/24", "10.0.0.1-::1", "x", "10.0.0.1:80"};
	for (unsigned i = 0; i < ARRAY_LEN(table); i++) {
		s.count = 0;
		CU_ASSERT_EQUAL(sources_add(&s, table[i]), -EINVAL);
	}
}

static void as_many_as_there_is_room_for(void)
{
	s.count = 0;
	CU_ASSERT_EQUAL(sources_add(&s, "10.0.0.0-10.0.15.255"), 0);
	CU_ASSERT_EQUAL(s.count, SOURCES_MAX);
	CU_ASSERT_EQUAL(sources_add(&s, "10.1.0.0"), -E2BIG);
}

static void round_and_round(void)
{
	memset(&s, 0, sizeof(s));
	CU_ASSERT_PTR_NULL(sources_next(&s));
	CU_ASSERT_EQUAL(sources_add(&s, "10.0.0.1-10.0.0.3"), 0);
	for (unsigned i = 0; i < 7; i++)
		CU_ASSERT_PTR_EQUAL(sources_next(&s), &s.at[i % 3]);
}

static const struct unit_case cases[] = {
	{"ranges", ranges},
	{"refuses", refuses},
	{"as_many_as_there_is_room_for", as_many_as_there_is_room_for},
	{"round_and_round", round_and_round},
};
UNIT_MAIN("tools/millload/sources", cases)
