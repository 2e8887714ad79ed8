/* http_date: IMF-fixdate (RFC 9110 5.6.7), "Sun, 06 Nov 1994 08:49:37 GMT". Pure; no locale. */
#ifndef DATAPLANE_HTTP_HTTP_DATE_H
#define DATAPLANE_HTTP_HTTP_DATE_H

#include "lib/base/base.h"

enum { HTTP_DATE_BYTES = 29 };

/* Writes exactly HTTP_DATE_BYTES, no NUL. `unix_s` up to the end of the year 9999; later times are
 * written as that. */
void http_date_print(uint64_t unix_s, char out[HTTP_DATE_BYTES]);

/* IMF-fixdate only, 1970 and later; the weekday must be right. Returns 0 or -EINVAL. */
CHECKED int http_date_parse(struct span text, uint64_t *unix_s);

#endif
