#include "tools/millload/pace.h"

#include "lib/clock/clock.h"
#include "tests/unit/unit.h"

static void closed_loop_is_free(void)
{
	struct pace p;
	pace_init(&p, 0);
	CU_ASSERT_FALSE(pace_may_begin(&p));
	pace_start(&p, 100);
	for (unsigned i = 0; i < 1000; i++) {
		CU_ASSERT(pace_may_begin(&p));
		CU_ASSERT_EQUAL(pace_begin(&p, 100 + i), 100 + i);
	}
	CU_ASSERT_EQUAL(pace_behind(&p), 0);
	pace_stop(&p);
	CU_ASSERT_FALSE(pace_may_begin(&p));
	CU_ASSERT(pace_is_spent(&p));
}

/* At its time, and one nanosecond before. */
static void open_loop_keeps_times(void)
{
	struct pace p;
	pace_init(&p, 4);
	pace_start(&p, 1000);
	CU_ASSERT(pace_may_begin(&p));
	CU_ASSERT_EQUAL(pace_begin(&p, 1000), 1000);
	CU_ASSERT_FALSE(pace_may_begin(&p));
	pace_advance(&p, 1000 + NS_PER_S / 4 - 1);
	CU_ASSERT_FALSE(pace_may_begin(&p));
	pace_advance(&p, 1000 + NS_PER_S / 4);
	CU_ASSERT(pace_may_begin(&p));
	CU_ASSERT_EQUAL(pace_begin(&p, 1000 + NS_PER_S / 4), 1000 + NS_PER_S / 4);
	CU_ASSERT_FALSE(pace_may_begin(&p));
}

/* N-6: a request that begins late counts from when it was meant to begin. */
static void lateness_counts(void)
{
	struct pace p;
	pace_init(&p, 1000);
	pace_start(&p, 0);
	pace_advance(&p, NS_PER_S);
	CU_ASSERT_EQUAL(pace_behind(&p), 1001);
	for (uint64_t i = 0; i <= 1000; i++) {
		CU_ASSERT(pace_may_begin(&p));
		CU_ASSERT_EQUAL(pace_begin(&p, NS_PER_S), i * NS_PER_MS);
	}
	CU_ASSERT_FALSE(pace_may_begin(&p));
	CU_ASSERT_EQUAL(pace_behind(&p), 0);
}

/* Rates that do not divide a second: exactly as many as the rate says, none early, for hours. */
static void rates_are_exact(void)
{
	static const uint64_t rates[] = {1, 3, 7, 999983, 1000000000};
	for (unsigned i = 0; i < ARRAY_LEN(rates); i++) {
		struct pace p;
		pace_init(&p, rates[i]);
		pace_start(&p, 5);
		for (uint64_t n = rates[i] - 1; n < rates[i] * 40000; n = n * 3 + 1) {
			uint64_t at = pace_time_ns(&p, n);
			pace_advance(&p, at);
			CU_ASSERT(p.due >= n + 1);
			pace_advance(&p, at - 1);
			CU_ASSERT_EQUAL(p.due, n == 0 ? p.due : n);
		}
		pace_advance(&p, 5 + 86400 * NS_PER_S);
		CU_ASSERT_EQUAL(p.due, 86400 * rates[i] + 1);
	}
}

static void limits_bound(void)
{
	struct pace p;
	pace_init(&p, 0);
	pace_start(&p, 0);
	(void)pace_begin(&p, 0);
	pace_limit(&p, 2);
	CU_ASSERT_FALSE(pace_is_spent(&p));
	(void)pace_begin(&p, 0);
	CU_ASSERT(pace_may_begin(&p));
	(void)pace_begin(&p, 0);
	CU_ASSERT_FALSE(pace_may_begin(&p));
	CU_ASSERT(pace_is_spent(&p));
}

static void stop_leaves_what_is_owed(void)
{
	struct pace p;
	pace_init(&p, 10);
	pace_start(&p, 0);
	pace_advance(&p, NS_PER_S);
	(void)pace_begin(&p, NS_PER_S);
	pace_stop(&p);
	CU_ASSERT_EQUAL(pace_behind(&p), 10);
	pace_advance(&p, 5 * NS_PER_S);
	CU_ASSERT_EQUAL(pace_behind(&p), 10);
	for (unsigned i = 0; i < 10; i++) {
		CU_ASSERT(pace_may_begin(&p));
		(void)pace_begin(&p, 5 * NS_PER_S);
	}
	CU_ASSERT_FALSE(pace_may_begin(&p));
	CU_ASSERT(pace_is_spent(&p));
}

static void clock_that_goes_back(void)
{
	struct pace p;
	pace_init(&p, 10);
	pace_start(&p, NS_PER_S);
	pace_advance(&p, NS_PER_S - 1);
	CU_ASSERT_EQUAL(p.due, 1);
}

static const struct unit_case cases[] = {
	{"closed_loop_is_free", closed_loop_is_free},
	{"open_loop_keeps_times", open_loop_keeps_times},
	{"lateness_counts", lateness_counts},
	{"rates_are_exact", rates_are_exact},
	{"limits_bound", limits_bound},
	{"stop_leaves_what_is_owed", stop_leaves_what_is_owed},
	{"clock_that_goes_back", clock_that_goes_back},
};
UNIT_MAIN("tools/millload/pace", cases)
