/* backoff: how long to wait before something that died is started again.
 *
 *   1st death: 50-100 ms, 2nd: 100-200 ms, ... doubling up to the cap; a run that lasted `stable_ns`
 *   starts again from the first.
 *
 * Sans-I/O: the caller gives the clock and the random numbers, so a seed replays a sequence.
 * Owner: one thread. Cost: a few multiplications. */
#ifndef LIB_BASE_BACKOFF_H
#define LIB_BASE_BACKOFF_H

#include "lib/base/base.h"

struct backoff {
	uint64_t base_ns;
	uint64_t cap_ns;
	uint64_t stable_ns;
	uint64_t started_ns; /* when the last run began */
	uint32_t deaths;     /* in a row, without a stable run between them */
};

void backoff_init(struct backoff *b, uint64_t base_ns, uint64_t cap_ns, uint64_t stable_ns);

/* A run begins. */
void backoff_started(struct backoff *b, uint64_t now_ns);

/* The run ended: returns how long to wait before the next, between half and all of
 * min(cap, 2 * base * 2^deaths). `random` is any 32 uniform bits. */
uint64_t backoff_died(struct backoff *b, uint64_t now_ns, uint32_t random);

#endif
