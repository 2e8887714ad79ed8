/* http_parse: the head of an HTTP/1.1 (or 1.0) request, read strictly and without copying.
 * What two parsers could read differently is BAD, and the connection must be closed then.
 *
 * Use:        http_parse_init, then http_parse_feed with the start of the request and all bytes
 *             there are until it stops saying MORE. The bytes already shown must stay the same,
 *             but may move: results are offsets from the `base` of the latest feed.
 * Memory:     about 1 KiB, no pointer but `base`; init touches one cache line or two.
 * Invariants: every slice lies within head_bytes (DONE) or the bytes shown (BAD); the result does
 *             not depend on how the bytes were split; LIMIT_HTTP_* are exact and are enforced at the
 *             first byte that breaks them.
 * Cost:       O(bytes) over all feeds of a head; no allocation, no system call. */
#ifndef DATAPLANE_HTTP_HTTP_PARSE_H
#define DATAPLANE_HTTP_HTTP_PARSE_H

#include "dataplane/http/http_field.h"

enum http_parse_status {
	HTTP_PARSE_DONE, /* the head is whole: results are valid */
	HTTP_PARSE_MORE, /* feed again when there are more bytes */
	HTTP_PARSE_BAD,	 /* see `error` and `detail`; answer and close */
};

/* In the order of the METHOD label set: the value is the metric's label index. */
enum http_parse_method {
#define LABEL_METHOD(id, text) HTTP_METHOD_##id,
#include "config/labels.def"
	HTTP_METHOD_COUNT
};

enum http_parse_form {
	HTTP_PARSE_FORM_ORIGIN,	  /* "/path?query" */
	HTTP_PARSE_FORM_ABSOLUTE, /* "http://authority/path?query" */
	HTTP_PARSE_FORM_ASTERISK, /* "*", OPTIONS only */
};

enum http_parse_body {
	HTTP_PARSE_BODY_NONE,	/* no body, or Content-Length: 0 */
	HTTP_PARSE_BODY_LENGTH, /* content_length bytes follow, at least one */
	HTTP_PARSE_BODY_CHUNKED,
};

struct http_parse_slice {
	uint16_t off, len;
};

struct http_parse_field {
	struct http_parse_slice name, value; /* the value is trimmed */
};

struct http_parse {
	const uint8_t *base; /* of the latest feed */

	/* where the parser is (private) */
	uint32_t at;
	uint16_t mark;
	uint8_t state;

	/* results; before DONE only those already read are set */
	uint8_t minor_version;	 /* 0 or 1 */
	uint16_t head_bytes;	 /* where the body starts, from base */
	uint8_t field_count;	 /* fields read so far, also when BAD */
	uint8_t error;		 /* enum err_id; ERR_NONE unless BAD */
	uint8_t method;		 /* enum http_parse_method; OTHER until it is read */
	uint8_t form;		 /* enum http_parse_form */
	uint8_t body;		 /* enum http_parse_body */
	bool keep_alive;	 /* false: close after the answer */
	bool expect_continue;	 /* the client waits for 100 before it sends its body */
	uint32_t seen, repeated; /* bit 1 << enum http_field_id */
	struct http_parse_slice method_text;
	struct http_parse_slice target; /* as sent */
	/* Path and query: all of `target` in origin form; in absolute form what follows the authority,
	 * which may be empty or start with '?'. */
	struct http_parse_slice path_query;
	/* Of the target when absolute, else of Host; empty only in HTTP/1.0 without Host. */
	struct http_parse_slice host;
	uint64_t content_length; /* 0 unless HTTP_PARSE_BODY_LENGTH */
	const char *detail;	 /* when BAD: static text, or NULL for the registry's message */

	/* First index in fields[]; only where `seen` has the bit. */
	uint8_t known[HTTP_FIELD_COUNT];
	struct http_parse_field fields[LIMIT_HTTP_FIELDS];
};

void http_parse_init(struct http_parse *p);

/* `base` is the first byte of the request and `len` counts every byte from there on, those shown
 * before included; bytes after the head (body, next request) are not looked at. After DONE or BAD
 * only http_parse_init may follow. */
enum http_parse_status http_parse_feed(struct http_parse *p, const uint8_t *base, size_t len);

static inline struct span http_parse_span(const struct http_parse *p, struct http_parse_slice s)
{
	return (struct span){p->base + s.off, s.len};
}

/* How often a known field is there: 0, 1 or 2 (twice or more). *value is the first, or {NULL, 0}.
 * For fields that must not be repeated. */
static inline unsigned http_parse_get(
	const struct http_parse *p, enum http_field_id id, struct span *value)
{
	if ((p->seen & 1u << id) == 0) {
		*value = (struct span){NULL, 0};
		return 0;
	}
	*value = http_parse_span(p, p->fields[p->known[id]].value);
	return (p->repeated & 1u << id) != 0 ? 2 : 1;
}

/* The next field of this name (any case) at or after index *at; moves *at past it. False at the
 * end. Start with *at = 0. For lists spread over several lines, and for fields without an id. */
bool http_parse_find(
	const struct http_parse *p, struct span name, unsigned *at, struct span *value);

/* The name of a method, as in the label set. */
const char *http_parse_method_name(enum http_parse_method method);

/* host[":" port] of RFC 3986 without userinfo: a name, an IPv4 or a bracketed IPv6 address. */
bool http_parse_host_is_valid(struct span host);

#endif
