/* node: the data plane as a whole: its parts, opened in order, and the loop of the main thread.
 *
 *   main thread, every NODE_BEAT_MS: heartbeat, workers, readiness, configuration, storage gauges and purge, shutdown
 *
 * Owner:  the main thread. It only supervises: no request ever waits for it.
 * Drain:  SIGTERM, SIGINT or the shutdown register. Phases: DRAIN until nothing is under way, then FINISH; at the
 *         deadline ABORT. */
#ifndef DATAPLANE_NODE_NODE_H
#define DATAPLANE_NODE_NODE_H

#include "lib/conf/conf_types.h"

enum node_exit {
	NODE_EXIT_DRAINED = 0,
	NODE_EXIT_ABORTED = 1, /* drained, but something was cut at the deadline */
	NODE_EXIT_CONFIG = 2,
	NODE_EXIT_START = 3,
};

/* Runs until drained. The signals the loop reads are blocked on entry, before any thread starts. */
enum node_exit node_run(const struct conf *conf);

#endif
