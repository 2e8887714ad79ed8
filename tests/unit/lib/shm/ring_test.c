#include "lib/shm/ring.h"

#include <rte_ring_core.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

static struct rte_ring *make(uint32_t capacity, uint32_t elem_bytes)
{
	struct rte_ring *r = aligned_alloc(CACHE_LINE, ring_bytes(capacity, elem_bytes));
	MUST(r != NULL && ring_init(r, "test", capacity) == 0);
	return r;
}

/* a work queue takes 512 and refuses the 513th at once; one out, one in. */
static void exact_capacity(void)
{
	static const uint32_t capacities[] = {1, 2, 3, 255, 256, 511, 512, 1024};
	for (unsigned c = 0; c < ARRAY_LEN(capacities); c++) {
		uint32_t capacity = capacities[c];
		struct rte_ring *r = make(capacity, 8);
		uint64_t value = 0, out = 0;
		CU_ASSERT(!ring_pop(r, &out, 8));
		for (value = 0; value < capacity; value++)
			CU_ASSERT_FATAL(ring_push(r, &value, 8));
		CU_ASSERT_EQUAL(ring_depth(r), capacity);
		CU_ASSERT(!ring_push(r, &value, 8));
		CU_ASSERT_EQUAL(ring_depth(r), capacity);
		CU_ASSERT(ring_pop(r, &out, 8) && out == 0);
		CU_ASSERT(ring_push(r, &value, 8));
		CU_ASSERT(!ring_push(r, &value, 8));
		for (uint64_t i = 1; i <= capacity; i++)
			CU_ASSERT_FATAL(ring_pop(r, &out, 8) && out == i);
		CU_ASSERT_EQUAL(ring_depth(r), 0);
		free(r);
	}
}

static void elements_of_any_size(void)
{
	static const uint32_t sizes[] = {4, 8, 12, 16, 24, 64};
	for (unsigned s = 0; s < ARRAY_LEN(sizes); s++) {
		struct rte_ring *r = make(7, sizes[s]);
		uint32_t in[16], out[16];
		for (uint32_t round = 0; round < 100; round++) {
			for (unsigned i = 0; i < ARRAY_LEN(in); i++)
				in[i] = round * 16 + i;
			CU_ASSERT_FATAL(ring_push(r, in, sizes[s]));
			CU_ASSERT_FATAL(ring_pop(r, out, sizes[s]));
			CU_ASSERT_EQUAL(out[sizes[s] / 4 - 1], round * 16 + sizes[s] / 4 - 1);
		}
		free(r);
	}
}

static void fixed_layout_is_enough(void)
{
	CU_ASSERT(RING_BYTES(512, 8) >= ring_bytes(512, 8));
	CU_ASSERT(RING_BYTES(1024, 8) >= ring_bytes(1024, 8));
	CU_ASSERT(RING_BYTES(1, 4) >= ring_bytes(1, 4));
	CU_ASSERT_EQUAL(RING_BYTES(512, 12) % CACHE_LINE, 0);
}

/* A producer that died between reservation and publication. */
static void dead_producer(void)
{
	struct rte_ring *r = make(4, 8);
	uint64_t value = 1, out;
	CU_ASSERT(ring_push(r, &value, 8));
	r->prod.head += 2;
	ring_recover_producers(r);
	CU_ASSERT_EQUAL(ring_depth(r), 1);
	for (value = 2; value <= 4; value++)
		CU_ASSERT(ring_push(r, &value, 8));
	CU_ASSERT(!ring_push(r, &value, 8));
	for (value = 1; value <= 4; value++)
		CU_ASSERT(ring_pop(r, &out, 8) && out == value);
	CU_ASSERT(!ring_pop(r, &out, 8));
	free(r);
}

/* A consumer that died between reservation and release: its element counts as taken. */
static void dead_consumer(void)
{
	struct rte_ring *r = make(4, 8);
	uint64_t value, out;
	for (value = 1; value <= 4; value++)
		CU_ASSERT(ring_push(r, &value, 8));
	r->cons.head += 1;
	CU_ASSERT(!ring_push(r, &value, 8));
	ring_recover_consumers(r);
	CU_ASSERT_EQUAL(ring_depth(r), 3);
	CU_ASSERT(ring_push(r, &value, 8));
	for (value = 2; value <= 5; value++)
		CU_ASSERT(ring_pop(r, &out, 8) && out == value);
	CU_ASSERT(!ring_pop(r, &out, 8));
	free(r);
}

static void emptied(void)
{
	struct rte_ring *r = make(4, 8);
	uint64_t value = 9, out;
	for (int i = 0; i < 3; i++)
		CU_ASSERT(ring_push(r, &value, 8));
	r->prod.head++;
	r->cons.head++;
	ring_empty(r);
	CU_ASSERT_EQUAL(ring_depth(r), 0);
	CU_ASSERT(!ring_pop(r, &out, 8));
	for (int i = 0; i < 4; i++)
		CU_ASSERT(ring_push(r, &value, 8));
	CU_ASSERT(!ring_push(r, &value, 8));
	free(r);
}

/* Positions are 32 bits wide and wrap. */
static void positions_wrap(void)
{
	struct rte_ring *r = make(4, 8);
	r->prod.head = r->prod.tail = r->cons.head = r->cons.tail = UINT32_MAX - 2;
	uint64_t out;
	for (uint64_t value = 0; value < 16; value += 4) {
		for (uint64_t i = 0; i < 4; i++)
			CU_ASSERT(ring_push(r, &(uint64_t){value + i}, 8));
		CU_ASSERT(!ring_push(r, &value, 8));
		CU_ASSERT_EQUAL(ring_depth(r), 4);
		for (uint64_t i = 0; i < 4; i++)
			CU_ASSERT(ring_pop(r, &out, 8) && out == value + i);
	}
	free(r);
}

static const struct unit_case cases[] = {
	{"exact capacity", exact_capacity},
	{"elements of any size", elements_of_any_size},
	{"fixed layouts are enough", fixed_layout_is_enough},
	{"dead producer", dead_producer},
	{"dead consumer", dead_consumer},
	{"emptied", emptied},
	{"positions wrap", positions_wrap},
};

UNIT_MAIN("shm.ring", cases)
