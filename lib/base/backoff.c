#include "lib/base/backoff.h"

void backoff_init(struct backoff *b, uint64_t base_ns, uint64_t cap_ns, uint64_t stable_ns)
{
	MUST(base_ns > 0 && cap_ns <= UINT64_MAX / 4);
	*b = (struct backoff){.base_ns = base_ns, .cap_ns = cap_ns, .stable_ns = stable_ns};
}

void backoff_started(struct backoff *b, uint64_t now_ns)
{
	b->started_ns = now_ns;
}

uint64_t backoff_died(struct backoff *b, uint64_t now_ns, uint32_t random)
{
	if (now_ns >= b->started_ns && now_ns - b->started_ns >= b->stable_ns)
		b->deaths = 0;
	uint64_t ceiling = 2 * b->base_ns;
	for (uint32_t i = 0; i < b->deaths && ceiling < b->cap_ns; i++)
		ceiling *= 2;
	if (ceiling > b->cap_ns)
		ceiling = b->cap_ns;
	if (b->deaths < UINT32_MAX)
		b->deaths++;
	uint64_t half = ceiling / 2;
	/* Half of a cap of 60 s is below 2^36 ns: times 32 bits needs more than 64. */
	return half + (uint64_t)((unsigned __int128)(ceiling - half) * random >> 32);
}
