#include "lib/ops/ops_line.h"

#include <string.h>

#include "tests/unit/unit.h"

static void put(struct ops_line *b, const char *text, size_t len)
{
	MUST(len <= ops_line_room(b));
	memcpy(b->text + b->len, text, len);
	b->len += len;
}

static void cuts_lines_however_they_arrive(void)
{
	static const char stream[] = "one\n\nthree and more\n";
	static const char *const want[] = {"one", "", "three and more"};
	for (size_t step = 1; step < sizeof(stream); step++) {
		struct ops_line b = {0};
		unsigned found = 0;
		for (size_t at = 0; at < sizeof(stream) - 1; at += step) {
			size_t left = sizeof(stream) - 1 - at, len;
			put(&b, stream + at, left < step ? left : step);
			while (ops_line_find(&b, &len) == OPS_LINE_DONE) {
				CU_ASSERT_FATAL(found < ARRAY_LEN(want));
				CU_ASSERT_EQUAL(len, strlen(want[found]));
				CU_ASSERT_EQUAL(memcmp(b.text, want[found], len), 0);
				ops_line_drop(&b, len);
				found++;
			}
		}
		CU_ASSERT_EQUAL(found, ARRAY_LEN(want));
		CU_ASSERT_EQUAL(b.len, 0);
	}
}

static void limit(void)
{
	static char full[LIMIT_OPS_REQUEST_BYTES];
	struct ops_line b = {0};
	size_t len;
	memset(full, 'x', sizeof(full));
	/* At the limit: the newline is the last byte. */
	put(&b, full, sizeof(full) - 1);
	CU_ASSERT_EQUAL(ops_line_find(&b, &len), OPS_LINE_MORE);
	CU_ASSERT_EQUAL(ops_line_room(&b), 1);
	put(&b, "\n", 1);
	CU_ASSERT_EQUAL(ops_line_find(&b, &len), OPS_LINE_DONE);
	CU_ASSERT_EQUAL(len, LIMIT_OPS_REQUEST_BYTES - 1);
	ops_line_drop(&b, len);
	CU_ASSERT_EQUAL(b.len, 0);
	/* One past it. */
	put(&b, full, sizeof(full));
	CU_ASSERT_EQUAL(ops_line_find(&b, &len), OPS_LINE_BAD);
}

static const struct unit_case cases[] = {
	{"cuts_lines_however_they_arrive", cuts_lines_however_they_arrive},
	{"limit", limit},
};
UNIT_MAIN("lib/ops/ops_line", cases)
