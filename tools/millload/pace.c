#include "tools/millload/pace.h"

#include "lib/clock/clock.h"

void pace_init(struct pace *p, uint64_t rate)
{
	*p = (struct pace){.rate = rate, .limit = PACE_NO_LIMIT};
}

void pace_start(struct pace *p, uint64_t now_ns)
{
	p->start_ns = now_ns;
	p->due = p->rate == 0 ? PACE_NO_LIMIT : 1;
}

void pace_limit(struct pace *p, uint64_t more)
{
	p->limit = more == PACE_NO_LIMIT ? PACE_NO_LIMIT : p->begun + more;
}

void pace_stop(struct pace *p)
{
	uint64_t owed = p->begun + pace_behind(p);
	if (p->limit > owed)
		p->limit = owed;
}

void pace_advance(struct pace *p, uint64_t now_ns)
{
	if (p->rate == 0 || p->due == 0 || now_ns < p->start_ns)
		return;
	p->due = (uint64_t)((__uint128_t)(now_ns - p->start_ns) * p->rate / NS_PER_S) + 1;
}

uint64_t pace_time_ns(const struct pace *p, uint64_t n)
{
	/* Rounded up: no request is due before its time. The short division does for the first 5 hours at 1 M/s. */
	if (LIKELY(n < UINT64_MAX / NS_PER_S))
		return p->start_ns + (n * NS_PER_S + p->rate - 1) / p->rate;
	return p->start_ns + (uint64_t)(((__uint128_t)n * NS_PER_S + p->rate - 1) / p->rate);
}

uint64_t pace_begin(struct pace *p, uint64_t now_ns)
{
	uint64_t n = p->begun++;
	return p->rate == 0 ? now_ns : pace_time_ns(p, n);
}

uint64_t pace_behind(const struct pace *p)
{
	uint64_t due = p->due < p->limit ? p->due : p->limit;
	return p->rate == 0 || due < p->begun ? 0 : due - p->begun;
}
