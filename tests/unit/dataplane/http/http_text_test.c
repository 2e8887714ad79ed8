#include "dataplane/http/http_text.h"

#include "tests/unit/unit.h"

static void check(const struct http_text *t, const char *want)
{
	CU_ASSERT_EQUAL(http_text_len(t), strlen(want));
	CU_ASSERT(http_text_len(t) == strlen(want) && memcmp(t->start, want, strlen(want)) == 0);
}

static void test_numbers(void)
{
	char buffer[64];
	static const struct {
		uint64_t value;
		const char *text;
	} cases[] = {{0, "0"}, {9, "9"}, {10, "10"}, {1048576, "1048576"},
		{UINT64_MAX, "18446744073709551615"}};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct http_text t = http_text_on(buffer, sizeof(buffer));
		http_text_uint(&t, cases[i].value);
		check(&t, cases[i].text);
	}
	struct http_text t = http_text_on(buffer, sizeof(buffer));
	http_text_hex(&t, 0xbeef, 6);
	check(&t, "00beef");
}

static void test_json(void)
{
	char buffer[64];
	struct http_text t = http_text_on(buffer, sizeof(buffer));
	http_text_json(&t, "a\"b\\c\n\x7f\xc3", 0);
	check(&t, "\"a\\\"b\\\\c\\u000a\\u007f\\u00c3\"");
}

/* Exactly full is whole; one byte less is cut, and nothing is written beyond. */
static void test_full(void)
{
	char buffer[6] = "xxxxx";
	struct http_text t = http_text_on(buffer, 5);
	HTTP_TEXT_LITERAL(&t, "12345");
	CU_ASSERT(!t.is_cut);
	t = http_text_on(buffer, 4);
	HTTP_TEXT_LITERAL(&t, "12345");
	CU_ASSERT(t.is_cut);
	CU_ASSERT_EQUAL(http_text_len(&t), 0);
	char json[11];
	t = http_text_on(json, 10);
	http_text_json(&t, "abcdefgh", 0);
	check(&t, "\"abcdefgh\"");
	t = http_text_on(json, 10);
	http_text_json(&t, "abcdefgh", 1);
	check(&t, "\"abcdefg\"");
	CU_ASSERT(t.is_cut);
	t = http_text_on(json, 10);
	http_text_json(&t, "abcdefg\n", 0);
	check(&t, "\"abcdefg\""); /* an escape is not cut in two */
}

static const struct unit_case cases[] = {
	{"numbers", test_numbers},
	{"json", test_json},
	{"full", test_full},
};

UNIT_MAIN("http_text", cases)
