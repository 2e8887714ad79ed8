/* http_target: the path and the query of a request target. The path is percent-decoded once and
 * its dot segments are removed; nothing that could mean another path to another reader passes
 * bad escapes, NUL and control bytes, encoded slashes and backslashes, paths above the
 * root. Pure; no allocation. */
#ifndef DATAPLANE_HTTP_HTTP_TARGET_H
#define DATAPLANE_HTTP_HTTP_TARGET_H

#include "lib/base/registry.h"

enum http_target_status { HTTP_TARGET_DONE, HTTP_TARGET_BAD };

struct http_target {
	struct span path;   /* decoded, starts with '/' */
	struct span query;  /* raw, without '?'; {NULL, 0} when there is none */
	const char *detail; /* static text when BAD, else NULL */
};

/* A path never grows, but an empty one becomes "/". */
enum { HTTP_TARGET_PATH_BYTES = LIMIT_HTTP_TARGET_BYTES };

/* `path_query` as http_parse gives it. When nothing has to be decoded or removed the path points
 * into it, else into `buf` (both must outlive the result). */
enum http_target_status http_target_parse(
	struct http_target *out, struct span path_query, uint8_t buf[HTTP_TARGET_PATH_BYTES]);

/* The value of one parameter of a raw query, decoded ('+' is a space) into buf. Returns 1 and
 * *value, 0 when it is absent, -EINVAL when an escape is bad, the name comes twice or the value is
 * longer than cap. A name without '=' has an empty value. */
CHECKED int http_target_param(
	struct span query, struct span name, uint8_t *buf, size_t cap, struct span *value);

#endif
