/* version: which build this is. Pure. */
#ifndef LIB_BASE_VERSION_H
#define LIB_BASE_VERSION_H

#include "lib/base/base.h"

/* "0.1.0 (4f2c9e1)"; the commit is "unknown" in a tree without history. */
const char *version_string(void);
/* When the commit was made, seconds since 1970; 0 when unknown. Tells which of two builds is older. */
uint64_t version_build_time(void);

#endif
