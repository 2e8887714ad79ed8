#include "lib/clock/wheel.h"

#include <stdlib.h>

#include "lib/clock/clock.h"
#include "tests/unit/unit.h"

struct probe {
	struct wheel_timer timer;
	unsigned fired;
	uint64_t fired_ns;
	uint64_t due_ns;
};

static void on_fire(struct wheel_timer *timer, uint64_t now_ns)
{
	struct probe *p = CONTAINER_OF(timer, struct probe, timer);
	CU_ASSERT(!wheel_is_armed(timer));
	p->fired++;
	p->fired_ns = now_ns;
}

/* At each level's first and last tick and one around them, from several starting points. */
static void fires_at_every_level_boundary(void)
{
	static const uint64_t starts_ms[] = {
		0, 1, 255, 256, 257, 16383, 16384, 1048575, 1048576, 67108863};
	static const uint64_t delays_ms[] = {1, 2, 254, 255, 256, 257, 258, 511, 512, 513, 16383,
		16384, 16385, 16640, 16641, 1048575, 1048576, 1048577, 1064960, 67108863, 67108864,
		67108865, 70000000};
	for (unsigned i = 0; i < ARRAY_LEN(starts_ms); i++) {
		for (unsigned j = 0; j < ARRAY_LEN(delays_ms); j++) {
			struct wheel w;
			struct probe p = {.timer.fire = on_fire};
			uint64_t due_ns = (starts_ms[i] + delays_ms[j]) * NS_PER_MS;
			wheel_init(&w, starts_ms[i] * NS_PER_MS);
			wheel_arm(&w, &p.timer, due_ns);
			CU_ASSERT(wheel_next_ns(&w) <= due_ns);
			wheel_advance(&w, due_ns - 1);
			CU_ASSERT_EQUAL(p.fired, 0);
			CU_ASSERT(wheel_is_armed(&p.timer));
			CU_ASSERT_EQUAL(wheel_next_ns(&w), due_ns);
			wheel_advance(&w, due_ns);
			CU_ASSERT_EQUAL(p.fired, 1);
			CU_ASSERT_EQUAL(w.armed, 0);
			CU_ASSERT_EQUAL(wheel_next_ns(&w), UINT64_MAX);
		}
	}
}

static void rounds_up_and_fires_late_never_early(void)
{
	struct wheel w;
	struct probe p = {.timer.fire = on_fire};
	wheel_init(&w, 0);
	wheel_arm(&w, &p.timer, 5 * NS_PER_MS + 1);
	wheel_advance(&w, 5 * NS_PER_MS + 999999);
	CU_ASSERT_EQUAL(p.fired, 0);
	wheel_advance(&w, 6 * NS_PER_MS);
	CU_ASSERT_EQUAL(p.fired, 1);
}

static void past_due_fires_at_the_next_tick(void)
{
	struct wheel w;
	struct probe p = {.timer.fire = on_fire};
	wheel_init(&w, 1000 * NS_PER_MS);
	wheel_arm(&w, &p.timer, 3);
	CU_ASSERT_EQUAL(wheel_next_ns(&w), 1001 * NS_PER_MS);
	wheel_advance(&w, 1000 * NS_PER_MS + 999999);
	CU_ASSERT_EQUAL(p.fired, 0);
	wheel_advance(&w, 1001 * NS_PER_MS);
	CU_ASSERT_EQUAL(p.fired, 1);
}

static void clock_that_goes_back_fires_nothing(void)
{
	struct wheel w;
	struct probe p = {.timer.fire = on_fire};
	wheel_init(&w, 1000 * NS_PER_MS);
	wheel_arm(&w, &p.timer, 1002 * NS_PER_MS);
	wheel_advance(&w, 1001 * NS_PER_MS);
	wheel_advance(&w, 1 * NS_PER_MS);
	wheel_advance(&w, 1001 * NS_PER_MS);
	CU_ASSERT_EQUAL(p.fired, 0);
	CU_ASSERT_EQUAL(w.tick, 1001);
	wheel_advance(&w, 1002 * NS_PER_MS);
	CU_ASSERT_EQUAL(p.fired, 1);
}

static void rearm_moves_and_disarm_forgets(void)
{
	struct wheel w;
	struct probe p = {.timer.fire = on_fire};
	wheel_init(&w, 0);
	wheel_disarm(&w, &p.timer);
	wheel_arm(&w, &p.timer, 10 * NS_PER_MS);
	wheel_arm(&w, &p.timer, 20 * NS_PER_MS);
	CU_ASSERT_EQUAL(w.armed, 1);
	wheel_advance(&w, 19 * NS_PER_MS);
	CU_ASSERT_EQUAL(p.fired, 0);
	wheel_disarm(&w, &p.timer);
	wheel_disarm(&w, &p.timer);
	CU_ASSERT_EQUAL(w.armed, 0);
	wheel_advance(&w, 100 * NS_PER_MS);
	CU_ASSERT_EQUAL(p.fired, 0);
}

struct chain {
	struct wheel_timer timer;
	struct wheel *wheel;
	struct chain *victim; /* disarmed by the callback */
	bool frees_itself;
	uint64_t again_ns;
	unsigned *fired;
};

static void on_chain(struct wheel_timer *timer, uint64_t now_ns)
{
	struct chain *c = CONTAINER_OF(timer, struct chain, timer);
	(*c->fired)++;
	if (c->victim != NULL)
		wheel_disarm(c->wheel, &c->victim->timer);
	if (c->again_ns != 0)
		wheel_arm(c->wheel, timer, now_ns + c->again_ns);
	if (c->frees_itself)
		free(c);
}

static void callbacks_may_do_anything(void)
{
	struct wheel w;
	unsigned fired = 0;
	wheel_init(&w, 0);
	/* In one slot: each of the two would disarm the other, so exactly one fires. */
	struct chain a = {.timer.fire = on_chain, .wheel = &w, .fired = &fired};
	struct chain b = a;
	a.victim = &b;
	b.victim = &a;
	wheel_arm(&w, &a.timer, 5 * NS_PER_MS);
	wheel_arm(&w, &b.timer, 5 * NS_PER_MS);
	wheel_advance(&w, 5 * NS_PER_MS);
	CU_ASSERT_EQUAL(fired, 1);
	CU_ASSERT_EQUAL(w.armed, 0);
	/* Arms itself into the slot that is being emptied, one turn later. */
	fired = 0;
	struct chain again = {.timer.fire = on_chain, .wheel = &w, .fired = &fired};
	again.again_ns = WHEEL_SLOTS0 * NS_PER_MS;
	wheel_arm(&w, &again.timer, 10 * NS_PER_MS);
	wheel_advance(&w, 10 * NS_PER_MS);
	CU_ASSERT_EQUAL(fired, 1);
	wheel_advance(&w, (10 + WHEEL_SLOTS0) * NS_PER_MS);
	CU_ASSERT_EQUAL(fired, 2);
	wheel_disarm(&w, &again.timer);
	/* Frees its owner while others wait in the same slot. */
	fired = 0;
	for (int i = 0; i < 3; i++) {
		struct chain *c = calloc(1, sizeof(*c));
		*c = (struct chain){.timer.fire = on_chain, .wheel = &w, .fired = &fired};
		c->frees_itself = true;
		wheel_arm(&w, &c->timer, 500 * NS_PER_MS);
	}
	wheel_advance(&w, 500 * NS_PER_MS);
	CU_ASSERT_EQUAL(fired, 3);
	CU_ASSERT_EQUAL(w.armed, 0);
}

/* Against the plain truth: random arms, disarms and steps; after each step exactly those that are due
 * have fired, and the wheel never says it may sleep longer than to the next one. */
static void agrees_with_a_list(void)
{
	enum { TIMERS = 64, STEPS = 20000 };
	static struct probe probes[TIMERS];
	struct wheel w;
	uint64_t seed = 42;
	uint64_t now_ns = 123456789;
	wheel_init(&w, now_ns);
	for (unsigned i = 0; i < TIMERS; i++)
		probes[i] = (struct probe){.timer.fire = on_fire};
	for (unsigned step = 0; step < STEPS; step++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		struct probe *p = &probes[(seed >> 33) % TIMERS];
		unsigned magnitude = (unsigned)((seed >> 40) % 38);
		uint64_t delay_ns = (seed >> 20) & ((1ull << (magnitude + 10)) - 1);
		if ((seed >> 60) % 4 == 0) {
			wheel_disarm(&w, &p->timer);
		} else {
			p->fired = 0;
			p->due_ns = now_ns + delay_ns;
			wheel_arm(&w, &p->timer, p->due_ns);
		}
		uint64_t next_ns = wheel_next_ns(&w);
		uint64_t step_ns = (seed >> 13) & ((1ull << (10 + (seed >> 55) % 26)) - 1);
		uint64_t last_ns = now_ns;
		now_ns += step_ns;
		uint64_t tick_ns = now_ns / NS_PER_MS * NS_PER_MS;
		uint64_t soonest_ns = UINT64_MAX;
		for (unsigned i = 0; i < TIMERS; i++) {
			if (wheel_is_armed(&probes[i].timer) && probes[i].due_ns < soonest_ns)
				soonest_ns = probes[i].due_ns;
		}
		bool one_was_armed = soonest_ns != UINT64_MAX;
		CU_ASSERT_FATAL(!one_was_armed || next_ns <= soonest_ns + NS_PER_MS);
		bool was_armed[TIMERS];
		for (unsigned i = 0; i < TIMERS; i++)
			was_armed[i] = wheel_is_armed(&probes[i].timer);
		wheel_advance(&w, now_ns);
		bool has_ticked = tick_ns > last_ns / NS_PER_MS * NS_PER_MS;
		for (unsigned i = 0; i < TIMERS; i++) {
			bool is_due = was_armed[i] && has_ticked && probes[i].due_ns <= tick_ns;
			CU_ASSERT_FATAL(
				wheel_is_armed(&probes[i].timer) == (was_armed[i] && !is_due));
			if (was_armed[i])
				CU_ASSERT_FATAL(probes[i].fired == is_due);
			if (is_due)
				CU_ASSERT_FATAL(probes[i].fired_ns >= probes[i].due_ns);
		}
	}
}

static const struct unit_case cases[] = {
	{"fires at every level boundary", fires_at_every_level_boundary},
	{"rounds up: never early", rounds_up_and_fires_late_never_early},
	{"past due fires at the next tick", past_due_fires_at_the_next_tick},
	{"a clock that goes back fires nothing", clock_that_goes_back_fires_nothing},
	{"re-arming moves, disarming forgets", rearm_moves_and_disarm_forgets},
	{"callbacks may do anything", callbacks_may_do_anything},
	{"agrees with a list", agrees_with_a_list},
};

UNIT_MAIN("clock.wheel", cases)
