#include "lib/clock/wheel.h"

#include "lib/clock/clock.h"

/* A slot of level L covers 2^shift ticks. A timer lies in the lowest level whose span reaches its due
 * tick, counted from the next tick to be processed; when that level's slot begins, its timers move
 * down ("cascade"). A timer due beyond the last level waits in its farthest slot and is placed again
 * from there. */
static const unsigned shifts[WHEEL_LEVELS + 1] = {0, 8, 14, 20, 26};

static_assert(WHEEL_SLOTS0 == 1 << 8 && WHEEL_SLOTS == 1 << 6, "the shifts follow from these");

static void link_timer(struct wheel_timer **head, struct wheel_timer *timer)
{
	timer->next = *head;
	timer->link = head;
	if (timer->next != NULL)
		timer->next->link = &timer->next;
	*head = timer;
}

static void unlink_timer(struct wheel_timer *timer)
{
	*timer->link = timer->next;
	if (timer->next != NULL)
		timer->next->link = timer->link;
	timer->next = NULL;
	timer->link = NULL;
}

static struct wheel_timer **slot_of(struct wheel *w, unsigned level, uint64_t tick)
{
	if (level == 0)
		return &w->slots0[tick % WHEEL_SLOTS0];
	return &w->slots[level - 1][(tick >> shifts[level]) % WHEEL_SLOTS];
}

/* Links a timer whose due_tick is at or after the next tick. */
static void place(struct wheel *w, struct wheel_timer *timer)
{
	uint64_t next = w->tick + 1;
	uint64_t due = timer->due_tick;
	uint64_t span = 1ull << shifts[WHEEL_LEVELS];
	if (due - next >= span)
		due = next + span - 1;
	unsigned level = 0;
	while ((due - next) >> shifts[level + 1] != 0)
		level++;
	link_timer(slot_of(w, level, due), timer);
}

/* Takes a whole list off its slot, onto *list. */
static void detach(struct wheel_timer **slot, struct wheel_timer **list)
{
	*list = *slot;
	*slot = NULL;
	if (*list != NULL)
		(*list)->link = list;
}

void wheel_init(struct wheel *w, uint64_t now_ns)
{
	*w = (struct wheel){.tick = now_ns / NS_PER_MS};
}

void wheel_arm(struct wheel *w, struct wheel_timer *timer, uint64_t due_ns)
{
	MUST_HOT(timer->fire != NULL);
	wheel_disarm(w, timer);
	uint64_t due_tick = due_ns / NS_PER_MS + (due_ns % NS_PER_MS != 0);
	timer->due_tick = due_tick > w->tick ? due_tick : w->tick + 1;
	place(w, timer);
	w->armed++;
}

void wheel_disarm(struct wheel *w, struct wheel_timer *timer)
{
	if (timer->link == NULL)
		return;
	unlink_timer(timer);
	w->armed--;
}

/* Moves the timers of the slots that begin with `tick` to the levels below. */
static void cascade(struct wheel *w, uint64_t tick)
{
	for (unsigned level = 1; level < WHEEL_LEVELS; level++) {
		if (tick & ((1ull << shifts[level]) - 1))
			return;
		struct wheel_timer *list;
		detach(slot_of(w, level, tick), &list);
		while (list != NULL) {
			struct wheel_timer *timer = list;
			unlink_timer(timer);
			place(w, timer);
		}
	}
}

static void fire_slot(struct wheel *w, uint64_t now_ns)
{
	/* Off the wheel first: a callback may arm a timer into this very slot, one turn later. */
	struct wheel_timer *list;
	detach(&w->slots0[w->tick % WHEEL_SLOTS0], &list);
	while (list != NULL) {
		struct wheel_timer *timer = list;
		unlink_timer(timer);
		w->armed--;
		timer->fire(timer, now_ns);
	}
}

void wheel_advance(struct wheel *w, uint64_t now_ns)
{
	uint64_t target = now_ns / NS_PER_MS;
	while (w->tick < target) {
		if (w->armed == 0) {
			w->tick = target;
			return;
		}
		cascade(w, w->tick + 1);
		w->tick++;
		fire_slot(w, now_ns);
	}
}

uint64_t wheel_next_ns(const struct wheel *w)
{
	if (w->armed == 0)
		return UINT64_MAX;
	uint64_t next = w->tick + 1;
	uint64_t best = UINT64_MAX;
	for (unsigned i = 0; i < WHEEL_SLOTS0 && best == UINT64_MAX; i++) {
		if (w->slots0[(next + i) % WHEEL_SLOTS0] != NULL)
			best = next + i;
	}
	for (unsigned level = 1; level < WHEEL_LEVELS; level++) {
		uint64_t width = 1ull << shifts[level];
		uint64_t begin = (next + width - 1) & ~(width - 1);
		for (unsigned i = 0; i < WHEEL_SLOTS && begin < best; i++, begin += width) {
			if (w->slots[level - 1][(begin >> shifts[level]) % WHEEL_SLOTS] != NULL)
				best = begin;
		}
	}
	return best * NS_PER_MS;
}
