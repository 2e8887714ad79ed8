/* http_load: HTTP requests over the network seam.
 *
 *   connection:  WAITING --net_connect--> CONNECTING --> OPEN --+-- answered, --per-request: closed --> RESTING
 *                   ^                          |           |
 *                   +--------- PAUSED <--------+-----------+ failed, or ended by the server
 *
 *   WAITING   in the queue of those to be opened        OPEN     carries up to --pipeline requests
 *   PAUSED    failed just now; tries again in a moment  RESTING  --per-request: until the next request may begin
 *
 * A connection that we end is forgotten at once: what the net still does with it is no business of ours. */
#ifndef TOOLS_MILLLOAD_HTTP_LOAD_H
#define TOOLS_MILLLOAD_HTTP_LOAD_H

#include "tools/millload/load.h"

/* On failure returns -errno and fills `why`. */
CHECKED int http_load_open(struct load **out, struct load_env *env, char *why, size_t why_size);

#endif
