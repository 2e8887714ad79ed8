/* backend_dpdk: EAL, one port and the net on it, for one client thread.
 * Owner: the main thread; it becomes EAL's main lcore. */
#ifndef TOOLS_MILLLOAD_BACKEND_DPDK_H
#define TOOLS_MILLLOAD_BACKEND_DPDK_H

#include "dataplane/net/net.h"
#include "tools/millload/options.h"

struct conf;
struct dpdk_node;

/* What the node's own configuration would say for these options. 0, or -EINVAL with `why`. Pure. */
CHECKED int backend_dpdk_conf(
	struct conf *out, const struct options *o, char *why, size_t why_size);

/* On failure returns -errno and fills `why`. */
CHECKED int backend_dpdk_open(struct dpdk_node **node, struct net **net, const struct options *o,
	const struct net_conf *conf, char *why, size_t why_size);
/* The net is gone. */
void backend_dpdk_close(struct dpdk_node *take_node);

#endif
