/* readiness: what /readyz says, from facts the main thread gathers. Pure. */
#ifndef DATAPLANE_NODE_READINESS_H
#define DATAPLANE_NODE_READINESS_H

#include "lib/shm/seg.h"

struct readiness_facts {
	bool is_draining;
	bool is_controlplane_gone;
	bool is_storage_full;
	unsigned lcores_missing; /* that have not turned for LIMIT_HEARTBEAT_STALE_MS */
	unsigned ports_missing;	 /* without a device or a link */
	unsigned workers_missing;
	unsigned workers_stalled;
	uint32_t work_depth; /* of storage.work */
};

/* Not ready: draining, or an lcore is missing. Degraded: anything else is wrong; the node still serves. */
void readiness_compute(struct seg_ready *out, const struct readiness_facts *facts);

#endif
