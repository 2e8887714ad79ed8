#include "tools/millload/response.h"

#include <string.h>

#include "lib/base/registry.h"

/* "HTTP/1.1 200" */
enum { VERSION_BYTES = 8, STATUS_AT = VERSION_BYTES + 1, STATUS_LINE_MIN = STATUS_AT + 3 };

void response_init(struct response *r)
{
	*r = (struct response){0};
}

static enum response_verdict bad(struct response *r, enum failure fault)
{
	r->fault = fault;
	return RESPONSE_BAD;
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* Length of the head with its empty line, 0 when it is not whole. */
static size_t head_length(struct span in)
{
	const uint8_t *end = memmem(in.data, in.len, "\r\n\r\n", 4);
	return end == NULL ? 0 : (size_t)(end - in.data) + 4;
}

/* The first line; `line` has no CRLF. */
static bool take_status(struct response *r, struct span line)
{
	if (line.len < STATUS_LINE_MIN || memcmp(line.data, "HTTP/1.", 7) != 0)
		return false;
	uint8_t minor = line.data[7];
	if ((minor != '0' && minor != '1') || line.data[VERSION_BYTES] != ' ')
		return false;
	const uint8_t *code = line.data + STATUS_AT;
	if (code[0] < '1' || code[0] > '5' || !is_digit(code[1]) || !is_digit(code[2]))
		return false;
	if (line.len > STATUS_LINE_MIN && line.data[STATUS_LINE_MIN] != ' ')
		return false;
	r->status = (uint16_t)((code[0] - '0') * 100 + (code[1] - '0') * 10 + (code[2] - '0'));
	r->is_last = minor == '0';
	return true;
}

static struct span trim(struct span s)
{
	while (s.len != 0 && (s.data[0] == ' ' || s.data[0] == '\t'))
		s = (struct span){s.data + 1, s.len - 1};
	while (s.len != 0 && (s.data[s.len - 1] == ' ' || s.data[s.len - 1] == '\t'))
		s.len--;
	return s;
}

static bool take_length(struct response *r, struct span value)
{
	uint64_t n = 0;
	if (value.len == 0 || value.len > 15)
		return false;
	for (size_t i = 0; i < value.len; i++) {
		if (!is_digit(value.data[i]))
			return false;
		n = n * 10 + (uint64_t)(value.data[i] - '0');
	}
	r->length = n;
	return true;
}

struct head {
	bool has_length;
	bool is_chunked;
};

/* One field line. False: malformed. */
static bool take_field(struct response *r, struct head *head, struct span line)
{
	const uint8_t *colon = memchr(line.data, ':', line.len);
	if (colon == NULL || colon == line.data)
		return false;
	struct span name = {line.data, (size_t)(colon - line.data)};
	/* Few names matter; their lengths and first letters sort out the rest. */
	uint8_t first = name.data[0] | 0x20;
	if (first != 'c' && first != 't')
		return true;
	struct span value = trim((struct span){colon + 1, line.len - name.len - 1});
	if (name.len == 14 && span_equals_nocase(name, SPAN_LITERAL("content-length"))) {
		if (head->has_length)
			return false;
		head->has_length = true;
		return take_length(r, value);
	}
	if (name.len == 17 && span_equals_nocase(name, SPAN_LITERAL("transfer-encoding")))
		head->is_chunked = true;
	if (name.len == 10 && span_equals_nocase(name, SPAN_LITERAL("connection")) &&
		span_equals_nocase(value, SPAN_LITERAL("close")))
		r->is_last = true;
	return true;
}

static bool take_lines(struct response *r, struct head *head, struct span in)
{
	/* in ends with an empty line */
	const uint8_t *at = in.data;
	const uint8_t *end = in.data + in.len - 2;
	bool is_first = true;
	while (at < end) {
		const uint8_t *cr = memchr(at, '\r', (size_t)(end - at));
		if (cr == NULL || cr[1] != '\n')
			return false;
		struct span line = {at, (size_t)(cr - at)};
		if (!(is_first ? take_status(r, line) : take_field(r, head, line)))
			return false;
		is_first = false;
		at = cr + 2;
	}
	return true;
}

static bool has_no_body(const struct response *r, bool is_head)
{
	return is_head || r->status < 200 || r->status == 204 || r->status == 304;
}

static enum response_verdict read_head(
	struct response *r, struct span in, bool is_head, size_t *used)
{
	size_t len = head_length(in);
	if (len == 0)
		return in.len >= LIMIT_HTTP_HEAD_BYTES ? bad(r, FAILURE_MALFORMED) : RESPONSE_MORE;
	struct head head = {0};
	r->length = r->at = 0;
	if (!take_lines(r, &head, (struct span){in.data, len}))
		return bad(r, FAILURE_MALFORMED);
	*used = len;
	if (has_no_body(r, is_head)) {
		r->length = 0;
		return RESPONSE_DONE;
	}
	if (head.is_chunked)
		return bad(r, FAILURE_CHUNKED);
	if (!head.has_length)
		return bad(r, FAILURE_UNFRAMED);
	r->in_body = true;
	return RESPONSE_DONE;
}

static enum response_verdict read_body(struct response *r, struct span in, size_t *used)
{
	uint64_t left = r->length - r->at;
	size_t take = in.len < left ? in.len : (size_t)left;
	r->piece = (struct span){in.data, take};
	r->at += take;
	*used += take;
	if (r->at < r->length)
		return RESPONSE_MORE;
	r->in_body = false;
	return RESPONSE_DONE;
}

enum response_verdict response_feed(struct response *r, struct span in, bool is_head, size_t *used)
{
	*used = 0;
	r->piece = (struct span){in.data, 0};
	while (!r->in_body) {
		size_t head_used = 0;
		struct span rest = {in.data + *used, in.len - *used};
		enum response_verdict verdict = read_head(r, rest, is_head, &head_used);
		*used += head_used;
		if (verdict != RESPONSE_DONE)
			return verdict;
		/* An interim answer announces the real one. */
		if (r->status >= 200 && !r->in_body)
			return RESPONSE_DONE;
	}
	return read_body(r, (struct span){in.data + *used, in.len - *used}, used);
}
