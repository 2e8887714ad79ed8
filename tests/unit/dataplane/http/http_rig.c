#include "tests/unit/dataplane/http/http_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "dataplane/net/ip_table.h"
#include "lib/clock/clock.h"
#include "lib/conf/conf.h"
#include "lib/inflate/inflate.h"
#include "lib/mem/mem.h"

static void *must_alloc(size_t bytes)
{
	void *memory = calloc(1, bytes != 0 ? bytes : 1);
	MUST(memory != NULL);
	return memory;
}

/* The transport. */

static struct span peek(struct net_conn *conn)
{
	struct rig_conn *c = (struct rig_conn *)conn;
	MUST(!c->is_closed);
	size_t len = c->rx_len < LIMIT_NET_RX_BLOCK_BYTES ? c->rx_len : LIMIT_NET_RX_BLOCK_BYTES;
	return (struct span){c->rx, len};
}

static void set_rx(
	struct rig_conn *c, const uint8_t *data, size_t len, const void *more, size_t more_len)
{
	uint8_t *rx = must_alloc(len + more_len);
	if (len != 0)
		memcpy(rx, data, len);
	if (more_len != 0)
		memcpy(rx + len, more, more_len);
	free(c->rx);
	c->rx = rx;
	c->rx_len = len + more_len;
}

static void consume(struct net_conn *conn, size_t len)
{
	struct rig_conn *c = (struct rig_conn *)conn;
	MUST(!c->is_closed && len <= c->rx_len);
	set_rx(c, c->rx + len, c->rx_len - len, NULL, 0);
}

static bool refuse(struct rig_conn *c)
{
	c->is_wanted = true;
	c->is_moved = false;
	return false;
}

static bool send_copy(struct net_conn *conn, const void *data, size_t len)
{
	struct rig_conn *c = (struct rig_conn *)conn;
	MUST(!c->is_closing && !c->is_closed && len <= LIMIT_NET_TX_COPY_BYTES);
	if (c->span_count == LIMIT_NET_TX_SPANS || c->copy_bytes + len > LIMIT_NET_TX_COPY_BYTES)
		return refuse(c);
	struct rig_span *s = &c->spans[c->span_count++];
	*s = (struct rig_span){.copy = must_alloc(len), .len = len};
	memcpy(s->copy, data, len);
	s->data = s->copy;
	c->copy_bytes += len;
	c->pub.tx_waiting += (uint32_t)len;
	return true;
}

static bool send_ref(struct net_conn *conn, const struct net_ref *take_ref)
{
	struct rig_conn *c = (struct rig_conn *)conn;
	MUST(!c->is_closing && !c->is_closed && take_ref->len != 0);
	if (c->span_count == LIMIT_NET_TX_SPANS)
		return refuse(c);
	c->spans[c->span_count++] = (struct rig_span){.data = take_ref->data,
		.len = take_ref->len,
		.release = take_ref->release,
		.ctx = take_ref->ctx};
	c->pub.tx_waiting += take_ref->len;
	return true;
}

static void pop_span(struct rig_conn *c)
{
	struct rig_span s = c->spans[0];
	memmove(c->spans, c->spans + 1, --c->span_count * sizeof(s));
	free(s.copy);
	if (s.release != NULL)
		s.release(s.ctx);
}

static void move_out(struct rig_conn *c)
{
	while (c->span_count != 0 && c->window != 0) {
		struct rig_span *s = &c->spans[0];
		size_t n = s->len < c->window ? s->len : c->window;
		c->wire = realloc(c->wire, c->wire_len + n + 1);
		MUST(c->wire != NULL);
		memcpy(c->wire + c->wire_len, s->data, n);
		c->wire_len += n;
		c->wire[c->wire_len] = '\0';
		if (s->copy != NULL)
			c->copy_bytes -= n;
		s->data += n;
		s->len -= n;
		c->window -= n;
		c->pub.tx_waiting -= (uint32_t)n;
		c->pub.tx_bytes += n;
		c->is_moved = true;
		if (s->len == 0)
			pop_span(c);
	}
}

static void flush(struct net_conn *conn)
{
	struct rig_conn *c = (struct rig_conn *)conn;
	MUST(!c->is_closing && !c->is_closed);
	c->flushes++;
	move_out(c);
}

static void close_conn(struct net_conn *conn)
{
	struct rig_conn *c = (struct rig_conn *)conn;
	MUST(!c->is_closing && !c->is_closed);
	c->is_closing = true;
	move_out(c);
}

static void end_conn(struct rig_conn *c, enum net_end end)
{
	MUST(!c->is_closed);
	c->is_closed = true;
	c->end = end;
	while (c->span_count != 0)
		pop_span(c);
	c->pub.tx_waiting = 0;
	c->pub.events->on_closed(&c->pub, end);
	set_rx(c, NULL, 0, NULL, 0);
}

static void abort_conn(struct net_conn *conn)
{
	end_conn((struct rig_conn *)conn, NET_END_ABORTED);
}

static const struct net_conn_ops conn_ops = {
	.peek = peek,
	.consume = consume,
	.send_copy = send_copy,
	.send_ref = send_ref,
	.flush = flush,
	.close = close_conn,
	.abort = abort_conn,
};

/* The client's side. */

struct rig_conn *rig_connect(struct rig *r)
{
	MUST(r->conn_count < RIG_CONNS);
	struct rig_conn *c = must_alloc(sizeof(*c));
	c->rig = r;
	c->window = SIZE_MAX;
	c->pub = (struct net_conn){.ops = &conn_ops,
		.events = http_server_events(),
		.user = r->server,
		.ip_entry = IP_TABLE_NONE};
	MUST(addr_parse(&c->pub.peer, "127.0.0.1:40000") == 0);
	set_rx(c, NULL, 0, NULL, 0);
	c->wire = must_alloc(1);
	if (!c->pub.events->on_open(&c->pub)) {
		free(c->rx);
		free(c->wire);
		free(c);
		return NULL;
	}
	r->conns[r->conn_count++] = c;
	return c;
}

void rig_give(struct rig_conn *c, const void *data, size_t len)
{
	if (c->is_closing || c->is_closed)
		return;
	set_rx(c, c->rx, c->rx_len, data, len);
	c->pub.rx_bytes += len;
	c->pub.events->on_readable(&c->pub);
}

void rig_say(struct rig_conn *c, const char *text)
{
	rig_give(c, text, strlen(text));
}

void rig_eof(struct rig_conn *c)
{
	c->pub.is_eof = true;
	if (!c->is_closing && !c->is_closed)
		c->pub.events->on_readable(&c->pub);
}

void rig_reset(struct rig_conn *c)
{
	if (!c->is_closed)
		end_conn(c, NET_END_RESET);
}

static void tell_writable(struct rig_conn *c)
{
	if (c->is_wanted && c->is_moved && !c->is_closing && !c->is_closed) {
		c->is_wanted = false;
		c->pub.events->on_writable(&c->pub);
	}
}

void rig_open_window(struct rig_conn *c, size_t bytes)
{
	c->window = bytes;
	if (c->is_closed)
		return;
	move_out(c);
	tell_writable(c);
}

/* The lcore's side. */

static uint8_t *take_block(void *ctx, uint32_t *handle)
{
	struct rig *r = ctx;
	if (r->blocks_left == 0)
		return NULL;
	for (*handle = 0; r->blocks[*handle] != NULL; ++*handle)
		MUST(*handle + 1 < ARRAY_LEN(r->blocks));
	r->blocks_left--;
	r->blocks_out++;
	r->blocks[*handle] = must_alloc(LIMIT_CHUNK_BYTES);
	return r->blocks[*handle];
}

static void give_block(void *ctx, uint32_t handle)
{
	struct rig *r = ctx;
	MUST(r->blocks[handle] != NULL);
	free(r->blocks[handle]);
	r->blocks[handle] = NULL;
	r->blocks_left++;
	r->blocks_out--;
}

void rig_init(struct rig *r)
{
	struct conf_errors errors;
	memset(r, 0, sizeof(*r));
	MUST(conf_load_text(&r->conf, NULL, "", 0, "test", &errors) == 0);
	r->now_ns = 1000 * NS_PER_S;
	wheel_init(&r->wheel, r->now_ns);
	r->seg = mem_map(sizeof(*r->seg));
	MUST(r->seg != NULL);
	MUST(ring_init(seg_ring(r->seg, QUEUE_STORAGE_WORK, 0), "work",
		     QUEUE_CAPACITY_STORAGE_WORK) == 0);
	MUST(ring_init(seg_ring(r->seg, QUEUE_DONE, 0), "done", QUEUE_CAPACITY_DONE) == 0);
	snap_init(seg_ready(r->seg), sizeof(struct seg_ready));
	events_init(&r->seg->events);
	r->tally = &r->seg->tally[0];
	MUST(jobs_init(&r->jobs, r->seg, 0) == 0);
	r->bench.seg = r->seg;
	r->bench.tally = &r->seg->tally[TALLY_SLOT_WORKER0];
	MUST(inflate_init(&r->bench.inflate) == 0);
	r->blocks_left = 64;
}

void rig_start(struct rig *r, const struct rig_conf *c)
{
	struct http_server_conf sc = {
		.conf = &r->conf,
		.wheel = &r->wheel,
		.jobs = &r->jobs,
		.tally = r->tally,
		.blocks = {take_block, give_block, r, ERR_STORAGE_FULL},
		.route = c->route,
		.route_ctx = c->route_ctx,
		.conns_max = c->conns_max != 0 ? c->conns_max : RIG_CONNS,
		.now_ns = &r->now_ns,
		.ips = c->ips,
	};
	if (c->blocks != NULL)
		sc.blocks = *c->blocks;
	MUST(http_server_init(&r->server, &sc) == 0);
}

void rig_turn(struct rig *r)
{
	jobs_reap(&r->jobs);
	http_server_turn(r->server);
	for (unsigned i = 0; i < r->conn_count; i++) {
		struct rig_conn *c = r->conns[i];
		tell_writable(c);
		if (c->is_closing && !c->is_closed && c->span_count == 0)
			end_conn(c, NET_END_CLOSED);
	}
}

unsigned rig_work(struct rig *r)
{
	struct jobs *all[LIMIT_LCORES] = {&r->jobs};
	struct seg_job_ref ref;
	unsigned count = 0;
	for (; ring_pop(seg_ring(r->seg, QUEUE_STORAGE_WORK, 0), &ref, sizeof(ref)); count++) {
		struct job *job = job_at(all, ref);
		if (job->deadline_ns <= r->now_ns)
			job->err = ERR_TIMEOUT;
		else
			job->run(job, &r->bench);
		MUST(ring_push(seg_ring(r->seg, QUEUE_DONE, 0), &ref, sizeof(ref)));
	}
	return count;
}

void rig_pass_ms(struct rig *r, uint64_t ms)
{
	r->now_ns += ms * NS_PER_MS;
	wheel_advance(&r->wheel, r->now_ns);
	rig_turn(r);
}

void rig_fini(struct rig *r)
{
	for (unsigned i = 0; i < r->conn_count; i++)
		rig_reset(r->conns[i]);
	rig_work(r);
	rig_turn(r);
	for (unsigned i = 0; i < r->conn_count; i++) {
		free(r->conns[i]->rx);
		free(r->conns[i]->wire);
		free(r->conns[i]);
	}
	CU_ASSERT_EQUAL(r->blocks_out, 0);
	CU_ASSERT_EQUAL(r->jobs.pool.in_use, 0);
	CU_ASSERT_EQUAL(http_server_busy(r->server), 0);
	for (unsigned i = 0; i < TALLY_SET_ROUTE; i++)
		CU_ASSERT_EQUAL(tally_get(r->tally, TALLY_INFLIGHT_REQUESTS + i), 0);
	CU_ASSERT_EQUAL(r->wheel.armed, 0);
	http_server_fini(r->server);
	jobs_fini(&r->jobs);
	inflate_fini(r->bench.inflate);
	mem_unmap(r->seg, sizeof(*r->seg));
}

/* Reading answers. */

const char *rig_field(const struct rig_reply *reply, const char *name)
{
	static char value[512];
	size_t len = strlen(name);
	for (const char *line = strstr(reply->head, "\r\n"); line != NULL;
		line = strstr(line, "\r\n")) {
		line += 2;
		if (strncasecmp(line, name, len) != 0 || line[len] != ':')
			continue;
		line += len + 1;
		line += strspn(line, " ");
		snprintf(value, sizeof(value), "%.*s", (int)strcspn(line, "\r"), line);
		return value;
	}
	return NULL;
}

/* Joins the chunks in place. Returns the bytes of the coded body, or 0 when it is not whole. */
static size_t unchunk(uint8_t *body, size_t len, size_t *out)
{
	size_t at = 0;
	*out = 0;
	for (;;) {
		char *end;
		if (memchr(body + at, '\n', len - at) == NULL)
			return 0;
		size_t size = strtoul((char *)body + at, &end, 16);
		CU_ASSERT_FATAL(memcmp(end, "\r\n", 2) == 0);
		at = (size_t)((uint8_t *)end - body) + 2;
		if (at + size + 2 > len)
			return 0;
		CU_ASSERT_FATAL(memcmp(body + at + size, "\r\n", 2) == 0);
		if (size == 0)
			return at + 2;
		memmove(body + *out, body + at, size);
		*out += size;
		at += size + 2;
	}
}

struct rig_reply rig_reply(struct rig_conn *c, const char *method)
{
	struct rig_reply reply = {0};
	char *start = c->wire + c->wire_read;
	size_t len = c->wire_len - c->wire_read;
	char *end = memmem(start, len, "\r\n\r\n", 4);
	if (end == NULL)
		return reply;
	size_t head = (size_t)(end - start) + 4;
	CU_ASSERT_FATAL(head < sizeof(reply.head));
	memcpy(reply.head, start, head);
	CU_ASSERT_FATAL(strncmp(start, "HTTP/1.1 ", 9) == 0);
	int status = atoi(start + 9);
	const char *length = rig_field(&reply, "Content-Length");
	bool is_bare =
		strcmp(method, "HEAD") == 0 || status == 204 || status == 304 || status < 200;
	reply.body = (uint8_t *)start + head;
	reply.is_chunked = rig_field(&reply, "Transfer-Encoding") != NULL;
	length = rig_field(&reply, "Content-Length");
	size_t used = 0;
	if (!is_bare && reply.is_chunked) {
		used = unchunk((uint8_t *)start + head, len - head, &reply.body_len);
		if (used == 0)
			return reply;
	} else if (!is_bare) {
		used = reply.body_len = length != NULL ? strtoul(length, NULL, 10) : len - head;
		if (head + used > len)
			return reply;
	}
	reply.status = status;
	c->wire_read += head + used;
	return reply;
}

struct rig_reply rig_ask(struct rig_conn *c, const char *method, const char *request)
{
	struct rig_reply reply;
	rig_say(c, request);
	for (unsigned i = 0; i < 100; i++) {
		reply = rig_reply(c, method);
		if (reply.status != 0)
			return reply;
		rig_work(c->rig);
		rig_turn(c->rig);
	}
	return reply;
}

void rig_check_error(const struct rig_reply *reply, int status, const char *code)
{
	CU_ASSERT_EQUAL(reply->status, status);
	json_t *json = json_loadb(
		(const char *)reply->body, reply->body_len, JSON_REJECT_DUPLICATES, NULL);
	CU_ASSERT_FATAL(json != NULL);
	const char *error = NULL, *message = NULL, *corr_id = NULL;
	CU_ASSERT_EQUAL(json_unpack_ex(json, NULL, JSON_STRICT, "{s:s,s:s,s:s}", "error", &error,
				"message", &message, "corr_id", &corr_id),
		0);
	CU_ASSERT_STRING_EQUAL(error, code);
	CU_ASSERT(message != NULL && message[0] != '\0');
	CU_ASSERT_STRING_EQUAL(corr_id, rig_field(reply, "X-Corr-ID"));
	CU_ASSERT_STRING_EQUAL(rig_field(reply, "Content-Type"), "application/json");
	CU_ASSERT_EQUAL(rig_field(reply, "Retry-After") != NULL, status == 429 || status == 503);
	json_decref(json);
}

uint64_t rig_rejected(const struct rig *r, enum reason_id reason)
{
	return tally_get(r->tally, TALLY_REJECTED + reason);
}
