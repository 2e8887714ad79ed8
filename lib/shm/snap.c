#include "lib/shm/snap.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "lib/shm/words.h"

static uint64_t *slot_of(const struct snap *s, uint64_t version)
{
	size_t slot_bytes = (s->size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	return (uint64_t *)((char *)(s + 1) + (version & 1) * slot_bytes);
}

/* Debug builds: aborts when a second living thread publishes. The writer of a dead process, or a
 * thread that has ended, is replaced. */
static void check_writer(struct snap *s)
{
#ifdef MILLRACE_MUST_HOT
	uint64_t self = (uint64_t)gettid();
	uint64_t before = __atomic_exchange_n(&s->writer, self, __ATOMIC_RELAXED);
	MUST(before == 0 || before == self || (kill((pid_t)before, 0) < 0 && errno == ESRCH));
#else
	(void)s;
#endif
}

void snap_init(struct snap *s, size_t size)
{
	MUST(size > 0 && size % sizeof(uint64_t) == 0);
	s->size = size;
	s->writer = 0;
	__atomic_store_n(&s->version, 0, __ATOMIC_RELEASE);
}

void snap_adopt(struct snap *s)
{
	__atomic_store_n(&s->writer, 0, __ATOMIC_RELAXED);
}

uint64_t snap_publish(struct snap *s, const void *value)
{
	check_writer(s);
	uint64_t version = snap_version(s) + 1;
	words_store(slot_of(s, version), value, s->size);
	__atomic_store_n(&s->version, version, __ATOMIC_RELEASE);
	return version;
}

uint64_t snap_read(const struct snap *s, void *value)
{
	for (;;) {
		uint64_t version = snap_version(s);
		if (version == 0)
			return 0;
		words_load(value, slot_of(s, version), s->size);
		if (snap_version(s) == version)
			return version;
	}
}
