#include "dataplane/http/http_field.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/unit.h"

static const char *const names[] = {
#define FIELD(id, name) name,
	HTTP_FIELD_KNOWN(FIELD)
#undef FIELD
};

static void known_names(void)
{
	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		char text[64];
		size_t len = strlen(names[i]);
		for (unsigned upper = 0; upper < 2; upper++) {
			for (size_t k = 0; k <= len; k++) {
				char c = names[i][k];
				text[k] = upper != 0 && c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
			}
			CU_ASSERT_EQUAL(http_field_id_of((struct span){(uint8_t *)text, len}), i);
		}
		/* One byte wrong, missing or added is another name; so are digits and other tokens. */
		static const char wrongs[] = "!#$%&'*+.^_`|~09z";
		for (size_t k = 0; k < len; k++) {
			for (const char *w = wrongs; *w != 0; w++) {
				strcpy(text, names[i]);
				if (text[k] == *w)
					continue;
				text[k] = *w;
				CU_ASSERT_EQUAL(
					http_field_id_of((struct span){(uint8_t *)text, len}),
					HTTP_FIELD_OTHER);
			}
		}
		strcpy(text, names[i]);
		strcat(text, "s");
		CU_ASSERT_EQUAL(http_field_id_of((struct span){(uint8_t *)text, len + 1}),
			HTTP_FIELD_OTHER);
		CU_ASSERT_EQUAL(http_field_id_of((struct span){(uint8_t *)text, len - 1}),
			HTTP_FIELD_OTHER);
	}
}

static void tokens(void)
{
	CU_ASSERT(http_field_is_token(SPAN_LITERAL("a!#$%&'*+-.^_`|~9")));
	CU_ASSERT(!http_field_is_token(SPAN_LITERAL("")));
	for (const char *c = " \t\r\n\"(),/:;<=>?@[\\]{}\x7f\x80"; *c != 0; c++)
		CU_ASSERT(!http_field_is_token((struct span){(const uint8_t *)c, 1}));
	CU_ASSERT(!http_field_is_token(SPAN_LITERAL("\0")));
}

static void lists(void)
{
	struct span rest = SPAN_LITERAL(" , a ,\tb c\t,,d"), item;
	CU_ASSERT(http_field_list_next(&rest, &item) && span_equals(item, SPAN_LITERAL("a")));
	CU_ASSERT(http_field_list_next(&rest, &item) && span_equals(item, SPAN_LITERAL("b c")));
	CU_ASSERT(http_field_list_next(&rest, &item) && span_equals(item, SPAN_LITERAL("d")));
	CU_ASSERT(!http_field_list_next(&rest, &item));
	CU_ASSERT(http_field_list_has(SPAN_LITERAL("x, CLOSE"), SPAN_LITERAL("close")));
	CU_ASSERT(!http_field_list_has(SPAN_LITERAL("x, closed"), SPAN_LITERAL("close")));
	CU_ASSERT(!http_field_list_has((struct span){NULL, 0}, SPAN_LITERAL("close")));
	CU_ASSERT_EQUAL(http_field_trim(SPAN_LITERAL(" \t ")).len, 0);
}

static void numbers(void)
{
	uint64_t v = 0;
	CU_ASSERT_EQUAL(http_field_uint_parse(SPAN_LITERAL("18446744073709551615"), &v), 0);
	CU_ASSERT_EQUAL(v, UINT64_MAX);
	CU_ASSERT_EQUAL(http_field_uint_parse(SPAN_LITERAL("18446744073709551616"), &v), -EINVAL);
	CU_ASSERT_EQUAL(http_field_uint_parse(SPAN_LITERAL(""), &v), -EINVAL);
	CU_ASSERT_EQUAL(http_field_uint_parse(SPAN_LITERAL("1 "), &v), -EINVAL);
}

/* a correlation id is echoed only if it is harmless in a log line and short. */
static void corr_ids(void)
{
	char text[LIMIT_HTTP_CORR_ID_BYTES + 1];
	memset(text, 'a', sizeof text);
	CU_ASSERT(http_field_corr_id_is_valid(
		(struct span){(uint8_t *)text, LIMIT_HTTP_CORR_ID_BYTES}));
	CU_ASSERT(!http_field_corr_id_is_valid(
		(struct span){(uint8_t *)text, LIMIT_HTTP_CORR_ID_BYTES + 1}));
	CU_ASSERT(http_field_corr_id_is_valid(SPAN_LITERAL("Az09._-")));
	CU_ASSERT(http_field_corr_id_is_valid(SPAN_LITERAL("a")));
	CU_ASSERT(!http_field_corr_id_is_valid(SPAN_LITERAL("")));
	for (unsigned b = 0; b < 256; b++) {
		uint8_t c = (uint8_t)b;
		bool want = (b >= '0' && b <= '9') || (b >= 'a' && b <= 'z') ||
			    (b >= 'A' && b <= 'Z') || b == '.' || b == '_' || b == '-';
		CU_ASSERT_EQUAL(http_field_corr_id_is_valid((struct span){&c, 1}), want);
	}
}

/* */
static void deadlines(void)
{
	static const struct {
		struct span text;
		int rc;
		uint64_t ms;
	} cases[] = {
		{SPAN_LITERAL("5"), 0, 5000},
		{SPAN_LITERAL("0"), 0, 0},
		{SPAN_LITERAL("0.25"), 0, 250},
		{SPAN_LITERAL("1.5"), 0, 1500},
		{SPAN_LITERAL("0.0019"), 0, 1},
		{SPAN_LITERAL("1.999999999999999999999999999"), 0, 1999},
		{SPAN_LITERAL("1735689600.125"), 0, 1735689600125},
		{SPAN_LITERAL("18446744073709551.615"), 0, UINT64_MAX},
		{SPAN_LITERAL("18446744073709551.616"), -EINVAL, 0},
		{SPAN_LITERAL("18446744073709552"), -EINVAL, 0},
		{SPAN_LITERAL("99999999999999999999"), -EINVAL, 0},
		{SPAN_LITERAL(""), -EINVAL, 0},
		{SPAN_LITERAL("."), -EINVAL, 0},
		{SPAN_LITERAL("1."), -EINVAL, 0},
		{SPAN_LITERAL(".5"), -EINVAL, 0},
		{SPAN_LITERAL("1.2.3"), -EINVAL, 0},
		{SPAN_LITERAL("-1"), -EINVAL, 0},
		{SPAN_LITERAL("+1"), -EINVAL, 0},
		{SPAN_LITERAL("1e3"), -EINVAL, 0},
		{SPAN_LITERAL("1s"), -EINVAL, 0},
		{SPAN_LITERAL("1,5"), -EINVAL, 0},
		{SPAN_LITERAL("nan"), -EINVAL, 0},
	};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t a = 0, b = 0;
		CU_ASSERT_EQUAL(http_field_timeout_parse(cases[i].text, &a), cases[i].rc);
		CU_ASSERT_EQUAL(http_field_deadline_parse(cases[i].text, &b), cases[i].rc);
		CU_ASSERT_EQUAL(a, cases[i].ms);
		CU_ASSERT_EQUAL(b, cases[i].ms);
	}
}

static const struct unit_case cases[] = {
	{"known names", known_names},
	{"tokens", tokens},
	{"lists", lists},
	{"numbers", numbers},
	{"corr ids", corr_ids},
	{"deadlines", deadlines},
};

UNIT_MAIN("dataplane/http/http_field", cases)
