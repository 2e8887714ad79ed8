/* http_rig_service: small routes that exercise every way a service can answer. */
#ifndef TESTS_UNIT_DATAPLANE_HTTP_HTTP_RIG_SERVICE_H
#define TESTS_UNIT_DATAPLANE_HTTP_HTTP_RIG_SERVICE_H

#include "tests/unit/dataplane/http/http_rig.h"

/* /hello  GET, HEAD: "hello", copied        /echo  POST, PUT: the body, copied (at most HTTP_INLINE_BYTES) or counted
 * /ref    GET, HEAD: `ref_bytes` by reference in pieces of `ref_piece`      /stream  the same, length unknown
 * /cut    GET: `next` fails after one piece  /job  GET, POST: pending, then what `job_err` says
 * /live   GET: priority                      /deny POST: refused in begin   others: 404 */
struct rig_service {
	uint32_t ref_bytes;
	uint32_t ref_piece;
	unsigned refs_out; /* given and not yet released */
	unsigned refs_given;
	unsigned finished;
	unsigned begun, handled;
	enum err_id job_err;
	unsigned jobs_run, jobs_orphaned;
	uint64_t deadline_ns; /* of the last request */
	char path[64], query[64], below[64];
	struct http_route routes[10];
	uint8_t data[1 << 20];
};

void rig_service_init(struct rig_service *s);
const struct http_route *rig_service_route(void *ctx, struct span path);
/* rig_init, rig_service_init, rig_start. */
void rig_service_start(struct rig *r, struct rig_service *s);

#endif
