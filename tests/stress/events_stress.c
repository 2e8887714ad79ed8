/* The real events ring under load: no reader sees a torn event or one twice, each knows what it lost,
 * and a writer that is killed holds up no other. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock/clock.h"
#include "lib/shm/events.h"
#include "tests/stress/stress.h"
#include "tests/unit/unit.h"

enum { WRITERS = 4, READERS = 3 };

static struct shared {
	struct events events;
	uint64_t stop;
	uint64_t life;
	uint64_t emitted[SHM_PROCESS_COUNT];
} * shared;

static void setup(void)
{
	shared = stress_share(sizeof(*shared));
	events_init(&shared->events);
}

/* The text carries a check over its whole length, so that two halves do not pass for one. */
static bool emit(enum shm_process process, uint64_t writer, uint64_t seq)
{
	return events_emit(&shared->events, process, EVENT_AUDIT,
		"%llu %llu %016llx ................................................................"
		" %016llx",
		(unsigned long long)writer, (unsigned long long)seq,
		(unsigned long long)stress_mix(writer, seq),
		(unsigned long long)stress_mix(writer, seq));
}

static bool parse(const struct event *event, uint64_t *writer, uint64_t *seq)
{
	unsigned long long w, s, first, second;
	if (sscanf(event->text, "%llu %llu %llx %*s %llx", &w, &s, &first, &second) != 4)
		return false;
	*writer = w;
	*seq = s;
	return event->kind == EVENT_AUDIT && first == second && first == stress_mix(w, s);
}

/* ---- threads ---- */

struct writer {
	pthread_t thread;
	uint64_t accepted;
	uint64_t dropped;
};

struct reader {
	pthread_t thread;
	unsigned pause; /* a slow one yields this often after each event */
	bool sleeps;	/* the slowest one reads only when the writers are done */
	uint64_t received;
	uint64_t lost;
	uint64_t bad;
	struct events_cursor cursor;
};

static struct writer writers[WRITERS];
static struct reader readers[READERS];

static void *writer_thread(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;
	uint64_t start_ns = clock_now_ns();
	for (uint64_t seq = 1;
		seq <= QUEUE_CAPACITY_EVENTS || !stress_is_over(start_ns, STRESS_PART_MS); seq++) {
		if (emit(me % SHM_PROCESS_COUNT, me, seq))
			writers[me].accepted++;
		else
			writers[me].dropped++;
	}
	return NULL;
}

static void *reader_thread(void *arg)
{
	struct reader *r = arg;
	struct event event;
	uint64_t last[WRITERS] = {0};
	if (r->sleeps)
		stress_await(&shared->stop, 1);
	for (;;) {
		bool is_last_look = __atomic_load_n(&shared->stop, __ATOMIC_ACQUIRE);
		if (!events_next(&shared->events, &r->cursor, &event, &r->lost)) {
			if (is_last_look)
				return NULL;
			sched_yield();
			continue;
		}
		uint64_t writer, seq;
		if (!parse(&event, &writer, &seq) || writer >= WRITERS || seq <= last[writer])
			r->bad++;
		else
			last[writer] = seq;
		r->received++;
		for (unsigned i = 0; i < r->pause; i++)
			sched_yield();
	}
}

static void across_threads(void)
{
	uint64_t accepted = 0, dropped = 0;
	setup();
	for (unsigned i = 0; i < READERS; i++) {
		readers[i] =
			(struct reader){.pause = i * 20, .sleeps = i == READERS - 1, .cursor = {1}};
		MUST(pthread_create(&readers[i].thread, NULL, reader_thread, &readers[i]) == 0);
	}
	for (uintptr_t i = 0; i < WRITERS; i++)
		MUST(pthread_create(&writers[i].thread, NULL, writer_thread, (void *)i) == 0);
	for (unsigned i = 0; i < WRITERS; i++) {
		pthread_join(writers[i].thread, NULL);
		accepted += writers[i].accepted;
		dropped += writers[i].dropped;
	}
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
	uint64_t tickets = shared->events.next - 1;
	for (unsigned i = 0; i < READERS; i++) {
		struct reader *r = &readers[i];
		pthread_join(r->thread, NULL);
		printf("reader %u: %llu received, %llu lost of %llu (%llu dropped)\n", i,
			(unsigned long long)r->received, (unsigned long long)r->lost,
			(unsigned long long)accepted, (unsigned long long)dropped);
		CU_ASSERT_EQUAL(r->bad, 0);
		CU_ASSERT_EQUAL(r->cursor.next, tickets + 1);
		/* Void tickets are seen as lost by those who lag, and not at all by the others. */
		CU_ASSERT(r->received + r->lost >= accepted);
		CU_ASSERT(r->received + r->lost <= tickets);
	}
	CU_ASSERT(readers[READERS - 1].lost >= tickets - QUEUE_CAPACITY_EVENTS);
}

/* ---- processes that are killed ---- */

static void writer_process(void *arg)
{
	enum shm_process process = (enum shm_process)(uintptr_t)arg;
	uint64_t writer = shared->life * SHM_PROCESS_COUNT + process;
	events_recover(&shared->events, process);
	for (uint64_t seq = 1;; seq++) {
		emit(process, writer, seq);
		__atomic_fetch_add(&shared->emitted[process], 1, __ATOMIC_RELEASE);
	}
}

/* Reads what there is; counts what is torn or out of order within its writer. */
static void read_all(struct events_cursor *cur, uint64_t last[2], uint64_t *received, uint64_t *bad)
{
	static uint64_t lives[SHM_PROCESS_COUNT];
	struct event event;
	uint64_t lost = 0;
	for (unsigned n = 0; n < 4 * QUEUE_CAPACITY_EVENTS; n++) {
		uint64_t writer, seq;
		if (!events_next(&shared->events, cur, &event, &lost))
			return;
		(*received)++;
		if (!parse(&event, &writer, &seq)) {
			(*bad)++;
			continue;
		}
		unsigned process = writer % SHM_PROCESS_COUNT;
		if (writer != lives[process])
			last[process] = 0;
		*bad += writer < lives[process] || seq <= last[process];
		lives[process] = writer;
		last[process] = seq;
	}
}

static void across_processes_with_death(void)
{
	struct stress_rng rng = stress_rng(4);
	uint64_t last[SHM_PROCESS_COUNT] = {0};
	uint64_t received = 0, bad = 0;
	unsigned cycles = 0;
	bool went_on = true;
	setup();
	struct events_cursor cur = {1};
	pid_t pids[SHM_PROCESS_COUNT];
	shared->life = 1;
	for (uintptr_t p = 0; p < SHM_PROCESS_COUNT; p++)
		pids[p] = stress_spawn(writer_process, (void *)p);
	uint64_t start_ns = clock_now_ns();
	while (stress_goes_on(start_ns, cycles) && went_on) {
		uintptr_t victim = stress_random(&rng) % SHM_PROCESS_COUNT;
		uintptr_t other = 1 - victim;
		read_all(&cur, last, &received, &bad);
		stress_kill(pids[victim], &rng, NULL, NULL);
		/* The other one goes on over whatever the dead one left. */
		uint64_t emitted = __atomic_load_n(&shared->emitted[other], __ATOMIC_ACQUIRE);
		went_on = stress_await(
			&shared->emitted[other], emitted + 1 + stress_random(&rng) % 100);
		read_all(&cur, last, &received, &bad);
		shared->life++;
		emitted = __atomic_load_n(&shared->emitted[victim], __ATOMIC_ACQUIRE);
		pids[victim] = stress_spawn(writer_process, (void *)victim);
		went_on = went_on && stress_await(&shared->emitted[victim], emitted + 1);
		cycles++;
	}
	for (unsigned p = 0; p < SHM_PROCESS_COUNT; p++) {
		stress_kill(pids[p], &rng, NULL, NULL);
		events_recover(&shared->events, p);
	}
	for (unsigned i = 0; i < 4; i++)
		read_all(&cur, last, &received, &bad);
	printf("%u processes killed, %llu events received\n", cycles, (unsigned long long)received);
	CU_ASSERT(went_on);
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(cur.next, shared->events.next);
	CU_ASSERT(received > 0);
}

static const struct unit_case cases[] = {
	{"across processes, writers killed", across_processes_with_death},
	{"across threads", across_threads},
};

UNIT_MAIN("stress.events", cases)
