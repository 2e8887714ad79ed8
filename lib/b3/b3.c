#include "lib/b3/b3.h"

#include <errno.h>
#include <string.h>

void b3_of(struct b3 *out, const void *data, size_t len)
{
	struct b3_hasher h;
	b3_begin(&h);
	b3_add(&h, data, len);
	b3_end(&h, out);
}

void b3_begin(struct b3_hasher *h)
{
	blake3_hasher_init(&h->state);
}

void b3_add(struct b3_hasher *h, const void *data, size_t len)
{
	blake3_hasher_update(&h->state, data, len);
}

void b3_end(const struct b3_hasher *h, struct b3 *out)
{
	blake3_hasher_finalize(&h->state, out->bytes, B3_BYTES);
}

/* Lower case only: one object has one name. */
static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int b3_parse(struct b3 *out, struct span text)
{
	struct b3 b;
	if (text.len != B3_TEXT || memcmp(text.data, "b3:", 3) != 0)
		return -EINVAL;
	for (unsigned i = 0; i < B3_BYTES; i++) {
		int hi = hex_digit(text.data[3 + 2 * i]), lo = hex_digit(text.data[4 + 2 * i]);
		if (hi < 0 || lo < 0)
			return -EINVAL;
		b.bytes[i] = (uint8_t)(hi << 4 | lo);
	}
	*out = b;
	return 0;
}

void b3_print(const struct b3 *b, char out[B3_TEXT])
{
	static const char digits[] = "0123456789abcdef";
	memcpy(out, "b3:", 3);
	for (unsigned i = 0; i < B3_BYTES; i++) {
		out[3 + 2 * i] = digits[b->bytes[i] >> 4];
		out[4 + 2 * i] = digits[b->bytes[i] & 15];
	}
}
