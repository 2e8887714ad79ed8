#include "dataplane/job/job.h"

int jobs_init(struct jobs *js, struct seg *seg, uint32_t lcore)
{
	MUST(lcore < LIMIT_LCORES);
	*js = (struct jobs){.seg = seg, .tally = &seg->tally[lcore], .lcore = lcore};
	return pool_init(&js->pool, "jobs", LIMIT_JOBS_PER_LCORE, sizeof(struct job), CACHE_LINE);
}

void jobs_fini(struct jobs *js)
{
	pool_fini(&js->pool);
}

struct job *job_take(struct jobs *js)
{
	struct job *job = pool_take(&js->pool);
	if (job == NULL)
		return NULL;
	job->run = NULL;
	job->done = NULL;
	job->user = NULL;
	job->deadline_ns = 0;
	job->err = ERR_NONE;
	job->detail = NULL;
	atomic_store_explicit(&job->is_canceled, false, memory_order_relaxed);
	job->lcore = js->lcore;
	return job;
}

void job_give(struct jobs *js, struct job *take_job)
{
	pool_give(&js->pool, take_job);
}

bool job_submit(struct jobs *js, struct job *job)
{
	struct rte_ring *work = seg_ring(js->seg, job->queue, 0);
	struct seg_job_ref ref = {.lcore = js->lcore, .index = pool_index(&js->pool, job)};
	MUST(work != NULL && job->run != NULL && job->done != NULL);
	if (!ring_push(work, &ref, sizeof(ref))) {
		tally_inc(js->tally, TALLY_QUEUE_DROPPED + job->queue);
		return false;
	}
	js->in_flight++;
	if (js->wake_worker != NULL)
		js->wake_worker(js->wake_ctx, job->queue);
	return true;
}

unsigned jobs_reap(struct jobs *js)
{
	if (js->in_flight == 0)
		return 0;
	struct rte_ring *done = seg_ring(js->seg, QUEUE_DONE, js->lcore);
	struct seg_job_ref ref;
	unsigned count = 0;
	/* Each job once: what `done` submits anew comes back in a later turn at the earliest. */
	for (uint32_t most = js->in_flight; count < most; count++) {
		if (!ring_pop(done, &ref, sizeof(ref)))
			break;
		MUST(ref.lcore == js->lcore && pool_is_taken(&js->pool, ref.index));
		struct job *job = pool_at(&js->pool, ref.index);
		js->in_flight--;
		job->done(job);
	}
	return count;
}

struct job *job_at(struct jobs *const *all, struct seg_job_ref ref)
{
	MUST(ref.lcore < LIMIT_LCORES && all[ref.lcore] != NULL);
	const struct pool *pool = &all[ref.lcore]->pool;
	MUST(ref.index < pool->capacity);
	return pool_at(pool, ref.index);
}
