/* node_loop: the main thread's loop and what it remembers between two beats. */
#ifndef DATAPLANE_NODE_NODE_LOOP_H
#define DATAPLANE_NODE_NODE_LOOP_H

#include "dataplane/gateway/gateway.h"
#include "dataplane/lcore/lcore.h"
#include "dataplane/net/dpdk/dpdk.h"
#include "dataplane/node/cpus.h"
#include "dataplane/node/node.h"
#include "dataplane/storage/storage.h"
#include "dataplane/worker/worker.h"
#include "lib/shm/seg.h"

enum { NODE_BEAT_MS = 50, NODE_DRAIN_BEAT_MS = 2 };

enum node_phase { NODE_SERVING, NODE_DRAINING, NODE_FINISHING, NODE_ENDED };

struct node {
	struct conf conf; /* as started; hot keys as of conf_version */
	uint64_t conf_version;
	struct cpus cpus;
	struct seg *seg;
	struct tally *tally; /* the main thread's slot */
	struct storage *storage;
	struct gateway *gateway;
	struct workers *workers;
	struct dpdk_node *dpdk; /* NULL: the host back end */
	struct lcore *lcores[LIMIT_LCORES];
	struct jobs *jobs[LIMIT_LCORES];
	uint32_t launched;
	int signal_fd;

	/* the loop's */
	enum node_phase phase;
	uint64_t started_ns;
	uint64_t deadline_ns;	  /* of the drain */
	uint64_t purged_ns;	  /* when freed memory was wiped last */
	uint64_t log_dropped;	  /* as counted already */
	uint32_t aborted;	  /* requests cut */
	uint64_t control_late_ns; /* from then on a missing control plane counts */
	bool is_control_up;
	bool has_watchdog;
	struct seg_ready ready; /* as published */
};

/* Runs until the node has drained; the code to exit with. */
enum node_exit node_loop(struct node *n);

#endif
