/* Range fields: what is found lies within the length, and means the same when written plainly. The
 * first eight bytes are the length. */
#include <stdio.h>

#include "dataplane/http/http_range.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t length;
	struct http_range r, again;
	char text[64];
	if (size < sizeof length)
		return 0;
	memcpy(&length, data, sizeof length);
	uint8_t *copy = fuzz_copy(data + sizeof length, size - sizeof length);
	struct span value = {copy, size - sizeof length};
	if (http_range_parse(value, length, &r) == HTTP_RANGE_OK) {
		CHECK(r.first <= r.last && r.last < length);
		int n = snprintf(text, sizeof text, "bytes=%llu-%llu", (unsigned long long)r.first,
			(unsigned long long)r.last);
		struct span plain = {(const uint8_t *)text, (size_t)n};
		CHECK(http_range_parse(plain, length, &again) == HTTP_RANGE_OK);
		CHECK(again.first == r.first && again.last == r.last);
	}
	free(copy);
	return 0;
}
