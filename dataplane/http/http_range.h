/* http_range: the Range field against a length (RFC 9110 14): single byte ranges. Pure. */
#ifndef DATAPLANE_HTTP_HTTP_RANGE_H
#define DATAPLANE_HTTP_HTTP_RANGE_H

#include "lib/base/base.h"

enum http_range_kind {
	HTTP_RANGE_NONE,	  /* absent, another unit or malformed: answer 200 with the whole */
	HTTP_RANGE_OK,		  /* 206 with first..last */
	HTTP_RANGE_UNSATISFIABLE, /* 416 */
	HTTP_RANGE_MULTI,	  /* well-formed, but more than one range: the service decides */
};

struct http_range {
	uint64_t first, last; /* inclusive; set when OK */
};

/* `value` is {NULL, 0} when the field is absent. When OK: first <= last < length. */
enum http_range_kind http_range_parse(struct span value, uint64_t length, struct http_range *out);

#endif
