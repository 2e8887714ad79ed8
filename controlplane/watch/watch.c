#include "controlplane/watch/watch.h"

#include "controlplane/bus/bus.h"
#include "lib/log/log.h"

static uint64_t generation_of(const struct seg *seg)
{
	return __atomic_load_n(&seg->hearts[SHM_DATAPLANE].generation, __ATOMIC_ACQUIRE);
}

/* One that is still starting may fail to: it is up when it serves. */
static bool is_up_now(const struct seg *seg)
{
	uint32_t state = __atomic_load_n(&seg->hearts[SHM_DATAPLANE].state, __ATOMIC_ACQUIRE);
	return state != SEG_STARTING && seg_is_alive(seg, SHM_DATAPLANE);
}

void watch_init(struct watch *w, const struct seg *seg)
{
	w->was_up = is_up_now(seg);
	w->generation = generation_of(seg);
}

static void emit(struct seg *seg, enum event_kind kind, uint64_t generation)
{
	bus_emit(seg, kind, "dataplane generation %llu is %s", (unsigned long long)generation,
		kind == EVENT_PROCESS_UP ? "up" : "gone");
	if (kind == EVENT_PROCESS_UP)
		LOG(INFO, "the data plane is up, generation %llu", (unsigned long long)generation);
	else
		LOG(WARN, "the data plane is gone, generation %llu",
			(unsigned long long)generation);
}

void watch_look(struct watch *w, struct seg *seg)
{
	bool is_up = is_up_now(seg);
	uint64_t generation = generation_of(seg);
	if (w->was_up && (!is_up || generation != w->generation))
		emit(seg, EVENT_PROCESS_DOWN, w->generation);
	if (is_up && (!w->was_up || generation != w->generation))
		emit(seg, EVENT_PROCESS_UP, generation);
	w->was_up = is_up;
	w->generation = generation;
}
