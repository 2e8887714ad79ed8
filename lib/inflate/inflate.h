/* inflate: request bodies in gzip, deflate (zlib-wrapped, RFC 9110) or zstd, decoded under two caps
 * that are checked while inflating: output <= LIMIT_INFLATE_RATIO x input and <=
 * LIMIT_INFLATE_BYTES. A breach, a damaged or a truncated stream gives no result at all. Bytes
 * after the end of the stream are damage too. Thread: workers only; one struct inflate per thread,
 * reused. No allocation per body after inflate_init. */
#ifndef LIB_INFLATE_INFLATE_H
#define LIB_INFLATE_INFLATE_H

#include "lib/base/registry.h"

enum inflate_coding { INFLATE_IDENTITY, INFLATE_GZIP, INFLATE_DEFLATE, INFLATE_ZSTD };

enum inflate_status {
	INFLATE_DONE,	 /* the whole body was decoded */
	INFLATE_CAP,	 /* over a cap: 413 decompress_cap */
	INFLATE_DAMAGED, /* not a valid, complete stream: 400 */
	INFLATE_NO_ROOM, /* the sink refused: its reason is the caller's */
};

struct inflate;
CHECKED int inflate_init(struct inflate **out);
void inflate_fini(struct inflate *in);

/* Where output goes: called with pieces in order; returns false to stop (INFLATE_NO_ROOM). */
typedef bool inflate_sink(void *ctx, const uint8_t *data, size_t len);

/* Decodes `parts` (the body in order). */
enum inflate_status inflate_run(struct inflate *in, enum inflate_coding coding,
	const struct span *parts, unsigned part_count, inflate_sink *sink, void *ctx);

/* The coding a Content-Encoding value names: 0 and *out, or -ENOTSUP for unknown or stacked
 * codings. "x-gzip" is gzip; an absent or empty value and "identity" are identity. */
CHECKED int inflate_coding_parse(enum inflate_coding *out, struct span field_value);

#endif
