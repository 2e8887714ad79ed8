/* wheel: timers of one thread, in a hierarchical timing wheel of 1 ms ticks.
 *
 *   level 0: 256 slots of 1 ms | level 1: 64 of 256 ms | level 2: 64 of 16 s | level 3: 64 of 17
 * min (caps at 18 h)
 *
 * Owner:  one thread. Timers are embedded in their owner's struct: no allocation.
 * Cost:   arm, disarm O(1); advance O(expired + slots passed). A timer never fires early.
 * Rules:  a callback may arm and disarm any timer, itself included, and free its owner. */
#ifndef LIB_CLOCK_WHEEL_H
#define LIB_CLOCK_WHEEL_H

#include "lib/base/base.h"

struct wheel_timer {
	struct wheel_timer *next;
	struct wheel_timer **link; /* what points at this timer; NULL: not armed */
	uint64_t due_tick;
	void (*fire)(struct wheel_timer *timer, uint64_t now_ns);
};

enum { WHEEL_SLOTS0 = 256, WHEEL_SLOTS = 64, WHEEL_LEVELS = 4 };

struct wheel {
	uint64_t tick; /* the last tick whose timers have fired */
	uint32_t armed;
	struct wheel_timer *slots0[WHEEL_SLOTS0];
	struct wheel_timer *slots[WHEEL_LEVELS - 1][WHEEL_SLOTS];
};

void wheel_init(struct wheel *w, uint64_t now_ns);

/* Arms (or re-arms) `timer` to fire at due_ns or up to one tick later. timer->fire must be set. */
void wheel_arm(struct wheel *w, struct wheel_timer *timer, uint64_t due_ns);
void wheel_disarm(struct wheel *w, struct wheel_timer *timer);

static inline bool wheel_is_armed(const struct wheel_timer *timer)
{
	return timer->link != NULL;
}

/* Fires all that is due. A clock that stands still or goes back fires nothing. */
void wheel_advance(struct wheel *w, uint64_t now_ns);

/* When wheel_advance has something to do next: how long an idle loop may sleep. UINT64_MAX when
 * nothing is armed. May be early (a cascade), never late. */
uint64_t wheel_next_ns(const struct wheel *w);

#endif
