#include "lib/shm/capture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

enum { FAR = 1000000 };

static struct capture *make(void)
{
	struct capture *c = aligned_alloc(CACHE_LINE, sizeof(*c));
	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	memset(c, 0, sizeof(*c));
	return c;
}

static bool put(struct capture_tap *t, unsigned port, uint64_t time_ns, uint32_t mark)
{
	bool is_full;
	struct capture_record *r = capture_tap_begin(
		t, port, CAPTURE_IN, (struct span){(const uint8_t *)&mark, 4}, &is_full);
	if (r == NULL)
		return false;
	r->time_ns = time_ns;
	r->len = r->kept = sizeof(mark);
	memcpy(r->data, &mark, sizeof(mark));
	capture_tap_end(t);
	return true;
}

/* The mark of the next record, UINT32_MAX when there is none. */
static uint32_t take(struct capture *c, uint64_t number)
{
	unsigned lcore;
	uint32_t mark = UINT32_MAX;
	const struct capture_record *r = capture_next(c, number, &lcore);
	if (r == NULL)
		return mark;
	memcpy(&mark, r->data, sizeof(mark));
	capture_drop(c, lcore);
	return mark;
}

static void off_until_told(void)
{
	struct capture *c = make();
	struct capture_tap t = {.capture = c};
	struct capture_conf conf = {.until_ns = FAR, .ports = 1};
	capture_tap_look(&t, 1);
	CU_ASSERT_FALSE(t.is_on);
	uint64_t first = capture_start(c, &conf);
	capture_tap_look(&t, 1);
	CU_ASSERT(t.is_on && t.number == first);
	/* It ends by itself when its time is over: at the moment, and one before it. */
	capture_tap_look(&t, FAR - 1);
	CU_ASSERT_TRUE(t.is_on);
	capture_tap_look(&t, FAR);
	CU_ASSERT_FALSE(t.is_on);
	capture_tap_look(&t, 1);
	CU_ASSERT_TRUE(t.is_on);
	capture_stop(c);
	capture_tap_look(&t, 1);
	CU_ASSERT_FALSE(t.is_on);
	/* The settings of the next one are read anew. */
	conf.ports = 2;
	CU_ASSERT(capture_start(c, &conf) > first);
	capture_tap_look(&t, 1);
	CU_ASSERT(t.is_on && t.conf.ports == 2);
	/* A tap without a segment (millload) never looks. */
	struct capture_tap none = {.capture = NULL};
	capture_tap_look(&none, 1);
	CU_ASSERT_FALSE(none.is_on);
	free(c);
}

static void only_chosen_ports(void)
{
	struct capture *c = make();
	struct capture_tap t = {.capture = c};
	struct capture_conf conf = {.until_ns = FAR, .ports = 1u << 1 | 1u << 3};
	uint64_t number = capture_start(c, &conf);
	capture_tap_look(&t, 1);
	for (unsigned port = 0; port < LIMIT_NET_PORTS; port++)
		CU_ASSERT_EQUAL(put(&t, port, port, port), port == 1 || port == 3);
	CU_ASSERT_EQUAL(take(c, number), 1);
	CU_ASSERT_EQUAL(take(c, number), 3);
	CU_ASSERT_EQUAL(take(c, number), UINT32_MAX);
	free(c);
}

static void full_drops_and_counts(void) /* */
{
	struct capture *c = make();
	struct capture_tap t = {.capture = c, .lcore = LIMIT_LCORES - 1};
	struct capture_conf conf = {.until_ns = FAR, .ports = 1};
	uint64_t number = capture_start(c, &conf);
	capture_tap_look(&t, 1);
	for (uint32_t i = 0; i < QUEUE_CAPACITY_CAPTURE; i++)
		CU_ASSERT_TRUE(put(&t, 0, i, i));
	CU_ASSERT_EQUAL(capture_depth(c), QUEUE_CAPACITY_CAPTURE);
	CU_ASSERT_EQUAL(capture_dropped(c, 0), 0);
	CU_ASSERT_FALSE(put(&t, 0, FAR, FAR));
	CU_ASSERT_EQUAL(capture_dropped(c, 0), 1);
	CU_ASSERT_EQUAL(take(c, number), 0);
	CU_ASSERT_TRUE(put(&t, 0, FAR, FAR));
	for (uint32_t i = 1; i < QUEUE_CAPACITY_CAPTURE; i++)
		CU_ASSERT_EQUAL(take(c, number), i);
	CU_ASSERT_EQUAL(take(c, number), FAR);
	CU_ASSERT_EQUAL(take(c, number), UINT32_MAX);
	free(c);
}

static void lcores_are_merged_by_time(void)
{
	struct capture *c = make();
	struct capture_tap a = {.capture = c, .lcore = 0}, b = {.capture = c, .lcore = 5};
	struct capture_conf conf = {.until_ns = FAR, .ports = 1};
	uint64_t number = capture_start(c, &conf);
	capture_tap_look(&a, 1);
	capture_tap_look(&b, 1);
	for (uint32_t i = 0; i < 10; i++)
		CU_ASSERT_TRUE(put(i % 3 == 0 ? &a : &b, 0, i, i));
	for (uint32_t i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(take(c, number), i);
	free(c);
}

static void leftovers_are_not_shown(void)
{
	struct capture *c = make();
	struct capture_tap t = {.capture = c};
	struct capture_conf conf = {.until_ns = FAR, .ports = 1};
	capture_start(c, &conf);
	capture_tap_look(&t, 1);
	put(&t, 0, 1, 111);
	capture_stop(c);
	uint64_t second = capture_start(c, &conf);
	/* An lcore that has not looked yet still writes for the old one. */
	put(&t, 0, 2, 222);
	capture_tap_look(&t, 1);
	put(&t, 0, 3, 333);
	CU_ASSERT_EQUAL(take(c, second), 333);
	CU_ASSERT_EQUAL(take(c, second), UINT32_MAX);
	free(c);
}

/* One lcore writes while the other side reads, and captures come and go. */
enum { ROUNDS = 200 };
struct pair {
	struct capture *capture;
	_Atomic bool is_over;
};

static void *write_records(void *arg)
{
	struct pair *p = arg;
	struct capture_tap t = {.capture = p->capture};
	for (uint32_t i = 0; !p->is_over; i++) {
		capture_tap_look(&t, 1);
		if (t.is_on)
			(void)put(&t, 0, i, (uint32_t)t.number);
	}
	return NULL;
}

static void readers_see_whole_records(void) /* */
{
	struct pair p = {.capture = make()};
	pthread_t writer;
	CU_ASSERT_EQUAL_FATAL(pthread_create(&writer, NULL, write_records, &p), 0);
	unsigned wrong = 0;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct capture_conf conf = {.until_ns = FAR, .ports = 1};
		uint64_t number = capture_start(p.capture, &conf);
		for (unsigned got = 0; got < 50;) {
			uint32_t mark = take(p.capture, number);
			if (mark == UINT32_MAX)
				continue;
			wrong += mark != (uint32_t)number;
			got++;
		}
		capture_stop(p.capture);
	}
	p.is_over = true;
	pthread_join(writer, NULL);
	CU_ASSERT_EQUAL(wrong, 0);
	free(p.capture);
}

static const struct unit_case cases[] = {
	{"off_until_told", off_until_told},
	{"only_chosen_ports", only_chosen_ports},
	{"full_drops_and_counts", full_drops_and_counts},
	{"lcores_are_merged_by_time", lcores_are_merged_by_time},
	{"leftovers_are_not_shown", leftovers_are_not_shown},
	{"readers_see_whole_records", readers_see_whole_records},
};
UNIT_MAIN("lib/shm/capture", cases)
