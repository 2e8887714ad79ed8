/* ops_capture: the capture that one client of the ops socket has asked for: from the lcores' records to pcapng.
 * One at a time: the lcores have one switch. The bytes go to the client, who writes them where he may: this process
 * writes nothing to any disk.
 *
 *   off --start--> on --time or packets are up--> draining --rings are empty--> over
 *
 * Owner: the control plane's main thread. Nothing here waits. */
#ifndef CONTROLPLANE_OPS_OPS_CAPTURE_H
#define CONTROLPLANE_OPS_OPS_CAPTURE_H

#include "controlplane/ops/ops_view.h"
#include "lib/ops/ops_request.h"

struct ops_capture {
	const struct ops_env *env; /* NULL: off */
	uint64_t number;
	uint64_t deadline_ns;
	uint32_t packets_max;
	uint32_t packets;
	uint64_t bytes;
	bool is_begun; /* section and interfaces were written */
	bool is_stopped;
	bool is_over;
	const char *ended_by; /* "seconds" or "packets" */
	uint8_t iface_of[LIMIT_NET_PORTS];
	uint8_t port_count;
	uint8_t ports[LIMIT_NET_PORTS];
	uint64_t dropped_before[LIMIT_NET_PORTS];
	uint64_t delivered[LIMIT_NET_PORTS];
};

/* Returns true, or false with the refusal. `env` outlives the capture. */
CHECKED bool ops_capture_start(struct ops_capture *c, const struct ops_env *env,
	const struct ops_request *request, struct ops_refusal *why);
/* The reply to the request: what is captured, and for how long. */
json_t *ops_capture_view(const struct ops_capture *c);

/* The next blocks of the file, at most LIMIT_CAPTURE_CHUNK_BYTES (`room` is at least that). Returns their length; 0:
 * nothing now. After the last ones is_over is set. */
size_t ops_capture_read(struct ops_capture *c, uint8_t *out, size_t room, uint64_t now_ns);
/* What has come of it. */
json_t *ops_capture_result(const struct ops_capture *c);

/* Also when it is over, or off. */
void ops_capture_stop(struct ops_capture *c);

#endif
