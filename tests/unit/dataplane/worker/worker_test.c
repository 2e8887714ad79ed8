#include "dataplane/worker/worker.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/clock/clock.h"
#include "tests/unit/unit.h"

static char node[32];

/* One lcore (number 3) played by the test's own thread. */
struct rig {
	struct seg *seg;
	struct jobs jobs;
	struct jobs *all[LIMIT_LCORES];
	struct workers *workers;
	atomic_uint wakes;
	unsigned done; /* calls of `done` */
	enum err_id last_err;
};

/* The payload of the test's jobs. */
struct work {
	struct rig *rig;
	uint64_t in;
	uint64_t out;
	atomic_bool *gate; /* waited for, when set */
};

static void wake_lcore(void *ctx, uint32_t lcore)
{
	struct rig *r = ctx;
	CU_ASSERT_EQUAL(lcore, 3);
	atomic_fetch_add(&r->wakes, 1);
}

static void rig_open(struct rig *r)
{
	char why[256];
	*r = (struct rig){0};
	snprintf(node, sizeof(node), "unit-worker-%d", getpid());
	CU_ASSERT_EQUAL_FATAL(seg_attach(&r->seg, node, SHM_DATAPLANE, why, sizeof(why)), 0);
	CU_ASSERT_EQUAL_FATAL(jobs_init(&r->jobs, r->seg, 3), 0);
	r->all[3] = &r->jobs;
	struct workers_conf conf = {
		.seg = r->seg, .jobs = r->all, .wake_lcore = wake_lcore, .wake_ctx = r};
	CU_ASSERT_EQUAL_FATAL(workers_open(&r->workers, &conf, why, sizeof(why)), 0);
	r->jobs.wake_worker = workers_wake;
	r->jobs.wake_ctx = r->workers;
}

static void rig_close(struct rig *r)
{
	workers_close(r->workers);
	jobs_fini(&r->jobs);
	seg_detach(r->seg);
	seg_unlink(node);
}

static void done(struct job *job)
{
	struct work *w = (struct work *)job->payload;
	struct rig *r = w->rig;
	r->done++;
	r->last_err = job->err;
	if (job->err == ERR_NONE)
		CU_ASSERT_EQUAL(w->out, w->in * 2);
	job_give(&r->jobs, job);
}

static void run_double(struct job *job, struct job_bench *bench)
{
	struct work *w = (struct work *)job->payload;
	CU_ASSERT_PTR_NOT_NULL(bench->inflate);
	CU_ASSERT_PTR_NOT_NULL(bench->tally);
	while (w->gate != NULL && !atomic_load(w->gate))
		usleep(100);
	w->out = w->in * 2;
}

static void run_exit(struct job *job, struct job_bench *bench)
{
	(void)job;
	(void)bench;
	pthread_exit(NULL);
}

static struct job *make(
	struct rig *r, uint64_t in, void (*run)(struct job *job, struct job_bench *bench))
{
	struct job *job = job_take(&r->jobs);
	CU_ASSERT_PTR_NOT_NULL_FATAL(job);
	*(struct work *)job->payload = (struct work){.rig = r, .in = in};
	job->queue = QUEUE_STORAGE_WORK;
	job->run = run;
	job->done = done;
	return job;
}

/* Reaps (and supervises) until `count` jobs are done; false after ten seconds. */
static bool reap_until(struct rig *r, unsigned count)
{
	uint64_t end_ns = clock_now_ns() + 10 * NS_PER_S;
	while (r->done < count && clock_now_ns() < end_ns) {
		if (jobs_reap(&r->jobs) == 0)
			usleep(200);
		workers_supervise(r->workers, clock_now_ns());
	}
	return r->done == count;
}

/* Many jobs through a worker that falls asleep again and again: each comes back once, with its own result. */
static void test_round_trips(void)
{
	struct rig r;
	rig_open(&r);
	for (unsigned i = 0; i < 50; i++) {
		CU_ASSERT_TRUE(job_submit(&r.jobs, make(&r, i, run_double)));
		CU_ASSERT_TRUE_FATAL(reap_until(&r, i + 1));
	}
	for (unsigned i = 0; i < 500; i++)
		CU_ASSERT_TRUE(job_submit(&r.jobs, make(&r, i, run_double)));
	CU_ASSERT_TRUE(reap_until(&r, 550));
	CU_ASSERT_TRUE(atomic_load(&r.wakes) > 0);
	CU_ASSERT_EQUAL(r.jobs.in_flight, 0);
	CU_ASSERT_EQUAL(r.jobs.pool.in_use, 0);
	rig_close(&r);
}

/* a job whose deadline has passed in the queue is not run; one whose deadline is ahead is. */
static void test_deadline(void)
{
	struct rig r;
	rig_open(&r);
	struct job *job = make(&r, 1, run_exit);
	job->deadline_ns = clock_now_ns() - 1;
	CU_ASSERT_TRUE(job_submit(&r.jobs, job));
	CU_ASSERT_TRUE(reap_until(&r, 1));
	CU_ASSERT_EQUAL(r.last_err, ERR_TIMEOUT);
	job = make(&r, 1, run_double);
	job->deadline_ns = clock_now_ns() + 60 * NS_PER_S;
	CU_ASSERT_TRUE(job_submit(&r.jobs, job));
	CU_ASSERT_TRUE(reap_until(&r, 2));
	CU_ASSERT_EQUAL(r.last_err, ERR_NONE);
	CU_ASSERT_EQUAL(workers_missing(r.workers), 0);
	rig_close(&r);
}

/* Nobody waits any more: not run, still handed back. */
static void test_canceled(void)
{
	struct rig r;
	rig_open(&r);
	unsigned cell = TALLY_TASKS_CANCELED + LABEL_KIND_JOB;
	uint64_t before = tally_sum(r.seg->tally, cell);
	atomic_bool gate = false;
	struct job *first = make(&r, 1, run_double);
	((struct work *)first->payload)->gate = &gate;
	struct job *second = make(&r, 2, run_exit);
	CU_ASSERT_TRUE(job_submit(&r.jobs, first));
	CU_ASSERT_TRUE(job_submit(&r.jobs, second));
	atomic_store(&second->is_canceled, true);
	atomic_store(&gate, true);
	CU_ASSERT_TRUE(reap_until(&r, 2));
	CU_ASSERT_EQUAL(r.last_err, ERR_CANCELED);
	CU_ASSERT_EQUAL(tally_sum(r.seg->tally, cell), before + 1);
	rig_close(&r);
}

static bool wait_for_missing(struct rig *r, unsigned missing)
{
	uint64_t end_ns = clock_now_ns() + 10 * NS_PER_S;
	while (workers_missing(r->workers) != missing && clock_now_ns() < end_ns) {
		workers_supervise(r->workers, clock_now_ns());
		usleep(200);
	}
	return workers_missing(r->workers) == missing;
}

/* a worker that dies in a job: that job fails once, the others wait and are done by the next thread, which is
 * counted; the pool says what is missing meanwhile. */
static void test_death_and_restart(void)
{
	struct rig r;
	rig_open(&r);
	unsigned cell = TALLY_TASKS_SPAWNED + LABEL_KIND_WORKER;
	uint64_t before = tally_sum(r.seg->tally, cell);
	CU_ASSERT_TRUE(job_submit(&r.jobs, make(&r, 1, run_exit)));
	CU_ASSERT_TRUE(wait_for_missing(&r, 1));
	for (unsigned i = 0; i < 10; i++)
		CU_ASSERT_TRUE(job_submit(&r.jobs, make(&r, i, run_double)));
	CU_ASSERT_EQUAL(jobs_reap(&r.jobs), 1);
	CU_ASSERT_EQUAL(r.last_err, ERR_INTERNAL);
	CU_ASSERT_TRUE(wait_for_missing(&r, 0));
	CU_ASSERT_TRUE(reap_until(&r, 11));
	CU_ASSERT_EQUAL(r.last_err, ERR_NONE);
	CU_ASSERT_EQUAL(tally_sum(r.seg->tally, cell), before + 1);
	struct events_cursor cur = events_tail(&r.seg->events, 1);
	struct event ev;
	uint64_t lost = 0;
	CU_ASSERT_EQUAL(events_next(&r.seg->events, &cur, &ev, &lost), 1);
	CU_ASSERT_EQUAL(ev.kind, EVENT_WORKER_RESTARTED);
	rig_close(&r);
}

/* A job that takes too long is seen as a stalled worker; time is the caller's. */
static void test_stalled(void)
{
	struct rig r;
	rig_open(&r);
	atomic_bool gate = false;
	struct job *job = make(&r, 1, run_double);
	((struct work *)job->payload)->gate = &gate;
	CU_ASSERT_EQUAL(workers_stalled(r.workers, UINT64_MAX), 0);
	CU_ASSERT_TRUE(job_submit(&r.jobs, job));
	uint64_t end_ns = clock_now_ns() + 10 * NS_PER_S;
	while (workers_stalled(r.workers, UINT64_MAX) == 0 && clock_now_ns() < end_ns)
		usleep(200);
	CU_ASSERT_EQUAL(workers_stalled(r.workers, UINT64_MAX), 1);
	CU_ASSERT_EQUAL(workers_stalled(r.workers, clock_now_ns()), 0);
	atomic_store(&gate, true);
	CU_ASSERT_TRUE(reap_until(&r, 1));
	rig_close(&r);
}

static const struct unit_case cases[] = {
	{"round_trips", test_round_trips},
	{"deadline", test_deadline},
	{"canceled", test_canceled},
	{"death_and_restart", test_death_and_restart},
	{"stalled", test_stalled},
};

UNIT_MAIN("dataplane/worker", cases)
