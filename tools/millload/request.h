/* request: the bytes that are sent again and again, and the files they are made of.
 * Memory: request_build and request_read_file allocate; the caller frees the data. */
#ifndef TOOLS_MILLLOAD_REQUEST_H
#define TOOLS_MILLLOAD_REQUEST_H

#include "tools/millload/options.h"

enum { REQUEST_FILE_BYTES = 64 << 20 };

/* The whole file, at most REQUEST_FILE_BYTES. On failure returns -errno and fills `why`. */
CHECKED int request_read_file(struct span *out, const char *path, char *why, size_t why_size);

/* Head and body for one target. 0 or -ENOMEM. */
CHECKED int request_build(
	struct span *out, const struct options *o, const struct target *target, struct span body);

#endif
