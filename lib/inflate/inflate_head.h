/* inflate_head: the header of a gzip member (RFC 1952) or a zlib stream (RFC 1950), resumable at
 * every byte; ISA-L's own reader loses the flags when a header with optional fields is split.
 * Pure; bounded by its input. */
#ifndef LIB_INFLATE_INFLATE_HEAD_H
#define LIB_INFLATE_INFLATE_HEAD_H

#include "lib/base/base.h"

enum inflate_head_format { INFLATE_HEAD_GZIP, INFLATE_HEAD_ZLIB };
enum inflate_head_status { INFLATE_HEAD_DONE, INFLATE_HEAD_MORE, INFLATE_HEAD_BAD };

struct inflate_head {
	uint8_t state;
	uint8_t flags;
	uint16_t at;	 /* bytes read in this state */
	uint16_t number; /* the little-endian number being read, or bytes left */
	uint32_t crc;
};

void inflate_head_init(struct inflate_head *h, enum inflate_head_format format);

/* Takes header bytes off *in. */
enum inflate_head_status inflate_head_feed(struct inflate_head *h, struct span *in);

#endif
