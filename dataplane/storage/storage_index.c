#include "dataplane/storage/storage_index.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lib/mem/mem.h"

static size_t slots_bytes(const struct storage_index *index)
{
	return (index->mask + 1) * sizeof(uint64_t);
}

static size_t objects_bytes(const struct storage_index *index)
{
	return (size_t)index->capacity * sizeof(struct storage_object);
}

int storage_index_init(struct storage_index *index, uint32_t capacity)
{
	uint64_t slots = 2;
	if (capacity == 0 || capacity == UINT32_MAX)
		return -EINVAL;
	while (slots < 2ull * capacity)
		slots *= 2;
	*index = (struct storage_index){.mask = slots - 1, .capacity = capacity};
	index->slots = mem_map(slots_bytes(index));
	index->objects = mem_map(objects_bytes(index));
	if (index->slots != NULL && index->objects != NULL)
		return 0;
	storage_index_fini(index);
	return -ENOMEM;
}

void storage_index_fini(struct storage_index *index)
{
	if (index->slots != NULL)
		mem_unmap(index->slots, slots_bytes(index));
	if (index->objects != NULL)
		mem_unmap(index->objects, objects_bytes(index));
	*index = (struct storage_index){0};
}

static uint64_t home_of(const struct b3 *address)
{
	uint64_t word;
	memcpy(&word, address->bytes, sizeof(word));
	return word;
}

/* Other bits than the home's, so that a wrong object is seldom looked at. */
static uint32_t tag_of(const struct b3 *address)
{
	uint32_t word;
	memcpy(&word, address->bytes + sizeof(uint64_t), sizeof(word));
	return word;
}

const struct storage_object *storage_index_find(
	const struct storage_index *index, const struct b3 *address)
{
	uint32_t tag = tag_of(address);
	for (uint64_t at = home_of(address);; at++) {
		uint64_t slot = __atomic_load_n(&index->slots[at & index->mask], __ATOMIC_ACQUIRE);
		if (slot == 0)
			return NULL;
		if (slot >> 32 != tag)
			continue;
		const struct storage_object *object = &index->objects[(uint32_t)slot - 1];
		if (b3_equals(&object->address, address))
			return object;
	}
}

/* A restarted worker takes over from a dead one. */
static bool is_writer(struct storage_index *index)
{
	pid_t self = gettid();
	if (index->writer != self &&
		(index->writer == 0 || tgkill(getpid(), index->writer, 0) != 0))
		index->writer = self;
	return index->writer == self;
}

const struct storage_object *storage_index_add(struct storage_index *index,
	const struct b3 *address, uint32_t length, const uint32_t *chunks)
{
	MUST_HOT(is_writer(index));
	MUST_HOT(storage_index_find(index, address) == NULL);
	uint32_t number = index->count, chunk_count = storage_index_chunks(length);
	MUST(chunk_count <= LIMIT_OBJECT_CHUNKS);
	if (number == index->capacity)
		return NULL;
	struct storage_object *object = &index->objects[number];
	object->address = *address;
	object->length = length;
	for (uint32_t i = 0; i < chunk_count; i++)
		object->chunks[i] = chunks[i];
	uint64_t at = home_of(address);
	while (index->slots[at & index->mask] != 0)
		at++;
	__atomic_store_n(&index->slots[at & index->mask],
		(uint64_t)tag_of(address) << 32 | (number + 1), __ATOMIC_RELEASE);
	__atomic_store_n(&index->count, number + 1, __ATOMIC_RELAXED);
	return object;
}
