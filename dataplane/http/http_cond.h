/* http_cond: conditional requests (RFC 9110 13) on representations that have an entity-tag and no
 * date: If-Match, If-None-Match and If-Range. If-(Un)Modified-Since are ignored, as the RFC asks
 * when there is no modification date. Pure. */
#ifndef DATAPLANE_HTTP_HTTP_COND_H
#define DATAPLANE_HTTP_HTTP_COND_H

#include "dataplane/http/http_parse.h"

enum http_cond_verdict {
	HTTP_COND_PROCEED,
	HTTP_COND_NOT_MODIFIED, /* 304; GET and HEAD only */
	HTTP_COND_FAILED,	/* 412 */
};

struct http_cond {
	enum http_cond_verdict verdict;
	bool range_applies; /* PROCEED, GET, one Range field, and If-Range (when there) matches */
	struct span
		range; /* the Range field when range_applies, else {NULL, 0}: for http_range_parse */
};

/* `etag`: the current entity-tag with its quotes (and W/ when weak), or {NULL, 0} when there is no
 * current representation. Call it only when the answer would be 2xx without the conditions. */
struct http_cond http_cond_check(const struct http_parse *req, struct span etag);

enum http_cond_comparison { HTTP_COND_STRONG, HTTP_COND_WEAK };

/* Whether an If-Match or If-None-Match value ("*", or a list of entity-tags) matches `etag`. A
 * malformed element ends the list: what came before it counts. */
bool http_cond_list_matches(struct span list, struct span etag, enum http_cond_comparison how);

#endif
