/* loop: the control plane's one thread waits here for file descriptors, timers and signals.
 * Owner:  the main thread. Sources and timers are embedded in their owner's struct.
 * Rules:  a callback may add, change and remove any source, itself included: a removed one is not
 *         called again, even if the same wait had found it ready.
 * Bounds: the callers' (ops clients, one exporter, a handful of timers). */
#ifndef CONTROLPLANE_LOOP_LOOP_H
#define CONTROLPLANE_LOOP_LOOP_H

#include <sys/epoll.h>

#include "lib/base/base.h"

enum { LOOP_BATCH = 32 };

struct loop_source {
	int fd;
	void (*ready)(struct loop_source *source, uint32_t events);
};

struct loop {
	int epoll_fd;
	int found; /* of the wait that is being worked on */
	struct epoll_event batch[LOOP_BATCH];
};

/* All return 0 or -errno. */
CHECKED int loop_init(struct loop *l);
void loop_fini(struct loop *l);
CHECKED int loop_add(struct loop *l, struct loop_source *source, uint32_t events);
void loop_change(struct loop *l, struct loop_source *source, uint32_t events);
/* Does not close the descriptor. */
void loop_remove(struct loop *l, struct loop_source *source);

/* Waits until something is ready and calls it. */
void loop_turn(struct loop *l);

/* A timer that fires again and again while its period is not 0. */
struct loop_timer {
	struct loop_source source;
	void (*fire)(struct loop_timer *timer);
};
CHECKED int loop_timer_add(struct loop *l, struct loop_timer *timer, uint64_t period_ms);
void loop_timer_set(struct loop_timer *timer, uint64_t period_ms);
void loop_timer_remove(struct loop *l, struct loop_timer *timer);

#endif
