/* pool: a fixed number of equal objects, reserved at start, handed out by index (all memory is
 * known before the first request). Pages are touched only when used, so a large pool of idle
 * objects costs little. Owner:  one thread. Full:   pool_take returns NULL; the caller refuses the
 * work. Sealed: after mem_seal() a debug build aborts on any pool_init, so the poll loop cannot
 * grow memory by mistake. Cost:   O(1), no allocation, no system call. */
#ifndef LIB_MEM_POOL_H
#define LIB_MEM_POOL_H

#include "lib/base/base.h"

struct pool {
	uint8_t *base;
	uint32_t *free_next; /* free list by index; POOL_TAKEN for objects in use */
	uint32_t free_head;
	uint32_t touched; /* objects at and above this were never handed out: their pages are
			     untouched */
	uint32_t in_use;
	uint32_t capacity;
	uint32_t object_bytes;
	const char *name;
};

#define POOL_NONE UINT32_MAX

/* `alignment` is a power of two, at most a page. Returns 0 or -ENOMEM. */
CHECKED int pool_init(struct pool *p, const char *name, uint32_t capacity, uint32_t object_bytes,
	uint32_t alignment);
void pool_fini(struct pool *p);

/* The object's bytes are as its last user left them (zero the first time). */
void *pool_take(struct pool *p);
void pool_give(struct pool *p, void *take_object);

static inline uint32_t pool_index(const struct pool *p, const void *object)
{
	return (uint32_t)((size_t)((const uint8_t *)object - p->base) / p->object_bytes);
}

static inline void *pool_at(const struct pool *p, uint32_t index)
{
	return p->base + (size_t)index * p->object_bytes;
}

bool pool_is_taken(const struct pool *p, uint32_t index);

#endif
