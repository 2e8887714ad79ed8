#include "dataplane/http/http_conn.h"

#include "dataplane/http/http_text.h"
#include "lib/log/log.h"

/* What each error counts as in rejected_total; REASON_COUNT: not a rejection. A switch, so that a new error must be
 * thought about here. */
static enum reason_id reason_of(enum err_id err)
{
	switch (err) {
	case ERR_BAD_REQUEST:
	case ERR_VERSION:
		return REASON_MALFORMED;
	case ERR_TARGET_LONG:
	case ERR_HEADERS_LARGE:
		return REASON_HEADER_LIMIT;
	case ERR_UNAUTH:
	case ERR_FORBIDDEN:
		return REASON_FORBIDDEN;
	case ERR_METHOD:
	case ERR_NOT_IMPLEMENTED:
		return REASON_NO_ROUTE;
	case ERR_TIMEOUT_READ:
		return REASON_READ_TIMEOUT;
	case ERR_BODY_CAP:
		return REASON_BODY_CAP;
	case ERR_DECOMPRESS_CAP:
		return REASON_DECOMPRESS_CAP;
	case ERR_CODING:
		return REASON_CODING;
	case ERR_BUSY:
		return REASON_BUSY;
	case ERR_QUOTA:
		return REASON_QUOTA;
	case ERR_DRAINING:
		return REASON_DRAINING;
	case ERR_TIMEOUT:
		return REASON_DEADLINE;
	case ERR_STORAGE_FULL:
		return REASON_STORAGE_FULL;
	case ERR_NONE:
	case ERR_NOT_FOUND:
	case ERR_CONFLICT:
	case ERR_PRECONDITION:
	case ERR_RANGE:
	case ERR_INTERNAL:
	case ERR_BAD_GATEWAY:
	case ERR_INTEGRITY:
	case ERR_NOT_READY:
	case ERR_BREAKER_OPEN:
	case ERR_CANCELED:
	case ERR_COUNT:
		break;
	}
	return REASON_COUNT;
}

static void count(struct http_req *rq, enum err_id err, enum reason_id reason)
{
	struct tally *t = rq->server->c.tally;
	if (err == ERR_NOT_FOUND && rq->route->label == LABEL_ROUTE_OTHER)
		reason = REASON_NO_ROUTE;
	if (reason != REASON_COUNT)
		tally_inc(t, TALLY_REJECTED + reason);
	if (err == ERR_BUSY)
		tally_inc(t, TALLY_BUSY_REJECTIONS + rq->route->label);
}

/* A fault of ours is looked for in the log by its id. A refusal is the client's business, and only told to who
 * asks for it. The words are ours: nothing that a client sent is among them. */
static void tell(const struct http_req *rq, enum err_id err, const char *why)
{
	const struct err_info *info = &err_infos[err];
	if (err == ERR_INTERNAL)
		LOG_FOR(rq->corr_id, ERROR, "answered %u %s: %s", info->status, info->code, why);
	else
		LOG_FOR(rq->corr_id, DEBUG, "answered %u %s: %s", info->status, info->code, why);
}

void http_fail_for(struct http_req *rq, enum err_id err, const char *detail, struct span fields,
	enum reason_id reason)
{
	const struct err_info *info = &err_infos[err];
	char body[LIMIT_HTTP_ERROR_BODY_BYTES], lines[HTTP_FIELDS_BYTES];
	struct http_text json = http_text_on(body, sizeof(body));
	struct http_text head = http_text_on(lines, sizeof(lines));
	MUST(err > ERR_NONE && err < ERR_COUNT);
	count(rq, err, reason);
	/* The answer repeats the id, so it must be known before the body is written. */
	if (rq->corr_id[0] == '\0')
		http_reply_set_corr_id(http_exchange_of(rq));
	tell(rq, err, detail != NULL ? detail : info->message);
	HTTP_TEXT_LITERAL(&json, "{\"error\":");
	http_text_json(&json, info->code, 0);
	HTTP_TEXT_LITERAL(&json, ",\"message\":");
	http_text_json(&json, detail != NULL ? detail : info->message,
		sizeof(",\"corr_id\":\"\"}") + LIMIT_HTTP_CORR_ID_BYTES);
	HTTP_TEXT_LITERAL(&json, ",\"corr_id\":");
	http_text_json(&json, rq->corr_id, 0);
	HTTP_TEXT_LITERAL(&json, "}");
	http_text_put(&head, fields.data, fields.len);
	if (info->status == 429 || info->status == 503) {
		HTTP_TEXT_LITERAL(&head, "Retry-After: ");
		http_text_uint(&head, rq->server->c.conf->http_retry_after_s);
		HTTP_TEXT_LITERAL(&head, "\r\n");
	}
	http_reply(rq, &(struct http_reply){
			       .status = info->status,
			       .content_type = "application/json",
			       .fields = http_text_span(&head),
			       .inline_body = http_text_span(&json),
		       });
}

void http_fail_with(struct http_req *rq, enum err_id err, const char *detail, struct span fields)
{
	http_fail_for(rq, err, detail, fields, reason_of(err));
}

void http_fail(struct http_req *rq, enum err_id err, const char *detail)
{
	http_fail_with(rq, err, detail, (struct span){NULL, 0});
}
