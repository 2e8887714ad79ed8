#include "lib/clock/clock.h"

#include <time.h>

static uint64_t read_ns(clockid_t id)
{
	struct timespec ts;
	MUST(clock_gettime(id, &ts) == 0);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t clock_now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_wall_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}
