/* cpus: which CPUs the ingress lcores are pinned to, and how EAL is told. Pure, but for cpus_allowed. */
#ifndef DATAPLANE_NODE_CPUS_H
#define DATAPLANE_NODE_CPUS_H

#include <sched.h>

#include "lib/conf/conf_types.h"

struct cpus {
	uint32_t count;
	uint32_t cpu[LIMIT_LCORES];
};

/* The CPUs this process may use. Returns 0 or -errno. */
CHECKED int cpus_allowed(cpu_set_t *out);

/* net.lcores: the named CPUs, or for auto the last allowed one. Returns 0, or -EINVAL and fills `why`: not allowed, or
 * named twice. */
CHECKED int cpus_pick(struct cpus *out, const struct conf *conf, const cpu_set_t *allowed,
	char *why, size_t why_size);

/* EAL's --lcores: lcore 0 (the main thread) floats over all allowed CPUs, lcore i + 1 sits on cpu[i]. Returns 0 or
 * -ENOSPC. */
CHECKED int cpus_print_map(
	const struct cpus *cpus, const cpu_set_t *allowed, char *out, size_t size);

#endif
