#include "controlplane/metrics/readiness.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/controlplane/rig.h"
#include "tests/unit/unit.h"

static char *json_of(struct rig *r)
{
	struct seg_ready ready;
	readiness_read(&ready, r->seg);
	json_t *json = readiness_json(&ready);
	char *text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	return text;
}

static void expect(struct rig *r, const char *want)
{
	char *have = json_of(r);
	CU_ASSERT_STRING_EQUAL(have, want);
	free(have);
}

static void tells_the_truth(void) /* X-8, N-3 */
{
	struct rig r;
	rig_init(&r);
	expect(&r, "{\"ready\":false,\"degraded\":true,\"missing\":[\"dataplane\"],"
		   "\"reasons\":[\"the data plane is not running\"]}");
	rig_start_dataplane(&r);
	expect(&r, "{\"ready\":true,\"degraded\":false,\"missing\":[],\"reasons\":[]}");
	/* Draining: not ready at once, whatever the last word was. */
	seg_beat(r.data, SHM_DATAPLANE, SEG_DRAINING);
	expect(&r,
		"{\"ready\":false,\"degraded\":false,\"missing\":[],\"reasons\":[\"draining\"]}");
	/* A new data plane that has not spoken yet: its predecessor's word does not count. */
	seg_beat(r.data, SHM_DATAPLANE, SEG_STARTING);
	expect(&r, "{\"ready\":false,\"degraded\":true,\"missing\":[\"dataplane\"],"
		   "\"reasons\":[\"the data plane is starting\"]}");
	/* A heart that stands still is a dead process. */
	seg_beat(r.data, SHM_DATAPLANE, SEG_RUNNING);
	r.data->hearts[SHM_DATAPLANE].beat_ns = 1;
	expect(&r, "{\"ready\":false,\"degraded\":true,\"missing\":[\"dataplane\"],"
		   "\"reasons\":[\"the data plane is not running\"]}");
	rig_fini(&r);
}

static void survives_nonsense(void)
{
	struct rig r;
	struct seg_ready bad;
	rig_init(&r);
	rig_start_dataplane(&r);
	memset(&bad, 'x', sizeof(bad));
	snap_publish(seg_ready(r.data), &bad);
	struct seg_ready have;
	readiness_read(&have, r.seg);
	CU_ASSERT_EQUAL(have.missing_count, READY_MISSING_MAX);
	CU_ASSERT_EQUAL(strlen(have.reasons[READY_MISSING_MAX - 1]), READY_TEXT - 1);
	rig_fini(&r);
}

static const struct unit_case cases[] = {
	{"tells_the_truth", tells_the_truth},
	{"survives_nonsense", survives_nonsense},
};
UNIT_MAIN("controlplane/metrics/readiness", cases)
