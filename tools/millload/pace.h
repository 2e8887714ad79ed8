/* pace: when the next request may begin, and from when its latency counts.
 *
 *   closed loop (rate 0): at once, as often as connections are free; latency counts from the beginning.
 *   open loop:            request n belongs to start + n / rate, whatever the server does; latency counts from there.
 *                         Requests that found no free connection begin late, and their wait counts (no coordinated
 *                         omission).
 *
 * Sans-I/O: the caller gives the clock. Owner: one thread. Cost: one division per request. */
#ifndef TOOLS_MILLLOAD_PACE_H
#define TOOLS_MILLLOAD_PACE_H

#include "lib/base/base.h"

#define PACE_NO_LIMIT UINT64_MAX

struct pace {
	uint64_t rate; /* requests/s; 0: closed loop */
	uint64_t start_ns;
	uint64_t begun;
	uint64_t due;	/* of the schedule, as of the last pace_advance */
	uint64_t limit; /* begun never passes it */
};

/* Nothing may begin before pace_start. */
void pace_init(struct pace *p, uint64_t rate);
void pace_start(struct pace *p, uint64_t now_ns);
/* `more` requests from now on, PACE_NO_LIMIT: any number. */
void pace_limit(struct pace *p, uint64_t more);
/* Nothing begins any more but what was due before: the schedule of an open loop is owed. */
void pace_stop(struct pace *p);

/* The clock moved. */
void pace_advance(struct pace *p, uint64_t now_ns);

static inline bool pace_may_begin(const struct pace *p)
{
	return p->begun < p->due && p->begun < p->limit;
}

/* All that may ever begin have begun. */
static inline bool pace_is_spent(const struct pace *p)
{
	return p->begun >= p->limit;
}

/* The time that request `n` of an open loop belongs to. */
uint64_t pace_time_ns(const struct pace *p, uint64_t n);

/* One request begins (pace_may_begin). Returns the time its latency counts from. */
uint64_t pace_begin(struct pace *p, uint64_t now_ns);

/* Requests that were due and have not begun; 0 in a closed loop. */
uint64_t pace_behind(const struct pace *p);

#endif
