#include "dataplane/http/http_parse.h"

#include <arpa/inet.h>
#include <nmmintrin.h>
#include <string.h>

/* The state is coarse: a state that runs out of bytes is entered again at `at`, which has passed
 * all bytes it need not look at any more. `mark` is where the element being read starts. */
enum parse_state {
	PARSE_START,
	PARSE_METHOD,
	PARSE_TARGET,
	PARSE_VERSION,
	PARSE_LINE_END, /* of the request line */
	PARSE_FIELD,	/* at the start of a line: a field or the end */
	PARSE_NAME,
	PARSE_SPACE, /* before the value */
	PARSE_VALUE,
};

/* What one state came to. */
enum step { STEP_ON, STEP_MORE, STEP_BAD, STEP_DONE };

static_assert((int)LIMIT_HTTP_HEAD_BYTES <= UINT16_MAX, "slices are 16 bits");
static_assert((int)LIMIT_HTTP_FIELDS <= UINT8_MAX, "field indexes are 8 bits");
static_assert((int)HTTP_FIELD_COUNT <= 32, "one bit a known field");

/* RFC 3986: what path and query consist of. */
static const uint8_t target_char[256] = {
	['!'] = 1,
	['$' ... ';'] = 1, /* $%&'()*+,-./0-9:; */
	['='] = 1,
	['?' ... 'Z'] = 1, /* ?@A-Z */
	['_'] = 1,
	['a' ... 'z'] = 1,
	['~'] = 1,
};

/* RFC 3986 reg-name without escapes. */
static const uint8_t host_char[256] = {
	['!'] = 1,
	['$'] = 1,
	['&' ... '.'] = 1, /* &'()*+,-. */
	['0' ... '9'] = 1,
	[';'] = 1,
	['='] = 1,
	['A' ... 'Z'] = 1,
	['_'] = 1,
	['a' ... 'z'] = 1,
	['~'] = 1,
};

static const char *const method_names[HTTP_METHOD_COUNT] = {
#define LABEL_METHOD(id, text) [HTTP_METHOD_##id] = text,
#include "config/labels.def"
};

const char *http_parse_method_name(enum http_parse_method method)
{
	return method_names[method];
}

void http_parse_init(struct http_parse *p)
{
	/* `known` and `fields` are read only where `seen` and `field_count` say so. */
	memset(p, 0, offsetof(struct http_parse, known));
	p->method = HTTP_METHOD_OTHER;
	p->state = PARSE_START;
}

static enum step bad(struct http_parse *p, enum err_id error, const char *detail)
{
	p->error = (uint8_t)error;
	p->detail = detail;
	return STEP_BAD;
}

static enum step go(struct http_parse *p, enum parse_state state, size_t at)
{
	p->state = (uint8_t)state;
	p->at = (uint32_t)at;
	return STEP_ON;
}

static enum step more(struct http_parse *p, size_t at)
{
	p->at = (uint32_t)at;
	return STEP_MORE;
}

static struct http_parse_slice slice(size_t from, size_t to)
{
	return (struct http_parse_slice){(uint16_t)from, (uint16_t)(to - from)};
}

/* STEP_ON when CR LF stands at `at`; nothing but that is a line end. */
static enum step line_end(struct http_parse *p, const uint8_t *b, size_t at, size_t len)
{
	if (at == len)
		return more(p, at);
	if (b[at] != '\r')
		return bad(p, ERR_BAD_REQUEST,
			b[at] == '\n' ? "bare LF" : "bad byte where a line must end");
	if (at + 1 == len)
		return more(p, at);
	return b[at + 1] == '\n' ? STEP_ON : bad(p, ERR_BAD_REQUEST, "bare CR");
}

/* The first byte in [at, end) that is not of a target, or end. */
static size_t skip_target(const uint8_t *b, size_t at, size_t end)
{
	const __m128i ranges = _mm_setr_epi8(
		'!', '!', '$', ';', '=', '=', '?', 'Z', '_', '_', 'a', 'z', '~', '~', 0, 0);
	for (; end - at >= 16; at += 16) {
		int i = _mm_cmpestri(ranges, 14, _mm_loadu_si128((const __m128i *)(b + at)), 16,
			_SIDD_UBYTE_OPS | _SIDD_CMP_RANGES | _SIDD_NEGATIVE_POLARITY |
				_SIDD_LEAST_SIGNIFICANT);
		if (i != 16)
			return at + (size_t)i;
	}
	while (at < end && target_char[b[at]])
		at++;
	return at;
}

/* The first control byte in [at, len), or len. A tab stops it too. */
static size_t skip_value(const uint8_t *b, size_t at, size_t len)
{
	const __m128i last_control = _mm_set1_epi8(0x1f), del = _mm_set1_epi8(0x7f);
	for (; len - at >= 16; at += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(b + at));
		__m128i stop = _mm_or_si128(
			_mm_cmpeq_epi8(_mm_min_epu8(v, last_control), v), _mm_cmpeq_epi8(v, del));
		unsigned mask = (unsigned)_mm_movemask_epi8(stop);
		if (mask != 0)
			return at + (size_t)__builtin_ctz(mask);
	}
	while (at < len && b[at] >= 0x20 && b[at] != 0x7f)
		at++;
	return at;
}

static enum http_parse_method method_of(struct span m)
{
	for (unsigned i = 0; i < HTTP_METHOD_OTHER; i++) {
		/* The first bytes differ but for those of P..., so this is one memcmp or two. */
		if (method_names[i][0] == m.data[0] && strlen(method_names[i]) == m.len &&
			memcmp(method_names[i], m.data, m.len) == 0)
			return i;
	}
	return HTTP_METHOD_OTHER;
}

static bool port_is_valid(struct span digits)
{
	uint64_t port;
	if (digits.len == 0)
		return true; /* "host:" is allowed by RFC 3986 and means the default */
	return digits.len <= 5 && http_field_uint_parse(digits, &port) == 0 && port <= UINT16_MAX;
}

static bool is_hex(uint8_t c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* "[...]" at the start of the host; returns its length or 0. */
static size_t ip_literal(struct span host)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr ip;
	const uint8_t *close = memchr(host.data, ']', host.len);
	size_t len = close != NULL ? (size_t)(close - host.data) - 1 : sizeof text;
	if (len >= sizeof text || memchr(host.data, 0, host.len) != NULL)
		return 0;
	memcpy(text, host.data + 1, len);
	text[len] = 0;
	return inet_pton(AF_INET6, text, &ip) == 1 ? len + 2 : 0;
}

bool http_parse_host_is_valid(struct span host)
{
	size_t at = 0;
	if (host.len == 0)
		return false;
	if (host.data[0] == '[') {
		at = ip_literal(host);
	} else {
		while (at < host.len) {
			if (host_char[host.data[at]])
				at++;
			else if (host.data[at] == '%' && host.len - at >= 3 &&
				 is_hex(host.data[at + 1]) && is_hex(host.data[at + 2]))
				at += 3;
			else
				break;
		}
	}
	if (at == 0)
		return false;
	return at == host.len ||
	       (host.data[at] == ':' &&
		       port_is_valid((struct span){host.data + at + 1, host.len - at - 1}));
}

/* RFC 9112 2.2: one empty line before the request line is ignored, and no more than one. */
static enum step step_start(struct http_parse *p, const uint8_t *b, size_t at, size_t len)
{
	if (at == len)
		return more(p, at);
	if (b[at] == '\r') {
		enum step s = line_end(p, b, at, len);
		if (s != STEP_ON)
			return s;
		at += 2;
	}
	p->mark = (uint16_t)at;
	return go(p, PARSE_METHOD, at);
}

static enum step step_method(struct http_parse *p, const uint8_t *b, size_t at, size_t len)
{
	while (at < len && http_field_tchar[b[at]])
		at++;
	if (at == len)
		return more(p, at);
	if (b[at] != ' ' || at == p->mark)
		return bad(p, ERR_BAD_REQUEST, "bad byte in the method");
	p->method_text = slice(p->mark, at);
	p->method = (uint8_t)method_of((struct span){b + p->mark, p->method_text.len});
	if (p->method_text.len == 7 && memcmp(b + p->mark, "CONNECT", 7) == 0)
		return bad(p, ERR_NOT_IMPLEMENTED, "CONNECT is not offered");
	p->mark = (uint16_t)(at + 1);
	return go(p, PARSE_TARGET, at + 1);
}

static enum step step_target(struct http_parse *p, const uint8_t *b, size_t at, size_t len)
{
	size_t cap = (size_t)p->mark + LIMIT_HTTP_TARGET_BYTES;
	for (;; at++) {
		at = skip_target(b, at, len < cap ? len : cap);
		if (at == len)
			return more(p, at);
		if (b[at] == ' ')
			break;
		/* Brackets stand in the authority of an absolute form; its check comes later. */
		bool is_bracket = (b[at] == '[' || b[at] == ']') && b[p->mark] != '/';
		if (!target_char[b[at]] && !is_bracket)
			return bad(p, ERR_BAD_REQUEST, "bad byte in the request target");
		if (at == cap)
			return bad(p, ERR_TARGET_LONG, NULL);
	}
	if (at == p->mark)
		return bad(p, ERR_BAD_REQUEST, "no request target");
	p->target = slice(p->mark, at);
	return go(p, PARSE_VERSION, at + 1);
}

static enum step step_version(struct http_parse *p, const uint8_t *b, size_t at, size_t len)
{
	if (len - at < 8)
		return more(p, at);
	const uint8_t *v = b + at;
	if (memcmp(v, "HTTP/", 5) != 0 || v[5] < '0' || v[5] > '9' || v[6] != '.' || v[7] < '0' ||
		v[7] > '9')
		return bad(p, ERR_BAD_REQUEST, "bad HTTP version");
	if (v[5] != '1' || v[7] > '1')
		return bad(p, ERR_VERSION, NULL);
	p->minor_version = v[7] - '0';
	return go(p, PARSE_LINE_END, at + 8);
}

/* "http://authority..." or "https://authority..." */
static bool split_absolute(struct http_parse *p, struct span t)
{
	static const struct span schemes[] = {SPAN_LITERAL("http://"), SPAN_LITERAL("https://")};
	size_t from = 0, to;
	for (unsigned i = 0; i < ARRAY_LEN(schemes); i++) {
		size_t n = schemes[i].len;
		if (t.len > n && span_equals_nocase((struct span){t.data, n}, schemes[i]))
			from = n;
	}
	if (from == 0)
		return false;
	for (to = from; to < t.len && t.data[to] != '/' && t.data[to] != '?';)
		to++;
	if (!http_parse_host_is_valid((struct span){t.data + from, to - from}))
		return false;
	for (size_t i = to; i < t.len; i++) {
		if (t.data[i] == '[' || t.data[i] == ']')
			return false;
	}
	p->host = slice(p->target.off + from, p->target.off + to);
	p->path_query = slice(p->target.off + to, (size_t)p->target.off + t.len);
	p->form = HTTP_PARSE_FORM_ABSOLUTE;
	return true;
}

static enum step step_line_end(struct http_parse *p, const uint8_t *b, size_t at, size_t len)
{
	enum step s = line_end(p, b, at, len);
	if (s != STEP_ON)
		return s;
	struct span t = {b + p->target.off, p->target.len};
	if (t.data[0] == '/') {
		p->form = HTTP_PARSE_FORM_ORIGIN;
		p->path_query = p->target;
	} else if (t.len == 1 && t.data[0] == '*' && p->method == HTTP_METHOD_OPTIONS) {
		p->form = HTTP_PARSE_FORM_ASTERISK;
	} else if (!split_absolute(p, t)) {
		return bad(p, ERR_BAD_REQUEST, "bad request target");
	}
	return go(p, PARSE_FIELD, at + 2);
}

static bool has(const struct http_parse *p, enum http_field_id id)
{
	return (p->seen & 1u << id) != 0;
}

/* Whether a list, over all lines of this field, has the token. */
static bool lists(const struct http_parse *p, struct span name, struct span token)
{
	unsigned at = 0;
	struct span value;
	while (http_parse_find(p, name, &at, &value)) {
		if (http_field_list_has(value, token))
			return true;
	}
	return false;
}

static void decide_connection(struct http_parse *p)
{
	static const struct span name = SPAN_LITERAL("connection");
	p->keep_alive = p->minor_version == 1;
	if (!has(p, HTTP_FIELD_CONNECTION))
		return;
	if (lists(p, name, SPAN_LITERAL("close")))
		p->keep_alive = false;
	else if (lists(p, name, SPAN_LITERAL("keep-alive")))
		p->keep_alive = true;
}

static enum step finish(struct http_parse *p, size_t at)
{
	if (p->minor_version == 1 && !has(p, HTTP_FIELD_HOST))
		return bad(p, ERR_BAD_REQUEST, "no Host field");
	if (has(p, HTTP_FIELD_TRANSFER_ENCODING))
		p->body = HTTP_PARSE_BODY_CHUNKED;
	else if (p->content_length != 0)
		p->body = HTTP_PARSE_BODY_LENGTH;
	decide_connection(p);
	/* RFC 9110 10.1.1: from HTTP/1.0, or without a body, the expectation means nothing. */
	p->expect_continue = has(p, HTTP_FIELD_EXPECT) && p->minor_version == 1 &&
			     p->body != HTTP_PARSE_BODY_NONE &&
			     lists(p, SPAN_LITERAL("expect"), SPAN_LITERAL("100-continue"));
	p->head_bytes = (uint16_t)at;
	return STEP_DONE;
}

static enum step step_field(struct http_parse *p, const uint8_t *b, size_t at, size_t len)
{
	if (at == len)
		return more(p, at);
	if (http_field_tchar[b[at]]) {
		if (p->field_count == LIMIT_HTTP_FIELDS)
			return bad(p, ERR_HEADERS_LARGE, "too many fields");
		p->mark = (uint16_t)at;
		return go(p, PARSE_NAME, at + 1);
	}
	if (b[at] == ' ' || b[at] == '\t')
		return bad(p, ERR_BAD_REQUEST, "folded field line");
	if (b[at] == ':')
		return bad(p, ERR_BAD_REQUEST, "field without a name");
	enum step s = line_end(p, b, at, len);
	return s == STEP_ON ? finish(p, at + 2) : s;
}

static enum step step_name(struct http_parse *p, const uint8_t *b, size_t at, size_t len)
{
	while (at < len && http_field_tchar[b[at]])
		at++;
	if (at == len)
		return more(p, at);
	if (b[at] != ':')
		return bad(p, ERR_BAD_REQUEST,
			b[at] == ' ' || b[at] == '\t' ? "space before the colon of a field"
						      : "bad byte in a field name");
	p->fields[p->field_count].name = slice(p->mark, at);
	return go(p, PARSE_SPACE, at + 1);
}

static enum step step_space(struct http_parse *p, const uint8_t *b, size_t at, size_t len)
{
	while (at < len && (b[at] == ' ' || b[at] == '\t'))
		at++;
	if (at == len)
		return more(p, at);
	p->mark = (uint16_t)at;
	return go(p, PARSE_VALUE, at);
}

/* The fields that frame the message are judged as they come: two readers must not differ on them. */
static enum step judge(struct http_parse *p, enum http_field_id id, struct span value)
{
	static const char both[] = "Content-Length beside Transfer-Encoding";
	bool is_repeated = (p->repeated & 1u << id) != 0;
	if (id == HTTP_FIELD_HOST) {
		if (is_repeated)
			return bad(p, ERR_BAD_REQUEST, "more than one Host field");
		if (!http_parse_host_is_valid(value))
			return bad(p, ERR_BAD_REQUEST, "bad Host field");
		if (p->form != HTTP_PARSE_FORM_ABSOLUTE)
			p->host = p->fields[p->field_count - 1].value;
	} else if (id == HTTP_FIELD_CONTENT_LENGTH) {
		if (is_repeated)
			return bad(p, ERR_BAD_REQUEST, "more than one Content-Length field");
		if (http_field_uint_parse(value, &p->content_length) != 0)
			return bad(p, ERR_BAD_REQUEST, "bad Content-Length field");
		if (has(p, HTTP_FIELD_TRANSFER_ENCODING))
			return bad(p, ERR_BAD_REQUEST, both);
	} else if (id == HTTP_FIELD_TRANSFER_ENCODING) {
		if (is_repeated)
			return bad(p, ERR_BAD_REQUEST, "more than one Transfer-Encoding field");
		if (has(p, HTTP_FIELD_CONTENT_LENGTH))
			return bad(p, ERR_BAD_REQUEST, both);
		if (p->minor_version == 0)
			return bad(p, ERR_BAD_REQUEST, "Transfer-Encoding in HTTP/1.0");
		if (!span_equals_nocase(value, SPAN_LITERAL("chunked")))
			return bad(p, ERR_NOT_IMPLEMENTED, "chunked is the only transfer coding");
	}
	return STEP_ON;
}

/* "Transfer-Encodingx": a widely used parser takes it for Transfer-Encoding while it reads the
 * name, and forgets that the body is chunked. */
static bool is_lookalike(struct span name)
{
	enum { TE_BYTES = sizeof "transfer-encoding" - 1 };
	return name.len > TE_BYTES &&
	       http_field_id_of((struct span){name.data, TE_BYTES}) == HTTP_FIELD_TRANSFER_ENCODING;
}

static bool frames(enum http_field_id id)
{
	return id == HTTP_FIELD_HOST || id == HTTP_FIELD_CONTENT_LENGTH ||
	       id == HTTP_FIELD_TRANSFER_ENCODING;
}

static enum step end_field(struct http_parse *p, const uint8_t *b, size_t line_end_at)
{
	struct http_parse_field *f = &p->fields[p->field_count];
	size_t end = line_end_at;
	while (end > p->mark && (b[end - 1] == ' ' || b[end - 1] == '\t'))
		end--;
	f->value = slice(p->mark, end);
	p->field_count++;
	struct span name = {b + f->name.off, f->name.len};
	enum http_field_id id = http_field_id_of(name);
	if (id == HTTP_FIELD_OTHER)
		return is_lookalike(name) ? bad(p, ERR_BAD_REQUEST, "bad field name") : STEP_ON;
	uint32_t bit = 1u << id;
	if ((p->seen & bit) == 0)
		p->known[id] = p->field_count - 1;
	p->repeated |= p->seen & bit;
	p->seen |= bit;
	if (!frames(id))
		return STEP_ON;
	/* Optional white space may be tabs, but there are parsers that take "chunked<tab>" for
	 * another coding: nobody writes it in good faith. */
	size_t colon = (size_t)f->name.off + f->name.len;
	if (memchr(b + colon, '\t', line_end_at - colon) != NULL)
		return bad(p, ERR_BAD_REQUEST, "tab in a field that frames the message");
	return judge(p, id, (struct span){b + f->value.off, f->value.len});
}

static enum step step_value(struct http_parse *p, const uint8_t *b, size_t at, size_t len)
{
	at = skip_value(b, at, len);
	while (at < len && b[at] == '\t')
		at = skip_value(b, at + 1, len);
	if (at < len && b[at] != '\r' && b[at] != '\n')
		return bad(p, ERR_BAD_REQUEST, "control byte in a field value");
	enum step s = line_end(p, b, at, len);
	if (s != STEP_ON)
		return s;
	s = end_field(p, b, at);
	return s == STEP_ON ? go(p, PARSE_FIELD, at + 2) : s;
}

static enum step step(struct http_parse *p, const uint8_t *b, size_t len)
{
	size_t at = p->at;
	switch ((enum parse_state)p->state) {
	case PARSE_START:
		return step_start(p, b, at, len);
	case PARSE_METHOD:
		return step_method(p, b, at, len);
	case PARSE_TARGET:
		return step_target(p, b, at, len);
	case PARSE_VERSION:
		return step_version(p, b, at, len);
	case PARSE_LINE_END:
		return step_line_end(p, b, at, len);
	case PARSE_FIELD:
		return step_field(p, b, at, len);
	case PARSE_NAME:
		return step_name(p, b, at, len);
	case PARSE_SPACE:
		return step_space(p, b, at, len);
	case PARSE_VALUE:
		return step_value(p, b, at, len);
	}
	return STEP_BAD;
}

enum http_parse_status http_parse_feed(struct http_parse *p, const uint8_t *base, size_t len)
{
	size_t end = len < LIMIT_HTTP_HEAD_BYTES ? len : LIMIT_HTTP_HEAD_BYTES;
	enum step s;
	p->base = base;
	do {
		s = step(p, base, end);
	} while (s == STEP_ON);
	if (s == STEP_DONE)
		return HTTP_PARSE_DONE;
	if (s == STEP_BAD)
		return HTTP_PARSE_BAD;
	if (end == LIMIT_HTTP_HEAD_BYTES) {
		(void)bad(p, ERR_HEADERS_LARGE, "the request head is too large");
		return HTTP_PARSE_BAD;
	}
	return HTTP_PARSE_MORE;
}

bool http_parse_find(const struct http_parse *p, struct span name, unsigned *at, struct span *value)
{
	for (unsigned i = *at; i < p->field_count; i++) {
		if (!span_equals_nocase(http_parse_span(p, p->fields[i].name), name))
			continue;
		*at = i + 1;
		*value = http_parse_span(p, p->fields[i].value);
		return true;
	}
	*at = p->field_count;
	return false;
}
