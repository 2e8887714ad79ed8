#include "dataplane/gateway/gateway_health.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "dataplane/http/http_text.h"
#include "lib/base/version.h"

#define FIELDS "Cache-Control: no-store\r\n"

void gateway_health_init(struct gateway_health *h, struct seg *seg)
{
	/* "0.1.0 (4f2c9e1)" */
	const char *text = version_string();
	int version_len = (int)strcspn(text, " ");
	const char *commit = strchr(text, '(');
	commit = commit != NULL ? commit + 1 : "unknown";
	time_t built = (time_t)version_build_time();
	struct tm utc;
	char build[32] = "unknown";
	if (built != 0 && gmtime_r(&built, &utc) != NULL)
		strftime(build, sizeof(build), "%Y-%m-%dT%H:%M:%SZ", &utc);
	h->seg = seg;
	int len = snprintf(h->version, sizeof(h->version),
		"{\"version\":\"%.*s\",\"commit\":\"%.*s\",\"build\":\"%s\"}", version_len, text,
		(int)strcspn(commit, ")"), commit, build);
	MUST(len > 0 && (size_t)len < sizeof(h->version));
	h->version_len = (size_t)len;
}

static enum http_verdict answer(
	struct http_req *rq, uint16_t status, struct span fields, struct span body)
{
	http_reply(rq, &(struct http_reply){
			       .status = status,
			       .content_type = "application/json",
			       .fields = fields,
			       .inline_body = body,
		       });
	return HTTP_ANSWERED;
}

static enum http_verdict answer_live(struct http_req *rq, void *service)
{
	(void)service;
	return answer(rq, 200, SPAN_LITERAL(FIELDS), SPAN_LITERAL("{\"status\":\"ok\"}"));
}

static enum http_verdict answer_version(struct http_req *rq, void *service)
{
	const struct gateway_health *h = service;
	return answer(rq, 200, SPAN_LITERAL(FIELDS),
		(struct span){(const uint8_t *)h->version, h->version_len});
}

static void put_bool(struct http_text *t, bool value)
{
	http_text_string(t, value ? "true" : "false");
}

static void put_list(
	struct http_text *t, char (*texts)[READY_TEXT], unsigned count, const char *extra)
{
	HTTP_TEXT_LITERAL(t, "[");
	for (unsigned i = 0; i < count && i < READY_MISSING_MAX; i++) {
		texts[i][READY_TEXT - 1] = '\0';
		if (i != 0)
			HTTP_TEXT_LITERAL(t, ",");
		/* The texts are short sentences of ours; the reserve keeps the rest of the answer whole. */
		http_text_json(t, texts[i], 256);
	}
	if (extra != NULL) {
		if (count != 0)
			HTTP_TEXT_LITERAL(t, ",");
		http_text_json(t, extra, 64);
	}
	HTTP_TEXT_LITERAL(t, "]");
}

static enum http_verdict answer_ready(struct http_req *rq, void *service)
{
	const struct gateway_health *h = service;
	struct seg_ready now;
	char body[HTTP_INLINE_BYTES], lines[128];
	struct http_text json = http_text_on(body, sizeof(body));
	struct http_text head = http_text_on(lines, sizeof(lines));
	if (snap_read(seg_ready(h->seg), &now) == 0) {
		memset(&now, 0, sizeof(now));
		now.missing_count = 1;
		strcpy(now.missing[0], "dataplane");
	}
	/* The snapshot is a moment old; draining must show at once. */
	bool is_draining = http_server_is_draining(rq->server);
	bool is_told = now.reason_count != 0 && strcmp(now.reasons[0], "draining") == 0;
	bool is_ready = now.ready != 0 && !is_draining;
	HTTP_TEXT_LITERAL(&json, "{\"ready\":");
	put_bool(&json, is_ready);
	HTTP_TEXT_LITERAL(&json, ",\"degraded\":");
	put_bool(&json, now.degraded != 0 || is_draining);
	HTTP_TEXT_LITERAL(&json, ",\"missing\":");
	put_list(&json, now.missing, now.missing_count, NULL);
	HTTP_TEXT_LITERAL(&json, ",\"reasons\":");
	put_list(&json, now.reasons, now.reason_count, is_draining && !is_told ? "draining" : NULL);
	HTTP_TEXT_LITERAL(&json, "}");
	HTTP_TEXT_LITERAL(&head, FIELDS);
	if (!is_ready) {
		HTTP_TEXT_LITERAL(&head, "Retry-After: ");
		http_text_uint(&head, http_req_conf(rq)->http_retry_after_s);
		HTTP_TEXT_LITERAL(&head, "\r\n");
	}
	return answer(rq, is_ready ? 200 : 503, http_text_span(&head), http_text_span(&json));
}

static struct http_route route(struct gateway_health *h, enum label_route label,
	enum http_verdict (*handle)(struct http_req *rq, void *service))
{
	return (struct http_route){
		.label = label,
		.methods = 1u << LABEL_METHOD_GET | 1u << LABEL_METHOD_HEAD,
		.allow = "GET, HEAD",
		.body = HTTP_BODY_NONE,
		.is_priority = true,
		.handle = handle,
		.service = h,
	};
}

struct http_route gateway_health_live_route(struct gateway_health *h)
{
	return route(h, LABEL_ROUTE_HEALTHZ, answer_live);
}

struct http_route gateway_health_ready_route(struct gateway_health *h)
{
	return route(h, LABEL_ROUTE_READYZ, answer_ready);
}

struct http_route gateway_health_version_route(struct gateway_health *h)
{
	return route(h, LABEL_ROUTE_VERSION, answer_version);
}
