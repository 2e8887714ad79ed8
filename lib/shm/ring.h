/* ring: a bounded queue of fixed-size elements, an rte_ring made in place in any memory, without EAL.
 * Producers: any number of threads of ONE process.
 * Consumers: any number of threads of ONE process (maybe another).
 * Full:      ring_push returns false at once and nothing is queued; the caller counts the drop.
 * Capacity:  exactly the registry's (RING_F_EXACT_SZ).
 * Death:     a process killed inside a push or a pop leaves a reservation behind. The restarted
 *            process calls ring_recover_producers or ring_recover_consumers before its first use;
 *            nothing published is lost, an unpublished push never was, and a pop that was under way
 *            is taken as done (at most once).
 * Cost:      O(1), no allocation, no system call. */
#ifndef LIB_SHM_RING_H
#define LIB_SHM_RING_H

#include "lib/base/registry.h"

struct rte_ring;

/* Bytes for a ring of `capacity` elements of `elem_bytes` (a multiple of 4). */
size_t ring_bytes(uint32_t capacity, uint32_t elem_bytes);

/* sizeof(struct rte_ring), checked in ring.c: DPDK's headers stay out of this one, so that only the
 * code that works a ring compiles them. */
enum { RING_HEAD_BYTES = 384 };

/* The same as a constant expression, for fixed layouts: the slots are the next power of two above
 * capacity. `capacity` must itself be a power of two. */
#define RING_BYTES(capacity, elem_bytes) \
	((RING_HEAD_BYTES + 2 * (size_t)(capacity) * (elem_bytes) + CACHE_LINE - 1) / CACHE_LINE * \
		CACHE_LINE)

/* `memory` is cache-line aligned and has ring_bytes. Returns 0 or -EINVAL. */
CHECKED int ring_init(struct rte_ring *memory, const char *name, uint32_t capacity);

bool ring_push(struct rte_ring *r, const void *elem, uint32_t elem_bytes);
bool ring_pop(struct rte_ring *r, void *elem, uint32_t elem_bytes);

/* How many elements wait; exact only while nobody pushes or pops. Any process may ask. */
uint32_t ring_depth(const struct rte_ring *r);

/* Each may run while the other side works. */
void ring_recover_producers(struct rte_ring *r);
void ring_recover_consumers(struct rte_ring *r);

/* Forgets what is queued. Both sides must be dead or not yet started; readers of the depth may look. */
void ring_empty(struct rte_ring *r);

#endif
