/* snap: a value with one writer and any number of readers in any process, that no reader ever sees
 * torn.
 *
 *     version v is in slot v & 1
 *
 *     writer:  fill slot (v+1) & 1, then publish version v+1; readers of v still have slot v & 1
 *     reader:  v = version; copy slot v & 1; if version is still v the copy is whole, else again
 *
 * A writer that dies between two publications leaves the last one readable; a seqlock would leave
 * its readers spinning. Version 0 means "nothing published yet".
 *
 * Writer:  one thread of one process at a time, which debug builds assert; a restarted writer
 *          goes on from the published version.
 * Readers: never lock, never write; a read is tried again only if a publication passed during it.
 * Layout:  pointer-free; `struct snap` is followed by two slots of `size` bytes, each rounded up to
 *          a cache line. */
#ifndef LIB_SHM_SNAP_H
#define LIB_SHM_SNAP_H

#include "lib/base/base.h"

struct snap {
	alignas(CACHE_LINE) uint64_t version; /* w: the writer, release; r: anyone, acquire */
	uint64_t size;	 /* of one value in bytes; set at init, a multiple of 8 */
	uint64_t writer; /* debug builds: thread id of the last writer */
};

/* Bytes to reserve for a snapshot of `size`-byte values; size is a multiple of 8. A constant
 * expression. */
#define SNAP_BYTES(size) \
	(sizeof(struct snap) + 2 * (((size) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE))

void snap_init(struct snap *s, size_t size);

/* The caller becomes the writer; the one before is known to be dead. */
void snap_adopt(struct snap *s);

/* Publishes a copy of `value` and returns its version. */
uint64_t snap_publish(struct snap *s, const void *value);

/* Copies the newest value to `value` and returns its version, or 0 when none was published.
 * Wait-free in practice: publications are rare. */
uint64_t snap_read(const struct snap *s, void *value);

/* The newest version: what a poll loop looks at to learn whether to read again. One load. */
static inline uint64_t snap_version(const struct snap *s)
{
	return __atomic_load_n(&s->version, __ATOMIC_ACQUIRE);
}

#endif
