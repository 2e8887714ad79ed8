/* storage_slab: the RAM of the store, cut in chunks of LIMIT_CHUNK_BYTES that are named by handles.
 *
 *   take:  dirty list -> clean list -> never used yet          give:  -> dirty list
 *   purge: dirty list -> wiped -> clean list
 *
 * Dirty chunks are taken first, the last given before the others: they are warm, and their pages are there. What nobody
 * takes is wiped by the next purge, which also gives the pages back.
 *
 * Threads: take and give from any; purge from one. Lock-free: an lcore never waits for a worker that was put aside in
 *          the middle of it, as it would on a ring with several producers.
 * Full:    take returns false; `is_full` stays until a fair part is free again, so that it does not flap.
 * Memory:  mapped at init; pages are touched when a chunk is first used. The lists are links beside the chunks, so
 *          they cannot overflow.
 * Cost:    O(1), no system call (but for purge). */
#ifndef DATAPLANE_STORAGE_STORAGE_SLAB_H
#define DATAPLANE_STORAGE_STORAGE_SLAB_H

#include <stdatomic.h>

#include "lib/base/registry.h"

/* Free chunks, newest first: a stack whose head counts its changes, so that a head that comes back after other
 * changes is not taken for the same. */
struct storage_slab_list {
	alignas(CACHE_LINE) _Atomic uint64_t
		head;	   /* changes << 32 | handle + 1; handle part 0: empty */
	atomic_uint count; /* may lag behind the list for a moment */
};

struct storage_slab {
	uint8_t *base;
	atomic_uint *next;   /* by handle: the chunk below it in its list, + 1 */
	uint32_t count;	     /* chunks */
	uint32_t full_until; /* is_full ends when so many are free */
	struct storage_slab_list dirty;
	struct storage_slab_list clean;
	alignas(CACHE_LINE) atomic_uint fresh; /* chunks at and above this were never used */
	atomic_bool is_full;
	atomic_uint full_times; /* how often it has become full */
};

CHECKED int storage_slab_init(struct storage_slab *slab, uint64_t bytes);
void storage_slab_fini(struct storage_slab *slab);

/* A chunk with whatever bytes its last user left. */
CHECKED bool storage_slab_take(struct storage_slab *slab, uint32_t *handle);
void storage_slab_give(struct storage_slab *slab, uint32_t handle);

/* Wipes as many as the dirty list has now. Returns how many chunks. */
uint32_t storage_slab_purge(struct storage_slab *slab);

/* Chunks that could be taken; others may take them first. */
uint32_t storage_slab_free(const struct storage_slab *slab);

static inline uint8_t *storage_slab_at(const struct storage_slab *slab, uint32_t handle)
{
	MUST_HOT(handle < slab->count);
	return slab->base + (size_t)handle * LIMIT_CHUNK_BYTES;
}

#endif
