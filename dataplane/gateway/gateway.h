/* gateway: the routing table: which service answers a path (G-2), and the routes of the node itself: health,
 * readiness, version.
 *
 * Owner:   made once at start; read-only afterwards, so every lcore may use it at the same time.
 * Cost:    one look at the first byte and at most a few short comparisons; no allocation. */
#ifndef DATAPLANE_GATEWAY_GATEWAY_H
#define DATAPLANE_GATEWAY_GATEWAY_H

#include "dataplane/http/http.h"
#include "dataplane/storage/storage.h"
#include "lib/shm/seg.h"

struct gateway;

/* `st` and `seg` outlive the gateway. Also points the store's events at the segment. Returns 0 or -ENOMEM. */
CHECKED int gateway_open(struct gateway **out, struct storage *st, struct seg *seg);
void gateway_close(struct gateway *gw);

/* The http_router for http_server_conf; ctx is the gateway. */
const struct http_route *gateway_route(void *ctx, struct span path);

#endif
