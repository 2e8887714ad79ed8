#include "dataplane/http/http_conn.h"

#include "lib/base/addr.h"

enum step {
	STEP_AGAIN,    /* the state changed */
	STEP_ANSWERED, /* a whole answer was queued */
	STEP_WAIT,     /* for bytes, room, a job or a timer */
	STEP_GONE,     /* the connection was closed; do not touch it */
};

void http_conn_queue(struct http_conn *c)
{
	struct http_server *s = c->server;
	if (c->is_queued)
		return;
	TAILQ_INSERT_TAIL(&s->run, c, run);
	c->is_queued = true;
	s->run_count++;
}

static void unqueue(struct http_conn *c)
{
	if (!c->is_queued)
		return;
	TAILQ_REMOVE(&c->server->run, c, run);
	c->is_queued = false;
	c->server->run_count--;
}

void http_conn_close(struct http_conn *c)
{
	MUST_HOT(c->x == NULL);
	c->state = HTTP_CONN_CLOSING;
	unqueue(c);
	http_timer_update(c);
	net_close(c->net);
}

/* The client ended its side inside a request. */
static enum step fail_truncated(struct http_conn *c)
{
	http_fail(&c->x->rq, ERR_BAD_REQUEST, "the request ended before it was complete");
	return STEP_AGAIN;
}

static enum step step_idle(struct http_conn *c)
{
	if (net_peek(c->net).len == 0) {
		if (!net_is_eof(c->net))
			return STEP_WAIT;
		http_conn_close(c);
		return STEP_GONE;
	}
	c->x = http_exchange_begin(c);
	c->state = HTTP_CONN_HEAD;
	return STEP_AGAIN;
}

static enum step step_head(struct http_conn *c)
{
	struct http_exchange *x = c->x;
	struct http_parse *head = &x->rq.head;
	struct span in = net_peek(c->net);
	enum http_parse_status status = http_parse_feed(head, in.data, in.len);
	switch (status) {
	case HTTP_PARSE_MORE:
		if (!net_is_eof(c->net))
			return STEP_WAIT;
		return fail_truncated(c);
	case HTTP_PARSE_BAD:
		x->rq.method = (enum label_method)head->method;
		http_fail(&x->rq, (enum err_id)head->error, head->detail);
		return STEP_AGAIN;
	case HTTP_PARSE_DONE:
		break;
	}
	size_t head_bytes = head->head_bytes;
	x->rq.method = (enum label_method)head->method;
	http_admit(x);
	net_consume(c->net, head_bytes);
	return STEP_AGAIN;
}

static enum step step_body(struct http_conn *c)
{
	struct http_exchange *x = c->x;
	if (x->out_len != 0 && !http_reply_send_out(x))
		return STEP_WAIT;
	enum http_body_status status = http_body_read(x);
	switch (status) {
	case HTTP_BODY_MORE:
		if (!net_is_eof(c->net))
			return STEP_WAIT;
		return fail_truncated(c);
	case HTTP_BODY_FAILED:
		return STEP_AGAIN;
	case HTTP_BODY_DONE:
		break;
	}
	http_admit_handle(x);
	return STEP_AGAIN;
}

static enum step step_reply(struct http_conn *c)
{
	struct http_exchange *x = c->x;
	enum http_reply_status status = http_reply_send(x);
	switch (status) {
	case HTTP_REPLY_WAIT:
		return STEP_WAIT;
	case HTTP_REPLY_CUT:
		net_abort(c->net);
		return STEP_GONE;
	case HTTP_REPLY_DONE:
		break;
	}
	bool is_kept = x->is_kept && !c->server->is_draining;
	http_exchange_finish(x);
	c->x = NULL;
	c->state = HTTP_CONN_IDLE;
	c->requests++;
	c->active_ns = http_server_now(c->server);
	if (is_kept)
		return STEP_ANSWERED;
	http_conn_close(c);
	return STEP_GONE;
}

static enum step step(struct http_conn *c)
{
	switch ((enum http_conn_state)c->state) {
	case HTTP_CONN_IDLE:
		return step_idle(c);
	case HTTP_CONN_HEAD:
		return step_head(c);
	case HTTP_CONN_BODY:
		return step_body(c);
	case HTTP_CONN_REPLY:
		return step_reply(c);
	case HTTP_CONN_WORK:
	case HTTP_CONN_CLOSING:
		break;
	}
	return STEP_WAIT;
}

void http_conn_drive(struct http_conn *c)
{
	unsigned answered = 0;
	enum step result;
	unqueue(c);
	c->is_driving = true;
	do {
		result = step(c);
		if (result == STEP_ANSWERED)
			answered++;
	} while (result == STEP_AGAIN ||
		 (result == STEP_ANSWERED && answered < LIMIT_HTTP_PIPELINE_BURST));
	if (result == STEP_GONE)
		return;
	c->is_driving = false;
	if (result == STEP_ANSWERED)
		http_conn_queue(c);
	if (c->state != HTTP_CONN_CLOSING)
		net_flush(c->net);
	http_timer_update(c);
}

static bool on_open(struct net_conn *net)
{
	struct http_server *s = net->user;
	struct http_conn *c = pool_take(&s->conns);
	if (c == NULL) {
		tally_inc(s->c.tally, TALLY_REJECTED + REASON_CONN_CAP);
		return false;
	}
	uint64_t now = http_server_now(s);
	*c = (struct http_conn){
		.net = net,
		.server = s,
		.state = HTTP_CONN_IDLE,
		.generation = ++s->generation,
		.opened_ns = now,
		.active_ns = now,
	};
	net->user = c;
	http_timer_init(c);
	http_timer_update(c);
	return true;
}

static void on_ready(struct net_conn *net)
{
	http_conn_drive(net->user);
}

static void on_closed(struct net_conn *net, enum net_end end)
{
	struct http_conn *c = net->user;
	(void)end;
	unqueue(c);
	http_timer_stop(c);
	if (c->x != NULL)
		http_exchange_end(c->x);
	pool_give(&c->server->conns, c);
}

const struct net_events http_conn_events = {
	.on_open = on_open,
	.on_readable = on_ready,
	.on_writable = on_ready,
	.on_closed = on_closed,
};
