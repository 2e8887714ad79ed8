/* backend: a client's end of the network seam: one net, its clock and timers, on the CPU it runs on.
 * Owner:   the main thread.
 * Memory:  reserved in backend_open, given back in backend_close. */
#ifndef TOOLS_MILLLOAD_BACKEND_H
#define TOOLS_MILLLOAD_BACKEND_H

#include "dataplane/net/net.h"
#include "tools/millload/options.h"

struct dpdk_node;

struct backend {
	struct net *net;
	struct wheel wheel;
	uint64_t now_ns;
	struct tally *tally;
	struct dpdk_node *node; /* dpdk */
	uint64_t watch_ns;	/* dpdk: when to look after the port again */
};

/* On failure returns -errno and fills `why`. */
CHECKED int backend_open(struct backend *b, const struct options *o, char *why, size_t why_size);

/* One turn: packets, events, timers. Never waits. */
void backend_turn(struct backend *b);

/* The port can carry packets. */
bool backend_has_link(const struct backend *b);

/* Ends all connections. The net is gone; the wheel is not. A virtual link stays up for a moment: its other end reads the
 * last packets, and DPDK's memif does not bear that its peer goes away while it sends. */
void backend_end_net(struct backend *b);
void backend_close(struct backend *b);

#endif
