/* exporter: /metrics, /healthz and /readyz over HTTP on exporter.listen (N-5), by libmicrohttpd inside
 * the control plane's loop: no thread of its own.
 * Bounds:  LIMIT_EXPORTER_CLIENTS connections, closed after LIMIT_EXPORTER_IDLE_S; one answer is at
 *          most LIMIT_EXPORTER_PAGE_BYTES.
 * Failure: an address that cannot be bound is said once and tried again every second; the rest of the
 *          control plane goes on. */
#ifndef CONTROLPLANE_METRICS_EXPORTER_H
#define CONTROLPLANE_METRICS_EXPORTER_H

#include "controlplane/conf/running.h"
#include "controlplane/loop/loop.h"
#include "controlplane/metrics/sample.h"

struct MHD_Daemon;

struct exporter {
	struct loop_source source;
	struct loop *loop;
	struct seg *seg;
	const struct running *running;
	const struct sample *sample;
	struct MHD_Daemon *daemon; /* NULL: off, or not bound yet */
	uint64_t tried_ns;
	char why[128]; /* why it is not up; empty when it is, or is off */
	char *page;
};

/* Starts when exporter.listen is not empty. Returns 0 (also when the address is taken) or -ENOMEM. */
CHECKED int exporter_init(struct exporter *x, struct loop *loop, struct seg *seg,
	const struct running *running, const struct sample *sample);
void exporter_fini(struct exporter *x);

/* Timeouts and retries; called with each heartbeat. */
void exporter_tick(struct exporter *x, uint64_t now_ns);

bool exporter_is_up(const struct exporter *x);

#endif
