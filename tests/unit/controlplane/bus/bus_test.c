#include "controlplane/bus/bus.h"

#include <string.h>

#include "lib/clock/clock.h"
#include "tests/unit/controlplane/rig.h"
#include "tests/unit/unit.h"

static void one_warning_per_period(void) /* */
{
	static struct tally tally;
	struct bus_lag lag = {0};
	uint64_t period = LIMIT_BUS_WARN_MS * NS_PER_MS, start = 7 * NS_PER_S;
	CU_ASSERT_EQUAL(bus_lagged(&lag, &tally, 0, start), 0);
	CU_ASSERT_EQUAL(bus_lagged(&lag, &tally, 3, start), 3);
	CU_ASSERT_EQUAL(bus_lagged(&lag, &tally, 4, start + 1), 0);
	CU_ASSERT_EQUAL(bus_lagged(&lag, &tally, 5, start + period - 1), 0);
	/* What was held back is told together, and nothing is counted twice. */
	CU_ASSERT_EQUAL(bus_lagged(&lag, &tally, 0, start + period), 9);
	CU_ASSERT_EQUAL(bus_lagged(&lag, &tally, 0, start + 3 * period), 0);
	CU_ASSERT_EQUAL(tally_get(&tally, TALLY_BUS_LAGGED), 12);
}

static void emits_as_the_control_plane(void)
{
	struct rig r;
	char text[LIMIT_EVENT_TEXT_BYTES], longer[2 * LIMIT_EVENT_TEXT_BYTES];
	rig_init(&r);
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	bus_emit(r.seg, EVENT_DRAIN, "a %s", longer);
	CU_ASSERT_EQUAL(rig_count_events(&r, EVENT_DRAIN, text), 1);
	CU_ASSERT_EQUAL(strlen(text), LIMIT_EVENT_TEXT_BYTES - 1);
	rig_fini(&r);
}

static const struct unit_case cases[] = {
	{"one_warning_per_period", one_warning_per_period},
	{"emits_as_the_control_plane", emits_as_the_control_plane},
};
UNIT_MAIN("controlplane/bus/bus", cases)
