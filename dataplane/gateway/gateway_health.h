/* gateway_health: what the node says about itself: /healthz, /readyz, /version. Priority routes: they never
 * queue, never count against quotas and answer while draining.
 * Owner: read-only after init; any lcore. */
#ifndef DATAPLANE_GATEWAY_GATEWAY_HEALTH_H
#define DATAPLANE_GATEWAY_GATEWAY_HEALTH_H

#include "dataplane/http/http.h"
#include "lib/shm/seg.h"

struct gateway_health {
	struct seg *seg;
	size_t version_len;
	char version[256]; /* the body of /version */
};

void gateway_health_init(struct gateway_health *h, struct seg *seg);

/* 200 as long as the process serves. */
struct http_route gateway_health_live_route(struct gateway_health *h);
/* 200 when ready, else 503; JSON ready, degraded, missing[], reasons[]. */
struct http_route gateway_health_ready_route(struct gateway_health *h);
/* JSON version, commit, build. */
struct http_route gateway_health_version_route(struct gateway_health *h);

#endif
