#include "dataplane/http/http_cond.h"
#include "dataplane/http/http_range.h"
#include "dataplane/http/http_text.h"
#include "dataplane/storage/storage_private.h"

/* What an answer under way needs; lies in http_reply.ctx_words. */
struct sending {
	const struct storage *st;
	const struct storage_object *object;
	uint64_t first; /* byte of the object the answer starts with */
	uint64_t end;	/* one past its last */
};
static_assert(
	sizeof(struct sending) <= sizeof(((struct http_reply *)0)->ctx_words), "fits the reply");

/* References into the slab: objects are never removed, so nothing has to be released. */
static bool next(void *ctx, uint64_t offset, struct net_ref *out)
{
	const struct sending *s = ctx;
	uint64_t at = s->first + offset, left = s->end - at;
	uint32_t within = at % LIMIT_CHUNK_BYTES;
	uint32_t handle = s->object->chunks[at / LIMIT_CHUNK_BYTES];
	uint64_t len = LIMIT_CHUNK_BYTES - within;
	*out = (struct net_ref){
		.data = storage_slab_at(&s->st->slab, handle) + within,
		.len = (uint32_t)(len < left ? len : left),
	};
	return true;
}

static void put_content_range(struct http_text *t, const struct http_range *range, uint32_t length)
{
	HTTP_TEXT_LITERAL(t, "Content-Range: bytes ");
	if (range != NULL) {
		http_text_uint(t, range->first);
		HTTP_TEXT_LITERAL(t, "-");
		http_text_uint(t, range->last);
	} else {
		HTTP_TEXT_LITERAL(t, "*");
	}
	HTTP_TEXT_LITERAL(t, "/");
	http_text_uint(t, length);
	HTTP_TEXT_LITERAL(t, "\r\n");
}

static enum http_verdict fail_range(struct http_req *rq, const struct storage_object *object)
{
	char lines[128];
	struct http_text t = http_text_on(lines, sizeof(lines));
	put_content_range(&t, NULL, object->length);
	HTTP_TEXT_LITERAL(&t, "Accept-Ranges: bytes\r\n");
	http_fail_with(rq, ERR_RANGE, NULL, http_text_span(&t));
	return HTTP_ANSWERED;
}

/* The fields of 200, 206 and 304. `etag` has its quotes. */
static void put_fields(struct http_text *t, struct span etag)
{
	HTTP_TEXT_LITERAL(t, "Accept-Ranges: bytes\r\n"
			     "Vary: Accept-Encoding\r\n"
			     "Cache-Control: public, max-age=31536000, immutable\r\n"
			     "ETag: ");
	http_text_put(t, etag.data, etag.len);
	HTTP_TEXT_LITERAL(t, "\r\n");
}

static enum http_verdict send_object(struct http_req *rq, const struct storage *st,
	const struct storage_object *object, struct span etag, struct span range_field)
{
	char lines[HTTP_FIELDS_BYTES];
	struct http_text t = http_text_on(lines, sizeof(lines));
	struct sending sending = {st, object, 0, object->length};
	struct http_reply reply = {
		.status = 200, .content_type = "application/octet-stream", .next = next};
	struct http_range range;
	put_fields(&t, etag);
	switch (http_range_parse(range_field, object->length, &range)) {
	case HTTP_RANGE_UNSATISFIABLE:
		return fail_range(rq, object);
	case HTTP_RANGE_OK:
		reply.status = 206;
		sending.first = range.first;
		sending.end = range.last + 1;
		put_content_range(&t, &range, object->length);
		break;
	case HTTP_RANGE_NONE:
	case HTTP_RANGE_MULTI: /* a server may ignore it (RFC 9110 14.2): the whole */
		break;
	}
	reply.length = sending.end - sending.first;
	reply.fields = http_text_span(&t);
	memcpy(reply.ctx_words, &sending, sizeof(sending));
	http_reply(rq, &reply);
	return HTTP_ANSWERED;
}

enum http_verdict storage_get(struct http_req *rq, struct storage *st)
{
	struct b3 address;
	if (storage_address_parse(rq, &address) != 0)
		return HTTP_ANSWERED;
	const struct storage_object *object = storage_index_find(&st->index, &address);
	if (object == NULL) {
		http_fail(rq, ERR_NOT_FOUND, "no object has this address here");
		return HTTP_ANSWERED;
	}
	/* The address in the path is in its only spelling: it is the tag. */
	char tag[B3_TEXT + 2], lines[HTTP_FIELDS_BYTES];
	tag[0] = tag[B3_TEXT + 1] = '"';
	memcpy(tag + 1, rq->below.data + 1, B3_TEXT);
	struct span etag = {(const uint8_t *)tag, sizeof(tag)};
	struct http_cond cond = http_cond_check(&rq->head, etag);
	switch (cond.verdict) {
	case HTTP_COND_FAILED:
		http_fail(rq, ERR_PRECONDITION, NULL);
		return HTTP_ANSWERED;
	case HTTP_COND_NOT_MODIFIED: {
		struct http_text t = http_text_on(lines, sizeof(lines));
		put_fields(&t, etag);
		http_reply(rq, &(struct http_reply){.status = 304, .fields = http_text_span(&t)});
		return HTTP_ANSWERED;
	}
	case HTTP_COND_PROCEED:
		break;
	}
	return send_object(rq, st, object, etag, cond.range);
}
