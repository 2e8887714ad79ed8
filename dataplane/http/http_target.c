#include "dataplane/http/http_target.h"

#include <errno.h>
#include <nmmintrin.h>
#include <string.h>

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_control(unsigned c)
{
	return c < 0x20 || c == 0x7f;
}

/* The byte an escape at s.data[at] means, or -1. */
static int unescape(struct span s, size_t at)
{
	if (s.len - at < 3)
		return -1;
	int hi = hex_digit(s.data[at + 1]), lo = hex_digit(s.data[at + 2]);
	return hi < 0 || lo < 0 ? -1 : hi << 4 | lo;
}

static bool is_plain_at(const uint8_t *p, size_t i)
{
	uint8_t c = p[i];
	return c != '?' && c != '%' && c != '\\' && !is_control(c) &&
	       !(c == '.' && p[i - 1] == '/');
}

/* How many bytes of a path can be used as they stand: up to the query, an escape, a segment that
 * starts with a dot, or a byte that must be refused. The first byte is a slash. */
static size_t plain_bytes(struct span s)
{
	size_t i = 1;
	const __m128i mark = _mm_set1_epi8('?'), escape = _mm_set1_epi8('%'),
		      back = _mm_set1_epi8('\\'), del = _mm_set1_epi8(0x7f),
		      control = _mm_set1_epi8(0x1f), dot = _mm_set1_epi8('.'),
		      slash = _mm_set1_epi8('/');
	for (; s.len - i >= 16; i += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(s.data + i));
		__m128i before = _mm_loadu_si128((const __m128i *)(s.data + i - 1));
		__m128i stop = _mm_or_si128(_mm_cmpeq_epi8(v, mark), _mm_cmpeq_epi8(v, escape));
		stop = _mm_or_si128(stop, _mm_cmpeq_epi8(v, back));
		stop = _mm_or_si128(stop, _mm_cmpeq_epi8(v, del));
		stop = _mm_or_si128(stop, _mm_cmpeq_epi8(_mm_min_epu8(v, control), v));
		stop = _mm_or_si128(
			stop, _mm_and_si128(_mm_cmpeq_epi8(v, dot), _mm_cmpeq_epi8(before, slash)));
		unsigned mask = (unsigned)_mm_movemask_epi8(stop);
		if (mask != 0)
			return i + (size_t)__builtin_ctz(mask);
	}
	while (i < s.len && is_plain_at(s.data, i))
		i++;
	return i;
}

static enum http_target_status refuse(struct http_target *out, const char *why)
{
	out->detail = why;
	return HTTP_TARGET_BAD;
}

/* Decodes once; returns the length, or 0 and *why. */
static size_t decode(struct span path, uint8_t *buf, const char **why)
{
	size_t len = 0;
	for (size_t i = 0; i < path.len; i++) {
		int c = path.data[i];
		if (c == '%') {
			c = unescape(path, i);
			i += 2;
			if (c < 0 || c == '/') {
				*why = c < 0 ? "bad escape in the path"
					     : "encoded slash in the path";
				return 0;
			}
		}
		if (is_control((unsigned)c) || c == '\\') {
			*why = "control byte or backslash in the path";
			return 0;
		}
		buf[len++] = (uint8_t)c;
	}
	return len;
}

/* Drops "." segments, and ".." with the segment before it, in place. `to` stands behind the slash
 * that ends what is kept. Returns the new length, or 0 when the path leaves the root. */
static size_t remove_dots(uint8_t *buf, size_t len)
{
	size_t to = 1, from = 1;
	for (;;) {
		size_t end = from;
		while (end < len && buf[end] != '/')
			end++;
		size_t n = end - from;
		if (n == 2 && buf[from] == '.' && buf[from + 1] == '.') {
			if (to == 1)
				return 0;
			for (to--; buf[to - 1] != '/';)
				to--;
		} else if (n != 1 || buf[from] != '.') {
			memmove(buf + to, buf + from, n);
			to += n;
			if (end < len)
				buf[to++] = '/';
		}
		if (end == len)
			return to;
		from = end + 1;
	}
}

static enum http_target_status decode_path(struct http_target *out, struct span path, uint8_t *buf)
{
	if (path.data[0] != '/')
		return refuse(out, "the path does not start with a slash");
	if (path.len > HTTP_TARGET_PATH_BYTES)
		return refuse(out, "the path is too long");
	size_t len = decode(path, buf, &out->detail);
	if (len == 0)
		return HTTP_TARGET_BAD;
	len = remove_dots(buf, len);
	if (len == 0)
		return refuse(out, "the path leaves the root");
	out->path = (struct span){buf, len};
	return HTTP_TARGET_DONE;
}

enum http_target_status http_target_parse(
	struct http_target *out, struct span path_query, uint8_t buf[HTTP_TARGET_PATH_BYTES])
{
	static const struct span root = SPAN_LITERAL("/");
	struct span s = path_query;
	*out = (struct http_target){.path = {NULL, 0}};
	size_t plain = s.len != 0 && s.data[0] == '/' ? plain_bytes(s) : 0;
	const uint8_t *mark = plain < s.len ? memchr(s.data + plain, '?', s.len - plain) : NULL;
	size_t len = mark != NULL ? (size_t)(mark - s.data) : s.len;
	if (mark != NULL)
		out->query = (struct span){mark + 1, s.len - len - 1};
	out->path = len != 0 ? (struct span){s.data, len} : root;
	return plain == len ? HTTP_TARGET_DONE : decode_path(out, out->path, buf);
}

/* Decodes a name or value of a query into buf. Returns the length or -EINVAL. */
static int decode_form(struct span s, uint8_t *buf, size_t cap)
{
	size_t len = 0;
	for (size_t i = 0; i < s.len; i++) {
		int c = s.data[i];
		if (c == '+')
			c = ' ';
		if (c == '%') {
			c = unescape(s, i);
			i += 2;
		}
		if (c < 0 || is_control((unsigned)c) || len == cap)
			return -EINVAL;
		buf[len++] = (uint8_t)c;
	}
	return (int)len;
}

/* Whether a raw parameter name decodes to `name`. */
static bool names(struct span raw, struct span name)
{
	size_t n = 0;
	for (size_t i = 0; i < raw.len; i++, n++) {
		int c = raw.data[i];
		if (c == '+')
			c = ' ';
		if (c == '%') {
			c = unescape(raw, i);
			i += 2;
		}
		if (n == name.len || c != name.data[n])
			return false;
	}
	return n == name.len;
}

int http_target_param(
	struct span query, struct span name, uint8_t *buf, size_t cap, struct span *value)
{
	bool is_found = false;
	struct span found = {NULL, 0};
	for (size_t at = 0; at < query.len;) {
		struct span pair = {query.data + at, query.len - at};
		const uint8_t *amp = memchr(pair.data, '&', pair.len);
		if (amp != NULL)
			pair.len = (size_t)(amp - pair.data);
		at += pair.len + 1;
		const uint8_t *eq = pair.len != 0 ? memchr(pair.data, '=', pair.len) : NULL;
		size_t name_len = eq != NULL ? (size_t)(eq - pair.data) : pair.len;
		if (!names((struct span){pair.data, name_len}, name))
			continue;
		if (is_found)
			return -EINVAL;
		is_found = true;
		if (eq != NULL)
			found = (struct span){eq + 1, pair.len - name_len - 1};
	}
	if (!is_found)
		return 0;
	int len = decode_form(found, buf, cap);
	if (len < 0)
		return -EINVAL;
	*value = (struct span){buf, (size_t)len};
	return 1;
}
