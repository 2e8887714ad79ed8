#include "dataplane/http/http_conn.h"

#include <string.h>

#include "dataplane/net/ip_table.h"
#include "lib/clock/clock.h"
#include "lib/inflate/inflate.h"

static const struct span no_fields = {NULL, 0};

/* Sets path, query and what lies below the route; the spans point into the head or the server's scratch. */
static bool set_target(struct http_exchange *x)
{
	struct http_req *rq = &x->rq;
	struct http_target target;
	if (rq->head.form == HTTP_PARSE_FORM_ASTERISK) {
		rq->path = SPAN_LITERAL("*");
		return true;
	}
	if (http_target_parse(&target, http_parse_span(&rq->head, rq->head.path_query),
		    rq->server->path) == HTTP_TARGET_BAD) {
		rq->head.keep_alive = false; /* others may have read another target */
		http_fail(rq, ERR_BAD_REQUEST, target.detail);
		return false;
	}
	rq->path = target.path;
	rq->query = target.query;
	return true;
}

static void set_below(struct http_req *rq)
{
	uint32_t prefix = rq->route->prefix_bytes;
	MUST_HOT(prefix <= rq->path.len);
	rq->below = (struct span){rq->path.data + prefix, rq->path.len - prefix};
}

/* Rate before anything that costs; health and version are free of it. */
static bool check_intake(struct http_exchange *x)
{
	struct http_req *rq = &x->rq;
	struct http_server *s = rq->server;
	if (rq->route->is_priority)
		return true;
	if (s->is_draining) {
		http_fail(rq, ERR_DRAINING, NULL);
		return false;
	}
	if (s->c.ips != NULL &&
		!ip_table_allow(s->c.ips, rq->conn->net->ip_entry, http_server_now(s))) {
		http_fail_for(rq, ERR_QUOTA, NULL, no_fields, REASON_IP_RATE);
		return false;
	}
	return true;
}

static bool check_method(struct http_exchange *x)
{
	struct http_req *rq = &x->rq;
	char line[128];
	if (rq->method == LABEL_METHOD_OTHER) {
		http_fail(rq, ERR_NOT_IMPLEMENTED, "this node does not know that method");
		return false;
	}
	if ((rq->route->methods & 1u << rq->method) != 0)
		return true;
	size_t len = strlen(rq->route->allow);
	MUST(len + 9 <= sizeof(line));
	memcpy(line, "Allow: ", 7);
	memcpy(line + 7, rq->route->allow, len);
	memcpy(line + 7 + len, "\r\n", 2);
	http_fail_with(rq, ERR_METHOD, NULL, (struct span){(const uint8_t *)line, len + 9});
	return false;
}

/* The earliest of the service's default and what the client asks for. False: a field is malformed. */
static bool read_deadline(struct http_req *rq, uint64_t now_ns)
{
	const struct http_parse *head = &rq->head;
	uint64_t due = rq->deadline_ns, ms;
	struct span value;
	if ((head->seen & (1u << HTTP_FIELD_REQUEST_TIMEOUT | 1u << HTTP_FIELD_DEADLINE)) == 0)
		return true;
	unsigned count = http_parse_get(head, HTTP_FIELD_REQUEST_TIMEOUT, &value);
	if (count > 1 || (count == 1 && http_field_timeout_parse(value, &ms) != 0))
		return false;
	if (count == 1 && ms < (due - rq->first_byte_ns) / NS_PER_MS)
		due = rq->first_byte_ns + ms * NS_PER_MS;
	count = http_parse_get(head, HTTP_FIELD_DEADLINE, &value);
	if (count > 1 || (count == 1 && http_field_deadline_parse(value, &ms) != 0))
		return false;
	if (count == 1) {
		uint64_t wall_ms = clock_wall_ns() / NS_PER_MS;
		uint64_t left_ms = ms > wall_ms ? ms - wall_ms : 0;
		if (left_ms < NS_PER_S && now_ns + left_ms * NS_PER_MS < due)
			due = now_ns + left_ms * NS_PER_MS;
	}
	rq->deadline_ns = due;
	return true;
}

static bool check_deadline(struct http_exchange *x)
{
	struct http_req *rq = &x->rq;
	uint64_t now = http_server_now(rq->server);
	if (!read_deadline(rq, now)) {
		http_fail(rq, ERR_BAD_REQUEST,
			"Request-Timeout is seconds, Deadline is a Unix time, each at most once");
		return false;
	}
	if (now < rq->deadline_ns)
		return true;
	tally_inc(rq->server->c.tally, TALLY_IO_TIMEOUTS + LABEL_OP_DEADLINE);
	http_fail(rq, ERR_TIMEOUT, NULL);
	return false;
}

static bool check_expect(struct http_exchange *x)
{
	struct span value;
	if (x->rq.head.minor_version == 0)
		return true;
	unsigned count = http_parse_get(&x->rq.head, HTTP_FIELD_EXPECT, &value);
	if (count == 0 || (count == 1 && span_equals_nocase(value, SPAN_LITERAL("100-continue"))))
		return true;
	http_fail(&x->rq, ERR_BAD_REQUEST, "the only expectation this node meets is 100-continue");
	return false;
}

/* What can be refused without reading the body. */
static bool check_body(struct http_exchange *x)
{
	struct http_req *rq = &x->rq;
	enum inflate_coding coding;
	struct span value;
	if (rq->route->body == HTTP_BODY_NONE) {
		http_fail(rq, ERR_BAD_REQUEST, "this path takes no body");
		return false;
	}
	if (rq->head.content_length > rq->server->c.conf->http_body_max_bytes) {
		http_fail(rq, ERR_BODY_CAP, NULL);
		return false;
	}
	unsigned count = http_parse_get(&rq->head, HTTP_FIELD_CONTENT_ENCODING, &value);
	if (count > 1 || (count == 1 && inflate_coding_parse(&coding, value) != 0)) {
		http_fail(rq, ERR_CODING, NULL);
		return false;
	}
	return true;
}

/* The receive buffer moves on while the body comes: the head must not. */
static void expect_body(struct http_exchange *x)
{
	struct http_req *rq = &x->rq;
	struct http_parse *head = &rq->head;
	struct net_conn *net = rq->conn->net;
	x->head_copy = pool_take(&rq->server->heads);
	MUST(x->head_copy != NULL); /* there are as many as exchanges */
	memcpy(x->head_copy, head->base, head->head_bytes);
	head->base = x->head_copy;
	x->body_left = head->content_length;
	http_chunked_init(&x->chunked);
	/* A client whose body is here already does not wait for the 100. */
	if (head->expect_continue && net_peek(net).len == head->head_bytes) {
		static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
		memcpy(x->out, go_on, sizeof(go_on) - 1);
		x->out_len = sizeof(go_on) - 1;
	}
	rq->conn->state = HTTP_CONN_BODY;
}

/* After a service was called: REPLY already when it has answered, else it will. */
static void follow(struct http_exchange *x, enum http_verdict verdict)
{
	struct http_conn *c = x->rq.conn;
	switch (verdict) {
	case HTTP_ANSWERED:
		MUST(c->state == HTTP_CONN_REPLY);
		break;
	case HTTP_PENDING:
		MUST(x->job != NULL);
		c->state = HTTP_CONN_WORK;
		break;
	case HTTP_CONTINUE:
		MUST(!"a handler must answer");
	}
}

void http_admit_handle(struct http_exchange *x)
{
	struct http_req *rq = &x->rq;
	if (x->head_copy != NULL) {
		/* The scratch has served other requests meanwhile. The same bytes parse as they did before. */
		if (!set_target(x))
			return;
		set_below(rq);
	}
	follow(x, rq->route->handle(rq, rq->route->service));
}

void http_admit(struct http_exchange *x)
{
	struct http_req *rq = &x->rq;
	struct http_server *s = rq->server;
	x->is_body_read = rq->head.body == HTTP_PARSE_BODY_NONE;
	http_reply_set_corr_id(x);
	if (!set_target(x))
		return;
	rq->route = s->c.route(s->c.route_ctx, rq->path);
	set_below(rq);
	tally_shift(s->c.tally, TALLY_INFLIGHT_REQUESTS + rq->route->label, 1);
	x->is_inflight = true;
	if (!check_intake(x) || !check_method(x) || !check_deadline(x) || !check_expect(x))
		return;
	if (rq->route->begin != NULL) {
		enum http_verdict verdict = rq->route->begin(rq, rq->route->service);
		if (verdict != HTTP_CONTINUE) {
			follow(x, verdict);
			return;
		}
	}
	if (x->is_body_read)
		http_admit_handle(x);
	else if (check_body(x))
		expect_body(x);
}
