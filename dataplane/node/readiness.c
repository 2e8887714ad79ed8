#include "dataplane/node/readiness.h"

#include <stdio.h>

static void add_missing(struct seg_ready *r, const char *what)
{
	if (r->missing_count < READY_MISSING_MAX)
		snprintf(r->missing[r->missing_count++], READY_TEXT, "%s", what);
}

static void add_reason(struct seg_ready *r, const char *why)
{
	if (r->reason_count < READY_MISSING_MAX)
		snprintf(r->reasons[r->reason_count++], READY_TEXT, "%s", why);
}

void readiness_compute(struct seg_ready *out, const struct readiness_facts *facts)
{
	*out = (struct seg_ready){0};
	if (facts->is_draining)
		add_reason(out, "draining");
	if (facts->lcores_missing != 0) {
		add_missing(out, "lcore");
		add_reason(out, "an ingress lcore does not turn");
	}
	if (facts->ports_missing != 0) {
		add_missing(out, "port");
		add_reason(out, "a port is gone or has no link");
	}
	if (facts->workers_missing != 0) {
		add_missing(out, "worker");
		add_reason(out, "a worker has ended and is being restarted");
	}
	if (facts->is_controlplane_gone) {
		add_missing(out, "controlplane");
		add_reason(out, "the control plane is gone");
	}
	if (facts->workers_stalled != 0)
		add_reason(out, "a worker is stuck in one job");
	if (facts->is_storage_full)
		add_reason(out, "storage_full: writes are refused, reads go on");
	/* Before the queue is full and writes are shed. */
	if (facts->work_depth >= QUEUE_CAPACITY_STORAGE_WORK / 4 * 3)
		add_reason(out, "storage.work is nearly full: writes will be shed");
	out->ready = !facts->is_draining && facts->lcores_missing == 0;
	out->degraded = out->reason_count != 0;
}
