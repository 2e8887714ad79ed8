/* http_text: text written into a buffer of known size: heads, small JSON bodies. What does not fit is dropped and
 * remembered; nothing is written past the end. Inline, no formatting functions: it is on the path of every answer. */
#ifndef DATAPLANE_HTTP_HTTP_TEXT_H
#define DATAPLANE_HTTP_HTTP_TEXT_H

#include <string.h>

#include "lib/base/base.h"

struct http_text {
	char *start;
	char *at;
	char *end;
	bool is_cut; /* something did not fit */
};

static inline struct http_text http_text_on(void *buffer, size_t size)
{
	char *start = buffer;
	return (struct http_text){start, start, start + size, false};
}

static inline size_t http_text_len(const struct http_text *t)
{
	return (size_t)(t->at - t->start);
}

static inline struct span http_text_span(const struct http_text *t)
{
	return (struct span){(const uint8_t *)t->start, http_text_len(t)};
}

static inline void http_text_put(struct http_text *t, const void *bytes, size_t len)
{
	if (UNLIKELY((size_t)(t->end - t->at) < len)) {
		t->is_cut = true;
		return;
	}
	if (len != 0)
		memcpy(t->at, bytes, len);
	t->at += len;
}

#define HTTP_TEXT_LITERAL(t, text) http_text_put((t), (text), sizeof(text) - 1)

static inline void http_text_string(struct http_text *t, const char *text)
{
	http_text_put(t, text, strlen(text));
}

/* Decimal. */
void http_text_uint(struct http_text *t, uint64_t value);
/* Lower-case hexadecimal, exactly `digits` of them. */
void http_text_hex(struct http_text *t, uint64_t value, unsigned digits);
/* A JSON string with its quotes. When it does not fit before `end - reserve` it is cut there, at a whole character. */
void http_text_json(struct http_text *t, const char *text, size_t reserve);

#endif
