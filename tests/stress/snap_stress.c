/* The real snapshot under load: readers never see a torn value, versions never go back, and reading
 * never waits for a writer, dead or alive (X-13, N-3). */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/clock/clock.h"
#include "lib/shm/snap.h"
#include "tests/stress/stress.h"
#include "tests/unit/unit.h"

enum { WORDS = 61, READERS = 3 };

struct value {
	uint64_t version;
	uint64_t writer; /* which life of the writer */
	uint64_t words[WORDS];
};

static struct shared {
	union {
		struct snap snap;
		char room[SNAP_BYTES(sizeof(struct value))];
	};
	uint64_t stop;
	uint64_t published; /* by the current writer */
	uint64_t life;
	uint64_t reads[READERS];
	uint64_t bad;
	uint64_t backwards;
} * shared;

static void setup(void)
{
	shared = stress_share(sizeof(*shared));
	snap_init(&shared->snap, sizeof(struct value));
}

static void fill(struct value *value, uint64_t version, uint64_t writer)
{
	value->version = version;
	value->writer = writer;
	for (unsigned i = 0; i < WORDS; i++)
		value->words[i] = stress_mix(version * 1000 + writer, i);
}

static bool is_whole(const struct value *value)
{
	for (unsigned i = 0; i < WORDS; i++) {
		if (value->words[i] != stress_mix(value->version * 1000 + value->writer, i))
			return false;
	}
	return true;
}

static void read_until_stop(unsigned me)
{
	struct value value;
	uint64_t last = 0;
	while (!__atomic_load_n(&shared->stop, __ATOMIC_ACQUIRE)) {
		uint64_t version = snap_read(&shared->snap, &value);
		if (version != 0 && (value.version != version || !is_whole(&value)))
			__atomic_fetch_add(&shared->bad, 1, __ATOMIC_RELAXED);
		if (version < last)
			__atomic_fetch_add(&shared->backwards, 1, __ATOMIC_RELAXED);
		last = version;
		__atomic_fetch_add(&shared->reads[me], 1, __ATOMIC_RELEASE);
	}
}

static void *reader_thread(void *arg)
{
	read_until_stop((unsigned)(uintptr_t)arg);
	return NULL;
}

static void *writer_thread(void *unused)
{
	(void)unused;
	struct value value;
	uint64_t start_ns = clock_now_ns();
	for (uint64_t version = 1; version <= 100 || !stress_is_over(start_ns, STRESS_PART_MS);
		version++) {
		fill(&value, version, 1);
		MUST(snap_publish(&shared->snap, &value) == version);
		shared->published = version;
	}
	return NULL;
}

static void across_threads(void)
{
	pthread_t readers[READERS], writer;
	setup();
	for (uintptr_t i = 0; i < READERS; i++)
		MUST(pthread_create(&readers[i], NULL, reader_thread, (void *)i) == 0);
	MUST(pthread_create(&writer, NULL, writer_thread, NULL) == 0);
	pthread_join(writer, NULL);
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	printf("threads: %llu published, %llu read\n", (unsigned long long)shared->published,
		(unsigned long long)(shared->reads[0] + shared->reads[1] + shared->reads[2]));
	CU_ASSERT_EQUAL(shared->bad, 0);
	CU_ASSERT_EQUAL(shared->backwards, 0);
}

static void reader_process(void *arg)
{
	read_until_stop((unsigned)(uintptr_t)arg);
}

static void writer_process(void *unused)
{
	(void)unused;
	struct value value;
	/* A restarted process knows what is shared, and nothing else. */
	snap_adopt(&shared->snap);
	for (;;) {
		fill(&value, snap_version(&shared->snap) + 1, shared->life);
		snap_publish(&shared->snap, &value);
		__atomic_fetch_add(&shared->published, 1, __ATOMIC_RELEASE);
	}
}

static void across_processes_with_death(void)
{
	pid_t readers[READERS];
	struct stress_rng rng = stress_rng(1);
	unsigned cycles = 0;
	uint64_t died_at = 0;
	bool went_on = true;
	setup();
	for (uintptr_t i = 0; i < READERS; i++)
		readers[i] = stress_spawn(reader_process, (void *)i);
	uint64_t start_ns = clock_now_ns();
	while (stress_goes_on(start_ns, cycles) && went_on) {
		shared->life++;
		shared->published = 0;
		pid_t writer = stress_spawn(writer_process, NULL);
		went_on = stress_await(&shared->published, 1);
		stress_kill(writer, &rng, NULL, NULL);
		/* With the writer dead every reader still gets the last version. */
		CU_ASSERT(snap_version(&shared->snap) > died_at);
		died_at = snap_version(&shared->snap);
		unsigned one = cycles % READERS;
		uint64_t reads = __atomic_load_n(&shared->reads[one], __ATOMIC_ACQUIRE);
		went_on = went_on && stress_await(&shared->reads[one], reads + 2);
		cycles++;
	}
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < READERS; i++)
		CU_ASSERT_EQUAL(stress_reap(readers[i]), 0);
	printf("processes: %u writers killed, version %llu\n", cycles, (unsigned long long)died_at);
	CU_ASSERT(went_on);
	CU_ASSERT_EQUAL(shared->bad, 0);
	CU_ASSERT_EQUAL(shared->backwards, 0);
}

static const struct unit_case cases[] = {
	{"across processes, the writer killed", across_processes_with_death},
	{"across threads", across_threads},
};

UNIT_MAIN("stress.snap", cases)
