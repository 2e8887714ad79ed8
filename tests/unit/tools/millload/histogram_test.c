#include "tools/millload/histogram.h"

#include <stdlib.h>

#include "tests/unit/unit.h"

/* Both sides of each edge: the last exact value, the first doubling, the top. */
static void slots_are_contiguous(void)
{
	static const struct {
		uint64_t value;
		unsigned slot;
	} table[] = {
		{0, 0},
		{1, 1},
		{2047, 2047},
		{2048, 2048},
		{2049, 2048},
		{2050, 2049},
		{4095, 3071},
		{4096, 3072},
		{4099, 3072},
		{4100, 3073},
		{HISTOGRAM_MAX, HISTOGRAM_SLOTS - 1},
		{HISTOGRAM_MAX + 1, HISTOGRAM_SLOTS - 1},
		{UINT64_MAX, HISTOGRAM_SLOTS - 1},
	};
	for (unsigned i = 0; i < ARRAY_LEN(table); i++)
		CU_ASSERT_EQUAL(histogram_slot(table[i].value), table[i].slot);
	for (unsigned slot = 0; slot + 1 < HISTOGRAM_SLOTS; slot++) {
		uint64_t top = histogram_slot_max(slot);
		CU_ASSERT_EQUAL(histogram_slot(top), slot);
		CU_ASSERT_EQUAL(histogram_slot(top + 1), slot + 1);
	}
	CU_ASSERT_EQUAL(histogram_slot_max(HISTOGRAM_SLOTS - 1), HISTOGRAM_MAX);
}

static void keeps_three_digits(void)
{
	for (uint64_t value = 1; value < HISTOGRAM_MAX / 3; value = value * 3 / 2 + 1) {
		uint64_t told = histogram_slot_max(histogram_slot(value));
		CU_ASSERT(told >= value && (told - value) * 1000 < value + 1000);
	}
}

static struct histogram *fresh(void)
{
	struct histogram *h = malloc(sizeof(*h));
	histogram_reset(h);
	return h;
}

static void quantiles_of_a_thousand(void)
{
	struct histogram *h = fresh();
	for (uint64_t i = 1; i <= 1000; i++)
		histogram_add(h, i);
	CU_ASSERT_EQUAL(h->count, 1000);
	CU_ASSERT_EQUAL(histogram_at(h, 0), 1);
	CU_ASSERT_EQUAL(histogram_at(h, 1), 1);
	CU_ASSERT_EQUAL(histogram_at(h, 1000), 1);
	CU_ASSERT_EQUAL(histogram_at(h, 1001), 2);
	CU_ASSERT_EQUAL(histogram_at(h, 500000), 500);
	CU_ASSERT_EQUAL(histogram_at(h, 990000), 990);
	CU_ASSERT_EQUAL(histogram_at(h, 999000), 999);
	CU_ASSERT_EQUAL(histogram_at(h, 999001), 1000);
	CU_ASSERT_EQUAL(histogram_at(h, 1000000), 1000);
	CU_ASSERT_EQUAL(histogram_mean(h), 500);
	free(h);
}

static void empty_and_extremes(void)
{
	struct histogram *h = fresh();
	CU_ASSERT_EQUAL(histogram_at(h, 500000), 0);
	CU_ASSERT_EQUAL(histogram_mean(h), 0);
	histogram_add(h, 123456789);
	/* Never more than was seen. */
	CU_ASSERT_EQUAL(histogram_at(h, 500000), 123456789);
	histogram_add(h, HISTOGRAM_MAX + 5);
	CU_ASSERT_EQUAL(histogram_at(h, 1000000), HISTOGRAM_MAX + 5);
	CU_ASSERT_EQUAL(h->min, 123456789);
	histogram_reset(h);
	CU_ASSERT_EQUAL(h->count, 0);
	CU_ASSERT_EQUAL(histogram_at(h, 1000000), 0);
	free(h);
}

static const struct unit_case cases[] = {
	{"slots_are_contiguous", slots_are_contiguous},
	{"keeps_three_digits", keeps_three_digits},
	{"quantiles_of_a_thousand", quantiles_of_a_thousand},
	{"empty_and_extremes", empty_and_extremes},
};
UNIT_MAIN("tools/millload/histogram", cases)
