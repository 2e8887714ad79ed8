/* histogram: how often which latency was seen, to three significant digits.
 *
 *   value   0 .. 2047        one slot each
 *           2048 .. 4095     1024 slots of 2, then 1024 of 4, of 8 ... up to HISTOGRAM_MAX
 *
 * A slot is never wider than a thousandth of the values in it. What is above HISTOGRAM_MAX (73 minutes in nanoseconds)
 * counts in the last slot.
 * Owner: one thread. Pure. Cost: an addition per value; 264 KiB, of which a run touches little. */
#ifndef TOOLS_MILLLOAD_HISTOGRAM_H
#define TOOLS_MILLLOAD_HISTOGRAM_H

#include "lib/base/base.h"

enum {
	HISTOGRAM_HALF_BITS = 10,
	HISTOGRAM_HALF = 1 << HISTOGRAM_HALF_BITS, /* slots per doubling */
	HISTOGRAM_MAX_BITS = 42,
	HISTOGRAM_SLOTS = HISTOGRAM_HALF * (HISTOGRAM_MAX_BITS - HISTOGRAM_HALF_BITS + 1),
};
#define HISTOGRAM_MAX ((1ull << HISTOGRAM_MAX_BITS) - 1)
static_assert(HISTOGRAM_HALF >= 1000, "three significant digits");

struct histogram {
	uint64_t count;
	uint64_t sum;
	uint64_t min; /* exact; UINT64_MAX when empty */
	uint64_t max; /* exact */
	uint64_t slots[HISTOGRAM_SLOTS];
};

void histogram_reset(struct histogram *h);

static inline unsigned histogram_slot(uint64_t value)
{
	if (value > HISTOGRAM_MAX)
		value = HISTOGRAM_MAX;
	if (value < 2 * HISTOGRAM_HALF)
		return (unsigned)value;
	unsigned shift = 63u - (unsigned)__builtin_clzll(value) - HISTOGRAM_HALF_BITS;
	return shift * HISTOGRAM_HALF + (unsigned)(value >> shift);
}

/* The largest value that counts in a slot. */
uint64_t histogram_slot_max(unsigned slot);

static inline void histogram_add(struct histogram *h, uint64_t value)
{
	h->slots[histogram_slot(value)]++;
	h->count++;
	h->sum += value;
	if (value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
}

/* The value that `ppm` millionths of all do not exceed: 500000 is the median. 0 when empty. */
uint64_t histogram_at(const struct histogram *h, uint32_t ppm);

/* 0 when empty. */
uint64_t histogram_mean(const struct histogram *h);

#endif
