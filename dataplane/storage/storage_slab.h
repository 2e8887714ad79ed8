/* storage_slab: the RAM of the store, cut in chunks of LIMIT_CHUNK_BYTES that are named by handles.
 *
 *   take:  dirty ring -> clean ring -> never used yet          give:  -> dirty ring
 *   purge: dirty ring -> wiped -> clean ring
 *
 * Dirty chunks are taken first: they are warm, and their pages are there. What nobody takes is wiped by the next
 * purge, which also gives the pages back.
 *
 * Threads: take and give from any; purge from one.
 * Full:    take returns false; `is_full` stays until a fair part is free again, so that it does not flap.
 * Memory:  mapped at init; pages are touched when a chunk is first used. Each ring has room for every chunk.
 * Cost:    O(1), no lock, no system call (but for purge). */
#ifndef DATAPLANE_STORAGE_STORAGE_SLAB_H
#define DATAPLANE_STORAGE_STORAGE_SLAB_H

#include <stdatomic.h>

#include "lib/shm/ring.h"

struct storage_slab {
	uint8_t *base;
	uint32_t count;	     /* chunks */
	uint32_t full_until; /* is_full ends when so many are free */
	struct rte_ring *dirty;
	struct rte_ring *clean;
	size_t ring_bytes;
	alignas(CACHE_LINE) atomic_uint fresh; /* chunks at and above this were never used */
	atomic_bool is_full;
	atomic_uint full_times; /* how often it has become full */
};

CHECKED int storage_slab_init(struct storage_slab *slab, uint64_t bytes);
void storage_slab_fini(struct storage_slab *slab);

/* A chunk with whatever bytes its last user left. */
CHECKED bool storage_slab_take(struct storage_slab *slab, uint32_t *handle);
void storage_slab_give(struct storage_slab *slab, uint32_t handle);

/* Wipes what lies in the dirty ring now. Returns how many chunks. */
uint32_t storage_slab_purge(struct storage_slab *slab);

/* Chunks that could be taken; others may take them first. */
uint32_t storage_slab_free(const struct storage_slab *slab);

static inline uint8_t *storage_slab_at(const struct storage_slab *slab, uint32_t handle)
{
	MUST_HOT(handle < slab->count);
	return slab->base + (size_t)handle * LIMIT_CHUNK_BYTES;
}

#endif
