#include "tests/unit/controlplane/rig.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void rig_init(struct rig *r)
{
	static unsigned number;
	char why[256];
	*r = (struct rig){0};
	snprintf(r->name, sizeof(r->name), "cp-unit-%d-%u", (int)getpid(), number++);
	MUST(seg_attach(&r->seg, r->name, SHM_CONTROLPLANE, why, sizeof(why)) == 0);
	seg_beat(r->seg, SHM_CONTROLPLANE, SEG_RUNNING);
}

void rig_fini(struct rig *r)
{
	if (r->data != NULL)
		rig_stop_dataplane(r);
	seg_detach(r->seg);
	seg_unlink(r->name);
}

void rig_start_dataplane(struct rig *r)
{
	char why[256];
	struct seg_ready ready = {.ready = 1};
	MUST(seg_attach(&r->data, r->name, SHM_DATAPLANE, why, sizeof(why)) == 0);
	r->data->lcore_count = 2;
	r->data->lcore_cpu[0] = 5;
	r->data->lcore_cpu[1] = 6;
	snap_publish(seg_ready(r->data), &ready);
	seg_beat(r->data, SHM_DATAPLANE, SEG_RUNNING);
}

void rig_stop_dataplane(struct rig *r)
{
	seg_detach(r->data);
	r->data = NULL;
}

unsigned rig_count_events(
	const struct rig *r, enum event_kind kind, char text[LIMIT_EVENT_TEXT_BYTES])
{
	struct events_cursor cursor = events_tail(&r->seg->events, QUEUE_CAPACITY_EVENTS);
	struct event event;
	uint64_t lost = 0;
	unsigned count = 0;
	while (events_next(&r->seg->events, &cursor, &event, &lost) == 1) {
		if (event.kind != kind)
			continue;
		count++;
		if (text != NULL)
			memcpy(text, event.text, LIMIT_EVENT_TEXT_BYTES);
	}
	return count;
}
