/* http: HTTP/1.1 on one lcore: connections, requests, answers (X-3 X-4 X-5 X-8 X-11 X-19).
 *
 *   on_readable -> head parsed -> route -> begin (may refuse before the body) -> body collected -> handle
 *        ^                                                                                           |
 *        |   next pipelined request, once the answer before it is queued                             v
 *        +----------------------------- http_reply / http_fail, now or from a job's `done` <---------+
 *
 * Owner:   the lcore. One request per connection is under way at a time; pipelined ones wait unread in the net's
 *          buffer and are answered in order.
 * Memory:  connections, heads and bodies come from pools reserved in http_server_init. An idle connection holds its
 *          slot only. Bodies are lists of 64 KiB blocks that the owner of http_blocks gives and takes. */
#ifndef DATAPLANE_HTTP_HTTP_H
#define DATAPLANE_HTTP_HTTP_H

#include "dataplane/http/http_parse.h"
#include "dataplane/job/job.h"
#include "dataplane/net/net.h"
#include "lib/conf/conf_types.h"
#include "lib/mem/pool.h"

struct http_conn;
struct http_req;
struct ip_table;
struct http_server;

/* What became of a call into a service. */
enum http_verdict {
	HTTP_ANSWERED, /* http_reply or http_fail was called */
	HTTP_PENDING,  /* it will be, from a job's `done` on this lcore */
	HTTP_CONTINUE, /* begin only: read the body (if there is one), then call handle */
};

enum http_body_rule {
	HTTP_BODY_NONE,	   /* a request with a body is refused: 400 */
	HTTP_BODY_COLLECT, /* up to http.body_max_bytes into blocks */
};

/* One path of the routing table. */
struct http_route {
	enum label_route label;
	uint32_t methods;  /* bits 1 << LABEL_METHOD_x */
	const char *allow; /* the Allow field for the rest */
	uint32_t
		prefix_bytes; /* of the path that name the route; the rest is the request's `below` */
	enum http_body_rule body;
	bool is_priority; /* health and version: answered while draining, free of quotas, never queued */
	/* After the head; may be NULL. Refuse here what needs no body to be refused. */
	enum http_verdict (*begin)(struct http_req *rq, void *service);
	/* After the body. */
	enum http_verdict (*handle)(struct http_req *rq, void *service);
	void *service;
};

/* 64 KiB blocks for bodies: the storage slab gives them, so that an uncoded body becomes an object without a copy.
 * Called on the lcore. take returns NULL when there is none left. */
struct http_blocks {
	uint8_t *(*take)(void *ctx, uint32_t *handle);
	void (*give)(void *ctx, uint32_t handle);
	void *ctx;
	enum err_id when_empty; /* what to answer then: ERR_STORAGE_FULL */
};

struct http_body {
	uint32_t count;			       /* blocks */
	uint32_t bytes;			       /* in all; every block but the last is full */
	uint32_t handles[LIMIT_OBJECT_CHUNKS]; /* set a count of 0 to keep the blocks */
	uint8_t *blocks[LIMIT_OBJECT_CHUNKS];
};

/* The request being answered. Spans point into the receive buffer and are valid until begin or handle returns;
 * what a job needs later is copied into the job. */
struct http_req {
	struct http_server *server;
	struct http_conn *conn;
	const struct http_route *route;
	enum label_method method;
	struct http_parse head; /* fields, framing, target; see http_parse.h */
	struct span path;	/* decoded once, dot segments removed */
	struct span below;	/* the path after the route's prefix */
	struct span query;	/* raw, without the question mark */
	struct http_body body;
	uint64_t first_byte_ns; /* the read clock and the latency start here */
	uint64_t deadline_ns;	/* end to end */
	char corr_id[LIMIT_HTTP_CORR_ID_BYTES + 1];
};

const struct addr *http_req_peer(const struct http_req *rq);
const struct conf *http_req_conf(const struct http_req *rq);

/* An answer. `fields` is text that goes into the head as it is: complete lines, each ending in CRLF. */
struct http_reply {
	uint16_t status;
	const char *content_type; /* NULL: none */
	struct span fields;
	/* The body: `length` bytes that `next` gives in references, called with the offset until all are given; it
	 * returns false when it cannot (the connection is then cut, since the head is out). NULL next: the bytes of
	 * `inline_body` are copied (at most HTTP_INLINE_BYTES), and `length` is not looked at. HTTP_LENGTH_UNKNOWN:
	 * chunked (or until close for HTTP/1.0); `next` ends the body with a reference of length 0. HEAD sends the head
	 * only, 204 and 304 have no body. */
	uint64_t length;
	struct span inline_body;
	bool (*next)(void *ctx, uint64_t offset, struct net_ref *out);
	void (*finish)(
		void *ctx);    /* exactly once, when no more `next` will be called; may be NULL */
	uint64_t ctx_words[4]; /* copied with the reply; `next` and `finish` get its address */
};
#define HTTP_LENGTH_UNKNOWN UINT64_MAX
enum { HTTP_INLINE_BYTES = 2048, HTTP_FIELDS_BYTES = 640 }; /* the longest inline_body and fields */

/* Each request gets exactly one of these. From begin, handle or a job's `done`. The request is gone once the caller
 * has returned to the lcore. */
void http_reply(struct http_req *rq, const struct http_reply *reply);
/* The JSON error answer; detail NULL takes the registry's message. 429 and 503 get Retry-After. */
void http_fail(struct http_req *rq, enum err_id err, const char *detail);
/* The same with more lines for the head. */
void http_fail_with(struct http_req *rq, enum err_id err, const char *detail, struct span fields);

/* Jobs of a request, one at a time: HTTP_PENDING afterwards. `done` gives the job back before it answers. On
 * completion, http_job_owner gives the request that waits, or NULL when the client has gone meanwhile (the job must
 * then only give back what it holds). */
struct job *http_job_take(struct http_req *rq);
CHECKED bool http_job_submit(
	struct http_req *rq, struct job *job); /* false: answered 429 busy, job given back */
struct http_req *http_job_owner(struct job *job);
void http_job_give(struct http_server *server, struct job *take_job);

/* Finds the route of a decoded path: the gateway's. Never NULL: unknown paths have a route of their own. */
typedef const struct http_route *http_router(void *ctx, struct span path);

struct http_server_conf {
	const struct conf *conf; /* the lcore's copy; read anew for each request */
	struct net *net;
	struct wheel *wheel;
	struct jobs *jobs;
	struct tally *tally;
	struct ip_table *ips; /* the lcore's request buckets; NULL: none */
	struct http_blocks blocks;
	http_router *route;
	void *route_ctx;
	uint32_t conns_max;
	const uint64_t *now_ns; /* the lcore's clock, set each turn */
};

CHECKED int http_server_init(struct http_server **out, const struct http_server_conf *c);
void http_server_fini(struct http_server *s);

/* The events to give to net_listen; `user` of the listener is the server. */
const struct net_events *http_server_events(void);

/* Each turn of the lcore, after net_poll and jobs_reap: sends the answers that jobs gave and goes on with connections
 * whose pipelined requests were cut at LIMIT_HTTP_PIPELINE_BURST. Returns how many connections still wait for the next
 * turn: the lcore must not sleep while there are any. */
unsigned http_server_turn(struct http_server *s);

/* At the end of a turn that took `spent_ns`: times the requests that were begun and answered in it. The clock is read
 * once a turn, not once a request, so each counts as taking the whole turn: never less than it did. */
void http_server_turn_end(struct http_server *s, uint64_t spent_ns);

/* After the configuration changed: connections that wait already wait by the new timeouts too. */
void http_server_retime(struct http_server *s);

/* Drain: new requests get 503 draining and a close; idle connections are closed; those with a request under
 * way finish it. http_server_busy counts requests begun and not yet fully sent. http_server_abort cuts the rest,
 * counts tasks_aborted_total{request} and returns how many requests that were. */
void http_server_drain(struct http_server *s);
uint32_t http_server_busy(const struct http_server *s);
uint32_t http_server_abort(struct http_server *s);
bool http_server_is_draining(const struct http_server *s);

/* Describes up to `max` connections from slot `cursor` on; returns the next cursor or UINT32_MAX (`millctl conns`). */
uint32_t http_server_describe(const struct http_server *s, uint32_t cursor, struct ask_conn *rows,
	uint32_t max, uint32_t *count);

#endif
