/* watch: notices when the data plane's heart stops and when it beats again, and says so in an event
 * and the log (X-18, N-3). Nothing here needs the data plane to be alive.
 * Owner: the control plane's main thread. Cost: a few loads a turn. */
#ifndef CONTROLPLANE_WATCH_WATCH_H
#define CONTROLPLANE_WATCH_WATCH_H

#include "lib/shm/seg.h"

struct watch {
	bool was_up;
	uint64_t generation; /* of the data plane that was up last */
};

/* Takes the present state as known: no event. */
void watch_init(struct watch *w, const struct seg *seg);

/* Called with each heartbeat. A restart between two calls is a death and a return. */
void watch_look(struct watch *w, struct seg *seg);

#endif
