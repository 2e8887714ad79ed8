#include "controlplane/loop/loop.h"

#include <unistd.h>

#include "tests/unit/unit.h"

struct end {
	struct loop_source source;
	struct loop *loop;
	struct loop_source *victim; /* removed when this one is called */
	int calls;
};

static void on_ready(struct loop_source *source, uint32_t events)
{
	struct end *e = CONTAINER_OF(source, struct end, source);
	char byte;
	CU_ASSERT((events & EPOLLIN) != 0);
	CU_ASSERT_EQUAL(read(source->fd, &byte, 1), 1);
	e->calls++;
	if (e->victim != NULL)
		loop_remove(e->loop, e->victim);
}

static void removed_source_is_not_called(void)
{
	struct loop l;
	int a[2], b[2];
	CU_ASSERT_EQUAL_FATAL(loop_init(&l), 0);
	CU_ASSERT(pipe(a) == 0 && pipe(b) == 0);
	struct end one = {.source = {.fd = a[0], .ready = on_ready}, .loop = &l};
	struct end two = {.source = {.fd = b[0], .ready = on_ready}, .loop = &l};
	/* Both are ready in one wait; whichever is called first removes the other. */
	one.victim = &two.source;
	two.victim = &one.source;
	CU_ASSERT_EQUAL(loop_add(&l, &one.source, EPOLLIN), 0);
	CU_ASSERT_EQUAL(loop_add(&l, &two.source, EPOLLIN), 0);
	CU_ASSERT(write(a[1], "x", 1) == 1 && write(b[1], "x", 1) == 1);
	loop_turn(&l);
	CU_ASSERT_EQUAL(one.calls + two.calls, 1);
	for (int i = 0; i < 2; i++) {
		close(a[i]);
		close(b[i]);
	}
	loop_fini(&l);
}

struct clock {
	struct loop_timer timer;
	int fired;
};

static void on_fire(struct loop_timer *timer)
{
	CONTAINER_OF(timer, struct clock, timer)->fired++;
}

static void timer_fires_again_and_again(void)
{
	struct loop l;
	struct clock c = {.timer.fire = on_fire};
	CU_ASSERT_EQUAL_FATAL(loop_init(&l), 0);
	CU_ASSERT_EQUAL_FATAL(loop_timer_add(&l, &c.timer, 1), 0);
	while (c.fired < 3)
		loop_turn(&l);
	CU_ASSERT_EQUAL(c.fired, 3);
	loop_timer_remove(&l, &c.timer);
	loop_fini(&l);
}

static const struct unit_case cases[] = {
	{"removed_source_is_not_called", removed_source_is_not_called},
	{"timer_fires_again_and_again", timer_fires_again_and_again},
};
UNIT_MAIN("controlplane/loop/loop", cases)
