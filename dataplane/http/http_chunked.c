#include "dataplane/http/http_chunked.h"

#include "dataplane/http/http_field.h"

enum chunked_state {
	CHUNKED_SIZE_FIRST, /* the first digit of a size */
	CHUNKED_SIZE,
	CHUNKED_EXT,
	CHUNKED_SIZE_LF,
	CHUNKED_DATA,
	CHUNKED_DATA_CR,
	CHUNKED_DATA_LF,
	CHUNKED_TRAILER_FIRST, /* the first byte of a trailer line, or the CR of the last */
	CHUNKED_TRAILER_NAME,
	CHUNKED_TRAILER_VALUE,
	CHUNKED_TRAILER_LF,
	CHUNKED_END_LF,
};

/* As many as a 64-bit size has; leading zeros count, so that a size line is bounded. */
enum { SIZE_DIGITS_MAX = 16 };

static_assert(
	(int)LIMIT_HTTP_TRAILER_BYTES < UINT16_MAX && (int)LIMIT_HTTP_CHUNK_EXT_BYTES < UINT16_MAX,
	"the counters hold their limits");

void http_chunked_init(struct http_chunked *c)
{
	*c = (struct http_chunked){.state = CHUNKED_SIZE_FIRST};
}

static enum http_chunked_status bad(struct http_chunked *c, enum err_id error, const char *detail)
{
	c->error = (uint8_t)error;
	c->detail = detail;
	return HTTP_CHUNKED_BAD;
}

static enum http_chunked_status go(struct http_chunked *c, enum chunked_state state)
{
	c->state = (uint8_t)state;
	return HTTP_CHUNKED_MORE;
}

static int hex_digit(uint8_t b)
{
	if (b >= '0' && b <= '9')
		return b - '0';
	b |= 0x20;
	return b >= 'a' && b <= 'f' ? b - 'a' + 10 : -1;
}

static bool is_text(uint8_t b)
{
	return (b >= 0x20 && b != 0x7f) || b == '\t';
}

static enum http_chunked_status on_size(struct http_chunked *c, uint8_t b)
{
	int digit = hex_digit(b);
	if (digit >= 0) {
		if (c->state == CHUNKED_SIZE_FIRST) {
			c->left = 0;
			c->line_bytes = 0;
		}
		if (++c->line_bytes > SIZE_DIGITS_MAX)
			return bad(c, ERR_BAD_REQUEST, "chunk size too long");
		c->left = c->left << 4 | (unsigned)digit;
		return go(c, CHUNKED_SIZE);
	}
	if (c->state == CHUNKED_SIZE && b == '\r')
		return go(c, CHUNKED_SIZE_LF);
	if (c->state == CHUNKED_SIZE && b == ';') {
		c->line_bytes = 1;
		return go(c, CHUNKED_EXT);
	}
	return bad(c, ERR_BAD_REQUEST, "bad chunk size");
}

static enum http_chunked_status on_ext(struct http_chunked *c, uint8_t b)
{
	if (b == '\r')
		return go(c, CHUNKED_SIZE_LF);
	if (!is_text(b))
		return bad(c, ERR_BAD_REQUEST, "control byte in a chunk extension");
	if (++c->line_bytes > LIMIT_HTTP_CHUNK_EXT_BYTES)
		return bad(c, ERR_BAD_REQUEST, "chunk extension too long");
	return HTTP_CHUNKED_MORE;
}

/* Trailer lines count with their line ends; the empty line that ends them does not. */
static enum http_chunked_status on_trailer(struct http_chunked *c, uint8_t b)
{
	if (c->state == CHUNKED_TRAILER_FIRST && b == '\r')
		return go(c, CHUNKED_END_LF);
	if (++c->trailer_bytes > LIMIT_HTTP_TRAILER_BYTES)
		return bad(c, ERR_HEADERS_LARGE, "trailers too large");
	if (c->state == CHUNKED_TRAILER_VALUE) {
		if (b == '\r')
			return go(c, CHUNKED_TRAILER_LF);
		return is_text(b) ? HTTP_CHUNKED_MORE
				  : bad(c, ERR_BAD_REQUEST, "control byte in a trailer");
	}
	if (http_field_tchar[b])
		return go(c, CHUNKED_TRAILER_NAME);
	if (c->state == CHUNKED_TRAILER_NAME && b == ':')
		return go(c, CHUNKED_TRAILER_VALUE);
	return bad(c, ERR_BAD_REQUEST, "bad trailer name");
}

static enum http_chunked_status on_line_end(struct http_chunked *c, uint8_t b)
{
	bool is_cr = c->state == CHUNKED_DATA_CR;
	if (b != (is_cr ? '\r' : '\n'))
		return bad(c, ERR_BAD_REQUEST, "bad line end in a chunked body");
	if (is_cr)
		return go(c, CHUNKED_DATA_LF);
	if (c->state == CHUNKED_SIZE_LF)
		return go(c, c->left != 0 ? CHUNKED_DATA : CHUNKED_TRAILER_FIRST);
	if (c->state == CHUNKED_DATA_LF)
		return go(c, CHUNKED_SIZE_FIRST);
	if (c->state == CHUNKED_TRAILER_LF) {
		if (++c->trailer_bytes > LIMIT_HTTP_TRAILER_BYTES)
			return bad(c, ERR_HEADERS_LARGE, "trailers too large");
		return go(c, CHUNKED_TRAILER_FIRST);
	}
	return HTTP_CHUNKED_DONE;
}

static enum http_chunked_status on_byte(struct http_chunked *c, uint8_t b)
{
	switch ((enum chunked_state)c->state) {
	case CHUNKED_SIZE_FIRST:
	case CHUNKED_SIZE:
		return on_size(c, b);
	case CHUNKED_EXT:
		return on_ext(c, b);
	case CHUNKED_TRAILER_FIRST:
	case CHUNKED_TRAILER_NAME:
	case CHUNKED_TRAILER_VALUE:
		return on_trailer(c, b);
	case CHUNKED_DATA: /* not read byte by byte */
	case CHUNKED_SIZE_LF:
	case CHUNKED_DATA_CR:
	case CHUNKED_DATA_LF:
	case CHUNKED_TRAILER_LF:
	case CHUNKED_END_LF:
		break;
	}
	return on_line_end(c, b);
}

enum http_chunked_status http_chunked_feed(
	struct http_chunked *c, struct span in, size_t *used, struct span *data)
{
	size_t at = 0;
	*data = (struct span){in.data, 0};
	while (at < in.len) {
		if (c->state == CHUNKED_DATA) {
			size_t n = c->left < in.len - at ? (size_t)c->left : in.len - at;
			*data = (struct span){in.data + at, n};
			*used = at + n;
			c->left -= n;
			return go(c, c->left != 0 ? CHUNKED_DATA : CHUNKED_DATA_CR);
		}
		enum http_chunked_status status = on_byte(c, in.data[at++]);
		if (status != HTTP_CHUNKED_MORE) {
			*used = at;
			return status;
		}
	}
	*used = at;
	return HTTP_CHUNKED_MORE;
}

size_t http_chunked_head(char out[HTTP_CHUNKED_HEAD_BYTES], uint64_t len)
{
	MUST_HOT(len != 0);
	size_t digits = (size_t)(67 - __builtin_clzll(len)) / 4;
	for (size_t i = 0; i < digits; i++)
		out[i] = "0123456789abcdef"[len >> 4 * (digits - 1 - i) & 15];
	out[digits] = '\r';
	out[digits + 1] = '\n';
	return digits + 2;
}
