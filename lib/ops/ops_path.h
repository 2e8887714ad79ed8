/* ops_path: where the ops socket of a node is: <run_dir>/<name>.ops.sock. Pure. */
#ifndef LIB_OPS_OPS_PATH_H
#define LIB_OPS_OPS_PATH_H

#include <sys/un.h>

#include "lib/base/base.h"

enum { OPS_PATH = sizeof(((struct sockaddr_un *)0)->sun_path) };

/* Returns 0, or -ENAMETOOLONG (names that the configuration takes always fit). */
CHECKED int ops_path(char out[OPS_PATH], const char *run_dir, const char *name);

/* The address of a path; -ENAMETOOLONG when it does not fit. */
CHECKED int ops_path_address(struct sockaddr_un *out, const char *path);

#endif
