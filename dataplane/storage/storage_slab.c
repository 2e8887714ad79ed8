#include "dataplane/storage/storage_slab.h"

#include <errno.h>

#include "lib/mem/mem.h"

/* The part of the slab that must be free again before it no longer counts as full. */
enum { FULL_UNTIL_PART = 32 };

static int ring_make(struct rte_ring **out, size_t bytes, const char *name, uint32_t count)
{
	*out = mem_map(bytes);
	return *out == NULL ? -ENOMEM : ring_init(*out, name, count);
}

int storage_slab_init(struct storage_slab *slab, uint64_t bytes)
{
	uint64_t count = bytes / LIMIT_CHUNK_BYTES;
	if (count == 0 || count > 1u << 30) /* rte_ring counts to twice that */
		return -EINVAL;
	*slab = (struct storage_slab){.count = (uint32_t)count};
	slab->full_until = slab->count / FULL_UNTIL_PART;
	if (slab->full_until < LIMIT_OBJECT_CHUNKS)
		slab->full_until = LIMIT_OBJECT_CHUNKS;
	if (slab->full_until > slab->count)
		slab->full_until = slab->count;
	slab->ring_bytes = ring_bytes(slab->count, sizeof(uint32_t));
	slab->base = mem_map((size_t)slab->count * LIMIT_CHUNK_BYTES);
	int rc = slab->base == NULL ? -ENOMEM : 0;
	if (rc == 0)
		rc = ring_make(&slab->dirty, slab->ring_bytes, "slab dirty", slab->count);
	if (rc == 0)
		rc = ring_make(&slab->clean, slab->ring_bytes, "slab clean", slab->count);
	if (rc != 0)
		storage_slab_fini(slab);
	return rc;
}

void storage_slab_fini(struct storage_slab *slab)
{
	if (slab->clean != NULL)
		mem_unmap(slab->clean, slab->ring_bytes);
	if (slab->dirty != NULL)
		mem_unmap(slab->dirty, slab->ring_bytes);
	if (slab->base != NULL)
		mem_unmap(slab->base, (size_t)slab->count * LIMIT_CHUNK_BYTES);
	*slab = (struct storage_slab){0};
}

static bool take_fresh(struct storage_slab *slab, uint32_t *handle)
{
	unsigned next = atomic_load_explicit(&slab->fresh, memory_order_relaxed);
	do {
		if (next >= slab->count)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
		&slab->fresh, &next, next + 1, memory_order_relaxed, memory_order_relaxed));
	*handle = next;
	return true;
}

bool storage_slab_take(struct storage_slab *slab, uint32_t *handle)
{
	if (ring_pop(slab->dirty, handle, sizeof(*handle)) ||
		ring_pop(slab->clean, handle, sizeof(*handle)) || take_fresh(slab, handle))
		return true;
	if (!atomic_exchange_explicit(&slab->is_full, true, memory_order_relaxed))
		atomic_fetch_add_explicit(&slab->full_times, 1, memory_order_relaxed);
	return false;
}

void storage_slab_give(struct storage_slab *slab, uint32_t handle)
{
	MUST(handle < slab->count);
	MUST(ring_push(slab->dirty, &handle, sizeof(handle))); /* more given than taken, else */
	if (UNLIKELY(atomic_load_explicit(&slab->is_full, memory_order_relaxed)) &&
		storage_slab_free(slab) >= slab->full_until)
		atomic_store_explicit(&slab->is_full, false, memory_order_relaxed);
}

uint32_t storage_slab_purge(struct storage_slab *slab)
{
	uint32_t wiped = 0, handle;
	for (uint32_t n = ring_depth(slab->dirty); n > 0; n--) {
		if (!ring_pop(slab->dirty, &handle, sizeof(handle)))
			break;
		mem_forget(storage_slab_at(slab, handle), LIMIT_CHUNK_BYTES);
		MUST(ring_push(slab->clean, &handle, sizeof(handle)));
		wiped++;
	}
	return wiped;
}

uint32_t storage_slab_free(const struct storage_slab *slab)
{
	uint32_t fresh = atomic_load_explicit(&slab->fresh, memory_order_relaxed);
	return ring_depth(slab->dirty) + ring_depth(slab->clean) + (slab->count - fresh);
}
