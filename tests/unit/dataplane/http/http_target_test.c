#include "dataplane/http/http_target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

/* decoded once; dot segments and encoded slashes never escape the root. NULL is refused. */
static void paths(void)
{
	static const struct {
		struct span in;
		const char *path, *query;
	} cases[] = {
		{SPAN_LITERAL("/"), "/", NULL},
		{SPAN_LITERAL(""), "/", NULL},
		{SPAN_LITERAL("?"), "/", ""},
		{SPAN_LITERAL("?q=1"), "/", "q=1"},
		{SPAN_LITERAL("/o/b3:12"), "/o/b3:12", NULL},
		{SPAN_LITERAL("/a?b?c=/../%zz"), "/a", "b?c=/../%zz"},
		{SPAN_LITERAL("/%61%2d%7E"), "/a-~", NULL},
		{SPAN_LITERAL("/%c3%BC"), "/\xc3\xbc", NULL},
		{SPAN_LITERAL("/%2561"), "/%61", NULL},
		{SPAN_LITERAL("/%252e%252e/x"), "/%2e%2e/x", NULL},
		{SPAN_LITERAL("/%3F"), "/?", NULL},
		{SPAN_LITERAL("/a//b"), "/a//b", NULL},
		{SPAN_LITERAL("//"), "//", NULL},
		{SPAN_LITERAL("/a/./b"), "/a/b", NULL},
		{SPAN_LITERAL("/a/."), "/a/", NULL},
		{SPAN_LITERAL("/."), "/", NULL},
		{SPAN_LITERAL("/./"), "/", NULL},
		{SPAN_LITERAL("/a/.."), "/", NULL},
		{SPAN_LITERAL("/a/../"), "/", NULL},
		{SPAN_LITERAL("/a/b/../../c"), "/c", NULL},
		{SPAN_LITERAL("/a/b/%2E%2e/c"), "/a/c", NULL},
		{SPAN_LITERAL("/a/.%2e/c"), "/c", NULL},
		{SPAN_LITERAL("/a//../b"), "/a/b", NULL},
		{SPAN_LITERAL("//.."), "/", NULL},
		{SPAN_LITERAL("/.a/..b/c../..."), "/.a/..b/c../...", NULL},
		{SPAN_LITERAL("/a/.../b"), "/a/.../b", NULL},
		{SPAN_LITERAL("/.."), NULL, NULL},
		{SPAN_LITERAL("/../"), NULL, NULL},
		{SPAN_LITERAL("/a/../.."), NULL, NULL},
		{SPAN_LITERAL("/a/../../b"), NULL, NULL},
		{SPAN_LITERAL("/./../a"), NULL, NULL},
		{SPAN_LITERAL("/%2e%2e/etc"), NULL, NULL},
		{SPAN_LITERAL("/.%2E"), NULL, NULL},
		{SPAN_LITERAL("/a%2fb"), NULL, NULL},
		{SPAN_LITERAL("/a%2Fb"), NULL, NULL},
		{SPAN_LITERAL("/..%2f"), NULL, NULL},
		{SPAN_LITERAL("/a%5cb"), NULL, NULL},
		{SPAN_LITERAL("/a\\b"), NULL, NULL},
		{SPAN_LITERAL("/%00"), NULL, NULL},
		{SPAN_LITERAL("/a%0d%0a"), NULL, NULL},
		{SPAN_LITERAL("/%1f"), NULL, NULL},
		{SPAN_LITERAL("/%7f"), NULL, NULL},
		{SPAN_LITERAL("/\x01"), NULL, NULL},
		{SPAN_LITERAL("/%"), NULL, NULL},
		{SPAN_LITERAL("/%4"), NULL, NULL},
		{SPAN_LITERAL("/%4g"), NULL, NULL},
		{SPAN_LITERAL("/%g4"), NULL, NULL},
		{SPAN_LITERAL("/%%41"), NULL, NULL},
		{SPAN_LITERAL("/% 41"), NULL, NULL},
		{SPAN_LITERAL("/%u0041"), NULL, NULL},
		{SPAN_LITERAL("/%?41"), NULL, NULL},
		{SPAN_LITERAL("a"), NULL, NULL},
		{SPAN_LITERAL("%2f"), NULL, NULL},
		{SPAN_LITERAL("*"), NULL, NULL},
	};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct http_target t;
		uint8_t buf[HTTP_TARGET_PATH_BYTES];
		uint8_t *copy = malloc(cases[i].in.len + (cases[i].in.len == 0));
		memcpy(copy, cases[i].in.data, cases[i].in.len);
		enum http_target_status s =
			http_target_parse(&t, (struct span){copy, cases[i].in.len}, buf);
		bool is_good = cases[i].path != NULL;
		if ((s == HTTP_TARGET_DONE) != is_good)
			printf("  vector %u: %d\n", i, (int)s);
		CU_ASSERT_EQUAL_FATAL(s == HTTP_TARGET_DONE, is_good);
		CU_ASSERT_EQUAL(t.detail == NULL, is_good);
		if (is_good) {
			CU_ASSERT(t.path.len == strlen(cases[i].path) &&
				  memcmp(t.path.data, cases[i].path, t.path.len) == 0);
			CU_ASSERT_EQUAL(t.query.data == NULL, cases[i].query == NULL);
			if (cases[i].query != NULL)
				CU_ASSERT(t.query.len == strlen(cases[i].query) &&
					  memcmp(t.query.data, cases[i].query, t.query.len) == 0);
		}
		free(copy);
	}
}

static void longest_path(void)
{
	static uint8_t in[HTTP_TARGET_PATH_BYTES + 1];
	static uint8_t buf[HTTP_TARGET_PATH_BYTES];
	struct http_target t;
	memset(in, 'a', sizeof in);
	memcpy(in, "/.x", 3);
	CU_ASSERT_EQUAL(
		http_target_parse(&t, (struct span){in, sizeof buf}, buf), HTTP_TARGET_DONE);
	CU_ASSERT_EQUAL(t.path.len, sizeof buf);
	CU_ASSERT_EQUAL(http_target_parse(&t, (struct span){in, sizeof in}, buf), HTTP_TARGET_BAD);
}

static void params(void)
{
	static const struct {
		struct span query, name;
		int rc;
		const char *value;
	} cases[] = {
		{SPAN_LITERAL("region=eu&limit=5"), SPAN_LITERAL("region"), 1, "eu"},
		{SPAN_LITERAL("region=eu&limit=5"), SPAN_LITERAL("limit"), 1, "5"},
		{SPAN_LITERAL("region=eu&limit=5"), SPAN_LITERAL("lim"), 0, NULL},
		{SPAN_LITERAL("region=eu&limit=5"), SPAN_LITERAL("limits"), 0, NULL},
		{SPAN_LITERAL("region=eu"), SPAN_LITERAL("eu"), 0, NULL},
		{SPAN_LITERAL("r%65gion=%65u+x"), SPAN_LITERAL("region"), 1, "eu x"},
		{SPAN_LITERAL("fresh"), SPAN_LITERAL("fresh"), 1, ""},
		{SPAN_LITERAL("fresh="), SPAN_LITERAL("fresh"), 1, ""},
		{SPAN_LITERAL("&&a=b=c&"), SPAN_LITERAL("a"), 1, "b=c"},
		{SPAN_LITERAL(""), SPAN_LITERAL("a"), 0, NULL},
		{SPAN_LITERAL("a=1&a=1"), SPAN_LITERAL("a"), -EINVAL, NULL},
		{SPAN_LITERAL("a=1&%61=2"), SPAN_LITERAL("a"), -EINVAL, NULL},
		{SPAN_LITERAL("a=%"), SPAN_LITERAL("a"), -EINVAL, NULL},
		{SPAN_LITERAL("a=%4"), SPAN_LITERAL("a"), -EINVAL, NULL},
		{SPAN_LITERAL("a=%zz"), SPAN_LITERAL("a"), -EINVAL, NULL},
		{SPAN_LITERAL("a=%00"), SPAN_LITERAL("a"), -EINVAL, NULL},
		{SPAN_LITERAL("a=%0a"), SPAN_LITERAL("a"), -EINVAL, NULL},
		{SPAN_LITERAL("b=%zz&a=1"), SPAN_LITERAL("a"), 1, "1"},
		{SPAN_LITERAL("%=1&a=1"), SPAN_LITERAL("a"), 1, "1"},
		{SPAN_LITERAL("a=12345678"), SPAN_LITERAL("a"), 1, "12345678"},
		{SPAN_LITERAL("a=123456789"), SPAN_LITERAL("a"), -EINVAL, NULL},
	};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		uint8_t buf[8];
		struct span value = {NULL, 0};
		int rc = http_target_param(cases[i].query, cases[i].name, buf, sizeof buf, &value);
		CU_ASSERT_EQUAL(rc, cases[i].rc);
		if (rc == 1)
			CU_ASSERT(value.len == strlen(cases[i].value) &&
				  memcmp(value.data, cases[i].value, value.len) == 0);
	}
	struct span value;
	CU_ASSERT_EQUAL(
		http_target_param((struct span){NULL, 0}, SPAN_LITERAL("a"), NULL, 0, &value), 0);
}

static const struct unit_case cases[] = {
	{"paths", paths},
	{"longest path", longest_path},
	{"params", params},
};

UNIT_MAIN("dataplane/http/http_target", cases)
