#include "dataplane/job/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static char node[32];
static unsigned done_count;
static unsigned wake_count;
static enum queue_id woken_queue;

static struct seg *attach(void)
{
	struct seg *seg;
	char why[256];
	snprintf(node, sizeof(node), "unit-job-%d", getpid());
	CU_ASSERT_EQUAL_FATAL(seg_attach(&seg, node, SHM_DATAPLANE, why, sizeof(why)), 0);
	done_count = wake_count = 0;
	return seg;
}

static void detach(struct seg *seg)
{
	seg_detach(seg);
	seg_unlink(node);
}

static void run(struct job *job, struct job_bench *bench)
{
	(void)job;
	(void)bench;
}

static void done(struct job *job)
{
	struct jobs *js = job->user;
	done_count++;
	job_give(js, job);
}

static void on_wake(void *ctx, enum queue_id queue)
{
	(void)ctx;
	wake_count++;
	woken_queue = queue;
}

static struct job *make(struct jobs *js)
{
	struct job *job = job_take(js);
	if (job == NULL)
		return NULL;
	job->run = run;
	job->done = done;
	job->user = js;
	job->queue = QUEUE_STORAGE_WORK;
	return job;
}

/* What a worker does, without the thread. */
static unsigned work_off(struct seg *seg, struct jobs *js)
{
	struct jobs *const all[LIMIT_LCORES] = {[2] = js};
	struct seg_job_ref ref;
	unsigned count = 0;
	while (ring_pop(seg_ring(seg, QUEUE_STORAGE_WORK, 0), &ref, sizeof(ref))) {
		struct job *job = job_at(all, ref);
		job->run(job, NULL);
		CU_ASSERT_TRUE(ring_push(seg_ring(seg, QUEUE_DONE, ref.lcore), &ref, sizeof(ref)));
		count++;
	}
	return count;
}

static void test_round_trip(void)
{
	struct seg *seg = attach();
	struct jobs js;
	CU_ASSERT_EQUAL_FATAL(jobs_init(&js, seg, 2), 0);
	js.wake_worker = on_wake;
	struct job *job = make(&js);
	CU_ASSERT_TRUE(job_submit(&js, job));
	CU_ASSERT_EQUAL(js.in_flight, 1);
	CU_ASSERT_EQUAL(wake_count, 1);
	CU_ASSERT_EQUAL(woken_queue, QUEUE_STORAGE_WORK);
	CU_ASSERT_EQUAL(jobs_reap(&js), 0);
	CU_ASSERT_EQUAL(work_off(seg, &js), 1);
	CU_ASSERT_EQUAL(jobs_reap(&js), 1);
	CU_ASSERT_EQUAL(done_count, 1);
	CU_ASSERT_EQUAL(js.in_flight, 0);
	CU_ASSERT_EQUAL(js.pool.in_use, 0);
	jobs_fini(&js);
	detach(seg);
}

/* storage.work takes exactly 512; one more is refused at once, counted, and nothing of it is queued. */
static void test_queue_at_capacity_and_one_past(void)
{
	struct seg *seg = attach();
	struct jobs js;
	CU_ASSERT_EQUAL_FATAL(jobs_init(&js, seg, 2), 0);
	unsigned cell = TALLY_QUEUE_DROPPED + QUEUE_STORAGE_WORK;
	uint64_t before = tally_get(js.tally, cell);
	for (unsigned i = 0; i < 512; i++)
		CU_ASSERT_TRUE_FATAL(job_submit(&js, make(&js)));
	CU_ASSERT_EQUAL(tally_get(js.tally, cell), before);
	struct job *extra = make(&js);
	CU_ASSERT_FALSE(job_submit(&js, extra));
	CU_ASSERT_EQUAL(tally_get(js.tally, cell), before + 1);
	CU_ASSERT_EQUAL(js.in_flight, 512);
	job_give(&js, extra);
	/* What was in flight is all done, and only that. */
	CU_ASSERT_EQUAL(work_off(seg, &js), 512);
	CU_ASSERT_EQUAL(jobs_reap(&js), 512);
	CU_ASSERT_EQUAL(done_count, 512);
	CU_ASSERT_TRUE(job_submit(&js, make(&js)));
	jobs_fini(&js);
	detach(seg);
}

/* LIMIT_JOBS_PER_LCORE can be taken, one more not; all of them find a place in the done ring. */
static void test_jobs_at_limit_and_one_past(void)
{
	struct seg *seg = attach();
	struct jobs js;
	CU_ASSERT_EQUAL_FATAL(jobs_init(&js, seg, 2), 0);
	for (unsigned i = 0; i < 2; i++) {
		for (unsigned n = 0; n < LIMIT_JOBS_PER_LCORE / 2; n++)
			CU_ASSERT_TRUE_FATAL(job_submit(&js, make(&js)));
		CU_ASSERT_EQUAL(work_off(seg, &js), LIMIT_JOBS_PER_LCORE / 2);
	}
	CU_ASSERT_PTR_NULL(job_take(&js));
	CU_ASSERT_EQUAL(jobs_reap(&js), LIMIT_JOBS_PER_LCORE);
	CU_ASSERT_PTR_NOT_NULL(job_take(&js));
	jobs_fini(&js);
	detach(seg);
}

static void done_again(struct job *job)
{
	struct jobs *js = job->user;
	done_count++;
	job->done = done;
	CU_ASSERT_TRUE(job_submit(js, job));
}

/* A job may be sent off again from its own `done`; a taken job is clean. */
static void test_submit_from_done(void)
{
	struct seg *seg = attach();
	struct jobs js;
	CU_ASSERT_EQUAL_FATAL(jobs_init(&js, seg, 2), 0);
	struct job *job = make(&js);
	job->done = done_again;
	job->err = ERR_TIMEOUT;
	job->detail = "x";
	atomic_store(&job->is_canceled, true);
	CU_ASSERT_TRUE(job_submit(&js, job));
	CU_ASSERT_EQUAL(work_off(seg, &js), 1);
	CU_ASSERT_EQUAL(jobs_reap(&js), 1);
	CU_ASSERT_EQUAL(js.in_flight, 1);
	CU_ASSERT_EQUAL(work_off(seg, &js), 1);
	CU_ASSERT_EQUAL(jobs_reap(&js), 1);
	CU_ASSERT_EQUAL(done_count, 2);
	struct job *clean = job_take(&js);
	CU_ASSERT_EQUAL(clean->err, ERR_NONE);
	CU_ASSERT_PTR_NULL(clean->detail);
	CU_ASSERT_FALSE(atomic_load(&clean->is_canceled));
	jobs_fini(&js);
	detach(seg);
}

static const struct unit_case cases[] = {
	{"round_trip", test_round_trip},
	{"queue_at_capacity_and_one_past", test_queue_at_capacity_and_one_past},
	{"jobs_at_limit_and_one_past", test_jobs_at_limit_and_one_past},
	{"submit_from_done", test_submit_from_done},
};

UNIT_MAIN("dataplane/job", cases)
