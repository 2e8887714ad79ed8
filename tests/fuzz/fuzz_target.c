/* Targets: a path that passes stays below the root, has no byte that means something else to
 * another reader, and comes out the same when it is escaped and read again. */
#include "dataplane/http/http_target.h"
#include "tests/fuzz/fuzz.h"

static void check_segments(struct span path)
{
	size_t begin = 1;
	CHECK(path.len != 0 && path.data[0] == '/');
	for (size_t i = 1; i <= path.len; i++) {
		if (i < path.len) {
			uint8_t c = path.data[i];
			CHECK(c >= 0x20 && c != 0x7f && c != '\\');
			if (c != '/')
				continue;
		}
		const uint8_t *s = path.data + begin;
		CHECK(i - begin != 1 || s[0] != '.');
		CHECK(i - begin != 2 || s[0] != '.' || s[1] != '.');
		begin = i + 1;
	}
}

static void check_again(struct span path)
{
	static uint8_t text[3 * HTTP_TARGET_PATH_BYTES], buf[HTTP_TARGET_PATH_BYTES];
	struct http_target t;
	size_t n = 0;
	for (size_t i = 0; i < path.len; i++) {
		uint8_t c = path.data[i];
		if (c == '/') {
			text[n++] = c;
			continue;
		}
		text[n++] = '%';
		text[n++] = (uint8_t) "0123456789abcdef"[c >> 4];
		text[n++] = (uint8_t) "0123456789ABCDEF"[c & 15];
	}
	if (n > HTTP_TARGET_PATH_BYTES)
		return;
	CHECK(http_target_parse(&t, (struct span){text, n}, buf) == HTTP_TARGET_DONE);
	CHECK(span_equals(t.path, path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t buf[HTTP_TARGET_PATH_BYTES];
	uint8_t small[8];
	struct http_target t;
	struct span value;
	uint8_t *copy = fuzz_copy(data, size);
	if (http_target_parse(&t, (struct span){copy, size}, buf) == HTTP_TARGET_DONE) {
		CHECK(t.detail == NULL && (t.path.len <= size || t.path.len == 1));
		check_segments(t.path);
		if (t.path.len <= HTTP_TARGET_PATH_BYTES)
			check_again(t.path);
		int rc = http_target_param(
			t.query, SPAN_LITERAL("limit"), small, sizeof small, &value);
		CHECK(rc <= 0 || (value.data == small && value.len <= sizeof small));
	} else {
		CHECK(t.detail != NULL);
	}
	free(copy);
	return 0;
}
