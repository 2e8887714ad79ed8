/* dpdk_eal: what EAL must be told for the ports of a configuration, and its start. Pure, but for
 * dpdk_eal_has_huge_pages and dpdk_eal_start. */
#ifndef DATAPLANE_NET_DPDK_DPDK_EAL_H
#define DATAPLANE_NET_DPDK_DPDK_EAL_H

#include "lib/conf/conf_types.h"

enum { DPDK_EAL_ARGS = 16, DPDK_EAL_ARG_BYTES = 192 };

struct dpdk_eal {
	unsigned count;
	char args[DPDK_EAL_ARGS][DPDK_EAL_ARG_BYTES];
};

/* Huge pages or not, how much memory, which PCI devices. Virtual devices are attached later. */
void dpdk_eal_args(
	struct dpdk_eal *out, const struct conf *conf, unsigned lcores, bool has_huge_pages);

/* Whether the system has free huge pages for this much memory. */
bool dpdk_eal_has_huge_pages(uint64_t bytes);
/* What the packet buffers of all lcores take. */
uint64_t dpdk_eal_memory(const struct conf *conf, unsigned lcores);

/* Starts EAL without files, once per process. `lcores` is the value of --lcores. On failure returns -errno and fills
 * `why`. */
CHECKED int dpdk_eal_start(const char *program, const char *lcores, struct dpdk_eal *memory,
	char *why, size_t why_size);

#endif
