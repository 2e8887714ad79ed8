#include "lib/clock/clock.h"

#include <time.h>

#include "tests/unit/unit.h"

static void monotonic_never_goes_back(void)
{
	uint64_t last = clock_now_ns();
	for (int i = 0; i < 100000; i++) {
		uint64_t now = clock_now_ns();
		CU_ASSERT_FATAL(now >= last);
		last = now;
	}
}

static void wall_is_since_1970(void)
{
	uint64_t before = (uint64_t)time(NULL);
	uint64_t now = clock_wall_ns() / NS_PER_S;
	CU_ASSERT(now >= before && now <= (uint64_t)time(NULL) + 1);
}

static const struct unit_case cases[] = {
	{"monotonic time never goes back", monotonic_never_goes_back},
	{"wall time is since 1970", wall_is_since_1970},
};

UNIT_MAIN("clock.clock", cases)
