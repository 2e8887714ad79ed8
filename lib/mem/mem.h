/* mem: large regions mapped at start, and the seal that ends start-up.
 * Small control-path allocations go through malloc, which is jemalloc in every binary. */
#ifndef LIB_MEM_MEM_H
#define LIB_MEM_MEM_H

#include "lib/base/base.h"

/* Maps zeroed memory, page aligned; pages cost nothing until touched. NULL when there is no room.
 * Dies when called after mem_seal in a debug build. */
void *mem_map(size_t bytes);
void mem_unmap(void *memory, size_t bytes);

/* Gives the pages of a region back to the system; they read as zero afterwards. A control-path
 * system call. */
void mem_forget(void *memory, size_t bytes);

/* Start-up is over: from here on nothing is mapped any more. */
void mem_seal(void);
void mem_unseal(void); /* at shutdown */

#endif
