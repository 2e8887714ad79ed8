/* storage_index: objects by BLAKE3 address. Open addressing with linear probing; the address is its own hash.
 *
 *   slots:    | tag << 32 | object + 1 |   0 is empty; at least twice as many as objects, so probes are short
 *   objects:  appended, never changed or removed
 *
 * Writer:  one thread, the storage worker; debug builds assert that it is always the same, or that the one before
 *          has died.
 * Readers: any thread, any time, lock-free: an object is whole before its slot is published (release, acquire), so a
 *          reader sees all of it or none of it.
 * Full:    storage_index_add returns NULL.
 * Cost:    O(1), no allocation. */
#ifndef DATAPLANE_STORAGE_STORAGE_INDEX_H
#define DATAPLANE_STORAGE_STORAGE_INDEX_H

#include <sys/types.h>

#include "lib/b3/b3.h"
#include "lib/base/registry.h"

struct storage_object {
	alignas(CACHE_LINE) struct b3 address;
	uint32_t length; /* bytes; every chunk but the last is full */
	uint32_t chunks[LIMIT_OBJECT_CHUNKS];
};

struct storage_index {
	struct storage_object *objects;
	uint64_t *slots;
	uint64_t mask;
	uint32_t capacity;
	uint32_t count; /* w: the writer; r: anyone, relaxed */
	pid_t writer;	/* thread id; 0: none yet (w: the writer, debug builds) */
};

static inline uint32_t storage_index_chunks(uint32_t length)
{
	return (length + LIMIT_CHUNK_BYTES - 1) / LIMIT_CHUNK_BYTES;
}

CHECKED int storage_index_init(struct storage_index *index, uint32_t capacity);
void storage_index_fini(struct storage_index *index);

/* NULL when there is none. */
const struct storage_object *storage_index_find(
	const struct storage_index *index, const struct b3 *address);

/* Adds an object that is not there yet; `chunks` has storage_index_chunks(length) handles. */
const struct storage_object *storage_index_add(struct storage_index *index,
	const struct b3 *address, uint32_t length, const uint32_t *chunks);

static inline uint32_t storage_index_count(const struct storage_index *index)
{
	return __atomic_load_n(&index->count, __ATOMIC_RELAXED);
}

#endif
