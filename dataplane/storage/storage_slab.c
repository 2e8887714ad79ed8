#include "dataplane/storage/storage_slab.h"

#include <errno.h>

#include "lib/mem/mem.h"

/* The part of the slab that must be free again before it no longer counts as full. */
enum { FULL_UNTIL_PART = 32 };

int storage_slab_init(struct storage_slab *slab, uint64_t bytes)
{
	uint64_t count = bytes / LIMIT_CHUNK_BYTES;
	if (count == 0 || count >= UINT32_MAX)
		return -EINVAL;
	*slab = (struct storage_slab){.count = (uint32_t)count};
	slab->full_until = slab->count / FULL_UNTIL_PART;
	if (slab->full_until < LIMIT_OBJECT_CHUNKS)
		slab->full_until = LIMIT_OBJECT_CHUNKS;
	if (slab->full_until > slab->count)
		slab->full_until = slab->count;
	slab->base = mem_map((size_t)slab->count * LIMIT_CHUNK_BYTES);
	slab->next = mem_map(slab->count * sizeof(*slab->next));
	if (slab->base != NULL && slab->next != NULL)
		return 0;
	storage_slab_fini(slab);
	return -ENOMEM;
}

void storage_slab_fini(struct storage_slab *slab)
{
	if (slab->next != NULL)
		mem_unmap(slab->next, slab->count * sizeof(*slab->next));
	if (slab->base != NULL)
		mem_unmap(slab->base, (size_t)slab->count * LIMIT_CHUNK_BYTES);
	*slab = (struct storage_slab){0};
}

static uint64_t head_after(uint64_t old, uint32_t top)
{
	return (old & ~(uint64_t)UINT32_MAX) + (1ull << 32) + top;
}

static void push(struct storage_slab *slab, struct storage_slab_list *list, uint32_t handle)
{
	uint64_t old = atomic_load_explicit(&list->head, memory_order_relaxed);
	do {
		atomic_store_explicit(&slab->next[handle], (uint32_t)old, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&list->head, &old,
		head_after(old, handle + 1), memory_order_release, memory_order_relaxed));
	atomic_fetch_add_explicit(&list->count, 1, memory_order_relaxed);
}

static bool pop(struct storage_slab *slab, struct storage_slab_list *list, uint32_t *handle)
{
	uint64_t old = atomic_load_explicit(&list->head, memory_order_acquire);
	uint32_t below;
	do {
		if ((uint32_t)old == 0)
			return false;
		/* Another may take and give the chunk meanwhile: then this is nonsense, and the head has changed. */
		below = atomic_load_explicit(&slab->next[(uint32_t)old - 1], memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&list->head, &old, head_after(old, below),
		memory_order_acquire, memory_order_acquire));
	atomic_fetch_sub_explicit(&list->count, 1, memory_order_relaxed);
	*handle = (uint32_t)old - 1;
	return true;
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
	if (pop(slab, &slab->dirty, handle) || pop(slab, &slab->clean, handle) ||
		take_fresh(slab, handle))
		return true;
	if (!atomic_exchange_explicit(&slab->is_full, true, memory_order_relaxed))
		atomic_fetch_add_explicit(&slab->full_times, 1, memory_order_relaxed);
	return false;
}

void storage_slab_give(struct storage_slab *slab, uint32_t handle)
{
	MUST(handle < slab->count);
	push(slab, &slab->dirty, handle);
	if (UNLIKELY(atomic_load_explicit(&slab->is_full, memory_order_relaxed)) &&
		storage_slab_free(slab) >= slab->full_until)
		atomic_store_explicit(&slab->is_full, false, memory_order_relaxed);
}

/* A count that was lowered before it was raised reads as none. */
static uint32_t count_of(const struct storage_slab_list *list)
{
	int32_t count = (int32_t)atomic_load_explicit(&list->count, memory_order_relaxed);
	return count > 0 ? (uint32_t)count : 0;
}

uint32_t storage_slab_purge(struct storage_slab *slab)
{
	uint32_t wiped = 0, handle;
	for (uint32_t n = count_of(&slab->dirty); n > 0; n--) {
		if (!pop(slab, &slab->dirty, &handle))
			break;
		mem_forget(storage_slab_at(slab, handle), LIMIT_CHUNK_BYTES);
		push(slab, &slab->clean, handle);
		wiped++;
	}
	return wiped;
}

uint32_t storage_slab_free(const struct storage_slab *slab)
{
	uint32_t fresh = atomic_load_explicit(&slab->fresh, memory_order_relaxed);
	uint32_t free = count_of(&slab->dirty) + count_of(&slab->clean) + (slab->count - fresh);
	return free < slab->count ? free : slab->count;
}
