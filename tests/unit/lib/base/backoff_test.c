#include "lib/base/backoff.h"

#include "tests/unit/unit.h"

#define MS 1000000ull

static void doubles_up_to_the_cap(void) /* */
{
	struct backoff b;
	backoff_init(&b, 50 * MS, 60000 * MS, 10000 * MS);
	/* With the smallest random number each delay is half its ceiling, with the largest nearly all. */
	static const uint64_t low_ms[] = {
		50, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000};
	for (unsigned i = 0; i < ARRAY_LEN(low_ms); i++) {
		backoff_started(&b, 0);
		struct backoff again = b;
		CU_ASSERT_EQUAL(backoff_died(&b, 1 * MS, 0), low_ms[i] * MS);
		uint64_t high = backoff_died(&again, 1 * MS, UINT32_MAX);
		CU_ASSERT(high <= 2 * low_ms[i] * MS && high > 2 * low_ms[i] * MS - 20 * MS);
		CU_ASSERT(high <= 60000 * MS);
	}
}

static void first_restart_is_quick(void) /* */
{
	for (uint32_t random = 0; random < UINT32_MAX - (1u << 28); random += 1u << 28) {
		struct backoff b;
		backoff_init(&b, 50 * MS, 60000 * MS, 10000 * MS);
		backoff_started(&b, 5 * MS);
		uint64_t delay = backoff_died(&b, 6 * MS, random);
		CU_ASSERT(delay >= 50 * MS && delay <= 100 * MS);
	}
}

static void stable_run_resets(void)
{
	struct backoff b;
	backoff_init(&b, 50 * MS, 60000 * MS, 10000 * MS);
	for (int i = 0; i < 5; i++) {
		backoff_started(&b, 0);
		backoff_died(&b, 1, 0);
	}
	struct backoff just_short = b;
	backoff_started(&just_short, 100 * MS);
	CU_ASSERT_EQUAL(backoff_died(&just_short, 100 * MS + 10000 * MS - 1, 0), 1600 * MS);
	backoff_started(&b, 100 * MS);
	CU_ASSERT_EQUAL(backoff_died(&b, 100 * MS + 10000 * MS, 0), 50 * MS);
}

static void never_overflows(void)
{
	struct backoff b;
	backoff_init(&b, 50 * MS, 60000 * MS, 10000 * MS);
	for (int i = 0; i < 10000; i++) {
		backoff_started(&b, 0);
		uint64_t delay = backoff_died(&b, 0, UINT32_MAX);
		CU_ASSERT(delay >= 50 * MS && delay <= 60000 * MS);
	}
}

static const struct unit_case cases[] = {
	{"doubles_up_to_the_cap", doubles_up_to_the_cap},
	{"first_restart_is_quick", first_restart_is_quick},
	{"stable_run_resets", stable_run_resets},
	{"never_overflows", never_overflows},
};
UNIT_MAIN("lib/base/backoff", cases)
