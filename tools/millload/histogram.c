#include "tools/millload/histogram.h"

#include <string.h>

enum { PPM = 1000000 };

void histogram_reset(struct histogram *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

uint64_t histogram_slot_max(unsigned slot)
{
	MUST(slot < HISTOGRAM_SLOTS);
	if (slot < 2 * HISTOGRAM_HALF)
		return slot;
	unsigned shift = slot / HISTOGRAM_HALF - 1;
	uint64_t top = slot - (uint64_t)shift * HISTOGRAM_HALF;
	return ((top + 1) << shift) - 1;
}

uint64_t histogram_at(const struct histogram *h, uint32_t ppm)
{
	if (h->count == 0)
		return 0;
	uint64_t rank = (uint64_t)(((__uint128_t)h->count * ppm + PPM - 1) / PPM);
	if (rank == 0)
		return h->min;
	uint64_t seen = 0;
	for (unsigned i = 0; i < HISTOGRAM_SLOTS; i++) {
		seen += h->slots[i];
		if (seen < rank)
			continue;
		uint64_t value = histogram_slot_max(i);
		/* The last slot has no upper end, and nothing is above the largest value seen. */
		return value > h->max || i == HISTOGRAM_SLOTS - 1 ? h->max : value;
	}
	return h->max;
}

uint64_t histogram_mean(const struct histogram *h)
{
	return h->count == 0 ? 0 : h->sum / h->count;
}
