/* readiness: what /readyz and `millctl status` say: the data plane's own word while its heart beats,
 * and "not ready" for it when it does not. The word of a data plane that has died since, or has
 * not spoken yet, does not count. */
#ifndef CONTROLPLANE_METRICS_READINESS_H
#define CONTROLPLANE_METRICS_READINESS_H

#include <jansson.h>

#include "lib/shm/seg.h"

void readiness_read(struct seg_ready *out, struct seg *seg);

/* {"ready","degraded","missing","reasons"}; a new reference, NULL when memory is short. */
json_t *readiness_json(const struct seg_ready *r);

#endif
