#include "controlplane/metrics/readiness.h"

#include <stdio.h>
#include <string.h>

static void add(char list[READY_MISSING_MAX][READY_TEXT], uint8_t *count, const char *text)
{
	if (*count < READY_MISSING_MAX)
		snprintf(list[(*count)++], READY_TEXT, "%s", text);
}

static void set_absent(struct seg_ready *out, const char *reason)
{
	*out = (struct seg_ready){.degraded = 1};
	add(out->missing, &out->missing_count, "dataplane");
	add(out->reasons, &out->reason_count, reason);
}

/* Bounds and terminators, whatever the other process wrote. */
static void make_safe(struct seg_ready *r)
{
	r->missing_count =
		r->missing_count < READY_MISSING_MAX ? r->missing_count : READY_MISSING_MAX;
	r->reason_count = r->reason_count < READY_MISSING_MAX ? r->reason_count : READY_MISSING_MAX;
	for (int i = 0; i < READY_MISSING_MAX; i++) {
		r->missing[i][READY_TEXT - 1] = '\0';
		r->reasons[i][READY_TEXT - 1] = '\0';
	}
}

void readiness_read(struct seg_ready *out, struct seg *seg)
{
	uint32_t state = __atomic_load_n(&seg->hearts[SHM_DATAPLANE].state, __ATOMIC_ACQUIRE);
	if (!seg_is_alive(seg, SHM_DATAPLANE)) {
		set_absent(out, "the data plane is not running");
		return;
	}
	if (state == SEG_STARTING || snap_read(seg_ready(seg), out) == 0) {
		set_absent(out, "the data plane is starting");
		return;
	}
	make_safe(out);
	if (state == SEG_DRAINING && out->ready) {
		out->ready = 0;
		add(out->reasons, &out->reason_count, "draining");
	}
}

static json_t *list_json(const char list[READY_MISSING_MAX][READY_TEXT], uint8_t count)
{
	json_t *array = json_array();
	for (uint8_t i = 0; i < count; i++)
		json_array_append_new(array, json_string(list[i]));
	return array;
}

json_t *readiness_json(const struct seg_ready *r)
{
	return json_pack("{s:b, s:b, s:o, s:o}", "ready", r->ready, "degraded", r->degraded,
		"missing", list_json(r->missing, r->missing_count), "reasons",
		list_json(r->reasons, r->reason_count));
}
