/* The C11 variant of rte_ring: atomics that a compiler and ThreadSanitizer understand, where the
 * default for x86 is plain accesses between compiler barriers. Same instructions on x86. This file is
 * the only one that compiles ring operations, so that all of Millrace uses one variant. */
#define RTE_USE_C11_MEM_MODEL

#include <rte_pause.h>

/* A producer that finishes out of turn waits for the tail of its predecessor and then publishes both.
 * rte_ring waits with a relaxed load, so by the C11 rules the consumer that sees the second tail need
 * not see the first producer's element. x86 orders it all the same; an acquire load makes it right by
 * the rules too, for nothing. */
#define rte_wait_until_equal_32(addr, expected, order) \
	rte_wait_until_equal_32(addr, expected, __ATOMIC_ACQUIRE)
#include <rte_ring.h>
#include <rte_ring_elem.h>
#undef rte_wait_until_equal_32

#include <errno.h>

#include "lib/shm/ring.h"

static_assert(sizeof(struct rte_ring) == RING_HEAD_BYTES, "the header of a ring");

size_t ring_bytes(uint32_t capacity, uint32_t elem_bytes)
{
	ssize_t bytes = rte_ring_get_memsize_elem(elem_bytes, rte_align32pow2(capacity + 1));
	MUST(bytes > 0);
	return (size_t)bytes;
}

int ring_init(struct rte_ring *memory, const char *name, uint32_t capacity)
{
	int failed = rte_ring_init(memory, name, capacity, RING_F_EXACT_SZ);
	return failed == 0 && rte_ring_get_capacity(memory) == capacity ? 0 : -EINVAL;
}

bool ring_push(struct rte_ring *r, const void *elem, uint32_t elem_bytes)
{
	return rte_ring_mp_enqueue_bulk_elem(r, elem, elem_bytes, 1, NULL) == 1;
}

bool ring_pop(struct rte_ring *r, void *elem, uint32_t elem_bytes)
{
	return rte_ring_mc_dequeue_bulk_elem(r, elem, elem_bytes, 1, NULL) == 1;
}

uint32_t ring_depth(const struct rte_ring *r)
{
	uint32_t popped = __atomic_load_n(&r->cons.tail, __ATOMIC_ACQUIRE);
	uint32_t pushed = __atomic_load_n(&r->prod.tail, __ATOMIC_ACQUIRE);
	uint32_t depth = pushed - popped;
	return depth < r->capacity ? depth : r->capacity;
}

void ring_recover_producers(struct rte_ring *r)
{
	uint32_t published = __atomic_load_n(&r->prod.tail, __ATOMIC_ACQUIRE);
	__atomic_store_n(&r->prod.head, published, __ATOMIC_RELEASE);
}

void ring_recover_consumers(struct rte_ring *r)
{
	uint32_t reserved = __atomic_load_n(&r->cons.head, __ATOMIC_ACQUIRE);
	__atomic_store_n(&r->cons.tail, reserved, __ATOMIC_RELEASE);
}

void ring_empty(struct rte_ring *r)
{
	ring_recover_producers(r);
	uint32_t published = __atomic_load_n(&r->prod.tail, __ATOMIC_ACQUIRE);
	__atomic_store_n(&r->cons.head, published, __ATOMIC_RELEASE);
	__atomic_store_n(&r->cons.tail, published, __ATOMIC_RELEASE);
}
