/* sim_rand: the one source of chance of a simulation: the same seed, the same run. */
#ifndef TESTS_SIM_SIM_RAND_H
#define TESTS_SIM_SIM_RAND_H

#include "lib/base/base.h"

struct sim_rand {
	uint64_t state;
};

static inline uint64_t sim_rand_next(struct sim_rand *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15ull;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* In [low, high]. */
static inline uint64_t sim_rand_range(struct sim_rand *r, uint64_t low, uint64_t high)
{
	return low + sim_rand_next(r) % (high - low + 1);
}

/* True `permille` times of a thousand. */
static inline bool sim_rand_chance(struct sim_rand *r, unsigned permille)
{
	return sim_rand_next(r) % 1000 < permille;
}

#endif
