/* clock: the two clocks. Monotonic time drives every timeout; wall time is for logs, events and
 * Date fields. Sans-I/O code never calls this: its caller passes the time in. */
#ifndef LIB_CLOCK_CLOCK_H
#define LIB_CLOCK_CLOCK_H

#include "lib/base/base.h"

#undef NS_PER_S /* DPDK's rte_cycles.h has one too: an int, which overflows at three seconds */
#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull
#define NS_PER_S  1000000000ull

/* CLOCK_MONOTONIC, the same in both processes; vDSO, no system call. */
uint64_t clock_now_ns(void);
/* CLOCK_REALTIME, since 1970. */
uint64_t clock_wall_ns(void);

#endif
