#include "lib/mem/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/mem/mem.h"
#include "tests/unit/unit.h"

static void gives_exactly_its_capacity(void)
{
	enum { CAPACITY = 100 };
	struct pool p;
	void *objects[CAPACITY];
	CU_ASSERT_FATAL(pool_init(&p, "test", CAPACITY, 24, 64) == 0);
	CU_ASSERT_EQUAL(p.object_bytes, 64);
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < CAPACITY; i++) {
			objects[i] = pool_take(&p);
			CU_ASSERT_PTR_NOT_NULL_FATAL(objects[i]);
			CU_ASSERT_EQUAL((uintptr_t)objects[i] % 64, 0);
			CU_ASSERT(pool_is_taken(&p, pool_index(&p, objects[i])));
			CU_ASSERT_PTR_EQUAL(pool_at(&p, pool_index(&p, objects[i])), objects[i]);
			memset(objects[i], (int)i, 64);
		}
		CU_ASSERT_PTR_NULL(pool_take(&p));
		CU_ASSERT_EQUAL(p.in_use, CAPACITY);
		for (uint32_t i = 0; i < CAPACITY; i++) {
			CU_ASSERT_EQUAL(*(uint8_t *)objects[i], i);
			pool_give(&p, objects[i]);
			CU_ASSERT(!pool_is_taken(&p, pool_index(&p, objects[i])));
		}
		CU_ASSERT_EQUAL(p.in_use, 0);
	}
	pool_fini(&p);
}

static void one_back_is_one_more(void)
{
	struct pool p;
	CU_ASSERT_FATAL(pool_init(&p, "test", 1, 8, 8) == 0);
	uint64_t *only = pool_take(&p);
	CU_ASSERT_EQUAL(*only, 0);
	*only = 7;
	CU_ASSERT_PTR_NULL(pool_take(&p));
	pool_give(&p, only);
	CU_ASSERT_PTR_EQUAL(pool_take(&p), only);
	CU_ASSERT_EQUAL(*only, 7);
	pool_fini(&p);
}

static void untouched_objects_cost_nothing(void)
{
	enum { CAPACITY = 1 << 16, BYTES = 4096 };
	struct pool p;
	CU_ASSERT_FATAL(pool_init(&p, "large", CAPACITY, BYTES, 4096) == 0);
	memset(pool_take(&p), 1, BYTES);
	/* 256 MiB reserved; what lies well beyond the first object is not there. */
	static unsigned char resident[CAPACITY];
	CU_ASSERT_FATAL(mincore(p.base, (size_t)CAPACITY * BYTES, resident) == 0);
	unsigned pages = 0;
	for (unsigned i = CAPACITY / 2; i < CAPACITY; i++)
		pages += resident[i] & 1;
	CU_ASSERT_EQUAL(pages, 0);
	pool_fini(&p);
}

static void no_room_is_an_error(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		struct rlimit limit = {1 << 20, 1 << 20};
		struct pool p;
		setrlimit(RLIMIT_AS, &limit);
		_exit(pool_init(&p, "large", 1 << 20, 4096, 8) == -ENOMEM ? 0 : 1);
	}
	int status;
	CU_ASSERT(waitpid(pid, &status, 0) == pid && status == 0);
}

static bool aborts(void (*body)(void))
{
	pid_t pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);
		dup2(null, STDERR_FILENO);
		body();
		_exit(0);
	}
	int status;
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void give_twice(void)
{
	struct pool p;
	MUST(pool_init(&p, "test", 4, 8, 8) == 0);
	void *object = pool_take(&p);
	pool_give(&p, object);
	pool_give(&p, object);
}

static void give_between(void)
{
	struct pool p;
	MUST(pool_init(&p, "test", 4, 8, 8) == 0);
	pool_give(&p, (char *)pool_take(&p) + 1);
}

static void misuse_is_found(void)
{
	CU_ASSERT(aborts(give_twice));
	CU_ASSERT(aborts(give_between));
}

static void init_after_seal(void)
{
	struct pool p;
	mem_seal();
	MUST(pool_init(&p, "late", 4, 8, 8) == 0);
}

static void init_after_unseal(void)
{
	mem_seal();
	mem_unseal();
	struct pool p;
	MUST(pool_init(&p, "early", 4, 8, 8) == 0);
}

/* A debug build dies of memory that is mapped after start-up; a release build has no such check. */
static void sealed_memory_does_not_grow(void)
{
#ifdef MILLRACE_MUST_HOT
	CU_ASSERT(aborts(init_after_seal));
#else
	CU_ASSERT(!aborts(init_after_seal));
#endif
	CU_ASSERT(!aborts(init_after_unseal));
}

static void forgotten_pages_read_zero(void)
{
	size_t bytes = 8 * 4096;
	uint8_t *memory = mem_map(bytes);
	CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
	memset(memory, 0xaa, bytes);
	mem_forget(memory + 4096, 4096);
	CU_ASSERT_EQUAL(memory[4095], 0xaa);
	CU_ASSERT_EQUAL(memory[4096], 0);
	CU_ASSERT_EQUAL(memory[8191], 0);
	CU_ASSERT_EQUAL(memory[8192], 0xaa);
	mem_unmap(memory, bytes);
}

static const struct unit_case cases[] = {
	{"gives exactly its capacity", gives_exactly_its_capacity},
	{"one back is one more", one_back_is_one_more},
	{"untouched objects cost nothing", untouched_objects_cost_nothing},
	{"no room is an error", no_room_is_an_error},
	{"misuse is found", misuse_is_found},
	{"sealed memory does not grow", sealed_memory_does_not_grow},
	{"forgotten pages read zero", forgotten_pages_read_zero},
};

UNIT_MAIN("mem.pool", cases)
