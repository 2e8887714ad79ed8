#include "lib/shm/events.h"

#include <stdarg.h>
#include <stdio.h>

#include "lib/clock/clock.h"
#include "lib/shm/words.h"

enum { EMIT_TRIES = 8 }; /* slots of stalled writers an event passes over before it is dropped */

const char *const event_kind_names[EVENT_KIND_COUNT] = {
	[EVENT_CONFIG_CHANGED] = "config_changed",
	[EVENT_CONFIG_REFUSED] = "config_refused",
	[EVENT_DRAIN] = "drain",
	[EVENT_READY] = "ready",
	[EVENT_DEGRADED] = "degraded",
	[EVENT_PROCESS_UP] = "process_up",
	[EVENT_PROCESS_DOWN] = "process_down",
	[EVENT_WORKER_RESTARTED] = "worker_restarted",
	[EVENT_STORAGE_FULL] = "storage_full",
	[EVENT_AUDIT] = "audit",
};

static_assert(SHM_PROCESS_COUNT <= 2, "a state word has one bit for the process");

enum { PROCESS_BIT = 1, WRITING_BIT = 2, VOID_BIT = 4, TICKET_SHIFT = 3 };

static uint64_t state_ticket(uint64_t state)
{
	return state >> TICKET_SHIFT;
}

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static bool swap(uint64_t *word, uint64_t *expected, uint64_t value)
{
	return __atomic_compare_exchange_n(
		word, expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static struct event_slot *slot_of(struct events *ev, uint64_t ticket)
{
	return &ev->slots[ticket % QUEUE_CAPACITY_EVENTS];
}

void events_init(struct events *ev)
{
	for (unsigned i = 0; i < QUEUE_CAPACITY_EVENTS; i++)
		ev->slots[i].state = 0;
	__atomic_store_n(&ev->next, 1, __ATOMIC_RELEASE);
}

/* Ends a writing: the slot's event is void. Others may be marking the slot for later tickets. */
static void release_void(struct event_slot *slot, uint64_t state)
{
	while (!swap(&slot->state, &state, (state | VOID_BIT) & ~(uint64_t)WRITING_BIT))
		;
}

void events_recover(struct events *ev, enum shm_process process)
{
	for (unsigned i = 0; i < QUEUE_CAPACITY_EVENTS; i++) {
		uint64_t state = load(&ev->slots[i].state);
		if ((state & WRITING_BIT) && (state & PROCESS_BIT) == (uint64_t)process)
			release_void(&ev->slots[i], state);
	}
}

/* Moves next past `ticket`, unless somebody has. Its slot must have this ticket by now. */
static void pass(struct events *ev, uint64_t ticket)
{
	swap(&ev->next, &ticket, ticket + 1);
}

/* Claims the slot of the next ticket for writing. Returns the claimed state, or 0 when stalled writers
 * hold too many slots. */
static uint64_t claim(struct events *ev, enum shm_process process)
{
	int held = 0;
	while (held < EMIT_TRIES) {
		uint64_t ticket = load(&ev->next);
		struct event_slot *slot = slot_of(ev, ticket);
		uint64_t state = load(&slot->state);
		uint64_t claimed = ticket << TICKET_SHIFT | WRITING_BIT | (uint64_t)process;
		if (state & WRITING_BIT)
			claimed = ticket << TICKET_SHIFT | VOID_BIT | WRITING_BIT |
				  (state & PROCESS_BIT);
		/* Else claimed by one that has not moved next yet, or `ticket` is stale. */
		bool is_mine = state_ticket(state) < ticket && swap(&slot->state, &state, claimed);
		if (state_ticket(load(&slot->state)) >= ticket)
			pass(ev, ticket);
		if (is_mine && !(claimed & VOID_BIT))
			return claimed;
		held += is_mine;
	}
	return 0;
}

bool events_emit(
	struct events *ev, enum shm_process process, enum event_kind kind, const char *fmt, ...)
{
	struct event event = {.time_ns = clock_wall_ns(), .kind = kind, .process = process};
	va_list args;
	va_start(args, fmt);
	vsnprintf(event.text, sizeof(event.text), fmt, args);
	va_end(args);
	uint64_t claimed = claim(ev, process);
	if (claimed == 0)
		return false;
	struct event_slot *slot = slot_of(ev, state_ticket(claimed));
	words_store(slot->words, &event, sizeof(event));
	uint64_t state = claimed;
	if (swap(&slot->state, &state, claimed & ~(uint64_t)WRITING_BIT))
		return true;
	release_void(slot, state);
	return false;
}

struct events_cursor events_tail(const struct events *ev, uint32_t back)
{
	uint64_t next = load(&ev->next);
	uint64_t most = next - 1 < QUEUE_CAPACITY_EVENTS ? next - 1 : QUEUE_CAPACITY_EVENTS;
	return (struct events_cursor){next - (back < most ? back : most)};
}

/* Moves a cursor whose event was overwritten to the oldest that may still be there. */
static void skip_lost(const struct events *ev, struct events_cursor *cur, uint64_t *lost)
{
	uint64_t next = load(&ev->next);
	uint64_t oldest = next > QUEUE_CAPACITY_EVENTS ? next - QUEUE_CAPACITY_EVENTS : 1;
	uint64_t to = oldest > cur->next ? oldest : cur->next + 1;
	*lost += to - cur->next;
	cur->next = to;
}

int events_next(
	const struct events *ev, struct events_cursor *cur, struct event *out, uint64_t *lost)
{
	while (cur->next < load(&ev->next)) {
		const struct event_slot *slot = &ev->slots[cur->next % QUEUE_CAPACITY_EVENTS];
		uint64_t state = load(&slot->state);
		if (state_ticket(state) > cur->next) {
			skip_lost(ev, cur, lost);
			continue;
		}
		if (state & VOID_BIT) {
			cur->next++;
			continue;
		}
		if (state & WRITING_BIT)
			return 0;
		words_load(out, slot->words, sizeof(*out));
		if (load(&slot->state) != state)
			continue;
		cur->next++;
		return 1;
	}
	return 0;
}
