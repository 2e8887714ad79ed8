#include "controlplane/metrics/sample.h"

#include "tests/unit/controlplane/rig.h"
#include "tests/unit/unit.h"

static void depths(void) /* */
{
	struct rig r;
	struct sample s = {0};
	struct seg_job_ref ref = {0};
	rig_init(&r);
	rig_start_dataplane(&r);
	for (int i = 0; i < 5; i++)
		CU_ASSERT(ring_push(seg_ring(r.data, QUEUE_STORAGE_WORK, 0), &ref, sizeof(ref)));
	CU_ASSERT(ring_push(seg_ring(r.data, QUEUE_DONE, 0), &ref, sizeof(ref)));
	for (int i = 0; i < 3; i++)
		CU_ASSERT(ring_push(seg_ring(r.data, QUEUE_DONE, 1), &ref, sizeof(ref)));
	sample_take(&s, r.seg, QUEUE_CAPACITY_EVENTS + 1);
	CU_ASSERT_EQUAL(s.depth[QUEUE_STORAGE_WORK], 5);
	CU_ASSERT_EQUAL(s.depth[QUEUE_DONE], 3); /* the fullest */
	CU_ASSERT_EQUAL(s.depth[QUEUE_GATEWAY_WORK], 0);
	CU_ASSERT_EQUAL(s.depth[QUEUE_EVENTS], QUEUE_CAPACITY_EVENTS);
	CU_ASSERT_EQUAL(s.depth[QUEUE_SHUTDOWN], 0);
	r.seg->shutdown.requested_generation = r.seg->hearts[SHM_DATAPLANE].generation;
	sample_take(&s, r.seg, 7);
	CU_ASSERT_EQUAL(s.depth[QUEUE_SHUTDOWN], 1);
	CU_ASSERT_EQUAL(s.depth[QUEUE_EVENTS], 7);
	r.seg->hearts[SHM_DATAPLANE].log_depth = 12;
	r.seg->hearts[SHM_CONTROLPLANE].log_depth = 3;
	sample_take(&s, r.seg, 0);
	CU_ASSERT_EQUAL(s.depth[QUEUE_LOG], 12); /* the fuller of the two */
	rig_fini(&r);
}

static void busy_ratio(void) /* */
{
	struct rig r;
	struct sample s = {0};
	rig_init(&r);
	rig_start_dataplane(&r);
	sample_take(&s, r.seg, 0);
	CU_ASSERT_EQUAL(s.busy_ratio[0], 0);
	tally_add(&r.seg->tally[0], TALLY_LCORE_BUSY, 25);
	tally_add(&r.seg->tally[0], TALLY_LCORE_TOTAL, 100);
	sample_take(&s, r.seg, 0);
	CU_ASSERT_EQUAL(s.busy_ratio[0], 0.25);
	/* Over the last interval only; and never above one. */
	tally_add(&r.seg->tally[0], TALLY_LCORE_BUSY, 101);
	tally_add(&r.seg->tally[0], TALLY_LCORE_TOTAL, 100);
	sample_take(&s, r.seg, 0);
	CU_ASSERT_EQUAL(s.busy_ratio[0], 1);
	sample_take(&s, r.seg, 0);
	CU_ASSERT_EQUAL(s.busy_ratio[0], 0);
	rig_fini(&r);
}

static void lcores_are_bounded(void)
{
	struct rig r;
	rig_init(&r);
	rig_start_dataplane(&r);
	r.data->lcore_count = LIMIT_LCORES;
	CU_ASSERT_EQUAL(sample_lcores(r.seg), LIMIT_LCORES);
	r.data->lcore_count = LIMIT_LCORES + 1;
	CU_ASSERT_EQUAL(sample_lcores(r.seg), LIMIT_LCORES);
	rig_fini(&r);
}

static const struct unit_case cases[] = {
	{"depths", depths},
	{"busy_ratio", busy_ratio},
	{"lcores_are_bounded", lcores_are_bounded},
};
UNIT_MAIN("controlplane/metrics/sample", cases)
