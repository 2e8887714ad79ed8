#include "dataplane/storage/storage_index.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

enum { OBJECTS = 1000 };

static struct storage_index idx;

static struct b3 address_of(uint32_t i)
{
	struct b3 b;
	b3_of(&b, &i, sizeof(i));
	return b;
}

/* What object i is made of: a reader can check it whole. */
static uint32_t length_of(uint32_t i)
{
	return i * 2654435761u % (LIMIT_BODY_BYTES + 1);
}

static bool add(uint32_t i)
{
	struct b3 address = address_of(i);
	uint32_t chunks[LIMIT_OBJECT_CHUNKS];
	for (uint32_t j = 0; j < LIMIT_OBJECT_CHUNKS; j++)
		chunks[j] = i * 100 + j;
	return storage_index_add(&idx, &address, length_of(i), chunks) != NULL;
}

static bool is_right(const struct storage_object *object, uint32_t i)
{
	struct b3 address = address_of(i);
	if (!b3_equals(&object->address, &address) || object->length != length_of(i))
		return false;
	for (uint32_t j = 0; j < storage_index_chunks(object->length); j++) {
		if (object->chunks[j] != i * 100 + j)
			return false;
	}
	return true;
}

static void test_chunks(void)
{
	static const uint32_t cases[][2] = {{0, 0}, {1, 1}, {65535, 1}, {65536, 1}, {65537, 2},
		{LIMIT_BODY_BYTES, LIMIT_OBJECT_CHUNKS}};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++)
		CU_ASSERT_EQUAL(storage_index_chunks(cases[i][0]), cases[i][1]);
}

/* Filled to the last entry, one more refused, everything still found. */
static void test_full(void)
{
	CU_ASSERT_EQUAL_FATAL(storage_index_init(&idx, OBJECTS), 0);
	for (uint32_t i = 0; i < OBJECTS; i++) {
		struct b3 address = address_of(i);
		CU_ASSERT_PTR_NULL(storage_index_find(&idx, &address));
		CU_ASSERT(add(i));
	}
	CU_ASSERT(!add(OBJECTS));
	CU_ASSERT_EQUAL(storage_index_count(&idx), OBJECTS);
	for (uint32_t i = 0; i <= OBJECTS; i++) {
		struct b3 address = address_of(i);
		const struct storage_object *object = storage_index_find(&idx, &address);
		CU_ASSERT_EQUAL(object != NULL, i < OBJECTS);
		CU_ASSERT(object == NULL || is_right(object, i));
	}
	storage_index_fini(&idx);
}

/* Addresses that share their home and their tag are told apart by the rest. */
static void test_collisions(void)
{
	struct b3 address = {{0}};
	uint32_t chunk = 0;
	CU_ASSERT_EQUAL_FATAL(storage_index_init(&idx, 16), 0);
	for (uint8_t i = 0; i < 16; i++) {
		address.bytes[31] = i;
		CU_ASSERT_PTR_NULL(storage_index_find(&idx, &address));
		CU_ASSERT_PTR_NOT_NULL(storage_index_add(&idx, &address, i, &chunk));
	}
	for (uint8_t i = 0; i < 16; i++) {
		address.bytes[31] = i;
		const struct storage_object *object = storage_index_find(&idx, &address);
		CU_ASSERT_PTR_NOT_NULL_FATAL(object);
		CU_ASSERT_EQUAL(object->length, i);
	}
	storage_index_fini(&idx);
}

static atomic_bool is_over;

static void *read_all(void *arg)
{
	uintptr_t wrong = 0;
	uint32_t known = 0;
	(void)arg;
	while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
		for (uint32_t i = 0; i < OBJECTS; i += 7) {
			struct b3 address = address_of(i);
			const struct storage_object *object = storage_index_find(&idx, &address);
			wrong += object != NULL && !is_right(object, i);
			wrong += object == NULL && i < known; /* once seen, always there */
			if (object != NULL && i >= known)
				known = i + 1;
			if (object == NULL)
				break;
		}
	}
	return (void *)wrong;
}

/* readers beside the writer see whole objects or none. */
static void test_readers(void)
{
	pthread_t readers[2];
	void *wrong;
	CU_ASSERT_EQUAL_FATAL(storage_index_init(&idx, OBJECTS), 0);
	atomic_store(&is_over, false);
	for (unsigned i = 0; i < 2; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&readers[i], NULL, read_all, NULL), 0);
	for (uint32_t i = 0; i < OBJECTS; i++)
		CU_ASSERT(add(i));
	atomic_store(&is_over, true);
	for (unsigned i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(pthread_join(readers[i], &wrong), 0);
		CU_ASSERT_PTR_NULL(wrong);
	}
	storage_index_fini(&idx);
}

static void *add_one(void *arg)
{
	return (void *)(uintptr_t)add((uint32_t)(uintptr_t)arg);
}

static bool add_elsewhere(uint32_t i)
{
	pthread_t thread;
	void *added = NULL;
	if (pthread_create(&thread, NULL, add_one, (void *)(uintptr_t)i) != 0)
		return false;
	pthread_join(thread, &added);
	return added != NULL;
}

/* a writer that follows a dead one is welcome; a second one beside it is a bug that stops a debug build. */
static void test_one_writer(void)
{
	CU_ASSERT_EQUAL_FATAL(storage_index_init(&idx, 16), 0);
	CU_ASSERT(add_elsewhere(1));
	CU_ASSERT(add_elsewhere(2));
	CU_ASSERT(add(3));
	fflush(NULL);
	pid_t child = fork();
	CU_ASSERT_FATAL(child >= 0);
	if (child == 0) {
		struct rlimit no_core = {0, 0};
		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGABRT, SIG_DFL);
		if (freopen("/dev/null", "w", stderr) == NULL)
			_exit(2);
		_exit(add(4) && add_elsewhere(5) ? 0 : 2);
	}
	int status = 0;
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
#ifdef MILLRACE_MUST_HOT
	CU_ASSERT_NOT_EQUAL(status, 0);
#else
	CU_ASSERT_EQUAL(status, 0);
#endif
	storage_index_fini(&idx);
}

static const struct unit_case cases[] = {
	{"chunks", test_chunks},
	{"full", test_full},
	{"collisions", test_collisions},
	{"readers", test_readers},
	{"one_writer", test_one_writer},
};

UNIT_MAIN("storage_index", cases)
