/* sources: the local addresses that connections are spread over: one after the other, round and round.
 * Owner: one thread. Pure. */
#ifndef TOOLS_MILLLOAD_SOURCES_H
#define TOOLS_MILLLOAD_SOURCES_H

#include "lib/base/addr.h"

enum { SOURCES_MAX = 4096, SOURCES_TEXT_BYTES = 128 };

struct sources {
	uint32_t count;
	uint32_t next;
	struct addr at[SOURCES_MAX]; /* port 0 */
};

/* Adds "10.0.0.2", "10.0.0.2-10.0.0.250" or several of them, separated by commas. 0, -EINVAL, or -E2BIG when there
 * are more than SOURCES_MAX. */
CHECKED int sources_add(struct sources *s, const char *text);

/* NULL when there are none: the network chooses. */
const struct addr *sources_next(struct sources *s);

#endif
