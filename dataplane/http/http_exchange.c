#include "dataplane/http/http_conn.h"

/* Until a request's route is known. */
static const struct http_route route_unknown = {.label = LABEL_ROUTE_OTHER};

struct http_exchange *http_exchange_begin(struct http_conn *c)
{
	struct http_server *s = c->server;
	struct http_exchange *x = pool_take(&s->exchanges);
	MUST(x != NULL); /* there are as many as connections */
	struct http_req *rq = &x->rq;
	rq->server = s;
	rq->conn = c;
	rq->route = &route_unknown;
	rq->method = LABEL_METHOD_OTHER;
	rq->path = rq->below = rq->query = (struct span){NULL, 0};
	rq->body.count = 0;
	rq->body.bytes = 0;
	rq->first_byte_ns = http_server_now(s);
	rq->deadline_ns = rq->first_byte_ns + s->c.conf->http_deadline_ms * 1000000ull;
	rq->corr_id[0] = '\0';
	http_parse_init(&rq->head);
	x->head_copy = NULL;
	x->job = NULL;
	x->is_body_read = false;
	x->is_inflight = false;
	x->next = NULL;
	x->finish = NULL;
	x->held.len = 0;
	x->out_len = 0;
	return x;
}

void http_exchange_end(struct http_exchange *x)
{
	struct http_server *s = x->rq.server;
	http_job_cancel(x);
	http_reply_drop(x);
	http_body_drop(x);
	if (x->head_copy != NULL)
		pool_give(&s->heads, x->head_copy);
	if (x->is_inflight)
		tally_shift(s->c.tally, TALLY_INFLIGHT_REQUESTS + x->rq.route->label, -1);
	pool_give(&s->exchanges, x);
}

void http_exchange_finish(struct http_exchange *x)
{
	struct http_req *rq = &x->rq;
	struct tally *t = rq->server->c.tally;
	enum label_route route = rq->route->label;
	tally_inc(t, tally_http_cell(route, rq->method, http_reply_status_label(x->status)));
	uint64_t spent_ns = http_server_now(rq->server) - rq->first_byte_ns;
	if (spent_ns == 0)
		rq->server->turn_answered[route]++; /* timed at the end of the turn */
	else
		tally_observe(t, TALLY_REQUEST_LATENCY + (unsigned)route * HIST_CELLS, spent_ns);
	http_exchange_end(x);
}
