/* sample: what cannot be read at a scrape without it depending on the scraper: queue depths and the
 * busy share of each lcore, taken every LIMIT_SAMPLE_MS.
 * Owner: the control plane's main thread. */
#ifndef CONTROLPLANE_METRICS_SAMPLE_H
#define CONTROLPLANE_METRICS_SAMPLE_H

#include "lib/shm/seg.h"

struct sample {
	uint64_t depth[QUEUE_COUNT];	 /* of a queue of many rings: the fullest */
	double busy_ratio[LIMIT_LCORES]; /* 0..1 over the last interval */
	uint64_t busy_ns[LIMIT_LCORES];	 /* the cells at the last sample */
	uint64_t total_ns[LIMIT_LCORES];
};

/* `events_lag`: how far the slowest reader of the events ring is behind. */
void sample_take(struct sample *s, struct seg *seg, uint64_t events_lag);

/* The lcores in use, never above the limit whatever the segment says. */
unsigned sample_lcores(const struct seg *seg);

#endif
