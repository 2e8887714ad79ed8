/* Codings: both caps hold whatever comes, and the parts a body is cut in do not matter. The first
 * byte chooses the coding, the second the size of the parts. */
#include "lib/b3/b3.h"
#include "lib/inflate/inflate.h"
#include "tests/fuzz/fuzz.h"

struct sink {
	struct b3_hasher hash;
	uint64_t bytes;
};

static bool take(void *ctx, const uint8_t *data, size_t len)
{
	struct sink *s = ctx;
	b3_add(&s->hash, data, len);
	s->bytes += len;
	return true;
}

static enum inflate_status decode(struct inflate *in, enum inflate_coding coding, struct span body,
	size_t step, struct b3 *out)
{
	static struct span parts[1 << 16];
	struct sink s = {.bytes = 0};
	unsigned count = 0;
	b3_begin(&s.hash);
	for (size_t at = 0; at < body.len; at += step) {
		size_t n = body.len - at < step ? body.len - at : step;
		parts[count++] = (struct span){body.data + at, n};
	}
	enum inflate_status st = inflate_run(in, coding, parts, count, take, &s);
	CHECK(s.bytes <= body.len * LIMIT_INFLATE_RATIO && s.bytes <= LIMIT_INFLATE_BYTES);
	b3_end(&s.hash, out);
	return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum inflate_coding codings[] = {
		INFLATE_GZIP, INFLATE_DEFLATE, INFLATE_ZSTD, INFLATE_IDENTITY};
	static struct inflate *in;
	struct b3 whole, cut;
	if (size < 2 || size > 1 << 16)
		return 0;
	if (in == NULL)
		CHECK(inflate_init(&in) == 0);
	enum inflate_coding coding = codings[data[0] % ARRAY_LEN(codings)];
	uint8_t *copy = fuzz_copy(data + 2, size - 2);
	struct span body = {copy, size - 2};
	enum inflate_status a = decode(in, coding, body, size, &whole);
	enum inflate_status b = decode(in, coding, body, data[1] + 1u, &cut);
	CHECK((a == INFLATE_DONE) == (b == INFLATE_DONE));
	CHECK(a != INFLATE_DONE || b3_equals(&whole, &cut));
	free(copy);
	return 0;
}
