/* job: work that an lcore gives to a worker thread and gets back.
 *
 *   lcore: job_take -> fill in -> job_submit --> work ring --> worker: job->run --> done ring --> lcore: job->done -> job_give
 *
 * Owner:    the lcore that took it, except between a successful job_submit and the call of `done`: then the worker.
 * Full:     job_submit returns false when the work ring is full: nothing was queued, the caller answers 429 busy
 *           and counts it. The done ring cannot be full: a job holds its place from job_take.
 * Cancel:   the lcore sets `is_canceled` when nobody waits any more; a worker may look and give up early; `done` is
 *           called all the same, exactly once.
 * Deadline: run is skipped (err = ERR_TIMEOUT) when the deadline has passed before a worker gets to the job. */
#ifndef DATAPLANE_JOB_JOB_H
#define DATAPLANE_JOB_JOB_H

#include <stdatomic.h>

#include "lib/mem/pool.h"
#include "lib/shm/seg.h"

enum { JOB_PAYLOAD = 512 };

/* What a worker thread owns and lends to each job it runs. */
struct job_bench {
	struct inflate *inflate;
	struct tally *tally;
	struct seg *seg;
};

struct job {
	void (*run)(struct job *job, struct job_bench *bench); /* on a worker thread */
	void (*done)(struct job *job);			       /* on the lcore */
	void *user; /* the lcore's; workers never touch it */
	uint64_t deadline_ns;
	enum queue_id queue;
	enum err_id err;    /* the result: ERR_NONE, or what to answer */
	const char *detail; /* a static sentence for the answer, or NULL */
	atomic_bool is_canceled;
	uint32_t lcore;
	alignas(16) uint8_t payload[JOB_PAYLOAD]; /* the service's own struct */
};

/* The jobs of one lcore. */
struct jobs {
	struct pool pool;
	struct seg *seg;
	struct tally *tally;
	uint32_t lcore;
	uint32_t in_flight;
	void (*wake_worker)(void *ctx, enum queue_id queue); /* the worker pool's; may be a no-op */
	void *wake_ctx;
};

CHECKED int jobs_init(struct jobs *js, struct seg *seg, uint32_t lcore);
void jobs_fini(struct jobs *js);

/* NULL when LIMIT_JOBS_PER_LCORE are in flight. */
struct job *job_take(struct jobs *js);
void job_give(struct jobs *js, struct job *take_job);

/* On false the job is still the caller's, and queue_dropped_total{queue} was counted. */
CHECKED bool job_submit(struct jobs *js, struct job *job);

/* Runs `done` of all that has come back; returns how many. Called by the lcore each turn. */
unsigned jobs_reap(struct jobs *js);

/* For the worker side: the job a reference names. `all` is the array of every lcore's jobs. */
struct job *job_at(struct jobs *const *all, struct seg_job_ref ref);

#endif
