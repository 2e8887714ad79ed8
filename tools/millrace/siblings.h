/* siblings: finds the programs of this build beside the launcher, wherever it was put: in the build
 * tree, in one directory, or with the others in libexec. */
#ifndef TOOLS_MILLRACE_SIBLINGS_H
#define TOOLS_MILLRACE_SIBLINGS_H

#include "lib/base/base.h"
#include "lib/shm/process.h"

enum { SIBLINGS_PATH = 4096 };

/* `self`: the launcher's own path. Returns 0, or -ENOENT when none of the places has the program. */
CHECKED int siblings_find(char out[SIBLINGS_PATH], const char *self, enum shm_process process);

#endif
