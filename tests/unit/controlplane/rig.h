/* rig: a segment of its own for a test, attached as the control plane; optionally with a data plane
 * that is played by the same process. */
#ifndef TESTS_UNIT_CONTROLPLANE_RIG_H
#define TESTS_UNIT_CONTROLPLANE_RIG_H

#include "lib/shm/seg.h"

struct rig {
	char name[40];
	struct seg *seg;  /* the control plane's */
	struct seg *data; /* the data plane's, or NULL */
};

void rig_init(struct rig *r);
void rig_fini(struct rig *r);

/* A data plane appears (state running, ready), or leaves. */
void rig_start_dataplane(struct rig *r);
void rig_stop_dataplane(struct rig *r);

/* How many events of this kind are in the ring; the last one's text in `text` unless NULL. */
unsigned rig_count_events(
	const struct rig *r, enum event_kind kind, char text[LIMIT_EVENT_TEXT_BYTES]);

#endif
