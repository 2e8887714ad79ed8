#include "controlplane/bus/bus.h"

#include <stdarg.h>
#include <stdio.h>

#include "lib/clock/clock.h"

void bus_emit(struct seg *seg, enum event_kind kind, const char *fmt, ...)
{
	char text[LIMIT_EVENT_TEXT_BYTES];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (!events_emit(&seg->events, SHM_CONTROLPLANE, kind, "%s", text))
		tally_inc(&seg->tally[TALLY_SLOT_CONTROL], TALLY_QUEUE_DROPPED + QUEUE_EVENTS);
}

uint64_t bus_lagged(struct bus_lag *b, struct tally *tally, uint64_t lost, uint64_t now_ns)
{
	tally_add(tally, TALLY_BUS_LAGGED, lost);
	b->lost += lost;
	if (b->lost == 0)
		return 0;
	if (b->has_warned && now_ns - b->warned_ns < LIMIT_BUS_WARN_MS * NS_PER_MS)
		return 0;
	uint64_t told = b->lost;
	*b = (struct bus_lag){.warned_ns = now_ns, .has_warned = true};
	return told;
}
