/* dpdk: the network seam on DPDK ports: our own TCP/IP on each lcore, past the kernel.
 *
 *   main thread: dpdk_node_open (buffers, ports, addresses, routes), dpdk_node_watch now and then, dpdk_node_close
 *   each lcore:  dpdk_open -> struct net, used as any other; net_fini
 *
 * Owner:   the node is the main thread's, and read by the lcores; each net is its lcore's.
 * Memory:  packet buffers from EAL's memory, the rest as in net.h. Everything is reserved in dpdk_node_open and
 *          dpdk_open.
 * Calls:   none to the system while packets flow, but those a virtual device makes itself. */
#ifndef DATAPLANE_NET_DPDK_DPDK_H
#define DATAPLANE_NET_DPDK_DPDK_H

#include "dataplane/net/net.h"

struct conf;
struct dpdk_node;
struct route_table;

/* EAL runs. On failure returns -errno and fills `why`. */
CHECKED int dpdk_node_open(struct dpdk_node **out, const struct conf *conf, unsigned lcores,
	char *why, size_t why_size);
/* All nets are gone. */
void dpdk_node_close(struct dpdk_node *node);
/* Links, and ports that were lost or come back. */
void dpdk_node_watch(struct dpdk_node *node, uint64_t now_ns);
/* What the ports counted, for the main thread's slot. */
void dpdk_node_report(struct dpdk_node *node, struct tally *tally);
/* How many of its ports work. */
unsigned dpdk_node_ports_up(const struct dpdk_node *node);
unsigned dpdk_node_ports(const struct dpdk_node *node);

/* The net of lcore `index`. On failure returns -errno and fills `why`. */
CHECKED int dpdk_open(struct net **out, const struct net_conf *conf, struct dpdk_node *node,
	unsigned index, char *why, size_t why_size);

#endif
