#include "dataplane/http/http_range.h"

#include "dataplane/http/http_field.h"

/* Digits at *at; a number too large for 64 bits is as good as the largest. */
static bool digits(struct span s, size_t *at, uint64_t *out)
{
	size_t begin = *at;
	uint64_t v = 0;
	for (; *at < s.len; (*at)++) {
		unsigned digit = s.data[*at] - (unsigned)'0';
		if (digit > 9)
			break;
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v))
			v = UINT64_MAX;
	}
	*out = v;
	return *at != begin;
}

enum spec { SPEC_BAD, SPEC_OK, SPEC_OUTSIDE, SPEC_WHOLE };

static enum spec suffix_spec(uint64_t suffix, uint64_t length, struct http_range *out)
{
	if (suffix == 0)
		return SPEC_OUTSIDE;
	/* Satisfiable, but an empty representation has no byte that a 206 could name. */
	if (length == 0)
		return SPEC_WHOLE;
	out->first = suffix < length ? length - suffix : 0;
	out->last = length - 1;
	return SPEC_OK;
}

/* "a-b", "a-" or "-n". */
static enum spec range_spec(struct span s, uint64_t length, struct http_range *out)
{
	size_t at = 0;
	uint64_t first, last;
	bool has_first = digits(s, &at, &first);
	if (at == s.len || s.data[at] != '-')
		return SPEC_BAD;
	at++;
	bool has_last = digits(s, &at, &last);
	if (at != s.len || (!has_first && !has_last))
		return SPEC_BAD;
	if (!has_first)
		return suffix_spec(last, length, out);
	if (has_last && last < first)
		return SPEC_BAD;
	if (first >= length)
		return SPEC_OUTSIDE;
	out->first = first;
	out->last = has_last && last < length ? last : length - 1;
	return SPEC_OK;
}

enum http_range_kind http_range_parse(struct span value, uint64_t length, struct http_range *out)
{
	static const struct span unit = SPAN_LITERAL("bytes=");
	struct span item, list;
	unsigned count = 0;
	enum spec kind = SPEC_BAD;
	if (value.len < unit.len || !span_equals_nocase((struct span){value.data, unit.len}, unit))
		return HTTP_RANGE_NONE;
	list = (struct span){value.data + unit.len, value.len - unit.len};
	while (http_field_list_next(&list, &item)) {
		struct http_range r = {0, 0};
		enum spec one = range_spec(item, length, &r);
		if (one == SPEC_BAD)
			return HTTP_RANGE_NONE;
		if (count++ == 0) {
			kind = one;
			*out = r;
		}
	}
	if (count > 1)
		return HTTP_RANGE_MULTI;
	switch (kind) {
	case SPEC_OK:
		return HTTP_RANGE_OK;
	case SPEC_OUTSIDE:
		return HTTP_RANGE_UNSATISFIABLE;
	case SPEC_BAD:
	case SPEC_WHOLE:
		break;
	}
	return HTTP_RANGE_NONE;
}
