/* target: what is loaded: http://10.0.0.1:8080/o/x, http://[fd00::1]/ or udp://10.0.0.1:4242. Addresses only: a load
 * generator does not ask a name service. Pure. */
#ifndef TOOLS_MILLLOAD_TARGET_H
#define TOOLS_MILLLOAD_TARGET_H

#include "lib/base/addr.h"

enum { TARGET_HOST_BYTES = ADDR_TEXT, TARGET_PATH_BYTES = 2048 };

struct target {
	struct addr at;
	bool is_udp;
	char host[TARGET_HOST_BYTES]; /* as written, for the Host field */
	char path[TARGET_PATH_BYTES];
};

/* 0 or -EINVAL. */
CHECKED int target_parse(struct target *out, const char *url);

#endif
