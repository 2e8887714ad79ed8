#include "dataplane/http/http_conn.h"

struct job *http_job_take(struct http_req *rq)
{
	struct http_exchange *x = http_exchange_of(rq);
	MUST(x->job == NULL); /* one at a time */
	struct job *job = job_take(rq->server->c.jobs);
	if (job == NULL)
		return NULL;
	job->user = rq;
	job->deadline_ns = rq->deadline_ns;
	job->err = ERR_NONE;
	job->detail = NULL;
	atomic_store_explicit(&job->is_canceled, false, memory_order_relaxed);
	x->job = job;
	return job;
}

bool http_job_submit(struct http_req *rq, struct job *job)
{
	MUST_HOT(http_exchange_of(rq)->job == job);
	if (job_submit(rq->server->c.jobs, job))
		return true;
	http_job_give(rq->server, job);
	http_fail(rq, ERR_BUSY, NULL);
	return false;
}

struct http_req *http_job_owner(struct job *job)
{
	return job->user;
}

void http_job_give(struct http_server *server, struct job *take_job)
{
	struct http_req *rq = take_job->user;
	if (rq != NULL)
		http_exchange_of(rq)->job = NULL;
	job_give(server->c.jobs, take_job);
}

void http_job_cancel(struct http_exchange *x)
{
	struct job *job = x->job;
	if (job == NULL)
		return;
	x->job = NULL;
	job->user = NULL;
	atomic_store_explicit(&job->is_canceled, true, memory_order_relaxed);
	tally_inc(x->rq.server->c.tally, TALLY_TASKS_CANCELED + LABEL_KIND_JOB);
}
