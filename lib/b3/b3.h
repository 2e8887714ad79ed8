/* b3: BLAKE3 addresses. The hash is the official C with SIMD assembly picked at run time.
 * Pure; any thread. */
#ifndef LIB_B3_B3_H
#define LIB_B3_B3_H

#include <blake3.h>

#include "lib/base/base.h"

enum { B3_BYTES = 32, B3_HEX = 64, B3_TEXT = 3 + B3_HEX /* "b3:" and the digits, without NUL */ };

struct b3 {
	uint8_t bytes[B3_BYTES];
};

void b3_of(struct b3 *out, const void *data, size_t len);

/* Streaming. */
struct b3_hasher {
	blake3_hasher state;
};
void b3_begin(struct b3_hasher *h);
void b3_add(struct b3_hasher *h, const void *data, size_t len);
void b3_end(const struct b3_hasher *h, struct b3 *out);

/* "b3:" and 64 lower-case hex digits, nothing else. Returns 0 or -EINVAL. */
CHECKED int b3_parse(struct b3 *out, struct span text);
/* Writes B3_TEXT bytes, no NUL. */
void b3_print(const struct b3 *b, char out[B3_TEXT]);

static inline bool b3_equals(const struct b3 *a, const struct b3 *b)
{
	return __builtin_memcmp(a->bytes, b->bytes, B3_BYTES) == 0;
}

#endif
