#include "dataplane/http/http_cond.h"

struct tag {
	bool is_weak;
	struct span opaque; /* with its quotes */
};

/* An entity-tag at the start of *rest; moves *rest past it. */
static bool tag_next(struct span *rest, struct tag *out)
{
	struct span s = *rest;
	out->is_weak = s.len >= 2 && s.data[0] == 'W' && s.data[1] == '/';
	if (out->is_weak)
		s = (struct span){s.data + 2, s.len - 2};
	if (s.len < 2 || s.data[0] != '"')
		return false;
	size_t at = 1;
	while (at < s.len && s.data[at] > 0x20 && s.data[at] != 0x7f && s.data[at] != '"')
		at++;
	if (at == s.len || s.data[at] != '"')
		return false;
	out->opaque = (struct span){s.data, at + 1};
	*rest = (struct span){s.data + at + 1, s.len - at - 1};
	return true;
}

static bool tag_matches(const struct tag *a, const struct tag *b, enum http_cond_comparison how)
{
	if (how == HTTP_COND_STRONG && (a->is_weak || b->is_weak))
		return false;
	return span_equals(a->opaque, b->opaque);
}

static struct span skip_separators(struct span s)
{
	while (s.len != 0 && (s.data[0] == ' ' || s.data[0] == '\t' || s.data[0] == ',')) {
		s.data++;
		s.len--;
	}
	return s;
}

/* True when the list goes on properly after an element: a comma, or nothing. */
static bool at_separator(struct span s)
{
	while (s.len != 0 && (s.data[0] == ' ' || s.data[0] == '\t')) {
		s.data++;
		s.len--;
	}
	return s.len == 0 || s.data[0] == ',';
}

bool http_cond_list_matches(struct span list, struct span etag, enum http_cond_comparison how)
{
	struct tag current, each;
	if (etag.len == 0 || !tag_next(&etag, &current))
		return false;
	list = http_field_trim(list);
	if (list.len == 1 && list.data[0] == '*')
		return true;
	for (;;) {
		list = skip_separators(list);
		if (list.len == 0 || !tag_next(&list, &each) || !at_separator(list))
			return false;
		if (tag_matches(&current, &each, how))
			return true;
	}
}

/* All lines of the field count as one list. */
static bool any_line_matches(const struct http_parse *req, struct span name, struct span etag,
	enum http_cond_comparison how)
{
	unsigned at = 0;
	struct span value;
	while (http_parse_find(req, name, &at, &value)) {
		if (http_cond_list_matches(value, etag, how))
			return true;
	}
	return false;
}

/* A date never matches: nothing here has one. */
static bool if_range_matches(struct span value, struct span etag)
{
	struct tag current, wanted;
	return tag_next(&etag, &current) && tag_next(&value, &wanted) && value.len == 0 &&
	       tag_matches(&current, &wanted, HTTP_COND_STRONG);
}

static void check_range(struct http_cond *c, const struct http_parse *req, struct span etag)
{
	struct span range, if_range;
	if (req->method != HTTP_METHOD_GET || http_parse_get(req, HTTP_FIELD_RANGE, &range) != 1)
		return;
	unsigned count = http_parse_get(req, HTTP_FIELD_IF_RANGE, &if_range);
	if (count > 1 || (count == 1 && !if_range_matches(if_range, etag)))
		return;
	c->range_applies = true;
	c->range = range;
}

struct http_cond http_cond_check(const struct http_parse *req, struct span etag)
{
	struct http_cond c = {HTTP_COND_PROCEED, false, {NULL, 0}};
	if ((req->seen & 1u << HTTP_FIELD_IF_MATCH) != 0 &&
		!any_line_matches(req, SPAN_LITERAL("if-match"), etag, HTTP_COND_STRONG)) {
		c.verdict = HTTP_COND_FAILED;
		return c;
	}
	if ((req->seen & 1u << HTTP_FIELD_IF_NONE_MATCH) != 0 &&
		any_line_matches(req, SPAN_LITERAL("if-none-match"), etag, HTTP_COND_WEAK)) {
		bool is_read = req->method == HTTP_METHOD_GET || req->method == HTTP_METHOD_HEAD;
		c.verdict = is_read ? HTTP_COND_NOT_MODIFIED : HTTP_COND_FAILED;
		return c;
	}
	check_range(&c, req, etag);
	return c;
}
