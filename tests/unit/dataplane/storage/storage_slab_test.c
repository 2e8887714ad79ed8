#include "dataplane/storage/storage_slab.h"

#include <pthread.h>
#include <string.h>

#include "tests/unit/unit.h"

enum { CHUNKS = 64 };

static struct storage_slab slab;

static void start(uint32_t chunks)
{
	CU_ASSERT_EQUAL_FATAL(storage_slab_init(&slab, (uint64_t)chunks * LIMIT_CHUNK_BYTES), 0);
}

static void test_sizes(void)
{
	CU_ASSERT_NOT_EQUAL(storage_slab_init(&slab, LIMIT_CHUNK_BYTES - 1), 0);
	CU_ASSERT_EQUAL_FATAL(storage_slab_init(&slab, 2 * LIMIT_CHUNK_BYTES - 1), 0);
	CU_ASSERT_EQUAL(slab.count, 1);
	storage_slab_fini(&slab);
}

/* All chunks, each once; one more is refused; what is given back can be taken again. */
static void test_full(void)
{
	uint32_t handles[CHUNKS], one;
	bool seen[CHUNKS] = {false};
	start(CHUNKS);
	for (unsigned i = 0; i < CHUNKS; i++) {
		CU_ASSERT_FATAL(storage_slab_take(&slab, &handles[i]));
		CU_ASSERT_FATAL(handles[i] < CHUNKS && !seen[handles[i]]);
		seen[handles[i]] = true;
		memset(storage_slab_at(&slab, handles[i]), (int)i, LIMIT_CHUNK_BYTES);
	}
	CU_ASSERT_EQUAL(storage_slab_free(&slab), 0);
	CU_ASSERT(!atomic_load(&slab.is_full)); /* nobody has wanted more yet */
	CU_ASSERT(!storage_slab_take(&slab, &one));
	CU_ASSERT(!storage_slab_take(&slab, &one));
	CU_ASSERT(atomic_load(&slab.is_full));
	CU_ASSERT_EQUAL(atomic_load(&slab.full_times), 1);
	storage_slab_give(&slab, handles[7]);
	CU_ASSERT(storage_slab_take(&slab, &one));
	CU_ASSERT_EQUAL(one, handles[7]);
	storage_slab_fini(&slab);
}

/* Full ends when room for a whole object is there, not with the first chunk, and the next time counts anew. */
static void test_full_does_not_flap(void)
{
	uint32_t handles[CHUNKS], one;
	start(CHUNKS);
	CU_ASSERT_EQUAL(slab.full_until, LIMIT_OBJECT_CHUNKS);
	for (unsigned i = 0; i < CHUNKS; i++)
		CU_ASSERT(storage_slab_take(&slab, &handles[i]));
	CU_ASSERT(!storage_slab_take(&slab, &one));
	for (unsigned i = 0; i < LIMIT_OBJECT_CHUNKS - 1; i++)
		storage_slab_give(&slab, handles[i]);
	CU_ASSERT(atomic_load(&slab.is_full));
	storage_slab_give(&slab, handles[LIMIT_OBJECT_CHUNKS - 1]);
	CU_ASSERT(!atomic_load(&slab.is_full));
	for (unsigned i = 0; i < LIMIT_OBJECT_CHUNKS; i++)
		CU_ASSERT(storage_slab_take(&slab, &one));
	CU_ASSERT(!storage_slab_take(&slab, &one));
	CU_ASSERT_EQUAL(atomic_load(&slab.full_times), 2);
	storage_slab_fini(&slab);
}

/* a purge wipes what was freed and nothing that is in use. */
static void test_purge(void)
{
	uint32_t kept, freed[3], one;
	static const uint8_t zeros[LIMIT_CHUNK_BYTES];
	start(CHUNKS);
	CU_ASSERT(storage_slab_take(&slab, &kept));
	memset(storage_slab_at(&slab, kept), 'k', LIMIT_CHUNK_BYTES);
	for (unsigned i = 0; i < 3; i++) {
		CU_ASSERT(storage_slab_take(&slab, &freed[i]));
		memset(storage_slab_at(&slab, freed[i]), 's', LIMIT_CHUNK_BYTES);
	}
	CU_ASSERT_EQUAL(storage_slab_purge(&slab), 0);
	for (unsigned i = 0; i < 3; i++)
		storage_slab_give(&slab, freed[i]);
	CU_ASSERT_EQUAL(storage_slab_purge(&slab), 3);
	CU_ASSERT_EQUAL(storage_slab_purge(&slab), 0);
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(memcmp(storage_slab_at(&slab, freed[i]), zeros, sizeof(zeros)), 0);
	CU_ASSERT_EQUAL(storage_slab_at(&slab, kept)[5], 'k');
	CU_ASSERT_EQUAL(storage_slab_free(&slab), CHUNKS - 1);
	for (unsigned i = 0; i < CHUNKS - 1; i++)
		CU_ASSERT(storage_slab_take(&slab, &one));
	CU_ASSERT(!storage_slab_take(&slab, &one));
	storage_slab_fini(&slab);
}

enum { ROUNDS = 20000, HELD = 8, TAKERS = 3 };

/* Takes, marks and gives: a chunk in two hands at once would show another's mark (and a race to ThreadSanitizer). */
static void *churn(void *arg)
{
	uint32_t held[HELD], count = 0, mine = (uint32_t)(uintptr_t)arg;
	uintptr_t wrong = 0;
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (count < HELD && storage_slab_take(&slab, &held[count])) {
			memcpy(storage_slab_at(&slab, held[count]), &mine, sizeof(mine));
			count++;
			continue;
		}
		while (count > 0) {
			uint32_t mark;
			memcpy(&mark, storage_slab_at(&slab, held[--count]), sizeof(mark));
			wrong += mark != mine;
			storage_slab_give(&slab, held[count]);
		}
	}
	while (count > 0)
		storage_slab_give(&slab, held[--count]);
	return (void *)wrong;
}

static void test_threads(void)
{
	pthread_t threads[TAKERS];
	void *wrong;
	start(CHUNKS / 4); /* less than all want together */
	for (uintptr_t i = 0; i < TAKERS; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)), 0);
	for (unsigned i = 0; i < 200; i++)
		storage_slab_purge(&slab);
	for (unsigned i = 0; i < TAKERS; i++) {
		CU_ASSERT_EQUAL(pthread_join(threads[i], &wrong), 0);
		CU_ASSERT_PTR_NULL(wrong);
	}
	CU_ASSERT_EQUAL(storage_slab_free(&slab), CHUNKS / 4);
	storage_slab_fini(&slab);
}

static const struct unit_case cases[] = {
	{"sizes", test_sizes},
	{"full", test_full},
	{"full_does_not_flap", test_full_does_not_flap},
	{"purge", test_purge},
	{"threads", test_threads},
};

UNIT_MAIN("storage_slab", cases)
