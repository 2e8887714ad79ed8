#include "dataplane/http/http_field.h"

#include <errno.h>
#include <string.h>

const uint8_t http_field_tchar[256] = {
	['!'] = 1,
	['#' ... '\''] = 1,
	['*' ... '+'] = 1,
	['-' ... '.'] = 1,
	['0' ... '9'] = 1,
	['A' ... 'Z'] = 1,
	['^' ... 'z'] = 1,
	['|'] = 1,
	['~'] = 1,
};

static const char *const field_names[HTTP_FIELD_COUNT] = {
#define FIELD(id, name) [HTTP_FIELD_##id] = name,
	HTTP_FIELD_KNOWN(FIELD)
#undef FIELD
};

static const uint8_t field_lengths[HTTP_FIELD_COUNT] = {
#define FIELD(id, name) [HTTP_FIELD_##id] = sizeof(name) - 1,
	HTTP_FIELD_KNOWN(FIELD)
#undef FIELD
};

enum { FIELD_LENGTH_MAX = 17 };

/* Setting bit 5 folds the letters and maps no other token byte onto a letter, digit or hyphen. */
#define FOLD 0x2020202020202020ull

static uint64_t load8(const void *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static bool name_is(const uint8_t *name, const char *lower, size_t len)
{
	if (len < 8) {
		for (size_t i = 0; i < len; i++) {
			if ((name[i] | 0x20) != (uint8_t)lower[i])
				return false;
		}
		return true;
	}
	for (size_t i = 0; i + 8 < len; i += 8) {
		if ((load8(name + i) | FOLD) != load8(lower + i))
			return false;
	}
	return (load8(name + len - 8) | FOLD) == load8(lower + len - 8);
}

static enum http_field_id only_if(struct span name, enum http_field_id id)
{
	if (name.len == field_lengths[id] && name_is(name.data, field_names[id], name.len))
		return id;
	return HTTP_FIELD_OTHER;
}

/* One comparison at the most: length, then one letter, tell the known names apart. */
enum http_field_id http_field_id_of(struct span name)
{
	switch (name.len) {
	case 4:
		return only_if(name, HTTP_FIELD_HOST);
	case 5:
		return only_if(name, HTTP_FIELD_RANGE);
	case 6:
		return only_if(name, HTTP_FIELD_EXPECT);
	case 8:
		if ((name.data[0] | 0x20) == 'd')
			return only_if(name, HTTP_FIELD_DEADLINE);
		return only_if(name,
			(name.data[3] | 0x20) == 'r' ? HTTP_FIELD_IF_RANGE : HTTP_FIELD_IF_MATCH);
	case 9:
		return only_if(name, HTTP_FIELD_X_CORR_ID);
	case 10:
		return only_if(name, HTTP_FIELD_CONNECTION);
	case 13:
		return only_if(name, (name.data[0] | 0x20) == 'i' ? HTTP_FIELD_IF_NONE_MATCH
								  : HTTP_FIELD_AUTHORIZATION);
	case 14:
		return only_if(name, HTTP_FIELD_CONTENT_LENGTH);
	case 15:
		return only_if(name, (name.data[0] | 0x20) == 'a' ? HTTP_FIELD_ACCEPT_ENCODING
								  : HTTP_FIELD_REQUEST_TIMEOUT);
	case 16:
		return only_if(name, HTTP_FIELD_CONTENT_ENCODING);
	case FIELD_LENGTH_MAX:
		return only_if(name, HTTP_FIELD_TRANSFER_ENCODING);
	}
	return HTTP_FIELD_OTHER;
}

bool http_field_is_token(struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (!http_field_tchar[text.data[i]])
			return false;
	}
	return text.len != 0;
}

struct span http_field_trim(struct span text)
{
	while (text.len != 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
		text.data++;
		text.len--;
	}
	while (text.len != 0 && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t'))
		text.len--;
	return text;
}

bool http_field_list_next(struct span *rest, struct span *item)
{
	while (rest->len != 0) {
		const uint8_t *comma = memchr(rest->data, ',', rest->len);
		size_t len = comma != NULL ? (size_t)(comma - rest->data) : rest->len;
		size_t step = comma != NULL ? len + 1 : len;
		*item = http_field_trim((struct span){rest->data, len});
		rest->data += step;
		rest->len -= step;
		if (item->len != 0)
			return true;
	}
	return false;
}

bool http_field_list_has(struct span list, struct span item)
{
	struct span each;
	while (http_field_list_next(&list, &each)) {
		if (span_equals_nocase(each, item))
			return true;
	}
	return false;
}

int http_field_uint_parse(struct span text, uint64_t *out)
{
	uint64_t v = 0;
	if (text.len == 0)
		return -EINVAL;
	for (size_t i = 0; i < text.len; i++) {
		unsigned digit = text.data[i] - (unsigned)'0';
		if (digit > 9 || __builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, digit, &v))
			return -EINVAL;
	}
	*out = v;
	return 0;
}

bool http_field_corr_id_is_valid(struct span text)
{
	if (text.len == 0 || text.len > LIMIT_HTTP_CORR_ID_BYTES)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		uint8_t c = text.data[i];
		bool ok = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
			  (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == '-';
		if (!ok)
			return false;
	}
	return true;
}

/* Digits of a fraction as milliseconds: ".5" is 500, ".0009" is 0. */
static int fraction_ms(struct span digits, uint64_t *ms)
{
	uint64_t scale = 100;
	*ms = 0;
	for (size_t i = 0; i < digits.len; i++) {
		unsigned digit = digits.data[i] - (unsigned)'0';
		if (digit > 9)
			return -EINVAL;
		*ms += digit * scale;
		scale /= 10;
	}
	return digits.len != 0 ? 0 : -EINVAL;
}

static int seconds_parse(struct span text, uint64_t *ms)
{
	uint64_t whole, part = 0;
	const uint8_t *dot = text.len != 0 ? memchr(text.data, '.', text.len) : NULL;
	size_t len = dot != NULL ? (size_t)(dot - text.data) : text.len;
	if (http_field_uint_parse((struct span){text.data, len}, &whole) != 0)
		return -EINVAL;
	if (dot != NULL && fraction_ms((struct span){dot + 1, text.len - len - 1}, &part) != 0)
		return -EINVAL;
	if (__builtin_mul_overflow(whole, 1000, &whole) ||
		__builtin_add_overflow(whole, part, &whole))
		return -EINVAL;
	*ms = whole;
	return 0;
}

int http_field_timeout_parse(struct span text, uint64_t *ms)
{
	return seconds_parse(text, ms);
}

int http_field_deadline_parse(struct span text, uint64_t *wall_ms)
{
	return seconds_parse(text, wall_ms);
}
