#include "controlplane/ops/ops_server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/clock/clock.h"
#include "lib/log/log.h"

enum { POLL_MS = 10, CHUNK_HEAD = 24, CHUNK_TAIL = 256 };

/* What moves on by the clock, not by what the client does. */
static bool is_polled(const struct ops_client *c)
{
	return c->state == OPS_CLIENT_ASKING || c->state == OPS_CLIENT_FOLLOWING ||
	       c->state == OPS_CLIENT_CAPTURING;
}

static void poll_when_needed(struct ops_server *s)
{
	bool is_needed = false;
	for (int i = 0; i < LIMIT_OPS_CLIENTS; i++)
		is_needed |= is_polled(&s->clients[i]);
	loop_timer_set(&s->poll, is_needed ? POLL_MS : 0);
}

static void client_end(struct ops_client *c)
{
	if (c->state == OPS_CLIENT_CAPTURING)
		ops_capture_stop(&c->server->capture);
	loop_remove(c->server->loop, &c->source);
	close(c->source.fd);
	free(c->out);
	c->out = NULL;
	c->state = OPS_CLIENT_FREE;
}

static void client_send(struct ops_client *c, char *take_bytes, size_t len)
{
	c->out = take_bytes;
	c->out_len = len;
	c->out_sent = 0;
}

/* The line is the client's from here on; without one (no memory) the client is let go. */
static void client_reply(struct ops_client *c, char *take_line)
{
	client_send(c, take_line, take_line != NULL ? strlen(take_line) : 0);
	if (take_line == NULL)
		c->is_closing = true;
}

static void client_refuse(struct ops_client *c, const char *error, const char *message)
{
	struct ops_refusal why;
	ops_refuse(&why, error, "%s", message);
	client_reply(c, ops_command_refused(&why));
}

/* --- events */

static char *event_lines(const struct event *event, uint64_t lost)
{
	char *line = ops_command_line(json_pack("{s:o}", "event", ops_view_event(event)));
	if (lost == 0 || line == NULL)
		return line;
	char *told = ops_command_line(json_pack("{s:I}", "lost", (json_int_t)lost));
	char *both = told != NULL ? malloc(strlen(told) + strlen(line) + 1) : NULL;
	if (both != NULL)
		strcpy(stpcpy(both, told), line);
	free(told);
	free(line);
	return both;
}

static void account_lost(struct ops_server *s, uint64_t lost)
{
	uint64_t told =
		bus_lagged(&s->lag, &s->env.seg->tally[TALLY_SLOT_CONTROL], lost, clock_now_ns());
	if (told > 0)
		LOG(WARN, "readers of the events lost %llu of them: they read too slowly",
			(unsigned long long)told);
}

static void start_events(struct ops_client *c)
{
	const struct events *ev = &c->server->env.seg->events;
	c->cursor = events_tail(ev, c->request.count);
	json_t *rows = json_array();
	struct event event;
	uint64_t lost = 0;
	for (uint32_t i = 0; i < c->request.count; i++) {
		if (events_next(ev, &c->cursor, &event, &lost) == 0)
			break;
		json_array_append_new(rows, ops_view_event(&event));
	}
	account_lost(c->server, lost);
	client_reply(c,
		ops_command_ok(json_pack("{s:o, s:I}", "events", rows, "lost", (json_int_t)lost)));
	if (c->request.follow)
		c->state = OPS_CLIENT_FOLLOWING;
}

static bool follow_events(struct ops_client *c)
{
	struct event event;
	uint64_t lost = 0;
	int found = events_next(&c->server->env.seg->events, &c->cursor, &event, &lost);
	if (lost > 0)
		account_lost(c->server, lost);
	if (found == 0 && lost == 0)
		return false;
	if (found == 0)
		client_reply(c, ops_command_line(json_pack("{s:I}", "lost", (json_int_t)lost)));
	else
		client_reply(c, event_lines(&event, lost));
	return true;
}

/* --- conns */

static bool is_lcore_asked(const struct ops_client *me)
{
	for (int i = 0; i < LIMIT_OPS_CLIENTS; i++) {
		const struct ops_client *c = &me->server->clients[i];
		if (c != me && c->state == OPS_CLIENT_ASKING && c->question != 0 &&
			c->request.lcore == me->request.lcore)
			return true;
	}
	return false;
}

static void start_conns(struct ops_client *c)
{
	struct seg *seg = c->server->env.seg;
	if (!seg_is_alive(seg, SHM_DATAPLANE)) {
		client_refuse(c, "dataplane_down", "the data plane is not running");
		return;
	}
	if (c->request.lcore >= sample_lcores(seg)) {
		client_refuse(c, "bad_request", "there is no such lcore");
		return;
	}
	c->state = OPS_CLIENT_ASKING;
	c->question = 0;
	c->deadline_ns = clock_now_ns() + LIMIT_ASK_MS * NS_PER_MS;
}

static bool await_conns(struct ops_client *c)
{
	struct seg *seg = c->server->env.seg;
	struct ask_page page;
	if (c->question == 0 && !is_lcore_asked(c))
		c->question = ask_put(seg, c->request.lcore, c->request.cursor);
	if (c->question != 0 && ask_get(seg, c->request.lcore, c->question, &page))
		client_reply(c, ops_command_ok(ops_view_conns(
					c->request.lcore, sample_lcores(seg), &page)));
	else if (clock_now_ns() >= c->deadline_ns)
		client_refuse(c, "timeout", "the lcore did not answer in time");
	else
		return false;
	c->state = OPS_CLIENT_READING;
	return true;
}

/* --- capture */

static void start_capture(struct ops_client *c)
{
	struct ops_server *s = c->server;
	struct ops_refusal why;
	const char *name = ops_command_infos[OPS_CAPTURE].name;
	if (!ops_capture_start(&s->capture, &s->env, &c->request, &why)) {
		audit_record(s->env.seg, &c->who, name, why.error);
		client_reply(c, ops_command_refused(&why));
		return;
	}
	audit_record(s->env.seg, &c->who, name, "ok");
	client_reply(c, ops_command_ok(ops_capture_view(&s->capture)));
	c->state = OPS_CLIENT_CAPTURING;
	c->is_due = true;
}

/* The last line of a capture, behind its last bytes. */
static size_t add_done(const struct ops_capture *capture, char *out, size_t room)
{
	char *line = ops_command_line(json_pack("{s:o}", "done", ops_capture_result(capture)));
	size_t len = line != NULL ? strlen(line) : 0;
	if (len > room)
		len = 0;
	if (len > 0)
		memcpy(out, line, len);
	free(line);
	return len;
}

/* One chunk: a line with the number of bytes, and the bytes. */
static bool send_chunk(struct ops_client *c)
{
	struct ops_capture *capture = &c->server->capture;
	if (!c->is_due)
		return false;
	c->is_due = false;
	char *out = malloc(CHUNK_HEAD + LIMIT_CAPTURE_CHUNK_BYTES + CHUNK_TAIL);
	if (out == NULL) {
		client_reply(c, NULL);
		return true;
	}
	size_t len = ops_capture_read(
		capture, (uint8_t *)out + CHUNK_HEAD, LIMIT_CAPTURE_CHUNK_BYTES, clock_now_ns());
	if (len == 0) {
		free(out);
		return false;
	}
	char head[CHUNK_HEAD + 1]; /* of one length, so that it can be written last */
	snprintf(head, sizeof(head), "{\"bytes\":%13u}\n", (unsigned)len);
	memcpy(out, head, CHUNK_HEAD);
	len += CHUNK_HEAD;
	if (capture->is_over) {
		len += add_done(capture, out + len, CHUNK_TAIL);
		ops_capture_stop(capture);
		c->state = OPS_CLIENT_READING;
	}
	client_send(c, out, len);
	return true;
}

/* --- requests */

static void serve_line(struct ops_client *c, size_t len)
{
	struct ops_refusal why;
	if (!ops_request_parse(&c->request, c->in.text, len, &why))
		client_reply(c, ops_command_refused(&why));
	else if (c->request.command == OPS_CONNS)
		start_conns(c);
	else if (c->request.command == OPS_EVENTS)
		start_events(c);
	else if (c->request.command == OPS_CAPTURE)
		start_capture(c);
	else
		client_reply(c, ops_command_run(&c->server->env, &c->request, &c->who));
}

/* Takes the next request, if a whole one is here. */
static bool next_request(struct ops_client *c)
{
	size_t len;
	struct ops_refusal why;
	switch (ops_line_find(&c->in, &len)) {
	case OPS_LINE_DONE:
		serve_line(c, len);
		ops_line_drop(&c->in, len);
		c->since_ns = clock_now_ns();
		return true;
	case OPS_LINE_BAD:
		ops_refuse(&why, "too_long", "a request is one line of at most %d bytes",
			(int)LIMIT_OPS_REQUEST_BYTES);
		client_reply(c, ops_command_refused(&why));
		c->is_closing = true;
		return true;
	case OPS_LINE_MORE:
		break;
	}
	if (c->is_eof)
		c->is_closing = true;
	return c->is_eof;
}

static bool next_reply(struct ops_client *c)
{
	switch (c->state) {
	case OPS_CLIENT_READING:
		return next_request(c);
	case OPS_CLIENT_ASKING:
		return await_conns(c);
	case OPS_CLIENT_FOLLOWING:
		return follow_events(c);
	case OPS_CLIENT_CAPTURING:
		return send_chunk(c);
	case OPS_CLIENT_FREE:
		break;
	}
	return false;
}

/* --- bytes */

/* Sends what can be sent. Returns 1 when all is out, 0 when the client is slow, -1 when it is gone. */
static int client_flush(struct ops_client *c)
{
	while (c->out_sent < c->out_len) {
		ssize_t n = send(c->source.fd, c->out + c->out_sent, c->out_len - c->out_sent,
			MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -1;
		c->out_sent += (size_t)n;
		c->since_ns = clock_now_ns();
	}
	free(c->out);
	c->out = NULL;
	return 1;
}

static void set_interest(struct ops_client *c)
{
	uint32_t events = 0;
	if (c->out != NULL)
		events = EPOLLOUT;
	else if (c->state == OPS_CLIENT_READING && !c->is_eof)
		events = EPOLLIN;
	if (events != c->interest)
		loop_change(c->server->loop, &c->source, events);
	c->interest = events;
}

/* Goes on until the client has to be waited for. */
static void client_step(struct ops_client *c)
{
	for (;;) {
		if (c->out != NULL) {
			int flushed = client_flush(c);
			if (flushed < 0) {
				client_end(c);
				return;
			}
			if (flushed == 0)
				break;
		}
		if (c->is_closing) {
			client_end(c);
			return;
		}
		if (!next_reply(c))
			break;
	}
	set_interest(c);
}

static void client_read(struct ops_client *c)
{
	ssize_t n = recv(c->source.fd, c->in.text + c->in.len, ops_line_room(&c->in), MSG_DONTWAIT);
	if (n > 0)
		c->in.len += (size_t)n;
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		c->is_eof = true;
}

static void client_ready(struct loop_source *source, uint32_t events)
{
	struct ops_client *c = CONTAINER_OF(source, struct ops_client, source);
	struct ops_server *s = c->server;
	if ((events & EPOLLIN) != 0)
		client_read(c);
	if ((events & (EPOLLIN | EPOLLOUT)) != 0)
		client_step(c);
	else
		client_end(c); /* a hang-up or an error, and nothing left to read */
	poll_when_needed(s);
}

/* --- arrivals */

static struct ops_client *free_client(struct ops_server *s)
{
	for (int i = 0; i < LIMIT_OPS_CLIENTS; i++) {
		if (s->clients[i].state == OPS_CLIENT_FREE)
			return &s->clients[i];
	}
	return NULL;
}

static void turn_away(int fd, const char *error, const char *message)
{
	struct ops_refusal why;
	ops_refuse(&why, error, "%s", message);
	char *line = ops_command_refused(&why);
	if (line != NULL && send(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		LOG(DEBUG, "a refused client of the ops socket was gone already");
	free(line);
	close(fd);
}

static void admit(struct ops_server *s, int fd)
{
	struct audit_who who = {0};
	if (!ops_socket_admits(fd, &who.uid, &who.pid)) {
		LOG(WARN, "ops socket: uid %u is not allowed", (unsigned)who.uid);
		turn_away(fd, "forbidden", "only root and the node's own user may ask");
		return;
	}
	struct ops_client *c = free_client(s);
	if (c == NULL) {
		turn_away(fd, "busy", "too many clients of the ops socket; try again later");
		return;
	}
	*c = (struct ops_client){.source = {.fd = fd, .ready = client_ready},
		.server = s,
		.state = OPS_CLIENT_READING,
		.interest = EPOLLIN,
		.who = who,
		.since_ns = clock_now_ns()};
	if (loop_add(s->loop, &c->source, EPOLLIN) != 0) {
		c->state = OPS_CLIENT_FREE;
		close(fd);
	}
}

static void listener_ready(struct loop_source *source, uint32_t events)
{
	(void)events;
	struct ops_server *s = CONTAINER_OF(source, struct ops_server, listener);
	int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0)
		admit(s, fd);
}

static void poll_fire(struct loop_timer *timer)
{
	struct ops_server *s = CONTAINER_OF(timer, struct ops_server, poll);
	for (int i = 0; i < LIMIT_OPS_CLIENTS; i++) {
		struct ops_client *c = &s->clients[i];
		c->is_due = true;
		if (is_polled(c) && c->out == NULL)
			client_step(c);
	}
	poll_when_needed(s);
}

int ops_server_init(struct ops_server *s, struct loop *loop, const struct ops_env *env, char *why,
	size_t why_size)
{
	*s = (struct ops_server){.loop = loop, .env = *env, .poll.fire = poll_fire};
	const struct conf *conf = &env->running->conf;
	int err = ops_socket_open(&s->socket, conf->node_run_dir, conf->node_name, why, why_size);
	if (err != 0)
		return err;
	s->listener = (struct loop_source){.fd = s->socket.fd, .ready = listener_ready};
	err = loop_timer_add(loop, &s->poll, 0);
	if (err == 0)
		err = loop_add(loop, &s->listener, EPOLLIN);
	MUST(err == 0); /* a fresh epoll set takes two more descriptors */
	return 0;
}

void ops_server_fini(struct ops_server *s)
{
	for (int i = 0; i < LIMIT_OPS_CLIENTS; i++) {
		if (s->clients[i].state != OPS_CLIENT_FREE)
			client_end(&s->clients[i]);
	}
	loop_remove(s->loop, &s->listener);
	loop_timer_remove(s->loop, &s->poll);
	ops_socket_close(&s->socket);
}

void ops_server_tick(struct ops_server *s, uint64_t now_ns)
{
	for (int i = 0; i < LIMIT_OPS_CLIENTS; i++) {
		struct ops_client *c = &s->clients[i];
		bool is_waited_for =
			c->state == OPS_CLIENT_READING ||
			((c->state == OPS_CLIENT_FOLLOWING || c->state == OPS_CLIENT_CAPTURING) &&
				c->out != NULL);
		if (is_waited_for && now_ns > c->since_ns &&
			now_ns - c->since_ns >= LIMIT_OPS_IDLE_MS * NS_PER_MS)
			client_end(c);
	}
	account_lost(s, 0);
	poll_when_needed(s);
}

uint64_t ops_server_events_lag(const struct ops_server *s)
{
	uint64_t next = __atomic_load_n(&s->env.seg->events.next, __ATOMIC_ACQUIRE);
	uint64_t max = 0;
	for (int i = 0; i < LIMIT_OPS_CLIENTS; i++) {
		const struct ops_client *c = &s->clients[i];
		if (c->state == OPS_CLIENT_FOLLOWING && next > c->cursor.next &&
			next - c->cursor.next > max)
			max = next - c->cursor.next;
	}
	return max;
}
