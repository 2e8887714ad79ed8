/* http_field: the small grammar of field names and values: tokens, comma lists, the fields this
 * node acts on, correlation ids and deadlines. Pure; any thread; no allocation. */
#ifndef DATAPLANE_HTTP_HTTP_FIELD_H
#define DATAPLANE_HTTP_HTTP_FIELD_H

#include "lib/base/registry.h"

/* The fields this node acts on; the parser recognises them once, while it reads their names.
 * FIELD(ID, lower-case name): letters, digits and hyphens only. */
#define HTTP_FIELD_KNOWN(FIELD) \
	FIELD(HOST, "host") \
	FIELD(CONTENT_LENGTH, "content-length") \
	FIELD(TRANSFER_ENCODING, "transfer-encoding") \
	FIELD(CONNECTION, "connection") \
	FIELD(EXPECT, "expect") \
	FIELD(CONTENT_ENCODING, "content-encoding") \
	FIELD(ACCEPT_ENCODING, "accept-encoding") \
	FIELD(RANGE, "range") \
	FIELD(IF_RANGE, "if-range") \
	FIELD(IF_MATCH, "if-match") \
	FIELD(IF_NONE_MATCH, "if-none-match") \
	FIELD(AUTHORIZATION, "authorization") \
	FIELD(X_CORR_ID, "x-corr-id") \
	FIELD(REQUEST_TIMEOUT, "request-timeout") \
	FIELD(DEADLINE, "deadline")

enum http_field_id {
#define FIELD(id, name) HTTP_FIELD_##id,
	HTTP_FIELD_KNOWN(FIELD)
#undef FIELD
		HTTP_FIELD_OTHER,
	HTTP_FIELD_COUNT = HTTP_FIELD_OTHER
};

/* 1 for the bytes of a token (RFC 9110 5.6.2). */
extern const uint8_t http_field_tchar[256];

/* Which field a name means. The name must be a token. */
enum http_field_id http_field_id_of(struct span name);

bool http_field_is_token(struct span text);

/* Without spaces and tabs at both ends. */
struct span http_field_trim(struct span text);

/* Takes the next element of a comma list off *rest, trimmed; empty elements are skipped. False at
 * the end. Commas within quoted strings are not known here: for tokens and the like. */
bool http_field_list_next(struct span *rest, struct span *item);

/* Whether the list has this element, in any case of letters. */
bool http_field_list_has(struct span list, struct span item);

/* 1*DIGIT with no sign, space or overflow. Returns 0 or -EINVAL. */
CHECKED int http_field_uint_parse(struct span text, uint64_t *out);

/* What X-Corr-ID may be: 1..LIMIT_HTTP_CORR_ID_BYTES of letters, digits, '.', '_', '-'. */
bool http_field_corr_id_is_valid(struct span text);

/* Request-Timeout: seconds from now, "5" or "0.25" (cut to whole milliseconds). Returns 0 or
 * -EINVAL. */
CHECKED int http_field_timeout_parse(struct span text, uint64_t *ms);
/* Deadline: Unix time in seconds, fraction allowed; gives wall-clock milliseconds since 1970.
 * Returns 0 or -EINVAL. */
CHECKED int http_field_deadline_parse(struct span text, uint64_t *wall_ms);

#endif
