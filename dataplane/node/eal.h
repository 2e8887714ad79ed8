/* eal: DPDK's environment, started without files; for the host back end also without huge pages and devices.
 * Owner: the main thread, once per process.
 * End:   with the process. rte_eal_cleanup would unmap what EAL's interrupt thread still reads, and memif's control
 *        channels are given back on that thread: now and then it was too late. */
#ifndef DATAPLANE_NODE_EAL_H
#define DATAPLANE_NODE_EAL_H

#include "dataplane/node/cpus.h"

/* Starts EAL with one pinned thread per ingress lcore. On failure returns -errno and fills `why`. */
CHECKED int eal_start(const struct conf *conf, const struct cpus *cpus, const cpu_set_t *allowed,
	char *why, size_t why_size);

/* Runs `run(arg)` on the thread of ingress lcore `index`. Returns 0 or -errno. */
CHECKED int eal_launch(uint32_t index, int (*run)(void *arg), void *arg);

/* Waits for the function on `index` to return. */
void eal_join(uint32_t index);

#endif
