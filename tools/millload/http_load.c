#include "tools/millload/http_load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "lib/clock/clock.h"
#include "tools/millload/request.h"
#include "tools/millload/response.h"

enum {
	HTTP_LOAD_OPENING_MAX = 512, /* a listener's backlog must hold them */
	HTTP_LOAD_PAUSE_MS = 10,
	HTTP_LOAD_COPY_BYTES = 1024, /* longer requests go by reference */
};

enum client_state {
	CLIENT_WAITING,
	CLIENT_PAUSED,
	CLIENT_CONNECTING,
	CLIENT_OPEN,
	CLIENT_RESTING,
};

enum client_list { CLIENT_LIST_NONE, CLIENT_LIST_WAITING, CLIENT_LIST_FREE };

/* What one target's requests are, and what they must bring. */
struct aim {
	const struct target *target;
	struct span request;
	int64_t length; /* of the body; OPTIONS_ANY until the first answer */
};

struct client {
	struct http_load *load;
	struct net_conn *conn; /* CONNECTING, OPEN */
	struct aim *aim;
	uint64_t *from_ns; /* ring of --pipeline: when the requests in flight began */
	uint64_t moved_ns; /* when something went on last: the start of the timeout */
	struct response response;
	uint16_t first; /* of the ring */
	uint16_t in_flight;
	uint16_t queued; /* of those in flight, given to the net */
	uint8_t state;	 /* enum client_state */
	uint8_t list;	 /* enum client_list */
	bool is_wrong;	 /* the body of the answer that is coming differs */
	struct wheel_timer timer;
	TAILQ_ENTRY(client) link;
};

TAILQ_HEAD(clients, client);

struct http_load {
	struct load pub;
	struct client *clients;
	uint64_t *rings;
	struct clients waiting; /* to be opened */
	struct clients free;	/* open loop: those that can take a request */
	uint64_t opening;
	uint64_t open;
	struct aim aims[OPTIONS_TARGETS];
	struct span expect_body;
	bool has_expect_body;
	bool is_head;
	bool is_started; /* the pace has let something begin */
};

static struct load_env *env_of(const struct client *c)
{
	return c->load->pub.env;
}

static const struct options *options_of(const struct client *c)
{
	return env_of(c)->options;
}

static void put_in(struct client *c, enum client_list list)
{
	struct http_load *l = c->load;
	if (c->list == list)
		return;
	if (c->list == CLIENT_LIST_WAITING)
		TAILQ_REMOVE(&l->waiting, c, link);
	else if (c->list == CLIENT_LIST_FREE)
		TAILQ_REMOVE(&l->free, c, link);
	c->list = (uint8_t)list;
	if (list == CLIENT_LIST_WAITING)
		TAILQ_INSERT_TAIL(&l->waiting, c, link);
	else if (list == CLIENT_LIST_FREE)
		TAILQ_INSERT_TAIL(&l->free, c, link);
}

static void arm(struct client *c, uint64_t due_ns)
{
	wheel_arm(env_of(c)->wheel, &c->timer, due_ns);
}

static uint64_t timeout_ns(const struct client *c)
{
	return options_of(c)->timeout_ms * NS_PER_MS;
}

/* The timer is armed for the first thing that can be late, and looks again when it fires. */
static void watch(struct client *c)
{
	if (!wheel_is_armed(&c->timer))
		arm(c, c->moved_ns + timeout_ns(c));
}

static void set_state(struct client *c, enum client_state state)
{
	struct http_load *l = c->load;
	if (c->state == CLIENT_CONNECTING)
		l->opening--;
	else if (c->state == CLIENT_OPEN)
		l->open--;
	c->state = (uint8_t)state;
	if (state == CLIENT_CONNECTING)
		l->opening++;
	else if (state == CLIENT_OPEN)
		l->open++;
}

/* The net's connection is no longer ours. */
static struct net_conn *part(struct client *c)
{
	struct net_conn *conn = c->conn;
	c->conn = NULL;
	if (conn != NULL)
		conn->user = NULL;
	return conn;
}

/* Gives the net what has begun. */
static void push(struct client *c)
{
	struct span request = c->aim->request;
	while (c->queued < c->in_flight) {
		bool is_small = request.len <= HTTP_LOAD_COPY_BYTES;
		struct net_ref ref = {.data = request.data, .len = (uint32_t)request.len};
		if (!(is_small ? net_send_copy(c->conn, request.data, request.len)
			       : net_send_ref(c->conn, &ref)))
			return;
		c->queued++;
	}
}

/* One request begins on this connection, or with one that is to be opened. */
static void begin(struct client *c)
{
	struct load_env *env = env_of(c);
	uint64_t now_ns = *env->now_ns;
	unsigned depth = (unsigned)env->options->pipeline;
	unsigned at = c->first + c->in_flight;
	c->from_ns[at >= depth ? at - depth : at] = pace_begin(&env->pace, now_ns);
	if (c->in_flight++ == 0)
		c->moved_ns = now_ns;
	env->account.sent++;
	watch(c);
}

static void free_or_not(struct client *c)
{
	bool can = c->state == CLIENT_RESTING ||
		   (c->state == CLIENT_OPEN && c->in_flight < options_of(c)->pipeline &&
			   c->queued == c->in_flight);
	put_in(c, can ? CLIENT_LIST_FREE : CLIENT_LIST_NONE);
}

/* An open connection begins what it may: all that fits in a closed loop. In an open loop it is the turn that gives
 * requests to those that are free. */
static void refill(struct client *c)
{
	struct load_env *env = env_of(c);
	push(c);
	if (env->pace.rate != 0) {
		free_or_not(c);
		return;
	}
	while (c->in_flight < env->options->pipeline && c->queued == c->in_flight &&
		pace_may_begin(&env->pace)) {
		begin(c);
		push(c);
	}
}

static void wait_to_open(struct client *c)
{
	set_state(c, CLIENT_WAITING);
	put_in(c, CLIENT_LIST_WAITING);
}

/* --per-request: the connection of the last request is gone. */
static void rest(struct client *c)
{
	set_state(c, CLIENT_RESTING);
	put_in(c, CLIENT_LIST_FREE);
}

/* What was in flight has failed, and so has the connection. */
static void fail(struct client *c, enum failure kind)
{
	struct load_env *env = env_of(c);
	account_fail(&env->account, kind, c->in_flight);
	env->account.conn_failed[kind]++;
	c->in_flight = c->queued = 0;
	set_state(c, CLIENT_PAUSED);
	put_in(c, CLIENT_LIST_NONE);
	arm(c, *env->now_ns + HTTP_LOAD_PAUSE_MS * NS_PER_MS);
}

static void drop(struct client *c, enum failure kind)
{
	struct net_conn *conn = part(c);
	fail(c, kind);
	if (conn != NULL)
		net_abort(conn);
}

/* The connection ends without harm to any request. */
static void finish(struct client *c)
{
	struct net_conn *conn = part(c);
	c->queued = 0;
	wheel_disarm(env_of(c)->wheel, &c->timer);
	if (options_of(c)->is_per_request)
		rest(c);
	else
		wait_to_open(c);
	if (conn != NULL)
		net_close(conn);
}

static void on_timer(struct wheel_timer *timer, uint64_t now_ns)
{
	struct client *c = CONTAINER_OF(timer, struct client, timer);
	if (c->state == CLIENT_PAUSED) {
		if (options_of(c)->is_per_request)
			rest(c);
		else
			wait_to_open(c);
		return;
	}
	if (c->in_flight == 0 && c->state != CLIENT_CONNECTING)
		return;
	if (now_ns < c->moved_ns + timeout_ns(c))
		watch(c);
	else if (c->state == CLIENT_OPEN)
		drop(c, FAILURE_TIMEOUT);
	else
		drop(c, c->state == CLIENT_WAITING ? FAILURE_NO_ROOM : FAILURE_CONNECT_TIMEOUT);
}

static bool on_open(struct net_conn *conn)
{
	struct client *c = conn->user;
	if (c == NULL)
		return false;
	env_of(c)->account.opened++;
	c->moved_ns = *env_of(c)->now_ns;
	response_init(&c->response);
	set_state(c, CLIENT_OPEN);
	if (options_of(c)->is_per_request)
		push(c);
	else
		refill(c);
	net_flush(conn);
	return true;
}

static void compare(struct client *c)
{
	const struct response *r = &c->response;
	const struct span *want = &c->load->expect_body;
	uint64_t at = r->at - r->piece.len;
	if (r->piece.len != 0 &&
		(r->at > want->len || memcmp(want->data + at, r->piece.data, r->piece.len) != 0))
		c->is_wrong = true;
}

/* An answer is whole: is it what was expected? */
static void judge(struct client *c)
{
	struct load_env *env = env_of(c);
	const struct response *r = &c->response;
	uint64_t from_ns = c->from_ns[c->first];
	c->first = (uint16_t)(c->first + 1u == env->options->pipeline ? 0 : c->first + 1);
	c->in_flight--;
	c->queued--;
	env->account.status[r->status]++;
	if (r->status == env->options->expect_status && c->aim->length == OPTIONS_ANY)
		c->aim->length = (int64_t)r->length;
	if (UNLIKELY(r->status != env->options->expect_status))
		account_fail(&env->account, FAILURE_STATUS, 1);
	else if (UNLIKELY(r->length != (uint64_t)c->aim->length && !c->load->is_head))
		account_fail(&env->account, FAILURE_LENGTH, 1);
	else if (UNLIKELY(c->is_wrong ||
			  (c->load->has_expect_body && r->length != c->load->expect_body.len)))
		account_fail(&env->account, FAILURE_BODY, 1);
	else
		load_answered(env, from_ns);
	c->is_wrong = false;
}

enum taken { TAKEN_GOING_ON, TAKEN_LAST, TAKEN_BAD };

/* Reads the answers in `in`. `used` is set. */
static enum taken take(struct client *c, struct span in, size_t *used)
{
	struct response *r = &c->response;
	*used = 0;
	while (*used < in.len) {
		if (c->queued == 0) {
			r->fault = FAILURE_UNASKED;
			return TAKEN_BAD;
		}
		size_t len;
		enum response_verdict verdict = response_feed(
			r, (struct span){in.data + *used, in.len - *used}, c->load->is_head, &len);
		*used += len;
		if (verdict == RESPONSE_BAD)
			return TAKEN_BAD;
		env_of(c)->account.body_bytes += r->piece.len;
		if (c->load->has_expect_body)
			compare(c);
		if (verdict == RESPONSE_MORE)
			return TAKEN_GOING_ON;
		judge(c);
		if (r->is_last || options_of(c)->is_per_request)
			return TAKEN_LAST;
	}
	return TAKEN_GOING_ON;
}

/* Reads all there is. TAKEN_LAST, TAKEN_BAD: nothing more comes from this connection. */
static enum taken take_all(struct client *c)
{
	for (;;) {
		struct span in = net_peek(c->conn);
		if (in.len == 0)
			return TAKEN_GOING_ON;
		size_t used;
		enum taken taken = take(c, in, &used);
		net_consume(c->conn, used);
		/* Nothing used: the start of a head, which the net joins with what follows. */
		if (taken != TAKEN_GOING_ON || used == 0)
			return taken;
	}
}

static void on_readable(struct net_conn *conn)
{
	struct client *c = conn->user;
	if (c == NULL)
		return;
	c->moved_ns = *env_of(c)->now_ns;
	enum taken taken = take_all(c);
	if (UNLIKELY(taken == TAKEN_BAD)) {
		drop(c, c->response.fault);
	} else if (taken == TAKEN_LAST || net_is_eof(conn)) {
		/* Requests behind the last answer, or an answer that was cut. */
		if (UNLIKELY(c->in_flight != 0))
			drop(c, FAILURE_CLOSED);
		else
			finish(c);
	} else {
		refill(c);
		net_flush(conn);
	}
}

static void on_writable(struct net_conn *conn)
{
	struct client *c = conn->user;
	if (c == NULL)
		return;
	if (options_of(c)->is_per_request)
		push(c);
	else
		refill(c);
	net_flush(conn);
}

static enum failure failure_of(const struct client *c, enum net_end end)
{
	bool is_opening = c->state == CLIENT_CONNECTING;
	switch (end) {
	case NET_END_REFUSED:
		return FAILURE_CONNECT_REFUSED;
	case NET_END_TIMEOUT:
		return is_opening ? FAILURE_CONNECT_TIMEOUT : FAILURE_TIMEOUT;
	case NET_END_CLOSED:
		return is_opening ? FAILURE_CONNECT_RESET : FAILURE_CLOSED;
	case NET_END_RESET:
	case NET_END_ABORTED:
		break;
	}
	return is_opening ? FAILURE_CONNECT_RESET : FAILURE_RESET;
}

static void on_closed(struct net_conn *conn, enum net_end end)
{
	struct client *c = conn->user;
	if (c == NULL)
		return;
	enum failure kind = failure_of(c, end);
	(void)part(c);
	fail(c, kind);
}

static const struct net_events events = {
	.on_open = on_open,
	.on_readable = on_readable,
	.on_writable = on_writable,
	.on_closed = on_closed,
};

/* False: there is no room now. */
static bool connect_one(struct client *c)
{
	struct load_env *env = env_of(c);
	const struct addr *local = sources_next(&env->options->sources);
	c->conn = net_connect(env->net, local, &c->aim->target->at, &events, c);
	if (c->conn == NULL)
		return false;
	put_in(c, CLIENT_LIST_NONE);
	set_state(c, CLIENT_CONNECTING);
	if (!options_of(c)->is_per_request)
		c->moved_ns = *env->now_ns;
	watch(c);
	return true;
}

static void open_more(struct http_load *l)
{
	struct client *c;
	while (l->opening < HTTP_LOAD_OPENING_MAX && (c = TAILQ_FIRST(&l->waiting)) != NULL) {
		if (connect_one(c))
			continue;
		/* A source without a free port is behind the others in the queue; one turn tries one of them. */
		put_in(c, CLIENT_LIST_NONE);
		put_in(c, CLIENT_LIST_WAITING);
		return;
	}
}

static void begin_free(struct http_load *l)
{
	struct load_env *env = l->pub.env;
	struct client *c;
	while (pace_may_begin(&env->pace) && (c = TAILQ_FIRST(&l->free)) != NULL) {
		put_in(c, CLIENT_LIST_NONE);
		begin(c);
		if (c->state == CLIENT_RESTING) {
			wait_to_open(c);
			continue;
		}
		push(c);
		net_flush(c->conn);
		free_or_not(c);
	}
}

/* The pace has begun: connections that were opened before it have waited for that. */
static void start(struct http_load *l)
{
	const struct options *o = l->pub.env->options;
	l->is_started = true;
	for (uint64_t i = 0; i < o->connections; i++) {
		struct client *c = &l->clients[i];
		if (c->state != CLIENT_OPEN)
			continue;
		refill(c);
		net_flush(c->conn);
	}
}

static void turn(struct load *load)
{
	struct http_load *l = (struct http_load *)load;
	if (!l->is_started && pace_may_begin(&load->env->pace))
		start(l);
	begin_free(l);
	open_more(l);
}

static uint64_t count_open(const struct load *load)
{
	const struct http_load *l = (const struct http_load *)load;
	return load->env->options->is_per_request ? load->env->options->connections : l->open;
}

static uint64_t count_in_flight(const struct load *load)
{
	const struct http_load *l = (const struct http_load *)load;
	uint64_t sum = 0;
	for (uint64_t i = 0; i < load->env->options->connections; i++)
		sum += l->clients[i].in_flight;
	return sum;
}

static void close_load(struct load *load)
{
	struct http_load *l = (struct http_load *)load;
	for (uint64_t i = 0; i < load->env->options->connections && l->clients != NULL; i++)
		wheel_disarm(load->env->wheel, &l->clients[i].timer);
	for (unsigned i = 0; i < load->env->options->target_count; i++)
		free((void *)(uintptr_t)l->aims[i].request.data);
	free((void *)(uintptr_t)l->expect_body.data);
	free(l->rings);
	free(l->clients);
	free(l);
}

static const struct load_ops ops = {
	.turn = turn,
	.open = count_open,
	.in_flight = count_in_flight,
	.close = close_load,
};

static int make_requests(struct http_load *l, char *why, size_t why_size)
{
	const struct options *o = l->pub.env->options;
	struct span body = {NULL, 0};
	int rc = o->body != NULL ? request_read_file(&body, o->body, why, why_size) : 0;
	for (unsigned i = 0; i < o->target_count && rc == 0; i++) {
		l->aims[i] = (struct aim){.target = &o->targets[i], .length = o->expect_length};
		rc = request_build(&l->aims[i].request, o, &o->targets[i], body);
	}
	free((void *)(uintptr_t)body.data);
	if (rc == 0 && o->expect_body != NULL) {
		l->has_expect_body = true;
		rc = request_read_file(&l->expect_body, o->expect_body, why, why_size);
	}
	return rc;
}

static int make_clients(struct http_load *l)
{
	const struct options *o = l->pub.env->options;
	l->clients = calloc(o->connections, sizeof(l->clients[0]));
	l->rings = calloc(o->connections * o->pipeline, sizeof(l->rings[0]));
	if (l->clients == NULL || l->rings == NULL)
		return -ENOMEM;
	for (uint64_t i = 0; i < o->connections; i++) {
		struct client *c = &l->clients[i];
		c->load = l;
		c->aim = &l->aims[i % o->target_count];
		c->from_ns = l->rings + i * o->pipeline;
		c->timer.fire = on_timer;
		if (o->is_per_request)
			rest(c);
		else
			wait_to_open(c);
	}
	return 0;
}

int http_load_open(struct load **out, struct load_env *env, char *why, size_t why_size)
{
	snprintf(why, why_size, "no memory for the load");
	struct http_load *l = calloc(1, sizeof(*l));
	if (l == NULL)
		return -ENOMEM;
	l->pub = (struct load){.ops = &ops, .env = env};
	l->is_head = strcmp(env->options->method, "HEAD") == 0;
	TAILQ_INIT(&l->waiting);
	TAILQ_INIT(&l->free);
	int rc = make_requests(l, why, why_size);
	if (rc == 0)
		rc = make_clients(l);
	if (rc != 0) {
		close_load(&l->pub);
		return rc;
	}
	*out = &l->pub;
	return 0;
}
