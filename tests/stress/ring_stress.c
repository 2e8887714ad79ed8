/* The real ring under load: every accepted element is received exactly once, also through a shutdown
 * and when the producing process is killed; at most once when the consuming process is; never garbage
 * (X-2, X-6, N-3). */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_ring_core.h>

#include "lib/clock/clock.h"
#include "lib/shm/ring.h"
#include "tests/stress/stress.h"
#include "tests/unit/unit.h"

enum {
	PRODUCERS = 3,
	CONSUMERS = 2,
	ELEMENTS_MAX = 1 << 18, /* of each producer */
};

struct elem {
	uint32_t producer;
	uint32_t seq;
	uint64_t check;
};

static struct elem elem_make(uint32_t producer, uint32_t seq, uint64_t life)
{
	return (struct elem){
		producer, seq, stress_mix(life << 40 | (uint64_t)producer << 32 | seq, 3)};
}

static bool elem_is_whole(const struct elem *e, uint64_t life)
{
	return e->producer < PRODUCERS && elem_make(e->producer, e->seq, life).check == e->check;
}

/* What goes through the rings of those that are killed: so large that most of their time passes inside
 * a push or a pop. */
struct big {
	struct elem elem;
	uint64_t fill[1000];
};

static void big_make(struct big *b, uint32_t producer, uint32_t seq, uint64_t life)
{
	b->elem = elem_make(producer, seq, life);
	for (unsigned i = 0; i < ARRAY_LEN(b->fill); i++)
		b->fill[i] = b->elem.check;
}

static bool big_is_whole(const struct big *b, uint64_t life)
{
	uint64_t differs = 0;
	for (unsigned i = 0; i < ARRAY_LEN(b->fill); i++)
		differs |= b->fill[i] ^ b->elem.check;
	return differs == 0 && elem_is_whole(&b->elem, life);
}

static struct rte_ring *share_ring(uint32_t capacity, uint32_t elem_bytes)
{
	struct rte_ring *r = stress_share(ring_bytes(capacity, elem_bytes));
	MUST(ring_init(r, "stress", capacity) == 0);
	return r;
}

/* ---- threads, with shutdown ---- */

static struct {
	struct rte_ring *ring;
	uint32_t shutdown;
	uint32_t producers_left;
	uint32_t accepted[PRODUCERS];
	uint64_t refused;
	uint64_t bad;
	/* What an element speaks of: written before the push and read after the pop without any other
	 * order between the two, so that ThreadSanitizer checks the ring's promise. */
	uint64_t payload[PRODUCERS][ELEMENTS_MAX];
	uint8_t received[PRODUCERS][ELEMENTS_MAX];
} run;

static void *producer_thread(void *arg)
{
	uint32_t me = (uint32_t)(uintptr_t)arg;
	uint32_t seq = 0;
	uint64_t refused = 0;
	while (!__atomic_load_n(&run.shutdown, __ATOMIC_ACQUIRE) && seq < ELEMENTS_MAX) {
		struct elem e = elem_make(me, seq, 0);
		run.payload[me][seq] = e.check;
		if (ring_push(run.ring, &e, sizeof(e))) {
			seq++;
		} else {
			refused++;
			sched_yield();
		}
	}
	run.accepted[me] = seq;
	__atomic_fetch_add(&run.refused, refused, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&run.producers_left, 1, __ATOMIC_ACQ_REL);
	return NULL;
}

static void *consumer_thread(void *unused)
{
	(void)unused;
	struct elem e;
	for (;;) {
		/* Looked at before the ring: what was pushed before the last producer signed off is in it. */
		bool is_last_look = __atomic_load_n(&run.producers_left, __ATOMIC_ACQUIRE) == 0;
		if (ring_pop(run.ring, &e, sizeof(e))) {
			if (!elem_is_whole(&e, 0) || run.payload[e.producer][e.seq] != e.check) {
				__atomic_fetch_add(&run.bad, 1, __ATOMIC_RELAXED);
				continue;
			}
			__atomic_fetch_add(&run.received[e.producer][e.seq], 1, __ATOMIC_RELAXED);
		} else if (is_last_look) {
			return NULL;
		} else {
			sched_yield();
		}
	}
}

static void run_threads(uint32_t capacity)
{
	pthread_t producers[PRODUCERS], consumers[CONSUMERS];
	memset(&run, 0, sizeof(run));
	run.ring = share_ring(capacity, sizeof(struct elem));
	run.producers_left = PRODUCERS;
	for (unsigned i = 0; i < CONSUMERS; i++)
		MUST(pthread_create(&consumers[i], NULL, consumer_thread, NULL) == 0);
	for (uintptr_t i = 0; i < PRODUCERS; i++)
		MUST(pthread_create(&producers[i], NULL, producer_thread, (void *)i) == 0);
	uint64_t start_ns = clock_now_ns();
	while (!stress_is_over(start_ns, STRESS_PART_MS / 2) &&
		__atomic_load_n(&run.producers_left, __ATOMIC_ACQUIRE) > 0)
		usleep(500);
	__atomic_store_n(&run.shutdown, 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < PRODUCERS; i++)
		pthread_join(producers[i], NULL);
	for (unsigned i = 0; i < CONSUMERS; i++)
		pthread_join(consumers[i], NULL);
	uint64_t accepted = 0, wrong = 0;
	for (unsigned p = 0; p < PRODUCERS; p++) {
		accepted += run.accepted[p];
		for (uint32_t i = 0; i < ELEMENTS_MAX; i++)
			wrong += run.received[p][i] != (i < run.accepted[p]);
	}
	printf("threads, capacity %u: %llu accepted, %llu refused\n", capacity,
		(unsigned long long)accepted, (unsigned long long)run.refused);
	CU_ASSERT(accepted > 0);
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(run.bad, 0);
	CU_ASSERT_EQUAL(ring_depth(run.ring), 0);
}

static void threads_with_shutdown(void)
{
	run_threads(QUEUE_CAPACITY_STORAGE_WORK);
	run_threads(3);
}

/* ---- the producing process is killed ---- */

static struct producing {
	struct rte_ring *ring;
	uint64_t life;
	/* Of each thread of this life: how many pushes have returned. */
	uint64_t confirmed[PRODUCERS];
} * producing;

static void *dying_producer(void *arg)
{
	uint32_t me = (uint32_t)(uintptr_t)arg;
	for (uint32_t seq = 0;; seq++) {
		struct big b;
		big_make(&b, me, seq, producing->life);
		while (!ring_push(producing->ring, &b, sizeof(b)))
			sched_yield();
		__atomic_store_n(&producing->confirmed[me], seq + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void producing_process(void *unused)
{
	(void)unused;
	pthread_t thread;
	ring_recover_producers(producing->ring);
	for (uintptr_t i = 1; i < PRODUCERS; i++)
		MUST(pthread_create(&thread, NULL, dying_producer, (void *)i) == 0);
	dying_producer((void *)0);
}

struct taker {
	uint64_t next[PRODUCERS];
	uint64_t wrong;
};

/* Takes one; counts what is not the next of its producer. */
static bool take_next(struct taker *t)
{
	struct big b;
	if (!ring_pop(producing->ring, &b, sizeof(b)))
		return false;
	if (!big_is_whole(&b, producing->life) || b.elem.seq != t->next[b.elem.producer])
		t->wrong++;
	else
		t->next[b.elem.producer]++;
	return true;
}

static void take_some(void *arg)
{
	take_next(arg);
}

static void producer_killed(void)
{
	struct stress_rng rng = stress_rng(2);
	uint64_t wrong = 0, unaccounted = 0, taken = 0;
	unsigned cycles = 0, in_a_push = 0;
	bool went_on = true;
	producing = stress_share(sizeof(*producing));
	producing->ring = share_ring(8, sizeof(struct big));
	uint64_t start_ns = clock_now_ns();
	while (stress_goes_on(start_ns, cycles) && went_on) {
		struct taker t = {0};
		producing->life++;
		memset(producing->confirmed, 0, sizeof(producing->confirmed));
		pid_t pid = stress_spawn(producing_process, NULL);
		uint64_t target = 1 + stress_random(&rng) % 50;
		uint64_t cycle_ns = clock_now_ns();
		for (uint64_t n = 0; n < target && went_on;) {
			n += take_next(&t);
			went_on = clock_now_ns() - cycle_ns < STRESS_GIVE_UP_MS * NS_PER_MS;
		}
		stress_kill(pid, &rng, take_some, &t);
		while (take_next(&t))
			;
		wrong += t.wrong;
		in_a_push += producing->ring->prod.head != producing->ring->prod.tail;
		for (unsigned i = 0; i < PRODUCERS; i++) {
			/* All that a push returned for, and at most the one that was under way. */
			uint64_t confirmed = producing->confirmed[i];
			unaccounted += t.next[i] != confirmed && t.next[i] != confirmed + 1;
			taken += t.next[i];
		}
		cycles++;
	}
	printf("producer killed %u times, %u inside a push, %llu received\n", cycles, in_a_push,
		(unsigned long long)taken);
	CU_ASSERT(went_on);
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(unaccounted, 0);
}

/* ---- the consuming process is killed ---- */

static struct consuming {
	struct rte_ring *ring;
	uint64_t stop;
	uint64_t popped;
	uint64_t bad;
	uint8_t received[ELEMENTS_MAX];
} * consuming;

static void *dying_consumer(void *unused)
{
	(void)unused;
	struct big b;
	for (;;) {
		bool is_last_look = __atomic_load_n(&consuming->stop, __ATOMIC_ACQUIRE);
		if (!ring_pop(consuming->ring, &b, sizeof(b))) {
			if (is_last_look)
				return NULL;
			sched_yield();
			continue;
		}
		if (!big_is_whole(&b, 9) || b.elem.seq >= ELEMENTS_MAX)
			__atomic_fetch_add(&consuming->bad, 1, __ATOMIC_RELAXED);
		else
			__atomic_fetch_add(&consuming->received[b.elem.seq], 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&consuming->popped, 1, __ATOMIC_RELEASE);
	}
}

static void consuming_process(void *unused)
{
	(void)unused;
	pthread_t threads[CONSUMERS];
	ring_recover_consumers(consuming->ring);
	for (unsigned i = 0; i < CONSUMERS; i++)
		MUST(pthread_create(&threads[i], NULL, dying_consumer, NULL) == 0);
	for (unsigned i = 0; i < CONSUMERS; i++)
		pthread_join(threads[i], NULL);
}

static void feed_one(void *arg)
{
	uint32_t *seq = arg;
	struct big b;
	big_make(&b, 1, *seq, 9);
	if (*seq < ELEMENTS_MAX && ring_push(consuming->ring, &b, sizeof(b)))
		(*seq)++;
}

/* Pushes until `popped` has moved by `target`; false when it does not. */
static bool feed(uint32_t *seq, uint64_t target)
{
	uint64_t from = __atomic_load_n(&consuming->popped, __ATOMIC_ACQUIRE);
	uint64_t start_ns = clock_now_ns();
	while (__atomic_load_n(&consuming->popped, __ATOMIC_ACQUIRE) < from + target) {
		feed_one(seq);
		if (clock_now_ns() - start_ns > STRESS_GIVE_UP_MS * NS_PER_MS)
			return false;
	}
	return true;
}

static void consumer_killed(void)
{
	struct stress_rng rng = stress_rng(3);
	unsigned cycles = 0, in_a_pop = 0;
	uint32_t seq = 0;
	bool went_on = true;
	consuming = stress_share(sizeof(*consuming));
	consuming->ring = share_ring(8, sizeof(struct big));
	uint64_t start_ns = clock_now_ns();
	while (stress_goes_on(start_ns, cycles) && went_on && seq < ELEMENTS_MAX - 1000) {
		pid_t pid = stress_spawn(consuming_process, NULL);
		went_on = feed(&seq, 1 + stress_random(&rng) % 50);
		stress_kill(pid, &rng, feed_one, &seq);
		in_a_pop += consuming->ring->cons.head != consuming->ring->cons.tail;
		cycles++;
	}
	__atomic_store_n(&consuming->stop, 1, __ATOMIC_RELEASE);
	CU_ASSERT_EQUAL(stress_reap(stress_spawn(consuming_process, NULL)), 0);
	CU_ASSERT_EQUAL(ring_depth(consuming->ring), 0);
	uint64_t missing = 0, doubled = 0;
	for (uint32_t i = 0; i < seq; i++) {
		missing += consuming->received[i] == 0;
		doubled += consuming->received[i] > 1;
	}
	printf("consumer killed %u times, %u inside a pop, %u pushed, %llu lost with it\n", cycles,
		in_a_pop, seq, (unsigned long long)missing);
	CU_ASSERT(went_on);
	CU_ASSERT_EQUAL(doubled, 0);
	CU_ASSERT_EQUAL(consuming->bad, 0);
	/* Only what a killed thread had in hand. */
	CU_ASSERT(missing <= (uint64_t)cycles * CONSUMERS);
}

/* Cases that fork come first: ThreadSanitizer wants a parent that never had threads. */
static const struct unit_case cases[] = {
	{"producer killed", producer_killed},
	{"consumer killed", consumer_killed},
	{"threads with shutdown", threads_with_shutdown},
};

UNIT_MAIN("stress.ring", cases)
