/* exposition: the metrics registry over the segment's tallies as Prometheus text 0.0.4.
 *
 * Every metric of config/metrics.def appears. All label combinations of a metric with up to one label
 * set are printed; of a metric with more, those that are not zero (and the first, so that the name is
 * there). Cells in nanoseconds whose name ends in _seconds_total are printed as seconds.
 * Pure: reads the segment, writes the page. */
#ifndef CONTROLPLANE_METRICS_EXPOSITION_H
#define CONTROLPLANE_METRICS_EXPOSITION_H

#include "controlplane/metrics/page.h"
#include "controlplane/metrics/sample.h"

/* What the derived metrics need beside the segment. */
struct exposition {
	struct seg *seg;
	const struct sample *sample;
	bool is_amnesia;
	const char *version; /* "0.1.0 (4f2c9e1)" */
};

void exposition_print(struct page *out, const struct exposition *e);

#endif
