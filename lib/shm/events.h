/* events: the broadcast ring: newest kept, oldest overwritten, each slow reader counts what it
 * lost.
 *
 *   ticket t lives in slot t % 1024
 *   a slot's state word is ticket << 3 | void << 2 | writing << 1 | process
 *
 *   writer:  t = next; claim slot t by compare-and-swap; move next to t + 1; write; publish.
 *            A claim that another writer did not follow up is followed up for it, so a writer that
 *            dies anywhere holds up no writer. A slot that a stalled writer still holds from the lap
 *            before is marked void for ticket t and passed over.
 *   reader:  below next, slot t has ticket t (whole, being written, or void) or a later one (lost).
 *
 * Writers: any thread of both processes; lock-free. A process that died while writing leaves its slot
 *          claimed; the restarted one releases it with events_recover.
 * Readers: each has its own cursor; reading never blocks a writer.
 * Cost:    two compare-and-swaps, one copy of an event. Not for per-request use. */
#ifndef LIB_SHM_EVENTS_H
#define LIB_SHM_EVENTS_H

#include "lib/base/registry.h"
#include "lib/shm/process.h"

enum event_kind {
	EVENT_CONFIG_CHANGED,
	EVENT_CONFIG_REFUSED,
	EVENT_DRAIN,
	EVENT_READY,
	EVENT_DEGRADED,
	EVENT_PROCESS_UP,
	EVENT_PROCESS_DOWN,
	EVENT_WORKER_RESTARTED,
	EVENT_STORAGE_FULL,
	EVENT_AUDIT,
	EVENT_KIND_COUNT
};
extern const char *const event_kind_names[EVENT_KIND_COUNT]; /* "config_changed" ... */

struct event {
	uint64_t time_ns; /* wall clock, since 1970 */
	uint32_t kind;	  /* enum event_kind */
	uint32_t process; /* enum shm_process */
	char text
		[LIMIT_EVENT_TEXT_BYTES]; /* one line for a person, NUL-terminated; never secrets */
};
static_assert(sizeof(struct event) % 8 == 0, "events are copied by words");

struct event_slot {
	uint64_t state; /* 0: never used */
	uint64_t words[sizeof(struct event) / 8];
};

struct events {
	alignas(CACHE_LINE) uint64_t next; /* the next ticket; the first is 1 */
	alignas(CACHE_LINE) struct event_slot slots[QUEUE_CAPACITY_EVENTS];
};

void events_init(struct events *ev);

/* Releases the slots that a dead run of `process` left claimed; their events never were. */
void events_recover(struct events *ev, enum shm_process process);

/* Returns false when the event had to be dropped (stalled writers hold the slots it tried, or this
 * writer itself stalled for a whole lap); the caller counts queue_dropped_total{events}. The text is printf-like and cut to fit. */
bool events_emit(struct events *ev, enum shm_process process, enum event_kind kind, const char *fmt,
	...) PRINTF_LIKE(4, 5);

struct events_cursor {
	uint64_t next; /* the ticket to read next */
};

/* A cursor that starts `back` events before the newest (at most the ring). */
struct events_cursor events_tail(const struct events *ev, uint32_t back);

/* Copies the next event. Returns 1, or 0 when there is none yet. `lost` grows by what was overwritten
 * unread. */
int events_next(
	const struct events *ev, struct events_cursor *cur, struct event *out, uint64_t *lost);

#endif
