#include "lib/mem/pool.h"

#include <errno.h>

#include "lib/mem/mem.h"

enum { PAGE_BYTES = 4096 };

/* In free_next, for an object in use. */
#define POOL_TAKEN (UINT32_MAX - 1)

int pool_init(struct pool *p, const char *name, uint32_t capacity, uint32_t object_bytes,
	uint32_t alignment)
{
	MUST(capacity > 0 && capacity < POOL_TAKEN && object_bytes > 0);
	MUST(alignment > 0 && (alignment & (alignment - 1)) == 0 && alignment <= PAGE_BYTES);
	MUST(object_bytes <= UINT32_MAX - (alignment - 1));
	*p = (struct pool){
		.free_head = POOL_NONE,
		.capacity = capacity,
		.object_bytes = (object_bytes + alignment - 1) & ~(alignment - 1),
		.name = name,
	};
	p->base = mem_map((size_t)p->object_bytes * capacity);
	p->free_next = mem_map(sizeof(p->free_next[0]) * (size_t)capacity);
	if (p->base != NULL && p->free_next != NULL)
		return 0;
	pool_fini(p);
	return -ENOMEM;
}

void pool_fini(struct pool *p)
{
	if (p->base != NULL)
		mem_unmap(p->base, (size_t)p->object_bytes * p->capacity);
	if (p->free_next != NULL)
		mem_unmap(p->free_next, sizeof(p->free_next[0]) * (size_t)p->capacity);
	p->base = NULL;
	p->free_next = NULL;
}

void *pool_take(struct pool *p)
{
	uint32_t index = p->free_head;
	if (index != POOL_NONE)
		p->free_head = p->free_next[index];
	else if (p->touched < p->capacity)
		index = p->touched++;
	else
		return NULL;
	p->free_next[index] = POOL_TAKEN;
	p->in_use++;
	return pool_at(p, index);
}

void pool_give(struct pool *p, void *take_object)
{
	uint32_t index = pool_index(p, take_object);
	/* Always on: an object given back twice would have two users. */
	MUST(pool_is_taken(p, index) && pool_at(p, index) == take_object);
	p->free_next[index] = p->free_head;
	p->free_head = index;
	p->in_use--;
}

bool pool_is_taken(const struct pool *p, uint32_t index)
{
	return index < p->touched && p->free_next[index] == POOL_TAKEN;
}
