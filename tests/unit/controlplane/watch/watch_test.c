#include "controlplane/watch/watch.h"

#include "tests/unit/controlplane/rig.h"
#include "tests/unit/unit.h"

static void sees_death_and_return(void) /* N-3, X-18 */
{
	struct rig r;
	struct watch w;
	rig_init(&r);
	watch_init(&w, r.seg);
	watch_look(&w, r.seg);
	CU_ASSERT_EQUAL(rig_count_events(&r, EVENT_PROCESS_UP, NULL), 0);
	rig_start_dataplane(&r);
	seg_beat(r.data, SHM_DATAPLANE, SEG_STARTING); /* it may yet fail to */
	watch_look(&w, r.seg);
	CU_ASSERT_EQUAL(rig_count_events(&r, EVENT_PROCESS_UP, NULL), 0);
	seg_beat(r.data, SHM_DATAPLANE, SEG_RUNNING);
	watch_look(&w, r.seg);
	watch_look(&w, r.seg);
	CU_ASSERT_EQUAL(rig_count_events(&r, EVENT_PROCESS_UP, NULL), 1);
	CU_ASSERT_EQUAL(rig_count_events(&r, EVENT_PROCESS_DOWN, NULL), 0);
	/* Restarted between two looks. */
	rig_stop_dataplane(&r);
	rig_start_dataplane(&r);
	watch_look(&w, r.seg);
	CU_ASSERT_EQUAL(rig_count_events(&r, EVENT_PROCESS_DOWN, NULL), 1);
	CU_ASSERT_EQUAL(rig_count_events(&r, EVENT_PROCESS_UP, NULL), 2);
	rig_stop_dataplane(&r);
	watch_look(&w, r.seg);
	watch_look(&w, r.seg);
	CU_ASSERT_EQUAL(rig_count_events(&r, EVENT_PROCESS_DOWN, NULL), 2);
	rig_fini(&r);
}

static void takes_the_present_as_known(void)
{
	struct rig r;
	struct watch w;
	rig_init(&r);
	rig_start_dataplane(&r);
	watch_init(&w, r.seg);
	watch_look(&w, r.seg);
	CU_ASSERT_EQUAL(rig_count_events(&r, EVENT_PROCESS_UP, NULL), 0);
	rig_fini(&r);
}

static const struct unit_case cases[] = {
	{"sees_death_and_return", sees_death_and_return},
	{"takes_the_present_as_known", takes_the_present_as_known},
};
UNIT_MAIN("controlplane/watch/watch", cases)
