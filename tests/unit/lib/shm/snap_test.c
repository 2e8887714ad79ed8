#include "lib/shm/snap.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static struct snap *make(size_t size)
{
	struct snap *s = aligned_alloc(CACHE_LINE, SNAP_BYTES(size));
	MUST(s != NULL);
	snap_init(s, size);
	return s;
}

static void nothing_published_is_version_zero(void)
{
	struct snap *s = make(8);
	uint64_t value = 5;
	CU_ASSERT_EQUAL(snap_version(s), 0);
	CU_ASSERT_EQUAL(snap_read(s, &value), 0);
	CU_ASSERT_EQUAL(value, 5);
	free(s);
}

static void newest_is_read_whole(void)
{
	static const size_t sizes[] = {8, 56, 64, 72, 128, 4096, 4104};
	static uint8_t in[4104], out[4104];
	for (unsigned i = 0; i < ARRAY_LEN(sizes); i++) {
		struct snap *s = make(sizes[i]);
		for (uint64_t version = 1; version < 10; version++) {
			memset(in, (int)version, sizes[i]);
			CU_ASSERT_EQUAL(snap_publish(s, in), version);
			memset(out, 0, sizes[i]);
			CU_ASSERT_EQUAL(snap_read(s, out), version);
			CU_ASSERT(memcmp(in, out, sizes[i]) == 0);
		}
		free(s);
	}
}

/* A writer that died while filling: the published version stays whole, the next one follows it. */
static void dead_writer(void)
{
	struct snap *s = make(64);
	uint8_t value[64], out[64];
	memset(value, 1, sizeof(value));
	snap_publish(s, value);
	/* The slot of version 2 is the first one; scribble over half of it. */
	memset((char *)(s + 1), 0xee, 32);
	CU_ASSERT_EQUAL(snap_read(s, out), 1);
	CU_ASSERT(memcmp(out, value, sizeof(out)) == 0);
	snap_adopt(s);
	memset(value, 2, sizeof(value));
	CU_ASSERT_EQUAL(snap_publish(s, value), 2);
	CU_ASSERT_EQUAL(snap_read(s, out), 2);
	CU_ASSERT(memcmp(out, value, sizeof(out)) == 0);
	free(s);
}

static void *publish_once(void *arg)
{
	uint64_t value = 2;
	snap_publish(arg, &value);
	return NULL;
}

static bool second_writer_aborts(bool adopts)
{
	pid_t pid = fork();
	if (pid == 0) {
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		struct snap *s = make(8);
		uint64_t value = 1;
		pthread_t thread;
		snap_publish(s, &value);
		if (adopts)
			snap_adopt(s);
		pthread_create(&thread, NULL, publish_once, s);
		pthread_join(thread, NULL);
		_exit(snap_version(s) == 2 ? 0 : 1);
	}
	int status;
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

/* debug builds know the writer. */
static void one_writer(void)
{
#ifdef MILLRACE_MUST_HOT
	CU_ASSERT(second_writer_aborts(false));
#else
	CU_ASSERT(!second_writer_aborts(false));
#endif
	CU_ASSERT(!second_writer_aborts(true));
}

static const struct unit_case cases[] = {
	{"nothing published is version 0", nothing_published_is_version_zero},
	{"the newest is read whole", newest_is_read_whole},
	{"dead writer", dead_writer},
	{"one writer", one_writer},
};

UNIT_MAIN("shm.snap", cases)
