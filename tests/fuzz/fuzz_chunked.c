/* Chunked bodies: the same body and end however the bytes arrive, and the same as Debian's
 * http-parser finds where both accept. */
#include <http_parser.h>

#include "dataplane/http/http_chunked.h"
#include "tests/fuzz/fuzz.h"

struct outcome {
	enum http_chunked_status status;
	uint8_t error;
	size_t used, len;
	uint8_t *body;
};

static struct outcome decode(const uint8_t *data, size_t size, size_t step)
{
	struct http_chunked c;
	struct outcome o = {HTTP_CHUNKED_MORE, 0, 0, 0, fuzz_copy(data, size)};
	http_chunked_init(&c);
	while (o.used < size && o.status == HTTP_CHUNKED_MORE) {
		size_t n = size - o.used < step ? size - o.used : step, at = 0;
		uint8_t *copy = fuzz_copy(data + o.used, n);
		while (at < n && o.status == HTTP_CHUNKED_MORE) {
			size_t used = SIZE_MAX;
			struct span d;
			o.status =
				http_chunked_feed(&c, (struct span){copy + at, n - at}, &used, &d);
			CHECK(used != 0 && used <= n - at && d.len <= used);
			memcpy(o.body + o.len, d.data, d.len);
			o.len += d.len;
			at += used;
		}
		o.used += at;
		free(copy);
	}
	o.error = c.error;
	CHECK((o.status == HTTP_CHUNKED_BAD) == (c.error != ERR_NONE));
	return o;
}

struct seen {
	const uint8_t *body;
	size_t len, len_max;
	bool is_complete;
};

static int on_body(http_parser *hp, const char *at, size_t len)
{
	struct seen *s = hp->data;
	CHECK(len <= s->len_max - s->len && memcmp(s->body + s->len, at, len) == 0);
	s->len += len;
	return 0;
}

static int on_message_complete(http_parser *hp)
{
	((struct seen *)hp->data)->is_complete = true;
	http_parser_pause(hp, 1);
	return 0;
}

/* http-parser reads trailers as if they were fields of the head, so it may refuse them. */
static void compare(const struct outcome *o, const uint8_t *data)
{
	static const char head[] = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
	static const http_parser_settings settings = {
		.on_body = on_body, .on_message_complete = on_message_complete};
	struct seen s = {o->body, 0, o->len, false};
	http_parser hp;
	http_parser_init(&hp, HTTP_REQUEST);
	hp.data = &s;
	CHECK(http_parser_execute(&hp, &settings, head, sizeof head - 1) == sizeof head - 1);
	size_t n = http_parser_execute(&hp, &settings, (const char *)data, o->used);
	enum http_errno e = HTTP_PARSER_ERRNO(&hp);
	bool has_trailer =
		memcmp(data + o->used - 4, "\r\n\r\n", 4) == 0 &&
		(o->used < 5 || memchr("0123456789abcdefABCDEF", data[o->used - 5], 22) == NULL);
	if (e != HPE_PAUSED) {
		CHECK(has_trailer);
		return;
	}
	/* It pauses on the last byte or behind it. */
	CHECK(s.is_complete && s.len == o->len && n + 1 >= o->used);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct outcome whole = decode(data, size, size + 1);
	for (size_t step = 1; step < size; step += 1 + step * 3 / 2) {
		struct outcome o = decode(data, size, step);
		CHECK(o.status == whole.status && o.error == whole.error && o.used == whole.used);
		CHECK(o.len == whole.len && memcmp(o.body, whole.body, o.len) == 0);
		free(o.body);
	}
	if (whole.status == HTTP_CHUNKED_DONE)
		compare(&whole, data);
	free(whole.body);
	return 0;
}
