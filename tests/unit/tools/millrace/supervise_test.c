#include "tools/millrace/supervise.h"

#include <signal.h>

#include "lib/base/registry.h"
#include "lib/clock/clock.h"
#include "tests/unit/unit.h"

enum { CP = 100, DP = 200 };

static int exited(int code)
{
	return code << 8;
}

/* Both processes up at time 0. */
static void start_both(struct supervise *s)
{
	supervise_init(s, 0);
	struct supervise_order o = supervise_next(s, 0);
	CU_ASSERT(o.act == SUPERVISE_START && o.process == SHM_CONTROLPLANE);
	supervise_started(s, SHM_CONTROLPLANE, CP, 0);
	o = supervise_next(s, 0);
	CU_ASSERT(o.act == SUPERVISE_START && o.process == SHM_DATAPLANE);
	supervise_started(s, SHM_DATAPLANE, DP, 0);
	o = supervise_next(s, 0);
	CU_ASSERT(o.act == SUPERVISE_WAIT && o.wait_ns == UINT64_MAX);
}

static void dead_one_is_started_again(void) /* X-18, N-3 */
{
	static const struct {
		enum shm_process process;
		int status;
	} table[] = {
		{SHM_DATAPLANE, SIGKILL},
		{SHM_DATAPLANE, SIGABRT},
		{SHM_DATAPLANE, 3 << 8},
		{SHM_DATAPLANE, 127 << 8},
		{SHM_CONTROLPLANE, SIGKILL},
		{SHM_CONTROLPLANE, 0},
		{SHM_CONTROLPLANE, 1 << 8},
		{SHM_CONTROLPLANE, 2 << 8},
	};
	for (unsigned i = 0; i < ARRAY_LEN(table); i++) {
		struct supervise s;
		start_both(&s);
		supervise_up(&s);
		uint64_t delay =
			supervise_ended(&s, table[i].process, table[i].status, NS_PER_S, 0);
		CU_ASSERT_EQUAL(delay, LIMIT_RESTART_FIRST_MS * NS_PER_MS);
		struct supervise_order o = supervise_next(&s, NS_PER_S);
		CU_ASSERT(o.act == SUPERVISE_WAIT && o.wait_ns == NS_PER_S + delay);
		o = supervise_next(&s, NS_PER_S + delay - 1);
		CU_ASSERT_EQUAL(o.act, SUPERVISE_WAIT);
		o = supervise_next(&s, NS_PER_S + delay);
		CU_ASSERT(o.act == SUPERVISE_START && o.process == table[i].process);
	}
}

static void drained_data_plane_ends_the_node(void) /* */
{
	for (int code = 0; code <= 2; code++) {
		struct supervise s;
		start_both(&s);
		CU_ASSERT_EQUAL(supervise_ended(&s, SHM_DATAPLANE, exited(code), NS_PER_S, 0), 0);
		struct supervise_order o = supervise_next(&s, NS_PER_S);
		CU_ASSERT(o.act == SUPERVISE_TERM && o.pid == CP);
		CU_ASSERT_EQUAL(supervise_next(&s, NS_PER_S).act, SUPERVISE_WAIT);
		supervise_ended(&s, SHM_CONTROLPLANE, 0, NS_PER_S, 0);
		CU_ASSERT_EQUAL(supervise_next(&s, NS_PER_S).act, SUPERVISE_END);
		CU_ASSERT_EQUAL(s.exit_code, code);
	}
}

static void first_start_that_cannot_be_ends_the_node(void)
{
	struct supervise s;
	start_both(&s);
	CU_ASSERT_EQUAL(supervise_ended(&s, SHM_DATAPLANE, exited(3), NS_PER_S, 0), 0);
	CU_ASSERT_EQUAL(supervise_next(&s, NS_PER_S).act, SUPERVISE_TERM);
	supervise_ended(&s, SHM_CONTROLPLANE, 0, NS_PER_S, 0);
	CU_ASSERT_EQUAL(supervise_next(&s, NS_PER_S).act, SUPERVISE_END);
	CU_ASSERT_EQUAL(s.exit_code, 3);
	/* once it has been up, it is tried again */
	start_both(&s);
	supervise_up(&s);
	CU_ASSERT_NOT_EQUAL(supervise_ended(&s, SHM_DATAPLANE, exited(3), NS_PER_S, 0), 0);
	CU_ASSERT_EQUAL(supervise_next(&s, NS_PER_S).act, SUPERVISE_WAIT);
}

static void stop_drains_first(void) /* and a second signal changes nothing */
{
	struct supervise s;
	start_both(&s);
	supervise_stop(&s);
	struct supervise_order o = supervise_next(&s, 0);
	CU_ASSERT(o.act == SUPERVISE_TERM && o.pid == DP);
	for (int i = 0; i < 3; i++) {
		supervise_stop(&s);
		CU_ASSERT_EQUAL(supervise_next(&s, NS_PER_S).act, SUPERVISE_WAIT);
	}
	supervise_ended(&s, SHM_DATAPLANE, exited(1), 2 * NS_PER_S, 0);
	o = supervise_next(&s, 2 * NS_PER_S);
	CU_ASSERT(o.act == SUPERVISE_TERM && o.pid == CP);
	supervise_ended(&s, SHM_CONTROLPLANE, 0, 2 * NS_PER_S, 0);
	CU_ASSERT_EQUAL(supervise_next(&s, 2 * NS_PER_S).act, SUPERVISE_END);
	CU_ASSERT_EQUAL(s.exit_code, 1);
}

static void death_while_draining_is_not_success(void)
{
	struct supervise s;
	start_both(&s);
	supervise_stop(&s);
	(void)supervise_next(&s, 0);
	CU_ASSERT_EQUAL(supervise_ended(&s, SHM_DATAPLANE, SIGKILL, 1, 0), 0);
	supervise_ended(&s, SHM_CONTROLPLANE, 0, 1, 0);
	CU_ASSERT_EQUAL(supervise_next(&s, 1).act, SUPERVISE_END);
	CU_ASSERT_EQUAL(s.exit_code, 1);
}

static void stopped_before_it_could_catch_the_signal(void)
{
	struct supervise s;
	start_both(&s);
	supervise_stop(&s);
	(void)supervise_next(&s, 0);
	supervise_ended(&s, SHM_DATAPLANE, SIGTERM, 1, 0);
	supervise_ended(&s, SHM_CONTROLPLANE, SIGTERM, 1, 0);
	CU_ASSERT_EQUAL(supervise_next(&s, 1).act, SUPERVISE_END);
	CU_ASSERT_EQUAL(s.exit_code, 0);
	/* A SIGTERM that nobody here sent is a death like another. */
	start_both(&s);
	CU_ASSERT(supervise_ended(&s, SHM_DATAPLANE, SIGTERM, 1, 0) > 0);
}

static void control_plane_that_dies_while_draining_stays_dead(void)
{
	struct supervise s;
	start_both(&s);
	supervise_stop(&s);
	(void)supervise_next(&s, 0);
	CU_ASSERT_EQUAL(supervise_ended(&s, SHM_CONTROLPLANE, SIGKILL, 1, 0), 0);
	CU_ASSERT_EQUAL(supervise_next(&s, 60 * NS_PER_S / 10).act, SUPERVISE_WAIT);
	supervise_ended(&s, SHM_DATAPLANE, 0, 2, 0);
	CU_ASSERT_EQUAL(supervise_next(&s, 2).act, SUPERVISE_END);
	CU_ASSERT_EQUAL(s.exit_code, 0);
}

static void hanging_child_is_killed_once(void)
{
	struct supervise s;
	uint64_t patience = SUPERVISE_DRAIN_MS * NS_PER_MS;
	start_both(&s);
	supervise_stop(&s);
	(void)supervise_next(&s, 0);
	struct supervise_order o = supervise_next(&s, patience - 1);
	CU_ASSERT(o.act == SUPERVISE_WAIT && o.wait_ns == patience);
	o = supervise_next(&s, patience);
	CU_ASSERT(o.act == SUPERVISE_KILL && o.pid == DP);
	CU_ASSERT_EQUAL(supervise_next(&s, patience).act, SUPERVISE_WAIT);
}

static void stop_before_the_start(void)
{
	struct supervise s;
	supervise_init(&s, 0);
	supervise_stop(&s);
	CU_ASSERT_EQUAL(supervise_next(&s, 0).act, SUPERVISE_END);
	CU_ASSERT_EQUAL(s.exit_code, 0);
}

static const struct unit_case cases[] = {
	{"dead_one_is_started_again", dead_one_is_started_again},
	{"drained_data_plane_ends_the_node", drained_data_plane_ends_the_node},
	{"first_start_that_cannot_be_ends_the_node", first_start_that_cannot_be_ends_the_node},
	{"stop_drains_first", stop_drains_first},
	{"death_while_draining_is_not_success", death_while_draining_is_not_success},
	{"stopped_before_it_could_catch_the_signal", stopped_before_it_could_catch_the_signal},
	{"control_plane_that_dies_while_draining_stays_dead",
		control_plane_that_dies_while_draining_stays_dead},
	{"hanging_child_is_killed_once", hanging_child_is_killed_once},
	{"stop_before_the_start", stop_before_the_start},
};
UNIT_MAIN("tools/millrace/supervise", cases)
