/* http_chunked: the chunked transfer coding (RFC 9112 7.1), read strictly and written.
 * Data is handed out in place. Chunk extensions are checked and ignored, trailers are checked and
 * dropped. Pure; 24 bytes of state; no allocation. */
#ifndef DATAPLANE_HTTP_HTTP_CHUNKED_H
#define DATAPLANE_HTTP_HTTP_CHUNKED_H

#include "lib/base/registry.h"

enum http_chunked_status {
	HTTP_CHUNKED_DONE, /* the body ended; what follows *used is the next request */
	HTTP_CHUNKED_MORE, /* go on with the bytes after *used, or wait for more when there are none */
	HTTP_CHUNKED_BAD, /* see `error` and `detail`; answer and close */
};

struct http_chunked {
	uint64_t left;	     /* of the chunk being read */
	const char *detail;  /* static text when BAD */
	uint16_t line_bytes; /* of the size or extension being read */
	uint16_t trailer_bytes;
	uint8_t state;
	uint8_t error; /* enum err_id: ERR_NONE, ERR_BAD_REQUEST, or ERR_HEADERS_LARGE for trailers */
};

void http_chunked_init(struct http_chunked *c);

/* Reads from `in` up to and with the next piece of data, or all of it. *used is how much of `in` was
 * read, *data a piece of the body within it (may be empty). Call again with the rest while MORE
 * and *used < in.len. The pieces and the end do not depend on how the input was split. The caller
 * counts the body against its cap: `left` tells what the current chunk has announced and not yet
 * delivered, so a cap can be enforced before those bytes come. */
enum http_chunked_status http_chunked_feed(
	struct http_chunked *c, struct span in, size_t *used, struct span *data);

/* Sending: a chunk is http_chunked_head, the data, HTTP_CHUNKED_TAIL; the body ends with
 * HTTP_CHUNKED_END. */
enum { HTTP_CHUNKED_HEAD_BYTES = 18 };
#define HTTP_CHUNKED_TAIL "\r\n"
#define HTTP_CHUNKED_END  "0\r\n\r\n"

/* Writes "<hex>\r\n" for a chunk of `len` > 0 bytes, no NUL; returns how many bytes were written. */
size_t http_chunked_head(char out[HTTP_CHUNKED_HEAD_BYTES], uint64_t len);

#endif
