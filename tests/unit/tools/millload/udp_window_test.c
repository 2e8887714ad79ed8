#include "tools/millload/udp_window.h"

#include "tests/unit/unit.h"

static struct udp_window w;

static void answers_in_any_order(void)
{
	uint64_t from_ns;
	udp_window_init(&w);
	for (uint64_t i = 0; i < 4; i++)
		udp_window_sent(&w, 100 + i, 200 + i);
	CU_ASSERT(udp_window_answered(&w, 2, &from_ns) && from_ns == 102);
	CU_ASSERT(udp_window_answered(&w, 0, &from_ns) && from_ns == 100);
	CU_ASSERT_EQUAL(w.waiting, 2);
	CU_ASSERT_EQUAL(w.oldest, 1);
	/* Twice, before the first, behind the last. */
	CU_ASSERT_FALSE(udp_window_answered(&w, 2, &from_ns));
	CU_ASSERT_FALSE(udp_window_answered(&w, 0, &from_ns));
	CU_ASSERT_FALSE(udp_window_answered(&w, 4, &from_ns));
	CU_ASSERT_FALSE(udp_window_answered(&w, UINT64_MAX, &from_ns));
	CU_ASSERT(udp_window_answered(&w, 1, &from_ns));
	CU_ASSERT(udp_window_answered(&w, 3, &from_ns));
	CU_ASSERT_EQUAL(w.oldest, 4);
	CU_ASSERT_EQUAL(w.waiting, 0);
}

static void expires_at_the_time(void)
{
	uint64_t from_ns;
	udp_window_init(&w);
	for (uint64_t i = 0; i < 4; i++)
		udp_window_sent(&w, 0, 10 * i);
	CU_ASSERT(udp_window_answered(&w, 1, &from_ns));
	CU_ASSERT_EQUAL(udp_window_expire(&w, 19), 1);
	CU_ASSERT_EQUAL(udp_window_expire(&w, 20), 1);
	CU_ASSERT_EQUAL(w.waiting, 1);
	/* The echo of one that was given up. */
	CU_ASSERT_FALSE(udp_window_answered(&w, 2, &from_ns));
	CU_ASSERT(udp_window_answered(&w, 3, &from_ns));
	CU_ASSERT_EQUAL(udp_window_expire(&w, UINT64_MAX), 0);
}

static void full_and_not(void)
{
	uint64_t from_ns;
	udp_window_init(&w);
	for (unsigned i = 0; i < UDP_WINDOW; i++) {
		CU_ASSERT_FATAL(udp_window_has_room(&w));
		udp_window_sent(&w, i, 0);
	}
	CU_ASSERT_FALSE(udp_window_has_room(&w));
	/* One in the middle makes no room: the oldest is still waited for. */
	CU_ASSERT(udp_window_answered(&w, 7, &from_ns));
	CU_ASSERT_FALSE(udp_window_has_room(&w));
	CU_ASSERT(udp_window_answered(&w, 0, &from_ns));
	CU_ASSERT(udp_window_has_room(&w));
	udp_window_sent(&w, 42, 0);
	CU_ASSERT(udp_window_answered(&w, UDP_WINDOW, &from_ns) && from_ns == 42);
	CU_ASSERT_EQUAL(w.waiting, UDP_WINDOW - 2);
}

static const struct unit_case cases[] = {
	{"answers_in_any_order", answers_in_any_order},
	{"expires_at_the_time", expires_at_the_time},
	{"full_and_not", full_and_not},
};
UNIT_MAIN("tools/millload/udp_window", cases)
