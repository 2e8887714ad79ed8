/* words: copies into and out of memory that another thread or process may be reading or writing.
 *
 * The race is meant: the caller finds out afterwards (a version, a state word) whether its copy is
 * whole. Each word is stored with release and loaded with acquire, so a reader that saw a single word
 * of a later writing also sees, in its next load, what that writer stored before it wrote (its claim).
 * On x86 these are plain moves; ThreadSanitizer checks the protocol without suppressions, which the
 * same thing made of relaxed words and fences would not allow.
 * Bytes: a multiple of 8, on addresses of 8. Cost: one move per word. */
#ifndef LIB_SHM_WORDS_H
#define LIB_SHM_WORDS_H

#include <string.h>

#include "lib/base/base.h"

static inline void words_store(uint64_t *shared, const void *from, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++) {
		uint64_t word;
		memcpy(&word, (const char *)from + i * sizeof(word), sizeof(word));
		__atomic_store_n(&shared[i], word, __ATOMIC_RELEASE);
	}
}

static inline void words_load(void *to, const uint64_t *shared, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++) {
		uint64_t word = __atomic_load_n(&shared[i], __ATOMIC_ACQUIRE);
		memcpy((char *)to + i * sizeof(word), &word, sizeof(word));
	}
}

#endif
