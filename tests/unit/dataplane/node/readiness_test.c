#include "dataplane/node/readiness.h"

#include <string.h>

#include "tests/unit/unit.h"

static void test_all_well(void)
{
	struct seg_ready r;
	readiness_compute(&r, &(struct readiness_facts){0});
	CU_ASSERT_TRUE(r.ready);
	CU_ASSERT_FALSE(r.degraded);
	CU_ASSERT_EQUAL(r.missing_count, 0);
	CU_ASSERT_EQUAL(r.reason_count, 0);
}

/* X-6 X-8 X-18: what each fact does to readiness, and the word a person finds. */
static void test_each_fact(void)
{
	static const struct {
		struct readiness_facts facts;
		bool ready;
		const char *missing; /* NULL: none */
		const char *reason;
	} rows[] = {
		{{.is_draining = true}, false, NULL, "draining"},
		{{.lcores_missing = 1}, false, "lcore", "lcore"},
		{{.ports_missing = 1}, true, "port", "link"},
		{{.workers_missing = 1}, true, "worker", "restarted"},
		{{.is_controlplane_gone = true}, true, "controlplane", "control plane"},
		{{.workers_stalled = 1}, true, NULL, "stuck"},
		{{.is_storage_full = true}, true, NULL, "storage_full"},
		{{.work_depth = QUEUE_CAPACITY_STORAGE_WORK / 4 * 3}, true, NULL, "storage.work"},
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct seg_ready r;
		readiness_compute(&r, &rows[i].facts);
		CU_ASSERT_EQUAL(r.ready, rows[i].ready);
		CU_ASSERT_TRUE(r.degraded);
		CU_ASSERT_EQUAL(r.missing_count, rows[i].missing != NULL);
		if (rows[i].missing != NULL)
			CU_ASSERT_STRING_EQUAL(r.missing[0], rows[i].missing);
		CU_ASSERT_EQUAL(r.reason_count, 1);
		CU_ASSERT_PTR_NOT_NULL(strstr(r.reasons[0], rows[i].reason));
	}
}

/* One below the mark is no reason yet. */
static void test_below_the_mark(void)
{
	struct seg_ready r;
	readiness_compute(&r,
		&(struct readiness_facts){.work_depth = QUEUE_CAPACITY_STORAGE_WORK / 4 * 3 - 1});
	CU_ASSERT_FALSE(r.degraded);
}

static void test_everything_at_once_fits(void)
{
	struct seg_ready r;
	readiness_compute(&r, &(struct readiness_facts){true, true, true, 1, 1, 1, 1, 512});
	CU_ASSERT_EQUAL(r.missing_count, 4);
	CU_ASSERT_EQUAL(r.reason_count, 8);
	CU_ASSERT_FALSE(r.ready);
	for (unsigned i = 0; i < r.reason_count; i++)
		CU_ASSERT_TRUE(strlen(r.reasons[i]) < READY_TEXT - 1);
}

static const struct unit_case cases[] = {
	{"all_well", test_all_well},
	{"each_fact", test_each_fact},
	{"below_the_mark", test_below_the_mark},
	{"everything_at_once_fits", test_everything_at_once_fits},
};

UNIT_MAIN("dataplane/node/readiness", cases)
