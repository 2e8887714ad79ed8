#include "dataplane/http/http_conn.h"

#include <string.h>

void http_body_drop(struct http_exchange *x)
{
	struct http_body *body = &x->rq.body;
	const struct http_blocks *blocks = &x->rq.server->c.blocks;
	for (uint32_t i = 0; i < body->count; i++)
		blocks->give(blocks->ctx, body->handles[i]);
	body->count = 0;
}

static bool append(struct http_exchange *x, struct span data)
{
	struct http_body *body = &x->rq.body;
	const struct http_blocks *blocks = &x->rq.server->c.blocks;
	while (data.len != 0) {
		uint32_t at = body->bytes % LIMIT_CHUNK_BYTES;
		if (at == 0) {
			MUST(body->count < LIMIT_OBJECT_CHUNKS); /* the cap was checked before */
			uint8_t *block = blocks->take(blocks->ctx, &body->handles[body->count]);
			if (block == NULL)
				return false;
			body->blocks[body->count++] = block;
		}
		size_t n = LIMIT_CHUNK_BYTES - at;
		if (n > data.len)
			n = data.len;
		memcpy(body->blocks[body->count - 1] + at, data.data, n);
		body->bytes += (uint32_t)n;
		data.data += n;
		data.len -= n;
	}
	return true;
}

static enum http_body_status fail(struct http_exchange *x, enum err_id err, const char *detail)
{
	http_fail(&x->rq, err, detail);
	return HTTP_BODY_FAILED;
}

static enum http_body_status read_length(struct http_exchange *x, struct net_conn *net)
{
	while (x->body_left != 0) {
		struct span in = net_peek(net);
		if (in.len == 0)
			return HTTP_BODY_MORE;
		if (in.len > x->body_left)
			in.len = x->body_left;
		if (!append(x, in))
			return fail(x, x->rq.server->c.blocks.when_empty, NULL);
		x->body_left -= in.len;
		net_consume(net, in.len);
	}
	return HTTP_BODY_DONE;
}

static enum http_body_status read_chunked(struct http_exchange *x, struct net_conn *net)
{
	uint64_t cap = x->rq.server->c.conf->http_body_max_bytes;
	for (;;) {
		struct span in = net_peek(net), data;
		size_t used;
		if (in.len == 0)
			return HTTP_BODY_MORE;
		enum http_chunked_status status = http_chunked_feed(&x->chunked, in, &used, &data);
		if (status == HTTP_CHUNKED_BAD)
			return fail(x, (enum err_id)x->chunked.error, x->chunked.detail);
		/* What a chunk announces counts at once: a body over the cap is refused before it comes. */
		uint64_t announced = data.len + x->chunked.left;
		if (announced < data.len || announced > cap || x->rq.body.bytes > cap - announced)
			return fail(x, ERR_BODY_CAP, NULL);
		if (!append(x, data))
			return fail(x, x->rq.server->c.blocks.when_empty, NULL);
		net_consume(net, used);
		if (status == HTTP_CHUNKED_DONE)
			return HTTP_BODY_DONE;
	}
}

enum http_body_status http_body_read(struct http_exchange *x)
{
	struct net_conn *net = x->rq.conn->net;
	enum http_body_status status = x->rq.head.body == HTTP_PARSE_BODY_CHUNKED
					       ? read_chunked(x, net)
					       : read_length(x, net);
	if (status == HTTP_BODY_DONE)
		x->is_body_read = true;
	return status;
}
