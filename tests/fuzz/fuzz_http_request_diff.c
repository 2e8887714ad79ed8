/* Differential: where our parser accepts a head, Debian's http-parser must read the same method,
 * target, fields and body length from it. */
#include <http_parser.h>

#include "dataplane/http/http_parse.h"
#include "tests/fuzz/fuzz.h"

struct pair {
	struct span name, value;
};

/* What http-parser saw. Each callback piece follows the one before it, as all input is given at
 * once. */
struct seen {
	struct span url;
	struct pair fields[LIMIT_HTTP_FIELDS + 1];
	unsigned count;
	bool in_value, is_complete;
};

static void extend(struct span *s, const char *at, size_t len)
{
	if (s->data == NULL)
		*s = (struct span){(const uint8_t *)at, 0};
	CHECK(s->data + s->len == (const uint8_t *)at || len == 0 || s->len == 0);
	if (s->len == 0)
		s->data = (const uint8_t *)at;
	s->len += len;
}

static int on_url(http_parser *hp, const char *at, size_t len)
{
	extend(&((struct seen *)hp->data)->url, at, len);
	return 0;
}

static int on_field(http_parser *hp, const char *at, size_t len)
{
	struct seen *s = hp->data;
	if (s->count == 0 || s->in_value) {
		CHECK(s->count < ARRAY_LEN(s->fields));
		s->fields[s->count++] = (struct pair){{NULL, 0}, {NULL, 0}};
		s->in_value = false;
	}
	extend(&s->fields[s->count - 1].name, at, len);
	return 0;
}

static int on_value(http_parser *hp, const char *at, size_t len)
{
	struct seen *s = hp->data;
	s->in_value = true;
	extend(&s->fields[s->count - 1].value, at, len);
	return 0;
}

static int on_headers_complete(http_parser *hp)
{
	((struct seen *)hp->data)->is_complete = true;
	http_parser_pause(hp, 1);
	return 0;
}

static const http_parser_settings settings = {
	.on_url = on_url,
	.on_header_field = on_field,
	.on_header_value = on_value,
	.on_headers_complete = on_headers_complete,
};

/* Right by RFC 9112, and refused by http-parser: a length near 2^64. */
static bool is_known_refusal(const struct http_parse *p, enum http_errno e)
{
	return e == HPE_INVALID_CONTENT_LENGTH && p->content_length >= UINT64_MAX / 10 - 1;
}

static void check_fields(const struct http_parse *p, const struct seen *s)
{
	CHECK(s->count == p->field_count);
	for (unsigned i = 0; i < s->count; i++) {
		CHECK(span_equals(s->fields[i].name, http_parse_span(p, p->fields[i].name)));
		struct span v = http_field_trim(s->fields[i].value);
		CHECK(span_equals(v, http_parse_span(p, p->fields[i].value)));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_parse p;
	struct seen s = {.count = 0};
	http_parser hp;
	http_parse_init(&p);
	if (http_parse_feed(&p, data, size) != HTTP_PARSE_DONE || p.method == HTTP_METHOD_OTHER)
		return 0;
	http_parser_init(&hp, HTTP_REQUEST);
	hp.data = &s;
	(void)http_parser_execute(&hp, &settings, (const char *)data, p.head_bytes);
	enum http_errno e = HTTP_PARSER_ERRNO(&hp);
	if (e != HPE_OK && e != HPE_PAUSED) {
		CHECK(is_known_refusal(&p, e));
		return 0;
	}
	CHECK(s.is_complete);
	CHECK(strcmp(http_method_str((enum http_method)hp.method),
		      http_parse_method_name(p.method)) == 0);
	CHECK(hp.http_major == 1 && hp.http_minor == p.minor_version);
	CHECK(span_equals(s.url, http_parse_span(&p, p.target)));
	check_fields(&p, &s);
	CHECK(((hp.flags & F_CHUNKED) != 0) == (p.body == HTTP_PARSE_BODY_CHUNKED));
	if (p.body != HTTP_PARSE_BODY_CHUNKED) {
		uint64_t theirs = (hp.flags & F_CONTENTLENGTH) != 0 ? hp.content_length : 0;
		CHECK(theirs == p.content_length);
	}
	return 0;
}
