#include "dataplane/http/http_conn.h"

#include "lib/clock/clock.h"

/* Progress of sending is looked at this often within one write timeout: it is then noticed at most a quarter late. */
enum { LOOKS_PER_TIMEOUT = 4 };

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t write_timeout_ns(const struct http_conn *c)
{
	return c->server->c.conf->http_write_timeout_ms * NS_PER_MS;
}

static uint64_t read_due_ns(const struct http_conn *c)
{
	return c->x->rq.first_byte_ns + c->server->c.conf->http_read_timeout_ms * NS_PER_MS;
}

/* When the state itself times out. */
static uint64_t state_due_ns(const struct http_conn *c)
{
	switch ((enum http_conn_state)c->state) {
	case HTTP_CONN_IDLE:
		return c->active_ns + c->server->c.conf->http_idle_timeout_ms * NS_PER_MS;
	case HTTP_CONN_HEAD:
		return read_due_ns(c);
	case HTTP_CONN_BODY:
		return earlier(read_due_ns(c), c->x->rq.deadline_ns);
	case HTTP_CONN_WORK:
		return c->x->rq.deadline_ns;
	case HTTP_CONN_REPLY:
	case HTTP_CONN_CLOSING:
		break;
	}
	return UINT64_MAX;
}

static uint64_t due_ns(const struct http_conn *c)
{
	uint64_t due = state_due_ns(c);
	return c->is_watched ? earlier(due, c->tx_look_ns) : due;
}

static void arm(struct http_conn *c, uint64_t due)
{
	c->armed_ns = due;
	wheel_arm(c->server->c.wheel, &c->timer, due);
}

static void watch_sending(struct http_conn *c, uint64_t now)
{
	net_sample(c->net);
	if (c->net->tx_waiting == 0) {
		c->is_watched = false;
	} else if (!c->is_watched) {
		c->is_watched = true;
		c->tx_seen = c->net->tx_bytes;
		c->tx_moved_ns = now;
		c->tx_look_ns = now + write_timeout_ns(c) / LOOKS_PER_TIMEOUT;
	}
}

void http_timer_update(struct http_conn *c)
{
	watch_sending(c, http_server_now(c->server));
	uint64_t due = due_ns(c);
	/* A timer that fires early looks again: most requests end without touching the wheel. */
	if (due != UINT64_MAX && (!wheel_is_armed(&c->timer) || due < c->armed_ns))
		arm(c, due);
}

/* Whether the client has taken nothing for a whole write timeout. */
static bool is_stuck(struct http_conn *c, uint64_t now)
{
	uint64_t timeout = write_timeout_ns(c);
	watch_sending(c, now);
	if (!c->is_watched || now < c->tx_look_ns)
		return false;
	if (c->net->tx_bytes != c->tx_seen) {
		c->tx_seen = c->net->tx_bytes;
		c->tx_moved_ns = now;
	}
	c->tx_look_ns = earlier(c->tx_moved_ns + timeout, now + timeout / LOOKS_PER_TIMEOUT);
	return now - c->tx_moved_ns >= timeout;
}

static void expire_request(struct http_conn *c, enum label_op op, enum err_id err)
{
	tally_inc(c->server->c.tally, TALLY_IO_TIMEOUTS + op);
	http_job_cancel(c->x);
	http_fail(&c->x->rq, err, NULL);
	http_conn_drive(c);
}

static void expire(struct http_conn *c, uint64_t now)
{
	switch ((enum http_conn_state)c->state) {
	case HTTP_CONN_IDLE:
		tally_inc(c->server->c.tally, TALLY_IO_TIMEOUTS + LABEL_OP_IDLE);
		http_conn_close(c);
		return;
	case HTTP_CONN_HEAD:
		c->x->rq.head.seen = 0; /* the bytes may have moved since they were parsed */
		expire_request(c, LABEL_OP_READ, ERR_TIMEOUT_READ);
		return;
	case HTTP_CONN_BODY:
		if (now >= read_due_ns(c))
			expire_request(c, LABEL_OP_READ, ERR_TIMEOUT_READ);
		else
			expire_request(c, LABEL_OP_DEADLINE, ERR_TIMEOUT);
		return;
	case HTTP_CONN_WORK:
		expire_request(c, LABEL_OP_DEADLINE, ERR_TIMEOUT);
		return;
	case HTTP_CONN_REPLY:
	case HTTP_CONN_CLOSING:
		break;
	}
}

static void fire(struct wheel_timer *timer, uint64_t now)
{
	struct http_conn *c = CONTAINER_OF(timer, struct http_conn, timer);
	if (is_stuck(c, now)) {
		tally_inc(c->server->c.tally, TALLY_IO_TIMEOUTS + LABEL_OP_WRITE);
		tally_inc(c->server->c.tally, TALLY_REJECTED + REASON_WRITE_TIMEOUT);
		net_abort(c->net);
		return;
	}
	if (now >= state_due_ns(c)) {
		expire(c, now);
		return;
	}
	uint64_t due = due_ns(c);
	if (due != UINT64_MAX)
		arm(c, due);
}

void http_timer_init(struct http_conn *c)
{
	c->timer.link = NULL;
	c->timer.fire = fire;
}

void http_timer_stop(struct http_conn *c)
{
	wheel_disarm(c->server->c.wheel, &c->timer);
}
