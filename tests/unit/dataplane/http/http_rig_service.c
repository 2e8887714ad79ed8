#include "tests/unit/dataplane/http/http_rig_service.h"

#include <stdio.h>
#include <string.h>

static void keep(char out[64], struct span text)
{
	snprintf(out, 64, "%.*s", (int)text.len, (const char *)text.data);
}

static enum http_verdict begin(struct http_req *rq, void *service)
{
	struct rig_service *s = service;
	(void)rq;
	s->begun++;
	return HTTP_CONTINUE;
}

static enum http_verdict deny(struct http_req *rq, void *service)
{
	(void)service;
	http_fail(rq, ERR_FORBIDDEN, "a \"quoted\" \\ reason\n");
	return HTTP_ANSWERED;
}

static enum http_verdict hello(struct http_req *rq, void *service)
{
	struct rig_service *s = service;
	s->handled++;
	s->deadline_ns = rq->deadline_ns;
	keep(s->path, rq->path);
	keep(s->query, rq->query);
	keep(s->below, rq->below);
	http_reply(rq, &(struct http_reply){.status = 200,
			       .content_type = "text/plain",
			       .inline_body = SPAN_LITERAL("hello")});
	return HTTP_ANSWERED;
}

static enum http_verdict echo(struct http_req *rq, void *service)
{
	struct rig_service *s = service;
	char text[32];
	s->handled++;
	keep(s->path, rq->path);
	struct http_reply reply = {.status = 200, .content_type = "text/plain"};
	if (rq->body.bytes <= HTTP_INLINE_BYTES) {
		reply.inline_body = (struct span){
			rq->body.count != 0 ? rq->body.blocks[0] : NULL, rq->body.bytes};
	} else {
		uint32_t sum = 0;
		for (uint32_t i = 0; i < rq->body.bytes; i++)
			sum += rq->body.blocks[i / LIMIT_CHUNK_BYTES][i % LIMIT_CHUNK_BYTES];
		int len = snprintf(text, sizeof(text), "%u %u", rq->body.bytes, sum);
		reply.inline_body = (struct span){(const uint8_t *)text, (size_t)len};
	}
	http_reply(rq, &reply);
	return HTTP_ANSWERED;
}

static void release(void *ctx)
{
	struct rig_service *s = ctx;
	CU_ASSERT(s->refs_out > 0);
	s->refs_out--;
}

static struct rig_service *service_of(const void *ctx)
{
	return (struct rig_service *)(uintptr_t) * (const uint64_t *)ctx;
}

static bool next(void *ctx, uint64_t offset, struct net_ref *out)
{
	struct rig_service *s = service_of(ctx);
	uint64_t left = s->ref_bytes - offset;
	*out = (struct net_ref){.data = s->data + offset,
		.len = (uint32_t)(left < s->ref_piece ? left : s->ref_piece)};
	if (out->len != 0) {
		out->release = release;
		out->ctx = s;
		s->refs_out++;
		s->refs_given++;
	}
	return true;
}

static bool next_once(void *ctx, uint64_t offset, struct net_ref *out)
{
	return offset == 0 && next(ctx, offset, out);
}

static void finish(void *ctx)
{
	service_of(ctx)->finished++;
}

static enum http_verdict send_refs(struct http_req *rq, void *service, uint64_t length,
	bool (*how)(void *ctx, uint64_t offset, struct net_ref *out))
{
	struct http_reply reply = {.status = 200, .length = length, .next = how, .finish = finish};
	reply.ctx_words[0] = (uintptr_t)service;
	http_reply(rq, &reply);
	return HTTP_ANSWERED;
}

static enum http_verdict ref(struct http_req *rq, void *service)
{
	return send_refs(rq, service, ((struct rig_service *)service)->ref_bytes, next);
}

static enum http_verdict stream(struct http_req *rq, void *service)
{
	return send_refs(rq, service, HTTP_LENGTH_UNKNOWN, next);
}

static enum http_verdict cut(struct http_req *rq, void *service)
{
	return send_refs(rq, service, ((struct rig_service *)service)->ref_bytes, next_once);
}

struct payload {
	struct rig_service *service;
	struct http_server *server;
};

static void run(struct job *job, struct job_bench *bench)
{
	struct payload *p = (struct payload *)(void *)job->payload;
	(void)bench;
	p->service->jobs_run++;
	job->err = p->service->job_err;
}

static void done(struct job *job)
{
	struct payload p = *(struct payload *)(void *)job->payload;
	struct http_req *rq = http_job_owner(job);
	enum err_id err = job->err;
	http_job_give(p.server, job);
	if (rq == NULL) {
		p.service->jobs_orphaned++;
		return;
	}
	if (err != ERR_NONE)
		http_fail(rq, err, NULL);
	else
		http_reply(rq,
			&(struct http_reply){.status = 200, .inline_body = SPAN_LITERAL("done")});
}

static enum http_verdict pend(struct http_req *rq, void *service)
{
	struct job *job = http_job_take(rq);
	if (job == NULL) {
		http_fail(rq, ERR_BUSY, NULL);
		return HTTP_ANSWERED;
	}
	*(struct payload *)(void *)job->payload = (struct payload){service, rq->server};
	job->run = run;
	job->done = done;
	job->queue = QUEUE_STORAGE_WORK;
	return http_job_submit(rq, job) ? HTTP_PENDING : HTTP_ANSWERED;
}

static enum http_verdict missing(struct http_req *rq, void *service)
{
	(void)service;
	http_fail(rq, ERR_NOT_FOUND, NULL);
	return HTTP_ANSWERED;
}

#define GET  (1u << LABEL_METHOD_GET)
#define HEAD (1u << LABEL_METHOD_HEAD)
#define POST (1u << LABEL_METHOD_POST)
#define PUT  (1u << LABEL_METHOD_PUT)

static const char *const names[] = {
	"/hello", "/echo", "/ref", "/stream", "/cut", "/job", "/live", "/deny"};

void rig_service_init(struct rig_service *s)
{
	memset(s, 0, sizeof(*s));
	s->ref_bytes = 100000;
	s->ref_piece = LIMIT_CHUNK_BYTES;
	for (size_t i = 0; i < sizeof(s->data); i++)
		s->data[i] = (uint8_t)(i * 7 + i / 251);
	const struct http_route routes[] = {
		{.methods = GET | HEAD, .allow = "GET, HEAD", .handle = hello},
		{.methods = POST | PUT,
			.allow = "POST, PUT",
			.body = HTTP_BODY_COLLECT,
			.handle = echo},
		{.methods = GET | HEAD, .allow = "GET, HEAD", .handle = ref},
		{.methods = GET | HEAD, .allow = "GET, HEAD", .handle = stream},
		{.methods = GET, .allow = "GET", .handle = cut},
		{.methods = GET | POST,
			.allow = "GET, POST",
			.body = HTTP_BODY_COLLECT,
			.handle = pend},
		{.methods = GET, .allow = "GET", .handle = hello, .is_priority = true},
		{.methods = POST, .allow = "POST", .body = HTTP_BODY_COLLECT, .begin = deny},
		{.methods = UINT32_MAX, .allow = "", .begin = missing},
	};
	memcpy(s->routes, routes, sizeof(routes));
	for (unsigned i = 0; i < ARRAY_LEN(routes); i++) {
		s->routes[i].label = i < ARRAY_LEN(names) ? LABEL_ROUTE_OBJECT : LABEL_ROUTE_OTHER;
		s->routes[i].service = s;
		if (s->routes[i].begin == NULL)
			s->routes[i].begin = begin;
		if (i < ARRAY_LEN(names))
			s->routes[i].prefix_bytes = (uint32_t)strlen(names[i]);
	}
}

const struct http_route *rig_service_route(void *ctx, struct span path)
{
	struct rig_service *s = ctx;
	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		size_t len = strlen(names[i]);
		if (path.len >= len && memcmp(path.data, names[i], len) == 0 &&
			(path.len == len || path.data[len] == '/'))
			return &s->routes[i];
	}
	return &s->routes[ARRAY_LEN(names)];
}

void rig_service_start(struct rig *r, struct rig_service *s)
{
	rig_init(r);
	rig_service_init(s);
	rig_start(r, &(struct rig_conf){.route = rig_service_route, .route_ctx = s});
}
