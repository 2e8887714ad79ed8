/* top: the live view: a sample each second, rates between two of them. Redraws on a terminal, prints
 * block after block elsewhere. */
#ifndef TOOLS_MILLCTL_TOP_H
#define TOOLS_MILLCTL_TOP_H

#include <jansson.h>

#include "tools/millctl/options.h"

enum exit_code top_run(const struct options *o);

/* Rates between two `traffic` objects of status. Pure. */
struct top_rates {
	double requests_s;
	double rx_bytes_s;
	double tx_bytes_s;
	uint64_t
		p50_ns; /* upper bounds; 0: nothing was answered, UINT64_MAX: above the last bound */
	uint64_t p99_ns;
};
void top_rates(struct top_rates *out, const json_t *before, const json_t *after, double seconds);

#endif
