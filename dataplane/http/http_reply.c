#include "dataplane/http/http_conn.h"

#include "dataplane/http/http_text.h"
#include "lib/clock/clock.h"

/* Index + 1 of the STATUS label of each status; 0: not in the set. */
static const uint8_t status_labels[600] = {
#define LABEL_STATUS(id, text) [id] = LABEL_STATUS_##id + 1,
#include "config/labels.def"
};

#define LINE(status, reason) \
	[LABEL_STATUS_##status] = {"HTTP/1.1 " #status " " reason "\r\n", \
		sizeof("HTTP/1.1 " #status " " reason "\r\n") - 1}
static const struct {
	const char *text;
	size_t len;
} status_lines[TALLY_SET_STATUS] = {
	LINE(200, "OK"),
	LINE(201, "Created"),
	LINE(202, "Accepted"),
	LINE(204, "No Content"),
	LINE(206, "Partial Content"),
	LINE(304, "Not Modified"),
	LINE(400, "Bad Request"),
	LINE(401, "Unauthorized"),
	LINE(403, "Forbidden"),
	LINE(404, "Not Found"),
	LINE(405, "Method Not Allowed"),
	LINE(408, "Request Timeout"),
	LINE(409, "Conflict"),
	LINE(412, "Precondition Failed"),
	LINE(413, "Content Too Large"),
	LINE(414, "URI Too Long"),
	LINE(415, "Unsupported Media Type"),
	LINE(416, "Range Not Satisfiable"),
	LINE(429, "Too Many Requests"),
	LINE(431, "Request Header Fields Too Large"),
	LINE(500, "Internal Server Error"),
	LINE(501, "Not Implemented"),
	LINE(502, "Bad Gateway"),
	LINE(503, "Service Unavailable"),
	LINE(504, "Gateway Timeout"),
	LINE(505, "HTTP Version Not Supported"),
	LINE(507, "Insufficient Storage"),
};
#undef LINE

enum label_status http_reply_status_label(uint16_t status)
{
	MUST(status < ARRAY_LEN(status_labels) && status_labels[status] != 0);
	return (enum label_status)(status_labels[status] - 1);
}

void http_reply_set_corr_id(struct http_exchange *x)
{
	struct http_req *rq = &x->rq;
	struct http_server *s = rq->server;
	struct span given;
	if (http_parse_get(&rq->head, HTTP_FIELD_X_CORR_ID, &given) == 1 &&
		http_field_corr_id_is_valid(given)) {
		memcpy(rq->corr_id, given.data, given.len);
		rq->corr_id[given.len] = '\0';
		return;
	}
	struct http_text t = http_text_on(rq->corr_id, LIMIT_HTTP_CORR_ID_BYTES);
	http_text_put(&t, s->corr_prefix, sizeof(s->corr_prefix));
	http_text_hex(&t, s->corr_next++, 12);
	*t.at = '\0';
}

/* Date changes once a second: it is printed then, together with what never changes. */
static void put_common(struct http_server *s, struct http_text *t)
{
	uint64_t now = http_server_now(s);
	if (UNLIKELY(now >= s->common_until_ns)) {
		uint64_t wall = clock_wall_ns();
		struct http_text common = http_text_on(s->common, sizeof(s->common));
		HTTP_TEXT_LITERAL(&common, "Date: ");
		http_date_print(wall / NS_PER_S, common.at);
		common.at += HTTP_DATE_BYTES;
		HTTP_TEXT_LITERAL(&common, "\r\n" HTTP_COMMON_FIELDS);
		s->common_until_ns = now + (NS_PER_S - wall % NS_PER_S);
	}
	http_text_put(t, s->common, sizeof(s->common));
}

static bool has_no_body(uint16_t status)
{
	return status == 204 || status == 304;
}

static void put_framing(struct http_exchange *x, struct http_text *t, uint64_t length)
{
	if (x->is_chunked) {
		HTTP_TEXT_LITERAL(t, "Transfer-Encoding: chunked\r\n");
	} else if (length != HTTP_LENGTH_UNKNOWN && !has_no_body(x->status)) {
		HTTP_TEXT_LITERAL(t, "Content-Length: ");
		http_text_uint(t, length);
		HTTP_TEXT_LITERAL(t, "\r\n");
	}
	if (!x->is_kept)
		HTTP_TEXT_LITERAL(t, "Connection: close\r\n");
	else if (x->rq.head.minor_version == 0)
		HTTP_TEXT_LITERAL(t, "Connection: keep-alive\r\n");
}

static void put_head(
	struct http_exchange *x, struct http_text *t, const struct http_reply *r, uint64_t length)
{
	enum label_status label = http_reply_status_label(r->status);
	http_text_put(t, status_lines[label].text, status_lines[label].len);
	put_common(x->rq.server, t);
	HTTP_TEXT_LITERAL(t, "X-Corr-ID: ");
	http_text_string(t, x->rq.corr_id);
	HTTP_TEXT_LITERAL(t, "\r\n");
	put_framing(x, t, length);
	if (r->content_type != NULL) {
		HTTP_TEXT_LITERAL(t, "Content-Type: ");
		http_text_string(t, r->content_type);
		HTTP_TEXT_LITERAL(t, "\r\n");
	}
	http_text_put(t, r->fields.data, r->fields.len);
	HTTP_TEXT_LITERAL(t, "\r\n");
}

void http_reply(struct http_req *rq, const struct http_reply *r)
{
	struct http_exchange *x = http_exchange_of(rq);
	struct http_conn *c = rq->conn;
	MUST(c->state != HTTP_CONN_REPLY && x->job == NULL);
	MUST(r->inline_body.len <= HTTP_INLINE_BYTES && r->fields.len <= HTTP_FIELDS_BYTES);
	uint64_t length = r->next != NULL ? r->length : r->inline_body.len;
	bool is_unknown = length == HTTP_LENGTH_UNKNOWN;
	if (rq->corr_id[0] == '\0')
		http_reply_set_corr_id(x);
	x->status = r->status;
	x->is_chunked = is_unknown && rq->head.minor_version == 1;
	x->is_kept = rq->head.keep_alive && x->is_body_read && !rq->server->is_draining &&
		     (!is_unknown || x->is_chunked);
	/* What of a 100 Continue has not gone by now need not go any more. */
	struct http_text t = http_text_on(x->out, sizeof(x->out));
	put_head(x, &t, r, length);
	bool is_bare = rq->method == LABEL_METHOD_HEAD || has_no_body(r->status);
	if (!is_bare && r->next == NULL)
		http_text_put(&t, r->inline_body.data, r->inline_body.len);
	MUST(!t.is_cut);
	x->out_len = (uint32_t)http_text_len(&t);
	x->next = r->next;
	x->finish = r->finish;
	memcpy(x->ctx_words, r->ctx_words, sizeof(x->ctx_words));
	x->offset = 0;
	x->left = is_bare || r->next == NULL ? 0 : length;
	x->is_last = x->left == 0;
	c->state = HTTP_CONN_REPLY;
	if (!c->is_driving)
		http_conn_queue(c);
}

bool http_reply_send_out(struct http_exchange *x)
{
	struct net_conn *net = x->rq.conn->net;
	if (!net_send_copy(net, x->out, x->out_len)) {
		net_flush(net);
		if (!net_send_copy(net, x->out, x->out_len))
			return false;
	}
	x->out_len = 0;
	return true;
}

static bool send_held(struct http_exchange *x)
{
	struct net_conn *net = x->rq.conn->net;
	if (!net_send_ref(net, &x->held)) {
		net_flush(net);
		if (!net_send_ref(net, &x->held))
			return false;
	}
	x->held.len = 0;
	return true;
}

/* Puts small text behind what waits in `out`. */
static void append_out(struct http_exchange *x, const char *text, size_t len)
{
	MUST_HOT(x->out_len + len <= sizeof(x->out));
	memcpy(x->out + x->out_len, text, len);
	x->out_len += (uint32_t)len;
}

/* Asks for the next piece. False: there is none although there should be. */
static bool fetch(struct http_exchange *x)
{
	if (!x->next(x->ctx_words, x->offset, &x->held))
		return false;
	uint64_t len = x->held.len;
	if (x->left != HTTP_LENGTH_UNKNOWN) {
		MUST(len <= x->left); /* else the bytes of this answer would be read as the next */
		x->left -= len;
		x->is_last = x->left == 0;
		x->offset += len;
		return len != 0;
	}
	x->is_last = len == 0;
	if (x->is_chunked && len != 0) {
		char head[HTTP_CHUNKED_HEAD_BYTES];
		size_t head_len = http_chunked_head(head, len);
		append_out(x, head, head_len);
	} else if (x->is_chunked) {
		append_out(x, HTTP_CHUNKED_END, sizeof(HTTP_CHUNKED_END) - 1);
	}
	x->offset += len;
	return true;
}

enum http_reply_status http_reply_send(struct http_exchange *x)
{
	for (;;) {
		if (!x->is_last && x->held.len == 0 && !fetch(x)) {
			x->held.len = 0;
			return HTTP_REPLY_CUT;
		}
		if (x->out_len != 0 && !http_reply_send_out(x))
			return HTTP_REPLY_WAIT;
		if (x->held.len == 0)
			return HTTP_REPLY_DONE;
		if (!send_held(x))
			return HTTP_REPLY_WAIT;
		if (x->is_chunked)
			append_out(x, HTTP_CHUNKED_TAIL, sizeof(HTTP_CHUNKED_TAIL) - 1);
	}
}

void http_reply_drop(struct http_exchange *x)
{
	if (x->held.len != 0 && x->held.release != NULL)
		x->held.release(x->held.ctx);
	x->held.len = 0;
	if (x->finish != NULL)
		x->finish(x->ctx_words);
	x->finish = NULL;
}
