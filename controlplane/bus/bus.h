/* bus: the control plane's end of the events ring: emits, and accounts for what its readers lost
 * (X-16).
 * Owner: the control plane's main thread. */
#ifndef CONTROLPLANE_BUS_BUS_H
#define CONTROLPLANE_BUS_BUS_H

#include "lib/shm/seg.h"

/* Emits as the control plane; an event that had to be dropped is counted. */
void bus_emit(struct seg *seg, enum event_kind kind, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* How often a warning may be written. */
struct bus_lag {
	uint64_t lost; /* since the last warning */
	uint64_t warned_ns;
	bool has_warned;
};

/* A reader lost `lost` events: raises bus_lagged_total. Returns how many lost events a warning is due
 * for now (also with `lost` 0, for those that waited), 0 when none is: one warning per
 * LIMIT_BUS_WARN_MS. */
uint64_t bus_lagged(struct bus_lag *b, struct tally *tally, uint64_t lost, uint64_t now_ns);

#endif
