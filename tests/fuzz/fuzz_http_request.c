/* Request heads: the same result however the bytes arrive, and every span within the buffer. What
 * was accepted goes on to the pieces that read targets, conditions and ranges. */
#include "dataplane/http/http_cond.h"
#include "dataplane/http/http_parse.h"
#include "dataplane/http/http_range.h"
#include "dataplane/http/http_target.h"
#include "tests/fuzz/fuzz.h"

static enum http_parse_status feed(struct http_parse *p, const uint8_t *data, size_t len)
{
	uint8_t *copy = fuzz_copy(data, len);
	enum http_parse_status s = http_parse_feed(p, copy, len);
	p->base = data;
	free(copy);
	return s;
}

static void check_slice(struct http_parse_slice s, size_t size)
{
	CHECK((size_t)s.off + s.len <= size);
}

static void check_bounds(const struct http_parse *p, enum http_parse_status s, size_t size)
{
	size_t end = s == HTTP_PARSE_DONE ? p->head_bytes : size;
	CHECK(end <= size && p->head_bytes <= LIMIT_HTTP_HEAD_BYTES);
	CHECK(p->field_count <= LIMIT_HTTP_FIELDS);
	CHECK((s == HTTP_PARSE_BAD) == (p->error != ERR_NONE));
	CHECK(p->target.len <= LIMIT_HTTP_TARGET_BYTES);
	check_slice(p->method_text, end);
	check_slice(p->target, end);
	check_slice(p->path_query, end);
	check_slice(p->host, end);
	for (unsigned i = 0; i < p->field_count; i++) {
		check_slice(p->fields[i].name, end);
		check_slice(p->fields[i].value, end);
		CHECK(http_field_is_token(http_parse_span(p, p->fields[i].name)));
	}
	CHECK(s != HTTP_PARSE_MORE || size < LIMIT_HTTP_HEAD_BYTES);
}

static void check_equal(const struct http_parse *a, const struct http_parse *b, bool is_done)
{
	CHECK(a->error == b->error && a->detail == b->detail && a->method == b->method);
	CHECK(a->field_count == b->field_count && a->seen == b->seen && a->repeated == b->repeated);
	CHECK(memcmp(a->fields, b->fields, a->field_count * sizeof a->fields[0]) == 0);
	CHECK(memcmp(&a->target, &b->target, sizeof a->target) == 0);
	CHECK(memcmp(&a->path_query, &b->path_query, sizeof a->path_query) == 0);
	CHECK(memcmp(&a->host, &b->host, sizeof a->host) == 0);
	if (!is_done)
		return;
	CHECK(a->head_bytes == b->head_bytes && a->body == b->body && a->form == b->form);
	CHECK(a->content_length == b->content_length && a->keep_alive == b->keep_alive);
	CHECK(a->expect_continue == b->expect_continue && a->minor_version == b->minor_version);
}

static void use(const struct http_parse *p)
{
	static uint8_t buf[HTTP_TARGET_PATH_BYTES];
	struct http_target t;
	struct http_range r;
	(void)http_target_parse(&t, http_parse_span(p, p->path_query), buf);
	struct http_cond c = http_cond_check(p, SPAN_LITERAL("\"b3:1\""));
	if (c.range_applies && http_range_parse(c.range, 10, &r) == HTTP_RANGE_OK)
		CHECK(r.first <= r.last && r.last < 10);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_parse whole, parts;
	http_parse_init(&whole);
	enum http_parse_status want = feed(&whole, data, size);
	check_bounds(&whole, want, size);

	/* Steps that grow, so that long inputs are still split in many places. */
	for (unsigned seed = 0; seed < 3; seed++) {
		enum http_parse_status s = HTTP_PARSE_MORE;
		http_parse_init(&parts);
		for (size_t len = seed; len < size && s == HTTP_PARSE_MORE;
			len += 1 + (len + seed) / 32)
			s = feed(&parts, data, len);
		if (s == HTTP_PARSE_MORE)
			s = feed(&parts, data, size);
		CHECK(s == want);
		check_equal(&whole, &parts, s == HTTP_PARSE_DONE);
	}
	if (want == HTTP_PARSE_DONE)
		use(&whole);
	return 0;
}
