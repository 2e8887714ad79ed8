/* worker: the threads that run jobs, and their supervision.
 *
 *   lcore --work ring--> worker thread: run --done ring--> lcore
 *     |  workers_wake (only a sleeping thread costs a system call)   ^
 *     +--------------------------------------------------------------+ wake_lcore
 *
 * Threads:    one per entry of the table in worker.c. Today that is the storage writer: it alone changes the index.
 * Owner:      the data plane's main thread opens, supervises and closes; workers_wake may be called by any thread.
 * Death:      a thread that ends (a job called pthread_exit, or it was canceled) is noticed by the next
 *             workers_supervise: the job it had is answered ERR_INTERNAL, and a new thread starts after a jittered,
 *             doubling pause (lib/base/backoff.h, LIMIT_RESTART_*).
 * Invariants: `done` of every submitted job is reached exactly once. */
#ifndef DATAPLANE_WORKER_WORKER_H
#define DATAPLANE_WORKER_WORKER_H

#include "dataplane/job/job.h"

/* One job longer than this counts as a stalled worker. */
enum { WORKER_STALL_MS = 10000 };

struct workers;

struct workers_conf {
	struct seg *seg;
	struct jobs *const *jobs; /* by lcore; outlives the workers */
	void (*wake_lcore)(void *ctx, uint32_t lcore);
	void *wake_ctx;
};

/* Starts the threads. On failure returns -errno and fills `why`. */
CHECKED int workers_open(
	struct workers **out, const struct workers_conf *conf, char *why, size_t why_size);

/* Lets the threads finish the job they have, and ends them. What is still queued stays undone. */
void workers_close(struct workers *ws);

/* For struct jobs: there is something in the queue; ctx is the workers. */
void workers_wake(void *ctx, enum queue_id queue);

/* Looks after the threads; call it at least every 50 ms. */
void workers_supervise(struct workers *ws, uint64_t now_ns);

/* How many threads are not running now, and how many have been at one job for longer than WORKER_STALL_MS. */
unsigned workers_missing(const struct workers *ws);
unsigned workers_stalled(const struct workers *ws, uint64_t now_ns);

#endif
